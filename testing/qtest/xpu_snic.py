# SPDX-License-Identifier: GPL-2.0
"""Kernels of xpu that talk to each other through two SNICs: queues and data in VRAM,
doorbells from device to device, no driver in the path.
"""

import random
import struct
import unittest

import abi
from rc import PAGE, SLOT, Cq, Endpoint, Fabric, connect
from rc_case import tests
from snicdev import fields
from xpu_case import CONTEXT, DONE, NONE, Exec, cmd, failed, peer

PUT, GET, QUIET, WAIT = abi.XPU_OP_PUT, abi.XPU_OP_GET, abi.XPU_OP_QUIET, abi.XPU_OP_WAIT
MORE, MERGE, ADD = abi.XPU_CMD_MORE, abi.XPU_CMD_MERGE, abi.XPU_CMD_ADD
LATEST = abi.KIWI_CQ_OVERRUN_IGNORE | abi.KIWI_CQ_COLLAPSED
PUT_SIGNAL = abi.XPU_OP_PUT_SIGNAL
SIZE = 1 << 18              # bytes of a region


class Gpu(Exec):
    """A device, and queues of the SNIC beside it."""

    def __init__(self, fabric, n):
        super().__init__(fabric.q, SLOT + 2 + n)
        self.nic = fabric.nics[n]
        self.queues = 0
        self.pages = 0
        self.doorbell(0, self.nic.doorbells + (PAGE << 12), 4096)

    def endpoint(self, latest=False, **more):
        """A QP in VRAM with a region there; latest: its completion queue is collapsed."""
        if latest:
            more["send_cq"] = Cq(self.nic, 0, self.alloc, LATEST)
        return Endpoint(self.nic, size=SIZE, alloc=self.alloc, **more)

    def adopt(self, end, context=CONTEXT):
        """Works the send queue of an endpoint; returns the number of the queue."""
        n, cq = self.queues, end.send_cq
        self.queues += 1
        assert self.queue(
            n, ring=self.offset(end.sq), count=1 << end.sq_log2, cq=self.offset(cq.base),
            cq_count=1 << cq.log2,
            cq_record=self.offset(cq.base) + cq.record if cq.record else NONE,
            cq_owner=abi.XPU_OWNER_COUNTER if cq.flags & abi.KIWI_CQ_COLLAPSED else
            abi.XPU_OWNER_PHASE,
            record=NONE if end.record is None else self.offset(end.record),
            db_value=abi.KIWI_DB_VALUE(abi.KIWI_DB_SQ, end.number, end.epoch, 0),
            db_offset=abi.KIWI_DB_REG, context=context, max_inline=64)
        return n

    def whole(self, mr):
        """All of a region as a buffer of a kernel."""
        return self.range(mr.addr, mr.size)


class Case(unittest.TestCase):
    """Two xpus, each beside a SNIC; tests share the machine and make their own queues."""

    QUEUES = {}             # of all endpoints

    @classmethod
    def setUpClass(cls):
        cls.f = Fabric(more=[f"xpu,id=xpu{n},addr={SLOT + 2 + n}" for n in range(2)])
        cls.q = cls.f.q
        cls.gpus = [Gpu(cls.f, n) for n in range(2)]
        cls.rng = random.Random(11)

    @classmethod
    def tearDownClass(cls):
        cls.f.close()

    def pair(self, **more):
        """Two endpoints that are connected, and the queue of the first."""
        ends = [gpu.endpoint(**{**self.QUEUES, **more}) for gpu in self.gpus]
        connect(ends)
        return *ends, self.gpus[0].adopt(ends[0])

    def place(self, a, b, off=0, to=0, size=0):
        """Fields of a command that moves bytes between two regions."""
        return dict(laddr=a.mr.iova + off, lkey=a.mr.key, raddr=b.mr.iova + to, rkey=b.mr.key,
                    length=size)

    def random(self, mr, off, size):
        data = self.rng.randbytes(size)
        mr.write(off, data)
        return data


