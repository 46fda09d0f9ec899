# SPDX-License-Identifier: GPL-2.0
"""The ioctl interface under calls of all kinds, valid and not, one at a time and at once."""

import os
import re
import subprocess

import audit
from machine import BUILD, TOP
from scenario import scenario

DRIVERS = ("kiwi_fw", "kiwi_snic", "xpu")
# So small that sequences meet the limits.
SMALL = {"max-pd": 5, "max-mr": 7, "max-cq": 6, "max-qp": 4, "db-pages": 8}
PROPS = {"snic0": SMALL, "snic1": SMALL}
# Of a hundred calls, so many on each kernel.
SHARES = {"debian-6.12": 80, "test-6.12": 20}
SOAK = "KIWI_SOAK" in os.environ
CALLS = 1000000 if SOAK else 50000
MINUTES = 240 if SOAK else 10
CORPUS = TOP / "testing/fuzz/corpus"
OP_MODIFY_QP, BUSY = 0x141, 8
EBUSY = 16


def start(vm):
    """Loads the drivers; returns what idle SNICs hold."""
    for module in DRIVERS:
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)
    vm.sh("chmod 666 /dev/kiwi/snic0 /dev/kiwi/snic1 /dev/xpu0")
    return live(vm)


def live(vm):
    """What the SNICs hold."""
    return [audit.live(vm, device) for device in audit.parts(vm, "snic")]


def instrumented(kernel):
    """How many places of the drivers KCOV can tell of."""
    count = 0
    for module in ("kiwi_fw", "kiwi_snic"):
        text = subprocess.run(["readelf", "-rW", BUILD / kernel / f"{module}.ko"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        count += len(re.findall(r"__sanitizer_cov_trace_pc\b", text))
    return count


@scenario("fuzz.uapi", kernel=list(SHARES), props=PROPS, timeout=60 * MINUTES,
          files={"/fuzz/corpus": CORPUS}, covers=[15, 16, 31, 32, 34, 36, 37])
def uapi(vm):
    """No call does what the interface does not say, and nothing is left."""
    calls = CALLS * SHARES[vm.machine.kernel] // 100
    idle = start(vm)
    rc, text = vm.run(f"snic-fuzz --seed 1 --calls {calls} --corpus /fuzz/corpus "
                      "--journal /dev/ttyS0 --places /tmp/places", timeout=60 * MINUTES)
    print(text)
    assert rc == 0, text[-4000:]
    assert int(re.search(r"^(\d+) calls in", text, re.M)[1]) >= calls, text
    header = (TOP / "include/uapi/kiwi/snic.h").read_text(encoding="utf-8")
    ioctls = set(re.findall(r"^#define KIWI_SNIC_(\w+)\s+_IO\(", header, re.M))
    called = set(re.findall(r"^([A-Z_]+) +\d+ +ok [1-9]", text, re.M))
    assert called == ioctls, ioctls ^ called
    covered = re.search(r"^(\d+) places covered", text, re.M)
    if covered:
        print(f"{100 * int(covered[1]) / instrumented(vm.machine.kernel):.1f} % of the places "
              "that KCOV can tell of")
        (vm.log / "places").write_bytes(vm.get("/tmp/places"))
    assert live(vm) == idle
    vm.sh("kiwi-perf write -d snic0 -P snic1 -m gpu:xpu0 --peer-mem host -s 64K -n 20 -q 1",
          timeout=120)


@scenario("fuzz.judge", props=PROPS)
def judge(vm):
    """An errno that nobody should see is found, and its sequence finds it again."""
    idle = start(vm)
    vm.qom_set("snic0", "fault", f"opcode={OP_MODIFY_QP},count=0,status={BUSY}")
    rc, text = vm.run("snic-fuzz --calls 2000")
    line = re.search(rf"^FAULT of worker \d in QP_MODIFY: .*errno {EBUSY}\n(.*)$", text, re.M)
    assert rc == 1 and line, text
    vm.put("/tmp/line", line[1].encode() + b"\n")
    again = "snic-fuzz --workers 1 --calls 0 --corpus /tmp/line"
    rc, text = vm.run(again)
    assert rc == 1 and line[1] in text, text
    vm.qom_set("snic0", "fault", "")
    vm.sh(again)
    assert live(vm) == idle
