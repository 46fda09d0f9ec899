# SPDX-License-Identifier: GPL-2.0
"""The stand-in accelerator, with no SNIC about."""

from scenario import scenario

KERNELS = ["debian-6.12", "debian-6.1"]
SELFTEST_OUT = "/run/selftest"
XPU0 = "$(basename $(readlink -f /sys/class/xpu/xpu0/device))"


def hold(vm):
    """Starts a program that keeps buffers, mappings and files of xpu0."""
    vm.begin("xpu-selftest unplug", SELFTEST_OUT, "ready")


def held_well(vm):
    """Waits for that program to have found the device gone, and all else safe."""
    output = vm.sh("for i in $(seq 300); do pidof xpu-selftest >/dev/null || break; "
                   f"sleep 0.1; done; cat {SELFTEST_OUT}", timeout=60)
    assert "unplug: passed" in output, output


@scenario("xpu.selftest", kernel=KERNELS, topology="xpus", iommu=["off", "on"],
          props={"xpu0": {"copy-timeout-ms": 5000, "trap-freed": "on"}}, covers=[9, 12, 18, 19])
def selftest(vm):
    """The driver keeps to its uapi; the module goes when its last user has gone."""
    vm.load("xpu")
    output = vm.sh("xpu-selftest", timeout=180)
    assert ", 0 failed, 0 skipped" in output, output
    hold(vm)
    assert vm.run("rmmod xpu")[0], "the module went from under its users"
    vm.sh("killall -9 xpu-selftest; sleep 1")
    assert "xpu" not in vm.sh("rmmod xpu; lsmod; ls /dev; ls /sys/class")


@scenario("xpu.sparse", topology="xpus", vram="16G", memory="512M")
def sparse(vm):
    """16 GiB of VRAM cost only what is written."""
    vm.load("xpu")
    assert " 0 failed" in vm.sh("xpu-selftest query large allocator", timeout=120)
    thread = vm.qmp("query-cpus-fast")[0]["thread-id"]
    with open(f"/proc/{thread}/status", encoding="ascii") as status:
        resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
    assert resident < 3 << 20, f"QEMU has {resident} KiB resident"


@scenario("xpu.unplug", kernel=KERNELS, topology="xpus", iommu="on", pciehp=[False, True],
          covers=[18])
def unplug(vm):
    """The device goes while it is used; one like it comes back and works."""
    vm.load("xpu")
    hold(vm)
    vm.qmp("device_del", id="xpu0")
    vm.wait_event("DEVICE_DELETED")
    held_well(vm)
    vm.sh("[ ! -e /dev/xpu0 ] && [ -e /dev/xpu1 ]")
    vm.qmp("device_add", driver="xpu", id="xpu2", bus="rp0")
    vm.sh("for i in $(seq 200); do [ -e /dev/xpu0 ] && break; sleep 0.1; done; "
          "xpu-selftest query copy move peer", timeout=120)
    vm.sh("rmmod xpu")


@scenario("xpu.surprise", kernel=KERNELS, topology="xpus", pciehp=True, covers=[18])
def surprise(vm):
    """The device is torn out while it is used."""
    vm.load("xpu")
    hold(vm)
    vm.qom_set("xpu0", "surprise", True)
    held_well(vm)
    vm.sh("for i in $(seq 100); do [ -e /dev/xpu0 ] || break; sleep 0.1; done; "
          "[ ! -e /dev/xpu0 ] && rmmod xpu", timeout=60)


@scenario("xpu.unbind", kernel=KERNELS, topology="xpus", covers=[18])
def unbind(vm):
    """The driver is unbound while it is used, and bound again."""
    vm.load("xpu")
    for _ in range(3):
        hold(vm)
        device = vm.sh(f"echo -n {XPU0}")
        vm.sh(f"echo {device} >/sys/bus/pci/drivers/xpu/unbind")
        held_well(vm)
        vm.sh(f"echo {device} >/sys/bus/pci/drivers/xpu/bind")
    vm.sh("xpu-selftest copy move peer", timeout=120)
    vm.sh("rmmod xpu")


@scenario("xpu.reset", kernel=KERNELS, topology="xpus")
def reset(vm):
    """A reset takes buffers in VRAM away and leaves those in system memory."""
    vm.load("xpu")
    output = vm.sh("xpu-selftest reset", timeout=120)
    assert "reset: passed" in output, output
    vm.sh("xpu-selftest query copy move peer", timeout=120)


@scenario("xpu.aer", kernel=KERNELS, topology="xpus", covers=[20])
def aer(vm):
    """The device reports an error, fatal or not, while it is used, and works on."""
    vm.load("xpu")
    for error in ("COMP_TIME", "DLP"):
        hold(vm)
        device = vm.sh(f"echo -n {XPU0}")
        vm.sh("dmesg -c >/dev/null")
        vm.hmp(f"pcie_aer_inject_error xpu0 {error}")
        vm.sh("for i in $(seq 200); do dmesg | grep -q 'device recovery' && break; sleep 0.1; "
              "done; dmesg | grep 'device recovery successful'", timeout=60)
        vm.sh("xpu-selftest copy move peer", timeout=120)
        vm.sh(f"echo {device} >/sys/bus/pci/drivers/xpu/unbind")
        held_well(vm)
        vm.sh(f"echo {device} >/sys/bus/pci/drivers/xpu/bind")
    vm.sh("rmmod xpu")
