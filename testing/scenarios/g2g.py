# SPDX-License-Identifier: GPL-2.0
"""G2G IO dies: the driver and the model, by g2g-test (testing/g2g), which uses ioctls alone."""

import json
import os
import random
import re

import abi
import audit
import g2gfabric
from scenario import scenario
from vm import STRETCH

KERNELS = ["debian-6.12", "debian-6.1"]
SYSFS = "/sys/class/kiwi/g2g{}/"
OUT = "/run/traffic"
TIMEOUT, REVOKED = abi.KIWI_G2G_WHY_TIMEOUT, abi.KIWI_G2G_WHY_REVOKED
ROUNDS = 200 if "KIWI_SOAK" in os.environ else 6    # of three kinds
ENDS = 2 * ROUNDS                                   # of four
TIMES = g2gfabric.TIMES
MESH = g2gfabric.host("g2g-mesh", TIMES)


def load(vm):
    """Loads the drivers; returns what an idle die holds."""
    for module in ("kiwi_fw", "kiwi_g2g", "xpu"):
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)
    return held(vm)


def held(vm):
    """What each die holds."""
    return [audit.live(vm, d) for d in audit.parts(vm, "g2g")]


def test(vm, what, timeout=120):
    """Runs g2g-test, which must succeed."""
    return vm.sh(f"g2g-test {what}", timeout=timeout)


def attributes(vm, die, *names):
    """Attributes of a die, as text."""
    text = vm.sh(f"cd {SYSFS.format(die)}; for name in {' '.join(names)}; do "
                 r"cat $name || exit 1; printf '\0'; done")
    return [value.strip() for value in text.split("\0")[:-1]]


def diag(vm, die):
    """Its diagnostic counters, as the driver shows them."""
    return json.loads(vm.sh(f"kiwictl --json diag {die}"))["diag"]


def address(vm, die):
    return audit.address(vm, f"g2g{die}")


@scenario("g2g.probe", kernel=KERNELS, iommu=["off", "on"], covers=[19],
          **g2gfabric.host("g2g-pair", g2gfabric.PATIENT))
def probe(vm):
    """Identity, capabilities, states and counters in sysfs; reset, unbind and rmmod."""
    idle = load(vm)
    for die in range(2):
        assert attributes(vm, die, "serial", "abi_version", "caps/stations", "caps/ports",
                          "caps/lanes", "caps/layers", "caps/granule_shift", "caps/forward",
                          "caps/atomics", "caps/aperture_size", "fabric/state",
                          "fabric/reason", "ports/0/state", "ports/15/reason", "image0/name",
                          "image0/active", "image1/state", "holders") == [
            f"{0x4b57000000000101 + die:016x}",
            f"{abi.KIWI_ABI_MAJOR}.{abi.KIWI_ABI_MINOR}", "4", "16", "4",
            "2", "16", "1", "1", str(256 << 20), "UNCONFIGURED", "NOT_CONFIGURED", "DOWN",
            "ADMIN", "SUE", "1", "EMPTY", ""], die
    test(vm, "up")
    assert attributes(vm, 0, "fabric/state", "fabric/reason", "fabric/accel", "ports/0/state",
                      "ports/0/neighbour", "ports/0/neighbour_port", "peers/established",
                      "fabric/peers", "fabric/routes") == [
        "ACTIVE", "NONE", "0", "UP", "1", "0", "1", "1", "1"]
    # Every attribute can be read.
    vm.sh("find -L /sys/class/kiwi/g2g0/ -maxdepth 3 -path '*/device' -prune -o "
          "-path '*/subsystem' -prune -o -path '*/power' -prune -o -type f ! -name uevent -print | "
          "xargs cat >/dev/null")
    vm.sh(f"echo 1 >/sys/bus/pci/devices/{address(vm, 0)}/reset", timeout=120)
    assert attributes(vm, 0, "fabric/state", "ports/0/state") == ["UNCONFIGURED", "DOWN"]
    test(vm, "up")
    where = address(vm, 1)
    vm.sh(f"echo {where} >/sys/bus/pci/drivers/kiwi_g2g/unbind")
    vm.sh("! [ -e /dev/kiwi/g2g1 ]")
    vm.sh(f"echo {where} >/sys/bus/pci/drivers/kiwi_g2g/bind")
    test(vm, "up")
    assert held(vm) == idle
    for module in ("xpu", "kiwi_g2g", "kiwi_fw"):
        vm.sh(f"rmmod {module}", timeout=120)
    assert not any(held(vm)), held(vm)


