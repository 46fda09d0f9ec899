# SPDX-License-Identifier: GPL-2.0
"""Queue pairs between G2G IO dies: M-50 to M-55, F-5, F-6, F-51, W-33 of spec/g2g.md."""

import collections
import itertools
import random
import struct
import time

import abi
from g2g_wire import (ACK, BIND, BYE, CONTROL, DATA, LINK_MAC, MAIL, PDU, READ, READ_RSP, RELEASE,
                      THEIR_ID, THEIR_SERIAL, WRITE, WRITE_ERR, Other, bound, established, ready,
                      start, trained, tx)
from g2gdev import RW, TIMES, Die, activate, cmd_id, configured, fabric, fields, mesh
from g2gfabric import PERSONALITIES, image
from rc import ALL_REMOTE, PAGE, Endpoint
from scenario import hosttest
from snicdev import STATUS, Refused

MESSAGE = 0x10
FLUSH, RETRY_EXC = abi.KIWI_CQE_ST_WR_FLUSH_ERR, abi.KIWI_CQE_ST_RETRY_EXC_ERR
RTR, RTS, SQD, ERR = (getattr(abi, "KIWI_QPS_" + s) for s in ("RTR", "RTS", "SQD", "ERR"))
LOST = (abi.KIWI_EV_QP_ERROR, RETRY_EXC)
# A machine that is slow for a while loses no peer and repeats nothing.
CALM = "link-ms=20000,peer-ms=40000,resend-ms=5000,load-us=9000000,pause-ms=4000,bind-ms=20000"
# Messages are retried later than links: what is sent again is the session's.
PATIENT = dict(timeout=20, retry=7)


def dgid(accel):
    return bytes(14) + accel.to_bytes(2, "big")


class End(Endpoint):
    """A QP of a die, with its CQs and region."""

    def rtr(self, accel, dest_qpn, psn=0, mtu=1024, max_rd=16, min_rnr=1):
        self.mtu = mtu
        self.modify(RTR, dgid=dgid(accel), dest_qpn=dest_qpn, rq_psn=psn,
                    mtu=mtu.bit_length() - 8, max_dest_rd_atomic=max_rd, min_rnr_timer=min_rnr)

    def idle(self):
        """No completion came."""
        self.q.settle()
        return not (self.send_cq.ready() or self.recv_cq.ready())


def queues(dies):
    """What QPs need, for each die."""
    for die in dies:
        die.async_eq = die.events
        die.completion_eq = die.create_eq(vector=2)
        die.open_page(PAGE)
    return dies


def connect(a, b, psn=(100, 200), mtu=1024, access=ALL_REMOTE, max_rd=16, min_rnr=1, rts=True, **how):
    for me, other, mine, theirs in ((a, b, *psn), (b, a, *reversed(psn))):
        me.init(access)
        me.rtr(other.nic.accel, other.number, theirs, mtu, max_rd, min_rnr)
        if rts:
            me.rts(mine, max_rd=max_rd, **{**PATIENT, **how})


def pair(dies, end={}, **how):
    """Two connected QPs."""
    a, b = (End(die, **end) for die in dies[:2])
    connect(a, b, **how)
    return a, b


def value(end, off=0):
    return struct.unpack("<Q", end.mr.read(off, 8))[0]


def live(die):
    return [die.diag(abi.KIWI_DIAG_LIVE_PD + n) for n in range(4)]


def exercise(a, b, rng, sizes):
    """Each operation from a to b, in each size."""
    for n, size in enumerate(sizes):
        data = rng.randbytes(size)
        a.mr.write(0, data)
        b.mr.write(0, b"\xee" * (size + 64))
        a.send_cqe(wr_id=a.write(b.mr, a.sge(0, size), off=8))
        assert b.mr.read(0, size + 64) == b"\xee" * 8 + data + b"\xee" * 56

        a.mr.write(0, data[::-1])
        recv, sent = b.recv(), a.write(b.mr, a.sge(0, size), off=4, imm=0x01020304 + n)
        a.send_cqe(wr_id=sent)
        cqe = b.recv_cqe(wr_id=recv)
        assert (cqe.opcode, cqe.byte_len, cqe.imm) == \
            (abi.KIWI_CQE_RECV_WRITE_IMM, size, 0x01020304 + n)
        assert b.mr.read(4, size) == data[::-1]

        for imm in (None, 0xfffe0000 + n):
            recv = b.recv(b.sge(100, size + n))
            a.send_cqe(wr_id=a.send(a.sge(0, size), imm=imm))
            cqe = b.recv_cqe(wr_id=recv)
            assert (cqe.opcode, cqe.byte_len, cqe.imm, bool(cqe.flags & abi.KIWI_CQE_IMM)) == \
                (abi.KIWI_CQE_RECV, size, imm or 0, imm is not None)
            assert b.mr.read(100, size) == data[::-1]

        b.mr.write(16, data)
        a.mr.write(0, b"\xdd" * (size + 16))
        cqe = a.send_cqe(wr_id=a.read(b.mr, a.sge(8, size), off=16))
        assert cqe.byte_len == size
        assert a.mr.read(0, size + 16) == b"\xdd" * 8 + data + b"\xdd" * 8

    b.mr.write(0, struct.pack("<QQQ", 1, (1 << 64) - 3, 2))
    a.send_cqe(wr_id=a.fetch_add(b.mr, a.sge(0, 8), 5, off=8))
    assert (value(a), value(b, 8)) == ((1 << 64) - 3, 2)
    a.send_cqe(wr_id=a.cmp_swap(b.mr, a.sge(0, 8), 2, 0x1122334455667788, off=8))
    assert (value(a), value(b, 8)) == (2, 0x1122334455667788)
    a.send_cqe(wr_id=a.cmp_swap(b.mr, a.sge(0, 8), 2, 7, off=8))
    assert (value(a), value(b, 8)) == (0x1122334455667788,) * 2
    assert (value(b), value(b, 16)) == (1, 2)


