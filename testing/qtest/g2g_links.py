# SPDX-License-Identifier: GPL-2.0
"""Link-level replay and credits: W-50 and W-53 of spec/g2g.md."""

import random
import struct
import zlib

import abi
from g2g_msgq import CALM, connect, exercise, pair, queues, End
from g2g_wire import (ACK, CONTROL, DATA, EPOCH, LINK_MAC, OUR_ID, OUR_MAC, PDU, THEIR_ID, THEIR_MAC,
                      TRAIN, Other, crc, established, frame, start, tx)
from g2gdev import Die, activate, fields, mesh
from scenario import hosttest
from snicdev import STATUS

ENABLED = abi.KIWI_G2G_PORT_ENABLED | abi.KIWI_G2G_PORT_ROUTABLE
LLR, CBFC = abi.KIWI_G2G_PORT_LLR, abi.KIWI_G2G_FLOW_CBFC
LINK_ACK, LINK_NACK, LINK_CREDIT = 2, 3, 4
MAIL = 0x20


def linked(q, count=2, flow=CBFC, port=None):
    """Dies whose links replay, active; port tells how they are joined."""
    dies = [Die(q, n).begin() for n in range(count)]
    for die in dies:
        die.set_fabric()
    for die in dies:
        for n in range(count - 1):
            die.set_port(n, flags=ENABLED | LLR, flow=flow)
    for die in dies:
        for n in range(count - 1):
            die.wait_port(n)
    activate(dies, **({"port": port} if port else {}))
    return queues(dies)


def faults(q, count, drop, corrupt=0):
    for n in range(count):
        q.qom_set(f"die{n}", "drop", drop)
        q.qom_set(f"die{n}", "corrupt", corrupt)


def memory(q, a, b):
    """Stores and loads of a to b."""
    mem = q.alloc(4096)
    w = a.map(b.export(mem, 4096, [a]))
    for n in range(0, 1024, 8):
        q.writeq(w.addr + n, n * 0x1234567)
    for n in range(0, 1024, 8):
        assert q.readq(w.addr + n) == n * 0x1234567


@hosttest("model.g2g.llr-loss")
def llr_loss(_log):
    """Frames are lost and corrupted on links that replay: no session has to repeat anything."""
    for flow in (abi.KIWI_G2G_FLOW_NONE, CBFC):
        with mesh(2, props=CALM) as q:
            dies = linked(q, flow=flow)
            a, b = pair(dies, mtu=1024)
            faults(q, 2, 300, 300)
            exercise(a, b, random.Random(11), (1, 5000, 40000))
            memory(q, *dies)
            memory(q, *reversed(dies))
            faults(q, 2, 0)
            for n, die in enumerate(dies):
                assert q.qom_get(f"die{n}", "dropped") and q.qom_get(f"die{n}", "corrupted")
                count, port = die.count(), die.port_counters()
                assert (count.retransmitted, count.out_of_sequence, count.duplicate) == (0, 0, 0)
                assert (count.qp_retransmitted, count.messages_dropped, count.timeouts) == (0, 0, 0)
                assert port.llr_replayed and port.llr_nack and port.rx_crc, port
                assert (port.llr_exhausted, port.rx_overrun, port.link_down) == (0, 0, 0)


@hosttest("model.g2g.llr-exhausted")
def llr_exhausted(_log):
    """Replays that do not help: FAULT, training anew, and the session repeats what was lost."""
    with mesh(2, props=CALM.replace("link-ms=20000", "link-ms=3000").replace(
            "resend-ms=5000", "resend-ms=2000")) as q:
        a, b = linked(q, flow=abi.KIWI_G2G_FLOW_NONE)
        mem = q.alloc(4096)
        w = a.map(b.export(mem, 4096, [a]))
        q.settle(0.2)                   # nothing is left to be acknowledged
        q.qom_set("die1", "drop", 10000)
        before = a.port_counters()
        q.writeq(w.addr, 0x1122334455667788)
        a.wait_port(0, abi.KIWI_G2G_PORT_FAULT, abi.KIWI_G2G_WHY_LLR_EXHAUSTED)
        after = a.port_counters()
        assert after.llr_exhausted == before.llr_exhausted + 1
        assert after.llr_replayed - before.llr_replayed == 8
        q.qom_set("die1", "drop", 0)
        a.wait_port()
        b.wait_port()
        assert q.readq(w.addr) == 0x1122334455667788 == q.readq(mem)
        assert a.count().retransmitted and a.port().ups > 1
        assert a.peer(b).generation == 1


