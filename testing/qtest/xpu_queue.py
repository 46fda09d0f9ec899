# SPDX-License-Identifier: GPL-2.0
"""Queues of the execution engine: that it works by what the descriptor says, whatever that is.

The test is the network device: a doorbell is a word of its memory, and completions are
what it writes to VRAM.
"""

import struct

import abi
from scenario import hosttest
from snicdev import unpack
from xpu_case import DONE, NONE, Exec, cmd, failed
from xpumodel import NOWHERE, machine

PUT, GET, QUIET = abi.XPU_OP_PUT, abi.XPU_OP_GET, abi.XPU_OP_QUIET
MORE, INLINE = abi.XPU_CMD_MORE, abi.XPU_CMD_INLINE
COMPLETION, TIMEOUT = abi.XPU_FAULT_COMPLETION, abi.XPU_FAULT_TIMEOUT
SIGNALED, FENCE = abi.KIWI_WQE_SIGNALED, abi.KIWI_WQE_FENCE
VALUE = 0xab00_0000_0000_00cd
WAIT_US = 3000              # bound of what shall not come to pass


class Queue:
    """A queue in VRAM whose far side is the test."""

    def __init__(self, dev, n=0, count=8, entry=64, stride=64, cq_count=4, owner=None,
                 cq_stride=64, proxy=False, **more):
        self.dev, self.q, self.n = dev, dev.q, n
        self.count, self.entry, self.stride = count, entry, stride
        self.cq_count, self.cq_stride, self.cqes = cq_count, cq_stride, 0
        self.ring = dev.alloc(count * stride, 64)
        self.cq = dev.alloc(cq_count * cq_stride, 64)
        self.words = dev.alloc(64)      # record, consumer record, proxy, error words
        self.page = dev.q.alloc(4096)
        at = dev.offset(self.words)
        dev.doorbell(n, self.page, 4096)
        values = dict(
            ring=dev.offset(self.ring), cq=dev.offset(self.cq), count=count, entry_size=entry,
            stride=stride, cq_count=cq_count, cq_stride=cq_stride, record=at, cq_record=at + 4,
            proxy=at + 8 if proxy else NONE, error=[at + 16, at + 20],
            cq_owner=owner or abi.XPU_OWNER_PHASE, doorbell=n, db_value=VALUE, db_offset=64,
            db_index_shift=12, max_inline=12)
        assert dev.queue(n, **{**values, **more})

    def entry_at(self, index, size=64):
        """The bytes of a request that begins at an index."""
        data = b""
        while len(data) < size:
            data += self.q.read(self.ring + index % self.count * self.stride, self.entry)
            index += 1
        return data[:size]

    def rung(self):
        """The index that the doorbell has last told, or None."""
        value = self.q.readq(self.page + 64)
        assert value & ~(0xffff << 12) in (0, VALUE), hex(value)
        return value >> 12 & 0xffff if value else None

    def until_rung(self, index):
        self.q.until(lambda: self.rung() == index, f"doorbell {index}")
        assert self.q.readl(self.words) == index

    def complete(self, index, status=0):
        """Writes a completion."""
        at = self.cq + self.cqes % self.cq_count * self.cq_stride
        self.q.write(at + 24, struct.pack("<HBB", index & 0xffff, 2, status))
        phase = not self.cqes // self.cq_count & 1
        self.q.writeb(at + 63, phase)
        self.cqes += 1


def put(**fields):
    return cmd(PUT, laddr=0x1000, lkey=1, raddr=0x2000, rkey=2, length=100, **fields)


