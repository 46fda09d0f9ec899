# SPDX-License-Identifier: GPL-2.0
"""Links: channels, replay and credits: W-10, W-50 and W-53 of spec/g2g.md."""

import collections
import random
import select
import struct
import time
import zlib

import abi
from g2g_msgq import CALM, connect, exercise, pair, queues, End
from g2g_wire import (ACK, CONTROL, DATA, EPOCH, LINK_MAC, OUR_ID, OUR_MAC, PDU, READ, READ_RSP, RELEASE,
                      THEIR_ID, THEIR_MAC, TIMES, TRAIN, Other, crc, established, frame, start, trained,
                      tx)
from g2gdev import Die, activate, fields, mesh
from ports import Wire
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
        before, begin = a.port_counters(), time.monotonic()
        q.writeq(w.addr, 0x1122334455667788)
        a.wait_port(0, abi.KIWI_G2G_PORT_FAULT, abi.KIWI_G2G_WHY_LLR_EXHAUSTED)
        after = a.port_counters()
        assert after.llr_exhausted == before.llr_exhausted + 1
        assert after.llr_replayed - before.llr_replayed == 8
        q.qom_set("die1", "drop", 0)
        a.wait_port()
        assert time.monotonic() - begin > 3         # link_ms
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

    def pdu(self, op, vc, psn, rpsn, transactions=b"", seq=None, spoil=0, **fh):
        if seq is None:
            seq = self.seq
            self.seq += 1
        body = self.head(op, vc, psn, rpsn, self.accel, OUR_ID) + self.fh(
            len(transactions), self.their_session, **fh) + transactions + struct.pack("<HH", seq, 1)
        self.wire.send(frame(OUR_MAC, THEIR_MAC, PDU, body + struct.pack("<I", zlib.crc32(body) ^ spoil)))

    def receive(self, timeout=20):
        deadline = time.monotonic() + timeout
        while True:
            got = self.wire.receive(max(0, deadline - time.monotonic()))
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


class Patient(LinkOther):
    """A neighbour to which a replay of what it has seen is no news."""

    def __init__(self, *args):
        super().__init__(*args)
        self.seen = set()
        self.training = {}

    def train(self, **change):
        super().train(**{**self.training, **change})

    def receive(self, timeout=20):
        while True:
            got = super().receive(timeout)
            if got is None or got[12:14] != PDU or got not in self.seen:
                self.seen.add(got)
                return got


def neighbours(log, props=TIMES, more=(), **training):
    """A die and its neighbour, the link between them trained and the session established."""
    # The test may be slow to acknowledge.
    q, dev, plain = start(log, props=props + ",replay-ms=2000", more=more)
    other = Patient(plain.wire)
    other.image, other.mtu = plain.image, plain.mtu
    dev.set_port(0, flags=ENABLED | LLR, flow=CBFC)
    first = other.wire.receive(20)
    other.their_nonce = struct.unpack_from("<I", first, 22)[0]
    other.training = training
    other.train()
    dev.wait_port()
    dev.route({THEIR_ID: 1})
    established(dev, other)
    return q, dev, other


@hosttest("model.g2g.wire-channels")
def channels(log):
    """W-10: the virtual channel is the route's layer and the PDU's class, and none waits for another."""
    q, dev, other = neighbours(log)
    with q:
        def mail(text):
            dev.act("SEND_MAIL", fields("kiwi_g2g_mail", accel=THEIR_ID, len=len(text),
                                        generation=1, data=text))
            return tx(MAIL, length=len(text), payload=text)
        other.expect_pdu(DATA, 0, 0, 0, mail(b"takes the credit"), 0)
        other.ack(1)
        waits = mail(b"has none")
        other.nothing()
        # Answers go on, and what goes by the other layer.
        other.pdu(DATA, 0, 0, 1, tx(READ, tag=9, length=8, key=5))
        refused = abi.KIWI_G2G_ST_PROTECTION
        other.expect_ack(1)
        other.expect_pdu(DATA, 1, 0, 0, tx(READ_RSP, refused, 9), 1)
        other.ack(2)
        other.expect_link(LINK_CREDIT, struct.pack("<4I", 1, 0, 0, 0))
        dev.route({THEIR_ID: (1, 1)})
        other.expect_pdu(DATA, 2, 2, 1, mail(b"by layer 1"), 2)
        other.ack(3)
        other.pdu(DATA, 2, 1, 1, tx(READ, tag=10, length=8, key=5))
        other.expect_ack(2)
        other.expect_pdu(DATA, 3, 1, 0, tx(READ_RSP, refused, 10), 3)
        other.ack(4)
        other.expect_link(LINK_CREDIT, struct.pack("<4I", 1, 0, 1, 0))
        other.nothing()
        other.credit(1, 0, 0, 0)
        other.expect_pdu(DATA, 0, 1, 0, waits, 4)
        assert not dev.port_counters().rx_overrun


