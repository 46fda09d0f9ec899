# SPDX-License-Identifier: GPL-2.0
"""Regions: their page lists, and where their bytes really go."""

import dataclasses
import json
import re

import audit
from scenario import scenario
from vm import VM

KERNELS = ["debian-6.12", "debian-6.1"]
BUDGET = 240
# How GPU memory is reached, by topology and IOMMU, as kiwi-perf words it. With iommu=pt on the
# kernel's command line it does not translate.
P2P = {("pair", "off"): "p2p-switch", ("one-switch", "off"): "p2p-switch",
       ("flat", "off"): "p2p-root", ("pair", "on"): "p2p-root", ("flat", "on"): "p2p-root"}
# In a port of the model: offset of the ACS control register, and what redirects in it.
ACS_CONTROL = 0x148 + 6
REDIRECT, FORWARD = 0x0c, 0x10

def load(vm):
    """Loads the drivers."""
    for module in ("kiwi_fw", "kiwi_snic", "xpu"):
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)


def region(vm, mib, chunk_kib=0, more=""):
    """Runs region-test: what it says of the source's and the target's page lists."""
    out = vm.sh(f"region-test {mib} {chunk_kib} {more}", timeout=BUDGET)
    lists = {side: dict(re.findall(r"(\w+)=(\d+)", rest)) for side, rest in
             re.findall(r"^(from|to) (.*)$", out, re.M)}
    assert f"pages={mib * 256} bad=0" in out, out
    return {side: {k: int(v) for k, v in d.items()} for side, d in lists.items()}


@scenario("memory.contiguous", iommu=["off", "on"], covers=[34])
def contiguous(vm):
    """1 GiB of contiguous VRAM is at most 4 entries; the data arrive."""
    load(vm)
    lists = region(vm, 1024)
    for side in ("from", "to"):
        assert 1 <= lists[side]["entries"] <= 4, lists
        assert lists[side]["segments"] == 1 or vm.machine.iommu == "on", lists


@scenario("memory.scattered", iommu=["off", "on"], covers=[34])
def scattered(vm):
    """1 GiB in chunks of 64 KiB and of 4 KiB: an entry a chunk, and every page right."""
    load(vm)
    for chunk in (64, 4):
        lists = region(vm, 1024, chunk)
        assert lists["to"]["entries"] <= 4, lists
        if vm.machine.iommu == "off":
            assert lists["from"]["entries"] == 1024 * 1024 // chunk, lists
            assert 1 << lists["from"]["page_shift"] == chunk * 1024, lists


@scenario("memory.over-4g", vram="16G", covers=[34])
def over_4g(vm):
    """4 GiB and 64 MiB in one range: more than a scatter list's entry can hold. What is moved are
    the messages at its ends, on both sides of 4 GiB."""
    load(vm)
    lists = region(vm, 4160, more="ends")
    assert lists["from"]["entries"] <= 4 and lists["from"]["segments"] == 1, lists


@scenario("memory.closed", covers=[35])
def closed(vm):
    """The exporter's files are closed, only the region holds the buffer: traffic goes on."""
    load(vm)
    region(vm, 256, 64, "close")
    assert "xpu" in vm.sh("cat /proc/modules")
    vm.sh("rmmod xpu")


@scenario("memory.path", topology=["pair", "flat", "one-switch"], covers=[9, 13])
def path(vm):
    """What MR_QUERY and preflight say is what the device's counters say, for each memory."""
    load(vm)
    check_paths(vm, P2P[vm.machine.topology, "off"])
    check_no_p2p(vm)


@scenario("memory.path-iommu", topology=["pair", "flat"], iommu="on", kernel=KERNELS, covers=[13])
def path_iommu(vm):
    """The same with an IOMMU that translates, which all requests must reach."""
    load(vm)
    check_paths(vm, P2P[vm.machine.topology, "on"])


