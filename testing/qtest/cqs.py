# SPDX-License-Identifier: GPL-2.0
"""Completion queues: Q-20 to Q-23 of spec/queues.md, by NOPs that complete at once."""

import abi
from scenario import hosttest
from snicdev import Node, cmd_id, connected, fields, machine, pbl, sge, wqe, pair, to_rts

NOWHERE = 1 << 50
CI_READS = abi.KIWI_DIAG_DMA(abi.KIWI_DMA_CQ_CI, abi.KIWI_DMA_SYSTEM, abi.KIWI_DMA_TRANSACTIONS)
CQE_WRITES = abi.KIWI_DIAG_DMA(abi.KIWI_DMA_CQE, abi.KIWI_DMA_SYSTEM, abi.KIWI_DMA_TRANSACTIONS)


def ready(node, **options):
    """A QP of the node in RTS; its peer does not matter to NOPs."""
    qp = node.qp(**options)
    to_rts(qp, node, node, qp.number)
    return qp


def nops(qp, count, first=0, flags=abi.KIWI_WQE_SIGNALED):
    for n in range(first, first + count):
        qp.put_wqe(wqe(abi.KIWI_WQE_NOP, wr_id=n, flags=flags))
    qp.ring_sq()


@hosttest("model.cqs.ring", covers=[5])
def ring(log):
    """Contents and phases over many passes; the record is read when the ring is full only."""
    with machine(log=log) as q:
        node = Node(q, 0, cq_log2=3)
        dev, cq, qp = node.dev, node.cq, ready(node)
        for n in range(100):
            assert not cq.ready()
            nops(qp, 1, n)
            cqe = cq.take()
            assert (cqe.wr_id, cqe.qpn, cqe.status, cqe.opcode, cqe.vendor_err) == (
                n, qp.number, 0, abi.KIWI_CQE_NOP, 0)
            assert (cqe.sq_index, cqe.byte_len) == (n + 1, 0)
            assert not any(cqe.rsvd) and cqe.flags & ~abi.KIWI_CQE_PHASE == 0
            cq.publish()
        assert dev.diag(CQE_WRITES) == 100
        # By the last value read the ring is full every 8 entries.
        assert dev.diag(CI_READS) == (100 - 1) // 8
        nops(qp, 8)
        for _ in range(8):
            cq.take()
        assert cq.none()


@hosttest("model.cqs.overrun", covers=[39])
def overrun(log):
    """No room: error for good, events, the QPs that use it in ERR, nothing overwritten."""
    with machine(log=log) as q:
        node = Node(q, 0, cq_log2=2)
        dev, cq = node.dev, node.cq
        other_cq = dev.create_cq(node.eq, node.page)
        sender, sharer = ready(node), ready(node)
        receiver = dev.create_qp(node.pd, other_cq, node.page, recv_cq=cq)
        to_rts(receiver, node, node, 1)
        stranger = dev.create_qp(node.pd, other_cq, node.page)
        to_rts(stranger, node, node, 1)
        fresh = dev.create_qp(node.pd, cq, node.page)
        nops(sender, 6)
        told = [node.events.take() for _ in range(5)]
        assert (told[0].type, told[0].code, told[0].id) == (
            abi.KIWI_EV_CQ_ERROR, abi.KIWI_CQ_ERR_OVERRUN, cq.number)
        assert {(e.type, e.code, e.id) for e in told[1:]} == {
            (abi.KIWI_EV_QP_ERROR, abi.KIWI_CQE_ST_FATAL_ERR, qp.number)
            for qp in (sender, sharer, receiver, fresh)}
        assert node.events.none()
        assert [cq.take().wr_id for _ in range(4)] == [0, 1, 2, 3]
        cq.publish()
        nops(sharer, 2)
        assert cq.none(), "a CQE after the error"
        for qp in (sender, sharer, receiver):
            assert qp.query().state == abi.KIWI_QPS_ERR
        assert fresh.query().state == abi.KIWI_QPS_RESET
        assert stranger.query().state == abi.KIWI_QPS_RTS
        nops(stranger, 1, 9)
        assert other_cq.take().wr_id == 9
        reply = dev.command(abi.KIWI_SNIC_OP_CREATE_QP,
                            stranger.create_in(node.pd, other_cq.number, cq.number), 8)
        assert (reply.status, reply.err_field) == (
            abi.KIWI_ST_BAD_STATE, abi.offset("kiwi_snic_create_qp_in", "recv_cqn"))
        for qp in (sender, sharer, receiver, fresh):
            qp.destroy()
        cq.destroy()
        assert node.events.none()


@hosttest("model.cqs.garbage-record")
def garbage_record(log):
    """Consumer indices that cannot be are no room."""
    with machine(log=log) as q:
        node = Node(q, 0, cq_log2=2)
        for value in (0xffffffff, 5, 1 << 31):
            cq = node.dev.create_cq(node.eq, node.page, 2)
            qp = node.dev.create_qp(node.pd, cq, node.page)
            to_rts(qp, node, node, 1)
            q.writel(cq.base + (64 << 2), value)
            nops(qp, 5)
            event = node.events.take()
            assert (event.type, event.code) == (abi.KIWI_EV_CQ_ERROR, abi.KIWI_CQ_ERR_OVERRUN)
            node.events.take()
            assert not cq.ready() or [cq.take().wr_id for _ in range(4)] == [0, 1, 2, 3]


