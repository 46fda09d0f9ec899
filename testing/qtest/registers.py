# SPDX-License-Identifier: GPL-2.0
"""Registers, and the life of the device: R-*, L-*, A-4, G-1 of spec/common.md."""

import time

import abi
from qtest import Qtest
from scenario import hosttest
from snicdev import SLOT, Snic, fields, machine, set_gid, ipv4_gid, unpack, cmd_id

NOWHERE = 1 << 50       # an address that nobody decodes
READY, ENABLED = abi.KIWI_DEV_STS_READY, abi.KIWI_DEV_STS_ENABLED
RESETTING, FATAL = abi.KIWI_DEV_STS_RESETTING, abi.KIWI_DEV_STS_FATAL


@hosttest("model.registers.identity")
def identity(log):
    """What the device says it is, in every width that is allowed."""
    with machine("serial=0x1122334455667788,fw-version=0x0001000200000003,revision=7,"
                 "cmd-timeout-ms=1234,reset-timeout-ms=2345,heartbeat-ms=77,dma-bits=48,"
                 "eq-count=9,db-pages=33,db-page-shift=14,aq-log2-max=5,eq-log2-max=9",
                 log=log) as q:
        dev = Snic(q)
        assert dev.rd32(abi.KIWI_REG_MAGIC) == abi.KIWI_MAGIC
        assert dev.rd32(abi.KIWI_REG_ABI) == abi.KIWI_ABI_MAJOR << 16 | abi.KIWI_ABI_MINOR
        assert dev.rd32(abi.KIWI_REG_PART) == abi.KIWI_PART_SNIC
        assert dev.rd32(abi.KIWI_REG_REVISION) == 7
        assert dev.rd64(abi.KIWI_REG_FW_VERSION) == 0x0001000200000003
        assert dev.rd64(abi.KIWI_REG_SERIAL) == 0x1122334455667788
        assert dev.rd32(abi.KIWI_REG_SERIAL) == 0x55667788
        assert dev.rd32(abi.KIWI_REG_SERIAL + 4) == 0x11223344
        assert dev.rd64(abi.KIWI_REG_CAPS) == (
            abi.KIWI_CAP_DIAG | abi.KIWI_SNIC_CAP_GPU_QUEUES | abi.KIWI_SNIC_CAP_MR_HOLD)
        assert dev.rd32(abi.KIWI_REG_LIMITS) == 14 << 16 | 9 << 8 | 5
        for reg, value in ((abi.KIWI_REG_CMD_TIMEOUT_MS, 1234),
                           (abi.KIWI_REG_RESET_TIMEOUT_MS, 2345),
                           (abi.KIWI_REG_HEARTBEAT_MS, 77), (abi.KIWI_REG_DMA_BITS, 48),
                           (abi.KIWI_REG_EQ_COUNT, 9), (abi.KIWI_REG_DB_PAGES, 33)):
            assert dev.rd32(reg) == value, hex(reg)