def all_pairs(vm):
    """Traffic of every pair under each image, and what the dies have counted of it."""
    idle = load(vm)
    test(vm, "up")
    dies = len(audit.parts(vm, "xpu"))
    pairs = {(a, b) for a in range(dies) for b in range(dies) if a != b}
    for name, number in g2gfabric.IMAGES.items():
        test(vm, f"image {name}")
        for die in range(len(idle)):
            slot = attributes(vm, die, "fabric/image")[0]
            assert attributes(vm, die, f"image{slot}/id", f"image{slot}/provisional") == \
                [str(number), str(int(name != "SUE"))]
        rows = json.loads(test(vm, "pairs", timeout=300))
        assert {(r["from"], r["to"]) for r in rows} == pairs, rows
        sent = json.loads(vm.sh(f"g2g-messages pairs {dies}", timeout=300))
        assert {(r["from"], r["to"]) for r in sent} == pairs, sent
        assert all(r["puts"] and r["gets"] and r["sends"] for r in sent), sent
        assert held(vm) == idle
    assert not any(audit.g2g_counters(
        vm, "poisoned", "stores_dropped", "unmapped", "refused_key", "refused_bounds",
        "refused_right", "protocol", "messages_dropped").values())
    n = audit.g2g_counters(vm, "load_bytes", "store_bytes", "atomics", "served_read_bytes",
                           "served_write_bytes", "served_atomics")
    done = [sum(r[what] for r in rows) * len(g2gfabric.IMAGES) for what in ("loads", "atomics")]
    assert n["served_read_bytes"] == n["load_bytes"] >= done[0], n
    assert n["served_write_bytes"] == n["store_bytes"], n
    assert n["served_atomics"] == n["atomics"] == done[1], n
    for die in audit.parts(vm, "g2g"):
        counts = {k: v for k, v in audit.diag(vm, die).items() if "payload" in k or "db_" in k}
        assert not any("system" in k for k in counts if "payload" in k), \
            f"{die}: {counts} of an accelerator's memory"
        shown = diag(vm, die)
        assert {k: shown[k] for k in counts} == counts, f"{die}: {counts}, {shown}"


@scenario("g2g.mesh", iommu=["off", "on"], timeout=400,
          **g2gfabric.host("g2g-mesh", g2gfabric.PATIENT))
def mesh(vm):
    """Four dies, each linked to each: all pairs under all images, switched while it runs."""
    all_pairs(vm)


@scenario("g2g.spine", timeout=600, **g2gfabric.host("g2g-spine", g2gfabric.PATIENT))
def spine(vm):
    """Eight dies below two that forward: all pairs under all images."""
    all_pairs(vm)
    for die in (8, 9):
        forwarded = attributes(vm, die, *(f"ports/{n}/counters/forwarded" for n in range(8)))
        assert "0" not in forwarded, f"g2g{die} forwarded {forwarded}"


@scenario("g2g.switch", timeout=600, **g2gfabric.host("g2g-switch", g2gfabric.PATIENT))
def switched(vm):
    """Eight dies on two plain Ethernet switches: all pairs under all images."""
    all_pairs(vm)


@scenario("g2g.grants", kernel=KERNELS, **MESH)
def grants(vm):
    """Grants, handles, rights and partitions: what is not allowed reaches nothing."""
    idle = load(vm)
    test(vm, "up")
    for what in ("grants", "edges", "partition", "edges"):
        test(vm, what)
        assert held(vm) == idle
    refused = audit.g2g_counters(vm, "refused_key", "refused_bounds", "refused_right")
    assert not any(refused.values()), "importers let through what exporters refuse"


