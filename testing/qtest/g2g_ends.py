# SPDX-License-Identifier: GPL-2.0
"""How accesses end when something dies: F-5, F-51, F-62, M-14 of spec/g2g.md, with a vCPU that
waits inside of a load, a device that loads, and seeded faults."""

import struct
import time

import abi
from g2gdev import ONES, SLOT, TIMES, Die, activate, cmd_id, fabric, mesh
from g2g_wire import bound, established, ready
from qtest import Qtest
from removal import NATIVE_HOTPLUG, PORT_SLOT
from scenario import hosttest
from snicdev import Node, connected, raddr, sge, wqe

MAILBOX, RESULT, COUNT = 0x2000, 0x2004, 0x2008
BAR = 0xc0000000        # where a vCPU of 32 bits reaches it
SLOW = "link-ms=20000,peer-ms=20000,load-us=9000000,bind-ms=20000,"
SMALL = "aperture-size=1048576,max-window=16"

# Takes an address from the mailbox, loads from it, and tells: in flat protected mode.
GDT = bytes(8) + struct.pack("<QQ", 0x00cf9a000000ffff, 0x00cf92000000ffff)
LOADER = b"".join([
    b"\xfa\x2e\x66\x0f\x01\x16\x40\x00",                # cli; lgdt cs:[0x40]
    b"\x0f\x20\xc0\x0c\x01\x0f\x22\xc0",                # cr0.PE = 1
    b"\x66\xea\x80\x00\x0f\x00\x08\x00"]).ljust(0x40) + (   # jmp 8:0xf0080
    struct.pack("<HI", 23, 0xf0048)).ljust(8) + GDT.ljust(0x38) + b"".join([
        b"\x66\xb8\x10\x00\x8e\xd8",                    # ds = 16
        b"\xf3\x90\x8b\x1d", struct.pack("<I", MAILBOX),    # again: ebx = [MAILBOX]
        b"\x85\xdb\x74\xf4\x8b\x03",                    # if ebx: eax = [ebx]
        b"\xa3", struct.pack("<I", RESULT),
        b"\xc7\x05", struct.pack("<II", MAILBOX, 0),
        b"\xff\x05", struct.pack("<I", COUNT), b"\xeb\xdb"])


class Cpu:
    """The vCPU, and the window that it loads from."""

    def __init__(self, q, dev):
        self.q = q
        config = dev.pci.config
        q.writel(config + 0x20, BAR)
        q.writel(config + 0x24, 0)
        dev.aperture = BAR

    def load(self, offset=0):
        self.before = self.q.readl(COUNT)
        self.q.writel(MAILBOX, BAR + offset)

    def done(self):
        return self.q.readl(COUNT) != self.before

    def result(self):
        self.q.until(self.done, "load")
        return self.q.readl(RESULT)


@hosttest("model.g2g.vcpu")
def vcpu(log):
    """A vCPU waits in a load and the machine lives: the answer, a command, a reset end the wait."""
    with mesh(2, props=SLOW + SMALL, log=log, code=LOADER) as q:
        a, b = fabric(q, 2)
        cpu = Cpu(q, a)
        mem = q.alloc(4096)
        q.writel(mem + 4, 0x600dda7a)
        w = a.map(b.export(mem, 4096, [a]))
        cpu.load(4)
        assert cpu.result() == 0x600dda7a
        cpu.load(0x20000)
        assert cpu.result() == 0xffffffff and a.count().unmapped == 1

        def hang():
            """A load that nobody answers; its bound is far."""
            q.qom_set("die1", "silent", True)
            cpu.load(4)
            q.until(lambda: a.count().loads > loads, "begin")
            assert not cpu.done()
        loads = a.count().loads
        hang()
        w.unbind()
        assert cpu.result() == 0xffffffff
        record, = a.read_log()
        assert (record.kind, record.status) == (abi.KIWI_G2G_LOG_LOAD, abi.KIWI_G2G_ST_REVOKED)
        q.qom_set("die1", "silent", False)
        a.wait_peer(b), b.wait_peer(a)
        w = a.map(b.export(mem, 4096, [a]), offset=0)
        loads = a.count().loads
        hang()
        a.act("ISOLATE_PEER", cmd_id(1))
        assert cpu.result() == 0xffffffff and a.read_log()[0].status == abi.KIWI_G2G_ST_ISOLATED
        q.qom_set("die1", "silent", False)
        a.act("RECOVER_PEER", cmd_id(1))
        a.wait_peer(b), b.wait_peer(a)
        w = a.map(b.export(mem, 4096, [a]), offset=0x10000)
        loads = a.count().loads
        q.qom_set("die1", "silent", True)
        cpu.load(0x10004)
        q.until(lambda: a.count().loads > loads, "begin")
        a.reset()
        assert cpu.result() == 0xffffffff
        cpu.load(4)
        assert cpu.result() == 0xffffffff


