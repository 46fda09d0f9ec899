# SPDX-License-Identifier: GPL-2.0
"""Resets, images, counters, numbers, sessions, backlogs: F-6, F-7, F-45, F-60, M-23, M-43, W-10 and
W-22 of spec/g2g.md."""

import struct
import time
import zlib

import abi
from g2g_msgq import CALM, End, dgid, not_created, queues
from g2g_wire import (ACK, BYE, DATA, EPOCH, LINK_MAC, MAIL, OUR_ID, OUR_MAC, PARTITION,
                      PDU, POD, READ, REFUSE, RELEASE, THEIR_ID, TIMES, WRITE, WRITE_ERR, established,
                      ready, start, trained, tx)
from g2gdev import ALL, RW, Die, activate, cmd_id, fabric, mesh
from g2gfabric import image
from scenario import hosttest
from snicdev import STATUS, fields


@hosttest("model.g2g.msg-mtu")
def msg_mtu(log):
    """F-6: the largest MTU that fits the image and each enabled port, and no other port."""
    with mesh(2, props=CALM, log=log) as q:
        die = Die(q, 0).begin()
        die.set_fabric(0)

        def mtu():
            return die.fabric().msg_mtu
        assert mtu() == abi.KIWI_MTU_4096
        die.set_port(3, flags=0, mtu=1024)
        assert mtu() == abi.KIWI_MTU_4096           # it is not enabled
        room = abi.KIWI_G2G_MESSAGE_ROOM
        for bytes_, code in ((1024, abi.KIWI_MTU_512), (1024 + room - 1, abi.KIWI_MTU_512),
                             (1024 + room, abi.KIWI_MTU_1024), (4096 + room, abi.KIWI_MTU_4096)):
            die.set_port(3, mtu=bytes_)
            die.set_port(2, mtu=9216)
            assert mtu() == code, bytes_
            die.set_port(3, flags=0)
            die.use_image(image(abi.KIWI_G2G_OISA, mtu=bytes_, version=bytes_), slot=1)
            assert mtu() == code, bytes_
            die.use_image(image(abi.KIWI_G2G_SUE, mtu=9216), slot=0)


@hosttest("model.g2g.reset-forgets")
def reset_forgets(log):
    """F-7: what is gone after a reset, and that numbers of sessions go on; a die in reset is silent."""
    q, dev, other = start(log, props=TIMES.replace("20000", "1500"))
    with q:
        trained(dev, other)
        established(dev, other)
        session = other.their_session
        other.data(tx(MAIL, length=2, payload=b"hi"))
        other.data(tx(READ, tag=1, length=8, key=5))
        q.until(lambda: dev.count().refused_key, "refusal")
        dev.act("ISOLATE_PEER", cmd_id(0x111))
        dev.act("PAUSE")
        assert dev.port().ups == 1 and dev.fabric().routes == 1
        while other.wire.receive(0.1):
            pass
        dev.reset()
        for got in iter(lambda: other.wire.receive(0), None):       # sent before, of the link
            assert got[:6] == LINK_MAC, got.hex()
        assert other.wire.receive(0.4) is None

        dev.begin()
        f = dev.fabric()
        assert (f.state, f.routes, f.paused, f.ports_up, bytes(f.config)) == (
            abi.KIWI_G2G_FABRIC_UNCONFIGURED, 0, 0, 0, bytes(24))
        assert not any(bytes(dev.count())) and not any(bytes(dev.port_counters()))
        assert not dev.read_log()
        assert dev.status_of("READ_MAIL", b"", 72).status == abi.KIWI_ST_BAD_STATE
        for accel in (THEIR_ID, 0x111):
            p = dev.peer(accel)
            assert (p.state, p.reason, p.generation, p.serial) == (abi.KIWI_G2G_PEER_NONE, 0, 0, 0)
        p = dev.port()
        assert (p.state, p.reason, p.ups, bytes(p.config)) == (
            abi.KIWI_G2G_PORT_DOWN, abi.KIWI_G2G_WHY_ADMIN, 0,
            fields("kiwi_g2g_port_config", mode=abi.KIWI_G2G_PORT_DIRECT, mtu=abi.KIWI_G2G_MTU_MAX))
        dev.act("SET_FABRIC", POD + struct.pack("<HHI", OUR_ID, PARTITION, EPOCH))
        for which in (abi.KIWI_G2G_TABLE_ACTIVE, abi.KIWI_G2G_TABLE_STAGED,
                      abi.KIWI_G2G_TABLE_PREVIOUS):
            out = dev.query(abi.KIWI_G2G_OP_QUERY_ROUTES, "kiwi_g2g_query_routes_out",
                            fields("kiwi_g2g_query_routes_in", first=THEIR_ID & ~63, table=which))
            assert not any(r.ports for r in out.route)
        other.quiet = False
        trained(dev, other)
        dev.act("ACTIVATE")
        other.expect_hello(heard=0)
        assert other.their_session == session % 0xffffffff + 1


