# SPDX-License-Identifier: GPL-2.0
"""G2G IO dies by the tools alone: kiwictl brings a fabric up, kiwi-perf moves bytes in it."""

import json

import abi
import audit
import g2gfabric
import strace
from scenario import scenario

POD = "5d0c1e7a-6b48-4f02-9f3c-e4d7a1b2c3d4"
DIES = 4
EXPORTED = 300000


def shown(vm, words, timeout=60):
    return json.loads(vm.sh(f"kiwictl --json g2g {words}", timeout=timeout))


def refused(vm, words, *says):
    rc, output = vm.run(f"kiwictl g2g {words}", timeout=60)
    assert rc == 1 and all(w in output for w in says), (words, rc, output)


def others(die):
    return [n for n in range(DIES) if n != die]


def bring_up(vm):
    """All dies active, by the commands that an administrator gives."""
    vm.load("kiwi_g2g", "xpu")
    vm.sh(f"kiwictl g2g generate mesh {DIES} >/tmp/mesh.yaml")
    for die in range(DIES):
        vm.sh(f"kiwictl g2g fabric configure g2g{die} pod {POD} accel {die} partition 7 epoch 3 && "
              f"for p in 0 1 2; do kiwictl g2g port set g2g{die} $p up; done && "
              f"kiwictl g2g routes stage g2g{die} /tmp/mesh.yaml && "
              f"kiwictl g2g routes commit g2g{die}", timeout=120)
    for die in range(DIES):
        vm.sh(f"kiwictl g2g fabric activate g2g{die} within 60000", timeout=90)
    for die in range(DIES):
        for peer in others(die):
            vm.sh(f"kiwictl g2g wait g2g{die} peer {peer} within 60000", timeout=90)


def begin_export(vm, words):
    """Begins an export that goes on by itself: its handle."""
    vm.sh(f"kiwictl g2g export {words} >/tmp/export 2>&1 & echo $! >/tmp/export.pid; "
          "while ! [ -s /tmp/export ]; do usleep 100000; done", timeout=60)
    return vm.sh("head -n 1 /tmp/export").strip()


def end_export(vm):
    """Ends it as a user does; what it said besides the handle."""
    vm.sh("kill -INT $(cat /tmp/export.pid); while kill -0 $(cat /tmp/export.pid) 2>/dev/null; do "
          "usleep 100000; done", timeout=90)
    return vm.sh("tail -n +2 /tmp/export").splitlines()


def check_shown(vm):
    """Each view tells what was set, and what came of it."""
    for die in range(DIES):
        fabric = shown(vm, f"fabric show g2g{die}")
        assert {k: fabric[k] for k in ("state", "reason", "pod", "accel", "partition", "epoch",
                                       "routes", "peers", "holders")} == {
            "state": "ACTIVE", "reason": "NONE", "pod": POD, "accel": die, "partition": 7,
            "epoch": 3, "routes": 1, "peers": DIES - 1, "holders": []}, fabric
        assert fabric["ports_routable"] == [0, 1, 2], fabric
        ports = shown(vm, f"ports g2g{die}")
        assert [(p["state"], p["neighbour"]) for p in ports[:3]] == \
            [("UP", n) for n in others(die)], ports
        assert {p["state"] for p in ports[3:]} == {"DOWN"}, ports
        assert [(p["accel"], p["state"], p["serial"]) for p in shown(vm, f"peers g2g{die}")] == \
            [(n, "ESTABLISHED", f"{0x4b57000000000101 + n:016x}") for n in others(die)]
        routes = shown(vm, f"routes show g2g{die}")
        assert routes == {"generation": 1, "routes": [
            {"accel": n, "layer": 0, "ports": [port]} for port, n in enumerate(others(die))]}
    devices = json.loads(vm.sh("kiwictl --json list"))
    assert [d["name"] for d in devices] == [f"g2g{n}" for n in range(DIES)], devices
    for view in ("fabric show g2g0", "ports g2g0", "peers g2g0", "routes show g2g0",
                 "image show g2g0", "topology /tmp/mesh.yaml"):
        print(vm.sh(f"kiwictl g2g {view}"))


