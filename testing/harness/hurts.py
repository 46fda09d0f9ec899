# SPDX-License-Identifier: GPL-2.0
"""What has hurt users and developers of comparable drivers, and which tests cover it.

A test names the numbers in its "covers". write() makes the table in Documentation.
"""

from machine import TOP

TABLE = TOP / "Documentation/scenarios.md"
HURTS = {
    1: "A GPU driver cannot map the doorbell: the reason is told, a CPU proxy works",
    2: "Several prerequisites are missing: one check lists all of them",
    3: "GPU-initiated work by an unprivileged user who was handed the file",
    4: "Many queues, each with a doorbell of its own, rung at once: no work is lost",
    5: "A CQ is polled before the device ever wrote it: no garbage completion",
    6: "Doorbells repeated, skipped or out of order: work runs once, in order",
    7: "Proxied and GPU-initiated queues end in any order: no deadlock",
    8: "A remote error stops a queue: the GPU sees it within a bound",
    9: "A kernel without P2PDMA and MOVE_NOTIFY: works pinned, and says what is lost",
    10: "A bad address and an unsupported DMA-buf give different errors",
    11: "No DMA-buf and no attachment is left after a run",
    12: "The exporter's map fails or returns no table: all unwinds",
    13: "Traffic through a redirect by ACS or IOMMU: data right, path reported",
    14: "No room for what was asked: clear words, the rest stays usable",
    15: "fork, kill and fd passing while mapped and under traffic: nothing leaks",
    16: "Parents destroyed before children, in every order",
    17: "A tiny RLIMIT_MEMLOCK: the message names limit and need",
    18: "rmmod with open files, live regions and imports, in each order",
    19: "One tree builds and boots on each supported kernel",
    20: "AER errors, and hot-unplug in the middle of a reset",
    21: "Many unplugs and opens: the same memory before and after",
    22: "Masked or moderated interrupts lose no event",
    23: "Objects are listed while they are made and destroyed",
    24: "Events between the enabling of interrupts and the registration",
    25: "rmmod right after many destroys",
    26: "An event for a queue in the instant of its destruction",
    27: "An event storm, then unbind: bounded work",
    28: "Firmware refuses a destroy; the file is closed; a retry works",
    29: "A reply arrives after its time-out, with another command under way",
    30: "The device writes a CQ until the reply to its destruction",
    31: "Doorbell mappings against destroy, mremap, munmap, fork and unplug",
    32: "mmap offsets of another file or queue, past the end, beyond 2^63",
    33: "Every capability at 0, 1, its maximum, one more, and all-ones",
    34: "Segments over 4 GiB, iova + length beyond 2^64, no bytes, key 0",
    35: "The exporter's files close and it unloads, under traffic",
    36: "Move or invalidate against deregistration and traffic",
    37: "Every failing allocation of every operation: all unwinds",
    38: "Malformed RoCE frames: opcode, pad, ICRC, length",
    39: "A CQ as deep as the work, plus a flush: overflow is an event",
    40: "Replies with a length, count or index beyond the maximum",
    41: "sysfs stores: empty, long, no newline, negative, huge, unprivileged",
    42: "A link event, then unbind at once; work posted while the link is down",
    43: "Fatal error, sysfs reset and unbind at once; reboot in mid-command",
    44: "Probe fails at each step: unwinds, and the next probe succeeds",
}


def table(tests):
    """The text of the table."""
    lines = ["# What has hurt others, and the tests that cover it", "",
             "Made by `testing/harness/run.py --write-plan`. A test that runs in several "
             "variants stands here once.", "", "| no. | what | tests |", "|---|---|---|"]
    for number, what in HURTS.items():
        names = sorted({t.name.split(":")[0] for t in tests.values() if number in t.covers})
        lines.append(f"| {number} | {what} | {', '.join(names) or 'none yet'} |")
    return "\n".join(lines) + "\n"


def write(tests):
    """Writes the table."""
    TABLE.write_text(table(tests), encoding="utf-8")


def fault(tests):
    """What is wrong with the table that stands there, or None."""
    unknown = [f"{t.name} covers {n}, which is not in {__name__}.py" for t in tests.values()
               for n in t.covers if n not in HURTS]
    if unknown:
        return "\n".join(unknown)
    if not TABLE.exists() or TABLE.read_text(encoding="utf-8") != table(tests):
        return f"{TABLE.name} is not what --write-plan makes"
    return None