@hosttest("model.g2g.beyond")
def beyond(log):
    """F-7: ports, peers and slots beyond the last, and the own id as a peer, in every command."""
    with mesh(2, props=CALM, log=log) as q:
        die = queues(fabric(q, 2))[0]
        ports, mem = die.caps().ports, q.alloc(4096)
        qp = End(die)
        qp.init()
        peers = (0, 1024)
        bad = [("SET_PORT", Die.port_in(ports), 0)]
        for name in ("QUERY_PORT", "QUERY_PORT_COUNTERS"):
            bad.append((name, cmd_id(ports), 64 if name == "QUERY_PORT" else 256))
        for peer in peers:
            bad += [("QUERY_PEER", cmd_id(peer), 64), ("ISOLATE_PEER", cmd_id(peer), 0),
                    ("RECOVER_PEER", cmd_id(peer), 0),
                    ("SEND_MAIL", fields("kiwi_g2g_mail", accel=peer, len=1, generation=1), 0),
                    ("BIND_WINDOW", fields("kiwi_g2g_bind_window_in", handle=b"\1" * 16, rights=RW,
                                           accel=peer), 8)]
        bad.append(("CREATE_EXPORT", Die.export_in(mem, 4096, [0]), 8))
        for name, data in (("BEGIN_IMAGE", fields("kiwi_g2g_begin_image_in", slot=2, length=512)),
                           ("WRITE_IMAGE", fields("kiwi_g2g_write_image_in", slot=2, len=8, addr=mem)),
                           ("VERIFY_IMAGE", cmd_id(2)), ("ACTIVATE_IMAGE", cmd_id(2))):
            bad.append((name, data, 0))
        bad.append(("QUERY_IMAGE", cmd_id(2), len(bytes(die.slot(0)))))
        bad.append(("STAGE_ROUTES", Die.stage_in({1: 1 << ports}), 0))
        for name, data, out in bad:
            assert STATUS[die.status_of(name, data, out).status] == "BAD_PARAM", (name, data[:8])
        for peer in peers:
            reply = qp.try_modify(abi.KIWI_QPS_RTR, dgid=dgid(peer), dest_qpn=5, rq_psn=0, mtu=3,
                                  max_dest_rd_atomic=1, min_rnr_timer=1)
            assert STATUS[reply.status] == "BAD_PARAM"
        assert die.peer(1).state == abi.KIWI_G2G_PEER_ESTABLISHED


@hosttest("model.g2g.semantics")
def semantics(log):
    """F-45: what an image without memory or without messages does not allow."""
    for allowed, memory, message in ((2, "UNSUPPORTED", True), (1, "OK", False)):
        with mesh(2, props=CALM, log=log) as q:
            dies = [Die(q, n).begin() for n in range(2)]
            for n, die in enumerate(dies):
                die.use_image(image(abi.KIWI_G2G_OISA, semantics=allowed))
                die.set_fabric(n)
                die.set_port(0)
            for die in dies:
                die.wait_port()
            activate(queues(dies))
            a = dies[0]
            assert STATUS[a.status_of("CREATE_EXPORT", Die.export_in(
                q.alloc(4096), 4096, [1]), 8).status] == memory
            assert STATUS[a.status_of("BIND_WINDOW", fields(
                "kiwi_g2g_bind_window_in", handle=b"\1" * 16, rights=RW, accel=1), 8).status] == memory
            if message:
                End(a).destroy()
            else:
                not_created(a, "UNSUPPORTED")


