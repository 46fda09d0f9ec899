# SPDX-License-Identifier: GPL-2.0
"""The emulated host itself: it boots, sees the devices, and the modules load."""

from scenario import scenario

KERNELS = ["debian-6.12", "debian-6.1"]


@scenario("smoke.boot", kernel=KERNELS, iommu=["off", "on"], covers=[19])
def boot(vm):
    """Boots; the shell channel carries text, bytes and exit statuses."""
    assert vm.run("exit 3") == (3, "")
    assert vm.sh("printf 'a\\nb'; printf c >&2") == "a\nbc"
    every_byte = bytes(range(256)) * 9
    vm.put("/tmp/bytes", every_byte)
    assert vm.get("/tmp/bytes") == every_byte
    assert vm.sh("cat /proc/cmdline").count("intel_iommu=on") == \
        (vm.machine.iommu == "on")


@scenario("smoke.modules", kernel=KERNELS, covers=[19])
def modules(vm):
    """Each module loads by insmod and unloads, and every device gets its driver."""
    names = vm.sh("cd /modules && ls *.ko").split()
    assert {"kiwi_fw.ko", "kiwi_snic.ko", "xpu.ko"} <= set(names), names
    for name in ("kiwi_fw", "kiwi_snic", "xpu"):
        vm.sh(f"insmod /modules/{name}.ko", timeout=120)
    drivers = vm.sh("for d in /sys/bus/pci/devices/*/driver; do basename $(readlink $d); done")
    for driver in ("kiwi_snic", "xpu"):
        assert drivers.split().count(driver) == 2, drivers
    for name in ("xpu", "kiwi_snic", "kiwi_fw"):
        vm.sh(f"rmmod {name}", timeout=120)
