# SPDX-License-Identifier: GPL-2.0
"""Fabric, ports, routes, images: F-1 to F-45 of spec/g2g.md."""

import abi
from g2gdev import (ALL, POD, SLOT, TIMES, Die, activate, cmd_id, configured, fabric, mesh, port_to,
                    switch)
from g2gfabric import image
from qtest import Qtest
from scenario import hosttest
from snicdev import STATUS, fields

UNCONFIGURED, CONFIGURED, READY, ACTIVE, ERROR = range(5)
DOWN, TRAINING, UP, FAULT = range(4)


def refused(reply):
    return STATUS[reply.status], reply.err_value


@hosttest("model.g2g.states")
def states(log):
    """F-1 to F-4: the states of the fabric, the event of each, and what is refused in which."""
    with mesh(2, log=log) as q:
        a, b = (Die(q, n).begin() for n in range(2))
        data = fields("kiwi_g2g_set_fabric_in", pod=POD, accel=0, partition=5, epoch=7)
        for change in (dict(pod=bytes(16)), dict(accel=1024), dict(partition=1024)):
            bad = fields("kiwi_g2g_set_fabric_in",
                         **{**dict(pod=POD, accel=0, partition=5, epoch=7), **change})
            assert a.status_of("SET_FABRIC", bad).status == abi.KIWI_ST_BAD_PARAM
        f = a.fabric()
        assert (f.state, f.reason, bytes(f.config), f.routes) == (
            UNCONFIGURED, abi.KIWI_G2G_WHY_NOT_CONFIGURED, bytes(24), 0)
        for name in ("ACTIVATE", "DEACTIVATE", "PAUSE", "RESUME"):
            assert refused(a.status_of(name))[0] == "BAD_STATE"
        assert a.status_of("COMMIT_ROUTES", cmd_id(0), 8).status == abi.KIWI_ST_BAD_STATE
        assert a.status_of("STAGE_ROUTES", a.stage_in({1: 1})).status == abi.KIWI_ST_BAD_STATE
        export = a.export_in(q.alloc(4096), 4096, [1])
        assert a.status_of("CREATE_EXPORT", export, 8).status == abi.KIWI_ST_BAD_STATE
        assert a.status_of("ISOLATE_PEER", cmd_id(1)).status == abi.KIWI_ST_BAD_STATE

        a.act("SET_FABRIC", data)
        assert bytes(a.fabric().config) == data
        e = a.event(abi.KIWI_G2G_EV_FABRIC)
        assert (e.code, e.info) == (CONFIGURED, abi.KIWI_G2G_WHY_NO_ROUTES)
        assert refused(a.status_of("ACTIVATE"))[0] == "BAD_STATE"
        a.set_port(0)
        a.route({1: 1})
        assert (a.fabric().state, a.fabric().reason) == (CONFIGURED, abi.KIWI_G2G_WHY_NO_PORT)
        b.set_fabric()
        b.set_port(0)
        a.wait_fabric(READY)
        assert a.event(abi.KIWI_G2G_EV_FABRIC).code == READY
        a.act("ACTIVATE")
        assert a.event(abi.KIWI_G2G_EV_FABRIC).code == ACTIVE
        assert refused(a.status_of("SET_FABRIC", data))[0] == "BAD_STATE"
        assert refused(a.status_of("ACTIVATE_IMAGE", cmd_id(0)))[0] == "BAD_STATE"
        b.set_port(0, flags=0)
        a.wait_port(0, TRAINING, abi.KIWI_G2G_WHY_NO_NEIGHBOUR)
        assert a.fabric().state == ACTIVE       # it stays when ports go down
        number = a.export(q.alloc(4096), 4096, [1]).number
        assert refused(a.status_of("DEACTIVATE")) == ("BUSY", 1)
        a.act("DESTROY_EXPORT", cmd_id(number))
        a.act("DEACTIVATE")
        assert a.event(abi.KIWI_G2G_EV_FABRIC).code == CONFIGURED
        number = a.export(q.alloc(4096), 4096, [1]).number
        assert refused(a.status_of("SET_FABRIC", data)) == ("BUSY", 1)
        assert refused(a.status_of("ACTIVATE_IMAGE", cmd_id(0))) == ("BUSY", 1)
        lost = a.diag(abi.KIWI_DIAG_LOST_AT_RESET)
        live = sum(a.diag(n) for n in range(abi.KIWI_DIAG_LIVE_END + 1))
        a.reset()
        assert a.diag(abi.KIWI_DIAG_LOST_AT_RESET) == lost + live and live == 2
        a.begin()
        assert a.fabric().state == UNCONFIGURED
        assert a.port(0).config.flags == 0 and a.port(0).ups == 0


