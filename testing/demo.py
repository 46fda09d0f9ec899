#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""GPU memory to GPU memory over RDMA, on an emulated host.

    demo.py [KERNEL]

Boots a host with two SNICs and two accelerators, loads the drivers, and moves
memory of one accelerator to the other through both SNICs and the wire between
them. Exit status 0: every byte was right, and none went through system memory.
"""

import json
import pathlib
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "harness"))

from vm import VM, prepare, terminate_on_signals  # noqa: E402

BUDGET = 300
OPS = {"write": "WRITE", "read": "READ", "send": "SEND", "atomic": "fetch-and-add"}
ITERATIONS = 2
COLUMNS = "{:>14} {:>9} {:>9} {:>8} {:>13} {:>15}"


def load(vm):
    """Loads the drivers as on any host."""
    for module in ("kiwi_fw", "kiwi_snic", "xpu"):
        print(f"# insmod {module}.ko")
        vm.sh(f"insmod /modules/{module}.ko")
    print("# kiwictl list")
    print(vm.sh("kiwictl list"), end="")


def perf(vm, op):
    """One operation over all its sizes: what kiwi-perf measured."""
    sizes = "-s 8" if op == "atomic" else "-a"
    command = (f"kiwi-perf {op} -d snic0 -P snic1 -m gpu:xpu0 --peer-mem gpu:xpu1 "
               f"{sizes} -n {ITERATIONS} --verify")
    print(f"\n# {command}")
    return json.loads(vm.sh(f"{command} --json", timeout=BUDGET))


def show(report):
    """Prints the rows of one operation; returns what is wrong with them."""
    print(f"  {report['local']['device']} reaches {report['local']['mem']}: "
          f"{report['local']['path']}")
    print(f"  {report['peer']['device']} reaches {report['peer']['mem']}: "
          f"{report['peer']['path']}")
    wrong = [] if report["complete"] else [f"{report['op']}: ended early"]
    for row in report["results"]:
        print(COLUMNS.format(OPS[report["op"]], row["bytes"],
                             "yes" if row["verified"] else "NO", row["frames"],
                             row["dma_peer_bytes"], row["dma_system_bytes"]))
        moved = row["bytes"] * row["iterations"]
        if not row["verified"]:
            wrong.append(f"{report['op']} {row['bytes']}: data differ")
        if row["dma_system_bytes"]:
            wrong.append(f"{report['op']} {row['bytes']}: payload went through system memory")
        if row["dma_peer_bytes"] < 2 * moved:
            wrong.append(f"{report['op']} {row['bytes']}: less payload than was to be moved")
    return wrong


def main():
    kernel = sys.argv[1] if len(sys.argv) > 1 else "debian-6.12"
    terminate_on_signals()
    prepare((kernel,))
    start = time.monotonic()
    signal.alarm(BUDGET)
    wrong = []
    with VM(name="demo", kernel=kernel) as vm:
        print(f"An emulated host with Linux {vm.sh('uname -r').strip()}: "
              "snic0 and xpu0 below one PCIe switch, snic1 and xpu1 below another.")
        load(vm)
        print(f"\nEach row: {ITERATIONS} messages from xpu0's memory to xpu1's (READ: the other "
              "way). Bytes of payload that the\nSNICs read and wrote by DMA, by where the memory is.")
        print(COLUMNS.format("", "bytes", "verified", "frames", "to peer BARs", "to system memory"))
        for op in OPS:
            wrong += show(perf(vm, op))
        wrong += vm.problems()
    print()
    for line in wrong:
        print(f"WRONG: {line}")
    print(f"{'FAILED' if wrong else 'All data verified; no payload in system memory'} "
          f"({time.monotonic() - start:.0f} s)")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
