# SPDX-License-Identifier: GPL-2.0
"""Queues for GPU code: Q-24, Q-25, Q-30 and Q-31 of spec/queues.md."""

import abi
from cqs import CI_READS, CQE_WRITES, nops
from dma import Dma
from doorbells import Counts
from scenario import hosttest
from snicdev import (XPU_SLOT, Cq, Node, Qp, connected, machine, pair, pbl, raddr, sge, to_rts,
                     unpack, wqe)

NOWHERE = 1 << 50
IGNORE = abi.KIWI_CQ_OVERRUN_IGNORE
LATEST = abi.KIWI_CQ_OVERRUN_IGNORE | abi.KIWI_CQ_COLLAPSED
SQ_ONLY, DB_RECORD = abi.KIWI_QP_SQ_ONLY, abi.KIWI_QP_DB_RECORD
OK, FLUSH = abi.KIWI_CQE_ST_OK, abi.KIWI_CQE_ST_WR_FLUSH_ERR
FATAL, PROT = abi.KIWI_CQE_ST_FATAL_ERR, abi.KIWI_CQE_ST_LOC_PROT_ERR


def record_reads(dev, target=abi.KIWI_DMA_SYSTEM, what=abi.KIWI_DMA_TRANSACTIONS):
    return dev.diag(abi.KIWI_DIAG_DMA(abi.KIWI_DMA_DB_RECORD, target, what))


def refused(dev, opcode, name, good, status, field, limit=None, **change):
    """A command with some fields changed is refused, for this field."""
    record = unpack(name, good)
    for path, value in change.items():
        target = record
        *outer, last = path.split("__")
        for part in outer:
            target = getattr(target, part)
        setattr(target, last, value)
    reply = dev.command(opcode, bytes(record), 8)
    assert (reply.status, reply.err_field) == (status, abi.offset(name, field)), (change, reply)
    assert limit is None or reply.err_limit == limit, (change, reply)


#
# Completion queues
#

def refused_cq(cq, status, field, limit=None, **change):
    refused(cq.dev, abi.KIWI_SNIC_OP_CREATE_CQ, "kiwi_snic_create_cq_in",
            cq.create_in(cq.eqn), status, field, limit, **change)


def cq_of(node, log2, flags):
    cq = node.dev.create_cq(node.eq, node.page, log2, flags)
    cq.eqn = node.eq.number
    return cq


