# SPDX-License-Identifier: GPL-2.0
"""Scenarios of other files, on a kernel that sees what Debian's lets pass."""

import importlib
import os

from scenario import TESTS, scenario

KERNEL = "test-6.12"
# None with native PCIe hotplug: unplugging makes lockdep complain of the kernel's own pciehp.
AGAIN = ("hostile.start ioctl.all ioctl.destroy-refused ioctl.revoke-refused ioctl.dead "
         "ioctl.sysfs lifetime.reset memory.closed userspace.gone xpu.selftest").split()
if "KIWI_SOAK" in os.environ:
    AGAIN += ("gpu.all gpu.late hostile.replies ioctl.bad-replies ioctl.aer lifetime.link "
              "userspace.kiwictl-set xpu.unbind").split()


def _register(name):
    importlib.import_module(name.split(".")[0])
    test = next(t for n, t in TESTS.items() if n.split(":")[0] == name)
    options = {**test.machine, "kernel": KERNEL}
    if name.startswith("lifetime."):
        options["iommu"] = "on"
    if name in ("ioctl.all", "xpu.selftest"):
        options["topology"] = "one-switch"      # with P2PDMA only such peers are let through
    scenario(f"detected.{name}", test.covers, test.timeout, test.files, **options)(test.function)


for _name in AGAIN:
    _register(_name)