@hosttest("model.g2g.window-numbers")
def window_numbers(log):
    """M-23: numbers of windows, and that one which was freed is used again last."""
    with mesh(2, props=CALM + ",max-window=4", log=log) as q:
        a, b = fabric(q, 2)
        handle = b.export(q.alloc(4096), 4096, [a]).handle
        assert a.caps().max_window == 4
        live, waiting = {a.bind(b, handle) for _ in range(2)}, []

        def unbind(number):
            a.act("UNBIND_WINDOW", cmd_id(number))
            live.remove(number)
            waiting.append(number)
        unbind(min(live))
        for _ in range(2):
            number = a.bind(b, handle)
            assert number not in waiting and number not in live     # there are others
            live.add(number)
        live.add(a.bind(b, handle))
        assert live == {1, 2, 3, 4}
        waiting.clear()
        reply = a.status_of("BIND_WINDOW", fields(
            "kiwi_g2g_bind_window_in", handle=handle, rights=ALL, accel=1), 8)
        assert STATUS[reply.status] == "NO_RESOURCE"
        for number in (3, 1, 4, 2):
            unbind(number)
        for _ in range(3):
            number = a.bind(b, handle)
            assert number == waiting.pop(0)
            live.add(number)
            unbind(number)


@hosttest("model.g2g.pcie-atomics")
def pcie_atomics(log):
    """M-43: the device is a completer of PCIe AtomicOps if and only if it says so in its CAPS."""
    with mesh(2, props=CALM, log=log) as q:
        die = Die(q, 0)
        completes = q.readl(die.pci.capability(0x10) + 0x24) >> 7 & 7       # 32, 64 bits, CAS
        die.enable()
        announced = die.rd64(abi.KIWI_REG_CAPS) & abi.KIWI_G2G_CAP_PCIE_ATOMICS
        assert bool(announced) == bool(completes)
        reply = die.command(abi.KIWI_OP_SET_HOST_CAPS, fields(
            "kiwi_cmd_set_host_caps_in", abi=die.rd32(abi.KIWI_REG_ABI),
            caps=abi.KIWI_G2G_CAP_ATOMICS | abi.KIWI_G2G_CAP_PCIE_ATOMICS))
        assert STATUS[reply.status] == ("OK" if announced else "BAD_PARAM")


@hosttest("model.g2g.wire-causes")
def causes(log):
    """F-60: of several causes the first; what comes while the port is not UP; counters run on."""
    q, dev, other = ready(log)
    with q:
        release = tx(RELEASE, key=1)
        other.data(release)
        other.expect(ACK, 0, 0, 1)
        names = [n for n, _ in abi.struct("kiwi_g2g_port_counters")._fields_[:-1]
                 if not n.startswith(("tx", "rx_bytes"))]

        def seen(psn=1, **how):
            """What a frame adds to the counters."""
            before = dev.port_counters()
            other.pdu(DATA, 0, psn, 0, release, **how)
            q.until(lambda: dev.port_counters().rx_frames > before.rx_frames, "frame")
            after = dev.port_counters()
            found = {n: getattr(after, n) - getattr(before, n) for n in names}
            assert found.pop("rx_frames") == 1
            return {n: v for n, v in found.items() if v}

        def remade(at, bit):
            def spoil(body):
                body = body[:at] + bytes([body[at] ^ bit]) + body[at + 1:-4]
                return body + struct.pack("<I", zlib.crc32(body))
            return spoil
        version, foreign = remade(8, 2), remade(0, 0x10)
        strange = OUR_MAC[:4] + bytes([5, 2])

        def wrong(body):
            body = version(body)
            return body[:-1] + bytes([body[-1] ^ 1])
        both = [
            ({"rx_crc": 1}, dict(spoil=wrong, mac=strange, epoch=EPOCH + 1)),
            ({"rx_malformed": 1}, dict(spoil=version, mac=strange, epoch=EPOCH + 1)),
            ({"rx_other": 1}, dict(spoil=foreign, mac=strange, epoch=EPOCH + 1)),
            ({"rx_image": 1}, dict(spoil=foreign, epoch=EPOCH + 1, dst=0x111)),
            ({"rx_stale": 1}, dict(epoch=EPOCH + 1, dst=0x111, hops=0)),
            ({"hop_limit": 1}, dict(dst=0x111, hops=0)),
            ({"unroutable": 1}, dict(dst=0x111))]
        for wanted, how in both:
            assert seen(**how) == wanted, how

        # The neighbour begins anew and is not ready yet: no PDU is taken.
        other.nonce += 1
        other.train(heard=0)
        dev.wait_port(0, abi.KIWI_G2G_PORT_TRAINING, abi.KIWI_G2G_WHY_RESTARTED)
        total = dev.port_counters()
        for n, (wanted, how) in enumerate(both + [({}, {})]):
            assert seen(**how) == (wanted if n < 4 else {}), how
        other.train()
        dev.wait_port()
        other.pdu(DATA, 0, 1, 0, release)
        other.expect(ACK, 0, 0, 2)
        now = dev.port_counters()
        assert now.link_down == 1 and now.rx_crc == total.rx_crc + 1
        assert dev.peer(THEIR_ID).generation == 1
        dev.set_port(0, flags=0)
        assert dev.port_counters().rx_crc == now.rx_crc and dev.port_counters().link_down == 2