@hosttest("model.g2g.sessions")
def sessions(log):
    """F-50 to F-53: two dies agree or say why not; leave, isolate, recover; generations."""
    with mesh(2, log=log) as q:
        a, b = configured(q, 2)
        activate([a, b])
        assert (a.peer(b).generation, a.peer(b).serial, a.peer(b).image_id, a.peer(b).epoch,
                a.peer(b).partition, a.peer(b).mail_room) == (1, 2, abi.KIWI_G2G_SUE, 7, 5, 16)
        w = a.map(b.export(q.alloc(4096), 4096, [a]))
        a.drain(), b.drain()
        b.act("ISOLATE_PEER", cmd_id(0))
        assert b.status_of("ISOLATE_PEER", cmd_id(0)).status == abi.KIWI_ST_BAD_STATE
        assert (b.peer(a).state, b.peer(a).reason, b.peer(a).bindings) == (
            abi.KIWI_G2G_PEER_ISOLATED, abi.KIWI_G2G_WHY_ADMIN, 0)
        e = a.event(abi.KIWI_G2G_EV_PEER)
        assert (e.id, e.code, e.info) == (1, abi.KIWI_G2G_PEER_SEEKING, abi.KIWI_G2G_WHY_ISOLATED)
        a.wait_peer(b, abi.KIWI_G2G_PEER_MISMATCH)
        assert a.peer(b).reason == abi.KIWI_G2G_WHY_ISOLATED
        assert (w.state().state, w.state().reason) == (
            abi.KIWI_G2G_WINDOW_DEAD, abi.KIWI_G2G_WHY_ISOLATED)
        b.act("RECOVER_PEER", cmd_id(0))
        a.wait_peer(b), b.wait_peer(a)
        assert (a.peer(b).generation, b.peer(a).generation) == (2, 2)
        assert b.status_of("RECOVER_PEER", cmd_id(0)).status == abi.KIWI_ST_BAD_STATE
        w.unbind()
        b.act("DESTROY_EXPORT", cmd_id(1))
        # Each kind of disagreement, and that it heals when the cause is gone.
        for change, why in ((dict(epoch=8), abi.KIWI_G2G_WHY_EPOCH),
                            (dict(partition=6), abi.KIWI_G2G_WHY_PARTITION)):
            for values, state in ((change, abi.KIWI_G2G_PEER_MISMATCH),
                                  ({}, abi.KIWI_G2G_PEER_ESTABLISHED)):
                b.act("DEACTIVATE")
                b.set_fabric(**values)
                b.wait_port(0)
                b.route({0: 1})
                b.wait_fabric(READY)
                b.act("ACTIVATE")
                a.wait_peer(b, state)
                b.wait_peer(a, state)
                if state == abi.KIWI_G2G_PEER_MISMATCH:
                    assert why in (a.peer(b).reason, b.peer(a).reason)
        a.act("DEACTIVATE")
        b.wait_peer(a, abi.KIWI_G2G_PEER_SEEKING)
        assert b.peer(a).reason == abi.KIWI_G2G_WHY_FABRIC
        assert (a.peer(b).state, a.peer(b).reason) == (
            abi.KIWI_G2G_PEER_NONE, abi.KIWI_G2G_WHY_FABRIC)
        for name in ("QUERY_PEER", "ISOLATE_PEER", "RECOVER_PEER"):
            out = 64 if name == "QUERY_PEER" else 0
            for accel in (0, 1024):
                assert a.status_of(name, cmd_id(accel), out).status == abi.KIWI_ST_BAD_PARAM


