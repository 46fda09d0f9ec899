# SPDX-License-Identifier: GPL-2.0
"""RC transport: what the host does wrong, and what the peer may not do."""

import struct

from rc import ALL_REMOTE, Endpoint, Mr, NOWHERE, abi, show, snicdev
from rc_case import FLUSH, FabricCase, OK, SIGNALED, tests


@tests("local-errors")
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
        a, b = self.f.pair(nowhere=["sq"])
        a.sq_pi = 3
        a.ring_sq()
        cqe = a.send_cqe(abi.KIWI_CQE_ST_FATAL_ERR, wr_id=0)
        self.assertEqual((cqe.vendor_err, cqe.sq_index), (4, 3))
        self.in_error(a)
        self.assertTrue(a.idle())
        self.assertEqual(b.state, abi.KIWI_QPS_RTS)

    def test_receive_queue_that_cannot_be_read(self):
        a, b = self.f.pair(nowhere=["rq"])
        a.rq_pi = 2
        a.ring_rq()
        b.send(b.sge(0, 8))
        cqe = a.recv_cqe(abi.KIWI_CQE_ST_FATAL_ERR, wr_id=0)
        self.assertEqual((cqe.vendor_err, cqe.sq_index), (4, 2))
        b.send_cqe(abi.KIWI_CQE_ST_REM_OP_ERR)
        self.in_error(a)

    def test_rings_that_cannot_be_read_are_flushed(self):
        end = Endpoint(self.f.nics[0], nowhere=("sq", "rq"))
        end.init()
        end.modify(abi.KIWI_QPS_ERR)
        for n in (3, 5):
            end.sq_pi = end.rq_pi = n
            end.ring_sq()
            end.ring_rq()
            for cqe in (end.send_cqe(abi.KIWI_CQE_ST_FATAL_ERR, 0),
                        end.recv_cqe(abi.KIWI_CQE_ST_FATAL_ERR, 0)):
                self.assertEqual((cqe.vendor_err, cqe.sq_index), (4, n))
        self.assertTrue(end.idle())

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


@tests("remote-errors")
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