class Burst:
    """Holds frames to a wire back, and lets them come at once."""

    def __init__(self, netdev="wire"):
        # What it holds is let go once in an hour, or when it is switched off.
        self.arguments = ["-object", f"filter-buffer,id=held,netdev={netdev},queue=tx,"
                          "interval=3600000000,status=off"]

    def send(self, q, frames):
        q.qmp("qom-set", path="/objects/held", property="status", value="on")
        for send in frames:
            send()
        q.settle(0.1)
        q.qmp("qom-set", path="/objects/held", property="status", value="off")


@hosttest("model.g2g.wire-due")
def due(log):
    """W-50, W-53: of a burst each quarter of the window is acknowledged, each of the credits given back."""
    window, credits, frames = 64, 32, 32
    burst = Burst()
    q, dev, other = neighbours(log, more=burst.arguments, window=window, credits=[credits] * 4)
    with q:
        burst.send(q, [lambda n=n: other.pdu(DATA, 0, n, 0, tx(RELEASE, key=1)) for n in range(frames)])
        acked, freed = [0], [0]
        while acked[-1] < frames or freed[-1] < frames:
            got = other.receive()
            if got[:6] != LINK_MAC:
                other.ack(struct.unpack_from("<H", got, len(got) - 8)[0] + 1)
            elif got[15] == LINK_ACK:
                acked.append(struct.unpack_from("<H", got, 30)[0])
            else:
                assert got[15] == LINK_CREDIT
                freed.append(struct.unpack_from("<I", got, 30)[0])
        for told, most in ((acked, window // 4), (freed, credits // 4)):
            steps = [b - a for a, b in zip(told, told[1:])]
            assert all(0 < step <= most for step in steps), told
        assert not dev.port_counters().rx_overrun and not dev.port_counters().llr_nack


@hosttest("model.g2g.wire-credit-again")
def credit_again(log):
    """W-53: what was freed is told again with each TRAIN; of another training it is not heard."""
    q, dev, other = neighbours(log, props=TIMES.replace("link-ms=20000", "link-ms=4000"))
    with q:
        def wait(wanted, receive=other.receive):
            """The next frame of a kind."""
            return next(got for got in iter(receive, None) if wanted(got))

        def is_pdu(got):
            return got[12:14] == PDU
        other.pdu(DATA, 0, 0, 0, tx(RELEASE, key=1))
        wait(is_pdu)                    # the ACK of the session
        other.ack(1)
        freed = struct.pack("<4I", 1, 0, 0, 0)
        for _ in range(2):
            wait(lambda got: got[:6] == LINK_MAC and got[15] == TRAIN, lambda: other.wire.receive(20))
            other.train()
            other.expect_link(LINK_CREDIT, freed)

        def mail():
            dev.act("SEND_MAIL", fields("kiwi_g2g_mail", accel=THEIR_ID, len=1, generation=1, data=b"x"))
        mail()
        for change in (dict(heard=other.their_nonce ^ 1), dict(nonce=other.nonce ^ 1)):
            other.link(LINK_CREDIT, freed, **change)
        assert not any(map(is_pdu, iter(lambda: other.receive(0.1), None)))
        other.link(LINK_CREDIT, freed)
        assert wait(is_pdu)[38] == MAIL


@hosttest("model.g2g.wire-spoilt")
def spoilt(log):
    """W-50: one NACK at a wrong CRC or a gap, and no other until the frame expected is there."""
    q, dev, other = neighbours(log)
    with q:
        def letter(**how):
            other.pdu(DATA, 0, other.psn[0], 0, tx(RELEASE, key=1), **how)

        def taken():
            """The frame expected: acknowledged on the link, freed, acknowledged in the session."""
            letter()
            other.psn[0] += 1
            other.expect_ack(other.psn[0])
            other.expect_link(LINK_CREDIT, struct.pack("<4I", other.psn[0], 0, 0, 0))
            other.expect_pdu(ACK, 0, 0, other.psn[0], b"", other.psn[0] - 1)
            other.ack(other.psn[0])
            other.credit(other.psn[0], 0, 0, 0)
        first = [dict(spoil=1), dict(seq=9), dict(spoil=0x80000000)]
        for n, how in enumerate(first):
            letter(**{"seq": n, **how})
            other.expect_ack(n, LINK_NACK)
            for again in (dict(seq=n, spoil=1), dict(seq=n + 1), dict(seq=n + 100, spoil=1)):
                letter(**again)
            other.nothing()
            taken()
        letter(seq=0)           # behind, and so is this
        other.expect_ack(3)
        letter(seq=0x8003)
        other.expect_ack(3)
        count = dev.port_counters()
        assert (count.rx_crc, dev.count().duplicate, dev.count().out_of_sequence) == (8, 0, 0)


@hosttest("model.g2g.wire-window")
def window(log):
    """W-50: no more than the window is sent, nine times in all; then FAULT, and for as long as link_ms."""
    second, burst = Wire(log, "second"), Burst()
    q, dev, first = start(log, more=[*second.arguments, *burst.arguments],
                          props=TIMES + ",netdev1=second")
    with q:
        trained(dev, first)
        dev.set_port(1, flags=ENABLED | LLR)
        other = LinkOther(second)
        other.image, other.mtu = first.image, first.mtu
        got = other.wire.receive(20)
        other.their_nonce = struct.unpack_from("<I", got, 22)[0]
        most = struct.unpack_from("<H", got, 14 + 56)[0]
        other.train(flow=0)
        dev.wait_port(1)
        dev.route({THEIR_ID: 1, 0x204: 2})
        established(dev, first)
        burst.send(q, [lambda n=n: first.pdu(DATA, 0, n, 0, tx(RELEASE, key=1), dst=0x204)
                       for n in range(most + 40)])
        q.until(lambda: dev.port_counters(0).forwarded == most + 40, "burst")
        seen = collections.Counter()
        while dev.port(1).state == abi.KIWI_G2G_PORT_UP or select.select([second.socket], [], [], 0.1)[0]:
            got = second.receive(0.1)
            if got and got[12:14] == PDU:
                seen[struct.unpack_from("<H", got, 14 + 8 + 16 + 24)[0]] += 1
        assert seen == {n: 9 for n in range(most)}, seen
        count = dev.port_counters(1)
        assert (count.llr_exhausted, count.llr_replayed) == (1, 8 * most)
        fault = abi.KIWI_G2G_PORT_FAULT, abi.KIWI_G2G_WHY_LLR_EXHAUSTED
        for _ in range(10):             # that the neighbour is there, and agrees, is no remedy
            other.train(flow=0)
            other.nonce += 1
            time.sleep(0.02)
            p = dev.port(1)
            assert (p.state, p.reason, p.ups) == (*fault, 1)


@hosttest("model.g2g.wire-overrun")
def overrun(log):
    """W-53: frames that wait for the next link keep their buffers; more than the credits is dropped."""
    second = Wire(log, "second")
    q, dev, other = neighbours(log, more=second.arguments, props=TIMES + ",netdev1=second")
    with q:
        dev.set_port(1, flags=ENABLED | LLR, flow=CBFC, lanes=2)
        further = Patient(second)
        further.image, further.mtu = other.image, other.mtu
        further.their_nonce = struct.unpack_from("<I", further.wire.receive(20), 22)[0]
        further.train()                 # one credit
        dev.wait_port(1)
        dev.route({THEIR_ID: 1, 0x204: 2})
        freed = 0

        def goes_on(n):
            """The next link takes it."""
            pdus = (got for got in iter(further.receive, None) if got[12:14] == PDU)
            assert struct.unpack_from(">H", next(pdus), 16)[0] == n
            further.ack(n + 1)

        def told():
            """The buffers that were freed, as the device says."""
            nonlocal freed
            while True:
                got = other.receive(0.1)
                if got is None:
                    return freed
                if got[:6] == LINK_MAC and got[15] == LINK_CREDIT:
                    freed = struct.unpack_from("<I", got, 30)[0]

        for n in range(1 + 32 + 3):
            other.pdu(DATA, 0, n, 0, tx(RELEASE, key=1), dst=0x204, epoch=EPOCH + n // 34)
            if not n:
                goes_on(n)
                # Its acknowledgement came by another way than what follows does.
                q.until(lambda: told() == 1, "credit of the first")
        q.until(lambda: dev.port_counters(0).rx_overrun == 3, "overrun")
        count = dev.port_counters(0)
        assert (count.forwarded, count.rx_stale) == (33, 0)
        # One went on; of those that were dropped the buffers are free again, too.
        q.until(lambda: told() == 1 + 3, "credit of what was dropped")
        further.credit(5, 0, 0, 0)      # of more than was sent: of no effect
        further.credit(1, 0, 0, 0)
        goes_on(1)
        q.until(lambda: told() == 2 + 3, "credit")
        assert dev.port_counters(0).rx_overrun == 3


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
