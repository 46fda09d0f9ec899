# SPDX-License-Identifier: GPL-2.0
"""The device models by themselves, without a guest: testing/qtest."""

import importlib
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "qtest"

sys.path.insert(0, str(FOLDER))
for path in sorted(FOLDER.glob("*.py")):
    importlib.import_module(path.stem)