@hosttest("model.g2g.vcpu-bound")
def vcpu_bound(log):
    """F-62: with a peer that is dead a load is over within the bound, with its poison event."""
    with mesh(2, props=TIMES + ",load-us=300000,pause-ms=100," + SMALL, log=log, code=LOADER) as q:
        a, b = fabric(q, 2)
        cpu = Cpu(q, a)
        a.map(b.export(q.alloc(4096), 4096, [a]))
        bound_us = a.caps().load_us
        q.qom_set("die1", "silent", True)
        a.drain()
        for _ in range(2):
            begin = time.monotonic()
            cpu.load(8)
            assert cpu.result() == 0xffffffff
            assert time.monotonic() - begin < bound_us / 1e6 + 0.2
        assert a.event(abi.KIWI_G2G_EV_LOG)
        assert {r.status for r in a.read_log()} <= {abi.KIWI_G2G_ST_TIMEOUT,
                                                    abi.KIWI_G2G_ST_ISOLATED}
        assert a.count().timeouts >= 1 and a.count().poisoned == 2
        a.wait_peer(b, abi.KIWI_G2G_PEER_SEEKING)
        assert a.peer(b).reason == abi.KIWI_G2G_WHY_TIMEOUT


@hosttest("model.g2g.vcpu-surprise")
def vcpu_surprise(log):
    """The device is torn out while a vCPU waits inside: all-ones, and the machine lives."""
    for _ in range(3):
        devices = [f"pcie-root-port,id=rp,addr={PORT_SLOT},chassis=1",
                   f"kiwi-g2g,id=die0,bus=rp,netdev0=w0,serial=1,{TIMES},{SMALL}",
                   f"kiwi-g2g,id=die1,addr={SLOT + 1:#x},netdev0=w1,serial=2,{TIMES},{SMALL}"]
        with Qtest(devices, ["-netdev", "hubport,id=w0,hubid=0", "-netdev", "hubport,id=w1,hubid=0",
                             *NATIVE_HOTPLUG], log=log, code=LOADER) as q:
            bridge = q.bridge(PORT_SLOT, 1)
            q.writel(bridge + 0x20, (BAR >> 16 | BAR) & 0xfff0fff0)
            a, b = Die(q, 0, 0, 1).begin(), Die(q, 1).begin()
            a.id = "die0"
            cpu = Cpu(q, a)
            for die in (a, b):
                die.set_fabric()
                die.set_port(0)
            a.wait_port(), b.wait_port()
            activate([a, b])
            mem = q.alloc(4096)
            q.writel(mem, 0x1234)
            a.map(b.export(mem, 4096, [a]))
            cpu.load()
            assert cpu.result() == 0x1234
            q.qom_set("die1", "silent", True)
            loads = a.count().loads
            cpu.load()
            q.until(lambda: a.count().loads > loads, "begin")
            q.qom_set("die0", "surprise", True)
            assert cpu.result() == 0xffffffff
            cpu.load()
            assert cpu.result() == 0xffffffff
            assert b.fabric().state == abi.KIWI_G2G_FABRIC_ACTIVE