def traffic(vm, kind, rest="load 2 1"):
    """Begins accesses by die 1 to memory of die 0, and others that nothing is to disturb."""
    vm.begin(f"g2g-test traffic {kind} 0 1 {rest}", OUT, "ready")


def ended(vm):
    """How they ended."""
    vm.sh("while pidof g2g-test >/dev/null; do usleep 20000; done", timeout=150)
    text = vm.sh(f"cat {OUT}")
    assert "WRONG" not in text, text
    return json.loads(text.partition("ready\n")[2])


def within_bound(result):
    """The longest load, with what a busy machine may add."""
    limit = TIMES["load-us"] + 1000000 * STRETCH
    assert result["worst_us"] <= limit, result


@scenario("g2g.silence", timeout=500 + 15 * ROUNDS, **MESH)
def silence(vm):
    """A peer dies in the middle of a load, store or atomic: within the bound all-ones and a report
    of each, the import dies, other dies notice nothing. The peer comes back."""
    rng = random.Random(1)
    idle = load(vm)
    test(vm, "up")
    for n in range(ROUNDS):
        traffic(vm, ("load", "store", "atomic")[n % 3])
        vm.qom_set("g2g0", "silent-after", rng.randrange(1, 200))
        result = ended(vm)
        assert (result["ended"], result["reason"]) == ("dead", TIMEOUT), result
        assert result["poisoned"], result
        within_bound(result)
        vm.qom_set("g2g0", "silent-after", 0)
        vm.qom_set("g2g0", "silent", False)
        test(vm, "wait")
        assert held(vm) == idle


@scenario("g2g.cut", timeout=500 + 15 * ROUNDS, **MESH)
def cut(vm):
    """The link between two dies is cut in mid-access: as when the peer dies."""
    idle = load(vm)
    test(vm, "up")
    for n in range(ROUNDS):
        traffic(vm, ("load", "store", "atomic")[n % 3])
        vm.qmp("set_link", name="g2g0p0", up=False)
        result = ended(vm)
        assert (result["ended"], result["reason"]) == ("dead", TIMEOUT), result
        assert result["poisoned"], result
        within_bound(result)
        vm.qmp("set_link", name="g2g0p0", up=True)
        test(vm, "wait")
        assert held(vm) == idle


@scenario("g2g.revoke", timeout=300 + 8 * ROUNDS, **MESH)
def revoke(vm):
    """An export is revoked in mid-access: at once nothing reaches the memory, all-ones for the
    importer and a report of each, others notice nothing."""
    idle = load(vm)
    test(vm, "up")
    for n in range(ROUNDS):
        kind = ("load", "store", "atomic")[n % 3]
        result = json.loads(test(vm, f"revoke {kind} 0 1 store 2 1"))
        assert result["reason"] == REVOKED, result
        assert result["us"] <= (TIMES["revoke-ms"] + 1000 * STRETCH) * 1000, result
        within_bound(result)
        assert held(vm) == idle


@scenario("g2g.kill", covers=[15], timeout=600, **MESH)
def kill(vm):
    """kill -9 in mid-access: no die holds anything of the program's."""
    rng = random.Random(2)
    idle = load(vm)
    test(vm, "up")
    for n in range(ROUNDS):
        traffic(vm, ("load", "store", "atomic")[n % 3])
        vm.sh(f"usleep {rng.randrange(0, 50000)}; killall -9 g2g-test; "
              "while pidof g2g-test >/dev/null; do usleep 20000; done")
        vm.sh("[ -z \"$(cat /sys/class/kiwi/g2g*/holders)\" ]")
        assert held(vm) == idle, f"round {n}"
    test(vm, "pairs")


