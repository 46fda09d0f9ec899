# SPDX-License-Identifier: GPL-2.0
"""Devices that vanish: unplugged, torn out, reset in the middle of work."""

import abi
from qtest import ECAM, Qtest
from scenario import hosttest
from snicdev import Node, Snic, connected, pair, raddr, sge, wqe

PORT_SLOT = 3
SLTSTA, PRESENCE_CHANGED, PRESENT = 0x1a, 1 << 3, 1 << 6
NATIVE_HOTPLUG = ["-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"]


def behind_port(log):
    """A machine with the SNIC behind a root port, and the configuration space of the port."""
    q = Qtest([f"pcie-root-port,id=rp,addr={PORT_SLOT},chassis=1",
               "kiwi-snic,id=snic0,bus=rp,netdev0=w0"],
              ["-netdev", "hubport,id=w0,hubid=0", *NATIVE_HOTPLUG], log=log)
    return q, q.bridge(PORT_SLOT, 1)


@hosttest("model.removal.surprise", covers=[20])
def surprise(log):
    """Torn out: all-ones at once, presence gone, and the rest of the machine lives."""
    q, port = behind_port(log)
    with q:
        dev = Snic(q, 0, 1)
        dev.start()
        page = dev.open_page(0)
        cq = dev.create_cq(dev.create_eq(), page)
        dev.create_qp(dev.alloc_pd(), cq, page)
        exp = port + next(at for at in capabilities(q, port) if q.readb(port + at) == 0x10)
        assert q.readw(exp + SLTSTA) & PRESENT
        dev.post(dev.entry(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8))
        q.qom_set("snic0", "surprise", True)
        q.until(lambda: not q.readw(exp + SLTSTA) & PRESENT, "empty slot")
        assert q.readw(exp + SLTSTA) & PRESENCE_CHANGED
        for addr, ones in ((dev.regs, 0xffffffff), (dev.regs + 0x4000, 0xffffffff),
                           (dev.doorbells + 4096, 0xffffffff)):
            assert q.readl(addr) == ones, hex(addr)
        assert q.readq(dev.regs + abi.KIWI_REG_FW_VERSION) == (1 << 64) - 1
        dev.ring(page, abi.KIWI_DB_CQ_ARM, cq.number, cq.epoch, 0)
        dev.wr32(abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_RESET)
        assert q.readl(dev.pci.config) == 0xffffffff
        assert "snic0" not in [item["name"] for item in q.qmp("qom-list",
                                                              path="/machine/peripheral")]


def capabilities(q, config):
    """The offsets of the capabilities."""
    at = q.readb(config + 0x34)
    while at:
        yield at
        at = q.readb(config + at + 1)


@hosttest("model.removal.replug", covers=[21])
def replug(log):
    """Plugged in and torn out many times: the device is new each time."""
    q, _ = behind_port(log)
    with q:
        for n in range(20):
            dev = Snic(q, 0, 1)
            dev.wait_ready()
            assert dev.rd32(abi.KIWI_REG_GENERATION) == 1
            dev.start()
            dev.create_eq()
            q.qom_set("snic0", "surprise", True)
            q.until(lambda: q.readl(ECAM + (1 << 20)) == 0xffffffff, "empty slot")
            q.qmp("device_add", driver="kiwi-snic", id="snic0", bus="rp", netdev0="w0",
                  max_qp=4 + n)
            q.forget(0, 1)


@hosttest("model.removal.peer-gone", covers=[35])
def peer_gone(log):
    """DMA to the BAR of a device that was torn out is a fault, not data."""
    q = Qtest([f"pcie-root-port,id=rp,addr={PORT_SLOT},chassis=1",
               "kiwi-snic,id=gone,bus=rp", "kiwi-snic,id=snic0,addr=4,netdev0=w0",
               "kiwi-snic,id=snic1,addr=6,netdev0=w1"],
              ["-netdev", "hubport,id=w0,hubid=0", "-netdev", "hubport,id=w1,hubid=0"], log=log)
    with q:
        q.bridge(PORT_SLOT, 1)
        bar = Snic(q, 0, 1).regs
        a, b = Node(q, 0), Node(q, 1)
        qa, _ = connected(a, b)
        lkey = a.dev.reg_mr(a.pd, bar, 4096)
        rkey = b.dev.reg_mr(b.pd, q.alloc(4096), 4096)

        def write():
            qa.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(0, rkey), sge(0, lkey, 8)))
            qa.ring_sq()
            return a.cq.take()
        assert write().status == abi.KIWI_CQE_ST_OK
        q.qom_set("gone", "surprise", True)
        q.until(lambda: q.readl(bar) == 0xffffffff, "empty slot")
        cqe = write()
        assert (cqe.status, cqe.vendor_err) == (abi.KIWI_CQE_ST_LOC_PROT_ERR, 4)


@hosttest("model.removal.reset-in-traffic", covers=[43])
def reset_in_traffic(log):
    """Resets of either side, FLR, and death, each in the middle of a transfer."""
    with pair(log=log, memory="512M") as q:
        size = 64 << 20
        mem = q.alloc(size)

        def flr(node):
            node.dev.pci.flr()
            node.dev.msi = node.dev.pci.msix()

        def fatal(node):
            q.qom_set("snic0" if node.dev is first.dev else "snic1", "fatal", 3)
            node.dev.reset(abi.KIWI_RESET_FATAL)

        first, second = Node(q, 0), Node(q, 1)
        for opcode in (abi.KIWI_WQE_WRITE, abi.KIWI_WQE_READ):
            for victim in (0, 1):
                for way in (lambda node: node.dev.reset(), flr, fatal):
                    qa, _ = connected(first, second, dict(timeout=10, retry_cnt=1))
                    lkey = first.dev.reg_mr(first.pd, mem, size)
                    rkey = second.dev.reg_mr(second.pd, mem, size)
                    qa.put_wqe(wqe(opcode, raddr(0, rkey), sge(0, lkey, size)))
                    qa.ring_sq()
                    q.settle(0.003)
                    assert not first.cq.ready()
                    way((first, second)[victim])
                    if victim:
                        assert first.cq.take().status == abi.KIWI_CQE_ST_RETRY_EXC_ERR
                        second = Node(q, 1)
                    else:
                        written = first.dev.counters().get("dma_cqe_system_bytes", 0)
                        q.settle(0.01)
                        assert first.dev.counters().get("dma_cqe_system_bytes", 0) == written
                        first = Node(q, 0)
