# SPDX-License-Identifier: GPL-2.0
"""The data path by itself: no system call, and what a message costs the bus."""

import strace

from scenario import scenario

DIAG = "/sys/class/kiwi/snic0/diag"
# kiwi-perf looks at the device's events when nothing moved for a second: a slow machine may
# make it do so a few times in either run.
HELD_UP = 8
WQE, CQE = 64, 64       # bytes that the device moves for each of these messages


def system_calls(vm, arguments):
    """Those of a run of kiwi-perf."""
    return strace.system_calls(vm, f"kiwi-perf {arguments}")


@scenario("datapath.no-system-call", rdma=True)
def no_system_call(vm):
    """Eight times as many messages, 1,400 more, need no system call more."""
    vm.load("kiwi_snic")
    assert "tsc" in vm.sh("cat /sys/devices/system/clocksource/clocksource0/current_clocksource")
    for work in ("write -s 4096 -q 64 -p 64", "read -s 4096 -q 16", "send -s 64 -q 64 -p 16",
                 "atomic -s 8 -q 8", "write -s 64 --inline -q 64", "write -s 8 -t lat"):
        few = system_calls(vm, f"{work} -n 200")
        many = system_calls(vm, f"{work} -n 1600")
        assert "ioctl" in few and "openat" in few, few
        assert abs(len(few) - len(many)) <= HELD_UP, \
            f"{work}: {len(few)} and {len(many)} system calls"
    # The method sees system calls where there are some: sleeping until a large message
    # has arrived needs them.
    assert len(system_calls(vm, "write -s 1M -t lat -e -n 20")) + 100 < \
        len(system_calls(vm, "write -s 1M -t lat -e -n 220"))


def cost(vm, arguments):
    """How far the device's counters move in a run of kiwi-perf."""
    def read():
        text = vm.sh(f"cd {DIAG} && grep -H . *")
        return {name: int(value) for name, value in
                (line.split(":") for line in text.splitlines())}
    before = read()
    vm.sh(f"timeout 100 kiwi-perf {arguments}", timeout=110)
    after = read()
    return {name: after[name] - before[name] for name in after}


def messages(vm, work, count, listed, size):
    """Costs of signalled messages, handed over in lists of that length."""
    moved = cost(vm, f"{work} -s {size} -n {count} -p {listed}")
    assert moved["db_accepted"] == count // listed, moved
    assert moved["dma_cqe_system_transactions"] == count, moved
    assert moved["dma_cqe_system_bytes"] == count * CQE, moved
    assert moved["dma_wqe_system_bytes"] == count * WQE, moved
    for name, value in moved.items():
        if name.startswith("db_") and name != "db_accepted" or "fault" in name:
            assert value == 0, (name, value)
    return moved


@scenario("datapath.cost", iommu=["off", "on"])
def costs(vm):
    """One doorbell a list, one WQE fetch and one CQE write a signalled message."""
    vm.load("kiwi_snic")
    for op, size in (("write", 8), ("write", 4096), ("read", 4096), ("send", 64), ("atomic", 8)):
        alone = messages(vm, f"{op} -t lat", 640, 1, size)
        assert alone["dma_wqe_system_transactions"] == 640, (op, alone)
        listed = messages(vm, f"{op} -q 64", 6400, 64, size)
        assert listed["dma_wqe_system_transactions"] <= 6400, (op, listed)
        reads = "write" if op in ("read", "atomic") else "read"
        assert alone[f"dma_payload_{reads}_system_bytes"] == 640 * size, (op, alone)
        assert alone["dma_pbl_system_transactions"] == listed["dma_pbl_system_transactions"]


@scenario("datapath.unsignalled")
def unsignalled(vm):
    """Work that asks for no completion costs no CQE."""
    vm.load("kiwi_snic")
    moved = cost(vm, "write -s 8 -n 6400 -q 128 -p 64 --signal-every 64")
    assert moved["db_accepted"] == 100, moved
    assert moved["dma_cqe_system_transactions"] == 100, moved
    assert moved["dma_wqe_system_bytes"] == 6400 * WQE, moved