@hosttest("model.registers.constant")
def constant(log):
    """R-3: who the device is never changes; what it can, with GENERATION alone."""
    never = (abi.KIWI_REG_MAGIC, abi.KIWI_REG_ABI, abi.KIWI_REG_PART, abi.KIWI_REG_REVISION,
             abi.KIWI_REG_SERIAL, abi.KIWI_REG_SERIAL + 4)
    start = (abi.KIWI_REG_FW_VERSION, abi.KIWI_REG_FW_VERSION + 4, abi.KIWI_REG_CAPS,
             abi.KIWI_REG_CAPS + 4, abi.KIWI_REG_LIMITS, abi.KIWI_REG_CMD_TIMEOUT_MS,
             abi.KIWI_REG_RESET_TIMEOUT_MS, abi.KIWI_REG_HEARTBEAT_MS, abi.KIWI_REG_DMA_BITS,
             abi.KIWI_REG_EQ_COUNT, abi.KIWI_REG_DB_PAGES)
    g2g = Qtest([f"kiwi-g2g,id=die0,addr={SLOT},serial=77,reset-ms=50"], log=log)
    for part, machines in (("snic0", machine("serial=77,reset-ms=50", log=log)), ("die0", g2g)):
        with machines as q:
            dev = Snic(q)
            dev.wait_ready()
            who = [dev.rd32(reg) for reg in never]
            seen = {}

            def same(what):
                assert [dev.rd32(reg) for reg in never] == who, (part, what)
                generation = dev.rd32(abi.KIWI_REG_GENERATION)
                now = [dev.rd32(reg) for reg in start]
                assert seen.setdefault(generation, now) == now, (part, what)
            same("power-on")
            for reg in never + start:
                dev.wr32(reg, 0x5a5a5a5a)
            same("written to")
            dev.enable()
            same("enabled")
            dev.ok(abi.KIWI_OP_SET_HOST_CAPS, fields(
                "kiwi_cmd_set_host_caps_in", abi=dev.rd32(abi.KIWI_REG_ABI), caps=0))
            same("no capability wanted")
            dev.create_eq(), dev.open_page(3)
            same("objects")
            dev.pci.bus_master(False)
            same("no bus master")
            dev.pci.bus_master(True)
            q.qom_set(part, "fatal", abi.KIWI_HEALTH_ASSERT)
            dev.wait_status(FATAL, FATAL)
            same("fatal")
            dev.wr32(abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_RESET | abi.KIWI_RESET_FATAL << 8)
            assert dev.status() == RESETTING
            same("resetting")
            dev.wait_ready()
            same("reset")
            dev.pci.flr()
            same("function-level reset")
            dev.wait_ready()
            same("after it")
            assert len(seen) == 3


