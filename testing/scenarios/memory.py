# SPDX-License-Identifier: GPL-2.0
"""Regions: their page lists, and where their bytes really go."""

import json
import re

import audit
from scenario import scenario

KERNELS = ["debian-6.12", "debian-6.1"]
BUDGET = 240
# What MR_QUERY says of memory, by topology and IOMMU: path and reason, as kiwi-perf words them.
P2P = {("pair", "off"): "p2p-switch", ("one-switch", "off"): "p2p-switch",
       ("flat", "off"): "p2p-root", ("pair", "on"): "p2p-root", ("flat", "on"): "p2p-root"}


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
    """6 GiB in one range: more than a scatter list's entry can hold."""
    load(vm)
    lists = region(vm, 6144)
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
    """What MR_QUERY says is what the device's own counters say, for each kind of memory."""
    load(vm)
    check_paths(vm)


@scenario("memory.path-iommu", topology=["pair", "flat"], iommu="on", kernel=KERNELS, covers=[13])
def path_iommu(vm):
    """The same with an IOMMU, which all requests must reach."""
    load(vm)
    check_paths(vm)


def check_paths(vm):
    """Moves data between all kinds of memory and compares words with counters."""
    peer_path = P2P[vm.machine.topology, vm.machine.iommu]
    for mem in ("host", "gpu:xpu0", "udmabuf"):
        if mem == "udmabuf" and vm.run("[ -e /dev/udmabuf ]")[0]:
            continue        # not in Debian's 6.1
        for peer in ("host", "gpu:xpu1"):
            report = json.loads(vm.sh(f"kiwi-perf write -m {mem} --peer-mem {peer} -s 64K -n 8 "
                                      "--verify --json", timeout=120))
            row = report["results"][0]
            moved = row["bytes"] * row["iterations"]
            assert row["verified"], report
            for end, name in (("local", mem), ("peer", peer)):
                gpu = name.startswith("gpu")
                said, counted = report[end]["path"], row[end]
                assert said.startswith(peer_path if gpu else "system"), report
                assert counted["dma_peer_bytes"] == (moved if gpu else 0), report
                assert counted["dma_system_bytes"] == (0 if gpu else moved), report


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