@hosttest("model.xpu.queue.requests")
def requests(log):
    """Each command as the request that it becomes."""
    with machine(log) as q:
        dev = Exec(q)
        queue = Queue(dev, count=16, cq_count=8)
        place = dict(laddr=0x1122334455667788, lkey=0xa1b2c3d4, raddr=0x99aabbccddeeff00,
                     rkey=0x12345678)
        signal = dict(sig_raddr=0x4000, sig_rkey=9, sig_laddr=0x5000)
        assert dev.run([
            cmd(PUT, length=1 << 30, **place), cmd(GET, length=77, flags=MORE, **place),
            cmd(abi.XPU_OP_FETCH_ADD, value=1 << 63, **place),
            cmd(PUT, value=0x0102030405060708, length=5, flags=INLINE, **place),
            cmd(abi.XPU_OP_PUT_SIGNAL, value=42, length=8, **place, **signal),
            cmd(abi.XPU_OP_FENCE),
            cmd(abi.XPU_OP_PUT_SIGNAL, value=43, length=0, flags=abi.XPU_CMD_ADD, **place,
                **signal)]) == DONE
        queue.until_rung(8)
        assert dev.count(abi.XPU_CNT_WQES) == 8 and dev.count(abi.XPU_CNT_DOORBELLS) == 5

        def check(n, opcode, length, flags=SIGNALED, addr=place["laddr"], key=place["lkey"],
                  to=place["raddr"], rkey=place["rkey"], add=None, data=None):
            raw = queue.entry_at(n)
            ctrl = unpack("kiwi_wqe_ctrl", raw[:16])
            assert (ctrl.opcode, ctrl.flags, ctrl.segs) == (opcode, flags, 3 + (add is not None))
            assert (ctrl.rsvd, ctrl.imm, ctrl.wr_id) == (0, 0, n)
            assert struct.unpack("<QII", raw[16:32]) == (to, rkey, 0)
            rest = raw[32:]
            if add is not None:
                assert struct.unpack("<QQ", rest[:16]) == (add, 0)
                rest = rest[16:]
            if data is None:
                assert struct.unpack("<QII", rest[:16]) == (addr, key, length)
            else:
                assert rest[:16] == (struct.pack("<I", length) + data).ljust(16, b"\0")

        sig = dict(addr=0x5000, to=0x4000, rkey=9)
        inline = SIGNALED | abi.KIWI_WQE_INLINE
        check(0, abi.KIWI_WQE_WRITE, 1 << 30)
        check(1, abi.KIWI_WQE_READ, 77, flags=0)
        check(2, abi.KIWI_WQE_FETCH_ADD, 8, add=1 << 63)
        check(3, abi.KIWI_WQE_WRITE, 5, flags=inline, data=bytes((8, 7, 6, 5, 4)))
        check(4, abi.KIWI_WQE_WRITE, 8, flags=0)
        check(5, abi.KIWI_WQE_WRITE, 8, flags=inline, to=0x4000, rkey=9,
              data=struct.pack("<Q", 42))
        check(6, abi.KIWI_WQE_WRITE, 0, flags=FENCE)
        check(7, abi.KIWI_WQE_FETCH_ADD, 8, add=43, **sig)


@hosttest("model.xpu.queue.shapes")
def shapes(log):
    """Other sizes and strides of entries, other places of index and words; the ring wraps."""
    with machine(log) as q:
        dev = Exec(q)
        for n, (entry, stride, units) in enumerate(((64, 64, 1), (64, 256, 1), (16, 16, 3),
                                                    (32, 40, 2), (48, 48, 1))):
            queue = Queue(dev, n, 16, entry, stride, index=0xfffa)
            first = 0xfffa
            for i in range(12):
                assert dev.run([put(queue=n)]) == DONE
                first = first + units & 0xffff
                queue.until_rung(first)
                raw = queue.entry_at(first - units, 48)
                assert raw[:2] == bytes((abi.KIWI_WQE_WRITE, SIGNALED)) and raw[2] == 3
                assert struct.unpack("<QIIQII", raw[16:]) == (0x2000, 2, 0, 0x1000, 1, 100)
                queue.complete(first)
                assert dev.run([cmd(QUIET, queue=n)]) == DONE
                assert q.readl(queue.words + 4) == i + 1      # completions consumed
        value = 0x0123_4567_89ab_cdef
        queue = Queue(dev, 9, db_value=value & ~0xff, db_index_bits=8, db_index_shift=0,
                      db_offset=4088, index=0xff, record=NONE, cq_record=NONE)
        assert dev.run([put(queue=9)]) == DONE
        assert q.readq(queue.page + 4088) == value & ~0xff      # 0x100 in 8 bits
        assert q.read(queue.words, 8) == bytes(8) and q.read(queue.page, 4088) == bytes(4088)