@hosttest("model.g2g.credits")
def credit(_log):
    """More frames than credits: they wait, none is dropped, also where a die forwards them."""
    def chain(me, other):
        # A port for each other die; 0 and 2 speak by way of 1.
        via = other if me == 1 or other == 1 else 1
        return via if via < me else via - 1
    with mesh(3, props=CALM) as q:
        dies = linked(q, 3, port=chain)
        size = 1 << 19
        a, c = End(dies[0], size=size), End(dies[2], size=size)
        connect(a, c, mtu=2048)
        data = random.Random(6).randbytes(size)
        for drop in (0, 200):
            faults(q, 3, drop)
            a.mr.write(0, data)
            c.mr.write(0, data[::-1])
            a.send_cqe(wr_id=a.write(c.mr, a.sge(0, size)))
            assert c.mr.read() == data
            c.mr.write(0, data[::-1])
            a.send_cqe(wr_id=a.read(c.mr, a.sge(0, size)))
            assert a.mr.read() == data[::-1]
            memory(q, dies[0], dies[2])
        faults(q, 3, 0)
        stalls = 0
        for die in dies:
            count = die.count()
            assert (count.retransmitted, count.qp_retransmitted, count.timeouts) == (0, 0, 0)
            for n in range(2):
                port = die.port_counters(n)
                assert not port.rx_overrun and not port.llr_exhausted
                stalls += port.credit_stall
        assert stalls and sum(dies[1].port_counters(n).forwarded for n in range(2)) > 1000


class LinkOther(Other):
    """A neighbour made by the test, whose link replays and has credits."""

    def __init__(self, *args):
        super().__init__(*args)
        self.seq = self.their_seq = 0

    def train(self, **change):
        super().train(**{"flags": 4, "flow": 2, **change})

    def link(self, kind, rest, heard=None, nonce=None):
        head = struct.pack("<BBH", 1, kind, 0)
        rest = struct.pack("<II", self.nonce if nonce is None else nonce,
                           self.their_nonce if heard is None else heard) + rest
        self.wire.send(frame(LINK_MAC, THEIR_MAC, CONTROL, head + crc(head + bytes(4) + rest) + rest))

    def ack(self, following, kind=LINK_ACK, **change):
        self.link(kind, struct.pack("<HHHH", following, 0, 0, 0), **change)

    def credit(self, *freed):
        self.link(LINK_CREDIT, struct.pack("<4I", *freed))

    def pdu(self, op, vc, psn, rpsn, transactions=b"", seq=None, spoil=0):
        if seq is None:
            seq = self.seq
            self.seq += 1
        body = self.head(op, vc, psn, rpsn, self.accel, OUR_ID) + self.fh(
            len(transactions), self.their_session) + transactions + struct.pack("<HH", seq, 1)
        self.wire.send(frame(OUR_MAC, THEIR_MAC, PDU, body + struct.pack("<I", zlib.crc32(body) ^ spoil)))

    def receive(self, timeout=20):
        while True:
            got = self.wire.receive(timeout)
            if got is None:
                return None
            if got[:6] == LINK_MAC and got[15] == TRAIN:
                self.their_nonce = struct.unpack_from("<I", got, 22)[0]
                self.train()
            elif got[12:14] == CONTROL and got[:6] != LINK_MAC and got[30] == 1 and self.quiet:
                self.hello()
            else:
                return got

    def expect_pdu(self, op, vc, psn, rpsn, transactions, seq):
        body = self.head(op, vc, psn, rpsn, OUR_ID, self.accel) + struct.pack(
            "<BBHHHII", 1, 16, self.accel, OUR_ID, len(transactions), self.session, EPOCH) + \
            transactions + struct.pack("<HH", seq, 1)
        self.expect_frame(frame(THEIR_MAC, OUR_MAC, PDU, body + crc(body)))

    def expect_link(self, kind, rest):
        head = struct.pack("<BBH", 1, kind, 0)
        rest = struct.pack("<II", self.their_nonce, self.nonce) + rest
        self.expect_frame(frame(LINK_MAC, OUR_MAC, CONTROL, head + crc(head + bytes(4) + rest) + rest))

    def expect_frame(self, wanted):
        got = self.receive()
        assert got == wanted, f"\n{got and got.hex()} is not\n{wanted.hex()}"

    def expect_ack(self, following, kind=LINK_ACK):
        self.expect_link(kind, struct.pack("<HHHH", following, 0, 0, 0))

    def nothing(self):
        got = self.receive(0.1)
        assert got is None, got.hex()


