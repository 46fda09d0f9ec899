# SPDX-License-Identifier: GPL-2.0
"""Ports: S-10 to S-13 of spec/snic.md, with the test as a station on the wire."""

import ipaddress
import select
import socket
import struct

import abi
from scenario import hosttest
from snicdev import (STATUS, Node, connected, fields, ipv4_gid, machine, pair, raddr, set_gid, sge,
                     wqe)

OURS = bytes.fromhex("525400ee0001")
BROADCAST = b"\xff" * 6
IPV4, IPV6, ARP = 0x0800, 0x86dd, 0x0806


class Wire:
    """The other end of a port."""

    def __init__(self, folder, name="wire"):
        self.theirs, ours = str(folder / f"port-{name}"), str(folder / name)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(ours)
        self.arguments = ["-netdev", f"dgram,id={name},local.type=unix,remote.type=unix,"
                          f"local.path={self.theirs},remote.path={ours}"]

    def send(self, frame):
        self.socket.sendto(frame, self.theirs)

    def receive(self, timeout=0.05):
        """The next frame, or None."""
        if not select.select([self.socket], [], [], timeout)[0]:
            return None
        return self.socket.recv(65536)

    def ask(self, frame):
        self.send(frame)
        return self.receive()


def wired(log, props=""):
    """A machine whose SNIC has the test on port 1, and the wire."""
    wire = Wire(log)
    more = "netdev0=wire,mac0=52:54:00:4b:00:00" + (props and "," + props)
    return machine(more, arguments=wire.arguments, log=log), wire


def ethernet(to, kind, payload, source=OURS):
    return to + source + struct.pack(">H", kind) + payload


def arp(target, operation=1, source="192.0.2.200", **change):
    head = dict(hardware=1, protocol=IPV4, hlen=6, plen=4, **change)
    return struct.pack(">HHBBH", head["hardware"], head["protocol"], head["hlen"], head["plen"],
                       operation) + OURS + ipaddress.ip_address(source).packed + bytes(6) + \
        ipaddress.ip_address(target).packed


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data + b"" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def icmpv6(source, target, message, hops=255):
    source, target = (ipaddress.ip_address(a).packed for a in (source, target))
    pseudo = source + target + struct.pack(">IHBB", len(message), 0, 0, 58)
    message = message[:2] + struct.pack(">H", checksum(pseudo + message)) + message[4:]
    return struct.pack(">IHBB", 6 << 28, len(message), 58, hops) + source + target + message


def solicit(wanted, option=True):
    message = struct.pack(">BBHI", 135, 0, 0, 0) + ipaddress.ip_address(wanted).packed
    return message + (b"\x01\x01" + OURS if option else b"")


@hosttest("model.ports.arp")
def arp_replies(log):
    """ARP for the IPv4 GIDs, for nothing else, and not from a disabled port."""
    q, wire = wired(log)
    with q:
        node = Node(q, 0)
        set_gid(node.dev, ipv4_gid("192.0.2.77"), index=15)
        set_gid(node.dev, ipaddress.ip_address("fd00::1").packed, index=3)
        for address in ("192.0.2.1", "192.0.2.77"):
            for to in (BROADCAST, node.mac):
                reply = wire.ask(ethernet(to, ARP, arp(address).ljust(46, b"\0")))
                assert reply[:14] == ethernet(OURS, ARP, b"", node.mac)
                assert reply[14:42] == struct.pack(">HHBBH", 1, IPV4, 6, 4, 2) + node.mac + \
                    ipaddress.ip_address(address).packed + OURS + \
                    ipaddress.ip_address("192.0.2.200").packed
                assert len(reply) == 60 and not any(reply[42:])
        good = arp("192.0.2.1")
        silent = [arp("192.0.2.2"), arp("192.0.2.1", operation=2), good[:27],
                  b"\0\2" + good[2:], good[:4] + b"\x08" + good[5:], good[:2] + b"\x86" + good[3:]]
        for message in silent:
            assert wire.ask(ethernet(BROADCAST, ARP, message)) is None, message.hex()
        assert wire.ask(ethernet(bytes.fromhex("525400123456"), ARP, good)) is None
        set_gid(node.dev, None, index=15)
        assert wire.ask(ethernet(BROADCAST, ARP, arp("192.0.2.77"))) is None
        node.dev.ok(abi.KIWI_SNIC_OP_SET_PORT, fields("kiwi_snic_set_port_in", port=1, mtu=5))
        assert wire.ask(ethernet(BROADCAST, ARP, good)) is None
        node.dev.ok(abi.KIWI_SNIC_OP_SET_PORT,
                    fields("kiwi_snic_set_port_in", port=1, enabled=1, mtu=5))
        assert wire.ask(ethernet(BROADCAST, ARP, good))
        node.dev.reset()
        assert wire.ask(ethernet(BROADCAST, ARP, good)) is None