@hosttest("model.g2g.device-loads")
def device_loads(log):
    """A SNIC reads and writes the memory of another die through a window, as it does any other."""
    more = [f"kiwi-snic,id=snic{n},addr={4 + 2 * n},netdev0=w{n}" for n in range(2)]
    arguments = ["-netdev", "hubport,id=w0,hubid=90", "-netdev", "hubport,id=w1,hubid=90"]
    with mesh(2, more=more, arguments=arguments, log=log) as q:
        a, b = fabric(q, 2)
        far, near = q.alloc(8192), q.alloc(8192)
        w = a.map(b.export(far, 8192, [a]))
        n0, n1 = Node(q, 0), Node(q, 1)
        qa, _ = connected(n0, n1)
        text = bytes(n * 11 & 0xff for n in range(8192))
        q.write(far, text)
        lkey, rkey = n0.dev.reg_mr(n0.pd, w.addr, 8192), n1.dev.reg_mr(n1.pd, near, 8192)

        def run(opcode):
            qa.put_wqe(wqe(opcode, raddr(0, rkey), sge(0, lkey, 8192)))
            qa.ring_sq()
            return n0.cq.take().status
        assert run(abi.KIWI_WQE_WRITE) == abi.KIWI_CQE_ST_OK
        assert q.read(near, 8192) == text
        q.write(near, text[::-1])
        assert run(abi.KIWI_WQE_READ) == abi.KIWI_CQE_ST_OK
        q.readb(w.addr)
        assert q.read(far, 8192) == text[::-1]
        # The SNIC may have asked again for what came slowly.
        assert a.count().load_bytes >= 8193 and a.count().store_bytes >= 8192
        assert a.count().poisoned == a.count().stores_dropped == 0


@hosttest("model.g2g.faults", timeout=300)
def faults(log):
    """Frames lost and spoiled, links that flap: data still arrives, once and whole."""
    for name, chance, counted in (("drop", 800, "dropped"), ("corrupt", 800, "corrupted"),
                                  ("flap", 150, "flaps")):
        folder = log / name
        folder.mkdir()
        with mesh(2, props=TIMES + ",peer-ms=6000,load-us=6000000", log=folder) as q:
            a, b = fabric(q, 2)
            mem = q.alloc(65536)
            w = a.map(b.export(mem, 65536, [a]))
            q.qom_set("die0", "flap-ms", 20)
            for die in ("die0", "die1"):
                q.qom_set(die, name, chance)
            adds = 0
            for n in range(300):
                q.writeq(w.addr + 8 * n, n * 0x0101010101)
                if n % 7 == 0:
                    assert q.readq(w.addr + 8 * n) == n * 0x0101010101
                if n % 20 == 0:
                    adds += 3
                    w.cell().run(abi.KIWI_G2G_FETCH_ADD, 0x8000, 3)
            assert q.readq(w.addr + 0x8000) == adds     # each carried out once
            for die in ("die0", "die1"):
                q.qom_set(die, name, 0)
            assert [q.readq(mem + 8 * n) for n in range(300)] == [n * 0x0101010101
                                                                  for n in range(300)]
            assert q.qom_get("die0", counted) > 3
            assert a.count().retransmitted or b.count().retransmitted
            assert (a.count().poisoned, a.count().stores_dropped) == (0, 0)
            if name == "corrupt":
                assert b.port_counters().rx_crc > 3