@hosttest("model.gpuqueues.overrun-ignore", covers=[39])
def overrun_ignore(log):
    """CQEs take the place of the oldest for ever; no record is read, no error raised."""
    with machine(log=log) as q:
        node = Node(q, 0)
        dev, cq = node.dev, cq_of(node, 2, IGNORE)
        refused_cq(cq, abi.KIWI_ST_BAD_RESERVED, "ci_offset", 0, ci_offset=256)
        refused_cq(cq, abi.KIWI_ST_BAD_PARAM, "length", 256, length=255)
        qp = dev.create_qp(node.pd, cq, node.page)
        to_rts(qp, node, node, 1)
        for last in (13, 16, 50):
            nops(qp, last - qp.sq_pi, qp.sq_pi)
            q.until(lambda: dev.diag(CQE_WRITES) == last, "CQEs")    # pylint: disable=W0640
            for n in range(last - 4, last):
                cqe = unpack("kiwi_cqe", q.read(cq.base + 64 * (n % 4), 64))
                assert (cqe.wr_id, cqe.sq_index, cqe.status) == (n, n + 1, OK)
                assert cqe.flags == (abi.KIWI_CQE_PHASE if not n // 4 & 1 else 0)
        assert q.read(cq.base + 256, 64) == bytes(64)
        assert dev.diag(CI_READS) == 0 and node.events.none()
        assert qp.query().state == abi.KIWI_QPS_RTS

        # An index of ARM is bad when it is ahead of the 50 written only.
        counts = Counts(dev)
        for index in (51, 1000, 50 + 0x7fff):
            cq.arm(index=index)
        counts.expect(BAD_INDEX=3)
        assert node.eq.none()
        for index in (49, 46, 40, 0, 50 - 0x7fff, 50 - 0x8000):
            cq.arm(index=index)
            assert node.eq.take().id == cq.number, index
            node.eq.tell(arm=False)
        cq.arm(index=50)
        counts.expect(ACCEPTED=7)
        assert node.eq.none()
        nops(qp, 1)
        assert node.eq.take().id == cq.number
        qp.destroy()
        cq.destroy()


@hosttest("model.gpuqueues.collapsed", covers=[39])
def collapsed(log):
    """One entry that holds the latest CQE, and nothing beside it is written."""
    with machine(log=log) as q:
        node = Node(q, 0)
        dev, cq = node.dev, cq_of(node, 0, LATEST)
        refused_cq(cq, abi.KIWI_ST_BAD_RESERVED, "log2", 0, log2=1)
        refused_cq(cq, abi.KIWI_ST_BAD_RESERVED, "ci_offset", 0, ci_offset=64)
        refused_cq(cq, abi.KIWI_ST_BAD_PARAM, "length", 64, length=63)
        refused_cq(cq, abi.KIWI_ST_BAD_PARAM, "pbl.offset", 64, pbl__offset=32)
        # It needs OVERRUN_IGNORE, and so has a record without.
        refused_cq(cq, abi.KIWI_ST_BAD_PARAM, "flags", LATEST, flags=abi.KIWI_CQ_COLLAPSED)
        cq.destroy()

        page = q.alloc(4096)
        q.fill(page, 4096, 0xee)
        q.fill(page + 128, 64)
        cq.base = page + 128
        out = unpack("kiwi_snic_queue_out", dev.ok(
            abi.KIWI_SNIC_OP_CREATE_CQ, cq.create_in(cq.eqn), 8))
        cq.number, cq.epoch = out.number, out.epoch
        qp = dev.create_qp(node.pd, cq, node.page)
        to_rts(qp, node, node, 1)
        assert not cq.latest().flags
        for n in range(1, 200):
            nops(qp, 1, n)
            q.until(lambda: cq.latest().sq_index == n, "CQE")       # pylint: disable=W0640
            cqe = cq.latest()
            assert (cqe.wr_id, cqe.qpn, cqe.status, cqe.opcode, cqe.flags) == (
                n, qp.number, OK, abi.KIWI_CQE_NOP, abi.KIWI_CQE_PHASE)
            assert not any(cqe.rsvd)
        nops(qp, 5, 500, flags=0)       # not signalled: nothing is written
        nops(qp, 1, 600)
        q.until(lambda: cq.latest().wr_id == 600, "CQE")
        assert cq.latest().sq_index == 205
        assert dev.diag(CQE_WRITES) == 200 and dev.diag(CI_READS) == 0
        assert dev.diag(CQE_WRITES + 1) == 200 * 64
        assert q.read(page, 128) == b"\xee" * 128
        assert q.read(page + 192, 4096 - 192) == b"\xee" * (4096 - 192)
        assert node.events.none()


@hosttest("model.gpuqueues.collapsed-errors", covers=[39])
def collapsed_errors(log):
    """The first error of a queue stays; what is flushed behind it counts, and is not written."""
    with machine(log=log) as q:
        node = Node(q, 0)
        dev, cq = node.dev, cq_of(node, 0, LATEST)
        key = dev.reg_mr(node.pd, q.alloc(4096), 4096)

        def latest(sq_index, status):
            q.until(lambda: (cq.latest().sq_index, cq.latest().status) == (sq_index, status),
                    f"CQE {sq_index} with {status}: {cq.latest().sq_index}, {cq.latest().status}")
            return cq.latest()

        def new():
            qp = dev.create_qp(node.pd, cq, node.page)
            to_rts(qp, node, node, 1)
            return qp
        qp = new()
        nops(qp, 3)
        qp.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(0, key), sge(4090, key, 8), wr_id=77))
        nops(qp, 5)
        assert latest(4, PROT).vendor_err == 2
        q.settle()
        assert latest(4, PROT).wr_id == 77 and dev.diag(CQE_WRITES) == 4
        # 3 good ones, the error and 5 flushed were written, as far as arming goes.
        counts = Counts(dev)
        cq.arm(index=10)
        counts.expect(BAD_INDEX=1)
        cq.arm(index=8)
        assert node.eq.take().id == cq.number
        cq.arm(index=9, solicited=True)
        assert node.eq.none()
        nops(qp, 1)                     # flushed: an error, if not one that is written
        assert node.eq.take().id == cq.number
        latest(4, PROT)
        qp.destroy()
        # A CQE of success takes its place, another error too.
        qp = new()
        nops(qp, 2)
        latest(2, OK)
        qp.modify(abi.KIWI_QPS_ERR)
        nops(qp, 3)
        latest(5, FLUSH)                # no other error: the latest of those flushed
        nops(qp, 1)
        latest(6, FLUSH)
        qp.destroy()
        qp = new()
        qp.put_wqe(wqe(abi.KIWI_WQE_READ, raddr(0, key), sge(0, key ^ 1, 8)))
        qp.ring_sq()
        assert latest(1, PROT).vendor_err == 1
        qp.destroy()
        qp = new()
        qp.put_wqe(wqe(abi.KIWI_WQE_OPCODE_COUNT))
        qp.ring_sq()
        latest(1, abi.KIWI_CQE_ST_LOC_QP_OP_ERR)
        assert node.events.none()