@hosttest("model.g2g.ports")
def ports(log):
    """F-10 to F-12: what SET_PORT refuses; states and reasons; what the two ends must agree on."""
    with mesh(2, log=log) as q:
        a, b = (Die(q, n).begin() for n in range(2))
        enabled, routable = abi.KIWI_G2G_PORT_ENABLED, abi.KIWI_G2G_PORT_ROUTABLE
        for change, status in (
                (dict(port=16), "BAD_PARAM"), (dict(flags=8), "BAD_RESERVED"),
                (dict(mode=0), "BAD_PARAM"), (dict(mode=3), "BAD_PARAM"),
                (dict(lanes=0), "BAD_PARAM"), (dict(lanes=16), "BAD_PARAM"),
                (dict(fec=3), "BAD_PARAM"), (dict(flow=1), "BAD_PARAM"), (dict(flow=2), "BAD_PARAM"),
                (dict(mtu=1023), "BAD_PARAM"), (dict(mtu=9217), "BAD_PARAM"),
                (dict(rsvd=1), "BAD_RESERVED"), (dict(lanes=0, flags=0), "OK")):
            reply = a.status_of("SET_PORT", Die.port_in(**{"port": 0, **change}))
            assert STATUS[reply.status] == status, change
        a.set_port(1, lanes=6)
        for port, lanes, status in ((2, 3, "BAD_PARAM"), (4, 6, "OK"), (3, 9, "OK"), (1, 14, "BAD_PARAM")):
            reply = a.status_of("SET_PORT", Die.port_in(port, lanes=lanes))
            assert STATUS[reply.status] == status
        for port in (1, 3, 4):
            a.set_port(port, flags=0, lanes=0)

        def state(die=a):
            p = die.port(0)
            return p.state, p.reason
        assert state() == (DOWN, abi.KIWI_G2G_WHY_ADMIN)
        a.set_port(0)
        assert state() == (DOWN, abi.KIWI_G2G_WHY_NOT_CONFIGURED)
        assert bytes(a.port(0).mac) == bytes(6)
        a.set_fabric()
        a.set_port(4)
        assert (a.port(4).state, a.port(4).reason, a.port(4).station) == (
            TRAINING, abi.KIWI_G2G_WHY_NO_CARRIER, 1)
        a.wait_port(0, TRAINING, abi.KIWI_G2G_WHY_NO_NEIGHBOUR)
        b.set_fabric()
        b.set_port(0)
        a.wait_port(), b.wait_port()
        p = a.port(0)
        assert (p.neighbour, p.neighbour_port, p.mbps, p.ups, p.neighbour_image_id) == (
            1, 0, 100000, 1, abi.KIWI_G2G_SUE)
        a.drain()
        for config, why in ((dict(mtu=4096), abi.KIWI_G2G_WHY_MTU),
                            (dict(lanes=6), abi.KIWI_G2G_WHY_LANES),
                            (dict(fec=1), abi.KIWI_G2G_WHY_FEC)):
            b.set_port(0, **config)
            a.wait_port(0, FAULT, why)
            b.wait_port(0, FAULT, why)
            b.set_port(0)
            a.wait_port(), b.wait_port()
        for change, why in ((dict(pod=bytes([1]) * 16), abi.KIWI_G2G_WHY_POD),
                            (dict(accel=0), abi.KIWI_G2G_WHY_ID_CONFLICT)):
            b.set_fabric(**change)
            a.wait_port(0, FAULT, why)
            b.set_fabric(1)
            a.wait_port(), b.wait_port()
        ups = a.port(0).ups
        a.set_port(0, flags=enabled)
        assert state() == (UP, 0) and a.fabric().ports_routable == 0
        a.set_port(0, flags=enabled | routable)
        assert state() == (UP, 0) and a.port(0).ups == ups
        assert a.fabric().ports_up == a.fabric().ports_routable == 1
        q.qom_set("die1", "silent", True)
        a.wait_port(0, TRAINING, abi.KIWI_G2G_WHY_TIMEOUT)
        a.wait_port(0, TRAINING, abi.KIWI_G2G_WHY_NO_NEIGHBOUR)
        q.qom_set("die1", "silent", False)
        a.wait_port()
        q.qmp("set_link", name="l0to1", up=False)
        assert state() == (TRAINING, abi.KIWI_G2G_WHY_NO_CARRIER)
        q.qmp("set_link", name="l0to1", up=True)
        a.wait_port()
        assert a.port_counters().link_down == a.port(0).ups - 1