@hosttest("model.xpu.queue.proxy")
def proxy(log):
    """A producer index for a CPU in place of the doorbell: it counts beyond 16 bits."""
    with machine(log) as q:
        dev = Exec(q)
        queue = Queue(dev, proxy=True, index=0xffff)
        assert dev.run([put(flags=MORE), put(), put()]) == DONE
        assert q.readq(queue.words + 8) == 0xffff + 3
        assert q.readl(queue.words) == 2 and queue.rung() is None
        assert dev.count(abi.XPU_CNT_PROXY_RINGS) == 2 and dev.count(abi.XPU_CNT_DOORBELLS) == 0
        dev.withdraw(0)     # not needed
        queue.complete(2)
        assert dev.run([cmd(QUIET)]) == DONE


@hosttest("model.xpu.queue.full")
def full(log):
    """A full ring and a full completion queue are waited for, not overrun."""
    with machine(log) as q:
        dev = Exec(q)
        queue = Queue(dev, count=8, cq_count=2, max_outstanding=6)
        dev.begin([cmd(abi.XPU_OP_REPEAT, count=20), put(flags=MORE), cmd(abi.XPU_OP_END),
                   cmd(QUIET)])
        queue.until_rung(6)     # nobody asked for it: else the ring would stay full
        q.settle()
        assert dev.running() and dev.count(abi.XPU_CNT_WQES) == 6
        queue.complete(2)       # such as the device may: in the middle
        queue.until_rung(8)
        q.settle()
        assert dev.count(abi.XPU_CNT_WQES) == 8
        for done, rung in ((8, 14), (14, 20)):
            queue.complete(done)
            queue.until_rung(rung)
        queue.complete(20)
        assert dev.ended() == DONE
        assert dev.count(abi.XPU_CNT_WQES) == 20

        # Two completions may be on their way, so there are two doorbells.
        dev.begin([cmd(abi.XPU_OP_REPEAT, count=4), put(), cmd(abi.XPU_OP_END), cmd(QUIET)])
        queue.until_rung(22)
        q.settle()
        assert dev.running() and queue.rung() == 22 and dev.count(abi.XPU_CNT_WQES) == 22
        for done in (21, 22, 23, 24):
            queue.complete(done)
            queue.until_rung(min(done + 2, 24))
        assert dev.ended() == DONE

        # What never fits is told.
        small = Queue(dev, 1, max_outstanding=1, max_inline=7)
        for bad in (cmd(abi.XPU_OP_PUT_SIGNAL, queue=1), cmd(PUT, queue=1, flags=INLINE, length=8)):
            assert dev.run([bad]) == failed(abi.XPU_FAULT_QUEUE, detail=1)
        assert dev.run([cmd(PUT, queue=1, flags=INLINE, length=7)]) == DONE
        small.until_rung(1)


