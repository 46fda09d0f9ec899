# SPDX-License-Identifier: GPL-2.0
"""The bytes on the wire, as another die sees them: W-1 to W-51 of spec/g2g.md.

The other die is the test. What it sends and expects is written out by hand, not made from
the headers of the ABI.
"""

import struct
import threading
import time
import zlib

import abi
from g2gdev import ONES, POD, RW, SLOT, Die, cmd_id
from g2gfabric import image
from ports import Wire
from qtest import Qtest
from scenario import hosttest

OUR_ID, THEIR_ID = 0x102, 0x203     # of the device, of the test
OUR_SERIAL, THEIR_SERIAL = 0x4b57000000000001, 0xfeedf00d
PARTITION, EPOCH = 0x155, 0xa1b2c3d4
LINK_MAC = bytes.fromhex("0180c200000e")
XOR = 0
for byte in POD:
    XOR ^= byte
OUR_MAC = bytes([0x02, 0x4b, 0x57, XOR, 0x01, 0x02])
THEIR_MAC = bytes([0x02, 0x4b, 0x57, XOR, 0x02, 0x03])
PDU, CONTROL = b"\x88\xb5", b"\x88\xb6"
TRAIN, HELLO, REFUSE, BYE = 1, 1, 2, 3
DATA, ACK, NACK = 0, 1, 2
READ, WRITE, ATOMIC, MAIL, MAIL_ROOM, BIND, RELEASE, SHOOTDOWN = 1, 2, 3, 0x20, 0x21, 0x30, 0x31, 0x32
READ_RSP, WRITE_ERR, ATOMIC_RSP, BIND_RSP, SHOOTDOWN_ACK = 0x81, 0x82, 0x83, 0xb0, 0xb2

# The test is slow, now and then: nothing is repeated meanwhile.
TIMES = "link-ms=20000,peer-ms=40000,resend-ms=5000,load-us=3000000,pause-ms=1000,bind-ms=20000"


def crc(data):
    return struct.pack("<I", zlib.crc32(data))


def sue(op, vc, psn, rpsn, src, _dst, partition=PARTITION):
    return struct.pack(">II", op << 30 | src << 16 | psn, vc << 30 | partition << 16 | rpsn)


def oisa(op, vc, psn, rpsn, src, dst, partition=PARTITION):
    return struct.pack(">BBHHHHH", 0xa1, op << 6 | vc << 4, dst, src, partition, psn, rpsn)


def ethx(op, vc, psn, rpsn, src, dst, partition=PARTITION):
    return struct.pack(">BBBBIHHHH", 0xe1, op, vc, 0, partition, dst, src, psn, rpsn)


HEADERS = {abi.KIWI_G2G_SUE: sue, abi.KIWI_G2G_OISA: oisa, abi.KIWI_G2G_ETHX: ethx}


def tx(op, status=0, tag=0, length=0, addr=0, key=0, payload=b""):
    """A transaction."""
    payload += bytes(-len(payload) % 8)
    return struct.pack("<BBHHHQII", op, status, tag, length, 0, addr, key, 0) + payload


def frame(to, source, kind, body):
    return (to + source + kind + body).ljust(60, b"\0")