@hosttest("model.gpuqueues.unreachable")
def unreachable(log):
    """A ring of either kind that cannot be written: CQ_ERROR with code DMA, as ever."""
    with machine(log=log) as q:
        node = Node(q, 0)
        for log2, flags in ((2, IGNORE), (0, LATEST)):
            cq = node.dev.create_cq(node.eq, node.page, log2, flags)
            data = unpack("kiwi_snic_create_cq_in", cq.create_in(node.eq.number))
            data.pbl = pbl([NOWHERE])
            cq.destroy()
            out = unpack("kiwi_snic_queue_out", node.dev.ok(
                abi.KIWI_SNIC_OP_CREATE_CQ, bytes(data), 8))
            cq.number = out.number
            qp = node.dev.create_qp(node.pd, cq, node.page)
            to_rts(qp, node, node, 1)
            nops(qp, 2)
            event = node.events.take()
            assert (event.type, event.code, event.id) == (
                abi.KIWI_EV_CQ_ERROR, abi.KIWI_CQ_ERR_DMA, cq.number)
            assert node.events.take().id == qp.number
            node.events.tell()
            assert qp.query().state == abi.KIWI_QPS_ERR


#
# Doorbell records
#

@hosttest("model.gpuqueues.record", covers=[6])
def record(log):
    """The index stands in the record; doorbells are merged, repeated, and bad as without."""
    with machine(log=log) as q:
        node = Node(q, 0)
        dev, cq = node.dev, node.cq
        qp = dev.create_qp(node.pd, cq, node.page, flags=DB_RECORD, sq_log2=3, rq_log2=2)
        good = qp.create_in(node.pd, cq.number, cq.number, DB_RECORD)
        for low in (1, 2, 4, 7):
            refused(dev, abi.KIWI_SNIC_OP_CREATE_QP, "kiwi_snic_create_qp_in", good,
                    abi.KIWI_ST_BAD_PARAM, "db_record", 8, db_record=qp.record + low)
        counts = Counts(dev)
        qp.ring_sq(1)
        qp.ring_rq(1)
        counts.expect(BAD_INDEX=2)              # RESET holds nothing
        q.settle()
        assert record_reads(dev) == 0, "CREATE_QP or RESET reads the record"
        q.write(qp.record, bytes(8))
        to_rts(qp, node, node, 1)

        def run(count, rings=1, high=0):
            """Hands over NOPs, which are done, by some doorbells of the same kind."""
            for n in range(count):
                qp.put_wqe(wqe(abi.KIWI_WQE_NOP, wr_id=n))
            reads = record_reads(dev)
            for _ in range(rings):
                qp.ring_sq(qp.sq_pi | high << 16)
            assert [cq.take().wr_id for _ in range(count)] == list(range(count))
            cq.publish()
            assert cq.none()
            counts.expect(ACCEPTED=rings)
            assert reads < record_reads(dev) <= reads + rings
        run(1)
        run(5)                                  # merged
        run(2, rings=4)                         # repeated
        run(3, high=0xabcd)                     # only 16 bits count
        assert record_reads(dev, what=abi.KIWI_DMA_BYTES) == 8 * record_reads(dev)

        def bad(ring, index):
            before = record_reads(dev)
            ring(index)
            q.until(lambda: record_reads(dev) > before, "read of the record")
            q.settle()
            counts.expect(ACCEPTED=1, BAD_INDEX=1)
        for index in (qp.sq_pi - 1, qp.sq_pi + 9, qp.sq_pi + 0x8000, 0xffff):
            bad(qp.ring_sq, index)
        assert cq.none()
        qp.ring_rq(1)
        q.until(lambda: counts.now()["ACCEPTED"] > counts.before["ACCEPTED"], "doorbell")
        q.settle()
        counts.expect(ACCEPTED=1)
        for index in (0, 5, 0x8001):
            bad(qp.ring_rq, index)
        q.writel(qp.record, qp.sq_pi)
        run(8)                                  # the bad ones changed nothing

        # Page, queue and epoch count as without a record.
        before = record_reads(dev)
        dev.ring(node.page, abi.KIWI_DB_SQ, qp.number, qp.epoch ^ 1, 0)
        dev.ring(node.page, abi.KIWI_DB_SQ, qp.number + 1, qp.epoch, 0)
        dev.ring(dev.open_page(9), abi.KIWI_DB_RQ, qp.number, qp.epoch, 0)
        q.settle()
        counts.expect(OLD_EPOCH=1, NO_QUEUE=1, OTHER_PAGE=1)
        assert record_reads(dev) == before