def check_routes(vm):
    """Routes of another topology are made by the kernel; what has none is refused, with the path."""
    vm.sh("kiwictl g2g generate spine-leaf 4 2 2 | kiwictl g2g routes stage g2g0 -")
    staged = shown(vm, "routes show g2g0 staged")["routes"]
    assert [(r["accel"], r["ports"]) for r in staged] == [(n, [0]) for n in (1, 2, 3)], staged
    rc, output = vm.run("sed '/die0.2/d' /tmp/mesh.yaml | kiwictl g2g routes stage g2g1 -")
    assert rc == 1 and "no route: 0 at node 3" in output, output
    vm.sh("kiwictl g2g routes stage g2g0 /tmp/mesh.yaml")
    assert shown(vm, "routes commit g2g0 drain") == {"generation": 2}
    vm.sh("kiwictl g2g wait g2g0 routes 2 within 1000")
    refused(vm, "wait g2g0 routes 9 within 10", "generation 2, not 9")
    assert shown(vm, "routes rollback g2g0") == {"generation": 3}
    vm.sh("kiwictl g2g wait g2g0 peer 3 within 60000", timeout=90)


def check_memory(vm):
    """What one die writes another reads, from the third die's accelerator."""
    handle = begin_export(vm, f"g2g0 to 1,2 rights rwa memory gpu:xpu0 bytes {EXPORTED}")
    assert len(handle) == 32, handle
    vm.sh(f"kiwictl g2g import g2g1 0 {handle} write 0 hello write {EXPORTED - 5} there")
    assert shown(vm, f"import g2g2 0 {handle} read 0 5 read {EXPORTED - 5} 5") == [
        {"read": b"hello".hex()}, {"read": b"there".hex()}]
    steps = "add 64 5 add 64 7 read 64 8"
    assert shown(vm, f"import g2g1 0 {handle} rights rwa {steps}") == [
        {"before": 0}, {"before": 5}, {"read": (12).to_bytes(8, "little").hex()}]
    assert any("kiwictl" in h for h in shown(vm, "fabric show g2g0")["holders"])
    refused(vm, "fabric deactivate g2g0", "kiwictl")
    refused(vm, f"import g2g3 0 {handle} read 0 1", "NO_ACCESS", "accelerator 0")
    refused(vm, f"import g2g1 0 {'00' * 16} read 0 1", "NO_ACCESS")
    refused(vm, f"import g2g1 0 {handle} read {EXPORTED} 1", str(EXPORTED))
    assert end_export(vm) == []
    refused(vm, f"import g2g1 0 {handle} read 0 1", "NO_ACCESS")

    # An importer that lives on while the memory is taken back is told.
    handle = begin_export(vm, "g2g0 to 1 memory gpu:xpu0")
    vm.sh(f"kiwictl --json g2g events g2g1 count 1 within 60000 >/tmp/event & sleep 1; "
          f"kiwictl g2g peer isolate g2g0 1; wait $!", timeout=90)
    event = json.loads(vm.sh("cat /tmp/event"))
    assert event["event"] == "peer" and event["id"] == 0, event
    vm.sh("kiwictl g2g peer recover g2g0 1; kiwictl g2g wait g2g1 peer 0 within 60000", timeout=90)
    end_export(vm)


def check_images(vm):
    """Another image is loaded, refused while the fabric is active, and used after."""
    vm.sh("kiwictl g2g image load g2g0 1 OISA")
    slots = shown(vm, "image show g2g0")["slots"]
    assert [(s["state"], s["active"]) for s in slots] == \
        [("VERIFIED", True), ("VERIFIED", False)] and slots[1]["name"] == "test", slots
    assert [s["semantics"] for s in slots] == [["memory", "message"]] * 2, slots
    refused(vm, "image activate g2g0 1", "g2g0")
    refused(vm, "image load g2g0 0 OISA", "g2g0")
    refused(vm, "image load g2g0 1 NONE", "NONE")
    vm.sh("kiwictl g2g fabric deactivate g2g0 && kiwictl g2g image activate g2g0 1")
    assert [s["active"] for s in shown(vm, "image show g2g0")["slots"]] == [False, True]
    vm.sh("kiwictl g2g image load g2g0 0 accesses")
    assert shown(vm, "image show g2g0")["slots"][0]["semantics"] == ["memory"]
    # By kiwictl itself, and one that is damaged.
    path = f"{g2gfabric.FIRMWARE}/SUE"
    vm.sh(f"kiwictl g2g image load g2g0 0 {path}")
    vm.sh(f"cp {path} /tmp/bad; echo x >>/tmp/bad")
    refused(vm, "image load g2g0 0 /tmp/bad", "g2g0")
    assert shown(vm, "image show g2g0")["slots"][0]["error"] == "MALFORMED"


