#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Guest instructions of each operation of the SNIC, beside soft-RoCE's.

One CPU that counts instructions in place of time: a table of minima, twice from
boot, and what messages cost by the device's counters. Exit status 1 when a target
is missed or the boots differ.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
sys.dont_write_bytecode = True

import vm as vm_module                                      # noqa: E402
from vm import VM                                           # noqa: E402

KERNEL = "debian-6.12"
BOOTS_AGREE = 0.005
OPERATIONS = {
    "getppid": "getppid (for scale)",
    "mr_reg_1": "MR_REG, 1 page",
    "mr_reg_256": "MR_REG, 256 pages",
    "mr_reg_4096": "MR_REG, 4,096 pages",
    "mr_reg_4096_small": "the same, none in a huge page (1)",
    "mr_reg_dmabuf_1g": "MR_REG, DMA-buf of 1 GiB",
    "cq_create": "CQ_CREATE",
    "qp_create": "QP_CREATE",
    "post_send": "post_send, one WRITE and the doorbell (2)",
    "post_send_any": "the same, kind unknown at compile time",
    "poll_cq_hit": "poll_cq, one completion",
    "poll_cq_empty": "poll_cq, none",
}
# What the SNIC may cost: a number, or a part of what soft-RoCE costs.
TARGETS = {
    "mr_reg_4096": ("half", 0.5),
    "mr_reg_dmabuf_1g": ("at most", 60000),
    "post_send": ("at most", 40),
    "post_send_any": ("at most", 40),
    "poll_cq_hit": ("at most", 40),
    "poll_cq_empty": ("at most", 15),
}
NOTES = """\
(1) Most of it is the kernel's own pinning of page by page, the same for both.
(2) With soft-RoCE this is a system call.
The device answers commands at once: what a caller sleeps is not in the figures."""
# What the device counted for a message of each pattern: (counter, as shown).
COUNTERS = (
    ("db_accepted", "doorbells"),
    ("dma_wqe_system_transactions", "WQE fetches"),
    ("dma_cqe_system_transactions", "CQE writes"),
    ("dma_cq_ci_system_transactions", "CI reads"),
    ("dma_payload_read_system_transactions", "payload reads"),
    ("dma_payload_write_system_transactions", "payload writes"),
    ("tx_frames", "frames sent"),
    ("rx_frames", "received"),
    ("msix_sent", "interrupts"),
)


def measure(number):
    """Boots and measures: ({(who, what): instructions}, {(pattern, counter): per message})."""
    costs, counts = {}, {}
    with VM(name=f"bench/boot{number}", kernel=KERNEL, rdma=True, icount=True,
            append="norandmaps") as vm:
        vm.load("virtio_net", "crc32_generic", "rdma_rxe", "xpu", "kiwi_snic")
        vm.sh("ip link set eth0 up && rdma link add rxe0 type rxe netdev eth0 && sleep 2")
        output = vm.sh("timeout 300 bench snic0 snic1 rxe0 0", timeout=600)
        problems = vm.problems()
    for line in output.splitlines():
        words = line.split()
        if words[0] == "counts":
            counts[words[1], words[2]] = float(words[3])
        else:
            costs[words[0], words[1]] = int(words[2])
    if problems:
        raise SystemExit("\n".join(problems))
    return costs, counts


def verdict(what, snic, soft):
    """The target in words, and whether it is met; (None, True) without one."""
    if what not in TARGETS:
        return None, True
    kind, value = TARGETS[what]
    limit = soft * value if kind == "half" else value
    return f"<= {limit:,.0f}: {'met' if snic <= limit else 'MISSED'}", snic <= limit


def table(costs):
    """Prints the costs; returns how many targets are missed."""
    missed = 0
    print(f"{'operation':40}{'SNIC':>12}{'soft-RoCE':>12}   target")
    for what, words in OPERATIONS.items():
        snic = costs.get(("snic", what), costs.get(("host", what)))
        soft = costs.get(("soft-roce", what))
        target, met = verdict(what, snic, soft)
        missed += not met
        print(f"{words:40}{snic:>12,}" + (f"{soft:>12,}" if soft else " " * 12)
              + (f"   {target}" if target else ""))
    return missed


def spread(who, first, second):
    """How far the two boots are apart, and where the most, in words; and as a number."""
    by = {key: abs(first[key] - second[key]) / max(first[key], 1)
          for key in first if key[0] in who}
    worst = max(by, key=by.get)
    return (f"{by[worst]:.2%} (the most: {worst[1]}: {first[worst]:,} and {second[worst]:,})",
            by[worst])


def boots_agree(first, second):
    """Compares the two boots; when the worker of soft-RoCE runs is not ours to fix."""
    assert first.keys() == second.keys()
    words, difference = spread(("snic", "host"), first, second)
    good = difference <= BOOTS_AGREE
    print(f"Two boots agree within {words}; limit {BOOTS_AGREE:.1%}: "
          f"{'met' if good else 'MISSED'}")
    print(f"Soft-RoCE's within {spread(('soft-roce',), first, second)[0]}; no limit")
    return good


def count_table(counts):
    """Prints what a message costs by the device's counters."""
    print(f"{'per message':20}" + "".join(f"{words:>16}" for _, words in COUNTERS))
    for pattern in dict.fromkeys(pattern for pattern, _ in counts):
        cells = (counts.get((pattern, name), 0) for name, _ in COUNTERS)
        print(f"{pattern:20}" + "".join(f"{cell:>16.3f}" for cell in cells))


def main():
    """Measures twice and tells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--no-prepare", action="store_true", help="build nothing first")
    if not parser.parse_args().no_prepare:
        vm_module.prepare([KERNEL], rdma=True)
    vm_module.terminate_on_signals()
    (first, counts), (second, _) = measure(1), measure(2)
    print("Guest instructions, minimum of 31, without the "
          f"{first['host', 'tsc_read']} that reading the counter costs\n")
    missed = table(first)
    print(NOTES)
    print(f"Page-list entries of the 1 GiB: {first['snic', 'pbl_entries_dmabuf_1g']}\n")
    count_table(counts)
    print()
    good = boots_agree(first, second)
    if missed:
        print(f"{missed} targets missed")
    return 0 if good and not missed else 1


if __name__ == "__main__":
    sys.exit(main())
