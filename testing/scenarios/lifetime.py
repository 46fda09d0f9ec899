# SPDX-License-Identifier: GPL-2.0
"""Ends that come at any instant: kill, unbind, reset, removal. Nothing is left."""

import random

import audit
from scenario import end_check, scenario

DRIVERS = ("kiwi_fw", "kiwi_snic", "xpu")
PERF = ("kiwi-perf {op} -d snic0 -P snic1 -m {mem} --peer-mem {peer} -s {size} "
        "-n 100000000 -q 32 --stall 20")
PATTERNS = [
    {"op": "write", "mem": "host", "peer": "host", "size": "64K"},
    {"op": "read", "mem": "gpu:xpu0", "peer": "gpu:xpu1", "size": "1M"},
    {"op": "send", "mem": "gpu:xpu0", "peer": "host", "size": "4K"},
    {"op": "atomic", "mem": "host", "peer": "gpu:xpu1", "size": "8"},
]
# Each processor hands in what it has counted; then the difference is how many there are.
PINNED = ("echo 1 >/proc/sys/vm/stat_refresh; awk '/^nr_foll_pin_acquired/ { n += $2 } "
          "/^nr_foll_pin_released/ { n -= $2 } END { print n }' /proc/vmstat")


@end_check
def nothing_left(vm):
    """With the drivers gone no device holds an object and no memory, whatever the scenario did."""
    devices = audit.parts(vm, "snic") + audit.parts(vm, "g2g")
    if not devices:
        return []
    for driver in ("kiwi_snic", "kiwi_g2g"):
        if vm.run(f"grep -q ^{driver} /proc/modules")[0] == 0:
            rc, text = vm.run(f"rmmod {driver}", timeout=120)
            if rc:
                return [f"{driver} does not unload: {text.strip()}"]
    pinned = int(vm.sh(PINNED))
    if pinned:
        return [f"{pinned} pages are still pinned"]
    return [f"{device} still holds {audit.live(vm, device)}"
            for device in devices if audit.live(vm, device)]


def load(vm):
    """Loads the drivers; returns what an idle SNIC holds."""
    for module in DRIVERS:
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)
    return [audit.live(vm, d) for d in ("snic0", "snic1")]


def start(vm, choice):
    """Starts kiwi-perf in the background; returns its pid."""
    vm.sh("rm -f /tmp/perf.pid /tmp/perf.status")
    vm.sh(f"{{ sh -c 'echo $$ >/tmp/perf.pid; exec {PERF.format(**choice)}' "
          ">/tmp/perf.log 2>&1; echo $? >/tmp/perf.status; } &")
    return vm.sh("while ! [ -s /tmp/perf.pid ]; do usleep 1000; done; cat /tmp/perf.pid").strip()


def wait(vm, condition, seconds=60):
    """Waits until a shell condition holds in the guest."""
    vm.sh(f"n=0; until {condition}; do usleep 50000; n=$((n + 1)); "
          f"[ $n -lt {seconds * 20} ] || exit 1; done", timeout=seconds * 2)


def reap(vm):
    """Waits until kiwi-perf has ended: its exit status, and what it printed."""
    wait(vm, "[ -s /tmp/perf.status ]")
    return int(vm.sh("cat /tmp/perf.status")), vm.sh("cat /tmp/perf.log")


@scenario("lifetime.kill", iommu=["off", "on"], covers=[11, 15, 18], timeout=900)
def kill(vm):
    """kill -9 at random points: the devices hold what they held before."""
    rng = random.Random(1)
    idle = load(vm)
    for n in range(100):
        choice = rng.choice(PATTERNS)
        pid = start(vm, choice)
        vm.sh(f"usleep {rng.randrange(0, 400000)}; kill -9 {pid}")
        assert reap(vm)[0] == 128 + 9
        held = [audit.live(vm, d) for d in ("snic0", "snic1")]
        assert held == idle, f"round {n}, {choice}: {held}, not {idle}"
    assert vm.run("ls /sys/kernel/debug/dma_buf/bufinfo")[0] or \
        "Total 0 objects" in vm.sh("cat /sys/kernel/debug/dma_buf/bufinfo")


@scenario("lifetime.unbind", iommu=["off", "on"], covers=[18, 23], timeout=900)
def unbind(vm):
    """unbind in mid-transfer: programs end with an error, the device holds nothing."""
    rng = random.Random(2)
    idle = load(vm)
    address = {d: audit.address(vm, d) for d in ("snic0", "snic1")}
    for n in range(25):
        choice, victim = rng.choice(PATTERNS), rng.choice(("snic0", "snic1"))
        start(vm, choice)
        vm.sh(f"usleep {rng.randrange(100000, 600000)}")
        vm.sh(f"echo {address[victim]} >/sys/bus/pci/drivers/kiwi_snic/unbind")
        assert not audit.live(vm, victim), f"round {n}, {choice}: {audit.live(vm, victim)}"
        status, log = reap(vm)
        assert status == 1 and log.strip(), f"round {n}: status {status}, {log}"
        vm.sh(f"echo {address[victim]} >/sys/bus/pci/drivers/kiwi_snic/bind")
        held = [audit.live(vm, d) for d in ("snic0", "snic1")]
        assert held == idle, f"round {n}: {held}, not {idle}"


