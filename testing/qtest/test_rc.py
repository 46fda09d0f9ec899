#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""RC transport of kiwi-snic from end to end, without a guest.

Two devices on one Ethernet, on which the test is a third station where it has to
see packets, to send damaged ones, or to play the far end of a connection.
"""

import functools
import random
import struct
import time
import unittest

from rc import ALL_REMOTE, Cq, Endpoint, Fabric, Mr, Peer, abi, connect, roce, show, snicdev

OK = abi.KIWI_CQE_ST_OK
FLUSH = abi.KIWI_CQE_ST_WR_FLUSH_ERR
SIGNALED = abi.KIWI_WQE_SIGNALED
ACK, NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS, NAK_OPERATION = 0x1f, 0x60, 0x61, 0x62, 0x63
RNR = 0x20
PSN = 1 << 24
NOWHERE = 1 << 45           # no memory answers there
CHANCES = 10000


def each_connection(mtus=(256, 1024, 4096), **more):
    """Runs a test with a new pair of endpoints for each MTU and IP version."""
    def decorate(test):
        @functools.wraps(test)
        def run(self):
            for mtu in mtus:
                for ip in ("ipv4", "ipv6"):
                    with self.subTest(mtu=mtu, ip=ip):
                        test(self, mtu, *self.f.pair(mtu=mtu, ip=ip, **more))
        return run
    return decorate


class FabricCase(unittest.TestCase):
    """Tests that share a machine; each makes its own objects."""

    PROPS = ""
    WIRE = False

    @classmethod
    def setUpClass(cls):
        cls.f = Fabric(cls.PROPS, cls.WIRE)
        cls.q = cls.f.q
        cls.rng = random.Random(7)

    @classmethod
    def tearDownClass(cls):
        cls.f.close()

    def setUp(self):
        for nic in self.f.nics:
            nic.events()

    def in_error(self, end):
        """The QP goes to ERR."""
        self.q.until(lambda: end.state == abi.KIWI_QPS_ERR, "ERR")

    def events(self, nic, *want):
        """Exactly these events came."""
        self.q.until(lambda: nic.async_eq.ready() or not want, "event")
        self.q.settle()
        self.assertEqual(nic.events(), list(want))


class Operations(FabricCase):
    """What each operation does, in every size at which something changes."""

    def sizes(self, mtu):
        return (0, 1, 3, mtu - 1, mtu, mtu + 1, 2 * mtu, 5 * mtu + 2)

    def data(self, size):
        return self.rng.randbytes(size)

    @each_connection()
    def test_write(self, mtu, a, b):
        for size in self.sizes(mtu):
            data = self.data(size)
            a.mr.write(64, data)
            b.mr.write(0, b"\xee" * (size + 64))
            wr_id = a.write(b.mr, a.sge(64, size), off=8)
            cqe = a.send_cqe(wr_id=wr_id)
            self.assertEqual((cqe.opcode, cqe.byte_len), (abi.KIWI_CQE_WRITE, 0))
            self.assertEqual(b.mr.read(0, size + 64),
                             b"\xee" * 8 + data + b"\xee" * 56)
        self.assertTrue(b.idle())

    @each_connection()
    def test_write_with_immediate(self, mtu, a, b):
        for size in self.sizes(mtu):
            data = self.data(size)
            a.mr.write(0, data)
            recv = b.recv()
            a.write(b.mr, a.sge(0, size), off=4, imm=0x01020304)
            self.assertEqual(a.send_cqe().opcode, abi.KIWI_CQE_WRITE)
            cqe = b.recv_cqe(wr_id=recv)
            self.assertEqual((cqe.opcode, cqe.byte_len, cqe.imm, cqe.flags & ~1),
                             (abi.KIWI_CQE_RECV_WRITE_IMM, size, 0x01020304,
                              abi.KIWI_CQE_IMM))
            self.assertEqual(b.mr.read(4, size), data)

    @each_connection()
    def test_send(self, mtu, a, b):
        for n, size in enumerate(self.sizes(mtu)):
            data = self.data(size)
            a.mr.write(0, data)
            recv = b.recv(b.sge(128, size + n))
            imm = None if n % 2 else 0xfffe0000 + n
            solicited = abi.KIWI_WQE_SOLICITED if n % 3 == 0 else 0
            a.send(a.sge(0, size), imm=imm, flags=SIGNALED | solicited)
            self.assertEqual(a.send_cqe().opcode, abi.KIWI_CQE_SEND)
            cqe = b.recv_cqe(wr_id=recv)
            flags = (abi.KIWI_CQE_IMM if imm else 0) | \
                (abi.KIWI_CQE_SOLICITED if solicited else 0)
            self.assertEqual((cqe.opcode, cqe.byte_len, cqe.imm, cqe.flags & ~1),
                             (abi.KIWI_CQE_RECV, size, imm or 0, flags))
            self.assertEqual(b.mr.read(128, size), data)

    @each_connection()
    def test_read(self, mtu, a, b):
        for size in self.sizes(mtu):
            data = self.data(size)
            b.mr.write(16, data)
            a.mr.write(0, b"\xee" * (size + 16))
            a.read(b.mr, a.sge(8, size), off=16)
            cqe = a.send_cqe()
            self.assertEqual((cqe.opcode, cqe.byte_len), (abi.KIWI_CQE_READ, size))
            self.assertEqual(a.mr.read(0, size + 16), b"\xee" * 8 + data + b"\xee" * 8)
        self.assertTrue(b.idle())

    @each_connection()
    def test_atomics(self, _, a, b):
        def value(end, off):
            return struct.unpack("<Q", end.mr.read(off, 8))[0]

        b.mr.write(0, struct.pack("<QQQ", 1, (1 << 64) - 3, 2))
        a.fetch_add(b.mr, a.sge(0, 8), 5, off=8)
        cqe = a.send_cqe()
        self.assertEqual((cqe.opcode, cqe.byte_len), (abi.KIWI_CQE_FETCH_ADD, 8))
        self.assertEqual((value(a, 0), value(b, 8)), ((1 << 64) - 3, 2))
        a.cmp_swap(b.mr, a.sge(0, 8), 2, 0x1122334455667788, off=8)
        cqe = a.send_cqe()
        self.assertEqual((cqe.opcode, cqe.byte_len), (abi.KIWI_CQE_CMP_SWAP, 8))
        self.assertEqual((value(a, 0), value(b, 8)), (2, 0x1122334455667788))
        a.cmp_swap(b.mr, a.sge(0, 8), 2, 7, off=8)
        a.send_cqe()
        self.assertEqual((value(a, 0), value(b, 8)), (0x1122334455667788,) * 2)
        self.assertEqual((value(b, 0), value(b, 16)), (1, 2))

    def test_inline(self):
XX            for size in (0, 1, 12, 13, 255, 256, 257, limit):
                data = self.data(size)
                a.write_inline(b.mr, data, off=32)
                a.send_cqe()
                self.assertEqual(b.mr.read(32, size), data)
                b.recv(b.sge(1024, limit))
                a.send_inline(data)
                a.send_cqe()
                self.assertEqual(b.recv_cqe().byte_len, size)
                self.assertEqual(b.mr.read(1024, size), data)

    def test_inline_is_taken_when_the_wqe_is_fetched(self):
        a, b = self.f.pair()
        a.read(b.mr, a.sge(0, 8))
        a.write_inline(b.mr, b"before", off=64, flags=SIGNALED | abi.KIWI_WQE_FENCE)
        a.send_cqe()
        a.send_cqe()
        self.q.fill(a.sq, 64 << a.sq_log2)
        self.assertEqual(b.mr.read(64, 6), b"before")

    def test_scatter_lists(self):
        """Lists that are cut elsewhere than packets and than the list of the other side."""
        a, b = self.f.pair(rq_stride=9)
        pieces_a = [(0, 1), (100, 0), (200, 1023), (2000, 1025), (4000, 7), (5000, 2048)]
        pieces_b = [(9000, 2000), (0, 3), (7, 0), (20000, 2500), (50, 100)]
        total = sum(size for _, size in pieces_a)
        list_a = [a.sge(*piece) for piece in pieces_a]
        list_b = [b.sge(*piece) for piece in pieces_b]

        def gathered(end, pieces):
            return b"".join(end.mr.read(*piece) for piece in pieces)[:total]

        data = self.data(a.mr.size)
        a.mr.write(0, data)
        b.recv(*list_b)
        a.send(*list_a)
        a.send_cqe()
        self.assertEqual(b.recv_cqe().byte_len, total)
        self.assertEqual(gathered(b, pieces_b), gathered(a, pieces_a))
        a.write(b.mr, *list_a, off=30000)
        a.send_cqe()
        self.assertEqual(b.mr.read(30000, total), gathered(a, pieces_a))
        b.mr.write(0, self.data(b.mr.size))
        a.read(b.mr, *list_a, off=11)
        self.assertEqual(a.send_cqe().byte_len, total)
        self.assertEqual(gathered(a, pieces_a), b.mr.read(11, total))

    def test_as_many_entries_as_reported(self):
        a, b = self.f.pair()
        most = self.f.nics[0].caps().max_sge
        a.mr.write(0, self.data(most * 3))
        a.send(*[a.sge(3 * n, 3) for n in range(most)])
        b.recv(b.sge(0, 1024))
        a.send_cqe()
        self.assertEqual(b.mr.read(0, 3 * most), a.mr.read(0, 3 * most))

    def test_large_messages(self):
        """Many windows of packets, each way of each operation."""
        size = (4 << 20) + 5
        for mtu, a, b in self.each_connection(size=8 << 20):
            if mtu != 4096:
                continue
            data = self.data(size)
            a.mr.write(3, data)
            a.write(b.mr, a.sge(3, size), off=1)
            a.send_cqe()
            self.assertEqual(b.mr.read(1, size), data)
            a.mr.write(0, bytes(size))
            a.read(b.mr, a.sge(2, size), off=1)
            a.send_cqe()
            self.assertEqual(a.mr.read(2, size), data)
            b.mr.write(0, bytes(size))
            b.recv(b.sge(9, size))
            a.send(a.sge(2, size))
            a.send_cqe()
            self.assertEqual(b.recv_cqe().byte_len, size)
            self.assertEqual(b.mr.read(9, size), data)
            for nic in self.f.nics:
                counters = nic.port_counters()
                self.assertEqual((counters.retransmitted, counters.out_of_sequence), (0, 0))

    def test_signalling(self):
        """Only what is signalled writes a CQE; sq_index frees all before it."""
        a, b = self.f.pair()
        for flags in (0, 0, SIGNALED, 0, SIGNALED):
            a.write(b.mr, a.sge(0, 8), *([a.sge(8, 8)] * 3), flags=flags, ring=False)
        a.ring_sq()
        self.assertEqual([a.send_cqe().sq_index for _ in range(2)], [6, 10])
        self.assertTrue(a.idle())
        a, b = self.f.pair(flags=abi.KIWI_QP_SQ_SIG_ALL)
        a.write(b.mr, a.sge(0, 8), flags=0)
        a.send_cqe()

    def test_nop(self):
        a, b = self.f.pair()
        want = [a.write(b.mr, a.sge(0, 4096), ring=False), a.post(abi.KIWI_WQE_NOP, ring=False),
                a.read(b.mr, a.sge(0, 8), ring=False),
                a.post(abi.KIWI_WQE_NOP, flags=SIGNALED | abi.KIWI_WQE_FENCE, ring=False)]
        a.ring_sq()
        cqes = [a.send_cqe() for _ in want]
        self.assertEqual([c.wr_id for c in cqes], want)
        self.assertEqual([c.opcode for c in cqes],
                         [abi.KIWI_CQE_WRITE, abi.KIWI_CQE_NOP, abi.KIWI_CQE_READ,
                          abi.KIWI_CQE_NOP])

    def test_rings_wrap(self):
        """The smallest rings, and WQEs that lie across the end."""
        a, b = self.f.pair(sq_log2=3, rq_log2=0, rq_stride=5)
        for n in range(40):
            data = self.data(1000)
            a.mr.write(0, data)
            recv = b.recv(b.sge(0, 1000))
            cut = [a.sge(100 * i, 100) for i in range(10)]      # three units
            a.send(*cut)
            self.assertEqual(a.send_cqe().sq_index, 3 * (n + 1) & 0xffff)
            self.assertEqual(b.recv_cqe(wr_id=recv).sq_index, n + 1)
            self.assertEqual(b.mr.read(0, 1000), data)

    def test_indices_wrap(self):
        """Index 65535 is followed by 0."""
        a, b = self.f.pair(sq_log2=8, cq_log2=9)
        cqes = 0
        for n in range(0, 65536 + 512, 128):
            for _ in range(127):
                a.put_wqe(snicdev.wqe(abi.KIWI_WQE_NOP, flags=0))
            a.write_inline(b.mr, struct.pack("<I", n))
            cqe = a.send_cqe()
            cqes += 1
            self.assertEqual(cqe.sq_index, n + 128 & 0xffff)
        self.assertEqual(b.mr.read(0, 4), struct.pack("<I", 65536 + 384))

    def test_one_fetch_and_one_cqe_a_message(self):
        a, b = self.f.pair()
        wqe = abi.KIWI_DIAG_DMA(abi.KIWI_DMA_WQE, abi.KIWI_DMA_SYSTEM, abi.KIWI_DMA_TRANSACTIONS)
        cqe = abi.KIWI_DIAG_DMA(abi.KIWI_DMA_CQE, abi.KIWI_DMA_SYSTEM, abi.KIWI_DMA_TRANSACTIONS)
        nic = self.f.nics[0]

        def cost(action):
            before = nic.diag(wqe), nic.diag(cqe), nic.diag(abi.KIWI_DIAG_DB_ACCEPTED)
            action()
            after = nic.diag(wqe), nic.diag(cqe), nic.diag(abi.KIWI_DIAG_DB_ACCEPTED)
            return tuple(y - x for x, y in zip(before, after))

        def one():
            a.write(b.mr, a.sge(0, 8))
            a.send_cqe()

        def many():
            for _ in range(64):
                a.write(b.mr, a.sge(0, 8), ring=False)
            a.ring_sq()
            for _ in range(64):
                a.send_cqe()

        self.assertEqual(cost(one), (1, 1, 1))
        fetches, cqes, doorbells = cost(many)
        self.assertLessEqual(fetches, 64)
        self.assertEqual((cqes, doorbells), (64, 1))

    def test_loopback(self):
        """Both ends on one port, and a QP that talks to itself."""
        nic = self.f.nics[0]
        a, b = self.f.pair(nics=(nic, nic))
        a.mr.write(0, b"to myself")
        a.write(b.mr, a.sge(0, 9), off=100)
        a.send_cqe()
        self.assertEqual(b.mr.read(100, 9), b"to myself")
        c = Endpoint(nic)
        c.init()
        c.rtr(nic.mac(1), nic.gid("ipv4"), c.number)
        c.rts()
        c.recv(c.sge(500, 100))
        c.mr.write(0, b"echo")
        c.send(c.sge(0, 4))
        c.send_cqe()
        self.assertEqual(c.recv_cqe().byte_len, 4)
        self.assertEqual(c.mr.read(500, 4), b"echo")

    def test_second_port(self):
        a, b = self.f.pair(port=2)
        before = self.f.nics[0].port_counters(1).tx_frames
        a.mr.write(0, b"port two")
        a.write(b.mr, a.sge(0, 8))
        a.send_cqe()
        self.assertEqual(b.mr.read(0, 8), b"port two")
        self.assertEqual(self.f.nics[0].port_counters(1).tx_frames, before)

    def test_both_directions_at_once_on_many_qps(self):
        """Each QP gets its turn, and no data goes astray."""
        count, each, size = 24, 8, 9000
        cqs = [Cq(nic, 10) for nic in self.f.nics]
        pds = [nic.alloc_pd() for nic in self.f.nics]
        pairs = []
        for _ in range(count):
            ends = [Endpoint(nic, pd=pd, send_cq=cq, recv_cq=cq)
                    for nic, pd, cq in zip(self.f.nics, pds, cqs)]
            connect(ends)
            pairs.append(ends)
        data = {}
        for pair in pairs:
            for end, peer in (pair, pair[::-1]):
                data[end] = self.data(size)
                end.mr.write(0, data[end])
                for n in range(each):
                    if n % 2:
                        end.write(peer.mr, end.sge(0, size), off=20000, ring=False)
                    else:
                        end.read(peer.mr, end.sge(40000, size), ring=False)
        for pair in pairs:
            for end in pair:
                end.ring_sq()
        for cq in cqs:
            seen = {}
            for _ in range(count * each):
                cqe = cq.next()
                self.assertEqual(cqe.status, OK, show(cqe))
                seen.setdefault(cqe.qpn, []).append(cqe.wr_id)
            self.assertEqual(len(seen), count)
            for order in seen.values():
                self.assertEqual(order, list(range(1, each + 1)))
        for pair in pairs:
            for end, peer in (pair, pair[::-1]):
                self.assertEqual(peer.mr.read(20000, size), data[end])
                self.assertEqual(end.mr.read(40000, size), data[peer])

    def test_fence(self):
        """A fenced WRITE takes its data after the READ before it has placed them."""
        a, b = self.f.pair(size=1 << 20)
        data = self.data(300000)
        b.mr.write(0, data)
        a.read(b.mr, a.sge(0, len(data)), ring=False)
        a.write(b.mr, a.sge(0, len(data)), off=500000, ring=False,
                flags=SIGNALED | abi.KIWI_WQE_FENCE)
        a.ring_sq()
        a.send_cqe()
        a.send_cqe()
        self.assertEqual(b.mr.read(500000, len(data)), data)

    def test_more_reads_than_may_be_in_flight_wait(self):
        for most in (1, 2, 16):
            a, b = self.f.pair(max_rd=most)
            b.mr.write(0, self.data(b.mr.size))
            want = []
            for n in range(40):
                if n % 3 == 2:
                    want.append(a.fetch_add(b.mr, a.sge(60000, 8), 0, ring=False))
                else:
                    want.append(a.read(b.mr, a.sge(n * 1500, 1500), off=n * 1500, ring=False))
            a.ring_sq()
            self.assertEqual([a.send_cqe().wr_id for _ in want], want)
            for n in range(40):
                if n % 3 != 2:
                    self.assertEqual(a.mr.read(n * 1500, 1500), b.mr.read(n * 1500, 1500))

    def test_repeated_doorbells_do_nothing(self):
        a, b = self.f.pair()
        b.mr.write(0, bytes(8))
        a.fetch_add(b.mr, a.sge(0, 8), 1)
        for _ in range(5):
            a.ring_sq()
        a.send_cqe()
        self.assertTrue(a.idle())
        self.assertEqual(b.mr.read(0, 8), struct.pack("<Q", 1))


class LocalErrors(FabricCase):
    """What the host did wrong: the status, then ERR, then everything flushed in order."""

    PROPS = "max-msg-size=65536"

    def failed(self, a, b, status, vendor_err, good=1):
        """The WQE after the good ones failed; what is behind it is flushed."""
        for _ in range(good):
            a.send_cqe()
        cqe = a.send_cqe(status)
        self.assertEqual(cqe.vendor_err, vendor_err, show(cqe))
        self.in_error(a)
        self.assertEqual(a.send_cqe(FLUSH).wr_id, cqe.wr_id + 1)
        for wr_id in self.posted:
            a.recv_cqe(FLUSH, wr_id)
        self.assertTrue(a.idle())
        self.assertEqual(b.state, abi.KIWI_QPS_RTS)
        self.assertEqual(a.nic.events(), [])

    def run_bad(self, post, status=abi.KIWI_CQE_ST_LOC_QP_OP_ERR, vendor_err=5, **pair):
        """post() puts the bad WQE behind a good one; another good one follows."""
        a, b = self.f.pair(**pair)
        self.posted = [a.recv(a.sge(0, 16), ring=False) for _ in range(3)]
        a.ring_rq()
        a.write(b.mr, a.sge(0, 2000), ring=False)
        b.mr.write(0, bytes(4096))
        post(a, b)
        a.write(b.mr, a.sge(0, 8), ring=False)
        a.ring_sq()
        self.failed(a, b, status, vendor_err)

    def raw(self, *segments, **fields):
        """Posts a WQE whose first segment has these fields."""
        def post(a, _):
            values = dict(opcode=abi.KIWI_WQE_WRITE, flags=SIGNALED, wr_id=next(a.wr_ids))
            body = b"".join(s(a) if callable(s) else s for s in segments)
            values["segs"] = 1 + len(body) // 16
            a.put_wqe(snicdev.fields("kiwi_wqe_ctrl", **{**values, **fields}) + body)
        return post

    def test_malformed_wqes(self):
        raddr = bytes(16)
        sge = bytes(16)
        bad = {
            "opcode": self.raw(raddr, opcode=abi.KIWI_WQE_OPCODE_COUNT),
            "opcode 255": self.raw(raddr, opcode=255),
            "unknown flag": self.raw(raddr, flags=0x10),
            "solicited write": self.raw(raddr, flags=abi.KIWI_WQE_SOLICITED),
            "inline read": self.raw(raddr, opcode=abi.KIWI_WQE_READ, flags=abi.KIWI_WQE_INLINE),
            "reserved": self.raw(raddr, rsvd=1),
            "immediate": self.raw(raddr, imm=1),
            "segs 0": self.raw(segs=0),
            "segs 33": self.raw(segs=33),
            "no remote address": self.raw(),
            "reserved of remote address": self.raw(bytes(12) + b"\1\0\0\0"),
            "nop with data": self.raw(raddr, opcode=abi.KIWI_WQE_NOP),
            "atomic without operands": self.raw(raddr, opcode=abi.KIWI_WQE_FETCH_ADD),
            "atomic without entry": self.raw(raddr, bytes(16), opcode=abi.KIWI_WQE_FETCH_ADD),
            "atomic with two entries": self.raw(
                raddr, bytes(16), lambda a: a.sge(0, 8), sge, opcode=abi.KIWI_WQE_CMP_SWAP),
            "atomic of 4 bytes": self.raw(raddr, bytes(16), lambda a: a.sge(0, 4),
                                          opcode=abi.KIWI_WQE_CMP_SWAP),
            "add with compare": self.raw(raddr, bytes(8) + b"\1" + bytes(7),
                                         lambda a: a.sge(0, 8), opcode=abi.KIWI_WQE_FETCH_ADD),
            "inline without count": self.raw(opcode=abi.KIWI_WQE_SEND,
                                             flags=abi.KIWI_WQE_INLINE),
            "inline beyond its segments": self.raw(
                struct.pack("<I", 13) + bytes(12), opcode=abi.KIWI_WQE_SEND,
                flags=abi.KIWI_WQE_INLINE),
            "inline with too many segments": self.raw(
                struct.pack("<I", 12) + bytes(28), opcode=abi.KIWI_WQE_SEND,
                flags=abi.KIWI_WQE_INLINE),
            "inline beyond the limit": self.raw(
                struct.pack("<I", 477) + bytes(476), opcode=abi.KIWI_WQE_SEND,
                flags=abi.KIWI_WQE_INLINE),
            "too many entries": self.raw(sge * 31, opcode=abi.KIWI_WQE_SEND),
        }
        for name, post in bad.items():
            with self.subTest(name):
                self.run_bad(post)

    def test_read_without_any_allowed(self):
        self.run_bad(lambda a, b: a.read(b.mr, a.sge(0, 8), ring=False), vendor_err=0, max_rd=0)

    def test_length_above_the_maximum(self):
        """Exactly the maximum works, one more does not, nor do lengths that wrap 32 bits."""
        a, b = self.f.pair(size=1 << 17)
        a.write(b.mr, a.sge(0, 65536))
        a.send_cqe()
        for sizes in ((65537,), (65536, 1), (0xffffffff, 1), (0xffffffff,) * 3):
            self.run_bad(lambda a, b, sizes=sizes: a.write(
                b.mr, *[a.sge(0, size) for size in sizes], ring=False),
                abi.KIWI_CQE_ST_LOC_LEN_ERR, 0)

    def test_entries_of_length_0_read_no_key(self):
        a, b = self.f.pair()
        a.write(b.mr, a.sge(0, 0, key=0), a.sge(0, 8), a.sge(1 << 40, 0, key=~0 & 0xffffffff))
        a.send_cqe()
        a.write(b.mr, key=0)
        a.send_cqe()
        a.read(b.mr, key=12345)
        a.send_cqe()

    def test_bad_local_memory(self):
        nic = self.f.nics[0]
        other = Mr(nic, nic.alloc_pd(), 4096)
        gone = Mr(nic, nic.alloc_pd(), 4096)
        gone.dereg()
        cases = {
            "no such key": (1, lambda a: a.sge(0, 8, key=0xffffff00)),
            "key 0": (1, lambda a: a.sge(0, 8, key=0)),
            "another tag": (1, lambda a: a.sge(0, 8, key=a.mr.key ^ 1)),
            "dead key": (1, lambda a: a.sge(0, 8, mr=gone)),
            "another PD": (1, lambda a: a.sge(0, 8, mr=other)),
            "one byte beyond": (2, lambda a: a.sge(a.mr.size - 7, 8)),
            "one byte before": (2, lambda a: a.sge(-1, 8)),
            "address wraps": (2, lambda a: snicdev.sge((1 << 64) - 4, a.mr.key, 8)),
            "second entry": (2, lambda a: a.sge(0, 8) + a.sge(a.mr.size, 1)),
        }
        for name, (vendor_err, sge) in cases.items():
            for opcode in ("send", "write", "read"):
                with self.subTest(name, opcode=opcode):
                    self.run_bad(lambda a, b: a.send(sge(a), ring=False) if opcode == "send"
                                 else getattr(a, opcode)(b.mr, sge(a), ring=False),
                                 abi.KIWI_CQE_ST_LOC_PROT_ERR, vendor_err)

    def test_reads_and_atomics_need_local_write(self):
        for operation in (lambda a, b, sge: a.read(b.mr, sge, ring=False),
                          lambda a, b, sge: a.fetch_add(b.mr, sge, 1, ring=False),
                          lambda a, b, sge: a.cmp_swap(b.mr, sge, 0, 1, ring=False)):
            def post(a, b, operation=operation):
                readonly = Mr(a.nic, a.pd, 4096, access=0)
                operation(a, b, a.sge(0, 8, mr=readonly))
            self.run_bad(post, abi.KIWI_CQE_ST_LOC_PROT_ERR, 3)
        a, b = self.f.pair()
        readonly = Mr(a.nic, a.pd, 4096, access=0)
        a.write(b.mr, a.sge(0, 8, mr=readonly))
        a.send_cqe()

    def test_nothing_is_sent_of_a_bad_wqe(self):
        a, b = self.f.pair()
        b.mr.write(0, bytes(16))
        a.fetch_add(b.mr, a.sge(a.mr.size, 8), 1)
        a.send_cqe(abi.KIWI_CQE_ST_LOC_PROT_ERR)
        a, c = self.f.pair()
        a.write(c.mr, a.sge(0, 4096), a.sge(a.mr.size, 1))
        before = c.mr.read(0, 4096)
        a.mr.write(0, b"\x11" * 4096)
        a.send_cqe(abi.KIWI_CQE_ST_LOC_PROT_ERR)
        self.assertEqual(b.mr.read(0, 8), bytes(8))
        self.assertEqual(c.mr.read(0, 4096), before)

    def nowhere(self, a, pages=2):
        """A region whose second page does not exist."""
        mem = self.q.alloc(4096)
        key = a.nic.reg_mr(a.pd, snicdev.pbl([mem, NOWHERE][:pages]), 4096 * pages, 0)
        mr = Mr.__new__(Mr)
        mr.iova, mr.key = 0, key
        return mr

    def test_payload_that_cannot_be_reached(self):
        """The packets before are sent; the WQE fails in its order."""
        for operation in (lambda a, b, sge: a.write(b.mr, sge, ring=False),
                          lambda a, b, sge: a.read(b.mr, sge, ring=False)):
            self.run_bad(lambda a, b, operation=operation: operation(
                a, b, a.sge(2048, 4096, mr=self.nowhere(a))),
                abi.KIWI_CQE_ST_LOC_PROT_ERR, 4)

    def test_send_queue_that_cannot_be_read(self):
        a, b = self.f.pair(sq_pages=[NOWHERE])
        a.sq_pi = 3
        a.ring_sq()
        cqe = a.send_cqe(abi.KIWI_CQE_ST_FATAL_ERR, wr_id=0)
        self.assertEqual((cqe.vendor_err, cqe.sq_index), (4, 3))
        self.in_error(a)
        self.assertTrue(a.idle())
        self.assertEqual(b.state, abi.KIWI_QPS_RTS)

    def test_receive_queue_that_cannot_be_read(self):
        a, b = self.f.pair(rq_pages=[NOWHERE])
        a.rq_pi = 2
        a.ring_rq()
        b.send(b.sge(0, 8))
        cqe = a.recv_cqe(abi.KIWI_CQE_ST_FATAL_ERR, wr_id=0)
        self.assertEqual((cqe.vendor_err, cqe.sq_index), (4, 2))
        b.send_cqe(abi.KIWI_CQE_ST_REM_OP_ERR)
        self.in_error(a)

    def test_cq_overrun(self):
        """The CQ dies, its QPs with it, and only they."""
        a, b = self.f.pair(cq_log2=2)
        c, d = self.f.pair()
        for _ in range(5):
            a.write(b.mr, a.sge(0, 8), ring=False)
        a.ring_sq()
        self.in_error(a)
        self.events(a.nic, (abi.KIWI_EV_CQ_ERROR, abi.KIWI_CQ_ERR_OVERRUN, a.send_cq.number),
                    (abi.KIWI_EV_QP_ERROR, abi.KIWI_CQE_ST_FATAL_ERR, a.number))
        self.assertEqual([a.send_cq.next().status for _ in range(4)], [OK] * 4)
        self.assertFalse(a.send_cq.ready())
        c.write(d.mr, c.sge(0, 8))
        c.send_cqe()

    def test_deep_flush(self):
        """Every entry of full rings is flushed, in order, and nothing twice."""
        a, _ = self.f.pair(sq_log2=8, rq_log2=8, cq_log2=9)
        sends = [a.post(abi.KIWI_WQE_OPCODE_COUNT, ring=False) for _ in range(256)]
        recvs = [a.recv(ring=False) for _ in range(256)]
        a.ring_rq()
        a.ring_sq()
        a.send_cqe(abi.KIWI_CQE_ST_LOC_QP_OP_ERR, sends[0])
        for wr_id in sends[1:]:
            a.send_cqe(FLUSH, wr_id)
        for wr_id in recvs:
            a.recv_cqe(FLUSH, wr_id)
        self.assertTrue(a.idle())
        late = a.write(a.mr, a.sge(0, 8))
        a.send_cqe(FLUSH, late)
        a.recv_cqe(FLUSH, a.recv())


class RemoteErrors(FabricCase):
    """What a request asks for and the responder refuses."""

    PROPS = "max-msg-size=65536"

    def refused(self, post, status, event, **pair):
        """The request fails on both sides, and nothing was done."""
        a, b = self.f.pair(**pair)
        recvs = [b.recv(b.sge(0, 16)) for _ in range(2)]
        before = b.mr.read(0, 8192)
        posted = post(a, b)
        cqe = a.send_cqe(status, posted)
        self.assertEqual(cqe.vendor_err, 6)
        self.in_error(a)
        self.in_error(b)
        for wr_id in recvs:
            b.recv_cqe(FLUSH, wr_id)
        self.events(b.nic, (abi.KIWI_EV_QP_ACCESS, event, b.number))
        self.events(a.nic)
        self.assertEqual(b.mr.read(0, 8192), before)

    def operations(self, a, **where):
        a.mr.write(0, b"\xab" * 4096)
        return {
            "write": lambda mr: a.write(mr, a.sge(0, 8), **where),
            "long write": lambda mr: a.write(mr, a.sge(0, 4096), **where),
            "read": lambda mr: a.read(mr, a.sge(0, 8), **where),
            "long read": lambda mr: a.read(mr, a.sge(0, 4096), **where),
            "add": lambda mr: a.fetch_add(mr, a.sge(0, 8), 1, **where),
            "swap": lambda mr: a.cmp_swap(mr, a.sge(0, 8), 0, 1, **where),
        }

    NAMES = ("write", "long write", "read", "long read", "add", "swap")

    def each_refused(self, name, target, names=NAMES, where=None, **pair):
        for operation in names:
            with self.subTest(name, operation=operation):
                self.refused(lambda a, b: self.operations(a, **(where(b) if where else {}))[
                    operation](target(b)), abi.KIWI_CQE_ST_REM_ACCESS_ERR,
                    abi.KIWI_CQE_ST_REM_ACCESS_ERR, **pair)

    def test_keys(self):
        self.each_refused("no such key", lambda b: b.mr, where=lambda b: {"key": 0xffffff00})
        self.each_refused("key 0", lambda b: b.mr, where=lambda b: {"key": 0})
        self.each_refused("another tag", lambda b: b.mr, where=lambda b: {"key": b.mr.key ^ 0x80})
        self.each_refused("another PD", lambda b: Mr(b.nic, b.nic.alloc_pd(), 8192))

        def dead(b):
            mr = Mr(b.nic, b.pd, 8192)
            mr.dereg()
            return mr
        self.each_refused("dead key", dead)

    def test_bounds(self):
        self.each_refused("beyond", lambda b: b.mr, where=lambda b: {"off": b.mr.size})
        self.each_refused("before", lambda b: b.mr, where=lambda b: {"off": -8})
        self.each_refused("partly", lambda b: b.mr, names=("long write", "long read"),
                          where=lambda b: {"off": b.mr.size - 4095})

    def test_rights_of_the_region(self):
        local = abi.KIWI_ACCESS_LOCAL_WRITE
        for right, names in ((abi.KIWI_ACCESS_REMOTE_WRITE, ("write", "long write")),
                             (abi.KIWI_ACCESS_REMOTE_READ, ("read", "long read")),
                             (abi.KIWI_ACCESS_REMOTE_ATOMIC, ("add", "swap"))):
            self.each_refused("region", lambda b, right=right: Mr(
                b.nic, b.pd, 8192, local | ALL_REMOTE & ~right), names)

    def test_rights_of_the_qp(self):
        for right, names in ((abi.KIWI_ACCESS_REMOTE_WRITE, ("write", "long write")),
                             (abi.KIWI_ACCESS_REMOTE_READ, ("read", "long read")),
                             (abi.KIWI_ACCESS_REMOTE_ATOMIC, ("add", "swap"))):
            self.each_refused("QP", lambda b: b.mr, names, access=ALL_REMOTE & ~right)

    def test_counted(self):
        before = self.f.nics[1].port_counters().remote_access_err
        self.each_refused("counted", lambda b: b.mr, ("write",), where=lambda b: {"key": 0})
        self.assertEqual(self.f.nics[1].port_counters().remote_access_err, before + 1)

    def test_unaligned_atomic(self):
        for off in (1, 2, 4, 7):
            self.refused(lambda a, b, off=off: a.fetch_add(b.mr, a.sge(0, 8), 1, off=off),
                         abi.KIWI_CQE_ST_REM_INV_REQ_ERR, abi.KIWI_CQE_ST_REM_INV_REQ_ERR)

    def test_what_was_done_before_stands(self):
        a, b = self.f.pair()
        b.mr.write(0, bytes(64))
        good = [a.write_inline(b.mr, b"12345678", ring=False),
                a.fetch_add(b.mr, a.sge(0, 8), 1, off=16, ring=False),
                a.read(b.mr, a.sge(100, 30000), ring=False)]
        bad = a.write(b.mr, a.sge(0, 8), key=0, ring=False)
        after = a.fetch_add(b.mr, a.sge(0, 8), 1, off=16, ring=False)
        a.ring_sq()
        for wr_id in good:
            a.send_cqe(wr_id=wr_id)
        a.send_cqe(abi.KIWI_CQE_ST_REM_ACCESS_ERR, bad)
        a.send_cqe(FLUSH, after)
        self.assertEqual(b.mr.read(0, 24), b"12345678" + bytes(8) + struct.pack("<Q", 1))

    def test_message_longer_than_the_rqe(self):
        for size, room in ((1, 0), (17, 16), (4096, 1500), (4096, 4095)):
            a, b = self.f.pair()
            recv, later = b.recv(b.sge(0, room)), b.recv()
            a.send(a.sge(0, size))
            b.recv_cqe(abi.KIWI_CQE_ST_LOC_LEN_ERR, recv)
            b.recv_cqe(FLUSH, later)
            a.send_cqe(abi.KIWI_CQE_ST_REM_INV_REQ_ERR)
            self.in_error(a)
            self.in_error(b)
            self.events(b.nic)

    def test_bad_entries_of_an_rqe(self):
        for vendor_err, sges in (
                (1, lambda b: [b.sge(0, 64, key=0)]),
                (2, lambda b: [b.sge(b.mr.size - 10, 64)]),
                (1, lambda b: [b.sge(0, 4), b.sge(0, 64, key=0)]),
                (3, lambda b: [b.sge(0, 64, mr=Mr(b.nic, b.pd, 4096, access=0))])):
            a, b = self.f.pair()
            before = b.mr.read()
            recv = b.recv(*sges(b))
            a.mr.write(0, b"\xcd" * 64)
            a.send(a.sge(0, 64))
            cqe = b.recv_cqe(abi.KIWI_CQE_ST_LOC_PROT_ERR, recv)
            self.assertEqual(cqe.vendor_err, vendor_err)
            a.send_cqe(abi.KIWI_CQE_ST_REM_OP_ERR)
            self.in_error(b)
            self.events(b.nic)
            self.assertEqual(b.mr.read(), before, "part of a refused packet was placed")

    def test_malformed_rqes(self):
        for head in (struct.pack("<QII", 9, 4, 0), struct.pack("<QII", 9, 0, 1),
                     struct.pack("<QII", 9, 0xffffffff, 0)):
            a, b = self.f.pair()                    # 64 bytes: three entries fit
            self.q.write(b.rq, head)
            b.rq_pi = 1
            b.ring_rq()
            a.send()
            cqe = b.recv_cqe(abi.KIWI_CQE_ST_LOC_QP_OP_ERR, 9)
            self.assertEqual(cqe.vendor_err, 5)
            a.send_cqe(abi.KIWI_CQE_ST_REM_OP_ERR)
            self.in_error(b)

    def test_write_with_immediate_takes_no_entry_of_the_rqe(self):
        a, b = self.f.pair()
        b.recv(b.sge(0, 64, key=0))
        a.write(b.mr, a.sge(0, 100), imm=5)
        self.assertEqual(b.recv_cqe().byte_len, 100)

    def nowhere(self, b):
        mem = self.q.alloc(4096)
        mr = Mr.__new__(Mr)
        mr.iova, mr.key = 0, b.nic.reg_mr(b.pd, snicdev.pbl([mem, NOWHERE]), 8192, 0)
        return mr

    def test_memory_that_cannot_be_reached(self):
        for post in (lambda a, mr: a.write(mr, a.sge(0, 4096), off=2048),
                     lambda a, mr: a.read(mr, a.sge(0, 4096), off=2048),
                     lambda a, mr: a.fetch_add(mr, a.sge(0, 8), 1, off=4096)):
            self.refused(lambda a, b, post=post: post(a, self.nowhere(b)),
                         abi.KIWI_CQE_ST_REM_OP_ERR, abi.KIWI_CQE_ST_REM_OP_ERR)
        a, b = self.f.pair()
        recv = b.recv(b.sge(4090, 100, mr=self.nowhere(b)))
        a.send(a.sge(0, 64))
        cqe = b.recv_cqe(abi.KIWI_CQE_ST_LOC_PROT_ERR, recv)
        self.assertEqual(cqe.vendor_err, 4)
        a.send_cqe(abi.KIWI_CQE_ST_REM_OP_ERR)

    def test_region_that_goes_in_the_middle(self):
        """A READ of a region that is deregistered fails, or was complete; never more."""
        for _ in range(5):
            a, b = self.f.pair(size=1 << 16)
            mr = Mr(b.nic, b.pd, 1 << 16)
            for _ in range(60):
                a.read(mr, a.sge(0, 1 << 16), ring=False)
            a.ring_sq()
            mr.dereg()
            statuses = [a.send_cq.next().status for _ in range(60)]
            first = next((n for n, s in enumerate(statuses) if s), 60)
            self.assertEqual(statuses[:first], [OK] * first)
            if first < 60:
                self.assertEqual(statuses[first], abi.KIWI_CQE_ST_REM_ACCESS_ERR)
                self.assertEqual(statuses[first + 1:], [FLUSH] * (59 - first))
            self.f.nics[1].events()


class Retries(FabricCase):
    """No receive entry, no answer, loss and disorder."""

    def setUp(self):
        self.f.faults()
        super().setUp()

    def tearDown(self):
        self.f.faults()

    def test_rnr_is_waited_out(self):
        for with_imm in (False, True):
            a, b = self.f.pair()
            a.mr.write(0, b"patience")
            before = [nic.port_counters() for nic in self.f.nics]
            if with_imm:
                wr_id = a.write(b.mr, a.sge(0, 8), imm=1)
            else:
                wr_id = a.send(a.sge(0, 8))
            time.sleep(0.05)
            self.assertTrue(a.idle())
            recv = b.recv(b.sge(0, 8))
            a.send_cqe(wr_id=wr_id)
            b.recv_cqe(wr_id=recv)
            self.assertEqual(b.mr.read(0, 8), b"patience")
            after = [nic.port_counters() for nic in self.f.nics]
            self.assertGreater(after[0].rnr_nak_rcvd, before[0].rnr_nak_rcvd + 1)
            self.assertEqual(after[1].rnr_nak_sent - before[1].rnr_nak_sent,
                             after[0].rnr_nak_rcvd - before[0].rnr_nak_rcvd)

    def test_rnr_retries_run_out(self):
        for retries in (0, 1, 6):
            a, b = self.f.pair(rnr_retry=retries)
            before = self.f.nics[0].port_counters()
            done = a.write(b.mr, a.sge(0, 8), ring=False)
            wr_id = a.send(a.sge(0, 8), ring=False)
            after = a.write(b.mr, a.sge(0, 8), ring=False)
            a.ring_sq()
            a.send_cqe(wr_id=done)
            cqe = a.send_cqe(abi.KIWI_CQE_ST_RNR_RETRY_EXC_ERR, wr_id)
            self.assertEqual(cqe.vendor_err, 6)
            a.send_cqe(FLUSH, after)
            counters = self.f.nics[0].port_counters()
            self.assertEqual(counters.rnr_nak_rcvd - before.rnr_nak_rcvd, retries + 1)
            self.assertEqual(counters.rnr_nak_retry_err - before.rnr_nak_retry_err, 1)
            self.assertEqual(b.state, abi.KIWI_QPS_RTS)

    def test_rnr_waits_at_least_as_long_as_told(self):
        for code, milliseconds in ((14, 1.28), (19, 5.12), (25, 61.44), (0, 655.36)):
            a, b = self.f.pair(min_rnr=code, rnr_retry=1)
            start = time.monotonic()
            a.send()
            a.send_cqe(abi.KIWI_CQE_ST_RNR_RETRY_EXC_ERR)
            self.assertGreaterEqual(time.monotonic() - start, milliseconds / 1000)

    def test_no_answer(self):
        for drop_at in (0, 1):
            for retries in (0, 3):
                a, b = self.f.pair(timeout=8, retry=retries)
                self.f.nics[drop_at].faults(drop=CHANCES)
                before = self.f.nics[0].port_counters()
                wr_id = a.write(b.mr, a.sge(0, 3000), ring=False)
                late = a.write(b.mr, a.sge(0, 8), ring=False)
                a.ring_sq()
                cqe = a.send_cqe(abi.KIWI_CQE_ST_RETRY_EXC_ERR, wr_id)
                self.assertEqual(cqe.vendor_err, 7)
                a.send_cqe(FLUSH, late)
                counters = self.f.nics[0].port_counters()
                self.assertEqual(counters.local_ack_timeout_err - before.local_ack_timeout_err,
                                 retries + 1)
                self.assertEqual(counters.retry_exceeded_err - before.retry_exceeded_err, 1)
                self.assertEqual(counters.retransmitted - before.retransmitted, 4 * retries)
                self.assertEqual(b.state, abi.KIWI_QPS_RTS)
                self.f.nics[drop_at].faults()

    def test_timer_off(self):
        a, b = self.f.pair(timeout=0)
        self.f.nics[0].faults(drop=CHANCES)
        a.write(b.mr, a.sge(0, 8))
        time.sleep(0.3)
        self.assertTrue(a.idle())
        self.assertEqual(a.state, abi.KIWI_QPS_RTS)
        a.destroy()

    def test_disabled_port(self):
        a, b = self.f.pair(timeout=8, retry=1)

        def enable(on):
            b.nic.ok(abi.KIWI_SNIC_OP_SET_PORT, snicdev.fields(
                "kiwi_snic_set_port_in", port=1, enabled=on, mtu=abi.KIWI_MTU_4096))
        enable(0)
        a.write(b.mr, a.sge(0, 8))
        a.send_cqe(abi.KIWI_CQE_ST_RETRY_EXC_ERR)
        enable(1)
        a.reset()
        b.reset()
        connect((a, b))
        a.write(b.mr, a.sge(0, 8))
        a.send_cqe()

    def test_the_answer_comes_after_a_while(self):
        """A WRITE that got no answer is repeated, and done when the wire is whole again."""
        a, b = self.f.pair(timeout=12, retry=7)
        self.f.nics[0].faults(drop=CHANCES)
        a.mr.write(0, b"at last!")
        a.write(b.mr, a.sge(0, 8))
        time.sleep(0.03)
        self.f.nics[0].faults()
        a.send_cqe()
        self.assertEqual(b.mr.read(0, 8), b"at last!")


class Loss(FabricCase):
    """A wire that loses and reorders: all is done once, in order, and the data are right."""

    SEEDS = ((1, 100, 0), (2, 0, 100), (3, 100, 100), (4, 500, 500), (5, 1500, 0),
             (6, 0, 3000))

    @classmethod
    def setUpClass(cls):
        cls.rng = random.Random(11)

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        pass

    def mixed(self, f, a, b, count=120):
        """Operations of all kinds; the far end checks what each left behind."""
        area = 20000            # of each operation in flight
        model_add = 0
        b.mr.write(0, bytes(64))
        expect_b, expect_a, recvs = {}, {}, []
        for n in range(count):
            kind = self.rng.choice(("write", "read", "send", "add", "write_imm", "swap"))
            size = self.rng.choice((0, 1, 100, 1024, 1025, 5000, area))
            slot = 64 + n * area
            data = self.rng.randbytes(size)
            if kind in ("write", "write_imm", "send"):
                a.mr.write(slot, data)
                expect_b[slot] = data
            if kind in ("send", "write_imm"):
                recvs.append((b.recv(b.sge(slot, size)), size))
            if kind == "write":
                a.write(b.mr, a.sge(slot, size), off=slot)
            elif kind == "write_imm":
                a.write(b.mr, a.sge(slot, size), off=slot, imm=n)
            elif kind == "send":
                a.send(a.sge(slot, size))
            elif kind == "read":
                b.mr.write(slot, data)
                a.read(b.mr, a.sge(slot, size), off=slot)
                expect_a[slot] = data
            elif kind == "add":
                a.fetch_add(b.mr, a.sge(slot, 8), n, off=0)
                expect_a[slot] = struct.pack("<Q", model_add)
                model_add += n
            else:
                a.cmp_swap(b.mr, a.sge(slot, 8), model_add, model_add + 1, off=0)
                expect_a[slot] = struct.pack("<Q", model_add)
                model_add += 1
            if n % 8 == 7:
                for wr_id in range(self.done + 1, self.done + 9):
                    a.send_cqe(wr_id=wr_id)
                self.done += 8
        for wr_id, size in recvs:
            self.assertEqual(b.recv_cqe(wr_id=wr_id).byte_len, size)
        self.assertEqual(b.mr.read(0, 8), struct.pack("<Q", model_add))
        for mr, expect in ((a.mr, expect_a), (b.mr, expect_b)):
            for slot, data in expect.items():
                self.assertEqual(mr.read(slot, len(data)), data)

    def test_mixed_operations(self):
        for seed, drop, reorder in self.SEEDS:
            with self.subTest(seed=seed, drop=drop, reorder=reorder), \
                    Fabric(f"seed={seed}") as f:
                a, b = f.pair(psn=(PSN - 60, PSN - 5), timeout=10, size=1 << 22, cq_log2=10)
                f.faults(drop=drop, reorder=reorder)
                self.done = 0
                self.mixed(f, a, b)
                counters = f.nics[0].port_counters()
                self.assertGreater(counters.retransmitted, 0)
                if drop:
                    self.assertGreater(f.q.qom_get("snic0", "dropped0"), 0)
                if reorder:
                    self.assertGreater(f.q.qom_get("snic0", "reordered0"), 0)

    def test_long_messages(self):
        """Many windows, so that losses meet READ responses and the middle of messages."""
        size = 1 << 20
        for seed, drop, reorder in ((7, 100, 0), (8, 100, 100), (9, 300, 0)):
            with self.subTest(seed=seed, drop=drop, reorder=reorder), \
                    Fabric(f"seed={seed}") as f:
                a, b = f.pair(timeout=10, size=2 * size)
                f.faults(drop=drop, reorder=reorder)
                data = self.rng.randbytes(size)
                a.mr.write(0, data)
                b.recv(b.sge(size, size))
                a.write(b.mr, a.sge(0, size))
                a.send(a.sge(0, size))
                a.send_cqe()
                a.send_cqe()
                b.recv_cqe()
                self.assertEqual(b.mr.read(), data * 2)
                a.read(b.mr, a.sge(size, size))
                a.send_cqe()
                self.assertEqual(a.mr.read(size, size), data)

    def test_many_qps(self):
        """Each QP recovers on its own."""
        with Fabric("seed=10") as f:
            pairs = [f.pair(timeout=10) for _ in range(8)]
            f.faults(drop=300, reorder=300)
            for a, b in pairs:
                b.mr.write(0, bytes(8))
                for _ in range(30):
                    a.fetch_add(b.mr, a.sge(0, 8), 1, ring=False)
                a.ring_sq()
            for a, b in pairs:
                for wr_id in range(1, 31):
                    a.send_cqe(wr_id=wr_id)
                self.assertEqual(b.mr.read(0, 8), struct.pack("<Q", 30))
                self.assertEqual(a.mr.read(0, 8), struct.pack("<Q", 29))

    def test_same_seed_same_losses(self):
        found = []
        for _ in range(2):
            with Fabric("seed=12") as f:
                a, b = f.pair(timeout=0)        # no timer: nothing depends on time
                f.nics[0].faults(drop=2000)
                for _ in range(20):
                    a.write(b.mr, a.sge(0, 0), ring=False)
                a.ring_sq()
                f.q.settle(0.1)
                found.append((f.q.qom_get("snic0", "dropped0"),
                              f.nics[1].port_counters().out_of_sequence))
        self.assertEqual(found[0], found[1])
        self.assertGreater(found[0][0], 0)


class States(FabricCase):
    """What the states of a QP let pass."""

    WIRE = True

    def test_established(self):
        nic_a, nic_b = self.f.nics
        a, b = Endpoint(nic_a), Endpoint(nic_b)
        for end in (a, b):
            end.init()
        a.rtr(nic_b.mac(1), nic_b.gid("ipv4"), b.number)
        b.rtr(nic_a.mac(1), nic_a.gid("ipv4"), a.number)
        a.rts()
        for _ in range(3):
            a.write(b.mr, a.sge(0, 8))
            a.send_cqe()
        self.events(nic_b, (abi.KIWI_EV_QP_ESTABLISHED, 0, b.number))
        b.rts()
        b.write(a.mr, b.sge(0, 8))
        b.send_cqe()
        self.events(nic_a)

    def test_work_handed_over_early_waits(self):
        nic_a, nic_b = self.f.nics
        a, b = Endpoint(nic_a), Endpoint(nic_b)
        a.init()
        b.init()
        a.send_inline(b"early")
        recv = b.recv(b.sge(0, 5))
        a.rtr(nic_b.mac(1), nic_b.gid("ipv4"), b.number)
        b.rtr(nic_a.mac(1), nic_a.gid("ipv4"), a.number)
        self.assertTrue(a.idle() and b.idle())
        a.rts()
        a.send_cqe()
        b.recv_cqe(wr_id=recv)
        self.assertEqual(b.mr.read(0, 5), b"early")

    def test_drain(self):
        a, b = self.f.pair(size=1 << 20)
        begun = a.write(b.mr, a.sge(0, 1 << 20))
        a.modify(abi.KIWI_QPS_SQD)
        self.events(a.nic, (abi.KIWI_EV_QP_DRAINED, 0, a.number))
        if a.send_cq.ready():
            a.send_cqe(wr_id=begun)
            begun = None
        waits = a.write(b.mr, a.sge(0, 8))
        self.assertTrue(a.idle())
        b.write(a.mr, b.sge(0, 8))          # the responder goes on
        b.send_cqe()
        self.events(a.nic)
        a.modify(abi.KIWI_QPS_RTS)
        if begun:
            a.send_cqe(wr_id=begun)
        a.send_cqe(wr_id=waits)
        a.modify(abi.KIWI_QPS_SQD)
        self.events(a.nic, (abi.KIWI_EV_QP_DRAINED, 0, a.number))

    def test_drain_waits_for_answers(self):
        p = Peer(self.f)
        wr_id = p.end.send_inline(b"x")
        p.expect(roce.SEND_ONLY, 2000)
        p.end.send_inline(b"y", ring=False)
        p.end.modify(abi.KIWI_QPS_SQD)
        p.end.ring_sq()
        self.events(p.end.nic)
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        p.end.send_cqe(wr_id=wr_id)
        self.events(p.end.nic, (abi.KIWI_EV_QP_DRAINED, 0, p.end.number))
        p.silence()
        p.end.modify(abi.KIWI_QPS_SQD, timeout=5, retry_cnt=1)
        p.end.modify(abi.KIWI_QPS_RTS)
        p.expect(roce.SEND_ONLY, 2001, payload=b"y")

    def test_new_address_while_drained(self):
        p = Peer(self.f)
        p.end.modify(abi.KIWI_QPS_SQD)
        self.events(p.end.nic, (abi.KIWI_EV_QP_DRAINED, 0, p.end.number))
        p.end.modify(abi.KIWI_QPS_SQD, dmac=Peer.MAC, dgid=p.gid, sgid_index=0, hop_limit=9,
                     traffic_class=0x81, udp_sport=0xc123)
        p.end.modify(abi.KIWI_QPS_RTS)
        p.end.send_inline(b"")
        p.expect(roce.SEND_ONLY, 2000, hop_limit=9, traffic_class=0x82, sport=0xc123)

    def test_reset_drops_all_silently(self):
        p = Peer(self.f)
        for _ in range(3):
            p.end.send_inline(b"x")
            p.end.recv(p.end.sge(0, 8))
        p.end.reset()
        self.assertTrue(p.end.idle())
        self.assertEqual(p.end.state, abi.KIWI_QPS_RESET)
        while p.receive(0.05):
            pass
        connect_again(p)
        p.end.send_inline(b"anew")
        p.expect(roce.SEND_ONLY, 70, payload=b"anew")
        p.send(roce.ACK, 70, syndrome=ACK, msn=1)
        self.assertEqual(p.end.send_cqe().sq_index, 1)
        p.end.recv(p.end.sge(0, 8))
        p.send(roce.SEND_ONLY, 60, b"hi", ack_req=1)
        p.expect(roce.ACK, 60, syndrome=ACK, msn=1)
        self.assertEqual(p.end.recv_cqe().sq_index, 1)

    def test_error_flushes_in_order(self):
        p = Peer(self.f)
        sends = [p.end.send_inline(b"x", flags=0) for _ in range(200)]
        recvs = [p.end.recv() for _ in range(5)]
        p.expect(roce.SEND_ONLY, 2000)
        p.end.modify(abi.KIWI_QPS_ERR)
        for wr_id in sends:
            p.end.send_cqe(FLUSH, wr_id)
        for wr_id in recvs:
            p.end.recv_cqe(FLUSH, wr_id)
        self.assertTrue(p.end.idle())
        while p.receive(0.05):
            pass
        p.send(roce.SEND_ONLY, 1000, b"hi", ack_req=1)
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        p.silence()
        self.assertTrue(p.end.idle())

    def test_error_from_reset(self):
        end = Endpoint(self.f.nics[0])
        end.modify(abi.KIWI_QPS_ERR)
        end.send_cqe(FLUSH, end.send_inline(b""))
        end.recv_cqe(FLUSH, end.recv())

    def test_destroy_with_work_in_flight(self):
        for n in range(20):
            a, b = self.f.pair(size=1 << 20)
            for _ in range(4):
                a.write(b.mr, a.sge(0, 1 << 20), ring=False)
                a.read(b.mr, a.sge(0, 1 << 20), ring=False)
            b.recv(b.sge(0, 8))
            a.ring_sq()
            victim = (a, b)[n % 2]
            victim.destroy()
            before = victim.send_cq.ready(), victim.recv_cq.ready()
            ci = victim.send_cq.ci
            self.q.settle()
            self.assertEqual((victim.send_cq.ready(), victim.recv_cq.ready()), before)
            self.assertEqual(victim.send_cq.ci, ci)
            (b, a)[n % 2].destroy()
        self.assertEqual([nic.events() for nic in self.f.nics], [[], []])

    def test_query_tells_psns(self):
        a, b = self.f.pair(psn=(PSN - 1, 77))
        self.assertEqual((a.query().sq_psn, a.query().rq_psn), (PSN - 1, 77))
        a.write(b.mr, a.sge(0, 3000))
        a.send_cqe()
        self.assertEqual((a.query().sq_psn, b.query().rq_psn), (2, 2))


def connect_again(peer, psn=(60, 70)):
    """Takes the endpoint of a peer from RESET to RTS."""
    peer.end.init()
    peer.end.rtr(Peer.MAC, peer.gid, Peer.QPN, psn[0])
    peer.end.rts(psn[1], timeout=0)


class Requester(FabricCase):
    """What the device sends, packet by packet, and how it takes answers."""

    WIRE = True

    def test_addressing(self):
        for ip in ("ipv4", "ipv6"):
            p = Peer(self.f, ip=ip)
            p.end.write_inline(p.end.mr, b"abc")
            packet = p.expect(roce.WRITE_ONLY, 2000, payload=b"abc", dma_len=3, ack_req=1,
                              rkey=p.end.mr.key, va=p.end.mr.iova, solicited=0, smac=p.mac,
                              dmac=Peer.MAC, hop_limit=64, traffic_class=2, flow_label=0)
            self.assertGreaterEqual(packet["sport"], 0xc000)

    def test_segmentation(self):
        p = Peer(self.f)
        end = p.end
        end.mr.write(0, bytes(range(256)) * 16)
        data = end.mr.read(0, 4096)
        sol = abi.KIWI_WQE_SOLICITED
        end.send(end.sge(0, 2049), flags=SIGNALED | sol)
        p.expect(roce.SEND_FIRST, 2000, payload=data[:1024], ack_req=0, solicited=0)
        p.expect(roce.SEND_MIDDLE, 2001, payload=data[1024:2048], ack_req=0, solicited=0)
        p.expect(roce.SEND_LAST, 2002, payload=data[2048:2049], ack_req=1, solicited=1)
        end.send(end.sge(0, 1025), imm=0xaabbccdd)
        p.expect(roce.SEND_FIRST, 2003)
        p.expect(roce.SEND_LAST_IMM, 2004, imm=b"\xaa\xbb\xcc\xdd", payload=data[1024:1025])
        end.send(imm=1, flags=SIGNALED | sol)
        p.expect(roce.SEND_ONLY_IMM, 2005, imm=b"\0\0\0\1", payload=b"", solicited=1)
        end.write(end.mr, end.sge(0, 2048), off=5)
        p.expect(roce.WRITE_FIRST, 2006, va=end.mr.iova + 5, rkey=end.mr.key, dma_len=2048,
                 payload=data[:1024], ack_req=0)
        p.expect(roce.WRITE_LAST, 2007, payload=data[1024:2048], ack_req=1)
        end.write(end.mr, end.sge(0, 1025), imm=2)
        p.expect(roce.WRITE_FIRST, 2008)
        p.expect(roce.WRITE_LAST_IMM, 2009, imm=b"\0\0\0\2")
        end.write(end.mr, end.sge(0, 1024), imm=3)
        p.expect(roce.WRITE_ONLY_IMM, 2010, imm=b"\0\0\0\3", dma_len=1024)
        end.read(end.mr, end.sge(0, 3000), off=1)
        p.expect(roce.READ_REQUEST, 2011, va=end.mr.iova + 1, dma_len=3000)
        end.cmp_swap(end.mr, end.sge(0, 8), 5, 6, off=16)
        p.expect(roce.CMP_SWAP, 2014, va=end.mr.iova + 16, compare=5, swap_add=6)
        end.fetch_add(end.mr, end.sge(0, 8), 7, off=24)
        p.expect(roce.FETCH_ADD, 2015, va=end.mr.iova + 24, compare=0, swap_add=7)
        p.silence()

    def test_window_and_requests_for_acks(self):
        p = Peer(self.f, psn=(1000, PSN - 100), size=1 << 20)
        p.end.write(p.end.mr, p.end.sge(0, 300 * 1024))
        asked = []
        for n in range(128):
            if p.expect(roce.WRITE_MIDDLE if n else roce.WRITE_FIRST,
                        (PSN - 100 + n) % PSN)["ack_req"]:
                asked.append(n)
        self.assertEqual(asked, [63, 127])
        p.silence()
        p.send(roce.ACK, PSN - 100 + 63, syndrome=ACK, msn=0)
        for n in range(128, 192):
            p.expect(roce.WRITE_MIDDLE, (PSN - 100 + n) % PSN, ack_req=int(n == 191))
        p.silence()
        p.send(roce.ACK, 191 - 100, syndrome=ACK, msn=0)
        for n in range(192, 300):
            p.expect(roce.WRITE_LAST if n == 299 else roce.WRITE_MIDDLE, n - 100,
                     ack_req=int(n in (255, 299)))
        self.assertTrue(p.end.idle())
        p.send(roce.ACK, 199, syndrome=ACK, msn=1)
        p.end.send_cqe()

    def test_one_ack_for_many(self):
        p = Peer(self.f)
        want = [p.end.send_inline(bytes([n])) for n in range(10)]
        for n in range(10):
            p.expect(roce.SEND_ONLY, 2000 + n, ack_req=1)
        p.send(roce.ACK, 2006, syndrome=ACK, msn=7)
        for wr_id in want[:7]:
            p.end.send_cqe(wr_id=wr_id)
        self.assertTrue(p.end.idle())
        p.send(roce.ACK, 2009, syndrome=ACK, msn=10)
        for wr_id in want[7:]:
            p.end.send_cqe(wr_id=wr_id)

    def test_acks_that_say_nothing(self):
        """Of what is long done, or was never sent."""
        p = Peer(self.f)
        wr_id = p.end.send_inline(b"x")
        p.expect(roce.SEND_ONLY, 2000)
        for psn in (1999, 2001, 2000 + (PSN >> 1), 0, PSN - 1):
            for syndrome in (ACK, NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS, NAK_OPERATION, RNR | 1):
                p.send(roce.ACK, psn, syndrome=syndrome, msn=1)
        p.send(roce.READ_RESP_ONLY, 1999, b"12345678", syndrome=ACK, msn=1)
        p.send(roce.ATOMIC_ACK, 2001, syndrome=ACK, msn=1, orig=5)
        p.send(roce.ACK, 2000, syndrome=0x5f, msn=1)        # of a reserved type
        self.assertTrue(p.end.idle())
        p.silence()
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        p.end.send_cqe(wr_id=wr_id)

    def test_sequence_nak(self):
        """Acknowledges what is before it, and asks for the rest."""
        p = Peer(self.f)
        first = p.end.send_inline(b"0")
        second = p.end.send(p.end.sge(0, 3000))
        p.expect(roce.SEND_ONLY, 2000)
        for n, opcode in enumerate((roce.SEND_FIRST, roce.SEND_MIDDLE, roce.SEND_LAST)):
            p.expect(opcode, 2001 + n)
        p.send(roce.ACK, 2002, syndrome=NAK_SEQUENCE, msn=1)
        p.expect(roce.SEND_MIDDLE, 2002)
        p.expect(roce.SEND_LAST, 2003, ack_req=1)
        p.end.send_cqe(wr_id=first)
        p.send(roce.ACK, 2002, syndrome=NAK_SEQUENCE, msn=1)    # the same once more
        p.silence()
        p.send(roce.ACK, 2003, syndrome=ACK, msn=2)
        p.end.send_cqe(wr_id=second)
        self.assertEqual(p.end.nic.port_counters().packet_seq_err, 2)

    def test_sequence_naks_without_progress_run_out(self):
        p = Peer(self.f, retry=2, timeout=10)
        p.end.send_inline(b"0")
        p.expect(roce.SEND_ONLY, 2000)
        p.send(roce.ACK, 2000, syndrome=NAK_SEQUENCE, msn=0)
        for _ in range(2):
            p.expect(roce.SEND_ONLY, 2000)
        p.end.send_cqe(abi.KIWI_CQE_ST_RETRY_EXC_ERR)

    def test_progress_renews_the_retries(self):
        p = Peer(self.f, retry=1, timeout=0, size=1 << 16)
        p.end.write(p.end.mr, p.end.sge(0, 6 * 1024))
        for n in range(6):
            p.receive()
        for n in range(1, 6):
            p.send(roce.ACK, 2000 + n, syndrome=NAK_SEQUENCE, msn=0)
            for later in range(n, 6):
                p.expect(roce.WRITE_LAST if later == 5 else roce.WRITE_MIDDLE, 2000 + later)
        p.send(roce.ACK, 2005, syndrome=ACK, msn=1)
        p.end.send_cqe()

    def test_fatal_naks(self):
        for syndrome, status in ((NAK_INVALID, abi.KIWI_CQE_ST_REM_INV_REQ_ERR),
                                 (NAK_ACCESS, abi.KIWI_CQE_ST_REM_ACCESS_ERR),
                                 (NAK_OPERATION, abi.KIWI_CQE_ST_REM_OP_ERR),
                                 (0x64, abi.KIWI_CQE_ST_BAD_RESP_ERR)):
            p = Peer(self.f)
            before, hit, after = (p.end.send_inline(b"x") for _ in range(3))
            for n in range(3):
                p.expect(roce.SEND_ONLY, 2000 + n)
            p.send(roce.ACK, 2001, syndrome=syndrome, msn=1)
            p.end.send_cqe(wr_id=before)
            p.end.send_cqe(status, hit)
            p.end.send_cqe(FLUSH, after)
            self.in_error(p.end)

    def test_rnr_nak(self):
        p = Peer(self.f, rnr_retry=1)
        first, second = p.end.send_inline(b"0"), p.end.send_inline(b"1")
        p.expect(roce.SEND_ONLY, 2000)
        p.expect(roce.SEND_ONLY, 2001)
        start = time.monotonic()
        p.send(roce.ACK, 2001, syndrome=RNR | 25, msn=1)
        p.end.send_cqe(wr_id=first)
        third = p.end.send_inline(b"2")
        p.expect(roce.SEND_ONLY, 2001)
        self.assertGreaterEqual(time.monotonic() - start, 0.06144)
        p.expect(roce.SEND_ONLY, 2002)
        p.send(roce.ACK, 2001, syndrome=ACK, msn=2)
        p.end.send_cqe(wr_id=second)
        p.send(roce.ACK, 2002, syndrome=RNR | 1, msn=2)     # progress was made: one more is allowed
        p.expect(roce.SEND_ONLY, 2002)
        p.send(roce.ACK, 2002, syndrome=RNR | 1, msn=2)
        p.end.send_cqe(abi.KIWI_CQE_ST_RNR_RETRY_EXC_ERR, third)

    def test_ack_during_the_wait(self):
        p = Peer(self.f)
        first = p.end.send_inline(b"0")
        p.expect(roce.SEND_ONLY, 2000)
        p.send(roce.ACK, 2000, syndrome=RNR | 26, msn=0)
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        p.end.send_cqe(wr_id=first)
        second = p.end.send_inline(b"1")
        p.expect(roce.SEND_ONLY, 2001)
        p.send(roce.ACK, 2001, syndrome=ACK, msn=2)
        p.end.send_cqe(wr_id=second)

    def test_lost_read_responses(self):
        """The missing part is asked for, from the PSN that is missing on."""
        p = Peer(self.f)
        end = p.end
        end.mr.write(0, b"\xee" * 8192)
        data = self.rng.randbytes(5000)
        wr_id = end.read(end.mr, end.sge(100, 5000), off=40)
        p.expect(roce.READ_REQUEST, 2000, va=end.mr.iova + 40, dma_len=5000)
        p.send(roce.READ_RESP_FIRST, 2000, data[:1024], syndrome=ACK, msn=1)
        p.send(roce.READ_RESP_MIDDLE, 2001, data[1024:2048])
        p.send(roce.READ_RESP_MIDDLE, 2003, data[3072:4096])            # 2002 is lost
        p.expect(roce.READ_REQUEST, 2002, va=end.mr.iova + 40 + 2048, dma_len=2952)
        p.send(roce.READ_RESP_LAST, 2004, data[4096:], syndrome=ACK, msn=1)     # still on its way
        p.silence()
        p.send(roce.READ_RESP_FIRST, 2002, data[2048:3072], syndrome=ACK, msn=1)
        p.send(roce.READ_RESP_MIDDLE, 2002, b"\xbb" * 1024)             # behind: not looked at
        p.send(roce.READ_RESP_MIDDLE, 2003, data[3072:4096])
        p.send(roce.READ_RESP_LAST, 2004, data[4096:], syndrome=ACK, msn=1)
        self.assertEqual(end.send_cqe(wr_id=wr_id).byte_len, 5000)
        self.assertEqual(end.mr.read(0, 5200), b"\xee" * 100 + data + b"\xee" * 100)

    def test_read_response_lost_altogether(self):
        """An answer to what came later tells; nothing later is complete before."""
        for answer in (
                lambda p: p.send(roce.ACK, 2002, syndrome=ACK, msn=2),
                lambda p: p.send(roce.ACK, 2002, syndrome=NAK_SEQUENCE, msn=2)):
            p = Peer(self.f)
            read = p.end.read(p.end.mr, p.end.sge(0, 2000))
            write = p.end.write(p.end.mr, p.end.sge(0, 8))
            p.expect(roce.READ_REQUEST, 2000)
            p.expect(roce.WRITE_ONLY, 2002)
            answer(p)
            p.expect(roce.READ_REQUEST, 2000, dma_len=2000)
            p.expect(roce.WRITE_ONLY, 2002)
            self.assertTrue(p.end.idle())
            p.send(roce.READ_RESP_FIRST, 2000, bytes(1024), syndrome=ACK, msn=1)
            p.send(roce.READ_RESP_LAST, 2001, bytes(976), syndrome=ACK, msn=1)
            p.send(roce.ACK, 2002, syndrome=ACK, msn=2)
            p.end.send_cqe(wr_id=read)
            p.end.send_cqe(wr_id=write)

    def test_read_response_acknowledges_what_came_before(self):
        p = Peer(self.f)
        want = [p.end.write(p.end.mr, p.end.sge(0, 8)), p.end.read(p.end.mr, p.end.sge(0, 8))]
        p.receive()
        p.receive()
        p.send(roce.READ_RESP_ONLY, 2001, b"response", syndrome=ACK, msn=2)
        for wr_id in want:
            p.end.send_cqe(wr_id=wr_id)
        self.assertEqual(p.end.mr.read(0, 8), b"response")

    def test_lost_atomic_answer(self):
        p = Peer(self.f, timeout=12)
        wr_id = p.end.fetch_add(p.end.mr, p.end.sge(0, 8), 3)
        p.expect(roce.FETCH_ADD, 2000, swap_add=3)
        p.expect(roce.FETCH_ADD, 2000, swap_add=3)
        p.send(roce.ATOMIC_ACK, 2000, syndrome=ACK, msn=1, orig=0x0102030405060708)
        p.end.send_cqe(wr_id=wr_id)
        self.assertEqual(p.end.mr.read(0, 8), bytes.fromhex("0807060504030201"))

    def test_answers_after_going_back(self):
        """An ACK of the first round counts when it arrives in the second."""
        p = Peer(self.f, timeout=14)
        want = [p.end.send_inline(bytes([n])) for n in range(3)]
        for n in range(3):
            p.expect(roce.SEND_ONLY, 2000 + n)
        p.expect(roce.SEND_ONLY, 2000)          # the timer
        p.send(roce.ACK, 2002, syndrome=ACK, msn=3)
        for wr_id in want:
            p.end.send_cqe(wr_id=wr_id)
        while p.receive(0.05):
            pass
        p.end.send_inline(b"next")
        p.expect(roce.SEND_ONLY, 2003)

    def test_bad_responses(self):
        def read(p):
            wr_id = p.end.read(p.end.mr, p.end.sge(0, 3000))
            p.expect(roce.READ_REQUEST, 2000)
            return wr_id

        def add(p):
            wr_id = p.end.fetch_add(p.end.mr, p.end.sge(0, 8), 1)
            p.expect(roce.FETCH_ADD, 2000)
            return wr_id

        def write(p):
            wr_id = p.end.write(p.end.mr, p.end.sge(0, 8))
            p.expect(roce.WRITE_ONLY, 2000)
            return wr_id

        aeth = dict(syndrome=ACK, msn=1)
        for post, opcode, payload, fields in (
                (read, roce.READ_RESP_FIRST, bytes(1023), aeth),
                (read, roce.READ_RESP_FIRST, bytes(1028), aeth),
                (read, roce.READ_RESP_FIRST, b"", aeth),
                (read, roce.READ_RESP_LAST, bytes(1024), aeth),
                (read, roce.READ_RESP_ONLY, bytes(1024), aeth),
                (read, roce.ATOMIC_ACK, b"", dict(aeth, orig=1)),
                (add, roce.READ_RESP_ONLY, bytes(8), aeth),
                (write, roce.READ_RESP_ONLY, bytes(8), aeth),
                (write, roce.ATOMIC_ACK, b"", dict(aeth, orig=1))):
            p = Peer(self.f)
            p.end.mr.write(0, b"\xee" * 4096)
            wr_id = post(p)
            p.send(opcode, 2000, payload, **fields)
            p.end.send_cqe(abi.KIWI_CQE_ST_BAD_RESP_ERR, wr_id)
            self.in_error(p.end)
            self.assertEqual(p.end.mr.read(0, 4096), b"\xee" * 4096)

    def test_limit_of_reads(self):
        p = Peer(self.f, max_rd=2)
        for n in range(4):
            p.end.read(p.end.mr, p.end.sge(8 * n, 8))
        p.end.write(p.end.mr, p.end.sge(0, 8))
        p.expect(roce.READ_REQUEST, 2000)
        p.expect(roce.READ_REQUEST, 2001)
        p.silence()
        for n in range(4):
            p.send(roce.READ_RESP_ONLY, 2000 + n, bytes(8), syndrome=ACK, msn=n + 1)
            p.end.send_cqe()
            if n < 2:
                p.expect(roce.READ_REQUEST, 2002 + n)
            if n == 1:
                p.expect(roce.WRITE_ONLY, 2004)

    def test_fence(self):
        p = Peer(self.f)
        p.end.read(p.end.mr, p.end.sge(0, 8))
        p.end.write(p.end.mr, p.end.sge(0, 8))
        p.end.write(p.end.mr, p.end.sge(0, 8), flags=SIGNALED | abi.KIWI_WQE_FENCE)
        p.end.write(p.end.mr, p.end.sge(0, 8))
        p.expect(roce.READ_REQUEST, 2000)
        p.expect(roce.WRITE_ONLY, 2001)
        p.silence()
        p.send(roce.READ_RESP_ONLY, 2000, b"newvalue", syndrome=ACK, msn=1)
        p.expect(roce.WRITE_ONLY, 2002, payload=b"newvalue")
        p.expect(roce.WRITE_ONLY, 2003)

    def test_region_gone_before_a_retry(self):
        p = Peer(self.f)
        mr = Mr(p.end.nic, p.end.pd, 4096)
        wr_id = p.end.write(p.end.mr, p.end.sge(0, 3000, mr=mr))
        for _ in range(3):
            p.receive()
        mr.dereg()
        p.send(roce.ACK, 2001, syndrome=NAK_SEQUENCE, msn=0)
        cqe = p.end.send_cqe(abi.KIWI_CQE_ST_LOC_PROT_ERR, wr_id)
        self.assertEqual(cqe.vendor_err, 1)
        p.silence()

    def test_failure_waits_for_its_turn(self):
        """A bad WQE ends after the good one before it, however late that is."""
        p = Peer(self.f, timeout=12)
        good = p.end.send_inline(b"good")
        bad = p.end.send(p.end.sge(0, 8, key=0))
        p.expect(roce.SEND_ONLY, 2000, payload=b"good")
        p.expect(roce.SEND_ONLY, 2000, payload=b"good")
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        p.end.send_cqe(wr_id=good)
        p.end.send_cqe(abi.KIWI_CQE_ST_LOC_PROT_ERR, bad)


class Responder(FabricCase):
    """What the device does with requests, packet by packet."""

    WIRE = True

    def write(self, p, psn, data, off=0, **more):
        p.send(roce.WRITE_ONLY, psn, data, va=p.end.mr.iova + off, rkey=p.end.mr.key,
               dma_len=len(data), **{"ack_req": 1, **more})

    def read(self, p, psn, size, off=0, key=None):
        p.send(roce.READ_REQUEST, psn, va=p.end.mr.iova + off,
               rkey=p.end.mr.key if key is None else key, dma_len=size)

    def add(self, p, psn, add, off=0, opcode=roce.FETCH_ADD, compare=0):
        p.send(opcode, psn, va=p.end.mr.iova + off, rkey=p.end.mr.key, swap_add=add,
               compare=compare, ack_req=1)

    def test_acks_when_asked(self):
        p = Peer(self.f)
        for n in range(4):
            self.write(p, 1000 + n, b"12345678", off=8 * n, ack_req=0)
        p.silence()
        self.write(p, 1004, b"x")
        p.expect(roce.ACK, 1004, syndrome=ACK, msn=5)
        self.assertEqual(p.end.mr.read(0, 32), b"12345678" * 4)

    def test_in_packets(self):
        p = Peer(self.f, psn=(PSN - 1, 5))
        mr = p.end.mr
        data = self.rng.randbytes(2500)
        p.send(roce.WRITE_FIRST, PSN - 1, data[:1024], va=mr.iova, rkey=mr.key, dma_len=2500,
               ack_req=1)
        p.expect(roce.ACK, PSN - 1, syndrome=ACK, msn=0)
        p.send(roce.WRITE_MIDDLE, 0, data[1024:2048])
        p.send(roce.WRITE_LAST, 1, data[2048:], ack_req=1)
        p.expect(roce.ACK, 1, syndrome=ACK, msn=1)
        self.assertEqual(mr.read(0, 2500), data)
        recv = p.end.recv(p.end.sge(4000, 4000))
        p.send(roce.SEND_FIRST, 2, data[:1024])
        p.send(roce.SEND_LAST_IMM, 3, data[1024:1100], imm=b"\1\2\3\4", ack_req=1, solicited=1)
        p.expect(roce.ACK, 3, syndrome=ACK, msn=2)
        cqe = p.end.recv_cqe(wr_id=recv)
        self.assertEqual((cqe.byte_len, cqe.imm, cqe.flags & ~1),
                         (1100, 0x01020304, abi.KIWI_CQE_IMM | abi.KIWI_CQE_SOLICITED))
        self.assertEqual(mr.read(4000, 1100), data[:1100])

    def test_ahead_is_refused_once(self):
        p = Peer(self.f)
        before = p.end.nic.port_counters().out_of_sequence
        for n in (2, 3, 5, 4):
            self.write(p, 1000 + n, b"x")
        p.expect(roce.ACK, 1000, syndrome=NAK_SEQUENCE, msn=0)
        p.silence()
        self.assertEqual(p.end.nic.port_counters().out_of_sequence, before + 4)
        self.write(p, 1000, b"0")
        p.expect(roce.ACK, 1000, syndrome=ACK, msn=1)
        self.write(p, 1002, b"x")
        p.expect(roce.ACK, 1001, syndrome=NAK_SEQUENCE, msn=1)

    def test_duplicates_are_acknowledged_again(self):
        p = Peer(self.f)
        p.end.recv(p.end.sge(100, 8))
        before = p.end.nic.port_counters().duplicate_request
        self.write(p, 1000, b"first")
        p.send(roce.SEND_ONLY, 1001, b"message", ack_req=1)
        p.end.recv_cqe()
        while p.receive(0.05):
            pass
        p.end.mr.write(0, bytes(200))
        self.write(p, 1000, b"again")
        p.expect(roce.ACK, 1001, syndrome=ACK, msn=2)
        p.send(roce.SEND_ONLY, 1001, b"message", ack_req=1)
        p.expect(roce.ACK, 1001, syndrome=ACK, msn=2)
        self.assertEqual(p.end.mr.read(0, 200), bytes(200))
        self.assertEqual(p.end.nic.port_counters().duplicate_request, before + 2)
        self.assertTrue(p.end.idle())

    def expect_read(self, p, psn, data, mtu=1024, msn=None):
        """The response to a READ."""
        pieces = [data[at:at + mtu] for at in range(0, len(data), mtu)] or [b""]
        for n, piece in enumerate(pieces):
            first, last = n == 0, n == len(pieces) - 1
            opcode = {(True, True): roce.READ_RESP_ONLY, (True, False): roce.READ_RESP_FIRST,
                      (False, True): roce.READ_RESP_LAST,
                      (False, False): roce.READ_RESP_MIDDLE}[first, last]
            packet = p.expect(opcode, (psn + n) % PSN, payload=piece)
            if first or last:
                self.assertEqual(packet["syndrome"], ACK)
                self.assertIn(packet["msn"], (msn, packet["msn"] if msn is None else msn))

    def test_read(self):
        for mtu in (256, 1024, 4096):
            for size in (0, 1, mtu, mtu + 1, 3 * mtu + 5):
                p = Peer(self.f, mtu=mtu, psn=(PSN - 2, 0))
                data = self.rng.randbytes(20000)
                p.end.mr.write(0, data)
                self.read(p, PSN - 2, size, off=3)
                self.expect_read(p, PSN - 2, data[3:3 + size], mtu, msn=1)
                self.write(p, (PSN - 2 + max(1, -(-size // mtu))) % PSN, b"")
                p.expect(roce.ACK, (PSN - 2 + max(1, -(-size // mtu))) % PSN, msn=2)

    def test_duplicate_read(self):
        """Again, in whole or from anywhere in it on; what it reads is what is there now."""
        p = Peer(self.f)
        data = self.rng.randbytes(4000)
        p.end.mr.write(0, data)
        self.read(p, 1000, 4000)
        self.expect_read(p, 1000, data)
        new = self.rng.randbytes(4000)
        p.end.mr.write(0, new)
        self.read(p, 1000, 4000)
        self.expect_read(p, 1000, new)
        self.read(p, 1002, 4000 - 2048, off=2048)
        self.expect_read(p, 1002, new[2048:])
        self.read(p, 1002, 4000)            # reaches beyond what was ever asked for
        p.silence()
        self.write(p, 1004, b"next")
        p.expect(roce.ACK, 1004, syndrome=ACK, msn=2)

    def test_duplicate_read_has_its_rights_checked(self):
        p = Peer(self.f)
        mr = Mr(p.end.nic, p.end.pd, 4096)
        p.send(roce.READ_REQUEST, 1000, va=mr.iova, rkey=mr.key, dma_len=8)
        p.expect(roce.READ_RESP_ONLY, 1000)
        mr.dereg()
        p.send(roce.READ_REQUEST, 1000, va=mr.iova, rkey=mr.key, dma_len=8)
        p.expect(roce.ACK, 1000, syndrome=NAK_ACCESS)
        self.assertEqual(p.end.state, abi.KIWI_QPS_RTS)
        self.write(p, 1001, b"alive")
        p.expect(roce.ACK, 1001, syndrome=ACK)

    def test_duplicate_atomics_run_once(self):
        p = Peer(self.f, max_rd=4)
        p.end.mr.write(0, bytes(16))
        for n in range(6):
            self.add(p, 1000 + n, 10)
            p.expect(roce.ATOMIC_ACK, 1000 + n, syndrome=ACK, msn=n + 1, orig=10 * n)
        self.add(p, 1006, 7, opcode=roce.CMP_SWAP, compare=60)
        p.expect(roce.ATOMIC_ACK, 1006, orig=60)
        for n in (5, 4, 3, 5):
            self.add(p, 1000 + n, 10)
            p.expect(roce.ATOMIC_ACK, 1000 + n, orig=10 * n)
        self.add(p, 1006, 7, opcode=roce.CMP_SWAP, compare=60)
        p.expect(roce.ATOMIC_ACK, 1006, orig=60)
        self.assertEqual(p.end.mr.read(0, 8), struct.pack("<Q", 7))

    def test_atomic_of_long_ago_is_not_answered(self):
        p = Peer(self.f, max_rd=2)
        for n in range(40):
            self.add(p, 1000 + n, 1)
            p.expect(roce.ATOMIC_ACK, 1000 + n, orig=n)
        self.add(p, 1000, 1)
        p.silence()
        self.assertEqual(p.end.mr.read(0, 8), struct.pack("<Q", 40))

    def test_answers_keep_their_order(self):
        p = Peer(self.f)
        data = self.rng.randbytes(3000)
        p.end.mr.write(0, data)
        frames = [p.frame(roce.READ_REQUEST, 1000, va=p.end.mr.iova, rkey=p.end.mr.key,
                          dma_len=3000),
                  p.frame(roce.WRITE_ONLY, 1003, b"w", va=p.end.mr.iova + 9000,
                          rkey=p.end.mr.key, dma_len=1, ack_req=1),
                  p.frame(roce.FETCH_ADD, 1004, va=p.end.mr.iova + 8000, rkey=p.end.mr.key,
                          swap_add=1, compare=0),
                  p.frame(roce.READ_REQUEST, 1005, va=p.end.mr.iova, rkey=p.end.mr.key,
                          dma_len=8)]
        for frame in frames:
            p.wire.send(frame)
        self.expect_read(p, 1000, data)
        p.expect(roce.ACK, 1003, msn=2)
        p.expect(roce.ATOMIC_ACK, 1004, msn=3)
        self.expect_read(p, 1005, data[:8])

    def test_rnr(self):
        """The packet is asked for again; those behind it are dropped without a word."""
        p = Peer(self.f, min_rnr=9)
        p.send(roce.SEND_ONLY, 1000, b"one", ack_req=1)
        p.expect(roce.ACK, 1000, syndrome=RNR | 9, msn=0)
        p.send(roce.SEND_ONLY, 1001, b"two", ack_req=1)
        p.silence()
        p.send(roce.SEND_ONLY, 1000, b"one", ack_req=1)
        p.expect(roce.ACK, 1000, syndrome=RNR | 9, msn=0)
        recv = p.end.recv(p.end.sge(0, 8))
        p.send(roce.SEND_ONLY, 1000, b"one", ack_req=1)
        p.expect(roce.ACK, 1000, syndrome=ACK, msn=1)
        p.end.recv_cqe(wr_id=recv)
        self.assertEqual(p.end.mr.read(0, 3), b"one")

    def test_rnr_of_write_with_immediate(self):
        """Nothing of the refused packet is placed; what came before stands."""
        p = Peer(self.f)
        mr = p.end.mr
        mr.write(0, bytes(2048))
        p.send(roce.WRITE_FIRST, 1000, b"\x11" * 1024, va=mr.iova, rkey=mr.key, dma_len=1030)
        p.send(roce.WRITE_LAST_IMM, 1001, b"\x22" * 6, imm=b"imm!", ack_req=1)
        p.expect(roce.ACK, 1001, syndrome=RNR | 1, msn=0)
        self.assertEqual(mr.read(0, 1030), b"\x11" * 1024 + bytes(6))
        p.end.recv()
        p.send(roce.WRITE_LAST_IMM, 1001, b"\x22" * 6, imm=b"imm!", ack_req=1)
        p.expect(roce.ACK, 1001, syndrome=ACK, msn=1)
        self.assertEqual(p.end.recv_cqe().byte_len, 1030)
        self.assertEqual(mr.read(0, 1030), b"\x11" * 1024 + b"\x22" * 6)

    def dies(self, p, psn, syndrome, event):
        p.expect(roce.ACK, psn, syndrome=syndrome)
        self.in_error(p.end)
        self.events(p.end.nic, (abi.KIWI_EV_QP_ACCESS, event, p.end.number))

    def test_malformed_requests(self):
        full, reth = bytes(1024), {}
        first_write = (roce.WRITE_FIRST, full, {"dma_len": 3000})
        cases = {
            "middle of nothing": [(roce.SEND_MIDDLE, full, {})],
            "last of nothing": [(roce.WRITE_LAST, b"x", {})],
            "first in a message": [(roce.SEND_FIRST, full, {}), (roce.SEND_FIRST, full, {})],
            "only in a message": [(roce.SEND_FIRST, full, {}), (roce.SEND_ONLY, b"", {})],
            "write in a send": [(roce.SEND_FIRST, full, {}), (roce.WRITE_MIDDLE, full, {})],
            "send in a write": [first_write, (roce.SEND_LAST, b"x", {})],
            "read in a message": [first_write, (roce.READ_REQUEST, b"", {"dma_len": 8})],
            "atomic in a message": [first_write, (roce.FETCH_ADD, b"",
                                                  {"swap_add": 1, "compare": 0})],
            "short first": [(roce.SEND_FIRST, full[1:], {})],
            "long first": [(roce.SEND_FIRST, full + b"1234", {})],
            "short middle": [(roce.SEND_FIRST, full, {}), (roce.SEND_MIDDLE, full[4:], {})],
            "empty last": [(roce.SEND_FIRST, full, {}), (roce.SEND_LAST, b"", {})],
            "long last": [(roce.SEND_FIRST, full, {}), (roce.SEND_LAST, full + b"1", {})],
            "long only": [(roce.SEND_ONLY, full + b"1", {})],
            "write shorter than RETH": [(roce.WRITE_ONLY, b"12", {"dma_len": 3})],
            "write longer than RETH": [(roce.WRITE_ONLY, b"12", {"dma_len": 1})],
            "first is all": [(roce.WRITE_FIRST, full, {"dma_len": 1024})],
            "middle is all": [(roce.WRITE_FIRST, full, {"dma_len": 2048}),
                              (roce.WRITE_MIDDLE, full, {})],
            "last is less": [(roce.WRITE_FIRST, full, {"dma_len": 1030}),
                             (roce.WRITE_LAST, b"12345", {})],
            "last is more": [(roce.WRITE_FIRST, full, {"dma_len": 1030}),
                             (roce.WRITE_LAST, b"1234567", {})],
            "write above the maximum": [(roce.WRITE_FIRST, full, {"dma_len": 0xffffffff})],
            "read above the maximum": [(roce.READ_REQUEST, b"", {"dma_len": 0x40000001})],
            "unaligned atomic": [(roce.CMP_SWAP, b"", {"va": 1, "swap_add": 0, "compare": 0})],
        }
        for name, packets in cases.items():
            with self.subTest(name):
                p = Peer(self.f)
                recvs = [p.end.recv(p.end.sge(0, 8192)) for _ in range(2)]
                for n, (opcode, payload, fields) in enumerate(packets):
                    reth = {"va": p.end.mr.iova, "rkey": p.end.mr.key, **fields}
                    p.send(opcode, 1000 + n, payload, **reth)
                self.dies(p, 1000 + len(packets) - 1, NAK_INVALID,
                          abi.KIWI_CQE_ST_REM_INV_REQ_ERR)
                for wr_id in recvs:
                    p.end.recv_cqe(FLUSH, wr_id)

    def test_too_many_reads(self):
        p = Peer(self.f, max_rd=0)
        self.read(p, 1000, 8)
        self.dies(p, 1000, NAK_INVALID, abi.KIWI_CQE_ST_REM_INV_REQ_ERR)
        p = Peer(self.f, max_rd=0)
        self.add(p, 1000, 8)
        self.dies(p, 1000, NAK_INVALID, abi.KIWI_CQE_ST_REM_INV_REQ_ERR)

    def test_pkey(self):
        p = Peer(self.f)
        self.write(p, 1000, b"x", pkey=0x7fff)
        p.expect(roce.ACK, 1000)
        self.write(p, 1001, b"x", pkey=0x8001)
        p.silence()

    def test_strangers_are_not_heard(self):
        """Wrong address, QP, type or state: dropped, counted, nothing changes."""
        p = Peer(self.f)
        waiting = Endpoint(self.f.nics[0])
        waiting.init()
        end, nic = p.end, p.end.nic
        good = dict(va=end.mr.iova, rkey=end.mr.key, dma_len=8, ack_req=1)
        stranger = roce.gid("10.0.0.200")
        frames = [
            p.frame(roce.WRITE_ONLY, 1000, bytes(8), sgid=stranger, **good),
            p.frame(roce.WRITE_ONLY, 1000, bytes(8), dgid=stranger, **good),
            p.frame(roce.WRITE_ONLY, 1000, bytes(8), dgid=nic.gid("ipv6"),
                    sgid=roce.gid("fd00::77"), **good),
            p.frame(roce.WRITE_ONLY, 1000, bytes(8), qpn=0, **good),
            p.frame(roce.WRITE_ONLY, 1000, bytes(8), qpn=1 << 23, **good),
            p.frame(roce.WRITE_ONLY, 1000, bytes(8), qpn=waiting.number, **good),
        ]
        before = nic.port_counters()
        for frame in frames:
            p.wire.send(frame)
        p.silence()
        after = nic.port_counters()
        self.assertEqual(after.rx_no_qp - before.rx_no_qp, len(frames))
        self.assertEqual(end.state, abi.KIWI_QPS_RTS)
        self.assertEqual(waiting.state, abi.KIWI_QPS_INIT)
        self.assertEqual(end.query().rq_psn, 1000)
        self.write(p, 1000, b"x", sport=0xffff)
        p.expect(roce.ACK, 1000, syndrome=ACK)

    def test_malformed_frames(self):
        """Every kind of damage is counted as what it is, and never changes a QP."""
        p = Peer(self.f)
        end = p.end
        end.mr.write(0, bytes(64))
        good = p.frame(roce.WRITE_ONLY, 1000, bytes(range(1, 31)), va=end.mr.iova,
                       rkey=end.mr.key, dma_len=30, ack_req=1)

        def changed(at, value, reseal=True):
            raw = bytearray(good)
            raw[at:at + len(value)] = value
            return roce.reseal(bytes(raw)) if reseal else bytes(raw)

        bth = 14 + 20 + 8
        icrc = [changed(len(good) - 1, bytes([good[-1] ^ 1]), False),
                changed(bth + 40, b"\xff", False)]
        malformed = [good[:n] for n in range(14 + 28, len(good))]
        malformed += [
            changed(bth, b"\x15"), changed(bth, b"\x81"), changed(bth, b"\xff"),
            changed(bth + 1, b"\x61"), changed(bth + 1, b"\x6f"),
            changed(14 + 20 + 4, struct.pack(">H", 40), False),
            changed(24, b"\0\0", False),
        ]
        not_roce = [good[:12] + b"\x81\x00\x00\x01" + good[12:], good[:12] + b"\x88\xb5" + good[14:]]
        before = end.nic.port_counters()
        for frame in icrc + malformed + not_roce:
            p.wire.send(frame)
        p.silence(0.3)
        after = end.nic.port_counters()
        self.assertEqual((after.rx_icrc_encapsulated - before.rx_icrc_encapsulated,
                          after.rx_malformed - before.rx_malformed,
                          after.rx_not_roce - before.rx_not_roce),
                         (len(icrc), len(malformed), len(not_roce)))
        self.assertEqual(end.query().rq_psn, 1000)
        self.assertEqual(end.mr.read(0, 64), bytes(64))
        p.wire.send(good)
        p.expect(roce.ACK, 1000, syndrome=ACK)
        self.assertEqual(end.mr.read(0, 30), bytes(range(1, 31)))

    def test_fuzz(self):
        """Frames damaged at random, with and without a fitting ICRC: the device lives,
        and no memory but the region changes."""
        rng = random.Random(5)
        guard = self.q.alloc(1 << 16)
        self.q.fill(guard, 1 << 16, 0x5a)
        victims, total = 0, 4000
        p = Peer(self.f, size=4096)
        other_a, other_b = self.f.pair()
        for n in range(total):
            opcode = rng.choice(roce.OPCODES)
            payload = b"" if opcode in roce.NO_PAYLOAD else rng.randbytes(rng.choice(
                (0, 1, 8, 63, 1024)))
            psn = (p.end.query().rq_psn if n % 16 == 0 else psn) + rng.choice((0, 0, 0, 1, -1))
            raw = bytearray(p.frame(
                opcode, psn % PSN, payload, va=p.end.mr.iova + rng.choice((0, 8, 4090)),
                rkey=p.end.mr.key, dma_len=rng.choice((len(payload), 0, 1 << 31)),
                swap_add=1, compare=0, syndrome=rng.getrandbits(8), msn=0, orig=0,
                imm=b"1234", ack_req=1))
            for _ in range(rng.randint(0, 4)):
                raw[rng.randrange(12, len(raw))] = rng.getrandbits(8)
            cut = bytes(raw[:rng.choice((len(raw), rng.randint(14, len(raw))))])
            if rng.random() < 0.7:
                try:
                    cut = roce.reseal(cut)
                except (IndexError, struct.error):
                    pass
            if len(cut) >= 14:
                p.wire.send(cut)
            if n % 50 == 49:
                while p.wire.receive(0):
                    pass
                if p.end.state == abi.KIWI_QPS_ERR:
                    victims += 1
                    p.end.destroy()
                    p = Peer(self.f, size=4096)
                self.f.nics[0].events()
        other_a.write(other_b.mr, other_a.sge(0, 4096))
        other_a.send_cqe()
        self.assertEqual(self.q.read(guard, 1 << 16), b"\x5a" * (1 << 16))
        self.assertGreater(victims, 0, "no frame got as far as the QP")
        self.assertLess(victims, total // 50)


if __name__ == "__main__":
    unittest.main()