@scenario("g2g.kiwictl", topology="g2g-mesh", timeout=400, files={
    **g2gfabric.files("g2g-mesh"),
    f"{g2gfabric.FIRMWARE}/accesses": g2gfabric.image(abi.KIWI_G2G_SUE, semantics=1)})
def kiwictl(vm):
    """A mesh of four dies brought up, looked at, used and taken down by kiwictl alone."""
    bring_up(vm)
    check_shown(vm)
    check_memory(vm)
    check_routes(vm)
    check_images(vm)


def perf(vm, words):
    report = json.loads(vm.sh(f"kiwi-perf {words} --json", timeout=240))
    assert report["complete"], report
    return report


@scenario("g2g.perf", topology="g2g-mesh", timeout=500)
def kiwi_perf(vm):
    """Stores, loads and atomics of all sizes into an accelerator's memory, every byte checked."""
    bring_up(vm)
    for op, peer in (("write", 1), ("read", 2), ("atomic", 3), ("cas", 1)):
        sizes = [8] if op in ("atomic", "cas") else [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000]
        for test in ("bw", "lat"):
            report = perf(vm, f"{op} -d g2g0 -P g2g{peer} --peer-mem gpu:xpu{peer} --min 1 "
                          f"--max 1000 -n 20 -v -t {test}")
            assert [(r["bytes"], r["verified"]) for r in report["results"]] == \
                [(size, True) for size in sizes], report
            assert all(r["frames"] > 0 and r["us"] > 0 for r in report["results"]), report
            print(json.dumps(report["results"]))
    rc, output = vm.run("kiwi-perf write -d g2g0 -P g2g9")
    assert rc == 1 and "g2g9" in output, output


ENDS = "-d g2g0 -P g2g1 --peer-mem gpu:xpu1"


def payload(vm):
    """Payload that dies 0 and 1 moved to and from system memory, as they themselves count."""
    return sum(value for die in ("g2g0", "g2g1") for key, value in audit.diag(vm, die).items()
               if key.startswith("dma_payload") and key.endswith("system_bytes"))


@scenario("g2g.perf-messages", topology="g2g-mesh", timeout=500)
def perf_messages(vm):
    """Messages of all kinds and sizes from an accelerator's memory to another's, every byte
    checked: a doorbell each, of any size, in one process and between two."""
    bring_up(vm)
    for op in ("write", "read", "send", "atomic", "cas"):
        for size in (8,) if op in ("atomic", "cas") else (1, 5000, 1 << 20):
            for test in ("bw", "lat"):
                report = perf(vm, f"{op} {ENDS} -m gpu:xpu0 --semantics message -s {size} -n 6 "
                              f"-v -t {test}")
                row = report["results"][0]
                assert (row["bytes"], row["verified"]) == (size, True), report
                assert row["local"]["doorbells"] == 6, report
                assert row["dma_peer_bytes"] == 2 * 6 * size or op in ("atomic", "cas"), report
    assert not payload(vm)
    vm.sh("ip link set lo up; kiwi-perf --listen -d g2g3 -m gpu:xpu3 & "
          "until kiwi-perf send -d g2g2 -m gpu:xpu2 -c 127.0.0.1 -s 100000 -n 5 -v; do "
          "kill -0 $! || exit 1; usleep 200000; done; wait $!", timeout=100)
    for words, says in (("write --semantics message", "snic0"), ("send -d g2g0 -P snic1", "snic1"),
                        (f"send {ENDS} --semantics memory", "send"),
                        (f"write {ENDS} --semantics message -g 1", "GIDs"),
                        (f"cas {ENDS} --semantics both", "write and read")):
        rc, output = vm.run(f"kiwi-perf {words}")
        assert rc == 2 and says in output, (words, rc, output)


