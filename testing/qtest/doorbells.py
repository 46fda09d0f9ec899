# SPDX-License-Identifier: GPL-2.0
"""Doorbell pages: D-1 to D-3, Q-2, Q-10; every way to be dropped."""

import abi
from scenario import hosttest
from snicdev import Snic, cmd_id, machine

DROPS = {name: getattr(abi, "KIWI_DIAG_DB_" + name) for name in (
    "ACCEPTED", "CLOSED_PAGE", "MALFORMED", "NO_QUEUE", "OTHER_PAGE", "OLD_EPOCH", "BAD_INDEX")}


class Counts:
    """What the doorbell counters rose by."""

    def __init__(self, dev):
        self.dev = dev
        self.before = self.now()

    def now(self):
        return {name: self.dev.diag(index) for name, index in DROPS.items()}

    def expect(self, **rise):
        now = self.now()
        rose = {n: now[n] - self.before[n] for n in now if now[n] != self.before[n]}
        assert rose == rise, f"{rose}, not {rise}"
        self.before = now


class Bench:
    def __init__(self, q, **options):
        self.dev = dev = Snic(q)
        dev.start()
        self.eq = dev.create_eq()
        self.pages = [dev.open_page(1), dev.open_page(2)]
        self.pd = dev.alloc_pd()
        self.cq = dev.create_cq(self.eq, 1)
        self.qp = dev.create_qp(self.pd, self.cq, 1, **options)
        self.counts = Counts(dev)


@hosttest("model.doorbells.drops", covers=[6, 31])
def drops(log):
    """Page, width, offset, value, queue, epoch."""
    with machine(log=log) as q:
        bench = Bench(q)
        dev, qp, counts = bench.dev, bench.qp, bench.counts
        qp.modify(abi.KIWI_QPS_INIT, port=1, access=0)
        good = abi.KIWI_DB_VALUE(abi.KIWI_DB_SQ, qp.number, qp.epoch, 1)
        page = dev.doorbells + (1 << 12)

        for closed in (0, 3, 4095):
            q.writeq(dev.doorbells + (closed << 12), good)
            q.writeb(dev.doorbells + (closed << 12) + 5, 1)
        counts.expect(CLOSED_PAGE=6)

        q.writel(page, 1)
        q.writew(page, 1)
        q.writeb(page, 1)
        q.writeq(page + 4, good)
        q.writeq(page + 8, good)
        q.writeq(page + 0xff8, good)
        for bit in (60, 61, 62, 63):
            q.writeq(page, good | 1 << bit)
        for kind in (0, 5, 15):
            dev.ring(1, kind, qp.number, qp.epoch, 1)
        counts.expect(MALFORMED=13)

        for kind in (abi.KIWI_DB_SQ, abi.KIWI_DB_RQ):
            for number in (0, qp.number + 1, 0xffffff):
                dev.ring(1, kind, number, qp.epoch, 1)
            dev.ring(2, kind, qp.number, qp.epoch, 1)
            for wrong in (0, qp.epoch + 1, qp.epoch ^ 0x8000):
                dev.ring(1, kind, qp.number, wrong & 0xffff, 1)
        counts.expect(NO_QUEUE=6, OTHER_PAGE=2, OLD_EPOCH=6)
        for kind in (abi.KIWI_DB_CQ_ARM, abi.KIWI_DB_CQ_ARM_SOLICITED):
            dev.ring(1, kind, bench.cq.number + 1, bench.cq.epoch, 0)
            dev.ring(2, kind, bench.cq.number, bench.cq.epoch, 0)
            dev.ring(1, kind, bench.cq.number, bench.cq.epoch ^ 1, 0)
            # An index ahead of the producer, or behind all that the ring holds
            dev.ring(1, kind, bench.cq.number, bench.cq.epoch, 1)
            dev.ring(1, kind, bench.cq.number, bench.cq.epoch, 0xffff - 16)
        counts.expect(NO_QUEUE=2, OTHER_PAGE=2, OLD_EPOCH=2, BAD_INDEX=4)

        assert q.readq(page) == 0 and q.readl(page + 64) == 0
        q.writeq(page, good)
        counts.expect(ACCEPTED=1)


