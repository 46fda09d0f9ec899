# SPDX-License-Identifier: GPL-2.0
"""What the diagnostic block says about DMA: kinds, targets, faults."""

import abi
from scenario import hosttest
from snicdev import (XPU_SLOT, Node, Refused, connected, pair, raddr, sge, wqe, SLOT)

SYSTEM, PEER, FAULT = abi.KIWI_DMA_SYSTEM, abi.KIWI_DMA_PEER, abi.KIWI_DMA_FAULT
NOWHERE = 1 << 50


class Dma:
    """By how much the DMA counters of a device rose."""

    def __init__(self, dev):
        self.dev = dev
        self.before = self.now()

    def now(self):
        return {(k, t): (self.dev.diag(abi.KIWI_DIAG_DMA(k, t, 0)),
                         self.dev.diag(abi.KIWI_DIAG_DMA(k, t, 1)))
                for k in range(abi.KIWI_DMA_KINDS) if k not in (abi.KIWI_DMA_ADMIN,
                                                                abi.KIWI_DMA_EQE)
                for t in range(abi.KIWI_DMA_TARGETS)}

    def expect(self, rise):
        now = self.now()
        rose = {key: (now[key][0] - self.before[key][0], now[key][1] - self.before[key][1])
                for key in now if now[key] != self.before[key]}
        assert rose == rise, f"{rose}, not {rise}"
        self.before = now


def write(qa, a, rkey, lkey, length, at=0):
    qa.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(at, rkey), sge(at, lkey, length)))
    qa.ring_sq()
    return a.cq.take()


@hosttest("model.dma.targets", covers=[13])
def targets(log):
    """Payload to and from system memory and a peer's BAR, told apart, and right."""
    with pair(more=[f"xpu,id=xpu0,addr={XPU_SLOT},vram-size=16M"], log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        vram = q.pci(XPU_SLOT).bar(2)
        system = q.alloc(1 << 16)
        q.write(vram, bytes(range(256)) * 256)
        from_vram = a.dev.reg_mr(a.pd, vram, 1 << 16)
        from_system = a.dev.reg_mr(a.pd, system, 1 << 16)
        to_vram = b.dev.reg_mr(b.pd, vram + (1 << 20), 1 << 16)
        to_system = b.dev.reg_mr(b.pd, system, 1 << 16)
        qa, _ = connected(a, b)
        sent, received = Dma(a.dev), Dma(b.dev)
        for lkey, source in ((from_vram, PEER), (from_system, SYSTEM)):
            for rkey, sink in ((to_vram, PEER), (to_system, SYSTEM)):
                assert write(qa, a, rkey, lkey, 16384).status == abi.KIWI_CQE_ST_OK
                sent.expect({(abi.KIWI_DMA_PAYLOAD_READ, source): (4, 16384),
                             (abi.KIWI_DMA_WQE, SYSTEM): (1, 64),
                             (abi.KIWI_DMA_CQE, SYSTEM): (1, 64)})
                received.expect({(abi.KIWI_DMA_PAYLOAD_WRITE, sink): (4, 16384)})
        assert q.read(vram + (1 << 20), 16384) == q.read(system, 16384) == \
            (bytes(range(256)) * 64)


@hosttest("model.dma.queues-in-vram")
def queues_in_vram(log):
    """Rings of an accelerator: WQE fetches and CQE writes go to the peer."""
    with pair(more=[f"xpu,id=xpu0,addr={XPU_SLOT},vram-size=16M"], log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        vram = q.pci(XPU_SLOT).bar(2)
        place = iter(range(vram, vram + (16 << 20), 1 << 16))
        system = q.alloc
        q.alloc = lambda size, align=4096: next(place)      # rings from here on
        cq = a.dev.create_cq(a.eq, a.page, 4)
        qa = a.dev.create_qp(a.pd, cq, a.page)
        q.alloc = system
        qb = b.qp()
        from snicdev import to_rts
        to_rts(qa, a, b, qb.number)
        to_rts(qb, b, a, qa.number)
        mem = q.alloc(4096)
        lkey, rkey = a.dev.reg_mr(a.pd, mem, 4096), b.dev.reg_mr(b.pd, mem, 4096)
        dma = Dma(a.dev)
        for _ in range(5):
            qa.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(0, rkey), sge(0, lkey, 64)))
        qa.ring_sq()
        for _ in range(5):
            assert cq.take().status == abi.KIWI_CQE_ST_OK
        dma.expect({(abi.KIWI_DMA_WQE, PEER): (1, 5 * 64), (abi.KIWI_DMA_CQE, PEER): (5, 5 * 64),
                    (abi.KIWI_DMA_PAYLOAD_READ, SYSTEM): (5, 5 * 64)})


