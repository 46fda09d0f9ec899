# SPDX-License-Identifier: GPL-2.0
"""What the check of tables of routes for 256 accelerators takes.

The bar on time is for a core of this machine, which an emulated one is not: there the same units
are compiled for a program, and judged by its processor time. In the emulated host they run in the
kernel, where their memory is judged and their time is only told.
"""

import re
import subprocess

from machine import TOP
from scenario import hosttest, scenario

TIME_US = 50_000
MEMORY = 4 << 20        # graph, table and check together
FABRICS = {"16 x 16, rows and columns meshed", "mesh of all", "16 spines", "32 spines",
           "16 leaves, 16 spines", "16 meshes of 16, 16 spines"}


def judge_memory(used):
    """used: {fabric: bytes}"""
    assert set(used) == FABRICS, f"fabrics measured: {sorted(used)}"
    over = {name: size for name, size in used.items() if size > MEMORY}
    assert not over, f"more than {MEMORY} bytes: {over}"


@hosttest("routes.bench")
def bench(_log):
    subprocess.run(["make", "-s", "build/bin/route-bench"], cwd=TOP, check=True)
    text = subprocess.run([TOP / "build/bin/route-bench"], check=True, timeout=200,
                          stdout=subprocess.PIPE, encoding="ascii").stdout
    print("fabric\tnodes\tports\tcheck us\tmake us\tgraph\ttable\tcheck bytes\n" + text)
    rows = [line.split("\t") for line in text.splitlines()]
    judge_memory({row[0]: sum(map(int, row[5:8])) for row in rows})
    slow = {row[0]: int(row[3]) for row in rows if int(row[3]) > TIME_US}
    assert not slow, f"more than {TIME_US} us: {slow}"


@scenario("routes.kernel", topology="bare")
def kernel(vm):
    vm.sh("insmod /modules/kiwi_g2g_route_bench.ko", timeout=180)
    found = re.findall(r"kiwi_g2g_route_bench: (.*): (\d+) us, graph (\d+) bytes, table (\d+), "
                       r"check (\d+)", vm.dmesg())
    judge_memory({name: sum(map(int, sizes)) for name, _, *sizes in found})
    for name, microseconds, *_ in found:
        print(f"{name}: {microseconds} us in the emulated kernel")
    vm.sh("rmmod kiwi_g2g_route_bench", timeout=60)