class Other:
    """A die made by the test, at the end of a wire."""

    def __init__(self, wire, personality=abi.KIWI_G2G_SUE, accel=THEIR_ID):
        self.wire, self.head, self.accel = wire, HEADERS[personality], accel
        self.nonce, self.session = 0x77778888, 0x12345678
        self.their_nonce = self.their_session = 0
        self.psn, self.rpsn = [0, 0], [0, 0]
        self.image = None                       # (id, version, hash) as in training

    # Sending

    def train(self, **change):
        values = dict(version=1, kind=TRAIN, nonce=self.nonce, heard=self.their_nonce, pod=POD,
                      accel=THEIR_ID, flags=0, lanes=1, fec=0, flow=0, mtu=self.mtu,
                      image=self.image, mac=THEIR_MAC, wrong=0, window=1, credits=(1, 1, 1, 1))
        values.update(change)
        v = values
        number, version, digest = v["image"]
        head = struct.pack("<BBH", v["version"], v["kind"], 0)
        rest = struct.pack("<II16sHBBBBBBHHI8sH4HHI", v["nonce"], v["heard"], v["pod"], v["accel"], 0,
                           v["flags"], v["lanes"], v["fec"], v["flow"], 0, v["mtu"], number, version,
                           digest, v["window"], *v["credits"], 0, 0)
        check = zlib.crc32(head + bytes(4) + rest) ^ v["wrong"]
        self.wire.send(LINK_MAC + v["mac"] + CONTROL + head + struct.pack("<I", check) + rest)

    def fh(self, length, session, **change):
        v = dict(version=1, hops=16, dst=OUR_ID, src=self.accel, epoch=EPOCH)
        v.update(change)
        return struct.pack("<BBHHHII", v["version"], v["hops"], v["dst"], v["src"], length, session,
                           v["epoch"])

    def hello(self, kind=HELLO, reason=0, mail=4, fh=None, **change):
        number, version, digest = self.image
        v = dict(partition=PARTITION, session=self.session, heard=self.their_session, epoch=EPOCH,
                 pod=POD, serial=THEIR_SERIAL, number=number, version=version, digest=digest)
        v.update(change)
        body = self.fh(64, 0, **(fh or {})) + struct.pack(
            "<BBHIII16sQHHI8sQ", kind, reason, v["partition"], v["session"], v["heard"], v["epoch"],
            v["pod"], v["serial"], v["number"], mail, v["version"], v["digest"], 0) + bytes(4)
        self.wire.send(frame(OUR_MAC, THEIR_MAC, CONTROL, body + crc(body)))

    def pdu(self, op, vc, psn, rpsn, transactions=b"", session=None, partition=PARTITION,
            mac=OUR_MAC, spoil=None, tag=b"", **fh):
        session = self.their_session if session is None else session
        body = self.head(op, vc, psn, rpsn, self.accel, OUR_ID, partition) + self.fh(
            len(transactions), session, **fh) + transactions + bytes(4)
        body += crc(body)
        if spoil is not None:
            body = spoil(body)
        self.wire.send(frame(mac, THEIR_MAC, tag + PDU, body))

    def data(self, transactions):
        """Sends transactions in sequence; their class is that of the first."""
        cls = transactions[0] >> 7
        self.pdu(DATA, cls, self.psn[cls], self.rpsn[cls], transactions)
        self.psn[cls] = self.psn[cls] + 1 & 0xffff

    # Receiving

    def receive(self, timeout=20):
        """The next frame that is no training and no sign of life; both are answered."""
        deadline = time.monotonic() + timeout
        while True:
            got = self.wire.receive(max(0, deadline - time.monotonic()))
            if got is None:
                return None
            if got[:6] == LINK_MAC:
                self.their_nonce = struct.unpack_from("<I", got, 22)[0]
                self.train()
            elif got[12:14] == CONTROL and got[30] == HELLO and self.quiet:
                self.their_session = struct.unpack_from("<I", got, 34)[0]
                self.hello()
            else:
                return got
    quiet = False

    def expect(self, op, vc, psn, rpsn, transactions=b""):
        """Receives this PDU, byte for byte."""
        got = self.receive()
        body = self.head(op, vc, psn, rpsn, OUR_ID, self.accel) + struct.pack(
            "<BBHHHII", 1, 16, self.accel, OUR_ID, len(transactions), self.session, EPOCH) + \
            transactions + bytes(4)
        wanted = frame(THEIR_MAC, OUR_MAC, PDU, body + crc(body))
        assert got == wanted, f"\n{got and got.hex()} is not\n{wanted.hex()}"

    def expect_ack(self, rpsn):
        """Receives ACKs of requests up to this one; a slow sender gets several."""
        while True:
            got = self.receive()
            assert got[12:15] == PDU + b"\x41", got.hex()
            if struct.unpack_from(">H", got, 20)[0] == rpsn:
                return

    def take_data(self, cls, transactions):
        """Receives the next PDU of a class, and acknowledges it."""
        self.expect(DATA, cls, self.rpsn[cls], self.psn[cls], transactions)
        self.rpsn[cls] = self.rpsn[cls] + 1 & 0xffff
        self.pdu(ACK, cls, 0, self.rpsn[cls])

    def expect_hello(self, kind=HELLO, heard=None, reason=0):
        """Receives a control frame, byte for byte; remembers the session."""
        got = self.receive()
        number, version, digest = self.image
        self.their_session = struct.unpack_from("<I", got, 34)[0]
        body = struct.pack("<BBHHHII", 1, 16, self.accel, OUR_ID, 64, 0, EPOCH) + struct.pack(
            "<BBHIII16sQHHI8sQ", kind, reason, PARTITION, self.their_session,
            self.session if heard is None else heard, EPOCH, POD, OUR_SERIAL, number, 16, version,
            digest, 0) + bytes(4)
        wanted = frame(THEIR_MAC, OUR_MAC, CONTROL, body + crc(body))
        assert got == wanted, f"\n{got.hex()} is not\n{wanted.hex()}"

    def quietly(self):
        """Answers signs of life from now on."""
        self.quiet = True
        return self


