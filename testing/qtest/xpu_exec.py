# SPDX-License-Identifier: GPL-2.0
"""The execution engine of xpu by itself: what kernels do in VRAM, how they end."""

import struct

import abi
from scenario import hosttest
from xpu_case import CONTEXT, DONE, SECOND, End, Exec, cmd, failed
from xpumodel import MIB, machine

STORE, ADD, WAIT, DELAY = abi.XPU_OP_STORE, abi.XPU_OP_ADD, abi.XPU_OP_WAIT, abi.XPU_OP_DELAY
REPEAT, END, EXIT = abi.XPU_OP_REPEAT, abi.XPU_OP_END, abi.XPU_OP_EXIT
LAUNCH, COMMAND, BUFFER = abi.XPU_FAULT_LAUNCH, abi.XPU_FAULT_COMMAND, abi.XPU_FAULT_BUFFER
FOREVER = cmd(WAIT, value=1 << 63)


def words(dev, n):
    """VRAM for n words, and the buffer that they make."""
    addr = dev.alloc(8 * n, 64)
    return addr, [dev.range(addr, 8 * n)]


@hosttest("model.xpu.exec.local")
def local(log):
    """Store, add, wait, loops and their steps, exit; many threads add to one word."""
    with machine(log) as q:
        dev = Exec(q)
        at, buffers = words(dev, 8)
        assert dev.run([cmd(STORE, value=5), cmd(ADD, value=7, offset=8),
                        cmd(ADD, value=3, offset=8), cmd(EXIT), cmd(STORE, value=6)],
                       buffers=buffers) == DONE
        assert struct.unpack("<QQ", q.read(at, 16)) == (5, 10)
        assert dev.done() == 3

        # 3 times { add 1, 2, 3 ...; 4 times add 100, 101 ... }; 5 more
        assert dev.run([cmd(STORE), cmd(REPEAT, count=3), cmd(ADD, value=1, step=1),
                        cmd(REPEAT, count=4), cmd(ADD, value=100, step=1), cmd(END), cmd(END),
                        cmd(ADD, value=5, step=77)], buffers=buffers) == DONE
        assert q.readq(at) == 1 + 2 + 3 + 3 * (100 + 101 + 102 + 103) + 5
        assert dev.done() == 2 + 3 * (2 + 4 * 2 + 1) + 1

        threads = abi.XPU_EX_THREADS
        adds = [[cmd(REPEAT, count=10), cmd(ADD, offset=16, value=n + 1), cmd(END)]
                for n in range(threads)]
        assert dev.run(*adds, buffers=buffers) == DONE
        assert q.readq(at + 16) == 10 * threads * (threads + 1) // 2

        # One thread waits for the other, who waits for the CPU.
        dev.begin([cmd(WAIT, offset=24, value=2, count=2), cmd(STORE, offset=40, value=1)],
                  [cmd(WAIT, offset=48, value=9), cmd(STORE, offset=24, value=2),
                   cmd(DELAY, value=1000000), cmd(STORE, offset=32, value=3)], buffers=buffers)
        q.writeq(at + 48, 8)
        q.settle()
        assert dev.running() and q.readq(at + 24) == 0
        q.writeq(at + 48, 10)
        assert dev.ended() == DONE
        assert struct.unpack("<3Q", q.read(at + 24, 24)) == (2, 3, 1)
        assert dev.time() >= 1000000


