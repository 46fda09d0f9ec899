#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""GPU memory to GPU memory over RDMA, on an emulated host.

    demo.py [KERNEL]

Boots a host with two SNICs and two accelerators, loads the drivers, and moves
memory of one accelerator to the other through both SNICs and the wire between
them: first the CPU posts the work, then kernels of the accelerators do. Exit status 0: every
byte was right, none went through system memory, and the CPU had no part in what kernels did.
"""

import json
import pathlib
import re
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
GPU_COLUMNS = "{:>14} {:>9} {:>9} {:>9} {:>10} {:>10} {:>11} {:>13}"
LAUNCH, WAIT = "0xc", "0xd"     # XPU_LAUNCH and XPU_WAIT, as strace prints them


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


def calls_meanwhile(trace):
    """For each run of kernels, the system calls between its launches and the end of its waits."""
    runs, meanwhile, running = [], [], 0
    for call in re.findall(r"^(?:\d+ +)?(\w+\(.*)", trace, re.MULTILINE):
        kernel = re.match(r"ioctl\(\d+, _IOC\(_IOC_NONE, 0xe7, (0xc|0xd), 0\)", call)
        if not kernel:
            meanwhile.append(call)
            continue
        if not running and kernel[1] == LAUNCH:
            runs.append([])
        elif running:
            runs[-1] += meanwhile
        meanwhile = []
        running += 1 if kernel[1] == LAUNCH else -1
    return runs


def gpu(vm):
    """Kernels of the accelerators do the work; prints rows, and returns what is wrong with them."""
    print("\nEach row: work that kernels of the accelerators post, with queues in their own "
          "memory, and ring for.\nAll-to-all: 8 ranks, 4 on each accelerator. Of the CPU, while "
          "kernels run: doorbells, interrupts by SNICs,\nsystem calls (strace) besides the wait "
          "for the end: its instructions in the path are none.")
    # What is wrong with the data ends the program.
    command = "strace -f -o /run/trace gpu-test show"
    print(f"# {command}")
    rows = json.loads(vm.sh(command, timeout=BUDGET))
    calls = calls_meanwhile(vm.get("/run/trace").decode())
    print(GPU_COLUMNS.format("", "bytes", "verified", "messages", "by the GPU", "by the CPU",
                             "interrupts", "system calls"))
    wrong = [] if len(rows) == len(calls) else [f"strace saw {len(calls)} runs, not {len(rows)}"]
    for row, meanwhile in zip(rows, calls):
        print(GPU_COLUMNS.format(row["what"], row["bytes"], "yes", row["messages"],
                                 row["gpu_doorbells"], row["cpu_doorbells"], row["interrupts"],
                                 len(meanwhile)))
        name = f"{row['what']} {row['bytes']}"
        wrong += [f"{name}: the CPU called {call}" for call in meanwhile]
        if row["cpu_doorbells"] or row["interrupts"]:
            wrong.append(f"{name}: the CPU was in the path")
        if row["gpu_doorbells"] != row["messages"]:
            wrong.append(f"{name}: {row['gpu_doorbells']} doorbells by the GPU")
        if row["system_bytes"] or row["peer_bytes"] < 2 * row["bytes"] * row["messages"]:
            wrong.append(f"{name}: payload did not go from GPU to GPU: {row}")
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
        wrong += gpu(vm)
        wrong += vm.problems()
    print()
    for line in wrong:
        print(f"WRONG: {line}")
    print(f"{'FAILED' if wrong else 'All data verified; no payload in system memory'} "
          f"({time.monotonic() - start:.0f} s)")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