@hosttest("model.gpuqueues.record-wraps", covers=[6])
def record_wraps(log):
    """The largest ring, round and round: the index counts modulo 2^16."""
    with machine(log=log) as q:
        node = Node(q, 0)
        cq = node.dev.create_cq(node.eq, node.page, 0, LATEST)
        qp = node.dev.create_qp(node.pd, cq, node.page, flags=DB_RECORD, sq_log2=15)
        to_rts(qp, node, node, 1)
        silent = wqe(abi.KIWI_WQE_NOP, flags=0).ljust(64, b"\0")
        for at in range(0, 1 << 15, 1 << 12):
            q.write(qp.sq + 64 * at, silent * (1 << 12))
        q.write(qp.sq + 64 * 0x7fff, wqe(abi.KIWI_WQE_NOP))
        for lap in range(1, 7):
            qp.ring_sq(lap << 15)
            q.until(lambda: node.dev.diag(CQE_WRITES) == lap, "lap")    # pylint: disable=W0640
            assert cq.latest().sq_index == lap << 15 & 0xffff
        assert node.dev.diag(abi.KIWI_DIAG_DB_BAD_INDEX) == 0


@hosttest("model.gpuqueues.record-states", covers=[6])
def record_states(log):
    """In INIT for the receive queue, in RTR for work to come, in ERR for flushing; after
    DESTROY_QP no more."""
    with pair(log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        mem = q.alloc(4096)
        ka, kb = a.dev.reg_mr(a.pd, mem, 4096), b.dev.reg_mr(b.pd, mem + 2048, 2048)
        q.write(mem, b"by the record")
        qa, qb = a.qp(flags=DB_RECORD), b.qp(flags=DB_RECORD)
        qb.modify(abi.KIWI_QPS_INIT, port=1, access=0)
        qb.put_rqe(5, (0, kb, 64))
        qb.ring_rq()                            # in INIT, which to_rts() repeats
        q.until(lambda: record_reads(b.dev) == 1, "read in INIT")
        av = dict(dmac=a.mac, dgid=a.gid, dest_qpn=qa.number, mtu=5, rq_psn=0x100,
                  max_dest_rd_atomic=1, min_rnr_timer=1)
        qb.modify(abi.KIWI_QPS_RTR, **av)
        qb.put_wqe(wqe(abi.KIWI_WQE_SEND, sge(0, kb, 4), wr_id=6))
        qb.ring_sq()                            # in RTR
        q.until(lambda: record_reads(b.dev) == 2, "read in RTR")
        to_rts(qa, a, b, qb.number)
        qa.put_rqe(7, (1024, ka, 64))
        qa.ring_rq()
        qa.put_wqe(wqe(abi.KIWI_WQE_SEND, sge(0, ka, 13)))
        qa.ring_sq()
        assert a.cq.take().status == OK and b.cq.take().wr_id == 5
        assert q.read(mem + 2048, 13) == b"by the record"
        assert b.cq.none()
        qb.modify(abi.KIWI_QPS_RTS, sq_psn=0x100, timeout=14, retry_cnt=7, rnr_retry=7,
                  max_rd_atomic=1)
        assert b.cq.take().wr_id == 6 and a.cq.take().wr_id == 7
        qb.modify(abi.KIWI_QPS_ERR)
        qb.put_wqe(wqe(abi.KIWI_WQE_NOP, wr_id=8))
        qb.put_rqe(9)
        qb.ring_sq()
        qb.ring_rq()
        got = [b.cq.take() for _ in range(2)]
        assert [(c.wr_id, c.status) for c in got] == [(8, FLUSH), (9, FLUSH)]
        for _ in range(20):
            qa.ring_sq()
            qa.ring_rq()
            qa.destroy()
            before = record_reads(a.dev)
            q.settle(0.003)
            assert record_reads(a.dev) == before, "a read after DESTROY_QP"
            qa = a.qp(flags=DB_RECORD)
            qa.modify(abi.KIWI_QPS_INIT, port=1, access=0)


@hosttest("model.gpuqueues.record-late", covers=[6])
def record_late(log):
    """Read after the doorbell, however late: what was changed meanwhile counts; RESET forgets."""
    with pair("link-mbps=1", log=log) as q:     # the engine stands while the link is busy
        a, b = Node(q, 0), Node(q, 1)
        mem = q.alloc(1 << 16)
        ka, kb = a.dev.reg_mr(a.pd, mem, 1 << 16), b.dev.reg_mr(b.pd, mem, 1 << 16)
        busy, _ = connected(a, b, {"timeout": 0})
        cq = a.dev.create_cq(a.eq, a.page)

        def make_busy():
            """What is posted now has its turn in 240 ms, behind another WRITE."""
            for size in (30000, 8):
                busy.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(0, kb), sge(0, ka, size)))
                busy.ring_sq()
                if size > 8:
                    assert a.cq.take().status == OK

        def new():
            qp = a.dev.create_qp(a.pd, cq, a.page, flags=DB_RECORD)
            to_rts(qp, a, b, 1)
            return qp
        qp = new()
        make_busy()
        before = record_reads(a.dev)
        for n in range(3):
            qp.put_wqe(wqe(abi.KIWI_WQE_NOP, wr_id=n))
            if n != 1:
                qp.ring_sq()                    # the second goes along with the third
        q.writel(qp.record, 2)
        assert not a.cq.ready(), "the link was not busy"
        assert [cq.take().wr_id for _ in range(2)] == [0, 1]
        assert cq.none() and record_reads(a.dev) == before + 1
        a.cq.take()

        qp = new()
        make_busy()
        qp.put_wqe(wqe(abi.KIWI_WQE_NOP, wr_id=9))
        qp.ring_sq()
        qp.modify(abi.KIWI_QPS_RESET)
        to_rts(qp, a, b, 1)
        assert not a.cq.ready(), "the link was not busy"
        assert a.cq.take().status == OK
        assert cq.none() and record_reads(a.dev) == before + 1, "a doorbell from before RESET"
        qp.ring_sq()
        assert cq.take().wr_id == 9


