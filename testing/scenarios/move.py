# SPDX-License-Identifier: GPL-2.0
"""GPU memory that moves while it is registered: regions are held, and follow it."""

import os
import random
import re

import audit
from scenario import scenario

KERNEL = "test-6.12"        # tells of moves, and of races and stale memory too
ROUNDS = 1000 if os.environ.get("KIWI_SOAK") else 100
STOCK = ["debian-6.12", "debian-6.1"]
TRAP = {"xpu0": {"trap-freed": "on"}, "xpu1": {"trap-freed": "on"}}
# One in 20 allocations of the worker that maps anew fails.
SCARCE = """
set -e
cd /sys/kernel/debug/failslab
set -- $(sort /proc/kallsyms | awk '/ kiwi_fw_dmabuf_remap\t/ {print $1; getline; print $1}')
[ $# = 2 ]
echo 0 >verbose
echo 0x$1 >require-start
echo 0x$2 >require-end
echo N >ignore-gfp-wait
echo 100000 >times
echo 5 >probability
"""


def load(vm):
    """Loads the drivers; returns what idle SNICs hold."""
    for module in ("kiwi_fw", "kiwi_snic", "xpu"):
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)
    return [audit.live(vm, d) for d in ("snic0", "snic1")]


def run(vm, words, timeout):
    """move-test: what it printed as KEY=VALUE."""
    return dict(re.findall(r"(\w+)=(\S+)", vm.sh(f"move-test {words}", timeout=timeout)))


def check_idle(vm, idle):
    """Nothing is left, and no device met memory that it should not."""
    assert [audit.live(vm, d) for d in ("snic0", "snic1")] == idle
    for device in ("snic0", "snic1"):
        faults = {k: n for k, n in audit.diag(vm, device).items() if "fault" in k and n}
        assert not faults, (device, faults)


@scenario("move.storm", kernel=KERNEL, iommu=["off", "on"], props=TRAP, timeout=1800, covers=[36])
def storm(vm):
    """GPU memory is evicted and returned under traffic, in a soak a thousand times."""
    idle = load(vm)
    found = run(vm, f"storm {ROUNDS}", 1600)
    print(found)
    assert int(found["moves"]) >= 2 * ROUNDS and int(found["moves1"]) >= 2 * ROUNDS, found
    met = [sum(audit.diag(vm, d).get(k, 0) for k in ("held_wqe", "held_request"))
           for d in ("snic0", "snic1")]
    print(f"work met held regions: {met}")
    assert min(met) >= ROUNDS // 20, met
    check_idle(vm, idle)


@scenario("move.scarce", kernel=KERNEL, props=TRAP, timeout=900, covers=[36, 37])
def scarce(vm):
    """Allocations fail while regions are mapped anew: that is tried again."""
    idle = load(vm)
    vm.sh(SCARCE, timeout=120)
    print(run(vm, "storm 30", 800))
    left = int(vm.sh("cd /sys/kernel/debug/failslab; echo 0 >probability; cat times"))
    print(f"allocations that failed: {100000 - left}")
    assert left < 100000
    check_idle(vm, idle)


@scenario("move.dereg", kernel=KERNEL, props=TRAP, timeout=900, covers=[36])
def dereg(vm):
    """Registration and deregistration race with moves."""
    idle = load(vm)
    print(run(vm, f"dereg {ROUNDS // 2}", 800))
    check_idle(vm, idle)


@scenario("move.dead", kernel=KERNEL, props=TRAP, timeout=900, covers=[36])
def dead(vm):
    """Moves against the end of a region, by its owner or the exporter, against traffic."""
    idle = load(vm)
    found = run(vm, f"dead {ROUNDS // 5}", 800)
    print(found)
    assert int(found["messages"]) > ROUNDS // 5, found
    check_idle(vm, idle)


@scenario("move.fail", kernel=KERNEL, props=TRAP)
def fail(vm):
    """A mapping that fails is tried again; one that will not come back is revoked."""
    idle = load(vm)
    assert run(vm, "fail", 120) == {"failures": "4"}
    assert run(vm, "state", 60) == {"state": "dynamic", "pins": "0", "evict": "0",
                                    "path": "p2p-switch", "then": "system"}
    check_idle(vm, idle)


@scenario("move.ends", kernel=KERNEL, props=TRAP, timeout=1500, covers=[15, 18, 36])
def ends(vm):
    """kill, unbind of either driver and reset in the middle of a storm."""
    rng = random.Random(5)
    idle = load(vm)
    address = {d: audit.address(vm, d) for d in ("snic0", "snic1")}
    for how in ("kill", "unbind", "reset") * (5 if os.environ.get("KIWI_SOAK") else 2):
        victim = rng.choice(("snic0", "snic1"))
        vm.sh("move-test storm 0 >/tmp/storm 2>&1 & echo $! >/tmp/pid; "
              f"usleep {rng.randrange(500000, 1500000)}")
        if how == "unbind":
            vm.sh(f"echo {address[victim]} >/sys/bus/pci/drivers/kiwi_snic/unbind")
            assert not audit.live(vm, victim), (how, audit.live(vm, victim))
        elif how == "reset":
            vm.sh(f"echo 1 >/sys/bus/pci/devices/{address[victim]}/reset", timeout=120)
        if vm.run("kill -0 $(cat /tmp/pid)")[0]:
            said = vm.sh("cat /tmp/storm")      # a peer that is gone answers nothing
            assert how != "kill" and said.startswith("move-test: completion: "), (how, said)
        vm.sh("kill -9 $(cat /tmp/pid); while kill -0 $(cat /tmp/pid) 2>/dev/null; do "
              "usleep 10000; done", timeout=60)
        if how == "unbind":
            vm.sh(f"echo {address[victim]} >/sys/bus/pci/drivers/kiwi_snic/bind")
        assert [audit.live(vm, d) for d in ("snic0", "snic1")] == idle, how
    vm.sh("kiwi-perf write -m gpu:xpu0 --peer-mem gpu:xpu1 -s 64K -n 10 --verify", timeout=120)


@scenario("move.cannot-hold", kernel=KERNEL, props={"snic0": {"caps": 1}})
def cannot_hold(vm):
    """Firmware that cannot hold regions: what it is given is pinned."""
    load(vm)
    found = run(vm, "state", 60)
    assert found["state"] == "pinned" and found["pins"] == "1" and found["evict"] == "16", found


@scenario("move.stock", kernel=STOCK, covers=[9])
def stock(vm):
    """Where the kernel does not tell of moves, memory is pinned as it always was."""
    load(vm)
    found = run(vm, "state", 60)
    assert found["state"] == "pinned" and found["evict"] == "16", found
    assert found["then"] == found["path"] == "p2p-switch", found