@hosttest("model.xpu.exec.faults")
def faults(log):
    """A bad launch, a bad command, a bad place: the fault names it, nothing is touched."""
    with machine(log, "vram-size=16M") as q:
        dev = Exec(q)
        at, buffers = words(dev, 4)
        q.fill(at, 32, 0xa5)
        good = dict(list=dev.offset(dev.put(cmd(EXIT))), count=1, threads=1, timeout_us=1)
        bad = dev.range(dev.vram + 16 * MIB - 8, 16)
        for change in (dict(count=0), dict(count=abi.XPU_EX_COMMANDS + 1), dict(threads=0),
                       dict(threads=abi.XPU_EX_THREADS + 1), dict(timeout_us=0),
                       dict(timeout_us=60 * SECOND + 1), dict(list=16 * MIB - 95),
                       dict(list=(1 << 64) - 96), dict(buffer=[bad]),
                       dict(buffer=[*buffers * 7, bad])):
            dev.launch(**{**good, **change})
            assert dev.ended() == failed(LAUNCH), change
        dev.launch(**good)
        assert dev.ended() == DONE

        def offset(name):
            return abi.offset("xpu_cmd", name)
        for bad, where in (
                (cmd(19), "op"), (cmd(7), "op"), (cmd(255), "op"),
                (cmd(STORE, flags=abi.XPU_CMD_MORE), "flags"),
                (cmd(abi.XPU_OP_PUT, flags=0x80), "flags"),
                (cmd(abi.XPU_OP_GET, flags=abi.XPU_CMD_INLINE), "flags"),
                (cmd(abi.XPU_OP_ALLTOALL, flags=abi.XPU_CMD_MORE), "flags"),
                (cmd(STORE, rsvd=1), "rsvd"), (cmd(REPEAT), "count"),
                (cmd(abi.XPU_OP_PUT, length=(1 << 30) + 1), "length"),
                (cmd(abi.XPU_OP_PUT, flags=abi.XPU_CMD_INLINE, length=9), "length"),
                (cmd(DELAY, value=10 ** 9 + 1), "value"), (cmd(STORE, offset=4), "offset"),
                (cmd(WAIT, offset=17), "offset")):
            assert dev.run([cmd(EXIT)], [cmd(REPEAT, count=1), bad], buffers=buffers) == \
                failed(COMMAND, 1, 1, offset(where)), where
        assert dev.run([cmd(END)], buffers=buffers) == failed(COMMAND, detail=offset("op"))
        assert dev.run([cmd(REPEAT, count=1)] * 5, buffers=buffers) == \
            failed(COMMAND, 4, 0, offset("op"))

        for op in (STORE, ADD, WAIT):
            for change, detail in ((dict(buffer=1), 1), (dict(buffer=8), 8),
                                   (dict(buffer=0xffff), 0xffff), (dict(offset=32), 0),
                                   (dict(offset=25), 0), (dict(offset=(1 << 64) - 8), 0)):
                assert dev.run([cmd(op, **change)], buffers=buffers) == \
                    failed(BUFFER, detail=detail), (op, change)
        assert dev.run([cmd(WAIT, count=5)], buffers=buffers) == failed(BUFFER)
        assert q.read(at, 32) == b"\xa5" * 32
        assert dev.run([cmd(abi.XPU_OP_DISPATCH, offset=8)], buffers=buffers) == failed(BUFFER)

        before = dev.count(abi.XPU_CNT_FAULTS)
        assert dev.run([FOREVER], buffers=buffers, timeout_us=2000) == DONE  # 0xa5... is more
        q.fill(at, 32)
        assert dev.run([cmd(EXIT)], [FOREVER], buffers=buffers, timeout_us=2000) == \
            failed(abi.XPU_FAULT_TIMEOUT, 0, 1)
        assert 2000000 <= dev.time()
        assert dev.run([cmd(WAIT, value=1, timeout_us=2000)], buffers=buffers) == \
            failed(abi.XPU_FAULT_TIMEOUT)
        assert dev.count(abi.XPU_CNT_FAULTS) == before + 2


