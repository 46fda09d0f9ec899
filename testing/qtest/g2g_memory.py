# SPDX-License-Identifier: GPL-2.0
"""Exports, windows, loads and stores: M-1 to M-36 of spec/g2g.md."""

import abi
from g2gdev import ALL, ONES, RW, Die, cmd_id, fabric, mesh
from scenario import hosttest

READ, WRITE = abi.KIWI_ACCESS_REMOTE_READ, abi.KIWI_ACCESS_REMOTE_WRITE


@hosttest("model.g2g.loads-and-stores")
def loads_and_stores(log):
    """Bytes of every width, aligned or not, reach the memory of the exporter and come back."""
    with mesh(2, log=log) as q:
        a, b = fabric(q, 2)
        mem = q.alloc(8192)
        w = a.map(b.export(mem, 8192, [a]))
        q.writeq(w.addr + 8, 0x1122334455667788)
        assert q.readq(w.addr + 8) == q.readq(mem + 8) == 0x1122334455667788
        q.writel(w.addr + 12, 0xcafebabe)
        q.writew(w.addr + 10, 0xd00d)
        q.writeb(w.addr + 8, 0x5a)
        assert q.readl(w.addr + 12) == 0xcafebabe
        assert q.readq(mem + 8) == 0xcafebabed00d775a
        assert (q.readw(w.addr + 9), q.readb(w.addr + 11)) == (0x0d77, 0xd0)
        text = bytes(n * 7 & 0xff for n in range(1000))
        q.write(w.addr + 4093, text)
        assert q.read(w.addr + 4093, 1000) == q.read(mem + 4093, 1000) == text
        count, served = a.count(), b.count()
        assert (count.poisoned, count.stores_dropped, count.unmapped) == (0, 0, 0)
        assert served.served_write_bytes == count.store_bytes == 1000 + 8 + 4 + 2 + 1
        assert served.served_read_bytes == count.load_bytes == 1000 + 8 + 4 + 2 + 1
        assert count.loads == served.served_reads and count.stores == served.served_writes
        assert count.memory_pdus == count.loads + count.stores
        assert a.read_log() == b.read_log() == []


@hosttest("model.g2g.edges")
def edges(log):
    """A sweep at the ends of a window that begins and ends in the middle of an export."""
    with mesh(2, log=log) as q:
        a, b = fabric(q, 2)
        mem = q.alloc(0x4000)
        q.fill(mem, 0x4000, 0x11)
        length = 0x1ffd
        w = a.map(b.export(mem, 0x4000, [a]), export_offset=0x1000, length=length)
        records = []
        for size, read, write in ((1, q.readb, q.writeb), (2, q.readw, q.writew),
                                  (4, q.readl, q.writel), (8, q.readq, q.writeq)):
            ones = (1 << 8 * size) - 1
            for end in range(length - 4, length + 12):
                inside = end <= length
                assert read(w.addr + end - size) == (0x1111111111111111 & ones if inside else ones)
                write(w.addr + end - size, 0x2222222222222222 & ones)
                q.readb(w.addr)     # after all stores
                begin = mem + 0x1000 + end - size
                assert q.read(begin, size) == (b"\x22" if inside else b"\x11") * size
                q.fill(begin, size, 0x11)
            records += a.read_log()
        assert q.read(mem, 0x4000) == b"\x11" * 0x4000
        assert {(r.kind, r.status, r.id, r.accel) for r in records} == {
            (abi.KIWI_G2G_LOG_LOAD, abi.KIWI_G2G_ST_DECODE_ERROR, w.number, 1),
            (abi.KIWI_G2G_LOG_STORE, abi.KIWI_G2G_ST_DECODE_ERROR, w.number, 1)}
        assert sum(r.count for r in records) == 2 * 4 * 11
        # Behind the last granule, and before the first of another, there is nothing.
        assert a.count().unmapped == 0
        assert q.readq(w.addr + 0x10000) == ONES
        q.writeq(w.addr + 0x10000, 1)
        assert a.count().unmapped == 2 and not a.read_log()
        # One byte beyond the export, by a window that ends with it.
        end = a.map(b.export(mem, 0x2000, [a]))
        assert q.readb(end.addr + 0x1fff) == 0x11 and q.readw(end.addr + 0x1fff) == 0xffff


@hosttest("model.g2g.rights")
def rights(log):
    """Each right holds by itself: of the grant, of the binding, for READ and for WRITE."""
    with mesh(3, log=log) as q:
        a, b, c = fabric(q, 3)
        mem = q.alloc(4096)
        q.writeq(mem, 0x77)
        e = b.export(mem, 4096, [a], rights=RW)
        reader = a.map(e, rights=READ)
        writer = a.map(e, rights=WRITE)
        assert q.readq(reader.addr) == 0x77
        q.writeq(reader.addr, 1)
        assert q.readq(writer.addr) == ONES
        q.writeq(writer.addr, 0x78)
        assert q.readq(reader.addr) == 0x78
        refused = [(r.kind, r.id, r.status, r.addr, r.len) for r in a.read_log()]
        prot = abi.KIWI_G2G_ST_PROTECTION
        assert refused == [(abi.KIWI_G2G_LOG_STORE, reader.number, prot, 0, 8),
                           (abi.KIWI_G2G_LOG_LOAD, writer.number, prot, 0, 8)]

        def answer(die, handle, wanted):
            w = die.window(die.bound(b, handle, wanted))
            return w.state, w.reason
        bound = (abi.KIWI_G2G_WINDOW_BOUND, 0)
        none = (abi.KIWI_G2G_WINDOW_DEAD, abi.KIWI_G2G_WHY_NO_ACCESS)
        assert answer(a, e.handle, RW) == bound
        assert answer(a, e.handle, ALL) == none             # a right that was not given
        assert answer(c, e.handle, READ) == none            # not a grantee
        for bit in range(128):                              # a handle like it
            guess = int.from_bytes(e.handle, "little") ^ 1 << bit
            assert answer(a, guess.to_bytes(16, "little"), READ) == none
        assert b.count().refused_bind == 130 and b.export_state(e.number).bindings == 3
        b.act("REVOKE_EXPORT", cmd_id(e.number))
        assert answer(a, e.handle, READ) == none            # no longer live