def start(log, personality=abi.KIWI_G2G_SUE, props=TIMES, caps=None, more=()):
    """A machine whose die has the test on port 0; trained and routed, not yet active."""
    wire = Wire(log)
    q = Qtest([f"kiwi-g2g,id=die0,addr={SLOT:#x},{props},netdev0=wire"],
              [*wire.arguments, *more], log=log)
    dev = Die(q, 0).begin(caps)
    if personality != abi.KIWI_G2G_SUE:
        dev.use_image(image(personality))
    dev.act("SET_FABRIC", abi_fabric())
    dev.accel = OUR_ID
    other = Other(wire, personality)
    slot = dev.slot(dev.fabric().slot).image
    other.image = (slot.id, slot.version, bytes(slot.hash[:8]))
    other.mtu = min(slot.mtu, 9216)
    return q, dev, other


def abi_fabric():
    return POD + struct.pack("<HHI", OUR_ID, PARTITION, EPOCH)


def trained(dev, other):
    """Brings the link up, and a route over it."""
    dev.set_port(0)
    first = other.wire.receive(20)
    number, version, digest = other.image
    nonce = struct.unpack_from("<I", first, 22)[0]
    head = struct.pack("<BBH", 1, TRAIN, 0)
    rest = struct.pack("<II16sHBBBBBBHHI8sH4HHI", nonce, 0, POD, OUR_ID, 0, 0, 1, 0, 0, 0, other.mtu,
                       number, version, digest, 1, 1, 1, 1, 1, 0, 0)
    assert nonce and first == LINK_MAC + OUR_MAC + CONTROL + head + crc(
        head + bytes(4) + rest) + rest, first.hex()
    other.their_nonce = nonce
    other.train(heard=0)
    answer = other.wire.receive(20)
    assert struct.unpack_from("<II", answer, 22) == (nonce, other.nonce)
    dev.wait_port(0, abi.KIWI_G2G_PORT_TRAINING)
    other.train()
    dev.wait_port(0)
    dev.route({THEIR_ID: 1})


def established(dev, other):
    """A session: HELLO of us, of the other with it, and of us again."""
    dev.act("ACTIVATE")
    other.expect_hello(heard=0)
    other.hello()
    other.expect_hello()
    dev.wait_peer(THEIR_ID)
    return other.quietly()


def ready(log, *args, **how):
    q, dev, other = start(log, *args, **how)
    trained(dev, other)
    return q, dev, established(dev, other)


class Reader(threading.Thread):
    """A load in another thread, since it waits for its answer."""

    def __init__(self, q, addr, read="readq"):
        super().__init__(daemon=True)
        self.call = lambda: getattr(q, read)(addr)
        self.start()

    def run(self):
        self.value = self.call()

    def result(self):
        self.join(20)
        assert not self.is_alive()
        return self.value


def bound(q, dev, other, key=0xabcd0001, length=0x10000, rights=RW, offset=0x2000):
    """A window on an export of the other, with the frames that this takes."""
    handle = bytes(range(0x40, 0x50))
    number = dev.bind(THEIR_ID, handle, rights)
    dev.bind_tag = getattr(dev, "bind_tag", -1) + 1
    other.take_data(0, tx(BIND, tag=dev.bind_tag, payload=handle + struct.pack("<II", rights, 0)))
    other.data(tx(BIND_RSP, tag=dev.bind_tag, payload=struct.pack("<QII", length, key, 0)))
    q.until(lambda: dev.window(number).state == abi.KIWI_G2G_WINDOW_BOUND, "window")
    other.expect(ACK, 1, 0, other.psn[1])
    dev.act("MAP_WINDOW", dev.map_in(number, 0, length - offset, offset))
    return number


@hosttest("model.g2g.wire-personalities")
def personalities(log):
    """A load, a store and the answers to the other's own, in the header of each personality."""
    for personality in HEADERS:
        folder = log / str(personality)
        folder.mkdir()
        q, dev, other = ready(folder, personality)
        with q:
            bound(q, dev, other)
            load = Reader(q, dev.aperture + 0x123, "readl")
            other.take_data(0, tx(READ, tag=1, length=4, addr=0x2123, key=0xabcd0001))
            other.data(tx(READ_RSP, tag=1, length=4, payload=b"\x78\x56\x34\x12"))
            assert load.result() == 0x12345678
            other.expect(ACK, 1, 0, 2)
            q.writew(dev.aperture + 0x10, 0xbeef)
            other.take_data(0, tx(WRITE, length=2, addr=0x2010, key=0xabcd0001, payload=b"\xef\xbe"))

            mem = q.alloc(4096)
            q.writeq(mem + 0x18, 0x1111222233334444)
            e = dev.export(mem, 4096, [THEIR_ID])
            other.data(tx(BIND, tag=0x300, payload=e.handle + struct.pack("<II", RW, 0)))
            got = other.receive()
            key = struct.unpack_from("<I", got, len(other.head(0, 0, 0, 0, 0, 0)) + 14 + 16 + 24 + 8)[0]
            assert key
            other.rpsn[1] += 1
            expected = tx(BIND_RSP, tag=0x300, payload=struct.pack("<QII", 4096, key, 0))
            assert expected in got
            other.pdu(ACK, 1, 0, 1)
            other.expect(ACK, 0, 0, 1)
            # Two in one PDU, carried out in order.
            other.data(tx(WRITE, length=3, addr=0x1a, key=key, payload=b"abc") +
                       tx(READ, tag=7, length=8, addr=0x18, key=key))
            other.take_data(1, tx(READ_RSP, tag=7, length=8, payload=b"\x44\x44abc\x22\x11\x11"))
            other.expect(ACK, 0, 0, 2)
            assert q.read(mem + 0x18, 8) == b"\x44\x44abc\x22\x11\x11"