@hosttest("model.doorbells.index", covers=[6])
def index(log):
    """Repeated, merged, skipped, behind, beyond the ring, over the wrap of 16 bits."""
    with machine(log=log) as q:
        bench = Bench(q, sq_log2=3, rq_log2=2)
        qp, counts = bench.qp, bench.counts
        qp.ring_sq(1)
        qp.ring_rq(1)
        counts.expect(BAD_INDEX=2)      # RESET holds nothing
        qp.modify(abi.KIWI_QPS_INIT, port=1, access=0)
        for ring, size in ((qp.ring_sq, 8), (qp.ring_rq, 4)):
            ring(0)
            ring(2)
            ring(2)
            counts.expect(ACCEPTED=3)
            ring(1)                     # behind
            ring(0)
            ring(0xffff)
            ring(size + 1)              # more than the ring has room for
            ring(0x8000)
            counts.expect(BAD_INDEX=5)
            ring(size)                  # full
            ring(size)
            counts.expect(ACCEPTED=2)
            ring(size + 1)
            counts.expect(BAD_INDEX=1)
        qp.modify(abi.KIWI_QPS_RESET)
        qp.ring_sq(8)
        counts.expect(BAD_INDEX=1)
        qp.modify(abi.KIWI_QPS_INIT, port=1, access=0)
        qp.ring_sq(8)
        qp.ring_rq(4)
        counts.expect(ACCEPTED=2)       # indices are 0 again


@hosttest("model.doorbells.pages", covers=[4, 31])
def pages(log):
    """Pages are opened once, not closed while in use, and dead when closed."""
    with machine("db-pages=8", log=log) as q:
        bench = Bench(q)
        dev, counts = bench.dev, bench.counts

        def close(page):
            return dev.command(abi.KIWI_OP_CLOSE_DB_PAGE, cmd_id(page)).status
        assert close(1) == abi.KIWI_ST_BUSY
        bench.qp.destroy()
        assert close(1) == abi.KIWI_ST_BUSY
        bench.cq.destroy()
        assert close(1) == abi.KIWI_ST_OK
        assert close(1) == abi.KIWI_ST_BAD_STATE
        bench.cq.arm()
        counts.expect(CLOSED_PAGE=1)
        dev.open_page(1)
        assert dev.command(abi.KIWI_OP_OPEN_DB_PAGE, cmd_id(1)).status == abi.KIWI_ST_BAD_STATE
        bench.cq.arm()
        counts.expect(NO_QUEUE=1)
        for page in (0, 3, 4, 5, 6, 7):
            dev.open_page(page)
        assert dev.diag(abi.KIWI_DIAG_LIVE_DB_PAGE) == 8
        dev.reset()
        bench.cq.arm()
        counts.expect(CLOSED_PAGE=1)
        assert dev.diag(abi.KIWI_DIAG_LIVE_DB_PAGE) == 0


@hosttest("model.doorbells.page-shift")
def page_shift(log):
    """Pages of 64 KiB: the register is at their start only."""
    with machine("db-pages=16,db-page-shift=16", log=log) as q:
        dev = Snic(q)
        dev.start()
        dev.open_page(15)
        counts = Counts(dev)
        value = abi.KIWI_DB_VALUE(abi.KIWI_DB_SQ, 1, 1, 1)
        q.writeq(dev.doorbells + (15 << 16), value)
        q.writeq(dev.doorbells + (15 << 16) + 4096, value)
        q.writeq(dev.doorbells + (14 << 16), value)
        counts.expect(NO_QUEUE=1, MALFORMED=1, CLOSED_PAGE=1)


@hosttest("model.doorbells.late", covers=[26, 31])
def late(log):
    """A write for a queue that is gone does nothing to the next one of its number."""
    with machine("max-qp=1,max-cq=1", log=log) as q:
        bench = Bench(q)
        dev = bench.dev
        old, old_cq = bench.qp, bench.cq
        old.destroy()
        old_cq.destroy()
        cq = dev.create_cq(bench.eq, 1)
        qp = dev.create_qp(bench.pd, cq, 1)
        assert (qp.number, cq.number) == (old.number, old_cq.number)
        qp.modify(abi.KIWI_QPS_INIT, port=1, access=0)
        old.ring_sq(1)
        old.ring_rq(1)
        old_cq.arm()
        bench.counts.expect(OLD_EPOCH=3)
        qp.ring_sq(1)
        cq.arm()
        bench.counts.expect(ACCEPTED=2)
