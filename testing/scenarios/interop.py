# SPDX-License-Identifier: GPL-2.0
"""The SNIC and Linux soft-RoCE on one emulated Ethernet, each in both roles."""

import pathlib
import sys

from scenario import hosttest, scenario

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder)
                for folder in ("interop", "host")]

import icrc                                                 # noqa: E402
import known                                                # noqa: E402
import wire                                                 # noqa: E402

SNIC_MAC, SNIC_IPV4 = "52:54:00:4b:00:00", "192.0.2.2"
SNIC_IPV6 = "fe80::5054:ff:fe4b:0"
SOFT_MAC, SOFT_IPV4 = "52:54:00:4b:ff:00", "192.0.2.1"
GID = {6: 0, 4: 1}      # IP version -> index in the table of either side
MTUS = {4: (256, 1024, 4096), 6: (512, 2048, 4096)}
CONTROL = 7000          # TCP port of the peers' own connection
ACK_TIMEOUT = 19        # 2 s: soft-RoCE on an emulated CPU of a busy host may be slow


def lan(vm):
    """Soft-RoCE on the virtio-net interface, and an IPv4 GID for the SNIC."""
    vm.load("virtio_net", "crc32_generic", "rdma_rxe", "kiwi_snic")
    vm.sh("echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad; ip link set eth0 mtu 4200 up && "
          f"ip addr add {SOFT_IPV4}/24 dev eth0 && rdma link add rxe0 type rxe netdev eth0")
    vm.sh("for i in $(seq 100); do grep -q ffff /sys/class/infiniband/rxe0/ports/1/gids/1 && "
          "exit 0; sleep 0.1; done; exit 1")
    vm.sh(f"kiwictl gid set snic0 1 {GID[4]} {SNIC_IPV4}")


def together(vm, first, second, timeout):
    """Runs two programs that talk to each other; both must end well."""
    rc, output = vm.run(f"timeout {timeout} {first} >/run/first 2>&1 & "
                        f"timeout {timeout} {second} >/run/second 2>&1; rc=$?; "
                        "wait $! || rc=$?; cat /run/first /run/second; exit $rc",
                        timeout=timeout + 30)
    assert rc == 0, output
    return output


def peers(vm, version, mtu, more="", timeout=120):
    """The two peers, one on each side; each is the active one in turn."""
    options = f"-g {GID[version]} -m {mtu} {more}"
    return together(vm, f"verbs-peer -d rxe0 -l {CONTROL} {options}",
                    f"kiwi-peer -d snic0 -c {CONTROL} {options}", timeout)


def judged(path, version, mtu):
    """A capture of both sides' frames is sound; it is kept only if it is not."""
    senders = {(SNIC_MAC, version), (SOFT_MAC, version)}
    frames = wire.judge(path, senders, SNIC_MAC, mtu)
    print(f"{path.name}: {frames} frames, sound")
    path.unlink()


def resolved(vm, address):
    """The kernel learned the SNIC's MAC from the SNIC's own answer."""
    entry = vm.sh(f"ip neigh show {address} dev eth0")
    assert f"lladdr {SNIC_MAC}" in entry, entry
    assert not {"PERMANENT", "NOARP", "FAILED"} & set(entry.split()), entry


@hosttest("interop.icrc")
def known_frames(_log):
    """The checker of ICRCs knows right ones, and sees each byte that changes."""
    for text, mutable in known.SOFT_ROCE:
        frame = bytes.fromhex(text)
        roce = icrc.parse(frame)
        assert roce.icrc() == roce.icrc_computed(), text
        for at in range(12, len(frame)):
            bad = bytearray(frame)
            bad[at] ^= 0x10
            try:
                roce = icrc.parse(bytes(bad))
                right = roce is not None and roce.icrc() == roce.icrc_computed()
            except icrc.Malformed:
                right = False
            assert right == (at in mutable), (text, at)


def exchange(version):
    """All operations, errors too, both ways, at several MTUs; the wire is judged."""
    @scenario(f"interop.exchange.ipv{version}", rdma=True, timeout=600)
    def run(vm):
        lan(vm)
        for mtu in MTUS[version]:
            with wire.capture(vm, "vnet0", f"mtu{mtu}") as path:
                print(peers(vm, version, mtu))
            judged(path, version, mtu)
        resolved(vm, SNIC_IPV4 if version == 4 else SNIC_IPV6)
    return run


for ip_version in GID:
    exchange(ip_version)


@scenario("interop.loss", rdma=True, timeout=600,
          props={"snic0": {"drop0": 100, "reorder0": 100, "seed": 11}})
def loss(vm):
    """With one frame in a hundred lost and one late, the data is still right."""
    lan(vm)
    print(peers(vm, 4, 1024, more="-t data", timeout=240))
    for count in ("dropped0", "reordered0"):
        assert vm.qom_get("snic0", count) > 50, count
    assert counter(vm, "retransmitted") > 0


def counter(vm, name):
    """A counter of the SNIC's port on the shared Ethernet."""
    return int(vm.sh(f"cat /sys/class/kiwi/snic0/ports/1/counters/{name}"))


def pingpong(vm, version, soft_serves, size):
    """Debian's own ibv_rc_pingpong and our program that speaks its handshake."""
    options = f"-g {GID[version]} -s {size} -n 200 -m 1024"
    soft = f"ibv_rc_pingpong -c -d rxe0 {options}"
    ours = f"rc-pingpong -c -d snic0 -u {ACK_TIMEOUT} {options}"
    first, second = (soft, ours) if soft_serves else (ours, soft)
    output = together(vm, first, f"sh -c 'sleep 1; exec {second} 127.0.0.1'", 120)
    assert output.count("200 iters in") >= 1, output


@scenario("interop.pingpong", rdma=True, timeout=400)
def pingpongs(vm):
    """An unmodified ibv_rc_pingpong as server and as client, over IPv4 and IPv6."""
    lan(vm)
    with wire.capture(vm, "vnet0", "pingpong") as path:
        for soft_serves in (True, False):
            for size in (1, 4096, 65537):
                pingpong(vm, 4, soft_serves, size)
    judged(path, 4, 1024)
    with wire.capture(vm, "vnet0", "pingpong") as path:
        for soft_serves in (True, False):
            pingpong(vm, 6, soft_serves, 4096)
    judged(path, 6, 1024)


@scenario("interop.neighbour", rdma=True)
def neighbour(vm):
    """The SNIC answers for each address in its GID table, and for no other."""
    lan(vm)
    ask = "arping -c 2 -w 3 -I eth0"
    assert vm.run(f"{ask} {SNIC_IPV4}", timeout=20)[0] == 0
    assert vm.run(f"{ask} 192.0.2.77", timeout=20)[0] != 0
    vm.sh(f"kiwictl gid clear snic0 1 {GID[4]}")
    assert vm.run(f"{ask} {SNIC_IPV4}", timeout=20)[0] != 0
    for address, known in ((SNIC_IPV6, True), ("fe80::77", False)):
        vm.run(f"ping -c 1 -W 2 {address}%eth0")     # nobody answers this one
        entry = vm.sh(f"ip neigh show {address} dev eth0")
        assert (f"lladdr {SNIC_MAC}" in entry) == known, entry
