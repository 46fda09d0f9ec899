# SPDX-License-Identifier: GPL-2.0
"""What the tests of xpu's execution engine share: a driver of it, and kernels.

    dev = Exec(q)
    dev.begin([cmd(abi.XPU_OP_STORE, value=1)], buffers=[dev.range(word, 8)])
    assert dev.ended() == DONE
"""

import collections
import itertools
import struct

import abi
import snicdev
from xpumodel import SLOT, Xpu

End = collections.namedtuple("End", "state fault command thread detail",
                             defaults=(abi.XPU_FAULT_NONE, 0, 0, 0))
DONE = End(abi.XPU_EX_DONE)
CONTEXT = 7
SECOND = 1000000            # in microseconds
NONE = abi.XPU_EX_NONE
U64 = (1 << 64) - 1


def failed(fault, command=0, thread=0, detail=0):
    return End(abi.XPU_EX_FAILED, fault, command, thread, detail)


def cmd(op, **fields):
    """A command as bytes."""
    return snicdev.fields("xpu_cmd", op=op, **fields)


def peer(queue, mr=None, off=0, sig_mr=None, sig_off=0):
    """An entry of a table of peers."""
    if mr is None:
        return snicdev.fields("xpu_peer", queue=queue)
    sig_mr = sig_mr or mr
    return snicdev.fields("xpu_peer", queue=queue, rkey=mr.key, raddr=mr.iova + off,
                          sig_rkey=sig_mr.key, sig_raddr=sig_mr.iova + sig_off)


class Exec(Xpu):
    """The device, and the least that drives its execution engine."""

    def __init__(self, q, slot=SLOT):
        super().__init__(q, slot)
        self.tags = itertools.count(1)
        self.exec_tag = {}
        self.told = False

    def offset(self, addr):
        """A bus address in VRAM as the device's own."""
        return addr - self.vram

    def range(self, addr, length):
        return snicdev.unpack("xpu_ex_range", snicdev.fields(
            "xpu_ex_range", start=self.offset(addr), length=length))

    def put(self, data, align=64):
        """The bus address of VRAM with these bytes."""
        addr = self.alloc(len(data), align)
        self.q.write(addr, data)
        return addr

    def registers(self, reg, data):
        for (value,) in struct.iter_unpack("<I", data):
            self.wr32(reg, value)
            reg += 4

    # Tables

    def doorbell(self, n, addr, length):
        self.wr64(abi.XPU_REG_EX_DB_ADDR(n), addr)
        self.wr32(abi.XPU_REG_EX_DB_LENGTH(n), length)

    def withdraw(self, n):
        self.wr32(abi.XPU_REG_EX_DB_LENGTH(n), 0)

    def queue(self, n, **fields):
        """Enables a queue; tells whether the device took it."""
        values = dict(record=NONE, cq_record=NONE, proxy=NONE, error=[NONE, NONE],
                      fence=abi.XPU_FENCE_SYSTEM, index_bits=16, db_index_bits=16,
                      entry_size=64, stride=64, cq_entry_size=64, cq_stride=64, cq_progress=24,
                      cq_owner=abi.XPU_OWNER_PHASE, max_inline=64, context=CONTEXT)
        values.update(fields)
        values.setdefault("max_outstanding", values.get("count", 0))
        self.registers(abi.XPU_REG_EX_QUEUE(n), snicdev.fields("xpu_ex_queue", **values))
        self.wr32(abi.XPU_REG_EX_QUEUE(n) + abi.XPU_EX_QUEUE_CTRL, abi.XPU_EX_QUEUE_ENABLE)
        return self.rd32(abi.XPU_REG_EX_QUEUE(n) + abi.XPU_EX_QUEUE_STATUS)

    def disable(self, n):
        self.wr32(abi.XPU_REG_EX_QUEUE(n) + abi.XPU_EX_QUEUE_CTRL, abi.XPU_EX_QUEUE_DISABLE)

    # Kernels

    def launch(self, kernel=0, **fields):
        """Starts a kernel of which all is given."""
        reg = abi.XPU_REG_EX_KERNEL(kernel)
        tag = self.exec_tag[kernel] = next(self.tags)
        self.registers(reg, snicdev.fields("xpu_ex_kernel", **fields))
        self.wr32(reg + abi.XPU_EX_KERNEL_CTRL, abi.XPU_EX_CTRL_START | tag << 16)

    def begin(self, *threads, buffers=(), kernel=0, timeout_us=10 * SECOND, context=CONTEXT):
        """Starts a kernel; each thread is a list of commands."""
        count = max(len(commands) for commands in threads)
        code = b"".join(b"".join(commands).ljust(count * abi.XPU_CMD_BYTES, b"\0")
                        for commands in threads)
        self.launch(kernel, list=self.offset(self.put(code)), count=count,
                    threads=len(threads), context=context, timeout_us=timeout_us,
                    buffer=list(buffers))

    def kernel32(self, reg, kernel=0):
        return self.rd32(abi.XPU_REG_EX_KERNEL(kernel) + reg)

    def state(self, kernel=0):
        """How the kernel is, and the tag is the right one."""
        status = self.kernel32(abi.XPU_EX_KERNEL_STATUS, kernel)
        assert status >> 16 == self.exec_tag[kernel], hex(status)
        return End(status & 0xf, status >> 8 & 0xff,
                   self.kernel32(abi.XPU_EX_KERNEL_COMMAND, kernel),
                   self.kernel32(abi.XPU_EX_KERNEL_THREAD, kernel),
                   self.kernel32(abi.XPU_EX_KERNEL_DETAIL, kernel))

    def running(self, kernel=0):
        return self.state(kernel).state == abi.XPU_EX_RUNNING

    def ended(self, kernel=0):
        """How the kernel ended, which an interrupt and its bit told."""
        self.q.until(lambda: not self.running(kernel), "end of the kernel")
        # The messages of several kernels may be one by the time they are seen.
        self.q.until(lambda: self.told or self.came(abi.XPU_VECTOR_EXEC), "interrupt")
        assert self.rd32(abi.XPU_REG_EX_ENDED) >> kernel & 1
        self.wr32(abi.XPU_REG_EX_ENDED, 1 << kernel)
        left = self.rd32(abi.XPU_REG_EX_ENDED)
        assert not left >> kernel & 1
        self.told = bool(left)
        return self.state(kernel)

    def stop(self, kernel=0, fault=0):
        self.wr32(abi.XPU_REG_EX_KERNEL(kernel) + abi.XPU_EX_KERNEL_CTRL,
                  abi.XPU_EX_CTRL_STOP | fault << 8)

    def run(self, *threads, **options):
        """Runs a kernel to its end."""
        self.begin(*threads, **options)
        return self.ended(options.get("kernel", 0))

    def done(self, kernel=0):
        """Commands done."""
        return self.rd64(abi.XPU_REG_EX_KERNEL(kernel) + abi.XPU_EX_KERNEL_DONE)

    def time(self, kernel=0):
        """Nanoseconds that it ran."""
        return self.rd64(abi.XPU_REG_EX_KERNEL(kernel) + abi.XPU_EX_KERNEL_TIME)

    def count(self, counter):
        return self.rd64(abi.XPU_REG_COUNTER(counter))