@hosttest("model.g2g.wire-hellos")
def hellos(log):
    """W-22, W-23: what each HELLO does to a session, and what is answered."""
    q, dev, other = start(log)
    with q:
        trained(dev, other)
        why = {name: getattr(abi, "KIWI_G2G_WHY_" + name) for name in (
            "POD", "EPOCH", "PARTITION", "IMAGE", "ISOLATED", "FABRIC", "RESTARTED", "ADMIN")}
        state = {name: getattr(abi, "KIWI_G2G_PEER_" + name) for name in (
            "NONE", "SEEKING", "MISMATCH", "ESTABLISHED", "ISOLATED")}

        def hello(*args, **how):
            """No sooner than it may be answered."""
            time.sleep(0.011)
            other.hello(*args, **how)

        def peer():
            p = dev.peer(THEIR_ID)
            return p.state, p.reason, p.generation

        def silent():
            got = other.wire.receive(0.05)
            assert got is None, got.hex()

        def agree(generation):
            """From an answer on, whose session number is known, to a session; HELLO comes first."""
            hello()
            q.until(lambda: peer() == (state["ESTABLISHED"], 0, generation), "session")
            dev.act("SEND_MAIL", fields("kiwi_g2g_mail", accel=THEIR_ID, len=1, data=b"x",
                                        generation=generation))
            other.expect_hello()
            other.expect(DATA, 0, 0, 0, tx(MAIL, length=1, payload=b"x"))
            other.pdu(ACK, 0, 0, 1)
        dev.act("ACTIVATE")
        other.expect_hello(heard=0)
        hello(heard=0)
        other.expect_hello()
        hello(heard=other.their_session ^ 1)
        other.expect_hello()
        assert peer() == (state["SEEKING"], 0, 0)
        agree(1)
        hello()                     # a sign of life
        silent()
        dev.drain()

        # One that does not agree: the first that differs is named.
        number, version, digest = other.image
        differs = [("POD", dict(pod=bytes(16))), ("EPOCH", dict(epoch=EPOCH + 1)),
                   ("PARTITION", dict(partition=PARTITION ^ 1)), ("IMAGE", dict(number=number + 1)),
                   ("IMAGE", dict(version=version + 1)),
                   ("IMAGE", dict(digest=digest[:-1] + bytes([digest[-1] ^ 1])))]
        for n, (name, _) in enumerate(differs):
            change = {k: v for _, values in differs[n:] for k, v in values.items()}
            session = other.their_session
            hello(**change)
            other.expect_hello(REFUSE, reason=why[name])
            assert other.their_session == session % 0xffffffff + 1      # the old one is over
            assert peer() == (state["MISMATCH"], why[name], n + 1)
            event, = [e for e in dev.drain() if e.type == abi.KIWI_G2G_EV_PEER]
            assert (event.id, event.code, event.info) == (THEIR_ID, state["MISMATCH"], why[name])
            hello(heard=session)
            other.expect_hello()
            agree(n + 2)
            dev.drain()
        generation = len(differs) + 1

        # Another session number: the old session ends, and this is the first frame of the new one.
        session, other.session = other.their_session, other.session + 5
        hello()
        other.expect_hello(heard=0)
        assert other.their_session == session % 0xffffffff + 1
        other.expect_hello()
        assert peer() == (state["SEEKING"], why["RESTARTED"], generation)
        agree(generation + 1)

        # Of another session of ours than the present one they say nothing.
        for kind in (REFUSE, BYE):
            hello(kind, why["EPOCH"], heard=other.their_session ^ 1)
        silent()
        assert peer() == (state["ESTABLISHED"], 0, generation + 1)
        hello(REFUSE, why["FABRIC"])
        other.expect_hello(heard=0)
        assert peer() == (state["SEEKING"], why["FABRIC"], generation + 1)
        hello(heard=0)
        other.expect_hello()
        hello(REFUSE, why["PARTITION"])
        q.until(lambda: peer() == (state["MISMATCH"], why["PARTITION"], generation + 1), "mismatch")
        agree(generation + 2)

        # Answers are at most one each 10 ms, however many are due.
        begin, times = time.monotonic(), []
        for _ in range(20):
            other.hello(heard=0)
        while other.wire.receive(0.1):
            times.append(time.monotonic() - begin)
        assert times and len(times) <= 1 + times[-1] / 0.01, times

        dev.act("ISOLATE_PEER", cmd_id(THEIR_ID))
        other.expect_hello(BYE, reason=why["ISOLATED"])
        for change in ({}, dict(heard=0), dict(pod=bytes(16))):
            hello(**change)
            other.expect_hello(REFUSE, reason=why["ISOLATED"])
        assert peer()[:2] == (state["ISOLATED"], why["ADMIN"])
        dev.act("RECOVER_PEER", cmd_id(THEIR_ID))
        other.expect_hello(heard=0)
        hello(heard=0)
        other.expect_hello()
        agree(generation + 3)
        dev.act("DEACTIVATE")
        other.expect_hello(BYE, reason=why["FABRIC"])
        hello()
        other.expect_hello(REFUSE, reason=why["FABRIC"])
        assert peer() == (state["NONE"], why["FABRIC"], generation + 3)

        # A die that has no route here.
        before = dev.port_counters()
        hello(fh=dict(src=THEIR_ID + 1))
        q.until(lambda: dev.port_counters().unroutable == before.unroutable + 1, "drop")
        silent()
        assert not dev.peer(THEIR_ID + 1).serial