@hosttest("model.dma.faults", covers=[10])
def faults(log):
    """Nowhere, beyond the width of addresses, the device's own BAR; and the errors they are."""
    with pair("dma-bits=46", log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        mem = q.alloc(8192)
        good, target = a.dev.reg_mr(a.pd, mem, 8192), b.dev.reg_mr(b.pd, mem, 8192)
        own = a.dev.doorbells + (a.page << 12)
        for address in (NOWHERE, (1 << 64) - 8192, (1 << 45), own, 0xd0000000):
            lost = a.dev.reg_mr(a.pd, address, 4096)
            dma = Dma(a.dev)
            qa, qb = connected(a, b)
            cqe = write(qa, a, target, lost, 64)
            assert (cqe.status, cqe.vendor_err) == (abi.KIWI_CQE_ST_LOC_PROT_ERR, 4), hex(address)
            dma.expect({(abi.KIWI_DMA_PAYLOAD_READ, FAULT): (1, 64),
                        (abi.KIWI_DMA_WQE, SYSTEM): (1, 64), (abi.KIWI_DMA_CQE, SYSTEM): (1, 64)})
            qa.destroy()
            qb.destroy()

            lost = b.dev.reg_mr(b.pd, address, 4096)
            dma = Dma(b.dev)
            qa, qb = connected(a, b)
            cqe = write(qa, a, lost, good, 64)
            if address == own:      # of the other device: a doorbell page, 64 writes dropped
                assert cqe.status == abi.KIWI_CQE_ST_OK
                dma.expect({(abi.KIWI_DMA_PAYLOAD_WRITE, PEER): (1, 64)})
            else:
                assert cqe.status == abi.KIWI_CQE_ST_REM_OP_ERR, hex(address)
                dma.expect({(abi.KIWI_DMA_PAYLOAD_WRITE, FAULT): (1, 64)})
                event = b.events.take()
                assert (event.type, event.id) == (abi.KIWI_EV_QP_ACCESS, qb.number)
            qa.destroy()
            qb.destroy()


@hosttest("model.dma.doorbell-by-peer")
def doorbell_by_peer(log):
    """An 8-byte DMA write of another device rings a doorbell, as a GPU does."""
    with pair(log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        value = q.alloc(4096)
        qb = b.qp()
        qa, _ = connected(a, b)
        # b's own QP, looped to nobody: a NOP completes without a peer
        from snicdev import to_rts
        to_rts(qb, b, a, 0x123)
        qb.put_wqe(wqe(abi.KIWI_WQE_NOP, wr_id=77))
        q.writeq(value, abi.KIWI_DB_VALUE(abi.KIWI_DB_SQ, qb.number, qb.epoch, 1))
        page = b.dev.doorbells + (b.page << 12)
        lkey = a.dev.reg_mr(a.pd, value, 4096)
        # a writes through the network card's own memory access: READ from b into b's doorbell
        bell = a.dev.reg_mr(a.pd, page, 4096)
        source = b.dev.reg_mr(b.pd, value, 4096)
        qa.put_wqe(wqe(abi.KIWI_WQE_READ, raddr(0, source), sge(0, bell, 8)))
        qa.ring_sq()
        assert a.cq.take().status == abi.KIWI_CQE_ST_OK
        assert b.cq.take().wr_id == 77
        assert b.dev.diag(abi.KIWI_DIAG_DB_ACCEPTED) == 1
        assert lkey


@hosttest("model.dma.bus-master")
def bus_master(log):
    """L-7: Bus Master Enable cleared stops all access."""
    with pair(log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        mem = q.alloc(4096)
        lkey, rkey = a.dev.reg_mr(a.pd, mem, 4096), b.dev.reg_mr(b.pd, mem, 4096)
        qa, _ = connected(a, b)
        write(qa, a, rkey, lkey, 64)
        a.dev.pci.bus_master(False)
        dma = Dma(a.dev)
        qa.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(0, rkey), sge(0, lkey, 64)))
        qa.ring_sq()
        q.settle()
        for (_, target), _ in {k: v for k, v in dma.now().items() if v != dma.before[k]}.items():
            assert target == FAULT
        a.dev.pci.bus_master(True)
        a.dev.reset()
        a.dev.start()
        assert a.dev.pci is q.pci(SLOT)
        try:
            qa.query()
        except Refused:
            pass
        else:
            raise AssertionError("a QP outlived the reset")
