# SPDX-License-Identifier: GPL-2.0
"""Scenarios of other files, on a kernel that sees what Debian's lets pass."""

import importlib
import os

from scenario import TESTS, scenario

KERNEL = "test-6.12"
# By file. None that unplugs: that makes lockdep complain of the kernel's own pciehp.
AGAIN = {
    "g2g": ["g2g.ends", "g2g.messages", "g2g.probe"],
    "hostile": ["hostile.start"],
    "ioctl": ["ioctl.all", "ioctl.destroy-refused", "ioctl.sysfs"],
    "lifetime": ["lifetime.reset"],
    "memory": ["memory.closed"],
    "userspace": ["userspace.gone"],
    "xpu": ["xpu.selftest"],
}
IN_A_SOAK = {
    "g2g": ["g2g.events-lost", "g2g.grants", "g2g.image", "g2g.kill", "g2g.mesh",
            "g2g.messages-end", "g2g.revoke", "g2g.silence", "g2g.snic"],
    "gpu": ["gpu.all", "gpu.late"],
    "hostile": ["hostile.replies"],
    "ioctl": ["ioctl.bad-replies", "ioctl.aer", "ioctl.revoke-refused", "ioctl.dead"],
    "lifetime": ["lifetime.link"],
    "misdeeds": ["hostile.fields.replies", "hostile.fields.entries", "hostile.fields.start",
                 "hostile.fields.registers", "hostile.probe.commands", "hostile.random"],
    "userspace": ["userspace.kiwictl-set"],
    "xpu": ["xpu.unbind"],
}


def _register(file, name):
    importlib.import_module(file)
    test = next(t for n, t in TESTS.items() if n.split(":")[0] == name)
    options = {**test.machine, "kernel": KERNEL}
    if name.startswith("lifetime."):
        options["iommu"] = "on"
    if name in ("ioctl.all", "xpu.selftest"):
        options["topology"] = "one-switch"      # with P2PDMA only such peers are let through
    scenario(f"detected.{name}", test.covers, test.timeout, test.files, **options)(test.function)


for _choice in (AGAIN, IN_A_SOAK if "KIWI_SOAK" in os.environ else {}):
    for _file, _names in _choice.items():
        for _name in _names:
            _register(_file, _name)