@hosttest("model.g2g.wire-links")
def wire_links(log):
    """Numbers, acknowledgements, replays and credits of a link, byte for byte."""
    q, dev, plain = start(log)
    other = LinkOther(plain.wire)
    other.image, other.mtu = plain.image, plain.mtu
    with q:
        dev.set_port(0, flags=ENABLED | LLR, flow=CBFC)
        first = other.wire.receive(20)
        other.their_nonce = struct.unpack_from("<I", first, 22)[0]
        assert first[:14] == LINK_MAC + OUR_MAC + CONTROL
        assert struct.unpack_from("<BBBB", first, 14 + 35) == (LLR, 1, 0, CBFC)
        window, *credits = struct.unpack_from("<H4H", first, 14 + 56)
        assert (window, credits) == (256, [32] * 4)
        other.train()
        dev.wait_port()
        dev.route({THEIR_ID: 1})
        established(dev, other)

        def mail(text):
            dev.act("SEND_MAIL", fields("kiwi_g2g_mail", accel=THEIR_ID, len=len(text),
                                        generation=1, data=text))
        # One credit: the second frame waits for it, not for the acknowledgement.
        mail(b"first")
        other.expect_pdu(DATA, 0, 0, 0, tx(MAIL, length=5, payload=b"first"), 0)
        mail(b"second")
        assert dev.port_counters().credit_stall == 1
        other.ack(1)
        other.nothing()
        other.credit(2, 0, 0, 0)            # of more than was sent
        other.nothing()
        other.credit(1, 0, 0, 0)
        second = tx(MAIL, length=6, payload=b"second")
        other.expect_pdu(DATA, 0, 1, 0, second, 1)
        # A replay has no new number and takes no credit; of an old training it is not asked for.
        other.ack(1, LINK_NACK, heard=other.their_nonce ^ 1)
        other.ack(1, LINK_NACK, nonce=other.nonce ^ 1)
        other.ack(3, LINK_NACK)
        other.ack(1, LINK_NACK)
        other.expect_pdu(DATA, 0, 1, 0, second, 1)
        port = dev.port_counters()
        assert (port.llr_replayed, port.llr_nack, port.credit_stall) == (1, 1, 1)
        # Nor is one that nobody acknowledges, after a while.
        other.expect_pdu(DATA, 0, 1, 0, second, 1)
        other.ack(2)
        other.credit(2, 0, 0, 0)

        # Receiving: one NACK for what is ahead or spoilt, an ACK for what is behind.
        def letter(n, **how):
            other.pdu(DATA, 0, n, 2, tx(MAIL, length=2, payload=b"m%d" % n), **how)
        letter(0)
        other.expect_ack(1)
        other.expect_link(LINK_CREDIT, struct.pack("<4I", 1, 0, 0, 0))
        other.expect_pdu(ACK, 0, 0, 1, b"", 2)
        other.ack(3)
        other.credit(3, 0, 0, 0)
        letter(1, seq=2)
        other.expect_ack(1, LINK_NACK)
        letter(1, seq=3)
        letter(1, seq=1, spoil=1)
        other.nothing()
        letter(0, seq=0)
        other.expect_ack(1)
        assert dev.port_counters().rx_crc == 1
        letter(1)
        other.expect_ack(2)
        other.expect_link(LINK_CREDIT, struct.pack("<4I", 2, 0, 0, 0))
        other.expect_pdu(ACK, 0, 0, 2, b"", 3)
        other.ack(4)
        assert dev.count().mail_received == 2 and not dev.count().duplicate
        assert dev.port_counters().rx_overrun == 0


@hosttest("model.g2g.links-refused")
def links_refused(_log):
    """LLR and CBFC: what SET_PORT refuses, with the capabilities and without."""
    with mesh(2, props=CALM) as q:
        die = Die(q, 0).begin()
        assert die.caps().flow == 1 << abi.KIWI_G2G_FLOW_NONE | 1 << CBFC
        for change, status in (
                (dict(flags=ENABLED | LLR), "OK"), (dict(flags=ENABLED | LLR, flow=CBFC), "OK"),
                (dict(flow=CBFC), "BAD_PARAM"), (dict(flags=ENABLED | LLR, flow=1), "BAD_PARAM"),
                (dict(flags=ENABLED | LLR, mode=abi.KIWI_G2G_PORT_SWITCHED), "BAD_PARAM"),
                (dict(flow=CBFC, mode=abi.KIWI_G2G_PORT_SWITCHED), "BAD_PARAM")):
            assert STATUS[die.status_of("SET_PORT", Die.port_in(0, **change)).status] == status, change
    for caps, llr, flow in ((0, "BAD_PARAM", 1), (abi.KIWI_G2G_CAP_LLR, "OK", 1),
                            (abi.KIWI_G2G_CAP_CBFC, "BAD_PARAM", 1)):
        with mesh(2, props=CALM) as q:
            die = Die(q, 0).begin(caps=caps)
            assert die.caps().flow == flow
            for change in (dict(flags=ENABLED | LLR), dict(flags=ENABLED | LLR, flow=CBFC)):
                wanted = llr if "flow" not in change else "BAD_PARAM"
                assert STATUS[die.status_of("SET_PORT", Die.port_in(0, **change)).status] == wanted