@hosttest("model.g2g.wire-backlog")
def backlog(log):
    """W-10: with 1024 answers that wait the next request is taken; what is dropped was just lost."""
    each, total = 16, 82
    least = (128 + 1024) // each + 1
    q, dev, other = ready(log)
    with q:
        acked, answers, refused = 0, [], abi.KIWI_G2G_ST_PROTECTION

        def hear(timeout):
            """Takes what is there; True: there was something."""
            nonlocal acked
            got = other.receive(timeout)
            if got is None:
                return False
            assert got[12:14] == PDU, got.hex()
            first, second = struct.unpack_from(">II", got, 14)
            if second >> 30 == 0:
                acked = max(acked, second & 0xffff)
            elif first & 0xffff == len(answers):
                answers.append(got[38:62])
            return True

        def ask(first):
            for psn in range(first, total):
                other.pdu(DATA, 0, psn, 0, b"".join(
                    tx(WRITE, length=1, addr=psn * each + n, key=5, payload=b"x") for n in range(each)))
            while hear(0.3):
                pass

        def answered(count):
            deadline = time.monotonic() + 60
            while len(answers) < count:
                wanted = min(len(answers) + 128, count)
                other.pdu(ACK, 1, 0, len(answers))
                while len(answers) < wanted:
                    assert hear(20) and time.monotonic() < deadline, len(answers)
        ask(0)
        assert acked >= least and len(answers) == 128, acked
        answered(acked * each)
        ask(acked)
        answered(total * each)
        assert answers == [tx(WRITE_ERR, refused, 0, 1, n, 5) for n in range(total * each)]
        assert dev.count().refused_key == total * each
        assert (dev.count().protocol, dev.peer(THEIR_ID).generation) == (0, 1)