@hosttest("model.g2g.neighbours")
def neighbours(log):
    """W-49: two dies on a link that is said to be direct are a fault, and it heals."""
    with switch(3, log=log) as q:
        a, b, c = (Die(q, n).begin() for n in range(3))
        for die in (a, b):
            die.set_fabric()
            die.set_port(0)
        a.wait_port(), b.wait_port()
        c.set_fabric()
        c.set_port(0)
        a.wait_port(0, FAULT, abi.KIWI_G2G_WHY_NEIGHBOURS)
        c.set_port(0, flags=0)
        a.wait_port(), b.wait_port()


@hosttest("model.g2g.switched")
def switched(log):
    """Ports on a switch need no training: frames find their way by address (W-3)."""
    with switch(3, log=log) as q:
        dies = [Die(q, n).begin() for n in range(3)]
        for die in dies:
            die.set_fabric()
            die.set_port(0, mode=abi.KIWI_G2G_PORT_SWITCHED)
            assert (die.port(0).state, die.port(0).neighbour) == (UP, abi.KIWI_G2G_ACCEL_NONE)
        activate(dies, port=lambda _me, _other: 0)
        for a in dies:
            for b in dies:
                if a is not b:
                    mem = q.alloc(4096)
                    w = a.map(b.export(mem, 4096, [a]))
                    q.writeq(w.addr, a.accel * 16 + b.accel)
                    assert q.readq(w.addr) == q.readq(mem) == a.accel * 16 + b.accel
        # Frames to the third are seen, and are not taken.
        assert all(die.port_counters().rx_other for die in dies)


@hosttest("model.g2g.id-conflict")
def id_conflict(log):
    """W-24: another die with our id is an error of the fabric, until it is deactivated."""
    with switch(3, log=log) as q:
        dies = [Die(q, n).begin() for n in range(3)]
        for die in dies:
            die.set_port(0, mode=abi.KIWI_G2G_PORT_SWITCHED)
        a, b, c = dies
        a.set_fabric(0), b.set_fabric(1), c.set_fabric(0)
        a.route({1: 1}), b.route({0: 1})
        a.act("ACTIVATE"), b.act("ACTIVATE")
        a.wait_peer(b), b.wait_peer(a)
        w = a.map(b.export(q.alloc(4096), 4096, [a]))
        a.drain(), b.drain()
        c.route({1: 1})
        c.act("ACTIVATE")
        # To the established peer the newcomer is a stranger; to its namesake, a conflict: the
        # switch of this test brings the answers to both.
        q.until(lambda: [r for r in b.read_log() if r.kind == abi.KIWI_G2G_LOG_ID_CONFLICT
                         and r.addr == 3], "conflict")
        assert b.peer(a).state == abi.KIWI_G2G_PEER_ESTABLISHED
        assert a.fabric().state == ACTIVE and w.state().state == abi.KIWI_G2G_WINDOW_MAPPED


def table(die, which=abi.KIWI_G2G_TABLE_ACTIVE):
    """A table as accelerator -> ports, and its generation."""
    out = die.query(abi.KIWI_G2G_OP_QUERY_ROUTES, "kiwi_g2g_query_routes_out",
                    fields("kiwi_g2g_query_routes_in", table=which))
    return {n: (r.ports, r.layer) for n, r in enumerate(out.route) if r.ports}, out.generation


