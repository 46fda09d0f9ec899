#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Memory of other accelerators by loads, stores and atomics, and by messages, on an emulated host.

    demo_g2g.py [KERNEL]

Four G2G IO dies linked each to each, then eight below two that forward. Each has an accelerator,
whose memory every other one reaches through its own die, by both semantics, under each personality
image in turn. Exit status 0: every byte was right, and none went through system memory.
"""

import json
import pathlib
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "harness"))

import audit  # noqa: E402
import g2gfabric  # noqa: E402
import strace  # noqa: E402
from vm import VM, prepare, terminate_on_signals  # noqa: E402

BUDGET = 600
FABRICS = {
    "g2g-mesh": "four G2G dies, each linked to each; xpuN and g2gN below one PCIe switch",
    "g2g-spine": "eight G2G dies, each linked to g2g8 and g2g9, which forward",
}
PATHS = {2: "p2p-switch", 3: "p2p-root"}    # enum kiwi_path
MODULES = ("kiwi_fw", "kiwi_g2g", "xpu")
ENDS = "-d g2g0 -P g2g1 --peer-mem gpu:xpu1"     # for kiwi-perf
WORK = {"memory": ("loads", "stores", "atomics"), "message": ("puts", "gets", "sends")}
COUNTERS = ("load_bytes", "store_bytes", "atomics", "served_read_bytes", "served_write_bytes",
            "served_atomics", "poisoned", "stores_dropped", "messages_dropped", "qp_retransmitted")
FRAMES = {"memory_pdus": "loads, stores and atomics", "message_pdus": "messages",
          "acks": "acknowledgements"}


def run(vm, command):
    """Runs a command and shows it."""
    print(f"# {command}", flush=True)
    return vm.sh(command, timeout=BUDGET)


def semantics(vm):
    """What the image in use offers, by its descriptor; all dies have the same."""
    slots = json.loads(vm.sh("kiwictl --json g2g image show g2g0"))["slots"]
    return next(slot["semantics"] for slot in slots if slot["active"])


def measure(vm):
    """What every pair did under each image: {image: {(owner of the memory, user): row}}."""
    found = {}
    dies = len(audit.parts(vm, "xpu"))
    for name in g2gfabric.IMAGES:
        run(vm, f"g2g-test image {name}")
        offered = semantics(vm)
        print(f"  {name} offers: {', '.join(offered)}")
        rows = found[name] = {}
        for kind, command in (("memory", "g2g-test pairs"),
                              ("message", f"g2g-messages pairs {dies}")):
            for row in json.loads(run(vm, command)) if kind in offered else ():
                rows.setdefault((row["from"], row["to"]), {}).update(row)
    return found


def show(found):
    """A line for each pair."""
    images = list(found)
    size = next(iter(found[images[0]].values())).get("bytes")
    print("\nEach pair, verified by the engines of the accelerators: loads/stores/atomics by the "
          f"user's CPU,\nthen puts/gets/sends of {size} bytes between its accelerator's memory and "
          "the other's.\n")
    print(f"{'memory of':>10} {'user':>5} {'path':>11}" + "".join(f"{name:>22}" for name in images))
    for pair, first in found[images[0]].items():
        cells = [" ".join("/".join(str(found[name][pair].get(key, "-")) for key in keys)
                          for keys in WORK.values()) + " ok" for name in images]
        print(f"{'xpu' + str(pair[0]):>10} {'g2g' + str(pair[1]):>5} "
              f"{PATHS.get(first['path'], 'SYSTEM'):>11}" + "".join(f"{c:>22}" for c in cells))


def check(vm, found):
    """What is wrong with the results, and with what the dies counted."""
    wrong = []
    dies = len(audit.parts(vm, "xpu"))
    for name, rows in found.items():
        missing = {(a, b) for a in range(dies) for b in range(dies) if a != b} - set(rows)
        wrong += [f"{name}: no result of {a} to {b}" for a, b in sorted(missing)]
        wrong += [f"{name}: {pair} did no {key}" for pair, row in rows.items()
                  for keys in WORK.values() for key in keys if not row.get(key)]
    n = audit.g2g_counters(vm, *COUNTERS, *FRAMES)
    print(f"\nAll dies together: {n['load_bytes']} bytes loaded, {n['store_bytes']} stored, "
          f"{n['atomics']} atomics; served by peers: {n['served_read_bytes']}, "
          f"{n['served_write_bytes']}, {n['served_atomics']}.")
    print("Frames: " + ", ".join(f"{n[name]} of {words}" for name, words in FRAMES.items()) + ".")
    for done, served in (("load_bytes", "served_read_bytes"), ("store_bytes", "served_write_bytes"),
                         ("atomics", "served_atomics")):
        if n[done] != n[served]:
            wrong.append(f"{done} {n[done]}, {served} {n[served]}")
    wrong += [f"{name}: {n[name]}" for name in
              ("poisoned", "stores_dropped", "messages_dropped", "qp_retransmitted") if n[name]]
    for die in audit.parts(vm, "g2g"):
        wrong += [f"{die}: {key} {value}" for key, value in audit.diag(vm, die).items()
                  if "payload" in key and "peer" not in key]
    return wrong


def cost(vm):
    """What each semantics costs; returns what is wrong."""
    print("\nWhat each costs, between g2g0 and memory of xpu1:")
    wrong = []
    for op, words in (("write", "stores of 16 bytes, each with a load behind"),
                      ("read", "loads of 16 bytes")):
        # To set up may take a wait more or less: behind that counters are read.
        few, many = (len(strace.system_calls(vm, f"kiwi-perf {op} {ENDS} -s 16 -t lat -n {n}",
                                             since="/counters/")) for n in (1100, 2100))
        print(f"  1000 {words}: {many - few} system calls (strace)")
        wrong += [f"{op}: {few} and {many} system calls"] if many != few else []
    before = audit.g2g_counters(vm, *FRAMES)
    report = json.loads(vm.sh(f"kiwi-perf write {ENDS} -m gpu:xpu0 --semantics message -s 1M -n 1 "
                              "-v --json", timeout=BUDGET))
    frames = {key: value - before[key] for key, value in audit.g2g_counters(vm, *FRAMES).items()}
    row = report["results"][0]
    doorbells = row["local"]["doorbells"] + row["peer"]["doorbells"]
    print(f"  a message of 1 MiB, verified: {doorbells} doorbell, {frames['message_pdus']} frames "
          f"and {frames['acks']} acknowledgements")
    if doorbells != 1 or not row["verified"] or frames["memory_pdus"]:
        wrong.append(f"a message of 1 MiB: {row}, {frames}")
    print(run(vm, f"kiwi-perf write {ENDS} --semantics both -n 2 -v"))
    return wrong


def forwarded(vm):
    """What the dies in the middle handed on; returns what is wrong."""
    text = vm.sh("cd /sys/class/kiwi; for d in 8 9; do for p in 0 1 2 3 4 5 6 7; do "
                 "cat g2g$d/ports/$p/counters/forwarded; done; done")
    counts = list(map(int, text.split()))
    print(f"PDUs forwarded: g2g8 {sum(counts[:8])}, g2g9 {sum(counts[8:])}.")
    return [] if all(counts) else [f"forwarded by port: {counts}"]


def death(vm):
    """A die falls silent while another loads from it; returns what is wrong."""
    print("\nA peer dies: g2g1 loads from xpu0 without end, and g2g0 falls silent; g2g2's goes on.")
    print("# g2g-test traffic load 0 1 load 2 1")
    vm.begin("g2g-test traffic load 0 1 load 2 1", "/run/death", "ready")
    vm.qom_set("g2g0", "silent-after", 50)
    vm.sh("while pidof g2g-test >/dev/null; do usleep 20000; done", timeout=BUDGET)
    text = vm.sh("cat /run/death")
    if "WRONG" in text:
        return [text]
    result = json.loads(text.partition("ready\n")[2])
    bound = int(vm.sh("cat /sys/class/kiwi/g2g1/caps/load_us"))
    print(f"  {result['steps']} loads, {result['poisoned']} of them all-ones; the longest took "
          f"{result['worst_us'] / 1000:.0f} ms, the die's bound is {bound / 1000:.0f} ms\n"
          f"  reports by status: {result['log']}; the import is dead\n"
          f"  the other stream: {result['other']} loads, all right")
    vm.qom_set("g2g0", "silent-after", 0)
    vm.qom_set("g2g0", "silent", False)
    run(vm, "g2g-test wait")
    return [] if result["poisoned"] else ["no load was answered with all-ones"]


def demo(kernel, topology):
    """One fabric; returns what is wrong."""
    times = g2gfabric.TIMES if topology == "g2g-mesh" else g2gfabric.PATIENT
    with VM(name=f"demo-{topology}", kernel=kernel, **g2gfabric.host(topology, times)) as vm:
        print(f"\nAn emulated host with Linux {vm.sh('uname -r').strip()}: {FABRICS[topology]}.")
        for module in MODULES:
            run(vm, f"insmod /modules/{module}.ko")
        run(vm, "g2g-test up")
        found = measure(vm)
        show(found)
        wrong = check(vm, found)
        wrong += cost(vm) + death(vm) if topology == "g2g-mesh" else forwarded(vm)
        held = {die: audit.live(vm, die) for die in audit.parts(vm, "g2g")}
        vm.sh("rmmod kiwi_g2g", timeout=120)
        wrong += [f"{die} still holds {audit.live(vm, die)}, and before {held[die]}"
                  for die in held if audit.live(vm, die)]
        return wrong + vm.problems()


def main():
    kernel = sys.argv[1] if len(sys.argv) > 1 else "debian-6.12"
    terminate_on_signals()
    prepare((kernel,))
    start = time.monotonic()
    signal.alarm(BUDGET)
    wrong = [line for topology in FABRICS for line in demo(kernel, topology)]
    print()
    for line in wrong:
        print(f"WRONG: {line}")
    print(f"{'FAILED' if wrong else 'All data verified; no payload in system memory'} "
          f"({time.monotonic() - start:.0f} s)")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