@scenario("lifetime.reset", covers=[43], timeout=600)
def reset(vm):
    """Function-level reset in mid-transfer: open files die, the device serves again."""
    rng = random.Random(3)
    idle = load(vm)
    address = {d: audit.address(vm, d) for d in ("snic0", "snic1")}
    for n in range(5 if vm.machine.test_kernel else 20):
        choice, victim = rng.choice(PATTERNS), rng.choice(("snic0", "snic1"))
        start(vm, choice)
        vm.sh(f"usleep {rng.randrange(100000, 600000)}")
        vm.sh(f"echo 1 >/sys/bus/pci/devices/{address[victim]}/reset", timeout=120)
        assert reap(vm)[0] == 1
        held = [audit.live(vm, d) for d in ("snic0", "snic1")]
        assert held == idle, f"round {n}, {choice}: {held}, not {idle}"
        vm.sh("kiwi-perf write -s 4K -n 10 --verify")


@scenario("lifetime.surprise", pciehp=True, covers=[20, 31], timeout=600)
def surprise(vm):
    """The device is torn out in mid-transfer, and another is put in its place."""
    rng = random.Random(4)
    load(vm)
    for _ in range(10):
        start(vm, rng.choice(PATTERNS))
        vm.sh(f"usleep {rng.randrange(100000, 600000)}")
        vm.qom_set("snic0", "surprise", True)
        assert reap(vm)[0] == 1
        wait(vm, "! [ -e /sys/class/kiwi/snic0 ]")
        vm.sh("sleep 2")        # the slot's indicator goes off late, and would take what is new
        vm.plug("snic0")
        wait(vm, "[ -e /sys/class/kiwi/snic0 ]")
        vm.sh("kiwi-perf write -s 4K -n 10 --verify")


@scenario("lifetime.open", covers=[18, 21], timeout=600)
def open_files(vm):
    """An open file keeps the module; unbind below it is safe; 10,000 opens leave nothing."""
    idle = load(vm)
    address = audit.address(vm, "snic0")
    vm.sh("sleep 600 </dev/kiwi/snic0 >/dev/null 2>&1 & echo $! >/tmp/holder")
    assert vm.run("rmmod kiwi_snic")[0], "the module was unloaded below an open file"
    vm.sh(f"echo {address} >/sys/bus/pci/drivers/kiwi_snic/unbind")
    vm.sh("kill $(cat /tmp/holder)")
    vm.sh(f"echo {address} >/sys/bus/pci/drivers/kiwi_snic/bind")
    opens = "i=0; while [ $i -lt {n} ]; do : </dev/kiwi/snic0; i=$((i + 1)); done"
    free = "sync; echo 3 >/proc/sys/vm/drop_caches; awk '/MemAvailable/ {print $2}' /proc/meminfo"
    vm.sh(opens.format(n=500), timeout=120)
    before = int(vm.sh(free))
    vm.sh(opens.format(n=10000), timeout=300)
    after = int(vm.sh(free))
    assert before - after < 4096, f"{before - after} KiB less after 10,000 opens"
    assert [audit.live(vm, d) for d in ("snic0", "snic1")] == idle


@scenario("lifetime.rmmod", props={"snic0": {"max-mr": 2048}}, covers=[25])
def rmmod(vm):
    """The modules go in the instant after many objects were destroyed."""
    for _ in range(2):
        load(vm)
        vm.sh("snic-ioctl limits.mr && rmmod kiwi_snic && rmmod kiwi_fw", timeout=120)
        vm.sh("rmmod xpu")


@scenario("lifetime.link", covers=[42], timeout=400)
def link(vm):
    """The link goes in mid-transfer, and the driver right after it; work meets a dead link."""
    idle = load(vm)
    address = audit.address(vm, "snic0")
    for _ in range(5):
        start(vm, PATTERNS[0])
        vm.sh("usleep 200000")
        vm.qmp("set_link", name="snic0p0", up=False)
        vm.sh(f"echo {address} >/sys/bus/pci/drivers/kiwi_snic/unbind")
        vm.qmp("set_link", name="snic0p0", up=True)
        assert reap(vm)[0] == 1
        vm.sh(f"echo {address} >/sys/bus/pci/drivers/kiwi_snic/bind")
        assert [audit.live(vm, d) for d in ("snic0", "snic1")] == idle
    start(vm, PATTERNS[0])
    vm.sh("usleep 200000")
    vm.qmp("set_link", name="snic0p0", up=False)
    wait(vm, "grep -q DOWN /sys/class/kiwi/snic0/ports/1/state")
    status, log = reap(vm)
    assert status == 1 and log.strip(), f"status {status}, {log}"
    vm.qmp("set_link", name="snic0p0", up=True)
    wait(vm, "grep -q ACTIVE /sys/class/kiwi/snic0/ports/1/state")
    vm.sh("kiwi-perf write -s 4K -n 10 --verify")
    assert [audit.live(vm, d) for d in ("snic0", "snic1")] == idle
