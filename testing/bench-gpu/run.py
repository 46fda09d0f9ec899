#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""GPU-initiated communication against a CPU that rings, in virtual time.

The device models take the time that PROPERTIES say, the CPU a nanosecond an
instruction. The program runs before anything reaches the guest from outside. Exit status 1
when a target is missed or two boots differ.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))
sys.dont_write_bytecode = True

import vm as vm_module                                      # noqa: E402
from machine import BUILD                                   # noqa: E402
from vm import VM                                           # noqa: E402

KERNEL = "debian-6.12"
# Documentation/bench.md has where they come from.
SNIC = {"doorbell-ns": 250, "read-ns": 550, "nic-ns": 150, "packet-ns": 5, "write-ns": 250,
        "wire-ns": 400}
XPU = {"bus-ns": 250, "command-ns": 20, "wqe-ns": 150, "mem-ns": 500, "fence-ns": 400,
       "poll-ns": 500, "poll-max-ns": 500}
# What the CPU waits for: a load of a line that a device wrote, an uncached store.
STALLS = 80, 90
WAYS = ("gpu", "ring", "post")
PROPERTIES = {"snic0": SNIC, "snic1": SNIC, "xpu0": XPU}
START = """#!/bin/sh
# Drivers and the bench first, then the guest as usual.
sh /etc/init.d/rcS
modprobe -a kiwi_snic xpu && timeout 600 bench-gpu {what} {stalls} >/bench-gpu.out 2>&1
echo $? >/bench-gpu.rc
exec /init
"""
SMALL, MANY = 1024, 8     # bytes, peers: what the targets are for
LATENCY_RATIO, RATE_RATIO, NOT_SLOWER = 0.5, 2, 1.02
CPU_REPEATS, COUNTS_REPEAT = 0.02, 0.05
COUNTERS = (
    ("db_accepted", "doorbells"),
    ("dma_wqe_peer_transactions", "WQE fetches"),
    ("dma_payload_read_peer_transactions", "payload reads"),
    ("dma_cqe_peer_transactions", "CQE writes"),
    ("tx_frames", "frames"),
    ("msix_sent", "interrupts"),
)


class Figures:
    """What one boot printed."""

    def __init__(self, text):
        self.ns, self.counts, self.instructions = {}, {}, {}
        for words in map(str.split, text.splitlines()):
            if words[0] == "counts":
                self.counts[words[1], words[2]] = float(words[3])
            elif words[0] == "instructions":
                self.instructions[words[1]] = int(words[2])
            else:
                operation, way, peers, size, messages, ns = words
                self.ns[operation, way, int(peers), int(size)] = int(messages), int(ns)

    def latency(self, *point):
        return self.ns[point][1]

    def rate(self, *point):
        """Millions of messages a second."""
        messages, ns = self.ns[point]
        return messages * 1000 / ns

    def points(self, operation):
        """(peers, bytes) of an operation."""
        return sorted({key[2:] for key in self.ns if key[0] == operation})

    def differences(self, other):
        """Where two measurements differ by more than they may, in words.

        What the GPU does alone repeats to the nanosecond. What the CPU does depends on where its
        loop stands when a word comes, and a kernel does not boot to the same nanosecond: so the
        GPU may see the outcome one look sooner or later. Where rings wrap, entries are fetched in
        two parts.
        """
        found = []
        for key, (_, ns) in self.ns.items():
            again = other.ns[key][1]
            if abs(ns - again) > (0 if key[1] == "gpu" else XPU["poll-ns"] + ns * CPU_REPEATS):
                found.append(f"{' '.join(map(str, key))}: {ns} ns, and again {again} ns")
        for key, value in self.counts.items():
            again = other.counts.get(key, 0)
            if key[0].endswith("-gpu") and abs(value - again) > value * COUNTS_REPEAT:
                found.append(f"{' '.join(key)}: {value} a message, and again {again}")
        return found

    def spread(self, other):
        """How far the CPU's figures are apart, and how many of them differ at all."""
        parts = [abs(ns - other.ns[key][1]) / ns for key, (_, ns) in self.ns.items()
                 if key[1] != "gpu"]
        return f"{max(parts):.2%}, {sum(map(bool, parts))} of {len(parts)} differ"


def machine(what):
    """The host, and the program in it, as keywords of a VM."""
    stalls = " ".join(map(str, STALLS))
    return dict(kernel=KERNEL, topology="one-switch", icount=True,
                append="norandmaps rdinit=/start", props=PROPERTIES,
                files={"/start": START.format(what=what, stalls=stalls).encode()})