@hosttest("model.gpuqueues.record-fault", covers=[6])
def record_fault(log):
    """A record that cannot be read is a ring that cannot be read."""
    with pair(log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        key = a.dev.reg_mr(a.pd, q.alloc(4096), 4096)

        def connect(**record):
            qa, qb = a.qp(), b.qp(flags=DB_RECORD, **record)
            to_rts(qa, a, b, qb.number)
            to_rts(qb, b, a, qa.number)
            return qa, qb

        def ring(qp, kind):
            b.dev.ring(b.page, kind, qp.number, qp.epoch, 3)

        def fatal():
            cqe = b.cq.take()
            assert (cqe.status, cqe.wr_id, cqe.vendor_err, cqe.sq_index) == (FATAL, 0, 4, 0)
            return cqe.opcode & 0x80
        for nowhere in (NOWHERE, (1 << 64) - 8):
            faults = record_reads(b.dev, abi.KIWI_DMA_FAULT)
            qa, qb = connect(record=nowhere)
            ring(qb, abi.KIWI_DB_SQ)
            assert not fatal() and b.cq.none()
            assert qb.query().state == abi.KIWI_QPS_ERR
            assert record_reads(b.dev, abi.KIWI_DMA_FAULT) == faults + 1
            for kind, side in ((abi.KIWI_DB_SQ, 0), (abi.KIWI_DB_RQ, 0x80)):
                ring(qb, kind)                  # flushed: what it was cannot be known
                assert fatal() == side and b.cq.none()
            qa.destroy()
            qb.destroy()

            # Of the receive queue: the message that needs an entry meets it.
            qa, qb = connect(record=nowhere)
            ring(qb, abi.KIWI_DB_RQ)
            assert b.cq.none() and qb.query().state == abi.KIWI_QPS_RTS
            qa.put_wqe(wqe(abi.KIWI_WQE_SEND, sge(0, key, 8)))
            qa.ring_sq()
            assert a.cq.take().status == abi.KIWI_CQE_ST_REM_OP_ERR
            assert fatal() and qb.query().state == abi.KIWI_QPS_ERR
            qa.destroy()
            qb.destroy()
            assert a.events.none() and b.events.none()

        # Both at once, one read: before RTR the fault waits for the queue to be needed.
        qb = b.qp(flags=DB_RECORD, record=NOWHERE)
        qb.modify(abi.KIWI_QPS_INIT, port=1, access=0)
        ring(qb, abi.KIWI_DB_SQ)
        ring(qb, abi.KIWI_DB_RQ)
        assert b.cq.none()
        qb.modify(abi.KIWI_QPS_ERR)
        assert {fatal(), fatal()} == {0, 0x80} and b.cq.none()
        # RESET forgets a fault with the rest.
        qb.modify(abi.KIWI_QPS_RESET)
        qb.modify(abi.KIWI_QPS_INIT, port=1, access=0)
        ring(qb, abi.KIWI_DB_SQ)
        assert b.cq.none()
        qb.modify(abi.KIWI_QPS_RESET)
        qb.modify(abi.KIWI_QPS_ERR)
        assert b.cq.none()


#
# No receive queue
#

@hosttest("model.gpuqueues.sq-only", covers=[6])
def sq_only(log):
    """No field of the receive queue, no doorbell for it, no CQ of it."""
    with machine(log=log) as q:
        node = Node(q, 0)
        dev, other = node.dev, node.dev.create_cq(node.eq, node.page)
        for flags in (SQ_ONLY, SQ_ONLY | DB_RECORD):
            qp = dev.create_qp(node.pd, node.cq, node.page, recv_cq=other, flags=flags)
            good = qp.create_in(node.pd, node.cq.number, other.number, flags)
            for field, value, blamed in (
                    ("recv_cqn", other.number, "recv_cqn"), ("rq_log2", 1, "rq_log2"),
                    ("rq_stride", 6, "rq_stride"), ("rq__count", 1, "rq"),
                    ("rq__page_shift", 12, "rq"), ("rq__offset", 4096, "rq")):
                refused(dev, abi.KIWI_SNIC_OP_CREATE_QP, "kiwi_snic_create_qp_in", good,
                        abi.KIWI_ST_BAD_RESERVED, blamed, **{field: value})
            refused(dev, abi.KIWI_SNIC_OP_CREATE_QP, "kiwi_snic_create_qp_in", good,
                    abi.KIWI_ST_BAD_HANDLE, "send_cqn", send_cqn=0)
            to_rts(qp, node, node, 1)
            reads, counts = record_reads(dev), Counts(dev)
            for index in (0, 1, 0x8000):
                qp.ring_rq(index)
            q.settle()
            counts.expect(BAD_INDEX=3)
            assert record_reads(dev) == reads
            nops(qp, 2)
            assert [node.cq.take().wr_id for _ in range(2)] == [0, 1]
            node.cq.publish()
            qp.modify(abi.KIWI_QPS_ERR)
            nops(qp, 1)
            assert node.cq.take().status == FLUSH and node.cq.none()
            qp.destroy()
        # A CQ that is in error ends a QP by its send queue alone.
        other.destroy()
        small = dev.create_cq(node.eq, node.page, 1)
        qp = dev.create_qp(node.pd, small, node.page, flags=SQ_ONLY)
        to_rts(qp, node, node, 1)
        nops(qp, 3)
        assert node.events.take().id == small.number
        assert node.events.take().id == qp.number
        dev.create_qp(node.pd, node.cq, node.page, flags=SQ_ONLY)
        dev.reset()
        assert dev.diag(abi.KIWI_DIAG_LIVE_QP) == 0


@hosttest("model.gpuqueues.in-vram")
def in_vram(log):
    """All that GPU code looks at in its own memory: the device reaches nothing else but for it."""
    with machine(more=[f"xpu,id=xpu0,addr={XPU_SLOT},vram-size=16M"], log=log) as q:
        node = Node(q, 0)
        place = iter(range(q.pci(XPU_SLOT).bar(abi.XPU_BAR_VRAM), 1 << 63, 1 << 16))

        def alloc(_size, _align=4096):
            return next(place)
        cq = Cq(node.dev, node.eq, node.page, 0, LATEST, alloc=alloc)
        qp = Qp(node.dev, node.pd, cq, node.page, flags=SQ_ONLY | DB_RECORD, alloc=alloc)
        to_rts(qp, node, node, 1)
        dma = Dma(node.dev)
        nops(qp, 5, 60)
        q.until(lambda: cq.latest().sq_index == 5, "CQE")
        peer = abi.KIWI_DMA_PEER
        dma.expect({(abi.KIWI_DMA_DB_RECORD, peer): (1, 8), (abi.KIWI_DMA_WQE, peer): (1, 5 * 64),
                    (abi.KIWI_DMA_CQE, peer): (5, 5 * 64)})
        assert (cq.latest().wr_id, cq.latest().flags) == (64, abi.KIWI_CQE_PHASE)


@hosttest("model.gpuqueues.relaxed")
def relaxed(log):
    """RELAXED is no right: it gives none, and takes none away."""
    with pair(log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        mem = q.alloc(8192)
        q.write(mem, bytes(range(64)))
        every = abi.KIWI_ACCESS_ALL | abi.KIWI_ACCESS_RELAXED
        ka = a.dev.reg_mr(a.pd, mem, 4096, access=every)
        kb = b.dev.reg_mr(b.pd, mem + 4096, 4096, access=every)
        none = b.dev.reg_mr(b.pd, mem + 4096, 4096, access=abi.KIWI_ACCESS_RELAXED)
        reply = b.dev.command(abi.KIWI_SNIC_OP_REG_MR, b.dev.reg_mr_in(
            b.pd, mem, 4096, access=abi.KIWI_ACCESS_RELAXED | abi.KIWI_ACCESS_REMOTE_WRITE), 8)
        assert reply.status == abi.KIWI_ST_BAD_PARAM    # remote write needs local write
        qa, qb = connected(a, b)
        for key, status in ((kb, OK), (none, abi.KIWI_CQE_ST_REM_ACCESS_ERR)):
            qa.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(0, key), sge(0, ka, 64)))
            qa.ring_sq()
            assert a.cq.take().status == status
        assert q.read(mem + 4096, 64) == bytes(range(64))
        reply = qb.try_modify(abi.KIWI_QPS_INIT, port=1, access=abi.KIWI_ACCESS_RELAXED)
        assert reply.status == abi.KIWI_ST_BAD_RESERVED     # not for a QP