@hosttest("model.g2g.peer-death")
def peer_death(log):
    """A peer that dies in the middle of a load: poison, dead windows, others undisturbed."""
    with mesh(3, log=log) as q:
        a, b, c = fabric(q, 3)
        mem = q.alloc(8192)
        wb, wc = a.map(b.export(mem, 4096, [a])), a.map(c.export(mem + 4096, 4096, [a]))
        back = b.map(a.export(mem, 4096, [b]))
        assert a.peer(b).bindings == a.peer(b).windows == 1
        q.qom_set("die1", "silent-after", 3)
        a.drain()
        assert q.readq(wb.addr) == q.readq(wb.addr + 8) == 0
        assert q.readq(wb.addr + 16) == ONES
        a.wait_peer(b, abi.KIWI_G2G_PEER_SEEKING)
        assert a.peer(b).reason == abi.KIWI_G2G_WHY_TIMEOUT
        events = [e.type for e in a.drain()]
        assert events.index(abi.KIWI_G2G_EV_LOG) < events.index(abi.KIWI_G2G_EV_PEER) < \
            events.index(abi.KIWI_G2G_EV_WINDOW)
        assert wb.state().state == abi.KIWI_G2G_WINDOW_DEAD and a.peer(b).bindings == 0
        assert a.peer(c).generation == 1
        q.writeq(wc.addr, 9)
        assert q.readq(wc.addr) == 9
        q.qom_set("die1", "silent-after", 0)
        q.qom_set("die1", "silent", False)
        a.wait_peer(b), b.wait_peer(a)
        assert q.readq(wb.addr) == q.readq(back.addr) == ONES   # for good
        assert q.readq(a.map(b.export(mem, 4096, [a])).addr) == 0


@hosttest("model.g2g.revoke-dead")
def revoke_dead(log):
    """M-14: an importer that does not acknowledge is isolated, within the bound."""
    with mesh(3, props=TIMES + ",peer-ms=5000", log=log) as q:
        a, b, c = fabric(q, 3)
        e = b.export(q.alloc(4096), 4096, [a, c])
        a.map(e), c.map(e)
        b.drain()
        q.qom_set("die0", "silent", True)
        begin = time.monotonic()
        b.act("REVOKE_EXPORT", cmd_id(e.number))
        assert b.status_of("DESTROY_EXPORT", cmd_id(e.number)).status == abi.KIWI_ST_BUSY
        done = b.event(abi.KIWI_G2G_EV_EXPORT)
        assert 0.2 < time.monotonic() - begin < b.caps().revoke_ms / 1000 + 0.3
        assert (done.id, done.info) == (e.number, 1)
        assert (b.peer(a).state, b.peer(a).reason) == (
            abi.KIWI_G2G_PEER_ISOLATED, abi.KIWI_G2G_WHY_REVOKE)
        assert b.peer(c).state == abi.KIWI_G2G_PEER_ESTABLISHED and b.count().isolations == 1
        b.act("DESTROY_EXPORT", cmd_id(e.number))


@hosttest("model.g2g.pause")
def pause(log):
    """F-5: nothing new starts, what is under way ends, and the pause too."""
    with mesh(2, props=TIMES + ",load-us=5000000,pause-ms=1500", log=log) as q:
        a, b = fabric(q, 2)
        mem = q.alloc(4096)
        w = a.map(b.export(mem, 4096, [a]))
        back = b.map(a.export(mem, 4096, [b]))
        a.drain()
        a.act("PAUSE")
        assert a.fabric().paused == 1
        assert a.status_of("PAUSE").status == abi.KIWI_ST_BAD_STATE
        assert a.event(abi.KIWI_G2G_EV_PAUSE).code == abi.KIWI_G2G_PAUSE_DRAINED
        q.writeq(w.addr, 7)
        q.settle(0.03)
        assert q.readq(mem) == 0
        q.writeq(back.addr + 8, 1)      # the other's go on
        assert q.readq(back.addr + 8) == 1
        a.act("RESUME")
        assert a.status_of("RESUME").status == abi.KIWI_ST_BAD_STATE
        q.until(lambda: q.readq(mem) == 7, "store")
        a.act("PAUSE")
        begin = time.monotonic()
        assert q.readq(w.addr) == 7     # it waits for the end of the pause
        assert time.monotonic() - begin > 0.5
        codes = [e.code for e in a.drain() if e.type == abi.KIWI_G2G_EV_PAUSE]
        assert codes == [abi.KIWI_G2G_PAUSE_DRAINED, abi.KIWI_G2G_PAUSE_EXPIRED]
        assert not a.read_log() and a.fabric().paused == 0