@hosttest("model.g2g.wire-refusals")
def refusals(log):
    """Every request is checked at the exporter, and nothing of a refused one touches memory."""
    q, dev, other = ready(log)
    with q:
        mem = q.alloc(8192)
        e = dev.export(mem, 4097, [THEIR_ID])
        other.data(tx(BIND, tag=1, payload=e.handle + struct.pack("<II", 4, 0)))
        got = other.receive()
        key = struct.unpack_from("<I", got, 8 + 14 + 16 + 24 + 8)[0]
        other.rpsn[1] = 1
        other.pdu(ACK, 1, 0, 1)
        other.expect(ACK, 0, 0, 1)
        dev.drain()
        tag = 1

        def ask(status, length=8, addr=0, key=key, data=b""):
            nonlocal tag
            tag += 1
            other.data(tx(READ, tag=tag, length=length, addr=addr, key=key))
            other.take_data(1, tx(READ_RSP, status, tag, 0 if status else length, payload=data))
            other.expect(ACK, 0, 0, other.psn[0])
        decode, protection = abi.KIWI_G2G_ST_DECODE_ERROR, abi.KIWI_G2G_ST_PROTECTION
        ask(0, length=1, addr=4096, data=b"\0")
        ask(decode, length=2, addr=4096)
        ask(decode, length=1, addr=4097)
        ask(decode, length=256, addr=4096 - 254)
        ask(decode, addr=(1 << 64) - 4)
        ask(decode, addr=1 << 63)
        ask(protection, key=key + 1)
        ask(protection, key=0)
        other.data(tx(WRITE, length=8, addr=8, key=key, payload=b"\xff" * 8))
        other.take_data(1, tx(WRITE_ERR, protection, 0, 8, 8, key))
        other.expect(ACK, 0, 0, other.psn[0])
        assert q.read(mem, 8192) == bytes(8192)
        count = dev.count()
        assert (count.refused_bounds, count.refused_key, count.refused_right) == (5, 2, 1)
        assert (count.served_reads, count.served_writes) == (1, 0)
        records = dev.read_log()
        assert [(r.kind, r.id, r.status, r.count, r.accel) for r in records] == [
            (4, e.number, decode, 5, THEIR_ID), (4, 0, protection, 2, THEIR_ID),
            (4, e.number, protection, 1, THEIR_ID)]
        # Revoked: refused as such until the other has acknowledged, then the key is a bad one.
        dev.act("REVOKE_EXPORT", cmd_id(e.number))
        other.take_data(0, tx(SHOOTDOWN, key=key))
        ask(abi.KIWI_G2G_ST_REVOKED)
        assert dev.export_state(e.number).state == abi.KIWI_G2G_EXPORT_REVOKING
        other.data(tx(SHOOTDOWN_ACK, key=key))
        other.expect(ACK, 1, 0, 1)
        q.until(lambda: dev.export_state(e.number).state == abi.KIWI_G2G_EXPORT_REVOKED, "revoked")
        ask(protection)
        assert dev.count().refused_revoked == 1