@scenario("memory.path-passthrough", iommu="on", append="iommu=pt", covers=[13])
def path_passthrough(vm):
    """The same with an IOMMU that lets addresses through."""
    load(vm)
    check_paths(vm, "p2p-switch")


@scenario("memory.path-refused", kernel="test-6.12", topology="flat", covers=[9, 13])
def path_refused(vm):
    """A kernel that knows distances, and no way: the exporter moves GPU memory to the host's."""
    load(vm)
    check_paths(vm, "system")


@scenario("memory.path-acs", topology="one-switch", acs=True, iommu="on", append="iommu=pt",
          covers=[13])
def path_acs(vm):
    """Ports that redirect are named, all of them; with the fix that is told, none does."""
    load(vm)
    ports = [port_of(vm, device) for device in ("snic0", "xpu0")]
    found = preflight(vm)["acs"]
    assert found["state"] == "WARN" and found["address"] == ports[0], found
    fix = re.search(r"pci=disable_acs_redir=(\S+)$", found["fix"])
    assert fix and fix[1].split(";") == ports, found
    check_paths(vm, "p2p-root")
    for redirecting in ([], ports[:1], ports[1:]):
        for port in ports:
            set_acs(vm, port, REDIRECT if port in redirecting else FORWARD)
        check_both_ways(vm, "p2p-root" if redirecting else "p2p-switch")
        found = preflight(vm)["acs"]
        assert all((port in found["fix"]) == (port in redirecting) for port in ports), found
    mended = VM(**{**dataclasses.asdict(vm.machine), "append": f"iommu=pt {fix[0]}"})
    load(mended)
    check_both_ways(mended, "p2p-switch")


def port_of(vm, device):
    """The address of the port above a device."""
    return vm.sh(f"basename $(dirname $(readlink -f /sys/class/*/{device}/device))").strip()


def set_acs(vm, port, control):
    """Writes the ACS control register of a port."""
    vm.sh(f"printf '\\x{control:02x}' | dd of=/sys/bus/pci/devices/{port}/config bs=1 "
          f"seek={ACS_CONTROL} conv=notrunc 2>/dev/null")


def preflight(vm):
    """What kiwictl says of snic0 and xpu0, by check."""
    (device,) = json.loads(vm.run("kiwictl preflight snic0 --gpu xpu0 --json", timeout=120)[1])
    return {c["check"]: c for c in device["checks"]}


def judged(vm):
    """The path between snic0 and xpu0 that the checks of preflight amount to."""
    found = preflight(vm)
    if found["exporter"]["state"] != "OK":
        return "system"
    direct = all(found[check]["state"] == "OK" for check in ("iommu", "acs", "distance"))
    return "p2p-switch" if direct else "p2p-root"


def transfer(vm, what):
    """Runs kiwi-perf: its report, and by SNIC what peers got or gave by switch and by root."""
    before = {d: audit.ways(vm, d) for d in audit.parts(vm, "snic")}
    report = json.loads(vm.sh(f"kiwi-perf {what} -s 64K -n 8 --verify --json", timeout=120))
    assert report["results"][0]["verified"], report
    ways = {d: tuple(n - m for n, m in zip(audit.ways(vm, d), before[d])) for d in before}
    return report, ways


def check_paths(vm, peer_path):
    """Moves data between all kinds of memory and compares words with counters."""
    assert judged(vm) == peer_path, preflight(vm)
    for mem in ("host", "gpu:xpu0", "udmabuf"):
        if mem == "udmabuf" and vm.run("[ -e /dev/udmabuf ]")[0]:
            continue        # not in Debian's 6.1
        for peer in ("host", "gpu:xpu1"):
            report, ways = transfer(vm, f"write -m {mem} --peer-mem {peer}")
            row = report["results"][0]
            moved = row["bytes"] * row["iterations"]
            for end, name in (("local", mem), ("peer", peer)):
                wanted = peer_path if name.startswith("gpu") else "system"
                assert report[end]["path"].startswith(wanted), report
                assert row[end]["dma_peer_bytes"] == (0 if wanted == "system" else moved), report
                assert row[end]["dma_system_bytes"] == (moved if wanted == "system" else 0), report
                assert ways[report[end]["device"]] == (moved if wanted == "p2p-switch" else 0,
                                                       moved if wanted == "p2p-root" else 0), ways