@hosttest("model.g2g.id-conflict-error")
def conflict(log):
    """W-24: our id from another die takes the fabric down, until it is deactivated."""
    q, dev, other = ready(log)
    with q:
        number = bound(q, dev, other)
        dev.drain()
        other.hello(serial=0x4b57000000000001, fh=dict(src=0x102))  # our own, come back
        assert not dev.drain()
        other.hello(fh=dict(src=0x102))
        event = dev.event(abi.KIWI_G2G_EV_FABRIC)
        assert (event.code, event.info) == (abi.KIWI_G2G_FABRIC_ERROR,
                                            abi.KIWI_G2G_WHY_ID_CONFLICT)
        got = other.receive()
        assert got[12:14] == b"\x88\xb6" and got[30:32] == bytes([3, abi.KIWI_G2G_WHY_FABRIC])
        assert dev.peer(0x203).state == abi.KIWI_G2G_PEER_NONE
        record, = dev.read_log()
        assert (record.kind, record.accel, record.addr) == (
            abi.KIWI_G2G_LOG_ID_CONFLICT, 0x102, 0xfeedf00d)
        assert dev.status_of("DEACTIVATE").status == abi.KIWI_ST_BUSY
        dev.act("UNBIND_WINDOW", cmd_id(number))
        dev.act("DEACTIVATE")
        assert dev.fabric().state == abi.KIWI_G2G_FABRIC_READY
        other.quiet = False
        established(dev, other)
        # A stranger with the id of the peer is logged, and changes nothing.
        other.hello(serial=5)
        q.until(lambda: dev.read_log(), "log")
        assert dev.peer(0x203).state == abi.KIWI_G2G_PEER_ESTABLISHED


@hosttest("model.g2g.atomics")
def atomics(log):
    """M-40 to M-42: each operation, its refusals, cells that are independent, and PROTECTION."""
    with mesh(2, log=log) as q:
        a, b = fabric(q, 2)
        mem = q.alloc(4096)
        w = a.map(b.export(mem, 4096, [a]))
        add, swap, cas = abi.KIWI_G2G_FETCH_ADD, abi.KIWI_G2G_SWAP, abi.KIWI_G2G_CMP_SWAP
        cell, other = w.cell(0), w.cell(63)
        assert cell.read() == (0, 0)
        assert cell.run(add, 8, 5) == (0, 0) and q.readq(mem + 8) == 5
        assert cell.run(add, 8, ONES) == (5, 0) and q.readq(mem + 8) == 4
        assert other.run(swap, 8, 0x1234567890) == (4, 0) and q.readq(mem + 8) == 0x1234567890
        assert cell.read() == (5, 0)            # as it was
        assert other.run(cas, 8, 1, 2) == (0x1234567890, 0) and q.readq(mem + 8) == 0x1234567890
        assert other.run(cas, 8, 1, 0x1234567890) == (0x1234567890, 0) and q.readq(mem + 8) == 1
        q.writeq(w.addr + 16, 100)              # in order behind a store
        assert cell.run(add, 16, 1) == (100, 0)
        decode = abi.KIWI_G2G_ST_DECODE_ERROR
        for op, offset in ((0, 0), (4, 0), (255, 0), (add, 4), (add, 4096), (add, 1 << 55)):
            assert cell.run(op, offset, 1) == (ONES, decode), (op, offset)
        assert sum(r.count for r in a.read_log()
                   if (r.kind, r.status) == (abi.KIWI_G2G_LOG_ATOMIC, decode)) == 6
        assert cell.run(add, 4088, 1) == (0, 0)
        q.writel(cell.addr + abi.KIWI_G2G_CELL_GO, 8)
        q.writel(cell.addr, 77)
        assert q.readl(cell.addr) == 0 and q.readq(cell.addr) == 1
        assert q.readq(cell.addr + 0x10) == q.readq(cell.addr + 0x28) == 0
        assert a.count().unmapped == 0 and b.count().served_atomics == 7
        reader = a.map(b.export(mem, 4096, [a]), rights=abi.KIWI_ACCESS_REMOTE_READ)
        assert reader.cell().read() == (ONES, ONES) and a.count().unmapped == 2
        # A die that dies under it, and a window that is dead.
        q.qom_set("die1", "silent", True)
        cell.go(add, 0, 1)
        cell.go(add, 0, 1)
        assert a.count().unmapped == 3          # it is under way
        result, status = cell.read()
        assert result == ONES and status in (abi.KIWI_G2G_ST_TIMEOUT, abi.KIWI_G2G_ST_ISOLATED)
        a.wait_peer(b, abi.KIWI_G2G_PEER_SEEKING)
        assert cell.run(add, 0, 1) == (ONES, abi.KIWI_G2G_ST_ISOLATED)
        w.unbind()
        assert cell.read() == (ONES, ONES)
    with mesh(2, log=log) as q:
        a, b = fabric(q, 2, caps=abi.KIWI_CAP_DIAG)
        assert (a.caps().atomics, a.caps().atomic_base) == (0, 0)
        for name, data in (("CREATE_EXPORT", a.export_in(q.alloc(4096), 4096, [1])),):
            assert a.status_of(name, data, 8).status == abi.KIWI_ST_BAD_RESERVED
        assert a.status_of("READ_MAIL", b"", 72).status == abi.KIWI_ST_BAD_OPCODE