@hosttest("model.g2g.wire-sequence")
def sequence(log):
    """W-40 to W-42: what is ahead, behind, lost; ACK after 16 PDUs; nothing beyond the window."""
    q, dev, other = ready(log, props=TIMES + ",resend-ms=1500")
    with q:
        release = tx(RELEASE, key=1)
        for n in range(16):
            other.data(release)
        other.expect_ack(16)
        other.pdu(DATA, 0, 18, 0, release)
        other.expect(NACK, 0, 0, 16)
        other.pdu(DATA, 0, 19, 0, release)      # one NACK is enough
        other.pdu(DATA, 0, 15, 0, release)
        other.expect(ACK, 0, 0, 16)
        other.pdu(DATA, 0, 16, 0, release)
        other.expect(ACK, 0, 0, 17)
        count = dev.count()
        assert (count.out_of_sequence, count.duplicate) == (2, 1)

        other.psn[0] = 17
        number = bound(q, dev, other)
        base = other.rpsn[0]
        for n in range(140):
            q.writeb(dev.aperture + n, n)
        seen = [other.receive() for _ in range(128)]
        for n, got in enumerate(seen):
            assert got[14 + 8 + 16:].startswith(
                tx(WRITE, length=1, addr=0x2000 + n, key=0xabcd0001, payload=bytes([n])))
            assert struct.unpack_from(">H", got, 16)[0] == base + n
        # The window is full. Nothing new comes, but the whole of it again.
        again = other.receive()
        assert again == seen[0]
        for n in range(1, 128):
            assert other.receive() == seen[n]
        other.pdu(NACK, 0, 0, base + 120)
        for n in range(120, 128):
            assert other.receive() == seen[n]
        for n in range(128, 140):
            got = other.receive()
            assert struct.unpack_from(">H", got, 16)[0] == base + n and got[14 + 8 + 16] == WRITE
        other.pdu(ACK, 0, 0, base + 141)        # never sent: ignored
        assert other.receive()[14:] == seen[120][14:]
        other.pdu(ACK, 0, 0, base + 140)
        assert dev.count().retransmitted >= 128 + 8
        assert dev.window(number).state == abi.KIWI_G2G_WINDOW_MAPPED


@hosttest("model.g2g.wire-drops")
def drops(log):
    """F-60: each kind of frame that is dropped is counted, once, by its first cause."""
    q, dev, other = ready(log)
    with q:
        other.data(tx(RELEASE, key=1))
        other.expect(ACK, 0, 0, 1)
        good = tx(RELEASE, key=1)

        def seen(**how):
            before = dev.port_counters()
            other.pdu(DATA, 0, how.pop("psn", 9), 0, how.pop("transactions", good), **how)
            after = q.until(lambda: rose(before), "frame")
            return after

        def rose(before):
            after = dev.port_counters()
            names = [n for n, _ in after._fields_[:-1] if not n.startswith(("tx", "rx_bytes", "rx_frames"))]
            return {n: getattr(after, n) - getattr(before, n) for n in names
                    if getattr(after, n) != getattr(before, n)}

        def flip(at, bit=1):
            return lambda body: body[:at] + bytes([body[at] ^ bit]) + body[at + 1:]

        def remade(at, bit=1):
            def spoil(body):
                body = flip(at, bit)(body[:-4])
                return body + crc(body)
            return spoil
        for at in (0, 3, 5, 12, 20, 24, 30, -1, -3, -5):
            assert seen(spoil=flip(at % 56 if at < 0 else at)) == {"rx_crc": 1}, at
        assert seen(spoil=flip(14)) == {"rx_malformed": 1}       # length
        assert seen(spoil=lambda body: body[:30]) == {"rx_malformed": 1}
        assert seen(spoil=lambda body: body + bytes(20)) == {"rx_malformed": 1}
        for at in (8, 9, 12, 48, 50):    # version, hops, src, llr_seq, flags
            assert seen(spoil=remade(at, 0x20 if at == 9 else 2)) == {"rx_malformed": 1}, at
        assert seen(spoil=remade(4, 4)) == {"rx_malformed": 1}   # a 0 of the header
        assert seen(spoil=remade(0, 0xc0)) == {"rx_malformed": 1}  # operation 3
        assert seen(mac=OUR_MAC[:4] + bytes([5, 2])) == {"rx_other": 1}
        assert seen(mac=b"\xff" * 6) == {"rx_other": 1}
        for head in (oisa, ethx):
            other.head = head
            assert seen() == {"rx_image": 1}
        other.head = sue
        assert seen(spoil=remade(0, 0x10)) == {"rx_image": 1}
        assert seen(session=other.their_session + 1) == {"rx_stale": 1}
        assert seen(partition=PARTITION ^ 1) == {"rx_stale": 1}
        assert seen(epoch=EPOCH + 1) == {"rx_stale": 1}
        assert seen(dst=0x111) == {"unroutable": 1}
        wire = other.wire
        before = dev.port_counters()
        wire.send(frame(OUR_MAC, THEIR_MAC, b"\x08\x00", bytes(40)))
        assert q.until(lambda: rose(before), "frame") == {"rx_other": 1}
        # None of them has disturbed the session; a tag is no harm.
        other.pdu(DATA, 0, 1, 0, good, tag=b"\x81\x00\x20\x00")
        other.expect(ACK, 0, 0, 2)
        assert dev.peer(THEIR_ID).generation == 1


