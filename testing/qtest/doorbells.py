# SPDX-License-Identifier: GPL-2.0
"""Doorbell pages: D-1 to D-3, Q-2, Q-10; every way to be dropped."""

import collections
import random

import abi
from scenario import hosttest
from snicdev import Snic, cmd_id, machine, wqe

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


WQES = abi.KIWI_DIAG_DMA(abi.KIWI_DMA_WQE, abi.KIWI_DMA_SYSTEM, abi.KIWI_DMA_TRANSACTIONS)
RECORDS = abi.KIWI_DIAG_DMA(abi.KIWI_DMA_DB_RECORD, abi.KIWI_DMA_SYSTEM,
                            abi.KIWI_DMA_TRANSACTIONS)


class Churn:
    """Owners of doorbell pages that come and go, each with a page and a few queues."""

    PAGES = range(4)

    def __init__(self, q, chance):
        self.dev = dev = Snic(q)
        dev.start()
        self.chance, self.eq, self.pd = chance, dev.create_eq(), dev.alloc_pd()
        self.owners, self.gone = {}, []
        self.counts = Counts(dev)

    def come(self, page):
        """Each queue has work in its ring that nobody handed over."""
        dev = self.dev
        dev.open_page(page)
        cq = dev.create_cq(self.eq, page)
        qps = [dev.create_qp(self.pd, cq, page, flags=flags)
               for flags in (0, abi.KIWI_QP_DB_RECORD)]
        for qp in qps:
            qp.modify(abi.KIWI_QPS_INIT, port=1, access=0)
            qp.modify(abi.KIWI_QPS_ERR)         # a doorbell that acts shows by a CQE
            qp.put_wqe(wqe(abi.KIWI_WQE_NOP))
            qp.put_rqe(1)
            if qp.record is not None:
                dev.q.write(qp.record, b"\1\0\0\0" * 2)
        self.owners[page] = cq, qps

    def go(self, page):
        cq, qps = self.owners.pop(page)
        for qp in qps:
            qp.destroy()
            self.gone += [(page, kind, qp) for kind in (abi.KIWI_DB_SQ, abi.KIWI_DB_RQ)]
        cq.destroy()
        self.gone += [(page, kind, cq) for kind in (abi.KIWI_DB_CQ_ARM,
                                                    abi.KIWI_DB_CQ_ARM_SOLICITED)]
        self.dev.close_page(page)

    def fate(self, page, kind, number):
        """Which counter a late write is to show up in, by who is there now."""
        if page not in self.owners:
            return "CLOSED_PAGE"
        is_cq = kind in (abi.KIWI_DB_CQ_ARM, abi.KIWI_DB_CQ_ARM_SOLICITED)
        for where, (cq, qps) in self.owners.items():
            if number in ([cq.number] if is_cq else [qp.number for qp in qps]):
                return "OLD_EPOCH" if where == page else "OTHER_PAGE"
        return "NO_QUEUE"

    def late(self, count):
        """Writes of former owners, to their own page or as if they had kept another."""
        fates = collections.Counter()
        for _ in range(count):
            page, kind, queue = self.chance.choice(self.gone)
            if self.chance.random() < 0.2:
                page = self.chance.choice(self.PAGES)
            self.dev.ring(page, kind, queue.number, queue.epoch, self.chance.choice((0, 1, 8)))
            fates[self.fate(page, kind, queue.number)] += 1
        return fates

    def idle(self):
        """No queue of those that are there has done anything."""
        return not any(cq.ready() for cq, _ in self.owners.values())


@hosttest("model.doorbells.churn", covers=[26, 31])
def churn(log):
    """10,000 late writes, to pages closed and opened again, for numbers used again: none acts,
    each is counted as what it is."""
    with machine("max-qp=8,max-cq=4,db-pages=4", log=log) as q:
        bench = Churn(q, random.Random(3))
        dev, fates = bench.dev, collections.Counter()
        for page in bench.PAGES:
            bench.come(page)
            bench.go(page)
        for _ in range(200):
            page = bench.chance.choice(bench.PAGES)
            bench.go(page) if page in bench.owners else bench.come(page)
            fates += bench.late(50)
        assert sum(fates.values()) == 10000
        assert min(fates[name] for name in ("CLOSED_PAGE", "NO_QUEUE", "OTHER_PAGE",
                                            "OLD_EPOCH")) > 300, fates
        bench.counts.expect(**fates)
        q.settle()
        assert bench.idle() and not bench.eq.ready()
        assert dev.diag(WQES) == 0 and dev.diag(RECORDS) == 0
        # The queues that are there hear their own.
        assert bench.owners
        for cq, qps in bench.owners.values():
            for qp in qps:
                qp.ring_sq()
                assert cq.take().status == abi.KIWI_CQE_ST_WR_FLUSH_ERR