def check_both_ways(vm, path_word):
    """What snic0 reads of xpu0, and what it writes there: some of it by the root, or none."""
    assert judged(vm) == path_word, preflight(vm)
    by_switch = by_root = moved = 0
    for op in ("write", "read"):
        report, ways = transfer(vm, f"{op} -m gpu:xpu0")
        assert report["local"]["path"].startswith(path_word), report
        moved += report["results"][0]["local"]["dma_peer_bytes"]
        by_switch += ways["snic0"][0]
        by_root += ways["snic0"][1]
    assert by_switch + by_root == moved > 0 and bool(by_root) == (path_word == "p2p-root"), \
        (path_word, by_switch, by_root)


def check_no_p2p(vm):
    """An exporter that lets no peer reach its memory moves it to the host's."""
    before = [(audit.diag(vm, d), audit.ways(vm, d)) for d in ("snic0", "snic1")]
    out = vm.sh("region-test 4 0 no-p2p", timeout=120)
    assert out.count("path=system") == 2 and "bad=0" in out, out
    for device, way, (counts, ways) in zip(("snic0", "snic1"), ("read", "write"), before):
        key = f"dma_payload_{way}_system_bytes"
        assert audit.diag(vm, device)[key] - counts.get(key, 0) == 4 << 20, out
        assert audit.ways(vm, device) == ways


@scenario("memory.no-room", props={"snic0": {"max-mr-pages": 1024}}, covers=[14, 33])
def no_room(vm):
    """A region that needs more entries than the device has is refused in clear words."""
    load(vm)
    rc, out = vm.run("region-test 64 4", timeout=120)
    assert rc == 1 and "16384" in out and "1024" in out, out
    region(vm, 64, 64)
    vm.sh("kiwi-perf write -s 4K -n 10 --verify")


@scenario("memory.small-tables", vram="4G", props={"snic0": {"table-shift-max": 12}}, covers=[33])
def small_tables(vm):
    """Two levels of the device's tables hold fewer entries than it says: that is the limit."""
    load(vm)
    rc, out = vm.run("region-test 2048 4", timeout=BUDGET)
    assert rc == 1 and "524288" in out and "262144" in out, out
    region(vm, 1024, 4)


@scenario("memory.huge-limits", covers=[33])
def huge_limits(vm):
    """A device that says that it takes pages and tables of 2^63 bytes: it gets what it needs."""
    for device in ("snic0", "snic1"):
        vm.qom_set(device, "fault", "opcode=2,count=0,reply=32:3f3f")
    load(vm)
    region(vm, 64, 4)
    for mem in ("host", "gpu:xpu0"):
        vm.sh(f"kiwi-perf write -m {mem} -s 64K -n 10 --verify")


@scenario("memory.kernels", kernel=KERNELS, iommu=["off", "on"], covers=[9, 19])
def kernels(vm):
    """The demo's main job on each supported kernel: GPU to GPU, nothing by system memory."""
    load(vm)
    for op in ("write", "read", "send", "atomic"):
        size = "8" if op == "atomic" else "1M"
        report = json.loads(vm.sh(f"kiwi-perf {op} -m gpu:xpu0 --peer-mem gpu:xpu1 -s {size} "
                                  "-n 20 --verify --json", timeout=120))
        row = report["results"][0]
        assert row["verified"] and row["dma_system_bytes"] == 0, report
    assert not audit.diag(vm, "snic0").get("dma_payload_read_fault_transactions")