@scenario("g2g.no-system-call", topology="g2g-mesh")
def no_system_call(vm):
    """A thousand stores or loads of 16 bytes more, or messages, need no system call more."""
    bring_up(vm)
    for work in ("write -s 16 -t lat", "read -s 16 -t lat", "atomic -t lat",
                 "write -s 16 --semantics message -t lat"):
        # To set up may take a wait more or less: behind that counters are read.
        few, many = (strace.system_calls(vm, f"kiwi-perf {work} {ENDS} -n {n}", since="/counters/")
                     for n in (1100, 2100))
        assert "openat" in few, few
        # As it polls, it looks for events when nothing has moved for a second.
        slack = 8 if "message" in work else 0
        assert abs(len(few) - len(many)) <= slack, f"{work}: {len(few)} and {len(many)}"


MEASURES = ("frames", "accesses", "dma")


def counted(vm):
    """What kiwi-perf compares, as dies 0 and 1 count it themselves."""
    pdus = audit.g2g_counters(vm, "memory_pdus", "message_pdus", "loads", "stores")
    counts = [pdus["memory_pdus"] + pdus["message_pdus"], pdus["loads"] + pdus["stores"], 0]
    for die in ("g2g0", "g2g1"):
        for key, value in audit.diag(vm, die).items():
            if key == "db_accepted":
                counts[1] += value
            elif key.endswith("transactions") and key.startswith(
                    ("dma_payload", "dma_wqe", "dma_cqe", "dma_cq_ci")):
                counts[2] += value
    return dict(zip(MEASURES, counts))


def least(rows, measure):
    """The size from which on messages cost less, or None."""
    found = None
    for row in reversed(rows):
        if row["message"][measure] >= row["memory"][measure]:
            break
        found = row["bytes"]
    return found


