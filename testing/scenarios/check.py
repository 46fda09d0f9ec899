# SPDX-License-Identifier: GPL-2.0
"""The static gates of scripts/check.sh, as tests."""

import subprocess

from machine import TOP
from scenario import hosttest

GATES = ("modules-6.12", "modules-6.1", "sparse", "checkpatch", "qemu-style",
         "models", "kernel-doc", "headers", "tree")


def _register(gate):
    @hosttest(f"check.{gate}", timeout=900)
    def check(_log):
        done = subprocess.run([TOP / "scripts/check.sh", gate], check=False)
        assert done.returncode == 0, f"scripts/check.sh {gate} fails"


for name in GATES:
    _register(name)