def results(vm):
    """What the program printed: figures of each time that it measured."""
    status = vm.sh("cat /bench-gpu.rc").strip()
    output = vm.sh("cat /bench-gpu.out")
    assert status == "0", f"bench-gpu ended with status {status}\n{output}"
    return [Figures(text) for text in output.split("again\n")]


def run(name):
    """Boots and measures."""
    with VM(name=name, **machine("all")) as vm:
        figures, = results(vm)
        problems = vm.problems()
    if problems:
        raise SystemExit("\n".join(problems))
    return figures


def assumptions():
    """What the figures rest on, in words."""
    devices = "\n".join(f"{device}: " + ", ".join(f"{k} {v}" for k, v in props.items())
                        for device, props in (("SNIC", SNIC), ("GPU", XPU)))
    return (f"{devices}\nLink: 400 Gb/s. CPU: one core that does nothing else, 1 ns an instruction, "
            f"{STALLS[0]} ns to load what a device wrote, {STALLS[1]} ns for an uncached store.\n"
            "Peers are queues of one SNIC; their memory is the sender's own, by way of the other "
            "SNIC.\ngpu: the GPU posts and rings. ring: the GPU posts, the CPU rings. post: the CPU "
            "takes the GPU's requests, posts them,\nrings, and tells the GPU what is completed.")


def table(figures):
    """Prints all figures."""
    print(f"\n{'operation':12}{'peers':>6}{'bytes':>7}" + "".join(
        f"{way + ' ns':>9}" for way in WAYS) + f"{'gpu/ring':>9}{'gpu/post':>9}" + "".join(
        f"{way + ' M/s':>9}" for way in WAYS))
    for operation in dict.fromkeys(key[0] for key in figures.ns):
        for point in figures.points(operation):
            ns = [figures.latency(operation, way, *point) for way in WAYS]
            print(f"{operation:12}{point[0]:6}{point[1]:7}" + "".join(f"{n:9}" for n in ns)
                  + f"{ns[0] / ns[1]:9.3f}{ns[0] / ns[2]:9.3f}" + "".join(
                      f"{figures.rate(operation, way, *point):9.2f}" for way in WAYS))
    print("\nper message, 8 bytes" + "".join(f"{words:>15}" for _, words in COUNTERS))
    for what in dict.fromkeys(key[0] for key in figures.counts):
        print(f"{what:20}" + "".join(f"{figures.counts.get((what, counter), 0):15.2f}"
                                     for counter, _ in COUNTERS))
    print("\nInstructions of the CPU for a message of one doorbell, beside polling: gpu 0, "
          + ", ".join(f"{way} {n}" for way, n in figures.instructions.items()))


def ratio(figures, operation, peers, size, proxy="post"):
    """Latency with the GPU alone over that with a proxy."""
    return figures.latency(operation, "gpu", peers, size) / \
        figures.latency(operation, proxy, peers, size)


def misses(figures):
    """The targets that are missed, in words."""
    found = []
    for peers, size in figures.points("alltoall"):
        part = ratio(figures, "alltoall", peers, size)
        if peers >= MANY and size <= SMALL and part > LATENCY_RATIO:
            found.append(f"all-to-all, {peers} peers, {size} bytes: gpu/post {part:.3f} > "
                         f"{LATENCY_RATIO}")
    for peers, size in figures.points("rate"):
        times = 1 / ratio(figures, "rate", peers, size)
        if peers >= MANY and size <= SMALL and times < RATE_RATIO:
            found.append(f"rate, {peers} queues, {size} bytes: gpu/post {times:.2f} < {RATE_RATIO}")
    for operation, way, peers, size in figures.ns:
        if way != "gpu" and ratio(figures, operation, peers, size, way) > NOT_SLOWER:
            found.append(f"{operation}, {peers} peers, {size} bytes: slower without {way}")
    return found


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", "--no-build", action="store_true", help="build nothing first")
    options = parser.parse_args()
    vm_module.terminate_on_signals()
    if not options.no_build:
        vm_module.prepare(kernels=(KERNEL,))
    figures, again = run("bench-gpu/boot1"), run("bench-gpu/boot2")
    print(assumptions())
    table(figures)
    found = misses(figures) + figures.differences(again)
    import plot                 # pylint: disable=import-outside-toplevel
    plot.draw(figures, BUILD, assumptions())
    print(f"\nPlots: {BUILD / 'latency.svg'}, {BUILD / 'rate.svg'}\n"
          f"Two boots: the GPU's figures are the same, the CPU's within {figures.spread(again)}.")
    print("\n".join(found) or f"Targets met, from {MANY} peers on: all-to-all of up to {SMALL} "
          f"bytes in at most {LATENCY_RATIO} of the time of post, rate at least {RATE_RATIO} times.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
