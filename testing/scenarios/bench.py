# SPDX-License-Identifier: GPL-2.0
"""What `make bench-gpu` measures, for a choice of sizes: targets, and that it repeats."""

import importlib.util
import pathlib

from scenario import scenario

PATH = pathlib.Path(__file__).resolve().parents[1] / "bench-gpu/run.py"
spec = importlib.util.spec_from_file_location("bench_gpu", PATH)
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)


@scenario("bench.gpu", **bench.machine("some"))
def gpu(vm):
    """GPU-initiated against a proxy, in virtual time: the ratios, and the same figures again."""
    first, again = bench.results(vm)
    bench.table(first)
    found = bench.misses(first) + first.differences(again)
    assert not found, "\n".join(found)