@scenario("g2g.ends", kernel=KERNELS, covers=[18], timeout=900, **MESH)
def ends(vm):
    """The importer's or the exporter's die is unbound or reset in mid-access, and comes back."""
    rng = random.Random(3)
    idle = load(vm)
    test(vm, "up")
    where = [address(vm, die) for die in range(2)]
    for n in range(ENDS // 3 if vm.machine.test_kernel else ENDS):
        die, reset = n // 2 % 2, n % 2
        traffic(vm, ("load", "store", "atomic")[n % 3], "load 2 3")
        vm.sh(f"usleep {rng.randrange(0, 50000)}")
        if reset:
            vm.sh(f"echo 1 >/sys/bus/pci/devices/{where[die]}/reset", timeout=120)
        else:
            vm.sh(f"echo {where[die]} >/sys/bus/pci/drivers/kiwi_g2g/unbind", timeout=120)
        result = ended(vm)
        # The driver of the exporter revokes; that of the importer ends the file.
        assert result["ended"] == "dead" and result["reason"] == REVOKED or die, result
        if not reset:
            assert not audit.live(vm, f"g2g{die}"), audit.live(vm, f"g2g{die}")
            vm.sh(f"echo {where[die]} >/sys/bus/pci/drivers/kiwi_g2g/bind", timeout=120)
        test(vm, "up")
        assert held(vm) == idle, f"round {n}: {held(vm)}"
    test(vm, "pairs")


@scenario("g2g.image", **MESH)
def image(vm):
    """Live objects forbid to change fabric and image, and their holder is named; an upload that
    is left, reset or wrong leaves the image that runs."""
    idle = load(vm)
    test(vm, "up")
    test(vm, "images OISA")
    assert held(vm) == idle
    test(vm, "up")
    slots = attributes(vm, 0, "image0/active", "image0/id", "image1/active", "image1/state")
    assert slots == ["1", str(abi.KIWI_G2G_SUE), "0", "VERIFIED"], slots
    for end in ("exit", "reset"):
        test(vm, "part-image OISA")
        assert attributes(vm, 0, "image1/state", "image0/active") == ["LOADING", "1"]
        if end == "reset":
            vm.sh(f"echo 1 >/sys/bus/pci/devices/{address(vm, 0)}/reset", timeout=120)
            assert attributes(vm, 0, "image1/state", "image0/active") == ["EMPTY", "1"]
            test(vm, "up")
    data = bytearray(g2gfabric.image(abi.KIWI_G2G_ETHX, version=2, size=70000))
    data[-1] ^= 1
    vm.put(f"{g2gfabric.FIRMWARE}/spoilt", bytes(data))
    rc, text = vm.run("g2g-test image spoilt")
    assert rc and "IMAGE_LOAD" in text, text
    assert attributes(vm, 0, "image1/state", "image0/active") == ["BAD", "1"]
    test(vm, "up")
    test(vm, "pairs")


@scenario("g2g.messages", kernel=KERNELS, iommu=["off", "on"],
          **g2gfabric.host("g2g-pair", g2gfabric.PATIENT))
def messages(vm):
    """Queue pairs between two dies, through the library: SEND, WRITE, READ and atomics from memory
    of one accelerator to that of the other."""
    idle = load(vm)
    test(vm, "up")
    vm.sh("g2g-messages exchange 0 1", timeout=200)
    assert held(vm) == idle
    n = audit.g2g_counters(vm, "message_pdus", "messages_dropped", "protocol", "qp_retransmitted",
                           "qp_rnr_nak_rcvd")
    assert n.pop("message_pdus") > 150 and not any(n.values()), n
    for die in audit.parts(vm, "g2g"):
        system = {k: v for k, v in audit.diag(vm, die).items() if "payload" in k and "system" in k}
        assert not system, f"{die}: {system} of an accelerator's memory"


@scenario("g2g.messages-end", covers=[15], **g2gfabric.host("g2g-pair", g2gfabric.TIMES))
def messages_end(vm):
    """A peer dies, or the program, in the middle of messages: the QP is in error after the peer is
    told of, and neither die holds anything."""
    idle = load(vm)
    test(vm, "up")
    vm.begin("g2g-messages until-dead 0 1", OUT, "ready")
    vm.qom_set("g2g1", "silent", True)
    vm.sh("while pidof g2g-messages >/dev/null; do usleep 20000; done; "
          f"grep -E '^[1-9][0-9]* writes' {OUT} || {{ cat {OUT}; exit 1; }}", timeout=150)
    vm.qom_set("g2g1", "silent", False)
    test(vm, "wait")
    assert held(vm) == idle
    vm.begin("g2g-messages until-dead 0 1", OUT, "ready")
    vm.sh("killall -9 g2g-messages && while pidof g2g-messages >/dev/null; do usleep 20000; done")
    assert held(vm) == idle
    vm.sh("g2g-messages exchange 0 1", timeout=200)


def small_event_queue():
    """Two dies whose event queue is as small as the ABI allows."""
    return g2gfabric.host("g2g-pair", {**TIMES, "eq-log2-max": abi.KIWI_EQ_LOG2_MIN})


@scenario("g2g.events-lost", covers=[15], **small_event_queue())
def events_lost(vm):
    """A peer dies and takes more QPs along than the event queue has entries: those whose event was
    lost are found."""
    idle = load(vm)
    test(vm, "up")
    vm.begin("g2g-messages all-dead 0 1", OUT, "ready")
    vm.qom_set("g2g1", "silent", True)
    vm.sh("while pidof g2g-messages >/dev/null; do usleep 20000; done", timeout=150)
    text = vm.sh(f"cat {OUT}")
    found = re.search(r"^(\d+) words, (\d+) without a cause, (\d+) times", text, re.M)
    assert found, text
    words, unknown, lost = map(int, found.groups())
    assert words > 1 << abi.KIWI_EQ_LOG2_MIN and unknown and lost, found[0]
    vm.qom_set("g2g1", "silent", False)
    test(vm, "wait")
    assert held(vm) == idle


def meet(vm, verb):
    """SNICs and dies in one machine: runs window-test; its counters before and after."""
    idle = load(vm)
    vm.sh("insmod /modules/kiwi_snic.ko", timeout=120)
    snics = [audit.live(vm, d) for d in audit.parts(vm, "snic")]
    test(vm, "up")
    out = vm.sh(f"window-test {verb}", timeout=200)
    assert held(vm) == idle
    assert [audit.live(vm, d) for d in audit.parts(vm, "snic")] == snics
    return out


@scenario("g2g.snic", kernel=KERNELS, iommu=["off", "on"],
          **g2gfabric.host("g2g-snic", g2gfabric.PATIENT))
def snic(vm):
    """A window of a die is a region of a SNIC, and a region of a SNIC is exported by a die."""
    out = meet(vm, "exchange")
    way = "p2p-switch" if vm.machine.iommu == "off" else "p2p-root"
    assert out.splitlines() == [f"snic0 path={way}", f"snic1 path={way}"], out
    n = audit.g2g_counters(vm, "load_bytes", "store_bytes", "served_read_bytes",
                           "served_write_bytes", "poisoned", "stores_dropped", "protocol")
    assert not n["poisoned"] + n["stores_dropped"] + n["protocol"], n
    assert n["served_read_bytes"] == n["load_bytes"] > 40000, n
    assert n["served_write_bytes"] == n["store_bytes"] > 40000, n
    for device in audit.parts(vm, "snic") + audit.parts(vm, "g2g"):
        system = {k: v for k, v in audit.diag(vm, device).items()
                  if "payload" in k and "system" in k}
        assert not system, f"{device}: {system} of an accelerator's memory"


@scenario("g2g.snic-revoked", **g2gfabric.host("g2g-snic", g2gfabric.TIMES))
def snic_revoked(vm):
    """The export behind a SNIC's region is revoked: the region dies with it."""
    meet(vm, "revoke")
