# SPDX-License-Identifier: GPL-2.0
"""How tests are registered: scenarios run in an emulated host, host tests here.

    @scenario("snic.mr.bounds", iommu=["off", "on"], covers=[34])
    def bounds(vm):
        assert vm.run("snic-test mr-bounds")[0] == 0

A keyword of Machine given as a list makes one test of each of its values. Of several such lists
each value is met, in pairs that differ from test to test; with KIWI_SOAK each combination is.
"""

import dataclasses
import importlib
import itertools
import os
import pathlib
import sys

import machine

SCENARIOS = pathlib.Path(__file__).resolve().parents[1] / "scenarios"
TIMEOUT = 240
FIELDS = {f.name for f in dataclasses.fields(machine.Machine)}

TESTS = {}
END_CHECKS = []


@dataclasses.dataclass
class Test:
    """One line of the report."""
    name: str
    function: object
    timeout: int
    covers: tuple
    machine: dict = None        # None: no VM
    files: dict = None


def _register(test):
    if test.name in TESTS:
        raise ValueError(f"two tests are named {test.name}")
    TESTS[test.name] = test


def _combinations(name, lists):
    """Which values go together."""
    if "KIWI_SOAK" in os.environ:
        return itertools.product(*lists)
    longest = max(map(len, lists), default=1)
    shift = len(name)
    return [[values[(n + at * shift) % len(values)] for at, values in enumerate(lists)]
            for n in range(longest)]


def scenario(name, covers=(), timeout=TIMEOUT, files=None, **options):
    """Registers a function that gets a booted VM; the keywords are Machine's.

    files: {guest path: bytes or host path}; timeout in seconds, with the boot.
    """
    unknown = set(options) - FIELDS
    if unknown:
        raise ValueError(f"{name}: no option {', '.join(sorted(unknown))}")
    varied = [k for k, v in options.items() if isinstance(v, list) and k != "extra"]

    def register(function):
        for values in _combinations(name, [options[k] for k in varied]):
            choice = dict(zip(varied, values))
            suffix = "".join(f":{k}={v}" for k, v in choice.items())
            _register(Test(name + suffix, function, timeout, tuple(covers),
                           {**options, **choice}, files))
        return function
    return register


def hosttest(name, covers=(), timeout=TIMEOUT):
    """Registers a function that runs on this machine; it gets its log folder."""
    def register(function):
        _register(Test(name, function, timeout, tuple(covers)))
        return function
    return register


def end_check(function):
    """Registers a check of each VM at the end of each scenario.

    The function gets the VM and returns a list of what is wrong.
    """
    END_CHECKS.append(function)
    return function


def load_all():
    """Imports every module of testing/scenarios."""
    sys.path.insert(0, str(SCENARIOS))
    for path in sorted(SCENARIOS.glob("*.py")):
        importlib.import_module(path.stem)
    return TESTS