@hosttest("model.ports.neighbour-discovery")
def neighbours(log):
    """Neighbour solicitations for the IPv6 GIDs, also probes from nowhere."""
    q, wire = wired(log)
    with q:
        node = Node(q, 0)
        mine, us = "fd00::1:2", "fd00::200"
        set_gid(node.dev, ipaddress.ip_address(mine).packed, index=2)
        group, group_mac = "ff02::1:ff01:2", bytes.fromhex("3333ff010002")

        def answer(to, to_mac, flags):
            message = struct.pack(">BBHI", 136, 0, 0, flags << 24) + \
                ipaddress.ip_address(mine).packed + b"\x02\x01" + node.mac
            return ethernet(to_mac, IPV6, icmpv6(mine, to, message), node.mac)
        for to, mac in ((group, group_mac), (mine, node.mac)):
            reply = wire.ask(ethernet(mac, IPV6, icmpv6(us, to, solicit(mine))))
            assert reply == answer(us, OURS, 0x60), reply.hex()
        reply = wire.ask(ethernet(group_mac, IPV6, icmpv6("::", group, solicit(mine, False))))
        assert reply == answer("ff02::1", bytes.fromhex("333300000001"), 0x20)

        good = ethernet(group_mac, IPV6, icmpv6(us, group, solicit(mine)))
        damaged = bytearray(good)
        damaged[-1] ^= 1
        for frame in (bytes(damaged), good[:70],
                      ethernet(group_mac, IPV6, icmpv6(us, group, solicit("fd00::1:3"))),
                      ethernet(group_mac, IPV6, icmpv6(us, group, solicit(mine), hops=64)),
                      ethernet(group_mac, IPV6, icmpv6(us, group, b"\x88" + solicit(mine)[1:])),
                      ethernet(group_mac, IPV4, icmpv6(us, group, solicit(mine)))):
            assert wire.ask(frame) is None, frame.hex()
        assert wire.ask(good)


@hosttest("model.ports.frames", covers=[38])
def frames(log):
    """What reaches the port is counted; frames to others do not exist; junk harms nothing."""
    q, wire = wired(log)
    with q:
        node = Node(q, 0)

        # An answer to the last frame tells that those before it were looked at.
        last = ethernet(BROADCAST, ARP, arp("192.0.2.1").ljust(46, b"\0"))
        own = dict(rx_frames=1, rx_bytes=60, rx_not_roce=1, tx_frames=1, tx_bytes=60)

        def rose(*frames_):
            before = node.counters()
            for frame in (*frames_, last):
                wire.send(frame)
            assert wire.receive(5)
            after = node.counters()
            rise = {name: getattr(after, name) - getattr(before, name) - own.get(name, 0)
                    for name, _ in after._fields_[:-1]}
            return {name: n for name, n in rise.items() if n}
        other = bytes.fromhex("525400123456")
        assert not rose(ethernet(other, IPV4, bytes(100)))
        assert rose(ethernet(node.mac, IPV4, bytes(100))) == \
            {"rx_frames": 1, "rx_bytes": 114, "rx_not_roce": 1}
        assert not rose(b"\0" * 13, node.mac + b"\1" * 7)
        for kind in (IPV4, IPV6, ARP, 0x8100, 0x0000):
            for size in (0, 1, 19, 20, 27, 28, 40, 48, 60, 1500, 4590):
                for fill in (0, 0x45, 0x60, 0xff):
                    assert rose(ethernet(node.mac, kind, bytes([fill]) * size))["rx_frames"] == 1
        assert rose(ethernet(node.mac, IPV4, bytes(9000))) == {"rx_malformed": 1}
        udp = struct.pack(">HHHH", 4791, 4791, 30, 0)
        head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 50, 0, 0x4000, 64, 17, 0, bytes(4), bytes(4))
        ipv6 = struct.pack(">IHBB", 6 << 28, 30, 17, 64) + bytes(32)
        for packet in (head + udp, ipv6 + udp, head + udp + bytes(22), ipv6 + udp + bytes(22)):
            seen = rose(ethernet(node.mac, IPV6 if packet[0] >> 4 == 6 else IPV4, packet))
            assert seen["rx_frames"] == 1 and len(seen) == 3, seen
        assert node.dev.alloc_pd()


@hosttest("model.ports.burst")
def burst(log):
    """More frames at once than the device takes in one go."""
    q, wire = wired(log)
    with q:
        node = Node(q, 0)
        frame = ethernet(BROADCAST, ARP, arp("192.0.2.1").ljust(46, b"\0"))
        for _ in range(100):
            wire.send(frame)
        for _ in range(100):
            assert wire.receive(1)
        assert wire.receive() is None
        assert node.counters().rx_frames == node.counters().tx_frames == 100


