# SPDX-License-Identifier: GPL-2.0
"""Scenarios of other files, on a kernel that sees what Debian's lets pass."""

import importlib

from scenario import TESTS, scenario

KERNEL = "test-6.12"
# None with native PCIe hotplug: unplugging makes lockdep complain of the kernel's own pciehp.
AGAIN = ("hostile.replies hostile.start ioctl.all ioctl.destroy-refused "
         "ioctl.revoke-refused ioctl.bad-replies ioctl.dead ioctl.aer ioctl.sysfs "
         "lifetime.reset lifetime.link memory.closed userspace.kiwictl-set "
         "userspace.gone xpu.selftest xpu.unbind").split()


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
