# SPDX-License-Identifier: GPL-2.0
"""RC transport: what each operation does."""

import struct

from rc import Cq, Endpoint, abi, connect, show, snicdev
from rc_case import FabricCase, OK, SIGNALED, each_connection, tests


@tests("operations")
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

    @each_connection()
    def test_inline(self, _, a, b):
        limit = a.nic.caps().max_inline
        for size in (0, 1, 12, 13, 255, 256, 257, limit):
            data = self.data(size)
            a.write_inline(b.mr, data, off=32)
            a.send_cqe()
            self.assertEqual(b.mr.read(32, size), data)
            b.recv(b.sge(1024, limit))
            a.send_inline(data)
            a.send_cqe()
            self.assertEqual(b.recv_cqe().byte_len, size)
            self.assertEqual(b.mr.read(1024, size), data)

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

    @each_connection(mtus=(4096,), size=8 << 20)
    def test_large_messages(self, _, a, b):
        """Many windows of packets, each way of each operation."""
        size = (4 << 20) + 5
        before = [nic.port_counters().retransmitted for nic in self.f.nics]
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
        self.assertEqual([nic.port_counters().retransmitted for nic in self.f.nics], before)

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

    def test_part_of_a_wqe_waits_for_the_rest(self):
        a, b = self.f.pair()
        a.mr.write(0, self.data(600))
        wr_id = a.write(b.mr, *[a.sge(100 * n, 100) for n in range(6)], ring=False)   # two units
        a.ring_sq(1)
        self.assertTrue(a.idle())
        a.ring_sq(2)
        a.send_cqe(wr_id=wr_id)
        self.assertEqual(b.mr.read(0, 600), a.mr.read(0, 600))

    def test_no_frame_is_lost_where_there_is_no_room(self):
        """More frames than a port holds: the senders wait."""
        cqs = [Cq(nic, 13) for nic in self.f.nics]
        pds = [nic.alloc_pd() for nic in self.f.nics]
        pairs = []
        for _ in range(32):
            pairs.append([Endpoint(nic, pd=pd, send_cq=cq, recv_cq=cq, rq_log2=7, rq_stride=5)
                          for nic, pd, cq in zip(self.f.nics, pds, cqs)])
            connect(pairs[-1])
        before = [nic.port_counters() for nic in self.f.nics]
        for a, b in pairs:
            for n in range(64):
                a.put_wqe(snicdev.wqe(abi.KIWI_WQE_SEND_IMM if n % 2 else abi.KIWI_WQE_SEND))
                b.recv(ring=False)
        for a, b in pairs:
            b.ring_rq()
            a.ring_sq()
        for _ in range(32 * 64):
            self.assertEqual(cqs[0].next().status, OK)
        after = [nic.port_counters() for nic in self.f.nics]
        for x, y in zip(before, after):
            self.assertEqual((y.retransmitted, y.out_of_sequence, y.duplicate_request),
                             (x.retransmitted, x.out_of_sequence, x.duplicate_request))

    def test_repeated_doorbells_do_nothing(self):
        a, b = self.f.pair()
        b.mr.write(0, bytes(8))
        a.fetch_add(b.mr, a.sge(0, 8), 1)
        for _ in range(5):
            a.ring_sq()
        a.send_cqe()
        self.assertTrue(a.idle())
        self.assertEqual(b.mr.read(0, 8), struct.pack("<Q", 1))