@hosttest("model.ports.state")
def state(log):
    """Administrative state and link; PORT_CHANGE when the two together change."""
    q, _ = wired(log)
    with q:
        node = Node(q, 0)
        node.dev.ok(abi.KIWI_SNIC_OP_SET_PORT,
                    fields("kiwi_snic_set_port_in", port=2, enabled=1, mtu=1))
        assert (node.port(2).state, node.port(2).mbps, node.port(2).mtu) == (
            abi.KIWI_PORT_DOWN, 0, 1)       # nothing is plugged in
        assert (node.port().state, node.port().mbps) == (abi.KIWI_PORT_ACTIVE, 400000)
        assert node.mac == bytes.fromhex("5254004b0000")

        def enable(on):
            node.dev.ok(abi.KIWI_SNIC_OP_SET_PORT,
                        fields("kiwi_snic_set_port_in", port=1, enabled=on, mtu=5))

        def link(up):
            q.qmp("set_link", name="wire", up=up)

        def changed(to):
            event = node.events.take()
            assert (event.type, event.code, event.id, event.info) == (
                abi.KIWI_EV_PORT_CHANGE, to, 1, 0)
            assert node.port().state == to
        assert node.events.none()
        enable(1)
        assert node.events.none()
        link(False)
        changed(abi.KIWI_PORT_DOWN)
        enable(0)
        assert node.events.none()
        assert node.port().enabled == 0
        link(True)
        assert node.events.none()
        assert node.port().state == abi.KIWI_PORT_DOWN
        enable(1)
        changed(abi.KIWI_PORT_ACTIVE)
        enable(0)
        changed(abi.KIWI_PORT_DOWN)
        link(False)
        link(True)
        assert node.events.none()


@hosttest("model.ports.gids")
def gids(log):
    """S-11: which GIDs are accepted."""
    with machine("gids=3", log=log) as q:
        node = Node(q, 0)
        set_gid(node.dev, None)

        def put(address, index=0, port=1):
            gid = bytes(16) if address is None else (
                ipv4_gid(address) if ":" not in address else ipaddress.ip_address(address).packed)
            kind = abi.KIWI_GID_NONE if address is None else abi.KIWI_GID_ROCE_V2
            reply = node.dev.command(abi.KIWI_SNIC_OP_SET_GID, fields(
                "kiwi_snic_set_gid_in", port=port, index=index, type=kind, gid=gid))
            assert reply.err_field in (abi.KIWI_ERR_FIELD_NONE,
                                       abi.offset("kiwi_snic_set_gid_in", "gid"))
            return STATUS[reply.status]
        for address in ("0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "239.1.2.3", "240.0.0.1",
                        "255.255.255.255", "::", "::1", "ff02::1", "ff0e::2"):
            assert put(address) == "BAD_PARAM", address
        for address in ("1.0.0.1", "10.1.2.3", "169.254.1.1", "223.255.255.254", "fe80::1",
                        "fd00::1", "2001:db8::1", "1::"):
            assert put(address) == "OK", address
        assert put("10.0.0.1", 0) == put("10.0.0.2", 1) == "OK"
        assert put("10.0.0.1", 2) == put("10.0.0.2", 0) == "BAD_PARAM"     # twice in a table
        assert put("10.0.0.1", 0) == "OK"                                  # the same again
        assert put("10.0.0.1", 2, port=2) == "OK"
        assert put(None, 0) == put(None, 0) == "OK"
        assert put("10.0.0.1", 2) == "OK"


def losses(log, name, seed):
    """Which messages a lossy port loses, or how often frames change places."""
    folder = log / f"{name}-{seed}"
    folder.mkdir(exist_ok=True)
    with pair(f"seed={seed}", log=folder) as q:
        a, b = Node(q, 0), Node(q, 1)
        qa, _ = connected(a, b, dict(timeout=8))
        mem = q.alloc(1 << 20)
        lkey, rkey = a.dev.reg_mr(a.pd, mem, 1 << 20), b.dev.reg_mr(b.pd, mem, 1 << 20)
        q.qom_set("snic0", f"{name}0", 1000)
        seen = []
        for _ in range(30):
            qa.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(0, rkey), sge(0, lkey, 1 << 16)))
            qa.ring_sq()
            assert a.cq.take().status == abi.KIWI_CQE_ST_OK
            a.cq.publish()
            counted = "dropped0" if name == "drop" else "reordered0"
            seen.append(q.qom_get("snic0", counted))
        assert q.qom_get("snic0", counted.replace("0", "1")) == 0
        return seen


@hosttest("model.ports.faults")
def faults(log):
    """Seeded loss and reordering on transmit: they happen, and data still arrives."""
    assert losses(log, "drop", 1)[-1] > 20
    assert losses(log, "reorder", 1)[-1] > 10
    with pair("drop0=10000,reorder1=0", log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        qa, _ = connected(a, b, dict(timeout=1, retry_cnt=2))
        mem = q.alloc(4096)
        key = a.dev.reg_mr(a.pd, mem, 4096)
        qa.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(0, b.dev.reg_mr(b.pd, mem, 4096)),
                       sge(0, key, 8)))
        qa.ring_sq()
        assert a.cq.take().status == abi.KIWI_CQE_ST_RETRY_EXC_ERR
        assert q.qom_get("snic0", "dropped0") == 3      # once, and two retries
        assert a.counters().tx_frames == 0