@hosttest("model.g2g.routes")
def routes(log):
    """F-20 to F-24: stage, commit, roll back; what is refused, and what stays as it was."""
    with mesh(3, log=log) as q:
        a, b, c = configured(q, 3)
        for data, status in (
                (a.stage_in({1: 1}, flags=2), "BAD_RESERVED"),
                (a.stage_in({}, first=0, flags=0), "BAD_PARAM"),
                (a.stage_in({1023: 1})[:2] + b"\2" + a.stage_in({1023: 1})[3:], "BAD_PARAM"),
                (a.stage_in({1: 1 << 16}), "BAD_PARAM"), (a.stage_in({1: (1, 2)}), "BAD_PARAM"),
                (a.stage_in({1: (0, 1)}), "BAD_PARAM"),
                (a.stage_in({1: 1})[:-1] + b"\1", "BAD_RESERVED")):
            assert STATUS[a.status_of("STAGE_ROUTES", data).status] == status
        a.stage({1: 1, 2: (2, 1)})
        a.stage({70: 3}, flags=0)
        assert table(a, abi.KIWI_G2G_TABLE_STAGED) == ({1: (1, 0), 2: (2, 1)}, 0)
        assert table(a) == ({}, 0)
        a.stage({0: 1})
        assert refused(a.status_of("COMMIT_ROUTES", cmd_id(0), 8)) == ("BAD_STATE", 0)
        a.stage({7: 5})
        reply = a.status_of("COMMIT_ROUTES", cmd_id(0), 8)
        assert (STATUS[reply.status], reply.err_value, reply.err_limit) == ("BAD_STATE", 7, 4)
        assert a.status_of("ROLLBACK_ROUTES", cmd_id(0), 8).status == abi.KIWI_ST_BAD_STATE
        a.stage({1: 1, 2: (2, 1)})
        assert refused(a.status_of("COMMIT_ROUTES", cmd_id(1), 8)) == ("BAD_STATE", 0)
        assert a.commit() == 1
        assert a.status_of("ROLLBACK_ROUTES", cmd_id(1), 8).status == abi.KIWI_ST_BAD_STATE
        assert table(a) == ({1: (1, 0), 2: (2, 1)}, 1)
        assert table(a, abi.KIWI_G2G_TABLE_STAGED) == ({}, 0)
        b.route({0: 1}), c.route({0: 1})
        for die in (a, b, c):
            die.act("ACTIVATE")
        a.wait_peer(b), a.wait_peer(c)
        a.drain(), c.drain()
        assert a.route({1: 1}) == 2         # c loses its route
        assert [(e.type, e.id, e.code, e.info) for e in a.drain()] == [
            (abi.KIWI_G2G_EV_PEER, 2, abi.KIWI_G2G_PEER_NONE, abi.KIWI_G2G_WHY_ADMIN)]
        e = c.event(abi.KIWI_G2G_EV_PEER)
        assert (e.id, e.code, e.info) == (0, abi.KIWI_G2G_PEER_SEEKING, abi.KIWI_G2G_WHY_ADMIN)
        assert table(a, abi.KIWI_G2G_TABLE_PREVIOUS) == ({1: (1, 0), 2: (2, 1)}, 1)
        assert a.act("ROLLBACK_ROUTES", cmd_id(2), 8) == cmd_id(3)
        assert table(a) == ({1: (1, 0), 2: (2, 1)}, 3)
        a.wait_peer(c)
        assert (a.peer(b).generation, a.peer(c).generation) == (1, 2)
        a.act("ISOLATE_PEER", cmd_id(2))
        a.route({1: 1})
        assert a.peer(c).state == abi.KIWI_G2G_PEER_ISOLATED    # it outlives the route
        a.act("RECOVER_PEER", cmd_id(2))
        assert a.peer(c).state == abi.KIWI_G2G_PEER_NONE


@hosttest("model.g2g.forward")
def forward(log):
    """W-12: from end to end of a line of three; hops; nothing without the capability."""
    with mesh(3, log=log) as q:
        a, b, c = dies = configured(q, 3)
        a.route({1: 1, 2: 1}), b.route({0: 1, 2: 2}), c.route({0: 2, 1: 2})
        for die in dies:
            die.act("ACTIVATE")
        a.wait_peer(c), c.wait_peer(a)
        mem = q.alloc(4096)
        w = a.map(c.export(mem, 4096, [a]))
        q.writeq(w.addr, 0x1234)
        assert q.readq(w.addr) == q.readq(mem) == 0x1234
        assert b.port_counters(0).forwarded and b.port_counters(1).forwarded
        assert a.port_counters(1).rx_frames < 40
        # A route that turns back is no way.
        b.route({0: 1, 2: 1})
        a.wait_peer(c, abi.KIWI_G2G_PEER_SEEKING)
        assert b.port_counters(0).hop_limit
        assert w.state().state == abi.KIWI_G2G_WINDOW_DEAD