@tests("snic", "model.xpu")
class OneToOne(Case):
    """From one to the other."""

    def test_put(self):
        """Bytes of many sizes; no completion is due but that of the doorbell."""
        a, b, n = self.pair()
        gpu = self.gpus[0]
        before = gpu.count(abi.XPU_CNT_DOORBELLS)
        sizes = (0, 1, 8, 1023, 4096, 70000)
        for i, size in enumerate(sizes):
            data = self.random(a.mr, 3, size)
            self.assertEqual(gpu.run([
                cmd(PUT, queue=n, **self.place(a, b, 3, 5, size)), cmd(QUIET, queue=n)]), DONE)
            self.assertEqual(b.mr.read(4, size + 2), b"\0" + data + b"\0")
            b.mr.write(4, bytes(size + 2))
        self.assertEqual(gpu.count(abi.XPU_CNT_DOORBELLS) - before, len(sizes))

    def test_signal(self):
        """A signal, written or added, comes after the data: the far kernel relies on it."""
        a, b, n = self.pair()
        for add in (0, ADD):
            signal = dict(sig_raddr=b.mr.iova, sig_rkey=b.mr.key, sig_laddr=a.mr.iova + 8)
            data = self.random(a.mr, 64, 50000)
            b.mr.write(0, bytes(60000))
            for value in (5, 9):
                self.gpus[1].begin([cmd(WAIT, value=value if not add or value == 5 else 14),
                                    cmd(abi.XPU_OP_STORE, offset=8, value=value)],
                                   buffers=[self.gpus[1].whole(b.mr)])
                self.q.settle()
                self.assertTrue(self.gpus[1].running())
                self.assertEqual(self.gpus[0].run([
                    cmd(PUT_SIGNAL, queue=n, flags=add, value=value, **signal,
                        **self.place(a, b, 64, 64, 50000)), cmd(QUIET, queue=n)]), DONE)
                self.assertEqual(self.gpus[1].ended(), DONE)
            self.assertEqual(b.mr.read(64, 50000), data)
            self.assertEqual(struct.unpack("<QQ", b.mr.read(0, 16)), (14 if add else 9, 9))
            if add:
                self.assertEqual(struct.unpack("<Q", a.mr.read(8, 8)), (5,))

    def test_get_and_atomics(self):
        a, b, n = self.pair()
        data = self.random(b.mr, 100, 30000)
        b.mr.write(0, struct.pack("<Q", 1000))
        self.assertEqual(self.gpus[0].run([
            cmd(GET, queue=n, **self.place(a, b, 200, 100, 30000)),
            cmd(abi.XPU_OP_FETCH_ADD, queue=n, value=7, **self.place(a, b)),
            cmd(abi.XPU_OP_FENCE, queue=n),
            # what came is sent back: only right behind the fence
            cmd(PUT, queue=n, **self.place(a, b, 200, 40000, 30000)),
            cmd(PUT, queue=n, **self.place(a, b, 0, 16, 8)),
            cmd(QUIET, queue=n)]), DONE)
        self.assertEqual(a.mr.read(200, 30000), data)
        self.assertEqual(b.mr.read(40000, 30000), data)
        self.assertEqual(struct.unpack("<QQQ", b.mr.read(0, 24)), (1007, 0, 1000))

    def test_many(self):
        """More than the ring holds, with and without a doorbell for each."""
        a, b, n = self.pair(sq_log2=3, cq_log2=2)
        gpu = self.gpus[0]
        for flags in (0, MORE):
            b.mr.write(0, bytes(8))
            before = gpu.count(abi.XPU_CNT_DOORBELLS), gpu.count(abi.XPU_CNT_WQES)
            self.assertEqual(gpu.run([
                cmd(abi.XPU_OP_REPEAT, count=1000),
                cmd(abi.XPU_OP_FETCH_ADD, queue=n, flags=flags, value=1, step=1,
                    **self.place(a, b)),
                cmd(abi.XPU_OP_END), cmd(QUIET, queue=n)]), DONE)
            self.assertEqual(struct.unpack("<Q", b.mr.read(0, 8))[0], 1000 * 1001 // 2)
            doorbells = gpu.count(abi.XPU_CNT_DOORBELLS) - before[0]
            self.assertEqual(doorbells, 125 if flags else 1000)
            self.assertEqual(gpu.count(abi.XPU_CNT_WQES) - before[1], 1000)

    def test_threads(self):
        """Sixteen threads on four queues, two of them at each queue's far end word."""
        gpu = self.gpus[0]
        ends = [self.pair() for _ in range(4)]
        threads = [[cmd(abi.XPU_OP_REPEAT, count=50),
                    cmd(abi.XPU_OP_FETCH_ADD, queue=n, value=t + 1, **self.place(a, b)),
                    cmd(abi.XPU_OP_END), cmd(QUIET, queue=n)]
                   for t in range(16) for a, b, n in [ends[t % 4]]]
        self.assertEqual(gpu.run(*threads), DONE)
        for i, (_, b, _) in enumerate(ends):
            self.assertEqual(struct.unpack("<Q", b.mr.read(0, 8))[0],
                             50 * sum(t + 1 for t in range(i, 16, 4)))

    def test_errors(self):
        """A bad key ends the kernel; a doorbell for a queue that is gone does nothing."""
        gpu = self.gpus[0]
        a, b, n = self.pair()
        bad = self.place(a, b, size=8) | dict(rkey=b.mr.key ^ 0x5a5a)
        self.assertEqual(
            gpu.run([cmd(PUT, queue=n, **bad), cmd(QUIET, queue=n)]),
            failed(abi.XPU_FAULT_COMPLETION, 1, detail=abi.KIWI_CQE_ST_REM_ACCESS_ERR))

        a, b, n = self.pair()
        a.destroy()
        lost = a.nic.diag(abi.KIWI_DIAG_DB_NO_QUEUE)
        self.assertEqual(
            gpu.run([cmd(PUT, queue=n, **self.place(a, b, size=8)),
                     cmd(QUIET, queue=n, timeout_us=10000)]),
            failed(abi.XPU_FAULT_TIMEOUT, 1))
        self.assertEqual(a.nic.diag(abi.KIWI_DIAG_DB_NO_QUEUE), lost + 1)


@tests("gpuqueues", "model.xpu")
class GpuQueues(OneToOne):
    """The same with queues made for it: send-only, with a record, one latest completion."""

    QUEUES = dict(latest=True, flags=abi.KIWI_QP_SQ_ONLY | abi.KIWI_QP_DB_RECORD)


class Ranks:
    """Several ranks on the two devices, each connected to each, each with one region."""

    def __init__(self, case, count):
        self.case, self.count = case, count
        self.gpu = [case.gpus[r % 2] for r in range(count)]
        pd = {gpu: gpu.nic.alloc_pd() for gpu in case.gpus}
        ends = {}
        for r in range(count):
            for s in range(count):
                if r != s:
                    ends[r, s] = self.gpu[r].endpoint(pd=pd[self.gpu[r]])
        for r in range(count):
            for s in range(r):
                connect([ends[r, s], ends[s, r]])
        # a region of a rank is that of its first endpoint
        self.mr = [ends[r, (r + 1) % count].mr for r in range(count)]
        self.queue = {pair: self.gpu[pair[0]].adopt(end) for pair, end in ends.items()}

    def buffer(self, r):
        return self.gpu[r].whole(self.mr[r])

    def table(self, r, off, sig_off):
        """Rank r's table of peers; off and sig_off are functions of the peer."""
        return b"".join(
            peer(abi.XPU_PEER_NONE) if s == r else
            peer(self.queue[r, s], self.mr[s], off(s), sig_off=sig_off(s))
            for s in range(self.count))

    def run(self, commands):
        """One kernel for each rank, all at a time."""
        for r in range(self.count):
            self.gpu[r].begin(commands(r), buffers=[self.buffer(r)], kernel=r // 2)
        for r in range(self.count):
            self.case.assertEqual(self.gpu[r].ended(r // 2), DONE, f"rank {r}")


TABLE, SIGNALS, SEND, RECEIVE = 0, 4096, 16384, 131072


@tests("collectives", "model.xpu")
class Collectives(Case):
    """Among several ranks."""

    def alltoall(self, flags):
        ranks, size = Ranks(self, 5), 3000
        data = [self.random(mr, SEND, 5 * size) for mr in ranks.mr]
        for r, mr in enumerate(ranks.mr):
            mr.write(TABLE, ranks.table(r, lambda s, r=r: RECEIVE + r * size,
                                        lambda s, r=r: SIGNALS + (0 if flags & ADD else 8 * r)))
            if not flags & ADD:
                mr.write(SIGNALS + 8 * r, struct.pack("<Q", 1))     # from itself: nothing comes
        before = [gpu.count(abi.XPU_CNT_DOORBELLS) for gpu in self.gpus]

        def commands(r):
            signals = dict(value=4) if flags & ADD else dict(value=1, count=5)
            return [cmd(abi.XPU_OP_ALLTOALL, flags=flags, offset=TABLE, count=5, value=1,
                        laddr=ranks.mr[r].iova + SEND, lkey=ranks.mr[r].key, length=size,
                        sig_laddr=ranks.mr[r].iova + SIGNALS + 1024),
                    cmd(WAIT, offset=SIGNALS, **signals),
                    *(cmd(QUIET, queue=ranks.queue[r, s]) for s in range(5) if s != r)]
        ranks.run(commands)
        for r, mr in enumerate(ranks.mr):
            for s in range(5):
                want = data[s][r * size:(r + 1) * size] if s != r else bytes(size)
                self.assertEqual(mr.read(RECEIVE + s * size, size), want, f"{s} to {r}")
        doorbells = sum(gpu.count(abi.XPU_CNT_DOORBELLS) for gpu in self.gpus) - sum(before)
        self.assertEqual(doorbells, 5 * 4)

    def test_alltoall(self):
        self.alltoall(0)

    def test_alltoall_merged_and_added(self):
        self.alltoall(MERGE | ADD)

    def moe(self, flags):
        """Tokens to their experts, and from there back: each exactly where it belongs."""
        count, tokens, topk, row, experts, capacity = 4, 20, 3, 256, 8, 20
        each = experts // count
        ranks = Ranks(self, count)
        moe, routing, counts, arrived, returned = 1024, 2048, 3072, SIGNALS, SIGNALS + 2048
        place, back = RECEIVE, RECEIVE + 90000
        table2 = TABLE + 512
        routes, rows = [], []
        for r, mr in enumerate(ranks.mr):
            # own experts are left out: nobody carries what stays
            choice = [e for e in range(experts) if e // each != r]
            route = [[*self.rng.sample(choice, topk - 1), abi.XPU_EXPERT_NONE] if t % 7 == 0
                     else self.rng.sample(choice, topk) for t in range(tokens)]
            routes.append(route)
            rows.append([struct.pack("<I", t) + self.rng.randbytes(row - 4)
                         for t in range(tokens)])
            mr.write(SEND, b"".join(rows[r]))
            mr.write(routing, struct.pack(f"<{tokens * topk}I", *(e for k in route for e in k)))
            mr.write(counts, b"\xff" * 4 * experts)
            shape = dict(tokens=tokens, topk=topk, row=row, experts=experts, peers=count,
                         capacity=capacity, rank=r, lkey=mr.key)
            mr.write(moe, fields("xpu_moe", laddr=mr.iova + SEND, table=TABLE, routing=routing,
                                 counts=counts, **shape))
            mr.write(moe + 256, fields("xpu_moe", laddr=mr.iova + place, table=table2,
                                       counts=arrived, rows=place, **shape))
            mr.write(TABLE, ranks.table(r, lambda s, r=r: place + r * each * capacity * row,
                                        lambda s, r=r: arrived + 8 * r * each))
            mr.write(table2, ranks.table(r, lambda s: back, lambda s: returned))
            # what stays is none
            for e in range(each):
                mr.write(arrived + 8 * (r * each + e), struct.pack("<Q", 1))
                mr.write(returned + 8 * (r * each + e), struct.pack("<Q", 1))

        def commands(r):
            return [cmd(abi.XPU_OP_DISPATCH, offset=moe, flags=flags),
                    cmd(WAIT, offset=arrived, value=1, count=experts),
                    cmd(abi.XPU_OP_COMBINE, offset=moe + 256, flags=flags),
                    cmd(WAIT, offset=returned, value=1, count=experts),
                    *(cmd(QUIET, queue=ranks.queue[r, s]) for s in range(count) if s != r)]
        before = sum(gpu.count(abi.XPU_CNT_DOORBELLS) for gpu in self.gpus)
        ranks.run(commands)
        doorbells = sum(gpu.count(abi.XPU_CNT_DOORBELLS) for gpu in self.gpus) - before

        sent = sum(e != abi.XPU_EXPERT_NONE for route in routes for k in route for e in k)
        messages = 2 * (sent + count * (experts - each))
        self.assertEqual(doorbells, 2 * count * (count - 1) if flags else messages)
        for r, mr in enumerate(ranks.mr):
            for s in range(count):
                for e in range(each):
                    got = [t for t in range(tokens) if r * each + e in routes[s][t]]
                    word = mr.read(arrived + 8 * (s * each + e), 8)
                    self.assertEqual(struct.unpack("<Q", word)[0], 1 + len(got))
                    at = place + (s * each + e) * capacity * row
                    self.assertEqual(mr.read(at, capacity * row), b"".join(
                        rows[s][t] for t in got).ljust(capacity * row, b"\0"))
            for e in range(experts):
                for t in range(tokens):
                    want = rows[r][t] if e in routes[r][t] else bytes(row)
                    self.assertEqual(mr.read(back + (e * tokens + t) * row, row), want)

    def test_moe(self):
        self.moe(0)

    def test_moe_merged(self):
        self.moe(MERGE)

    def test_bad_routes(self):
        """An expert that is not there, more rows than there is room for, an unknown token."""
        a, b, n = self.pair()
        gpu, mr = self.gpus[0], a.mr
        mr.write(TABLE, peer(n, b.mr, RECEIVE, sig_off=SIGNALS) * 2)
        shape = dict(tokens=2, topk=1, row=64, experts=4, peers=2, capacity=1, lkey=mr.key,
                     laddr=mr.iova + SEND, table=TABLE, routing=2048, counts=3072, rows=SEND)
        offset = abi.offset("xpu_cmd", "offset")

        def run(op=abi.XPU_OP_DISPATCH, **change):
            mr.write(1024, fields("xpu_moe", **{**shape, **change}))
            return gpu.run([cmd(op, offset=1024)], buffers=[gpu.whole(mr)])
        for change in (dict(tokens=0), dict(topk=0), dict(row=3), dict(experts=0), dict(peers=0),
                       dict(experts=5), dict(rank=2), dict(capacity=0), dict(tokens=1 << 21),
                       dict(topk=1025), dict(row=(1 << 30) + 1), dict(experts=2048),
                       dict(capacity=1 << 21)):
            self.assertEqual(run(**change), failed(abi.XPU_FAULT_COMMAND, detail=offset), change)
        for change in (dict(routing=SIZE - 4), dict(table=SIZE - 32), dict(counts=SIZE - 12)):
            mr.write(2048, struct.pack("<II", 2, 3))
            mr.write(SIZE - 4, struct.pack("<I", 0))
            self.assertEqual(run(**change).fault, abi.XPU_FAULT_BUFFER, change)
        routing = abi.XPU_FAULT_ROUTING
        mr.write(2048, struct.pack("<II", 3, 4))
        self.assertEqual(run(), failed(routing, detail=4))
        mr.write(2048, struct.pack("<II", 3, 3))
        self.assertEqual(run(), failed(routing, detail=3))
        mr.write(2048, struct.pack("<II", 3, 2))
        self.assertEqual(run(), DONE)

        back = abi.XPU_OP_COMBINE
        for word, token, detail in ((0, 0, 0), (3, 0, 3), (2, 2, 2)):
            mr.write(3072, struct.pack("<4Q", word, 1, 1, 1))
            mr.write(SEND, struct.pack("<I", token))
            self.assertEqual(run(back), failed(routing, detail=detail))
        self.assertEqual(run(back, rows=SIZE - 60, counts=3072).fault, abi.XPU_FAULT_BUFFER)
        mr.write(3072, struct.pack("<4Q", 2, 1, 1, 1))
        mr.write(SEND, struct.pack("<I", 1))
        self.assertEqual(run(back), DONE)