@hosttest("model.xpu.queue.counter")
def counter(log):
    """A collapsed completion queue: the index moves on, by as much as it likes."""
    with machine(log) as q:
        dev = Exec(q)
        queue = Queue(dev, count=8, cq_count=1, owner=abi.XPU_OWNER_COUNTER, cq_record=NONE)
        dev.begin([cmd(abi.XPU_OP_REPEAT, count=20), put(), cmd(abi.XPU_OP_END), cmd(QUIET)])
        queue.until_rung(8)
        for done in (1, 5, 13, 20):
            queue.complete(done)
            queue.until_rung(min(done + 8, 20))
        assert dev.ended() == DONE and q.readl(queue.words + 4) == 0

        dev.begin([put(), cmd(QUIET)])
        queue.until_rung(21)
        queue.complete(22)      # of what was not handed over
        assert dev.ended() == failed(COMPLETION, 1, detail=abi.XPU_COMPLETION_INDEX)
        queue.complete(20)
        dev.begin([cmd(QUIET)])
        q.settle()
        assert dev.running()
        queue.complete(21, abi.KIWI_CQE_ST_REM_ACCESS_ERR)
        assert dev.ended() == failed(COMPLETION, detail=abi.KIWI_CQE_ST_REM_ACCESS_ERR)
        # It stays in error: nothing more is posted once that is seen.
        assert dev.run([cmd(QUIET)]) == failed(COMPLETION, detail=abi.KIWI_CQE_ST_REM_ACCESS_ERR)


@hosttest("model.xpu.queue.trouble")
def trouble(log):
    """Errors, time-outs, and what is taken away while a kernel waits."""
    with machine(log) as q:
        dev = Exec(q)
        queue = Queue(dev)
        assert dev.run([put(), cmd(QUIET, timeout_us=WAIT_US)]) == failed(TIMEOUT, 1)
        dev.begin([cmd(QUIET)])
        queue.complete(1, 12)
        assert dev.ended() == failed(COMPLETION, detail=12)

        for n, word in ((1, 16), (2, 20)):
            queue = Queue(dev, n)
            dev.begin([put(queue=n), cmd(QUIET, queue=n)])
            queue.until_rung(1)
            q.writel(queue.words + word, 0xffffffff)
            assert dev.ended() == failed(abi.XPU_FAULT_ERROR_WORD, 1, detail=0xffffffff)
            q.writel(queue.words + word, 0)
            queue.complete(1)
            assert dev.run([cmd(QUIET, queue=n)]) == DONE

        def waits(n):
            queue = Queue(dev, n)
            dev.begin([put(queue=n)], [cmd(abi.XPU_OP_DELAY, value=1000), cmd(QUIET, queue=n)])
            queue.until_rung(1)
            q.settle()
            assert dev.running()
            return queue
        waits(3)
        dev.disable(3)
        assert dev.ended() == failed(abi.XPU_FAULT_QUEUE, 1, 1, 3)
        queue = waits(4)
        dev.withdraw(4)
        assert dev.ended() == failed(abi.XPU_FAULT_DOORBELL, 1, 1, 4)
        assert dev.run([put(queue=4)]) == failed(abi.XPU_FAULT_DOORBELL, detail=4)
        q.settle()
        assert queue.rung() == 1

        before = dev.count(abi.XPU_CNT_DOORBELLS_LOST)
        dev.doorbell(4, NOWHERE, 4096)
        assert dev.run([put(queue=4), cmd(QUIET, queue=4, timeout_us=WAIT_US)]) == \
            failed(TIMEOUT, 1)
        assert dev.count(abi.XPU_CNT_DOORBELLS_LOST) == before + 1


@hosttest("model.xpu.queue.withdrawn")
def withdrawn(log):
    """A doorbell that is on its way when its window is withdrawn does not come later."""
    with machine(log, "bus-ns=1000000000") as q:
        dev = Exec(q)
        queue, other = Queue(dev), Queue(dev, 1)
        dev.begin([put(), put(queue=1)])
        q.until(lambda: dev.count(abi.XPU_CNT_WQES) == 2, "request")
        dev.withdraw(0)
        dev.doorbell(0, queue.page, 4096)       # another page would get it
        other.until_rung(1)
        assert dev.ended() == DONE
        q.settle()
        assert queue.rung() is None and dev.count(abi.XPU_CNT_DOORBELLS) == 1
        dev.begin([put()])
        q.until(lambda: dev.count(abi.XPU_CNT_WQES) == 3, "request")
        dev.pci.flr()
        q.settle(1.2)
        assert queue.rung() is None
