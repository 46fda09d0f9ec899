# SPDX-License-Identifier: GPL-2.0
"""Event queues: E-1 to E-6 of spec/common.md."""

import abi
from scenario import hosttest
from snicdev import Snic, cmd_id, fields, machine

NOWHERE = 1 << 50


def inject(q, eq, count=1, first=0):
    """Has the device write events that name first, first + 1, ..."""
    for n in range(first, first + count):
        q.qom_set("snic0", "event", f"type=6,code=5,id={n},info={n + 100},eq={eq.number}")


@hosttest("model.events.ring")
def ring(log):
    """Contents, phases over several passes, and the counter."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.start()
        eq = dev.create_eq(abi.KIWI_EQ_ASYNC, log2=6)
        for n in range(200):
            inject(q, eq, first=n)
            event = eq.take()
            assert (event.type, event.code, event.id, event.info) == (6, 5, n, n + 100)
            assert event.flags & ~abi.KIWI_EQE_PHASE == 0
            if n % 50 == 0:
                assert eq.none()
            eq.tell(arm=False)
        assert dev.diag(abi.KIWI_DIAG_EQE_WRITTEN) == 200
        assert dev.diag(abi.KIWI_DIAG_EQE_LOST) == 0
        assert dev.diag(abi.KIWI_DIAG_MSIX_SENT) == 1       # the one of ENABLE
        kind = abi.KIWI_DMA_EQE, abi.KIWI_DMA_SYSTEM
        assert dev.diag(abi.KIWI_DIAG_DMA(*kind, abi.KIWI_DMA_TRANSACTIONS)) == 200
        assert dev.diag(abi.KIWI_DIAG_DMA(*kind, abi.KIWI_DMA_BYTES)) == 3200


@hosttest("model.events.overrun", covers=[27])
def overrun(log):
    """A full ring loses events, overwrites none, and says so in the next one."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.start()
        eq = dev.create_eq(abi.KIWI_EQ_ASYNC, log2=6)
        inject(q, eq, 70)
        assert dev.diag(abi.KIWI_DIAG_EQE_WRITTEN) == 64
        assert dev.diag(abi.KIWI_DIAG_EQE_LOST) == 6
        for n in range(64):
            event = eq.take()
            assert event.id == n and not event.flags & abi.KIWI_EQE_OVERRUN
        assert eq.none()
        inject(q, eq, first=500)            # not told yet: lost, too
        assert eq.none()
        eq.tell(arm=False, ci=1)            # room for one
        inject(q, eq, 2, first=600)
        event = eq.take()
        assert event.id == 600 and event.flags & abi.KIWI_EQE_OVERRUN
        eq.tell(arm=False)
        inject(q, eq, 2, first=700)
        assert eq.take().flags & abi.KIWI_EQE_OVERRUN        # 601 was lost
        assert not eq.take().flags & abi.KIWI_EQE_OVERRUN
        assert dev.diag(abi.KIWI_DIAG_EQE_LOST) == 8


@hosttest("model.events.arm", covers=[22, 24])
def arm(log):
    """One message an arm; at once when there is something to consume."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.start()
        dev.msi(0)
        eq = dev.create_eq(abi.KIWI_EQ_ASYNC, vector=5)
        inject(q, eq)
        assert not dev.msi(5)               # created disarmed
        eq.tell()
        assert dev.msi(5)                   # the event was there before
        inject(q, eq)
        assert not dev.msi(5)               # disarmed by the message
        eq.take()
        eq.tell(arm=False)
        assert not dev.msi(5)
        eq.tell()
        assert dev.msi(5)                   # the second one
        eq.take()
        eq.tell()
        assert not dev.msi(5)
        inject(q, eq)
        assert dev.msi(5)
        inject(q, eq)
        assert not dev.msi(5)
        # Indices that were passed or not reached change nothing.
        for ci in (1, 5, 1000, 0xffffff):
            eq.tell(ci=ci)
            assert not dev.msi(5), ci
        # Queues that do not exist
        for n in (1, 63, 64, 1023):
            dev.wr32(abi.KIWI_REG_EQ_DB(n), abi.KIWI_EQ_DB_ARM)
        assert all(not dev.msi(n) for n in range(8))


@hosttest("model.events.kinds")
def kinds(log):
    """One asynchronous queue; without one events vanish; numbers go round."""
    with machine("eq-count=4", log=log) as q:
        dev = Snic(q)
        dev.start()
        data = fields("kiwi_cmd_create_eq_in", base=q.alloc(4096), log2=6,
                      kind=abi.KIWI_EQ_ASYNC, vector=0)
        first = dev.ok_id(abi.KIWI_OP_CREATE_EQ, data)
        reply = dev.command(abi.KIWI_OP_CREATE_EQ, data, 8)
        assert (reply.status, reply.err_field) == (
            abi.KIWI_ST_BAD_STATE, abi.offset("kiwi_cmd_create_eq_in", "kind"))
        dev.destroy(abi.KIWI_OP_DESTROY_EQ, first)
        dev.ok(abi.KIWI_SNIC_OP_SET_PORT, fields("kiwi_snic_set_port_in", port=1, mtu=3))
        assert dev.diag(abi.KIWI_DIAG_EQE_WRITTEN) == 0
        assert dev.diag(abi.KIWI_DIAG_EQE_LOST) == 0
        numbers = []
        for _ in range(8):
            numbers.append(dev.ok_id(abi.KIWI_OP_CREATE_EQ, data))
            dev.destroy(abi.KIWI_OP_DESTROY_EQ, numbers[-1])
        assert sorted(numbers[:4]) == [0, 1, 2, 3] and numbers[:4] == numbers[4:]


@hosttest("model.events.busy", covers=[16])
def busy(log):
    """A queue that a CQ reports to stays."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.start()
        eq = dev.create_eq()
        cq = dev.create_cq(eq, dev.open_page(0))
        reply = dev.command(abi.KIWI_OP_DESTROY_EQ, cmd_id(eq.number))
        assert (reply.status, reply.err_field, reply.err_value) == (
            abi.KIWI_ST_BUSY, 0, eq.number)
        cq.destroy()
        eq.destroy()
        reply = dev.command(abi.KIWI_OP_DESTROY_EQ, cmd_id(eq.number))
        assert reply.status == abi.KIWI_ST_BAD_HANDLE


@hosttest("model.events.unreachable")
def unreachable(log):
    """A ring that cannot be written loses events and harms nothing else."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.start()
        dev.ok_id(abi.KIWI_OP_CREATE_EQ, fields(
            "kiwi_cmd_create_eq_in", base=NOWHERE, log2=6, kind=abi.KIWI_EQ_ASYNC, vector=0))
        q.qom_set("snic0", "event", "type=6,id=1")
        assert dev.diag(abi.KIWI_DIAG_EQE_LOST) == 1
        assert dev.diag(abi.KIWI_DIAG_EQE_WRITTEN) == 0
        assert dev.alloc_pd()