@hosttest("model.xpu.exec.life")
def life(log):
    """START while it runs, STOP, kernels side by side, a reset in the middle."""
    with machine(log) as q:
        dev = Exec(q)
        at, buffers = words(dev, 4)
        dev.begin([FOREVER], buffers=buffers)
        tag = dev.exec_tag[0]
        dev.begin([cmd(STORE, offset=8, value=1)], buffers=buffers)     # dropped
        dev.exec_tag[0] = tag
        assert dev.running()
        assert dev.run([cmd(STORE, offset=16, value=2)], buffers=buffers, kernel=7) == DONE
        assert dev.running() and struct.unpack("<QQ", q.read(at + 8, 16)) == (0, 2)
        dev.stop()
        assert dev.ended() == End(abi.XPU_EX_STOPPED)
        dev.stop()
        assert dev.state() == End(abi.XPU_EX_STOPPED) and not dev.came(abi.XPU_VECTOR_EXEC)
        dev.begin([FOREVER], buffers=buffers)
        dev.stop(fault=abi.XPU_FAULT_MEMORY)
        assert dev.ended() == failed(abi.XPU_FAULT_MEMORY)
        q.writeq(at, 1 << 63)
        q.settle()
        assert dev.state() == failed(abi.XPU_FAULT_MEMORY)

        q.writeq(at, 0)
        for kernel in range(abi.XPU_EX_KERNELS):
            dev.begin([FOREVER, cmd(ADD, offset=24, value=1)], buffers=buffers, kernel=kernel)
        before = dev.count(abi.XPU_CNT_KERNELS)
        dev.pci.flr()
        assert dev.rd32(abi.XPU_REG_EX_ENDED) == 0
        for kernel in range(abi.XPU_EX_KERNELS):
            assert dev.kernel32(abi.XPU_EX_KERNEL_STATUS, kernel) == abi.XPU_EX_IDLE
        q.writeq(at, 1 << 63)
        q.settle()
        assert q.readq(at + 24) == 0
        assert dev.count(abi.XPU_CNT_KERNELS) == before
        dev.came = dev.pci.msix()
        assert dev.run([cmd(STORE, value=4)], buffers=buffers) == DONE
        assert q.readq(at) == 4


@hosttest("model.xpu.exec.tables")
def tables(log):
    """Registers of kernels, queues and doorbells keep what is written; queues are checked."""
    with machine(log, "vram-size=16M") as q:
        dev = Exec(q)
        top = 16 * MIB
        dev.doorbell(63, 0x1122334455667788, 0x99)
        assert dev.rd64(abi.XPU_REG_EX_DB_ADDR(63)) == 0x1122334455667788
        assert dev.rd64(abi.XPU_REG_EX_DB_LENGTH(63)) == 0x99
        assert dev.rd64(abi.XPU_REG_EX_DB_ADDR(62)) == 0
        dev.wr64(abi.XPU_REG_EX_KERNEL(7) + 0x98, 0x1122334455667788)
        assert dev.rd64(abi.XPU_REG_EX_KERNEL(7) + 0x98) == 0x1122334455667788

        good = dict(ring=top - 64 * 16, count=16, cq=4096, cq_count=4, max_inline=64)
        assert dev.queue(127, **good)
        reg = abi.XPU_REG_EX_QUEUE(127)
        dev.wr64(reg, 1)            # not while it is enabled
        assert dev.rd64(reg) == good["ring"]
        dev.disable(127)
        assert not dev.rd32(reg + abi.XPU_EX_QUEUE_STATUS)
        dev.wr64(reg, 1)
        assert dev.rd64(reg) == 1
        for change in (dict(ring=top - 64 * 16 + 1), dict(ring=abi.XPU_EX_NONE), dict(count=0),
                       dict(count=3), dict(count=1 << 17), dict(stride=63), dict(entry_size=0),
                       dict(cq=top - 64 * 4 + 8), dict(cq=4), dict(cq_count=0), dict(cq_count=6),
                       dict(cq_stride=66), dict(cq_entry_size=65), dict(cq_owner=1),
                       dict(cq_owner=4), dict(cq_progress=29), dict(cq_progress=62),
                       dict(cq_progress=30), dict(record=2), dict(record=top), dict(proxy=4),
                       dict(proxy=top - 4), dict(cq_record=top), dict(error=[top, 0]),
                       dict(error=[0, 2]), dict(fence=0), dict(fence=2), dict(index_bits=15),
                       dict(db_index_bits=0), dict(db_index_bits=33), dict(db_index_shift=49),
                       dict(max_outstanding=0), dict(max_outstanding=17),
                       dict(doorbell=abi.XPU_EX_DOORBELLS), dict(db_offset=4)):
            assert not dev.queue(0, **{**good, **change}), change
        assert dev.queue(0, **good)
        put = [cmd(abi.XPU_OP_PUT, queue=0)]
        queue, doorbell = abi.XPU_FAULT_QUEUE, abi.XPU_FAULT_DOORBELL
        assert dev.run(put) == failed(doorbell)
        assert dev.run(put, context=CONTEXT + 1) == failed(queue)
        for number in (1, 127, 128, 0xffffffff):
            assert dev.run([cmd(abi.XPU_OP_PUT, queue=number)]) == failed(queue, detail=number)
        dev.doorbell(0, 0, 7)       # too short for the register
        assert dev.run(put) == failed(doorbell)
        assert dev.count(abi.XPU_CNT_WQES) == dev.count(abi.XPU_CNT_DOORBELLS) == 0


