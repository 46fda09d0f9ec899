# SPDX-License-Identifier: GPL-2.0
"""The model of xpu by itself: its registers and its copy engine (xpu_regs.h)."""

import random

import abi
from qtest import Qtest, QtestError
from scenario import hosttest

SLOT = 4
PEER_SLOT = 5
MIB = 1 << 20
PAGE = 4096
NOWHERE = 1 << 50       # a bus address that nobody decodes
SRC_BUS, DST_BUS = abi.XPU_CE_CTRL_SRC_BUS, abi.XPU_CE_CTRL_DST_BUS
CLEAR, START, ABORT = abi.XPU_CE_CTRL_CLEAR, abi.XPU_CE_CTRL_START, abi.XPU_CE_CTRL_ABORT


class Xpu:
    """The device, and the least that drives it."""

    def __init__(self, q, slot=SLOT):
        self.q = q
        self.pci = q.pci(slot)
        self.vram = self.pci.bar(abi.XPU_BAR_VRAM)
        self.came = self.pci.msix()
        self.tag = 0
        self._free = 0

    def rd32(self, reg):
        return self.q.readl(self.pci.bar(abi.XPU_BAR_REGS) + reg)

    def rd64(self, reg):
        return self.q.readq(self.pci.bar(abi.XPU_BAR_REGS) + reg)

    def wr32(self, reg, value):
        self.q.writel(self.pci.bar(abi.XPU_BAR_REGS) + reg, value)

    def wr64(self, reg, value):
        self.q.writeq(self.pci.bar(abi.XPU_BAR_REGS) + reg, value)

    def alloc(self, size, align=PAGE):
        """The bus address of VRAM that nobody else uses."""
        at = -(-self._free // align) * align
        self._free = at + size
        return self.vram + at

    def counters(self):
        return [self.rd64(abi.XPU_REG_COUNTER(n)) for n in range(abi.XPU_CNT_COUNT)]

    def status(self):
        """(state, error, tag)"""
        value = self.rd32(abi.XPU_REG_CE_STATUS)
        return value & 0xf, value >> 8 & 0xff, value >> 16

    def start(self, dst, src, length, ctrl=0):
        self.tag = (self.tag + 1) & 0xffff
        self.wr64(abi.XPU_REG_CE_SRC, src)
        self.wr64(abi.XPU_REG_CE_DST, dst)
        self.wr64(abi.XPU_REG_CE_LEN, length)
        self.wr32(abi.XPU_REG_CE_CTRL, ctrl | START | self.tag << 16)

    def end(self):
        """How the command ended: (state, error), told by exactly one interrupt."""
        self.q.until(lambda: self.came(abi.XPU_VECTOR_COPY), "interrupt")
        state, error, tag = self.status()
        assert tag == self.tag
        self.q.settle()
        assert not self.came(abi.XPU_VECTOR_COPY)
        return state, error

    def copy(self, dst, src, length, ctrl=0):
        self.start(dst, src, length, ctrl)
        return self.end()

    def good(self, dst, src, length, ctrl=0):
        assert self.copy(dst, src, length, ctrl) == (abi.XPU_CE_DONE, abi.XPU_CE_OK)
        assert self.rd64(abi.XPU_REG_CE_DONE) == length


def machine(log, props="", more=()):
    return Qtest([f"xpu,id=xpu0,addr={SLOT}" + (props and "," + props), *more], log=log)


def some_bytes(size, seed=1):
    return random.Random(seed).randbytes(size)


@hosttest("model.xpu.registers")
def registers(log):
    """Identity, registers that keep what is written, and those that do not."""
    with machine(log, "vram-size=64M,copy-timeout-ms=1234") as q:
        dev = Xpu(q)
        assert q.readl(dev.pci.config) == abi.XPU_PCI_DEVICE_ID << 16 | abi.XPU_PCI_VENDOR_ID
        assert dev.rd32(abi.XPU_REG_MAGIC) == abi.XPU_MAGIC
        assert dev.rd32(abi.XPU_REG_VERSION) == \
            abi.XPU_VERSION_MAJOR << 16 | abi.XPU_VERSION_MINOR
        assert dev.rd64(abi.XPU_REG_VRAM_SIZE) == 64 * MIB
        assert dev.rd32(abi.XPU_REG_CE_TIMEOUT_MS) == 1234
        assert dev.rd32(abi.XPU_REG_DMA_BITS) == 64
        assert dev.status() == (abi.XPU_CE_IDLE, abi.XPU_CE_OK, 0)

        for reg in (abi.XPU_REG_CE_SRC, abi.XPU_REG_CE_DST, abi.XPU_REG_CE_LEN):
            dev.wr64(reg, 0x1122334455667788)
            dev.wr32(reg + 4, 0x99aabbcc)
            assert dev.rd64(reg) == 0x99aabbcc55667788
            assert dev.rd32(reg) == 0x55667788
            dev.wr64(reg, 0)
        for reg in (abi.XPU_REG_MAGIC, abi.XPU_REG_VRAM_SIZE, abi.XPU_REG_CE_MAX_LEN,
                    abi.XPU_REG_CE_STATUS, abi.XPU_REG_COUNTER(0), 0x300, 0x1000, 0x7ff8):
            before = dev.rd64(reg)
            dev.wr64(reg, ~before & (1 << 64) - 1)
            assert dev.rd64(reg) == before, hex(reg)
        assert dev.rd64(0x1000) == 0

    for size in ("3M", "512K", "32G"):
        try:
            with machine(log, f"vram-size={size}"):
                assert False, f"{size} of VRAM is accepted"
        except QtestError as error:
            assert "vram-size" in str(error), error


@hosttest("model.xpu.copy")
def copy(log):
    """Each direction moves the bytes, no others, and counts what it did."""
    with machine(log) as q:
        dev = Xpu(q)
        size, data = 5 * PAGE + 3, some_bytes(5 * PAGE + 3)
        ram = q.alloc(1 * MIB)
        source, target = ram + 4094, ram + 512 * 1024 + 1   # 7 and 6 pages

        q.write(source, data)
        before = dev.counters()
        dev.good(12345, source, size, SRC_BUS)
        assert q.read(dev.vram + 12344, size + 2) == b"\0" + data + b"\0"
        dev.good(8 * MIB, 12345, size)
        assert q.read(dev.vram + 8 * MIB - 1, size + 2) == b"\0" + data + b"\0"
        dev.good(target, 8 * MIB, size, DST_BUS)
        assert q.read(target - 1, size + 2) == b"\0" + data + b"\0"
        dev.good(8 * MIB + 1, 0, size - 2, CLEAR)
        assert q.read(dev.vram + 8 * MIB, size) == data[:1] + bytes(size - 2) + data[-1:]

        counted = [b - a for a, b in zip(before, dev.counters())]
        assert counted == [7, size, 6, size, 0, 4] + 10 * [0], counted
        dev.good(target, source, size, SRC_BUS | DST_BUS)
        assert q.read(target - 1, size + 2) == b"\0" + data + b"\0"


@hosttest("model.xpu.large")
def large(log):
    """A copy of several chunks, to the last byte of VRAM."""
    with machine(log, "vram-size=16M") as q:
        dev = Xpu(q)
        data = some_bytes(3 * MIB + 5)
        for at in range(0, len(data), MIB):
            q.write(dev.vram + at, data[at:at + MIB])
        dev.good(16 * MIB - len(data), 0, len(data))
        for at in range(0, len(data), MIB):
            part = data[at:at + MIB]
            assert q.read(dev.vram + 16 * MIB - len(data) + at, len(part)) == part
        dev.good(0, 0, 16 * MIB, CLEAR)
        assert q.read(dev.vram + 16 * MIB - MIB, MIB) == bytes(MIB)


@hosttest("model.xpu.errors")
def errors(log):
    """Commands that are refused, and what the bus refuses, are told and do no harm."""
    with machine(log, "vram-size=16M") as q:
        dev = Xpu(q)
        top = 16 * MIB
        longest = dev.rd64(abi.XPU_REG_CE_MAX_LEN)
        bad = (abi.XPU_CE_FAILED, abi.XPU_CE_BAD_COMMAND)
        outside = (abi.XPU_CE_FAILED, abi.XPU_CE_VRAM_RANGE)
        ram = q.alloc(PAGE)
        before = dev.counters()
        for dst, src, length, ctrl, want in (
                (0, 0, 0, 0, bad), (0, 0, longest + 1, 0, bad), (0, 0, 1 << 63, 0, bad),
                (0, 0, 8, 1 << 3, bad), (0, 0, 8, 1 << 15, bad), (0, 0, 8, ABORT, bad),
                (0, 0, 8, CLEAR | SRC_BUS, bad), (0, 0, 8, CLEAR | DST_BUS, bad),
                (top - 7, 0, 8, 0, outside), (0, top - 7, 8, 0, outside),
                ((1 << 64) - 8, 0, 16, 0, outside), (0, (1 << 64) - 8, 16, 0, outside),
                (top - 7, ram, 8, SRC_BUS, outside), (ram, top, 8, DST_BUS, outside),
                (top, 0, 1, CLEAR, outside)):
            assert dev.copy(dst, src, length, ctrl) == want, (dst, src, length, ctrl)
            assert dev.rd64(abi.XPU_REG_CE_DONE) == 0
        assert dev.counters()[:5] == before[:5]

        refused = (abi.XPU_CE_FAILED, abi.XPU_CE_DMA)
        dev.good(0, ram, PAGE, SRC_BUS)
        for at, ctrl in ((NOWHERE, SRC_BUS), (NOWHERE, DST_BUS)):
            errors_before = dev.counters()[abi.XPU_CNT_DMA_ERRORS]
            dst, src = (0, at) if ctrl == SRC_BUS else (at, 0)
            assert dev.copy(dst, src, PAGE, ctrl) == refused
            assert dev.rd64(abi.XPU_REG_CE_FAULT) == NOWHERE
            assert dev.counters()[abi.XPU_CNT_DMA_ERRORS] == errors_before + 1
        assert q.read(dev.vram, PAGE) == bytes(PAGE)

        # The last pages of the guest's memory are good, what follows is not.
        end = 256 * MIB
        assert dev.copy(0, end - 2 * PAGE, 4 * PAGE, SRC_BUS) == refused
        assert dev.rd64(abi.XPU_REG_CE_DONE) == 2 * PAGE
        assert dev.rd64(abi.XPU_REG_CE_FAULT) == end

        dev.pci.bus_master(False)
        dev.start(0, ram, PAGE, SRC_BUS)
        q.until(lambda: dev.status()[0] != abi.XPU_CE_BUSY, "end")
        assert dev.status()[:2] == refused
        dev.pci.bus_master(True)
        assert not dev.came(abi.XPU_VECTOR_COPY)
        dev.good(0, ram, PAGE, SRC_BUS)


@hosttest("model.xpu.busy")
def busy(log):
    """START and ABORT while a command runs, FLR in the middle of one."""
    with machine(log, "vram-size=1G") as q:
        dev = Xpu(q)
        length = dev.rd64(abi.XPU_REG_CE_MAX_LEN)
        dev.start(length, 0, length)
        tag = dev.tag
        dev.start(0, 0, 0)          # dropped: it would fail
        dev.tag = tag
        assert dev.status()[::2] == (abi.XPU_CE_BUSY, tag)
        dev.wr32(abi.XPU_REG_CE_CTRL, ABORT | 1 << 16)      # not alone
        assert dev.status()[::2] == (abi.XPU_CE_BUSY, tag)
        dev.wr32(abi.XPU_REG_CE_CTRL, ABORT)
        assert dev.status() == (abi.XPU_CE_ABORTED, abi.XPU_CE_OK, tag)
        assert dev.end() == (abi.XPU_CE_ABORTED, abi.XPU_CE_OK)
        assert dev.rd64(abi.XPU_REG_CE_DONE) < length
        dev.wr32(abi.XPU_REG_CE_CTRL, ABORT)                # nothing to abort
        q.settle()
        assert dev.status()[0] == abi.XPU_CE_ABORTED
        assert not dev.came(abi.XPU_VECTOR_COPY)

        resets, before = dev.rd32(abi.XPU_REG_RESETS), dev.counters()
        dev.start(length, 0, length)
        dev.pci.flr()
        assert dev.status() == (abi.XPU_CE_IDLE, abi.XPU_CE_OK, 0)
        assert dev.rd64(abi.XPU_REG_CE_SRC) == dev.rd64(abi.XPU_REG_CE_LEN) == 0
        assert dev.rd32(abi.XPU_REG_RESETS) == resets + 1
        assert dev.counters()[abi.XPU_CNT_COMMANDS] == before[abi.XPU_CNT_COMMANDS] + 1
        q.settle()
        assert dev.status()[0] == abi.XPU_CE_IDLE
        assert not dev.came(abi.XPU_VECTOR_COPY)
        dev.came = dev.pci.msix()
        dev.good(0, length, length)


@hosttest("model.xpu.peers")
def peers(log):
    """Peer to peer between two devices; a bus address in the device's own BARs."""
    with machine(log, more=[f"xpu,id=xpu1,addr={PEER_SLOT},vram-size=64M"]) as q:
        a, b = Xpu(q), Xpu(q, PEER_SLOT)
        data = some_bytes(3 * PAGE + 1)
        q.write(a.vram + PAGE + 7, data)
        b.good(64 * MIB - len(data), a.vram + PAGE + 7, len(data), SRC_BUS)
        assert q.read(b.vram + 64 * MIB - len(data), len(data)) == data
        b.good(a.vram + MIB, 64 * MIB - len(data), len(data), DST_BUS)
        assert q.read(a.vram + MIB, len(data)) == data
        assert a.counters()[:5] == [0] * 5

        a.good(a.vram + 2 * MIB, MIB, len(data), DST_BUS)
        assert q.read(a.vram + 2 * MIB, len(data)) == data
        ctrl = a.pci.bar(abi.XPU_BAR_REGS) + abi.XPU_REG_CE_CTRL
        q.writel(a.vram, ABORT)
        a.start(ctrl, 0, 4, DST_BUS)
        assert a.end() == (abi.XPU_CE_ABORTED, abi.XPU_CE_OK)
        a.good(0, MIB, len(data))