@hosttest("model.cqs.unreachable")
def unreachable(log):
    """A ring or record that cannot be reached: CQ_ERROR with code DMA."""
    with machine(log=log) as q:
        node = Node(q, 0)
        dev = node.dev
        good = q.alloc(8192)
        for pages, first in (([NOWHERE, good], 0), ([good, NOWHERE], 4)):
            out = dev.ok(abi.KIWI_SNIC_OP_CREATE_CQ, fields(
                "kiwi_snic_create_cq_in", pbl=pbl(pages), ci_offset=4096, length=4104,
                eqn=node.eq.number, db_page=node.page, log2=2), 8)
            number = int.from_bytes(out[:4], "little")
            qp = node.qp()
            qp.destroy()
            data = qp.create_in(node.pd, number, number)
            new = dev.ok(abi.KIWI_SNIC_OP_CREATE_QP, data, 8)
            qp.number, qp.epoch = (int.from_bytes(new[a:b], "little") for a, b in ((0, 4), (4, 6)))
            qp.sq_pi = 0
            to_rts(qp, node, node, 1)
            nops(qp, first + 1)
            event = node.events.take()
            assert (event.type, event.code, event.id) == (
                abi.KIWI_EV_CQ_ERROR, abi.KIWI_CQ_ERR_DMA, number)
            event = node.events.take()
            assert (event.type, event.id) == (abi.KIWI_EV_QP_ERROR, qp.number)


@hosttest("model.cqs.arm")
def arm(log):
    """One event an arm, at once if a CQE at or beyond the index exists."""
    with machine(log=log) as q:
        node = Node(q, 0, cq_log2=4)
        cq, qp, eq = node.cq, ready(node), node.eq

        def event():
            e = eq.take()
            eq.tell(arm=False)
            return e.type == abi.KIWI_EV_COMPLETION and e.id == cq.number
        nops(qp, 1)
        cq.take()
        assert eq.none()            # created disarmed
        cq.arm(index=0)
        assert event()              # the CQE of index 0 exists
        assert eq.none()
        cq.arm()
        assert eq.none()
        nops(qp, 3)
        assert event() and eq.none()
        cq.arm(index=1)
        cq.arm(index=1)             # replaces; the first may have fired
        assert event()
        if not eq.none():
            assert event()
        for _ in range(3):
            cq.take()
        cq.publish()
        cq.arm(index=3)
        assert event()
        cq.arm()
        cq.arm(solicited=True)      # replaces: successes of NOP do not count
        nops(qp, 2)
        assert eq.none()
        cq.arm(index=cq.ci)         # replaces again
        assert event()


@hosttest("model.cqs.solicited")
def solicited(log):
    """ARM_SOLICITED: only solicited CQEs and errors."""
    with pair(log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        qa, qb = connected(a, b)
        mem = q.alloc(4096)
        ka, kb = a.dev.reg_mr(a.pd, mem, 4096), b.dev.reg_mr(b.pd, mem, 4096)

        def send(flags):
            qb.put_rqe(1, (0, kb, 64))
            qb.ring_rq()
            qa.put_wqe(wqe(abi.KIWI_WQE_SEND, sge(0, ka, 8),
                           flags=abi.KIWI_WQE_SIGNALED | flags))
            qa.ring_sq()
            assert a.cq.take().status == abi.KIWI_CQE_ST_OK
            return b.cq.take()
        b.cq.arm(solicited=True)
        assert not send(0).flags & abi.KIWI_CQE_SOLICITED
        assert b.eq.none()
        assert send(abi.KIWI_WQE_SOLICITED).flags & abi.KIWI_CQE_SOLICITED
        assert b.eq.take().id == b.cq.number
        send(abi.KIWI_WQE_SOLICITED)
        assert b.eq.none()
        b.cq.arm(solicited=True)        # from the index consumed: nothing yet
        assert b.eq.none()
        b.cq.arm(solicited=True, index=b.cq.ci - 1)     # the one before is solicited
        assert b.eq.take().id == b.cq.number
        b.cq.arm(solicited=True, index=b.cq.ci - 3)
        assert b.eq.take().id == b.cq.number
        b.cq.arm(solicited=True)
        qb.put_rqe(2, (0, kb, 64))
        qb.ring_rq()
        qb.modify(abi.KIWI_QPS_ERR)
        assert b.cq.take().status == abi.KIWI_CQE_ST_WR_FLUSH_ERR
        assert b.eq.take().id == b.cq.number


@hosttest("model.cqs.destroy", covers=[26, 30])
def destroy(log):
    """After the reply there is no write and no event, whatever was outstanding."""
    with machine(log=log) as q:
        node = Node(q, 0, cq_log2=6)
        for _ in range(20):
            cq = node.dev.create_cq(node.eq, node.page, 6)
            qp = node.dev.create_qp(node.pd, cq, node.page)
            to_rts(qp, node, node, 1)
            cq.arm()
            nops(qp, 32)
            qp.destroy()
            cq.destroy()
            before = q.read(cq.base, 64 << 6)
            events = node.dev.diag(abi.KIWI_DIAG_EQE_WRITTEN)
            q.settle(0.005)
            assert q.read(cq.base, 64 << 6) == before
            assert node.dev.diag(abi.KIWI_DIAG_EQE_WRITTEN) == events
        assert node.dev.command(abi.KIWI_SNIC_OP_DESTROY_CQ, cmd_id(cq.number)).status == \
            abi.KIWI_ST_BAD_HANDLE