@hosttest("model.xpu.trap")
def trap(log):
    """What reaches VRAM that is freed is counted and does nothing; the rest is as ever."""
    with machine(log, "vram-size=16M,trap-freed=on", more=["xpu,id=xpu1,addr=5"]) as q:
        dev, other = Exec(q), Exec(q, 5)
        assert dev.rd32(abi.XPU_REG_CAPS) == abi.XPU_CAP_TRAP
        assert other.rd32(abi.XPU_REG_CAPS) == 0

        def tell(what, start, length):
            dev.wr64(abi.XPU_REG_TRAP_START, start)
            dev.wr64(abi.XPU_REG_TRAP_LENGTH, length)
            dev.wr32(abi.XPU_REG_TRAP_CTRL, what)

        def stale():
            return dev.count(abi.XPU_CNT_STALE_READS), dev.count(abi.XPU_CNT_STALE_WRITES)

        q.writeq(dev.vram + 8192, 0x1234)
        tell(abi.XPU_TRAP_FREED, 0, 16 * MIB)
        tell(abi.XPU_TRAP_ALLOCATED, 4096, 4096)
        assert stale() == (0, 0)
        q.writeq(dev.vram + 4096, 1)
        assert q.readq(dev.vram + 8184) == 0 and q.readq(dev.vram + 4096) == 1
        assert stale() == (0, 0)
        assert q.readq(dev.vram + 8192) == (1 << 64) - 1
        q.writeq(dev.vram + 8192, 5)
        assert stale() == (1, 1)
        assert dev.rd64(abi.XPU_REG_TRAP_LAST) == 8192
        other.good(dev.vram + 16 * MIB - 64, 0, 64, abi.XPU_CE_CTRL_DST_BUS)
        assert stale() == (1, 9)
        other.good(dev.vram + 4096, 0, 64, abi.XPU_CE_CTRL_DST_BUS)
        other.good(0, dev.vram + 8192 - 8, 16, abi.XPU_CE_CTRL_SRC_BUS)
        assert stale() == (2, 9)
        dev.good(4096, 8192, 8)                 # the device's own
        assert stale() == (2, 9)
        tell(abi.XPU_TRAP_ALLOCATED, 8192, 4096)
        assert q.readq(dev.vram + 8192) == q.readq(dev.vram + 4096) == 0x1234
        for what, start, length in ((abi.XPU_TRAP_FREED, 4096, 16 * MIB),
                                    (abi.XPU_TRAP_FREED, 8192, 2048), (3, 8192, 4096),
                                    (abi.XPU_TRAP_FREED, 8196, 4096),
                                    (abi.XPU_TRAP_FREED, 8192, 0)):
            tell(what, start, length)
            assert q.readq(dev.vram + 8192) == 0x1234
        assert stale() == (2, 9)

        # As many ranges as there can be, and one more.
        tell(abi.XPU_TRAP_ALLOCATED, 0, 16 * MIB)
        for n in range(abi.XPU_TRAP_RANGES + 1):
            tell(abi.XPU_TRAP_FREED, 8192 * n, 4096)
        for n in range(abi.XPU_TRAP_RANGES + 1):
            q.readb(dev.vram + 8192 * n)
            q.readb(dev.vram + 8192 * n + 4096)
        assert stale() == (2 + abi.XPU_TRAP_RANGES, 9)