@hosttest("model.g2g.wire-protocol")
def protocol(log):
    """W-30: a transaction that breaks the text ends the session, and nothing of it is done."""
    q, dev, other = ready(log)
    with q:
        bad = [b"", tx(0x7f), tx(READ, tag=1, length=0, key=1), tx(READ, tag=1, length=257, key=1),
               tx(READ, status=1, tag=1, length=8, key=1), tx(WRITE, length=8, tag=1, payload=bytes(8)),
               tx(WRITE, length=9, payload=bytes(8)), tx(RELEASE, addr=1, key=1),
               tx(RELEASE, length=1, key=1), tx(READ_RSP, tag=1, length=8, payload=bytes(8)),
               tx(MAIL, length=65, payload=bytes(72)), tx(BIND, tag=1, payload=bytes(16)),
               tx(RELEASE, key=1)[:-4] + b"\1\0\0\0", tx(ATOMIC, 1, 1, 4, 0, 1, bytes(16))]
        for n, transactions in enumerate(bad):
            session = other.their_session
            other.pdu(DATA, 0, 0, 0, transactions)
            got = other.receive()
            assert got[12:14] == CONTROL and got[30:32] == bytes([BYE, abi.KIWI_G2G_WHY_PROTOCOL]), n
            assert struct.unpack_from("<I", got, 38)[0] == other.session
            other.quiet = False
            other.session += 1
            other.expect_hello(heard=0)
            assert other.their_session == session % 0xffffffff + 1
            other.hello()
            other.expect_hello()
            other.quietly()
            assert dev.count().protocol == n + 1
        assert dev.peer(THEIR_ID).generation == len(bad) + 1
        assert sum(r.count for r in dev.read_log() if r.kind == abi.KIWI_G2G_LOG_PROTOCOL) == len(bad)


@hosttest("model.g2g.wire-load-ends")
def load_ends(log):
    """A load ends, and why: refused, not answered, by BYE, by a new session, by a shoot-down."""
    q, dev, other = ready(log)
    with q:
        def begin(number, tag, offset):
            load = Reader(q, dev.aperture + offset)
            other.take_data(0, tx(READ, tag=tag, length=8, addr=0x2000 + offset, key=0xabcd0001))
            return load

        def ended(load, status, number):
            assert load.result() == ONES, hex(load.value)
            record, = dev.read_log()
            assert (record.kind, record.status, record.id, record.accel) == (
                abi.KIWI_G2G_LOG_LOAD, status, number, THEIR_ID)
        number = bound(q, dev, other)
        load = begin(number, 1, 0)
        other.data(tx(READ_RSP, abi.KIWI_G2G_ST_PROTECTION, 1))
        ended(load, abi.KIWI_G2G_ST_PROTECTION, number)
        other.expect(ACK, 1, 0, 2)
        load = begin(number, 2, 8)
        while load.is_alive():
            other.receive(0.05)
        ended(load, abi.KIWI_G2G_ST_TIMEOUT, number)
        assert dev.window(number).state == abi.KIWI_G2G_WINDOW_MAPPED
        other.data(tx(READ_RSP, tag=2, length=8, payload=b"late    "))
        other.expect(ACK, 1, 0, 3)
        load = begin(number, 3, 16)
        other.data(tx(READ_RSP, tag=3, length=8, payload=b"in time "))
        assert load.result() == int.from_bytes(b"in time ", "little")
        other.expect(ACK, 1, 0, 4)

        load = begin(number, 4, 24)
        other.data(tx(SHOOTDOWN, key=0xabcd0001))
        ended(load, abi.KIWI_G2G_ST_REVOKED, number)
        other.take_data(1, tx(SHOOTDOWN_ACK, key=0xabcd0001))
        other.expect(ACK, 0, 0, 1)
        assert (dev.window(number).state, dev.window(number).reason) == (
            abi.KIWI_G2G_WINDOW_DEAD, abi.KIWI_G2G_WHY_REVOKED)
        dev.act("UNBIND_WINDOW", cmd_id(number))

        dev.bind_tag = 4
        number = bound(q, dev, other)
        dev.drain()
        load = begin(number, 6, 0)
        other.hello(BYE, abi.KIWI_G2G_WHY_FABRIC)
        ended(load, abi.KIWI_G2G_ST_ISOLATED, number)
        events = [(e.type, e.id, e.code, e.info) for e in dev.drain()]
        assert events[:3] == [
            (abi.KIWI_G2G_EV_LOG, 0, 0, 0),
            (abi.KIWI_G2G_EV_PEER, THEIR_ID, abi.KIWI_G2G_PEER_SEEKING, abi.KIWI_G2G_WHY_FABRIC),
            (abi.KIWI_G2G_EV_WINDOW, number, abi.KIWI_G2G_WINDOW_DEAD, abi.KIWI_G2G_WHY_FABRIC)]
        assert q.readq(dev.aperture) == ONES