@hosttest("model.g2g.msgq-operations")
def operations(_log):
    """Each operation in every size at which something changes, under each personality."""
    rng = random.Random(7)
    for personality in PERSONALITIES:
        with mesh(2, props=CALM) as q:
            dies = configured(q, 2)
            for die in dies:
                if personality != abi.KIWI_G2G_SUE:
                    die.use_image(image(personality))
            for die in dies:
                die.wait_port()
            activate(queues(dies))
            assert dies[0].fabric().msg_mtu == (
                abi.KIWI_MTU_4096 if personality == abi.KIWI_G2G_SUE else abi.KIWI_MTU_2048)
            for mtu in (256, 2048):
                a, b = pair(dies, mtu=mtu)
                exercise(a, b, rng, (0, 1, 3, mtu - 1, mtu, mtu + 1, 5 * mtu + 2))
                exercise(b, a, rng, (3 * mtu,))
                assert a.idle() and b.idle()
            for die in dies:
                assert not die.count().messages_dropped and not die.read_log()


@hosttest("model.g2g.msgq-large")
def large(_log):
    """A message of 1 MiB: one WQE, one doorbell, one CQE, and as many PDUs as it has packets."""
    size, mtu = 1 << 20, 4096
    with mesh(2, props=CALM) as q:
        dies = queues(fabric(q, 2))
        a, b = pair(dies, end=dict(size=size), mtu=mtu)
        data = random.Random(1).randbytes(size)

        def measured(run, doorbells):
            before = [(die.count(), die.port_counters(), die.diag(abi.KIWI_DIAG_DB_ACCEPTED))
                      for die in dies]
            run()
            assert a.idle() and b.idle()
            found = []
            for die, (count, port, bells) in zip(dies, before):
                now, now_port = die.count(), die.port_counters()
                assert (now.retransmitted, now.qp_retransmitted, now.memory_pdus) == \
                    (count.retransmitted, 0, 0)
                found.append(now.message_pdus - count.message_pdus)
                # Acknowledgements of the session, training and signs of life come on top.
                others = (now.acks - count.acks) + (now.control_pdus - count.control_pdus)
                frames = now_port.tx_frames - port.tx_frames
                assert frames >= found[-1] + others
            assert [die.diag(abi.KIWI_DIAG_DB_ACCEPTED) - bells
                    for die, (_, _, bells) in zip(dies, before)] == doorbells
            return found

        def write():
            a.mr.write(0, data)
            a.send_cqe(wr_id=a.write(b.mr, a.sge(0, size)))
            assert b.mr.read() == data
        packets = size // mtu
        # The responder acknowledges each 64th packet and the last.
        assert measured(write, [1, 0]) == [packets, packets // 64]

        def read():
            b.mr.write(0, data[::-1])
            a.send_cqe(wr_id=a.read(b.mr, a.sge(0, size)))
            assert a.mr.read() == data[::-1]
        assert measured(read, [1, 0]) == [1, packets]

        def send():
            b.recv(b.sge(0, size))
            a.send_cqe(wr_id=a.send(a.sge(0, size)))
            b.recv_cqe()
            assert b.mr.read() == data[::-1]
        assert measured(send, [1, 1]) == [packets, packets // 64]


@hosttest("model.g2g.msgq-errors")
def errors(_log):
    """A bad key, bound, right or PD: the status of each, both QPs in ERR, nothing touched."""
    access, invalid = abi.KIWI_CQE_ST_REM_ACCESS_ERR, abi.KIWI_CQE_ST_REM_INV_REQ_ERR
    with mesh(2, props=CALM) as q:
        dies = queues(fabric(q, 2))
        other = End(dies[1])                # of another PD
        export = dies[1].export(q.alloc(4096), 4096, [dies[0]])
        window = dies[0].window(dies[0].bound(dies[1], export.handle, RW))

        def refused(status, post, end={}, **how):
            a, b = (End(die, **(end if die is dies[1] else {})) for die in dies)
            connect(a, b, **how)
            b.mr.write(0, b"\x5a" * 64)
            before = dies[1].count().qp_remote_access_err
            wr_id, behind = post(a, b), a.write(b.mr, a.sge(0, 8))
            cqe = a.send_cqe(status, wr_id)
            assert cqe.vendor_err == 6
            a.send_cqe(FLUSH, behind)
            q.until(lambda: b.state == ERR and a.state == ERR, "ERR")
            event = dies[1].event(abi.KIWI_EV_QP_ACCESS)
            assert (event.code, event.id) == (status, b.number)
            assert dies[1].count().qp_remote_access_err - before == (status == access)
            assert b.mr.read(0, 64) == b"\x5a" * 64
            recv = b.recv()
            b.recv_cqe(FLUSH, recv)
            for x in (a, b):
                x.destroy()

        def write(key=None, size=8, off=0):
            return lambda a, b: a.write(b.mr, a.sge(0, size), off=off,
                                        key=key(b) if callable(key) else key)
        refused(access, write(key=0))
        refused(access, write(key=lambda b: b.mr.key ^ 1))
        refused(access, write(key=other.mr.key))
        refused(access, write(key=window.rights))       # no key at all, but a number at hand
        refused(access, write(off=(1 << 16) - 4))
        refused(access, write(size=2048, off=(1 << 16) - 2000), mtu=256)
        refused(access, write(), access=abi.KIWI_ACCESS_REMOTE_READ)
        refused(access, write(), end=dict(access=abi.KIWI_ACCESS_REMOTE_READ))
        refused(access, lambda a, b: a.read(b.mr, a.sge(0, 8)), access=abi.KIWI_ACCESS_REMOTE_WRITE)
        refused(access, lambda a, b: a.fetch_add(b.mr, a.sge(0, 8), 1), access=RW)
        refused(access, lambda a, b: a.cmp_swap(b.mr, a.sge(0, 8), 1, 2), end=dict(access=7))
        refused(invalid, lambda a, b: a.fetch_add(b.mr, a.sge(0, 8), 1, off=4))
        # Of a region no window can be made, and none of this is in the log.
        assert not dies[1].read_log() and not dies[0].read_log()

        a, b = pair(dies)
        wr_id = a.write(b.mr, a.sge(0, 8, key=other.mr.key))
        a.send_cqe(abi.KIWI_CQE_ST_LOC_PROT_ERR, wr_id)
        recv = b.recv()
        assert b.state == RTS and b.recv_cq.none()
        a, b = pair(dies)
        recv = b.recv(b.sge(0, 7))
        wr_id = a.send(a.sge(0, 8))
        a.send_cqe(invalid, wr_id)
        b.recv_cqe(abi.KIWI_CQE_ST_LOC_LEN_ERR, recv)


@hosttest("model.g2g.msgq-rnr")
def rnr(_log):
    """No receive entry: put off until there is one, or given up after so many times."""
    with mesh(2, props=CALM) as q:
        dies = queues(fabric(q, 2))
        a, b = pair(dies)
        a.mr.write(0, b"patience")
        sent, behind = a.send(a.sge(0, 8)), a.write(b.mr, a.sge(0, 4), off=32)
        q.until(lambda: dies[0].count().qp_rnr_nak_rcvd > 1, "RNR NAK")
        assert a.idle() and b.mr.read(32, 4) == bytes(4)
        recv = b.recv(b.sge(0, 8))
        b.recv_cqe(wr_id=recv)
        a.send_cqe(wr_id=sent)
        a.send_cqe(wr_id=behind)
        assert b.mr.read(0, 8) == b"patience" and b.mr.read(32, 4) == b"pati"
        assert dies[0].count().qp_rnr_nak_rcvd == dies[1].count().qp_rnr_nak_sent > 1
        assert dies[0].count().qp_retransmitted

        a, b = pair(dies, rnr_retry=2)
        before = dies[1].count().qp_rnr_nak_sent
        a.send_cqe(abi.KIWI_CQE_ST_RNR_RETRY_EXC_ERR, a.send(a.sge(0, 8)))
        assert dies[1].count().qp_rnr_nak_sent - before == 3
        assert dies[0].count().qp_rnr_nak_retry_err == 1 and b.state == RTS


@hosttest("model.g2g.msgq-loss")
def loss(_log):
    """Frames are lost and corrupted: the session repeats them, and no queue pair has to."""
    rng = random.Random(3)
    with mesh(2, props=CALM.replace("resend-ms=5000", "resend-ms=4")) as q:
        dies = queues(fabric(q, 2))
        a, b = pair(dies, mtu=512)
        for n in range(2):
            q.qom_set(f"die{n}", "drop", 300)
            q.qom_set(f"die{n}", "corrupt", 300)
        exercise(a, b, rng, (1, 700, 40000))
        exercise(b, a, rng, (30000,))
        for n, die in enumerate(dies):
            q.qom_set(f"die{n}", "drop", 0)
            q.qom_set(f"die{n}", "corrupt", 0)
            count = die.count()
            assert q.qom_get(f"die{n}", "dropped") and q.qom_get(f"die{n}", "corrupted")
            assert count.retransmitted and not count.messages_dropped
            assert not count.qp_retransmitted and not count.qp_out_of_sequence and \
                not count.qp_local_ack_timeout_err
        assert dies[0].count().out_of_sequence + dies[1].count().out_of_sequence


@hosttest("model.g2g.msgq-dead")
def dead(_log):
    """A peer falls silent: work for it ends within its bound, whatever the timeout; others live."""
    with mesh(3, props=TIMES.replace("peer-ms=3000", "peer-ms=800")) as q:
        dies = queues(fabric(q, 3))
        a, b = pair(dies, timeout=0)
        idle, idle_b = pair(dies, timeout=31)
        half, half_b = End(dies[0]), End(dies[1])
        connect(half, half_b, rts=False)
        other, other_c = pair((dies[0], dies[2]))
        recv = a.recv(a.sge(0, 8))
        # In SQD an address may be given again, but no other peer.
        other.modify(SQD)
        reply = other.try_modify(SQD, dgid=dgid(1))
        assert (STATUS[reply.status], reply.err_value) == (
            "BAD_STATE", abi.KIWI_G2G_PEER_ESTABLISHED)
        other.modify(SQD, dgid=dgid(2), hop_limit=3)
        other.modify(RTS)
        for die in dies:
            die.drain()
        q.qom_set("die1", "silent", True)
        first = a.write(b.mr, a.sge(0, 5000), flags=0)
        second, third = a.read(b.mr, a.sge(0, 8)), a.send(a.sge(0, 8))
        start = time.monotonic()
        cqe = a.send_cqe(RETRY_EXC, first)
        assert cqe.vendor_err == 7 and time.monotonic() - start < 8
        a.send_cqe(FLUSH, second)
        a.send_cqe(FLUSH, third)
        a.recv_cqe(FLUSH, recv)
        a.send_cqe(FLUSH, a.write(b.mr, a.sge(0, 8)))
        found = [dies[0].event(abi.KIWI_G2G_EV_PEER)] + [dies[0].event() for _ in range(3)]
        assert (found[0].type, found[0].code, found[0].id, found[0].info) == (
            abi.KIWI_G2G_EV_PEER, abi.KIWI_G2G_PEER_SEEKING, 1, abi.KIWI_G2G_WHY_TIMEOUT)
        assert [(e.type, e.code, e.id) for e in found[1:]] == [
            (*LOST, end.number) for end in (a, idle, half)]
        assert (a.state, idle.state, half.state, other.state) == (ERR, ERR, ERR, RTS)
        exercise(other, other_c, random.Random(2), (3000,))
        assert not dies[0].count().qp_retry_exceeded_err
        reply = End(dies[0]).try_modify(abi.KIWI_QPS_INIT, port=1, access=0)
        assert not reply.status

        # It comes back: another session, of which these QPs are not.
        q.qom_set("die1", "silent", False)
        dies[0].wait_peer(dies[1])
        dies[1].wait_peer(dies[0])
        q.until(lambda: b.state == ERR and idle_b.state == ERR and half_b.state == ERR, "ERR")
        a, b = pair(dies)
        exercise(a, b, random.Random(2), (3000,))


@hosttest("model.g2g.msgq-ends")
def ends(_log):
    """A session ends by a reset of the peer, by isolation, by the loss of the route: so do its QPs."""
    with mesh(2, props=CALM.replace("peer-ms=40000", "peer-ms=5000")) as q:
        dies = queues(fabric(q, 2))

        def lost(end, other, act, why):
            """Both QPs die; the second by what the first's die says."""
            recv = other.recv()
            act()
            assert end.state == ERR and dies[0].peer(1).reason == why
            q.until(lambda: other.state == ERR, "ERR")
            other.recv_cqe(FLUSH, recv)
            for x in (end, other):
                x.destroy()

        a, b = pair(dies)
        lost(a, b, lambda: dies[0].act("ISOLATE_PEER", cmd_id(1)), abi.KIWI_G2G_WHY_ADMIN)
        late = End(dies[0])
        late.init()
        reply = late.try_modify(RTR, dgid=dgid(1), dest_qpn=5, rq_psn=0, mtu=3, max_dest_rd_atomic=1,
                                min_rnr_timer=1)
        assert (STATUS[reply.status], reply.err_value) == ("BAD_STATE", abi.KIWI_G2G_PEER_ISOLATED)
        assert reply.err_field == abi.struct("kiwi_snic_modify_qp_in").attr.offset + \
            abi.struct("kiwi_qp_attr").dgid.offset
        dies[0].act("RECOVER_PEER", cmd_id(1))
        for die, other in (dies, reversed(dies)):
            die.wait_peer(other)

        a, b = pair(dies)
        lost(a, b, lambda: dies[0].route({}), abi.KIWI_G2G_WHY_ADMIN)
        dies[0].route({1: 1})
        for die, other in (dies, reversed(dies)):
            die.wait_peer(other)

        a, b = pair(dies)
        dies[1].reset()
        q.until(lambda: dies[0].peer(1).state != abi.KIWI_G2G_PEER_ESTABLISHED, "end", 60)
        assert a.state == ERR and live(dies[1]) == [0, 0, 0, 0]


def not_created(die, status, create=End):
    """CREATE_QP is refused."""
    try:
        create(die)
    except Refused as e:
        assert status in str(e), e
    else:
        raise AssertionError("created")


@hosttest("model.g2g.msgq-refusals")
def refusals(_log):
    """What CREATE_QP, MODIFY_QP and SET_PORT refuse, and what is unknown without MSGQ."""
    with mesh(2, props=CALM) as q:
        dies = [Die(q, n).begin() for n in range(2)]
        queues(dies)
        die = dies[0]
        assert die.caps().queue.max_qp and die.caps().queue.max_rd_atomic == 16
        for opcode in range(0x100, 0x104):
            assert STATUS[die.command(opcode, cmd_id(1), 0).status] == "BAD_OPCODE"
        die.use_image(image(abi.KIWI_G2G_OISA, semantics=1))
        die.set_fabric(0)
        not_created(die, "UNSUPPORTED")
    with mesh(2, props=CALM) as q:
        dies = queues([Die(q, n).begin() for n in range(2)])
        not_created(dies[0], "BAD_STATE")
        cq = dies[0].create_cq(dies[0].completion_eq, PAGE)
        for pd in (77, dies[0].alloc_pd()):     # before it is looked at
            not_created(dies[0], "BAD_STATE", lambda die, pd=pd: die.create_qp(pd, cq, PAGE))
        for n, die in enumerate(dies):
            die.set_fabric(n)
            die.set_port(0)
        for die in dies:
            die.wait_port()
        early = End(dies[0])
        early.init()
        attributes = dict(dest_qpn=5, rq_psn=0, mtu=3, max_dest_rd_atomic=1, min_rnr_timer=1)
        reply = early.try_modify(RTR, dgid=dgid(1), **attributes)
        assert (STATUS[reply.status], reply.err_value) == ("BAD_STATE", abi.KIWI_G2G_PEER_NONE)
        activate(dies)
        base = abi.struct("kiwi_snic_modify_qp_in").attr.offset
        for field, change in (
                ("dgid", dict(dgid=dgid(0))), ("dgid", dict(dgid=dgid(1024))),
                ("dgid", dict(dgid=bytes(10) + b"\xff\xff\0\1\0\1")), ("dmac", dict(dmac=b"\2")),
                ("dmac", dict(dmac=bytes(5) + b"\2")), ("sgid_index", dict(sgid_index=1)),
                ("flow_label", dict(flow_label=1)), ("udp_sport", dict(udp_sport=0xc000))):
            reply = early.try_modify(RTR, **{**dict(dgid=dgid(1)), **attributes, **change})
            assert (STATUS[reply.status], reply.err_field) == (
                "BAD_PARAM", base + getattr(abi.struct("kiwi_qp_attr"), field).offset), (field, reply)
        assert early.state == abi.KIWI_QPS_INIT
        assert STATUS[End(dies[0]).try_modify(abi.KIWI_QPS_INIT, port=2, access=0).status] == "BAD_PARAM"

        # The MTU is that of the smallest port; a QP keeps a port from going below its own.
        assert dies[0].fabric().msg_mtu == abi.KIWI_MTU_4096
        dies[0].set_port(0, mtu=2048 + 127)
        assert dies[0].fabric().msg_mtu == abi.KIWI_MTU_1024
        dies[0].set_port(0, mtu=2048 + 128)
        assert dies[0].fabric().msg_mtu == abi.KIWI_MTU_2048
        dies[1].set_port(0, mtu=2048 + 128)
        for die, other in (dies, reversed(dies)):
            die.wait_port()
            die.wait_peer(other)
        reply = early.try_modify(RTR, dgid=dgid(1), **{**attributes, "mtu": abi.KIWI_MTU_4096})
        assert (STATUS[reply.status], reply.err_limit) == ("BAD_PARAM", abi.KIWI_MTU_2048)
        early.modify(RTR, dgid=dgid(1), hop_limit=3, traffic_class=0xff,
                     **{**attributes, "mtu": abi.KIWI_MTU_2048})
        reply = dies[0].status_of("SET_PORT", Die.port_in(0, mtu=2048 + 127))
        assert (STATUS[reply.status], reply.err_value, reply.err_limit) == (
            "BUSY", 2048 + 127, 2048 + 128)
        assert STATUS[dies[0].status_of("DEACTIVATE").status] == "BUSY"
        early.modify(abi.KIWI_QPS_RESET)
        dies[0].set_port(0, mtu=2048 + 127)

        # A reset leaves nothing.
        lost = dies[0].diag(abi.KIWI_DIAG_LOST_AT_RESET)
        found = sum(live(dies[0]))
        assert found
        dies[0].reset()
        assert live(dies[0]) == [0, 0, 0, 0]
        assert dies[0].diag(abi.KIWI_DIAG_LOST_AT_RESET) - lost >= found
    with mesh(2, props=CALM) as q:
        die = Die(q, 0).begin(caps=abi.KIWI_G2G_CAP_ATOMICS | abi.KIWI_SNIC_CAP_MR_HOLD)
        queue = die.caps().queue
        assert (queue.ports, queue.gids, queue.max_qp, queue.max_mr_pages, queue.max_sge) == \
            (1, 1, 0, 0, 0) and queue.page_shift_max and queue.link_mbps
        die.set_fabric(0)
        assert not die.fabric().msg_mtu
        for opcode in [*range(0x110, 0x112), *range(0x120, 0x124), 0x130, 0x131, *range(0x140, 0x144)]:
            assert STATUS[die.command(opcode, cmd_id(1), 0).status] == "BAD_OPCODE"


@hosttest("model.g2g.msgq-pause")
def pause(_log):
    """A pause: requests wait, answers to the peer go on, and what is under way is waited for."""
    with mesh(2, props=CALM.replace("resend-ms=5000", "resend-ms=20")) as q:
        dies = queues(fabric(q, 2))
        a, b = pair(dies)
        a.mr.write(0, b"new data")
        dies[0].act("PAUSE")
        assert dies[0].event(abi.KIWI_G2G_EV_PAUSE).code == abi.KIWI_G2G_PAUSE_DRAINED
        sent = dies[0].count().message_pdus
        wr_id = a.write(b.mr, a.sge(0, 8))
        assert a.idle() and b.mr.read(0, 8) == bytes(8)
        assert dies[0].count().message_pdus == sent and a.query().sq_psn == 100
        b.mr.write(64, b"of the other")
        b.send_cqe(wr_id=b.write(a.mr, b.sge(64, 12), off=64))
        b.send_cqe(wr_id=b.read(a.mr, b.sge(128, 8)))
        assert a.mr.read(64, 12) == b"of the other" and b.mr.read(128, 8) == b"new data"
        assert a.idle()
        dies[0].act("RESUME")
        a.send_cqe(wr_id=wr_id)
        assert b.mr.read(0, 8) == b"new data"

        # The peer owes an answer, for want of memory that it waits for.
        dies[1].hold_mr(b.mr.key)
        read = a.read(b.mr, a.sge(256, 8), off=0)
        q.until(lambda: dies[0].count().qp_rnr_nak_rcvd, "RNR NAK")
        dies[0].act("PAUSE")
        assert dies[0].event(abi.KIWI_G2G_EV_PAUSE).code == abi.KIWI_G2G_PAUSE_DRAINED     # it was put off
        dies[0].act("RESUME")
        dies[1].resume_mr(b.mr.key, b.mr.addr, b.mr.size)
        a.send_cqe(wr_id=read)

        # The peer has taken it and does not answer: what is waited for is the queue pair's timer.
        a, b = pair(dies, timeout=19)
        b.destroy()
        a.write(b.mr, a.sge(0, 8))
        q.until(lambda: dies[1].count().messages_dropped, "drop")
        dies[0].act("PAUSE")
        time.sleep(0.1)
        assert not [e for e in dies[0].drain() if e.type == abi.KIWI_G2G_EV_PAUSE]
        assert dies[0].event(abi.KIWI_G2G_EV_PAUSE).code == abi.KIWI_G2G_PAUSE_DRAINED
        dies[0].act("RESUME")
        a.destroy()

        # An answer is lost: drained no sooner than its timer has run out, and then asked for again.
        a, b = pair(dies, timeout=17, retry=3)
        q.qom_set("die1", "silent", True)
        sent = dies[0].count().message_pdus
        wr_id = a.write(b.mr, a.sge(0, 8))
        q.until(lambda: dies[0].count().message_pdus > sent, "packet")
        dies[0].act("PAUSE")
        time.sleep(0.1)
        assert not [e for e in dies[0].drain() if e.type == abi.KIWI_G2G_EV_PAUSE]
        q.qom_set("die1", "silent", False)
        assert dies[0].event(abi.KIWI_G2G_EV_PAUSE).code == abi.KIWI_G2G_PAUSE_DRAINED
        dies[0].act("RESUME")
        a.send_cqe(wr_id=wr_id)


def bth(opcode, qpn, psn, ack=True, pad=0, solicited=False):
    return struct.pack(">BBHII", opcode, 0x40 | pad << 4 | solicited << 7, 0xffff, qpn,
                       psn | ack << 31)


@hosttest("model.g2g.msgq-wire")
def wire(log):
    """Packets on the wire under each personality, and those that no QP takes."""
    for personality in PERSONALITIES:
        folder = log / str(personality)
        folder.mkdir()
        q, dev, other = ready(folder, personality)
        with q:
            queues([dev])
            a = End(dev)
            a.init()
            a.rtr(THEIR_ID, 0x123456, psn=0x700)
            a.rts(psn=0xfffffe, **PATIENT)

            def message(packet):
                return tx(MESSAGE, length=len(packet), payload=packet)
            a.write_inline(a.mr, b"abcde", off=8)
            reth = struct.pack(">QII", a.mr.iova + 8, a.mr.key, 5)
            other.take_data(0, message(bth(0x0a, 0x123456, 0xfffffe, pad=3) + reth + b"abcde\0\0\0"))
            other.data(message(bth(0x11, a.number, 0xfffffe, ack=False) + struct.pack(">I", 0x1f000001)))
            a.send_cqe()
            other.expect(0x1, 0, 0, other.psn[0])

            # A SEND of the other: placed, completed, acknowledged.
            recv = a.recv(a.sge(0, 64))
            other.data(message(bth(0x05, a.number, 0x700, pad=2) + struct.pack(">I", 0xfeedface) + b"xyzuvw\0\0"))
            other.take_data(0, message(bth(0x11, 0x123456, 0x700, ack=False) +
                                       struct.pack(">I", 0x1f000001)))
            cqe = a.recv_cqe(wr_id=recv)
            assert (cqe.byte_len, cqe.flags & abi.KIWI_CQE_IMM) == (6, abi.KIWI_CQE_IMM)
            assert a.mr.read(0, 6) == b"xyzuvw"

            # Dropped and counted, and the session lives on.
            good = bth(0x04, a.number, 0x701, ack=False) + bytes(8)
            bad = [good[:8], good[:11], good + b"\0", bth(0x15, a.number, 0x701),
                   bth(0x04, a.number + 1, 0x701) + bytes(8), good[:1] + b"\x41" + good[2:],
                   good[:2] + b"\x7f\xfe" + good[4:], bth(0x04, 0, 0x701), good[:1] + b"\x70" + good[2:12]]
            for n, packet in enumerate(bad):
                other.data(message(packet))
                q.until(lambda: dev.count().messages_dropped == n + 1, f"drop {n}")
            assert a.state == RTS and a.query().rq_psn == 0x701
            recv = a.recv(a.sge(0, 64))
            other.data(message(good))
            a.recv_cqe(wr_id=recv)
            assert dev.peer(THEIR_ID).state == abi.KIWI_G2G_PEER_ESTABLISHED

            # No length at all is a breach.
            other.data(tx(MESSAGE))
            q.until(lambda: a.state == ERR, "ERR")
            assert dev.count().protocol == 1


class Second(Other):
    """Another die behind the first, on the same wire."""

    def receive(self, timeout=20):
        while True:
            got = super().receive(timeout)
            at = 16 if got[12:14] == CONTROL else 24
            if got[:6] != LINK_MAC and struct.unpack_from("<H", got, at)[0] == self.accel:
                return got


@hosttest("model.g2g.wire-stranger")
def stranger(log):
    """A die with the key of another's binding, and the number of a QP that is another's."""
    q, dev, other = ready(log)
    with q:
        mem = q.alloc(4096)
        q.fill(mem, 64, 0x5a)
        e = dev.export(mem, 4096, [THEIR_ID, THEIR_ID + 1])
        other.data(tx(BIND, tag=1, payload=e.handle + struct.pack("<II", RW, 0)))
        key = struct.unpack_from("<I", other.receive(), 8 + 14 + 16 + 24 + 8)[0]
        other.pdu(ACK, 1, 0, 1)
        other.expect(ACK, 0, 0, 1)
        queues([dev])
        a = End(dev)
        a.init()
        a.rtr(THEIR_ID, 5)

        second = Second(other.wire, accel=THEIR_ID + 1)
        second.image, second.mtu, second.session = other.image, other.mtu, 0x1234
        second.their_nonce = other.their_nonce
        dev.route({THEIR_ID: 1, second.accel: 1})
        second.expect_hello(heard=0)
        second.hello(serial=THEIR_SERIAL + 1)
        second.expect_hello()
        dev.wait_peer(second.accel)
        protection = abi.KIWI_G2G_ST_PROTECTION
        second.data(tx(READ, tag=1, length=8, key=key))
        second.take_data(1, tx(READ_RSP, protection, 1))
        second.expect(ACK, 0, 0, 1)
        second.data(tx(WRITE, length=8, key=key, payload=bytes(8)))
        second.take_data(1, tx(WRITE_ERR, protection, 0, 8, 0, key))
        second.expect(ACK, 0, 0, 2)
        assert dev.count().refused_key == 2 and q.read(mem, 64) == b"\x5a" * 64
        recv = a.recv(a.sge(0, 8))
        packet = bth(0x04, a.number, 0) + b"stranger"
        second.data(tx(MESSAGE, length=len(packet), payload=packet))
        q.until(lambda: dev.count().messages_dropped == 1, "drop")
        assert a.idle() and a.query().rq_psn == 0
        other.data(tx(MESSAGE, length=len(packet), payload=packet))
        a.recv_cqe(wr_id=recv)


@hosttest("model.g2g.msgq-turns")
def turns(_log):
    """Long messages of two QPs, loads and stores to the same peer: none waits for the other's end."""
    size = 1 << 20
    with mesh(2, props=CALM) as q:
        dies = queues(fabric(q, 2))
        ends = [pair(dies, end=dict(size=size), mtu=4096) for _ in range(2)]
        mem = q.alloc(4096)
        w = dies[0].map(dies[1].export(mem, 4096, [dies[0]]))
        data = random.Random(5).randbytes(size)
        for a, b in ends:
            a.mr.write(0, data)
            b.mr.write(0, data[::-1])
        work = [(a, [a.write(b.mr, a.sge(0, size))]) for a, b in ends]
        for n in range(0, 256, 8):
            q.writeq(w.addr + n, n)
            assert q.readq(w.addr + n) == n
        for a, ids in work:
            for wr_id in ids:
                a.send_cqe(wr_id=wr_id)
        for a, b in ends:
            assert b.mr.read() == data
        assert q.read(mem, 256) == b"".join(struct.pack("<Q", n) for n in range(0, 256, 8))
        assert not dies[0].count().retransmitted


def waiting(log, stores, **how):
    """A die with a QP to the test, and so many stores that are not acknowledged."""
    q, dev, other = ready(log, props=CALM)
    queues([dev])
    a = End(dev)
    a.init()
    a.rtr(THEIR_ID, 0x123456, mtu=256)
    a.rts(psn=0, **{**PATIENT, **how})
    bound(q, dev, other)
    for n in range(stores):
        q.writeb(dev.aperture + n, n)
    assert set(sent(other, stores)) <= {(WRITE,)}
    return q, dev, other, a


def sent(other, count):
    """What the next PDUs are: the operation; of a packet its opcode, QP and number."""
    found = []
    while len(found) < count:
        got = other.receive()
        assert got, found
        if got[12:14] == PDU and got[14] >> 6 == DATA:
            found.append((got[38],))
            if got[38] == MESSAGE:
                opcode, qpn, psn = struct.unpack_from(">B3xII", got, 62)
                found[-1] += opcode, qpn, psn & 0xffffff
            other.rpsn[0] += 1
    return found


@hosttest("model.g2g.msgq-fair")
def fair(log):
    """W-40: stores, requests of QPs and answers take turns, PDU by PDU; what is neither goes first."""
    q, dev, other, a = waiting(log, 128)
    with q:
        for n in range(20):
            q.writeb(dev.aperture + n, n)
        a.write(a.mr, a.sge(0, 40 * 256))
        read = bth(0x0c, a.number, 0) + struct.pack(">QII", a.mr.iova, a.mr.key, 30 * 256)
        other.pdu(DATA, 0, 0, 1, tx(MESSAGE, length=len(read), payload=read))
        other.expect(ACK, 0, 0, 1)
        q.until(lambda: a.query().sq_psn == 40, "packets")
        dev.act("SEND_MAIL", fields("kiwi_g2g_mail", accel=THEIR_ID, len=1, generation=1, data=b"x"))
        other.pdu(ACK, 0, 0, other.rpsn[0])
        kinds = ["answer" if x[0] == MESSAGE and x[1] >= 0x0d else x[0] for x in sent(other, 91)]
        assert kinds.pop(0) == MAIL
        assert collections.Counter(kinds) == {WRITE: 20, MESSAGE: 40, "answer": 30}
        assert all(len(set(kinds[n:n + 3])) == 3 for n in range(0, 60, 3)), kinds
        assert all(len(set(kinds[n:n + 2])) == 2 for n in range(60, 80, 2)), kinds


@hosttest("model.g2g.msgq-fair-queues")
def fair_queues(log):
    """M-53: of several QPs with long messages each has its turn."""
    q, dev, other, a = waiting(log, 0)
    with q:
        ends = [a, *(End(dev) for _ in range(2))]
        for n, end in enumerate(ends):
            if n:
                end.init()
                end.rtr(THEIR_ID, 0x123456 + n, mtu=256)
                end.rts(psn=0, **PATIENT)
        dev.act("PAUSE")
        for end in ends:
            end.write(end.mr, end.sge(0, 120 * 256))
        dev.act("RESUME")
        turns = [(qpn, len(list(run))) for qpn, run in itertools.groupby(
            qpn for _, _, qpn, _ in sent(other, 128))]
        assert max(count for _, count in turns) <= 64, turns
        other.pdu(ACK, 0, 0, other.rpsn[0])
        turns += [(qpn, 0) for _, _, qpn, _ in sent(other, 64)]
        assert {qpn for qpn, _ in turns} == {0x123456, 0x123457, 0x123458}, turns


@hosttest("model.g2g.msgq-pause-waiting")
def pause_waiting(log):
    """M-54: packets that wait for the window go on in a pause; waited for is what asks for an answer."""
    q, dev, other, a = waiting(log, 120, timeout=0)
    with q:
        def told():
            return [e.code for e in dev.drain() if e.type == abi.KIWI_G2G_EV_PAUSE]

        def answer(opcode, psn, payload=b""):
            packet = bth(opcode, a.number, psn, ack=False) + struct.pack(">I", 0x1f000001) + payload
            other.data(tx(MESSAGE, length=len(packet), payload=packet))
        drained = [abi.KIWI_G2G_PAUSE_DRAINED]
        write = a.write(a.mr, a.sge(0, 100 * 256))
        assert [x[3] for x in sent(other, 8)] == list(range(8))
        made = q.until(lambda: a.query().sq_psn > 64 and a.query().sq_psn, "packets that wait")
        dev.act("PAUSE")
        q.writeb(dev.aperture, 1)
        q.settle(0.05)
        assert not told() and a.query().sq_psn == made < 100
        other.pdu(ACK, 0, 0, other.rpsn[0])
        assert [x[3] for x in sent(other, made - 8)] == list(range(8, made))
        q.settle(0.05)
        assert not told()
        other.pdu(ACK, 0, 0, other.rpsn[0])
        q.settle(0.05)
        assert not told() and a.query().sq_psn == made
        answer(0x11, 63)                # the 64th asked for it, those behind it did not
        other.expect(ACK, 0, 0, 1)
        q.settle(0.05)
        assert told() == drained
        dev.act("RESUME")
        rest = sent(other, 1 + 100 - made)
        assert (WRITE,) in rest and [x[3] for x in rest if x != (WRITE,)] == list(range(made, 100))
        other.pdu(ACK, 0, 0, other.rpsn[0])
        answer(0x11, 99)
        a.send_cqe(wr_id=write)

        # An answer that finds no place is none that is waited for: it will be asked for again.
        read = a.read(a.mr, a.sge(0, 8))
        assert sent(other, 1) == [(MESSAGE, 0x0c, 0x123456, 100)]
        other.pdu(ACK, 0, 0, other.rpsn[0])
        dev.hold_mr(a.mr.key)
        dev.act("PAUSE")
        q.settle(0.05)
        assert not told()
        answer(0x10, 100, b"in vain ")
        q.until(lambda: told() == drained, "drain")
        dev.act("RESUME")
        dev.resume_mr(a.mr.key, a.mr.addr, a.mr.size)
        assert sent(other, 1) == [(MESSAGE, 0x0c, 0x123456, 100)]
        answer(0x10, 100, b"answered")
        a.send_cqe(wr_id=read)
        assert a.mr.read(0, 8) == b"answered"


@hosttest("model.g2g.msgq-pause-sqd")
def pause_sqd(log):
    """S-22, M-54: QP_DRAINED comes when all is answered, in a pause, too; and no sooner."""
    q, dev, other, a = waiting(log, 0)
    with q:
        write = a.write(a.mr, a.sge(0, 8))
        assert sent(other, 1) == [(MESSAGE, 0x0a, 0x123456, 0)]
        other.pdu(ACK, 0, 0, other.rpsn[0])
        dev.act("PAUSE")
        a.modify(SQD)
        q.settle(0.05)
        ends = (abi.KIWI_EV_QP_DRAINED, abi.KIWI_G2G_EV_PAUSE)
        assert not [e for e in dev.drain() if e.type in ends]
        packet = bth(0x11, a.number, 0, ack=False) + struct.pack(">I", 0x1f000001)
        other.data(tx(MESSAGE, length=len(packet), payload=packet))
        a.send_cqe(wr_id=write)
        assert dev.fabric().paused
        assert {dev.event().type for _ in range(2)} == set(ends)
        assert dev.fabric().paused


@hosttest("model.g2g.msgq-nobody")
def nobody(log):
    """W-33: packets to a die without MSGQ, one by one and packed, are dropped and do no harm."""
    caps = abi.KIWI_G2G_CAP_ATOMICS | abi.KIWI_G2G_CAP_MAIL
    for folder, semantics in ((log / "caps", None), (log / "image", abi.KIWI_G2G_SEM_MEMORY)):
        folder.mkdir()
        if semantics:
            q, dev, other = start(folder)
            dev.use_image(image(abi.KIWI_G2G_SUE, semantics=semantics))
            slot = dev.slot(1).image
            other.image, other.mtu = (slot.id, slot.version, bytes(slot.hash[:8])), slot.mtu
            trained(dev, other)
            established(dev, other)
        else:
            q, dev, other = ready(folder, caps=caps)
        with q:
            packet = bth(0x04, 2, 0) + bytes(8)
            message = tx(MESSAGE, length=len(packet), payload=packet)
            other.data(message)
            other.expect(ACK, 0, 0, 1)
            assert dev.count().messages_dropped == 1
            other.data(message + tx(RELEASE, key=1) + message)
            other.expect(ACK, 0, 0, 2)
            assert (dev.count().messages_dropped, dev.count().protocol) == (3, 0)
            assert dev.peer(THEIR_ID).generation == 1


@hosttest("model.g2g.msgq-packed")
def packed(log):
    """W-30, W-33: packets in one PDU are taken in order, whatever stands between them."""
    q, dev, other, a = waiting(log, 0)
    with q:
        for psn in range(3):
            a.recv(a.sge(8 * psn, 8))
        packets = [bth(0x04, a.number, psn, ack=psn == 2) + b"packet %d" % psn for psn in range(3)]
        messages = [tx(MESSAGE, length=len(p), payload=p) for p in packets]
        other.data(messages[0] + messages[1] + tx(RELEASE, key=1) + messages[2])
        assert sent(other, 1) == [(MESSAGE, 0x11, 0x123456, 2)]
        for _ in range(3):
            a.recv_cqe()
        assert a.mr.read(0, 24) == b"packet 0packet 1packet 2"


@hosttest("model.g2g.msgq-atomics")
def atomics(log):
    """M-53: atomics of QPs work where windows have none: neither the capability nor the image."""
    every = abi.KIWI_G2G_CAP_MSGQ | abi.KIWI_SNIC_CAP_MR_HOLD
    with mesh(2, props=CALM, log=log) as q:
        dies = [Die(q, n).begin(caps=every) for n in range(2)]
        for n, die in enumerate(dies):
            die.use_image(image(abi.KIWI_G2G_OISA, atomics=0))
            die.set_fabric(n)
            die.set_port(0)
        for die in dies:
            die.wait_port()
        activate(queues(dies))
        assert not dies[0].caps().atomics
        a, b = pair(dies)
        b.mr.write(0, struct.pack("<Q", 40))
        a.send_cqe(wr_id=a.fetch_add(b.mr, a.sge(0, 8), 2))
        a.send_cqe(wr_id=a.cmp_swap(b.mr, a.sge(8, 8), 42, 7))
        assert (value(a), value(a, 8), value(b)) == (40, 42, 7)


@hosttest("model.g2g.msgq-old")
def old(log):
    """M-52: a QP of a session that is over sends and takes nothing in the next one."""
    q, dev, other, a = waiting(log, 0)
    with q:
        recv, write = a.recv(a.sge(0, 8)), a.write(a.mr, a.sge(0, 8))
        assert sent(other, 1) == [(MESSAGE, 0x0a, 0x123456, 0)]
        other.hello(BYE, abi.KIWI_G2G_WHY_FABRIC)
        cqe = a.send_cqe(RETRY_EXC, write)
        assert cqe.vendor_err == 7
        a.recv_cqe(FLUSH, recv)
        other.session += 1
        other.psn, other.rpsn = [0, 0], [0, 0]
        q.until(lambda: not other.receive(0.05) and
                dev.peer(THEIR_ID).state == abi.KIWI_G2G_PEER_ESTABLISHED, "session")
        recv = a.recv(a.sge(0, 8))
        a.recv_cqe(FLUSH, recv)
        for packet in (bth(0x04, a.number, 0) + b"too late",
                       bth(0x11, a.number, 0, ack=False) + struct.pack(">I", 0x1f000001)):
            other.data(tx(MESSAGE, length=len(packet), payload=packet))
            other.expect(ACK, 0, 0, other.psn[0])
        assert dev.count().messages_dropped == 2 and a.mr.read(0, 8) == bytes(8)
        a.send_cqe(FLUSH, a.write(a.mr, a.sge(0, 8)))
        assert other.receive(0.1) is None and a.idle() and a.state == ERR
        # Another one is of the session that is.
        b = End(dev)
        b.init()
        b.rtr(THEIR_ID, 0x123456)
        recv = b.recv(b.sge(0, 8))
        packet = bth(0x04, b.number, 0) + b"in time "
        other.data(tx(MESSAGE, length=len(packet), payload=packet))
        b.recv_cqe(wr_id=recv)
