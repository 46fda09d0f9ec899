# SPDX-License-Identifier: GPL-2.0
"""RC transport: frames, built and taken apart on the host."""

import subprocess
import sys

from scenario import hosttest

from rc import TOP


@hosttest("model.rc.frames")
def frames(_log):
    """testing/host/test_roce.py"""
    subprocess.run([sys.executable, TOP / "testing/host/test_roce.py"], check=True, timeout=200)
