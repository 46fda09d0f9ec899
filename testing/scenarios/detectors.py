# SPDX-License-Identifier: GPL-2.0
"""The test kernel reports what it is there to report, and so does the runner."""

from scenario import scenario
from vm import VMError

# What is planted, and the words of the report. Lockdep is off after the first report of any kind,
# and a mapping that is left behind is reported again with each driver that goes.
FAULTS = {
    "lock-inversion": "WARNING: possible circular locking dependency",
    "sleep-in-atomic": "BUG: sleeping function called from invalid context",
    "leak": "unreferenced object",
    "use-after-free": "KASAN: slab-use-after-free",
    "out-of-bounds": "KASAN: slab-out-of-bounds",
    "double-free": "KASAN: double-free",
    "shift": "UBSAN: shift-out-of-bounds",
    "dma-not-owned": "tries to sync DMA memory it has not allocated",
    "dma-not-unmapped": "has pending DMA allocations",
}


@scenario("detectors.report", kernel="test-6.12", topology="bare", append="kasan_multi_shot",
          extra=["-device", "pci-testdev"])
def report(vm):
    """Each planted fault is reported, each alone, and none when none is planted."""
    vm.sh("echo 0 >/proc/sys/kernel/panic_on_warn; echo 1 >/sys/kernel/debug/dma-api/all_errors")
    plant(vm, "")
    assert not vm.problems(), vm.problems()
    for fault, words in FAULTS.items():
        plant(vm, fault)
        found = vm.leaks() if fault == "leak" else vm.complaints()
        assert any(words in line for line in found), f"{fault}: {found}"
        vm.sh("dmesg -c >/dev/null")
    vm.close()      # its log is not to be looked at again


def plant(vm, fault):
    """Commits a fault."""
    vm.sh(f"insmod /modules/plant.ko fault={fault}; rmmod plant")


@scenario("detectors.panic", kernel="test-6.12", topology="bare")
def panic(vm):
    """A warning ends a test kernel, and with it the test."""
    try:
        plant(vm, "use-after-free")
    except VMError as error:
        assert "Kernel panic" in str(error), error
    else:
        raise AssertionError("the guest lives on")
    vm.close()
