# SPDX-License-Identifier: GPL-2.0
"""Kernels of the stand-in accelerator that work queues of the SNIC: no CPU in the path."""

import audit
from scenario import scenario

KERNELS = ["debian-6.12"]


def load(vm):
    """Loads the drivers; returns what an idle SNIC holds."""
    for module in ("kiwi_fw", "kiwi_snic", "xpu"):
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)
    return held(vm)


def held(vm):
    """What the SNICs hold."""
    return [audit.live(vm, d) for d in ("snic0", "snic1")]


@scenario("gpu.all", kernel=KERNELS, iommu=["off", "on"], covers=[4, 5, 8], timeout=600)
def everything(vm):
    """Put, signal, get, atomics, fence, all-to-all and experts, each byte looked at."""
    idle = load(vm)
    rc, text = vm.run("gpu-test", timeout=500)
    print(text)
    assert rc == 0, text
    assert held(vm) == idle