@hosttest("model.g2g.revoke")
def revoke(log):
    """Revocation: no access afterwards, the windows die, the exporter hears that they did."""
    with mesh(3, log=log) as q:
        a, b, c = fabric(q, 3)
        mem = q.alloc(4096)
        q.writeq(mem, 0x55)
        e, other = b.export(mem, 4096, [a, c]), b.export(mem, 4096, [a])
        wa, wc, wo = a.map(e), c.map(e), a.map(other)
        assert q.readq(wa.addr) == q.readq(wc.addr) == q.readq(wo.addr) == 0x55
        state = b.export_state(e.number)
        assert (state.state, state.bindings, bytes(state.importers[:1])) == (
            abi.KIWI_G2G_EXPORT_LIVE, 2, b"\x05")
        assert b.status_of("DESTROY_EXPORT", cmd_id(e.number)).status == abi.KIWI_ST_BUSY
        a.drain(), b.drain()
        b.act("REVOKE_EXPORT", cmd_id(e.number))
        assert b.status_of("REVOKE_EXPORT", cmd_id(e.number)).status == abi.KIWI_ST_BAD_STATE
        done = b.event(abi.KIWI_G2G_EV_EXPORT)
        assert (done.id, done.code, done.info) == (e.number, abi.KIWI_G2G_EXPORT_REVOKED, 0)
        dead = a.event(abi.KIWI_G2G_EV_WINDOW)
        assert (dead.id, dead.code, dead.info) == (
            wa.number, abi.KIWI_G2G_WINDOW_DEAD, abi.KIWI_G2G_WHY_REVOKED)
        assert q.readq(wa.addr) == q.readq(wc.addr) == ONES
        q.writeq(wa.addr, 1)
        assert q.readq(wo.addr) == 0x55
        log_a = [(r.kind, r.id, r.status) for r in a.read_log()]
        assert log_a == [(abi.KIWI_G2G_LOG_LOAD, wa.number, abi.KIWI_G2G_ST_REVOKED),
                         (abi.KIWI_G2G_LOG_STORE, wa.number, abi.KIWI_G2G_ST_REVOKED)]
        assert b.count().shootdowns == 2 and not b.read_log()
        assert b.diag(abi.KIWI_DIAG_LIVE_BINDING) == 1
        b.act("DESTROY_EXPORT", cmd_id(e.number))
        wa.unbind()
        assert b.count().refused_key == 0


@hosttest("model.g2g.reads-unbound")
def unbind(log):
    """A window that is given up is released at the exporter, and its granules are free."""
    with mesh(2, log=log) as q:
        a, b = fabric(q, 2)
        e = b.export(q.alloc(4096), 4096, [a])
        first = a.map(e, offset=0)
        number = a.bound(b, e.handle)
        busy = a.status_of("MAP_WINDOW", Die.map_in(number, 0, 4096))
        assert (busy.status, busy.err_value) == (abi.KIWI_ST_BUSY, first.number)
        q.writeq(first.addr, 3)
        first.unbind()
        assert q.readq(first.addr) == ONES and a.count().unmapped == 1
        q.until(lambda: b.export_state(e.number).bindings == 1, "release")
        a.act("MAP_WINDOW", Die.map_in(number, 0, 4096))
        assert q.readq(first.addr) == 3
        again = a.status_of("MAP_WINDOW", Die.map_in(number, 0x10000, 4096))
        assert again.status == abi.KIWI_ST_BAD_STATE
        assert a.diag(abi.KIWI_DIAG_LIVE_WINDOW) == 1


@hosttest("model.g2g.memory-fault")
def memory_fault(log):
    """Memory of the exporter that nobody decodes: poison with a reason, and a store that is told."""
    with mesh(2, log=log) as q:
        a, b = fabric(q, 2)
        hole = 0xfe000000000
        w = a.map(b.export(hole, 8192, [a]), export_offset=4096)
        a.drain()
        assert q.readq(w.addr + 16) == ONES
        poison = a.event(abi.KIWI_G2G_EV_LOG)
        assert (poison.code, poison.id, poison.info) == (0, 0, 0)
        q.writel(w.addr + 24, 5)
        assert q.readq(w.addr + 32) == ONES
        abort = abi.KIWI_G2G_ST_TARGET_ABORT
        q.until(lambda: a.count().stores_dropped, "WRITE_ERR")
        assert [(r.kind, r.addr, r.len, r.status, r.count) for r in a.read_log()] in (
            [(1, 16, 8, abort, 1), (2, 24, 4, abort, 1), (1, 32, 8, abort, 1)],
            [(1, 16, 8, abort, 2), (2, 24, 4, abort, 1)])
        target, = b.read_log()
        assert (target.kind, target.addr, target.status, target.count, target.accel) == (
            abi.KIWI_G2G_LOG_TARGET, 4096 + 16, abort, 3, 0)
        assert not a.drain()    # the log was not empty meanwhile
