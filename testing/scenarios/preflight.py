# SPDX-License-Identifier: GPL-2.0
"""Preflight: everything that GPU-initiated work lacks is named at once, with a fix."""

import json

import audit
from scenario import scenario

KERNELS = ["debian-6.12", "debian-6.1"]
# Firmware without the capabilities of ABI 1.1, one doorbell page, one completion vector, a
# link of 4 of 16 lanes.
POOR = {"caps": 1, "db-pages": 1, "vectors": 2, "link-width": 4}


def load(vm):
    """Loads the drivers."""
    for module in ("kiwi_fw", "kiwi_snic", "xpu"):
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)


def preflight(vm, more="", user="root"):
    """kiwictl preflight of snic0: (exit status, checks by name)."""
    rc, text = vm.run(f"su -s /bin/sh {user} -c 'ulimit -l 64; kiwictl preflight snic0 {more} "
                      "--json'", timeout=120)
    (device,) = json.loads(text)
    assert device["name"] == "snic0", text
    return rc, {c["check"]: c for c in device["checks"]}


def set_master(vm, on):
    """Bit 2 of the function's command register."""
    config = f"/sys/bus/pci/devices/{audit.address(vm, 'snic0')}/config"
    now = vm.get(config)[4]
    value = now | 4 if on else now & ~4
    vm.sh(f"printf '\\x{value:02x}' | dd of={config} bs=1 seek=4 conv=notrunc 2>/dev/null")


@scenario("preflight.gaps", kernel=KERNELS, topology="flat", iommu="on", props={"snic0": POOR},
          covers=[2, 9])
def gaps(vm):
    """Twelve gaps at once, each named, with its state, its address and a fix."""
    load(vm)
    snic = audit.address(vm, "snic0")
    gpu = vm.sh("basename $(readlink -f /sys/class/xpu/xpu0/device)").strip()
    vm.sh("chmod 666 /dev/kiwi/* /dev/xpu*")
    vm.begin("snic-ioctl try wait", "/tmp/wait", "WAITING")
    for port in (1, 2):
        vm.sh(f"kiwictl gid clear snic0 {port} 0")
    set_master(vm, False)
    rc, found = preflight(vm, "--gpu xpu0", "user")
    set_master(vm, True)
    planted = {
        "firmware": ("FAIL", "queues for GPU code", None),
        "mr-hold": ("WARN", "cannot hold regions: DMA-bufs are pinned", None),
        "p2pdma": ("WARN", "CONFIG_PCI_P2PDMA", None),
        "move-notify": ("WARN", "CONFIG_DMABUF_MOVE_NOTIFY", None),
        "iommu": ("WARN", "IOMMU translates", snic),
        "distance": ("WARN", gpu, gpu),
        "vectors": ("WARN", "1 completion vectors for 2 CPUs", None),
        "doorbells": ("FAIL", "none of 1", None),
        "memlock": ("WARN", "65536", None),
        "link": ("WARN", "x4", snic),
        "port": ("FAIL", "no port has a GID", None),
        "bus-master": ("FAIL", "bus mastering is off", snic),
    }
    for name, (state, words, address) in planted.items():
        c = found[name]
        assert c["state"] == state and words in c["reason"] and c["fix"], c
        assert c["address"] == address, c
    assert found["exporter"]["state"] == "OK" and found["exporter"]["address"] == gpu, found
    assert found["bar"]["state"] == "OK", found
    assert rc == 3, rc
    # For people, and for the superuser, whom no memlock limit binds; the function masters again.
    text = vm.run("kiwictl preflight snic0 --gpu xpu0")[1]
    assert text.count("fix: ") == len(planted) - 2, text
    vm.sh("killall -9 snic-ioctl; while pidof snic-ioctl; do usleep 10000; done")
    set_master(vm, False)
    fix = preflight(vm)[1]["bus-master"]["fix"]
    assert fix.startswith("reset the function: "), fix
    vm.sh(fix.split(": ")[1].replace("ADDRESS", snic), timeout=60)
    found = preflight(vm)[1]
    assert found["bus-master"]["state"] == found["doorbells"]["state"] == "OK", found


@scenario("preflight.ready", kernel=KERNELS, covers=[9])
def ready(vm):
    """Without gaps nothing fails, and what the kernel lacks is a warning."""
    load(vm)
    vm.sh("snic-ioctl preflight.complete preflight.rules preflight.gpu preflight.unprivileged",
          timeout=120)
    rc, found = preflight(vm, "--gpu xpu0")
    lacking = {name for name, c in found.items() if c["state"] != "OK"}
    assert rc == 0 and lacking == {"p2pdma", "move-notify"}, found
    rc, found = preflight(vm)
    assert rc == 0 and {n for n, c in found.items() if c["state"] == "SKIP"} == {
        "acs", "distance", "exporter"}, found
    vm.sh("kiwictl port set snic0 1 down && kiwictl port set snic0 2 down")
    rc, found = preflight(vm, "--gpu xpu0")
    assert rc == 3 and found["port"]["state"] == "FAIL" and "active" in found["port"]["reason"]
    both = json.loads(vm.run("kiwictl preflight --json")[1])
    assert [d["name"] for d in both] == ["snic0", "snic1"], both
    for words, status in (("preflight snic9", 1), ("preflight snic0 --dmabuf 0", 1),
                          ("preflight --gpu gpu0", 2), ("preflight snic0 --frob", 2),
                          ("preflight snic0 --gpu xpu7", 1)):
        rc, text = vm.run(f"kiwictl {words}")
        assert rc == status and text, (words, rc, text)