def check_costs(op, rows, number):
    """What both semantics cost follows from what they are."""
    for row in rows:
        words, size = number * row["bytes"] // 8, row["bytes"]
        memory, message = row["memory"], row["message"]
        assert row["verified"] and row["iterations"] == number, row
        # A load comes after all stores. It is two frames, and each access is one of memory.
        assert memory["accesses"] == memory["dma"] == words + (op == "write"), row
        assert memory["frames"] == (words + 2 if op == "write" else 2 * words), row
        assert message["accesses"] == number, row
        assert number * -(-size // 4096) < message["frames"] <= 3 * number + \
            number * size // 1024, row
        # A CQE each, payload at both ends; WQEs may be fetched together.
        assert message["dma"] > 3 * number, row


@scenario("g2g.crossover", topology="g2g-mesh", timeout=400)
def crossover(vm):
    """Both semantics by size: what kiwi-perf says they cost is what the dies have counted."""
    bring_up(vm)
    sizes = [8 << n for n in range(14)]
    for op in ("write", "read"):
        before = counted(vm)
        report = perf(vm, f"{op} {ENDS} --semantics both --max 64K -n 4 -v")
        after, rows = counted(vm), report["results"]
        print(json.dumps(report))
        assert [row["bytes"] for row in rows] == sizes, report
        check_costs(op, rows, 4)
        assert {m: after[m] - before[m] for m in MEASURES} == {
            m: sum(row[way][m] for row in rows for way in ("memory", "message"))
            for m in MEASURES}, report
        assert report["crossover"] == {m: least(rows, m) for m in ("us", *MEASURES)}, report
    text = vm.sh(f"kiwi-perf write {ENDS} --semantics both --max 32 -n 2 -v -t lat")
    assert "Messages cost less" in text and "nothing of silicon" in text, text


def each_of_eight(vm, command):
    """Runs a command for each die, $n."""
    vm.sh(f"for n in 0 1 2 3 4 5 6 7; do {command} || exit 1; done", timeout=240)


def sessions(vm):
    """Die 0 has a session with each other: how many it has had with each."""
    for peer in range(1, 8):
        vm.sh(f"kiwictl g2g wait g2g0 peer {peer} within 60000", timeout=90)
    return {p["accel"]: p["generation"] for p in shown(vm, "peers g2g0")}


def bring_up_planes(vm):
    """Eight dies, each with a port to each of two Ethernet switches."""
    vm.load("kiwi_g2g")
    vm.sh("kiwictl g2g generate spine-leaf 8 0 2 >/tmp/planes.yaml; "
          "sed '/die0.0/d' /tmp/planes.yaml >/tmp/less.yaml")
    each_of_eight(vm, f"kiwictl g2g fabric configure g2g$n pod {POD} accel $n && "
                  "kiwictl g2g port set g2g$n 0 up mode switched && "
                  "kiwictl g2g port set g2g$n 1 up mode switched && "
                  "kiwictl g2g routes stage g2g$n /tmp/planes.yaml && "
                  "kiwictl g2g routes commit g2g$n")
    each_of_eight(vm, "kiwictl g2g fabric activate g2g$n within 60000")


def go_around(vm):
    """Routes that do without the link of die 0 to the first switch."""
    each_of_eight(vm, "kiwictl g2g routes stage g2g$n /tmp/less.yaml && "
                  "kiwictl g2g routes commit g2g$n drain")
    assert [r["ports"] for r in shown(vm, "routes show g2g0")["routes"]] == [[1]] * 7


def mend(vm):
    """The link is back, and so are the routes."""
    vm.qmp("set_link", name="g2g0p0", up=True)
    vm.sh("until [ $(cat /sys/class/kiwi/g2g0/ports/0/state) = UP ]; do usleep 100000; done")
    each_of_eight(vm, "kiwictl g2g routes rollback g2g$n drain")
    assert [r["ports"] for r in shown(vm, "routes show g2g0")["routes"]] == [[0, 1]] * 7


def spines_are_dies(vm):
    """With dies in the place of switches these must be reached, too: by dies that forward."""
    text = "sed 's/spine0,/spine0, accel: 8,/; s/spine1,/spine1, accel: 9,/{}' /tmp/planes.yaml"
    rc, output = vm.run(f"{text.format('')} | kiwictl g2g routes stage g2g0 -")
    assert rc == 1 and "no route: 8 at node 9" in output, output
    vm.sh(f"{text.format('; s/: false/: true/')} | kiwictl g2g routes stage g2g0 -")
    assert {r["accel"]: r["ports"] for r in shown(vm, "routes show g2g0 staged")["routes"]} == {
        **{n: [0, 1] for n in range(1, 8)}, 8: [0], 9: [1]}


@scenario("g2g.planes", timeout=900, **g2gfabric.host("g2g-switch", g2gfabric.TIMES))
def planes(vm):
    """A link of one plane is taken out of the routes, and cut: nobody notices. It is cut while in
    use: pairs on the other plane do not notice; new routes lead around it."""
    bring_up_planes(vm)
    before = sessions(vm)
    vm.sh("kiwictl g2g fabric pause g2g0 && kiwictl g2g fabric resume g2g0 && "
          "kiwictl g2g port set g2g0 0 unroutable")
    assert shown(vm, "fabric show g2g0")["ports_routable"] == [1]
    vm.sh("kiwictl g2g port set g2g0 0 routable")
    spines_are_dies(vm)
    go_around(vm)
    vm.qmp("set_link", name="g2g0p0", up=False)
    # As long as it takes to miss somebody.
    vm.sh(f"usleep {2 * g2gfabric.TIMES['peer-ms']}000")
    assert sessions(vm) == before
    mend(vm)
    assert sessions(vm) == before

    vm.qmp("set_link", name="g2g0p0", up=False)
    vm.sh("until [ $(cat /sys/class/kiwi/g2g0/fabric/peers) = 4 ]; do usleep 100000; done",
          timeout=120)
    assert shown(vm, "ports g2g0")[0]["reason"] == "NO_CARRIER"
    go_around(vm)
    after = sessions(vm)
    assert all((after[n] == before[n]) == (n % 2 == 1) for n in before), (before, after)
    assert shown(vm, "log g2g0") == []
    mend(vm)
    assert sessions(vm) == after