@hosttest("model.g2g.images")
def images(log):
    """F-40 to F-44: upload, verification, activation, and what a reset keeps."""
    with mesh(2, log=log) as q:
        a = Die(q, 0).begin()
        slot = a.slot(0)
        assert (slot.state, slot.active, slot.image.id) == (
            abi.KIWI_G2G_SLOT_VERIFIED, 1, abi.KIWI_G2G_SUE)
        assert a.slot(1).state == abi.KIWI_G2G_SLOT_EMPTY

        def status(name, data):
            return STATUS[a.status_of(name, data).status]

        def begin(slot, length):
            return status("BEGIN_IMAGE", fields("kiwi_g2g_begin_image_in", slot=slot, length=length))

        def write(offset, length, addr=q.alloc(4096), slot=1):
            return status("WRITE_IMAGE", fields("kiwi_g2g_write_image_in", slot=slot, offset=offset,
                                                len=length, addr=addr))
        assert begin(0, 512) == "BUSY" and begin(2, 512) == begin(1, 127) == "BAD_PARAM"
        assert write(0, 8) == "BAD_STATE" == status("VERIFY_IMAGE", cmd_id(1))
        assert begin(1, 512) == "OK"
        assert write(8, 8) == write(0, 513) == write(0, 0) == "BAD_PARAM"
        assert write(0, 8, 0xfe000000000) == "DMA_ERROR" and a.slot(1).written == 0
        assert write(0, 8) == "OK" and write(0, 8) == "BAD_PARAM" and write(8, 505) == "BAD_PARAM"
        assert status("VERIFY_IMAGE", cmd_id(1)) == "BAD_STATE"
        a.reset()
        a.begin()
        assert a.slot(1).state == abi.KIWI_G2G_SLOT_EMPTY
        for change, error in (
                (dict(magic=1), abi.KIWI_G2G_IMAGE_MALFORMED), (dict(length=511), 1),
                (dict(id_bits=0), 1), (dict(id_bits=11), 1), (dict(addr_bits=11), 1),
                (dict(addr_bits=64), 1), (dict(mtu=1023), 1), (dict(vcs=3), 1),
                (dict(reliability=2), 1), (dict(reliability=5), 1), (dict(flow=0), 1),
                (dict(flow=8), 1), (dict(atomics=1), 1), (dict(flags=2), 1), (dict(semantics=4), 1),
                (dict(size=96), 1), (dict(header_kind=1), abi.KIWI_G2G_IMAGE_FOREIGN),
                (dict(header_kind=9), abi.KIWI_G2G_IMAGE_FOREIGN)):
            a.load_image(image(abi.KIWI_G2G_OISA, **change))
            assert status("VERIFY_IMAGE", cmd_id(1)) == "UNSUPPORTED", change
            assert (a.slot(1).state, a.slot(1).error) == (abi.KIWI_G2G_SLOT_BAD, error), change
            assert status("ACTIVATE_IMAGE", cmd_id(1)) == "BAD_STATE"
        good = image(abi.KIWI_G2G_OISA, size=70000)
        for at in (64, 128, 69999):
            spoiled = good[:at] + bytes([good[at] ^ 1]) + good[at + 1:]
            a.load_image(spoiled, chunk=65536)
            assert status("VERIFY_IMAGE", cmd_id(1)) == "UNSUPPORTED"
            assert a.slot(1).error == abi.KIWI_G2G_IMAGE_HASH
        a.load_image(good, chunk=1000)
        assert a.slot(1).state == abi.KIWI_G2G_SLOT_LOADED and not any(bytes(a.slot(1).image))
        a.act("VERIFY_IMAGE", cmd_id(1))
        assert bytes(a.slot(1).image) == good[:128]
        a.set_fabric()
        a.set_port(0)
        a.route({1: 1})
        a.act("ACTIVATE_IMAGE", cmd_id(1))
        assert (a.fabric().slot, a.fabric().routes, a.fabric().state) == (1, 0, CONFIGURED)
        assert status("VERIFY_IMAGE", cmd_id(1)) == "BUSY" == STATUS[
            a.status_of("BEGIN_IMAGE", fields("kiwi_g2g_begin_image_in", slot=1, length=512)).status]
        a.reset()
        a.begin()
        assert (a.fabric().slot, a.slot(1).active, a.slot(0).state) == (
            1, 1, abi.KIWI_G2G_SLOT_VERIFIED)
        # An image that an id does not fit takes the configuration away.
        a.set_fabric(700)
        a.use_image(image(abi.KIWI_G2G_ETHX, id_bits=9), slot=0)
        assert a.fabric().state == UNCONFIGURED
        assert a.status_of("SET_FABRIC", fields(
            "kiwi_g2g_set_fabric_in", pod=POD, accel=512)).status == abi.KIWI_ST_BAD_PARAM