@hosttest("model.g2g.wire-other-peer")
def other_peer(log):
    """A key is worth nothing in the hands of another peer, and it cannot release it."""
    q, dev, first = ready(log)
    with q:
        mem = q.alloc(4096)
        e = dev.export(mem, 4096, [THEIR_ID])
        first.data(tx(BIND, tag=1, payload=e.handle + struct.pack("<II", RW, 0)))
        key = struct.unpack_from("<I", first.receive(), 8 + 14 + 16 + 24 + 8)[0]
        first.rpsn[1] = 1
        first.pdu(ACK, 1, 0, 1)
        first.expect(ACK, 0, 0, 1)
        second = Other(first.wire, accel=THEIR_ID + 1)
        second.image, second.session = first.image, 0x999
        first.quiet = False
        dev.route({THEIR_ID: 1, THEIR_ID + 1: 1})
        second.their_session = 0
        got = q.until(lambda: next(
            (f for f in (first.receive(0.5),) if f and f[16:18] == struct.pack("<H", THEIR_ID + 1)),
            None), "HELLO")
        second.their_session = struct.unpack_from("<I", got, 34)[0]
        second.hello(serial=77)
        dev.wait_peer(THEIR_ID + 1)

        def answer(head):
            return q.until(lambda: next((f for f in (first.receive(0.5),)
                                         if f and f[12:14] == PDU and head in f), None), "answer")
        protection = abi.KIWI_G2G_ST_PROTECTION
        second.data(tx(READ, tag=9, length=8, key=key))
        answer(tx(READ_RSP, protection, 9))
        second.data(tx(RELEASE, key=key) + tx(SHOOTDOWN_ACK, key=key)[:0])
        second.data(tx(BIND, tag=10, payload=e.handle + struct.pack("<II", RW, 0)))
        answer(tx(BIND_RSP, protection, 10))
        assert dev.export_state(e.number).bindings == 1
        first.data(tx(READ, tag=11, length=8, key=key))
        answer(tx(READ_RSP, tag=11, length=8, payload=bytes(8)))
        assert (dev.count().refused_key, dev.count().refused_bind) == (1, 1)


@hosttest("model.g2g.wire-unsent")
def unsent(log):
    """M-33: stores that wait in the device when a window dies are dropped, and logged."""
    q, dev, other = ready(log)
    with q:
        number = bound(q, dev, other)
        dev.act("PAUSE")
        for n in range(5):
            q.writeb(dev.aperture + n, n)
        other.data(tx(SHOOTDOWN, key=0xabcd0001))
        other.take_data(1, tx(SHOOTDOWN_ACK, key=0xabcd0001))
        other.expect(ACK, 0, 0, 1)
        dev.act("RESUME")
        record, = dev.read_log()
        assert (record.kind, record.status, record.id, record.count, record.len) == (
            abi.KIWI_G2G_LOG_STORE, abi.KIWI_G2G_ST_REVOKED, number, 5, 1)
        assert dev.count().stores_dropped == 5
        # The key of a window that is dead is not given back; an unknown one is acknowledged.
        dev.act("UNBIND_WINDOW", cmd_id(number))
        other.data(tx(SHOOTDOWN, key=0xabcd0001))
        other.take_data(1, tx(SHOOTDOWN_ACK, key=0xabcd0001))


@hosttest("model.g2g.wire-early-shootdown")
def early(log):
    """A shoot-down that overtakes the grant: the window is never alive."""
    q, dev, other = ready(log)
    with q:
        handle = bytes(16)
        number = dev.bind(THEIR_ID, handle, RW)
        other.take_data(0, tx(BIND, tag=0, payload=handle + struct.pack("<II", RW, 0)))
        other.data(tx(SHOOTDOWN, key=0x44))
        other.take_data(1, tx(SHOOTDOWN_ACK, key=0x44))
        other.data(tx(BIND_RSP, tag=0, payload=struct.pack("<QII", 4096, 0x44, 0)))
        q.until(lambda: dev.window(number).state != abi.KIWI_G2G_WINDOW_BINDING, "window")
        assert (dev.window(number).state, dev.window(number).reason) == (
            abi.KIWI_G2G_WINDOW_DEAD, abi.KIWI_G2G_WHY_REVOKED)


@hosttest("model.g2g.wire-late-grant")
def late_grant(log):
    """M-20: a binding that is not answered in time is over, and a grant that comes later goes back."""
    q, dev, other = ready(log, props=TIMES + ",bind-ms=600")
    with q:
        number = dev.bind(THEIR_ID, bytes(16), RW)
        other.take_data(0, tx(BIND, tag=0, payload=bytes(16) + struct.pack("<II", RW, 0)))
        while dev.window(number).state == abi.KIWI_G2G_WINDOW_BINDING:
            assert other.receive(0.05) is None
        assert (dev.window(number).state, dev.window(number).reason) == (
            abi.KIWI_G2G_WINDOW_DEAD, abi.KIWI_G2G_WHY_TIMEOUT)
        other.data(tx(BIND_RSP, tag=0, payload=struct.pack("<QII", 4096, 0x55, 0)))
        other.take_data(0, tx(RELEASE, key=0x55))