def letter(accel, generation, data):
    return struct.pack("<HHI", accel, len(data), generation) + data.ljust(64, b"\0")


@hosttest("model.g2g.mail")
def mail(log):
    """F-55: in order, at most as many as are kept, for one session."""
    with mesh(2, props=TIMES + ",mail=3", log=log) as q:
        a, b = fabric(q, 2)
        a.drain(), b.drain()

        def send(data, generation=1, accel=1):
            return a.status_of("SEND_MAIL", letter(accel, generation, data))
        assert send(b"").status == send(b"x", accel=0).status == abi.KIWI_ST_BAD_PARAM
        spoiled = letter(1, 1, b"x")[:-1] + b"\1"
        assert a.status_of("SEND_MAIL", spoiled).status == abi.KIWI_ST_BAD_RESERVED
        assert send(b"x", generation=2).status == abi.KIWI_ST_BAD_STATE
        assert b.status_of("READ_MAIL", b"", 72).status == abi.KIWI_ST_BAD_STATE
        texts = [b"one", b"two", b"three" * 12]
        for text in texts:
            assert send(text).status == abi.KIWI_ST_OK
        full = send(b"four")
        assert (full.status, full.err_limit) == (abi.KIWI_ST_NO_RESOURCE, 3)
        assert a.peer(b).mail_room == 0
        assert [(e.type, e.id) for e in b.drain()] == [(abi.KIWI_G2G_EV_MAIL, 0)]
        for n, text in enumerate(texts):
            assert b.act("READ_MAIL", b"", 72) == letter(0, 1, text)
            if not n:
                room = a.event()
                assert (room.type, room.id) == (abi.KIWI_G2G_EV_MAIL_ROOM, 1)
        assert b.status_of("READ_MAIL", b"", 72).status == abi.KIWI_ST_BAD_STATE
        assert not a.drain()
        q.until(lambda: a.peer(b).mail_room == 3, "room")
        assert send(b"five").status == abi.KIWI_ST_OK
        assert b.event().type == abi.KIWI_G2G_EV_MAIL
        # What was not read is forgotten with the session.
        b.act("ISOLATE_PEER", cmd_id(0))
        assert b.status_of("READ_MAIL", b"", 72).status == abi.KIWI_ST_BAD_STATE
        q.until(lambda: a.peer(b).state != abi.KIWI_G2G_PEER_ESTABLISHED, "end of the session")
        assert send(b"six").status == abi.KIWI_ST_BAD_STATE
        assert (a.count().mail_sent, b.count().mail_received) == (4, 4)