@hosttest("model.g2g.personality-switch")
def personality_switch(log):
    """Each personality in turn between the same dies; another image is a mismatch, and shown."""
    with mesh(2, log=log) as q:
        dies = a, b = fabric(q, 2)
        mem = q.alloc(4096)
        for n, personality in enumerate((abi.KIWI_G2G_OISA, abi.KIWI_G2G_ETHX, abi.KIWI_G2G_SUE)):
            for die in dies:
                die.act("DEACTIVATE")
            for m, die in enumerate(dies):
                die.use_image(image(personality, version=n + 2), slot=1 - n % 2)
                if not m:
                    die.wait_port(0, FAULT, abi.KIWI_G2G_WHY_IMAGE)
                    assert die.port(0).neighbour_image_version == n + 1
            for die in dies:
                die.wait_port(0)
            activate(dies)
            e = b.export(mem, 4096, [a], rights=ALL)
            w = a.map(e)
            q.writeq(w.addr, personality)
            assert q.readq(w.addr) == q.readq(mem) == personality
            w.unbind()
            q.until(lambda: not b.export_state(e.number).bindings, "release")
            b.act("DESTROY_EXPORT", cmd_id(e.number))


@hosttest("model.g2g.route-choice")
def route_choice(log):
    """F-25: one pair of dies takes one of several ports, and another when that link fails."""
    hubs = [n for n in range(3) for _ in range(2)]
    netdevs = [f"hubport,id=n{i},hubid={hub}" for i, hub in enumerate(hubs)]
    devices = [f"kiwi-g2g,id=die{n},addr={SLOT + n:#x},serial={n + 1},{TIMES}," + ",".join(
        f"netdev{port}=n{2 * port + n}" for port in range(3)) for n in range(2)]
    with Qtest(devices, [word for n in netdevs for word in ("-netdev", n)], log=log) as q:
        a, b = (Die(q, n).begin() for n in range(2))
        a.set_fabric(3), b.set_fabric(7)
        for die in (a, b):
            for port in range(3):
                die.set_port(port)
        for die in (a, b):
            for port in range(3):
                die.wait_port(port)
        activate([a, b], port=lambda *_: 0)
        for die, other in ((a, b), (b, a)):
            die.route({other.accel: 7})
        mem = q.alloc(4096)
        w = a.map(b.export(mem, 4096, [a]))

        def used(die=a):
            """The ports that frames to the other take, but for training."""
            before = [die.port_counters(n).tx_frames for n in range(3)]
            for n in range(100):
                q.writeq(w.addr, n)
            assert q.readq(w.addr) == 99
            return [n for n in range(3) if die.port_counters(n).tx_frames - before[n] > 50]
        assert used() == [1]                        # (3 + 7) mod 3
        q.qmp("set_link", name="n3", up=False)      # the other end's carrier
        b.wait_port(1, TRAINING, abi.KIWI_G2G_WHY_NO_CARRIER)
        a.wait_port(1, TRAINING, abi.KIWI_G2G_WHY_NO_NEIGHBOUR)
        assert used() == [0]                        # 10 mod 2
        a.set_port(0, flags=abi.KIWI_G2G_PORT_ENABLED)
        assert used() == [2]
        assert a.peer(b).generation == 1 and not a.read_log()
        a.set_port(2, flags=abi.KIWI_G2G_PORT_ENABLED)
        q.writeq(w.addr, 5)
        assert a.port_counters(0).unroutable > 0
        assert a.fabric().state == ACTIVE