@hosttest("model.registers.access")
def access(log):
    """Unassigned offsets, widths and alignments that are not allowed, read-only registers."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.wait_ready()
        known = {abi.KIWI_REG_MAGIC, abi.KIWI_REG_ABI, abi.KIWI_REG_PART, abi.KIWI_REG_REVISION}
        for reg in (0x044, 0x07c, 0x094, 0x0bc, 0x0e8, 0x120, 0x800, 0x3000, 0x3ffc, 0x6000,
                    0xfffc):
            dev.wr32(reg, 0xffffffff)
            assert dev.rd32(reg) == 0, hex(reg)
        for reg in sorted(known):
            before = dev.rd32(reg)
            dev.wr32(reg, ~before & 0xffffffff)
            assert dev.rd32(reg) == before, hex(reg)
        assert dev.rd64(abi.KIWI_REG_MAGIC) != (1 << 64) - 1

        base = abi.KIWI_REG_AQ_BASE
        dev.wr64(base, 0x1122334455667788)
        assert dev.rd64(base) == 0x1122334455667788
        dev.wr32(base, 0x99aabbcc)
        assert dev.rd64(base) == 0x1122334499aabbcc
        dev.wr32(base + 4, 0xddeeff00)
        assert dev.rd64(base) == 0xddeeff0099aabbcc
        q.writeb(dev.regs + base, 0)
        q.writew(dev.regs + base + 2, 0)
        q.writel(dev.regs + base + 2, 0)
        q.writeq(dev.regs + base + 4, 0)
        assert dev.rd64(base) == 0xddeeff0099aabbcc

        # An 8-byte write to two 4-byte registers does nothing.
        q.writeq(dev.regs + abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_RESET)
        assert dev.status() == READY and dev.rd32(abi.KIWI_REG_GENERATION) == 1
        q.writeb(dev.regs + abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_RESET)
        q.writew(dev.regs + abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_RESET)
        assert dev.status() == READY and dev.rd32(abi.KIWI_REG_GENERATION) == 1


@hosttest("model.registers.enable")
def enable(log):
    """ENABLE: what it refuses, naming the register, and what it latches."""
    with machine("aq-log2-max=6,vectors=5,dma-bits=40", log=log) as q:
        dev = Snic(q)
        assert q.readw(dev.pci.capability(0x11) + 2) & 0x7ff == 5 - 1
        dev.wait_ready()
        bad = [(abi.KIWI_REG_AQ_BASE, 8, 0x1000800),
               (abi.KIWI_REG_AQ_BASE, 8, 1 << 40),
               (abi.KIWI_REG_AQ_BASE, 8, 1 << 63),
               (abi.KIWI_REG_ACQ_BASE, 8, 0x1000001),
               (abi.KIWI_REG_ACQ_BASE, 8, 1 << 40),
               (abi.KIWI_REG_AQ_CFG, 4, 1), (abi.KIWI_REG_AQ_CFG, 4, 0),
               (abi.KIWI_REG_AQ_CFG, 4, 7), (abi.KIWI_REG_AQ_CFG, 4, 0xff),
               (abi.KIWI_REG_AQ_CFG, 4, 4 | 5 << 16), (abi.KIWI_REG_AQ_CFG, 4, 4 | 0xffff0000),
               (abi.KIWI_REG_AQ_CFG, 4, 4 | 0x100), (abi.KIWI_REG_AQ_CFG, 4, 4 | 0x8000)]
        for reg, size, value in bad:
            dev.configure(log2=4)
            (dev.wr64 if size == 8 else dev.wr32)(reg, value)
            dev.wr32(abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_ENABLE)
            dev.wait_status(FATAL, FATAL)
            assert not dev.status() & ENABLED
            assert dev.rd32(abi.KIWI_REG_HEALTH_SYNDROME) == abi.KIWI_HEALTH_BAD_CONFIG
            assert dev.rd32(abi.KIWI_REG_HEALTH_EXT_SYNDROME) == reg, (hex(reg), hex(value))
            dev.reset(abi.KIWI_RESET_FATAL)
            assert dev.status() == READY
            assert dev.rd32(abi.KIWI_REG_HEALTH_SYNDROME) == abi.KIWI_HEALTH_OK

        # The largest base that the width of DMA admits is good, if nothing is there.
        dev.configure(log2=6)
        dev.wr64(abi.KIWI_REG_AQ_BASE, (1 << 40) - 4096)
        dev.wr32(abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_ENABLE)
        dev.wait_status(READY | ENABLED)
        dev.reset()

        dev.configure(log2=2, vector=4)
        dev.wr32(abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_ENABLE)
        dev.wr64(abi.KIWI_REG_AQ_BASE, NOWHERE)     # too late, latched
        dev.wait_status(READY | ENABLED)
        before = dev.rd64(abi.KIWI_REG_ACQ_BASE)
        for value in (0, NOWHERE):
            dev.wr64(abi.KIWI_REG_ACQ_BASE, value)
            dev.wr32(abi.KIWI_REG_AQ_CFG, value & 0xffffffff)
        assert dev.rd64(abi.KIWI_REG_ACQ_BASE) == before
        dev.wr32(abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_ENABLE)
        for _ in range(9):      # twice around the ring of 4
            assert dev.command(abi.KIWI_OP_QUERY_CAPS, b"", 112).status == abi.KIWI_ST_NOT_READY


@hosttest("model.registers.reset")
def reset(log):
    """A reset is seen at once, takes its time, and loses every object and setting."""
    with machine("reset-ms=300", log=log) as q:
        dev = Snic(q)
        for reason in (abi.KIWI_RESET_PROBE, abi.KIWI_RESET_USER):
            live = build_objects(dev)
            lost = dev.diag(abi.KIWI_DIAG_LOST_AT_RESET)
            generation = dev.rd32(abi.KIWI_REG_GENERATION)
            dev.wr32(abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_RESET | reason << 8)
            assert dev.status() == RESETTING
            dev.wr32(abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_ENABLE)     # too early
            check_lost(dev, live, lost)
            dev.wait_ready()
            assert (dev.rd32(abi.KIWI_REG_GENERATION) - generation) & 0xffffffff >= 1
            assert dev.rd32(abi.KIWI_REG_RESET_REASON) == reason
            assert dev.rd64(abi.KIWI_REG_AQ_BASE) == 0
            q.settle()
            assert dev.status() == READY


@hosttest("model.registers.flr")
def flr(log):
    """Function-level reset does the same."""
    with machine("reset-ms=50", log=log) as q:
        dev = Snic(q)
        live = build_objects(dev)
        generation = dev.rd32(abi.KIWI_REG_GENERATION)
        commands = dev.diag(abi.KIWI_DIAG_COMMANDS)
        dev.pci.flr()
        assert dev.status() == RESETTING
        check_lost(dev, live, 0)
        dev.wait_ready()
        assert dev.rd32(abi.KIWI_REG_GENERATION) == generation + 1
        assert dev.rd32(abi.KIWI_REG_RESET_REASON) == abi.KIWI_RESET_FLR
        assert dev.diag(abi.KIWI_DIAG_COMMANDS) == commands
        dev.msi = dev.pci.msix()
        build_objects(dev)


def build_objects(dev):
    """One object of each kind and changed settings; how many objects that are."""
    dev.start()
    a, e = dev.create_eq(abi.KIWI_EQ_ASYNC), dev.create_eq()
    page = dev.open_page(3)
    pd = dev.alloc_pd()
    cq = dev.create_cq(e, page)
    dev.create_qp(pd, cq, page)
    dev.reg_mr(pd, dev.q.alloc(8192), 8192)
    set_gid(dev, ipv4_gid("192.0.2.1"))
    dev.ok(abi.KIWI_SNIC_OP_SET_PORT, fields("kiwi_snic_set_port_in", port=1, mtu=1))
    assert a.number != e.number
    return 7


def check_lost(dev, live, lost):
    assert dev.diag(abi.KIWI_DIAG_LOST_AT_RESET) == lost + live
    for kind in range(abi.KIWI_DIAG_LIVE_PD, abi.KIWI_DIAG_LIVE_END + 1):
        assert dev.diag(kind) == 0, kind


@hosttest("model.registers.defaults")
def defaults(log):
    """Ports are as after power-on when a reset is over."""
    with machine(log=log) as q:
        dev = Snic(q)
        build_objects(dev)
        gid = ipv4_gid("192.0.2.1")
        dev.reset()
        dev.start()
        port = unpack("kiwi_snic_port", dev.ok(abi.KIWI_SNIC_OP_QUERY_PORT, cmd_id(1), 32))
        assert (port.enabled, port.mtu, port.mtu_max) == (1, abi.KIWI_MTU_4096, abi.KIWI_MTU_4096)
        set_gid(dev, gid, index=5)      # would be a duplicate


@hosttest("model.registers.heartbeat")
def heartbeat(log):
    """The heart beats while READY is set, and stands still when told to."""
    with machine("heartbeat-ms=20", log=log) as q:
        dev = Snic(q)
        dev.wait_ready()

        def beats(seconds):
            first = dev.rd32(abi.KIWI_REG_HEARTBEAT)
            time.sleep(seconds)
            return dev.rd32(abi.KIWI_REG_HEARTBEAT) - first
        assert beats(0.1) >= 3
        dev.start()
        assert beats(0.1) >= 3
        q.qom_set("snic0", "freeze", True)
        assert beats(0.1) == 0
        q.qom_set("snic0", "freeze", False)
        q.qom_set("snic0", "fatal", abi.KIWI_HEALTH_ASSERT)
        assert dev.status() & READY and beats(0.1) >= 3


@hosttest("model.registers.fatal")
def fatal(log):
    """Each way into FATAL: the last event, silence, counters still readable, reset helps."""
    with machine(log=log) as q:
        dev = Snic(q)

        def aq_unreachable():
            dev.pci.bus_master(False)
            dev.wr32(abi.KIWI_REG_AQ_PI, dev.pi + 1)
            return abi.KIWI_HEALTH_AQ_DMA, abi.KIWI_REG_AQ_BASE

        def too_far():
            dev.wr32(abi.KIWI_REG_AQ_PI, dev.pi + 17)
            return abi.KIWI_HEALTH_ASSERT, abi.KIWI_REG_AQ_PI

        def told():
            q.qom_set("snic0", "fatal", abi.KIWI_HEALTH_ASSERT)
            return abi.KIWI_HEALTH_ASSERT, 0

        for way in (aq_unreachable, too_far, told):
            dev.start()
            events = dev.create_eq(abi.KIWI_EQ_ASYNC, vector=3)
            events.tell()
            page = dev.open_page(0)
            syndrome, reg = way()
            dev.wait_status(FATAL, FATAL)
            dev.pci.bus_master(True)
            assert dev.rd32(abi.KIWI_REG_HEALTH_SYNDROME) == syndrome
            assert dev.rd32(abi.KIWI_REG_HEALTH_EXT_SYNDROME) == reg
            assert dev.rd32(abi.KIWI_REG_HEALTH_SEVERITY) != 0
            if way is not aq_unreachable:
                event = events.take()
                assert (event.type, event.info) == (abi.KIWI_EV_DEVICE_FATAL, syndrome)
                assert dev.msi(3)
            assert dev.diag(abi.KIWI_DIAG_LIVE_EQ) == 1
            commands = dev.diag(abi.KIWI_DIAG_COMMANDS)
            dev.post(dev.entry(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8))
            dev.ring(page, abi.KIWI_DB_SQ, 1, 1, 1)
            q.qom_set("snic0", "fatal", 99)     # nothing is worse than fatal
            assert events.none() and not dev.completed()
            assert dev.rd32(abi.KIWI_REG_HEALTH_SYNDROME) == syndrome
            assert dev.diag(abi.KIWI_DIAG_COMMANDS) == commands
            assert dev.diag(abi.KIWI_DIAG_LIVE_PD) == 0
            dev.reset(abi.KIWI_RESET_FATAL)


@hosttest("model.registers.unreachable-queues")
def unreachable_queues(log):
    """Admin queues in memory that nobody decodes."""
    with machine(log=log) as q:
        dev = Snic(q)
        for reg, syndrome in ((abi.KIWI_REG_AQ_BASE, abi.KIWI_HEALTH_AQ_DMA),
                              (abi.KIWI_REG_ACQ_BASE, abi.KIWI_HEALTH_AQ_DMA)):
            dev.wait_ready()
            dev.configure()
            dev.wr64(reg, NOWHERE)
            dev.wr32(abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_ENABLE)
            dev.wait_status(READY | ENABLED)
            dev.post(dev.entry(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8))
            dev.wait_status(FATAL, FATAL)
            assert dev.rd32(abi.KIWI_REG_HEALTH_SYNDROME) == syndrome
            assert dev.rd32(abi.KIWI_REG_HEALTH_EXT_SYNDROME) == reg
            dev.reset()


@hosttest("model.registers.restart")
def restart(log):
    """A firmware restart that nobody asked for: a new generation, and nothing left."""
    with machine(log=log) as q:
        dev = Snic(q)
        live = build_objects(dev)
        generation = dev.rd32(abi.KIWI_REG_GENERATION)
        q.qom_set("snic0", "restart", True)
        assert dev.status() == READY
        assert dev.rd32(abi.KIWI_REG_GENERATION) == generation + 1
        check_lost(dev, live, 0)
        build_objects(dev)


@hosttest("model.registers.acq-interrupt")
def acq_interrupt(log):
    """A-4: one message an arm, at once when there is something to take."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.enable(vector=2)
        dev.post(dev.entry(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8))
        dev.take()
        assert dev.msi(2)                   # ENABLE had armed
        dev.post(dev.entry(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8))
        dev.take()
        assert not dev.msi(2)               # not armed again
        dev.wr32(abi.KIWI_REG_ACQ_CI, 1)    # the second was not consumed
        assert dev.msi(2)
        dev.wr32(abi.KIWI_REG_ACQ_CI, 2)
        assert not dev.msi(2)
        dev.post(dev.entry(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8))
        dev.take()
        assert dev.msi(2)
        assert dev.diag(abi.KIWI_DIAG_MSIX_SENT) == 3


@hosttest("model.registers.aer")
def aer(log):
    """The capabilities that drivers rely on are there."""
    with machine(log=log) as q:
        pci = Snic(q).pci
        assert q.readl(pci.config) == abi.KIWI_PCI_DEVICE_SNIC << 16 | abi.KIWI_PCI_VENDOR_ID
        assert q.readl(pci.capability(0x10) + 4) & 1 << 28, "no function-level reset"
        assert pci.extended(1) and pci.extended(3)
        bar0, bar2 = q.readl(pci.config + 0x10) & 0xf, q.readl(pci.config + 0x18) & 0xf
        assert (bar0, bar2) == (0x4, 0xc)   # 64-bit; prefetchable
        q.writel(pci.config + 0x10, 0xffffffff)
        assert -(q.readl(pci.config + 0x10) & ~0xf) & 0xffffffff == abi.KIWI_BAR_REGS_SIZE