@hosttest("model.g2g.wire-mail")
def wire_mail(log):
    """MAIL and MAIL_ROOM on the wire; more mail than is kept breaks the text."""
    q, dev, other = ready(log)
    with q:
        for n in range(16):
            other.data(tx(MAIL, length=3, payload=b"m%02d" % n))
        other.expect_ack(16)
        assert dev.act("READ_MAIL", b"", 72)[:11] == struct.pack("<HHI", THEIR_ID, 3, 1) + b"m00"
        other.take_data(0, tx(MAIL_ROOM, addr=1))
        other.data(tx(MAIL, length=1, payload=b"x"))
        other.expect(ACK, 0, 0, 17)
        other.data(tx(MAIL, length=1, payload=b"y"))
        got = other.receive()
        assert got[30:32] == bytes([BYE, abi.KIWI_G2G_WHY_PROTOCOL])
        assert dev.status_of("READ_MAIL", b"", 72).status == abi.KIWI_ST_BAD_STATE


@hosttest("model.g2g.wire-tags")
def tags(log):
    """W-31: a tag is free when it was answered; when none is left the session ends."""
    q, dev, other = ready(log, props=TIMES + ",load-us=4000,pause-ms=1")
    with q:
        number = bound(q, dev, other)
        late = []
        for n in range(257):
            q.readb(dev.aperture)
            while len(late) <= n:
                got = other.receive(1)
                if got and got[12:14] == PDU and got[14] == 1 and got[38] == READ:
                    late.append(struct.unpack_from("<H", got, 40)[0])
                    other.rpsn[0] = struct.unpack_from(">H", got, 16)[0] + 1
                    other.pdu(ACK, 0, 0, other.rpsn[0])
            if n == 100:        # an answer that is late, but an answer
                other.data(tx(READ_RSP, tag=late[0], length=1, payload=b"z"))
        assert len(set(late)) == 256 and late[256] == late[0]
        assert dev.peer(THEIR_ID).state == abi.KIWI_G2G_PEER_ESTABLISHED
        assert q.readb(dev.aperture) == 0xff
        assert (dev.peer(THEIR_ID).state, dev.peer(THEIR_ID).reason) == (
            abi.KIWI_G2G_PEER_SEEKING, abi.KIWI_G2G_WHY_TIMEOUT)
        assert dev.window(number).state == abi.KIWI_G2G_WINDOW_DEAD


@hosttest("model.g2g.wire-forward")
def wire_forward(log):
    """W-10, W-12: what changes in a frame that is sent on, and what does not."""
    second = Wire(log, "second")
    q, dev, other = start(log, more=second.arguments, props=TIMES + ",netdev1=second")
    with q:
        trained(dev, other)
        dev.set_port(1, mode=abi.KIWI_G2G_PORT_SWITCHED)
        dev.route({THEIR_ID: 1, 0x204: (2, 1)})
        established(dev, other)
        other.pdu(DATA, 1, 0x1234, 0x5678, tx(READ_RSP, 1), session=0xdeadbeef, dst=0x204,
                  partition=3, hops=2)
        got = q.until(lambda: next((f for f in (second.receive(1),) if f and f[12:14] == PDU), None),
                      "frame")
        body = sue(DATA, 3, 0x1234, 0x5678, THEIR_ID, 0, 3) + struct.pack(
            "<BBHHHII", 1, 1, 0x204, THEIR_ID, 24, 0xdeadbeef, EPOCH) + tx(READ_RSP, 1) + bytes(4)
        mac = bytes([0x02, 0x4b, 0x57, XOR])
        assert got == frame(mac + b"\x06\x04", mac + b"\x05\x02", PDU, body + crc(body))
        other.pdu(DATA, 1, 0, 0, tx(READ_RSP, 1), dst=0x204, hops=0)
        q.until(lambda: dev.port_counters(0).hop_limit == 1, "drop")
        assert dev.port_counters(0).forwarded == 1


@hosttest("model.g2g.wire-tagged")
def tagged(log):
    """W-55: frames of each kind with a priority tag are taken like those without."""
    for priority in range(4):
        folder = log / str(priority)
        folder.mkdir()
        q, dev, other = start(folder)
        send, tag = other.wire.send, struct.pack(">HH", 0x8100, priority << 13)
        other.wire.send = lambda f, send=send, tag=tag: send(f[:12] + tag + f[12:])
        with q:
            trained(dev, other)
            established(dev, other)
            other.data(tx(READ, tag=1, length=8, key=5))
            other.take_data(1, tx(READ_RSP, abi.KIWI_G2G_ST_PROTECTION, 1))
            other.expect(ACK, 0, 0, 1)
            count = dev.port_counters()
            assert (count.rx_other, count.rx_malformed, count.rx_crc) == (0, 0, 0)
