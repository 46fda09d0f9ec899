# SPDX-License-Identifier: GPL-2.0
"""Objects of the SNIC: numbers, who uses whom, and the states of a QP."""

import re

import abi
from machine import TOP
from scenario import hosttest
from snicdev import (REMOTE, STATUS, Node, Snic, cmd_id, connected, fields, ipv4_gid, machine,
                     pair, raddr, set_gid, sge, wqe)

STATES = {name: getattr(abi, "KIWI_QPS_" + name) for name in (
    "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR")}


@hosttest("model.objects.caps", covers=[33])
def caps(log):
    """QUERY_CAPS tells what the properties say."""
    with machine("max-pd=11,max-mr=12,max-cq=13,max-qp=14,max-mr-size=0x123456789,"
                 "max-mr-pages=77,max-inline=48,page-shift-max=21,table-shift-max=15,ports=1,"
                 "gids=3,sq-log2-max=7,rq-log2-max=6,cq-log2-max=5,max-sge=4,max-rd-atomic=9,"
                 "max-msg-size=65536,link-mbps=1000", log=log) as q:
        dev = Snic(q)
        dev.start()
        got = dev.caps()
        want = dict(max_pd=11, max_mr=12, max_cq=13, max_qp=14, max_mr_size=0x123456789,
                    max_mr_pages=77, max_inline=48, page_shift_max=21, pbl_table_shift_max=15,
                    ports=1, gids=3, sq_log2_max=7, rq_log2_max=6, cq_log2_max=5, max_sge=4,
                    max_rd_atomic=9, max_msg_size=65536, link_mbps=1000)
        assert {name: getattr(got, name) for name in want} == want
        assert not any(got.rsvd) and not any(got.rsvd2)
    with machine(log=log) as q:
        dev = Snic(q)
        dev.start()
        got = dev.caps()
        assert (got.max_qp, got.max_mr, got.page_shift_max) == (16384, 65536, 34)
        assert (got.max_msg_size, got.max_mr_pages, got.ports) == (1 << 30, 1 << 24, 2)


@hosttest("model.objects.numbers", covers=[34])
def numbers(log):
    """A freed number comes last; epoch and tag change each time; never 0."""
    with machine("max-pd=4,max-mr=4,max-cq=4,max-qp=4", log=log) as q:
        dev = Snic(q)
        dev.start()
        page, eq, pd = dev.open_page(0), dev.create_eq(), dev.alloc_pd()
        mem = q.alloc(4096)

        def mr():
            key = dev.reg_mr(pd, mem, 4096)
            return key >> 8, key & 0xff, lambda: dev.destroy(abi.KIWI_SNIC_OP_DEREG_MR, key)

        def cq():
            new = dev.create_cq(eq, page)
            return new.number, new.epoch, new.destroy
        shared = dev.create_cq(eq, page)

        def qp():
            new = dev.create_qp(pd, shared, page)
            return new.number, new.epoch, new.destroy

        for make, first, free in ((mr, 1, 4), (cq, 1, 3), (qp, abi.KIWI_SNIC_QPN_MIN, 4)):
            seen, order = set(), []
            for _ in range(3 * free):
                number, epoch, destroy = make()
                assert first <= number < first + 4
                assert (number, epoch) not in seen
                seen.add((number, epoch))
                order.append(number)
                destroy()
            assert len(set(order[:free])) == free and order == order[:free] * 3
            # With one left, it is given out at once, and still with a new epoch.
            held = [make() for _ in range(free - 1)]
            for _ in range(300):
                number, epoch, destroy = make()
                destroy()
                last = (number, epoch)
                number, epoch, destroy = make()
                assert number == last[0] and epoch != last[1]
                destroy()
            for _, _, destroy in held:
                destroy()


@hosttest("model.objects.reset-epochs")
def reset_epochs(log):
    """A reset does not bring old epochs and tags back."""
    with machine("max-mr=2,max-qp=2,max-cq=2", log=log) as q:
        dev = Snic(q)
        seen = set()
        for _ in range(6):
            dev.start()
            page, pd = dev.open_page(0), dev.alloc_pd()
            cq = dev.create_cq(dev.create_eq(), page)
            qp = dev.create_qp(pd, cq, page)
            new = {("key", dev.reg_mr(pd, q.alloc(4096), 4096)),
                   ("cq", cq.number, cq.epoch), ("qp", qp.number, qp.epoch)}
            assert not new & seen
            seen |= new
            dev.reset()


@hosttest("model.objects.busy", covers=[16])
def busy(log):
    """Parents before children are refused; keys are never busy."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.start()
        page, eq, pd = dev.open_page(0), dev.create_eq(), dev.alloc_pd()
        send, recv = dev.create_cq(eq, page), dev.create_cq(eq, page)
        key = dev.reg_mr(pd, q.alloc(4096), 4096)
        qp = dev.create_qp(pd, send, page, recv_cq=recv)

        def refused(opcode, number):
            reply = dev.command(opcode, cmd_id(number))
            assert (STATUS[reply.status], reply.err_value) == ("BUSY", number), hex(opcode)
        for cq in (send, recv):
            refused(abi.KIWI_SNIC_OP_DESTROY_CQ, cq.number)
        refused(abi.KIWI_SNIC_OP_DEALLOC_PD, pd)
        qp.destroy()
        send.destroy()
        recv.destroy()
        refused(abi.KIWI_SNIC_OP_DEALLOC_PD, pd)
        dev.destroy(abi.KIWI_SNIC_OP_DEREG_MR, key)
        dev.destroy(abi.KIWI_SNIC_OP_DEALLOC_PD, pd)
        for opcode, number in ((abi.KIWI_SNIC_OP_DEALLOC_PD, pd),
                               (abi.KIWI_SNIC_OP_DEREG_MR, key),
                               (abi.KIWI_SNIC_OP_DESTROY_CQ, send.number),
                               (abi.KIWI_SNIC_OP_DESTROY_QP, qp.number)):
            assert dev.command(opcode, cmd_id(number)).status == abi.KIWI_ST_BAD_HANDLE
        for kind in range(abi.KIWI_DIAG_LIVE_PD, abi.KIWI_DIAG_LIVE_QP + 1):
            assert dev.diag(kind) == 0


@hosttest("model.objects.other-pd", covers=[34])
def other_pd(log):
    """Keys work within their PD, with their rights, while they live."""
    with pair(log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        mem = q.alloc(8192)
        good = a.dev.reg_mr(a.pd, mem, 4096)
        alien = a.dev.reg_mr(a.dev.alloc_pd(), mem, 4096)
        target = b.dev.reg_mr(b.pd, mem + 4096, 4096)
        strange = b.dev.reg_mr(b.dev.alloc_pd(), mem + 4096, 4096)
        silent = b.dev.reg_mr(b.pd, mem + 4096, 4096, access=abi.KIWI_ACCESS_LOCAL_WRITE)
        dead = b.dev.reg_mr(b.pd, mem + 4096, 4096)
        b.dev.destroy(abi.KIWI_SNIC_OP_DEREG_MR, dead)
        local, remote = abi.KIWI_CQE_ST_LOC_PROT_ERR, abi.KIWI_CQE_ST_REM_ACCESS_ERR
        for lkey, addr, rkey, status, vendor in (
                (good, 0, target, abi.KIWI_CQE_ST_OK, 0),
                (alien, 0, target, local, 1), (0, 0, target, local, 1),
                (good ^ 1, 0, target, local, 1), (good, 4089, target, local, 2),
                (good, (1 << 64) - 4, target, local, 2), (good, 0, strange, remote, 6),
                (good, 0, silent, remote, 6), (good, 0, dead, remote, 6),
                (good, 0, 0, remote, 6), (good, 0, target ^ 0x80, remote, 6)):
            qa, qb = connected(a, b)
            qa.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(0, rkey), sge(addr, lkey, 8)))
            qa.ring_sq()
            cqe = a.cq.take()
            assert (cqe.status, cqe.vendor_err) == (status, vendor), (hex(lkey), hex(rkey))
            assert qa.query().state == (
                abi.KIWI_QPS_RTS if status == abi.KIWI_CQE_ST_OK else abi.KIWI_QPS_ERR)
            qa.destroy()
            qb.destroy()


#
# MODIFY_QP against the table in the specification
#

GROUPS = {"AV": ["hop_limit", "dmac", "sgid_index", "dgid"]}


def transitions():
    """S-20 of spec/snic.md: {(from, to): (required, optional)} of names of attributes."""
    table = {}
    text = (TOP / "firmware-abi/spec/snic.md").read_text(encoding="utf-8")
    for line in re.findall(r"^\| (\w+ \| \w+ \|[^|]*\|[^|]*)\|$", text, re.M):
        old, new, required, optional = (cell.strip() for cell in line.split("|"))
        if old == "from":
            continue
        for name in STATES if old == "any" else [old]:
            if name != "SQE":
                table[name, new] = (set(required.split()), set(optional.split()))
    return table


class Attributes:
    """Good values of every attribute."""

    def __init__(self, node):
        self.values = {
            "CUR_STATE": {"cur_state": 0}, "ACCESS": {"access": REMOTE}, "PORT": {"port": 1},
            "AV": {"hop_limit": 7, "dmac": bytes.fromhex("52540000aabb"), "sgid_index": 0,
                   "dgid": ipv4_gid("192.0.2.99"), "udp_sport": 0xc123},
            "MTU": {"mtu": 4}, "DEST_QPN": {"dest_qpn": 0x123456}, "SQ_PSN": {"sq_psn": 0xabcdef},
            "RQ_PSN": {"rq_psn": 0xfedcba}, "TIMEOUT": {"timeout": 31},
            "RETRY_CNT": {"retry_cnt": 6}, "RNR_RETRY": {"rnr_retry": 5},
            "MIN_RNR_TIMER": {"min_rnr_timer": 30}, "MAX_RD_ATOMIC": {"max_rd_atomic": 3},
            "MAX_DEST_RD_ATOMIC": {"max_dest_rd_atomic": 2}}
        self.node = node

    def pick(self, names, state):
        picked = {}
        for name in names:
            picked.update(self.values[name])
        if "CUR_STATE" in names:
            picked["cur_state"] = STATES[state]
        return picked


ROUTE = ["INIT", "RTR", "RTS", "SQD"]


def bring(qp, attributes, table, state):
    """Takes a QP in any state to a state."""
    qp.modify(STATES["RESET"])
    if state in ("RESET", "ERR"):
        return qp.modify(STATES[state])
    at = "RESET"
    for step in ROUTE[:ROUTE.index(state) + 1]:
        qp.modify(STATES[step], **attributes.pick(table[at, step][0], at))
        at = step
    return None


@hosttest("model.objects.transitions")
def check_transitions(log):
    """Every pair of states, every attribute left out and every one put in."""
    table = transitions()
    assert len(table) == 8 + 2 * 6, sorted(table)
    with machine(log=log) as q:
        node = Node(q, 0)
        attributes, qp = Attributes(node), node.qp()
        every = set(attributes.values)
        offsets = {name: abi.offset("kiwi_snic_modify_qp_in", name)
                   for name in ("mask", "attr.state", "attr.cur_state")}
        for old in STATES:
            if old == "SQE":
                continue
            for new in STATES:
                def attempt(names):
                    bring(qp, attributes, table, old)
                    reply = qp.try_modify(STATES[new], **attributes.pick(names, old))
                    assert qp.query().state == STATES[old if reply.status else new]
                    return reply.status, reply.err_field
                if (old, new) not in table:
                    assert attempt([]) == (abi.KIWI_ST_BAD_STATE, offsets["attr.state"])
                    continue
                required, optional = table[old, new]
                assert attempt(required)[0] == abi.KIWI_ST_OK, (old, new)
                assert attempt(required | optional)[0] == abi.KIWI_ST_OK, (old, new)
                for name in required:
                    assert attempt(required - {name}) == (
                        abi.KIWI_ST_BAD_STATE, offsets["mask"]), (old, new, name)
                for name in every - required - optional:
                    assert attempt(required | {name}) == (
                        abi.KIWI_ST_BAD_STATE, offsets["mask"]), (old, new, name)
                if "CUR_STATE" in optional:
                    bring(qp, attributes, table, old)
                    reply = qp.try_modify(STATES[new], **{
                        **attributes.pick(required, old), "cur_state": STATES["INIT"]})
                    assert (reply.status, reply.err_field) == (
                        abi.KIWI_ST_BAD_STATE, offsets["attr.cur_state"])
        # STATE is always required.
        bring(qp, attributes, table, "INIT")
        reply = qp.try_modify(0, mask=abi.KIWI_QP_ATTR_ACCESS, access=2)
        assert (reply.status, reply.err_field) == (abi.KIWI_ST_BAD_STATE, offsets["mask"])


@hosttest("model.objects.attributes")
def check_attributes(log):
    """What QUERY_QP tells, and values out of range."""
    table = transitions()
    with machine("mtu-max=5,max-rd-atomic=4,gids=4", log=log) as q:
        node = Node(q, 0)
        attributes, qp = Attributes(node), node.qp()
        bring(qp, attributes, table, "RTS")
        got = qp.query()
        expect = {"state": abi.KIWI_QPS_RTS, "cur_state": 0}
        for name in attributes.values:
            if name != "CUR_STATE":
                expect.update(attributes.values[name])
        for name, value in expect.items():
            seen = getattr(got, name)
            assert (bytes(seen) if isinstance(value, bytes) else seen) == value, name
        assert got.rsvd0 == 0 and not any(got.rsvd1)
        bring(qp, attributes, table, "RESET")
        assert not any(bytes(qp.query()))

        bad, rsvd = abi.KIWI_ST_BAD_PARAM, abi.KIWI_ST_BAD_RESERVED
        ipv6 = bytes.fromhex("fd000000000000000000000000000001")

        def refused(state, status, limit, **change):
            bring(qp, attributes, table, state)
            new = ROUTE[ROUTE.index(state) + 1]
            values = {**attributes.pick(table[state, new][0], state), **change}
            reply = qp.try_modify(STATES[new], **values)
            (name, _), = change.items()
            assert (reply.status, reply.err_field) == (
                status, abi.offset("kiwi_snic_modify_qp_in", "attr." + name)), (name, reply)
            assert limit is None or reply.err_limit == limit, (name, reply)
            assert qp.query().state == STATES[state]
        refused("INIT", bad, 5, mtu=6)
        refused("INIT", bad, 1, mtu=0)
        refused("INIT", bad, 0xffffff, dest_qpn=1 << 24)
        refused("INIT", bad, 0xffffff, rq_psn=1 << 24)
        refused("INIT", bad, 31, min_rnr_timer=32)
        refused("INIT", bad, 4, max_dest_rd_atomic=5)
        refused("INIT", bad, None, dmac=bytes.fromhex("010000000001"))
        refused("INIT", bad, 3, sgid_index=4)
        refused("INIT", bad, None, sgid_index=1)        # an empty entry
        refused("INIT", bad, None, dgid=ipv6)           # of the other version
        refused("INIT", bad, None, dgid=ipv4_gid("224.0.0.1"))
        refused("INIT", bad, None, dgid=bytes(16))
        refused("INIT", bad, 0xfffff, flow_label=1 << 20)
        refused("INIT", bad, 0xc000, udp_sport=0xbfff)
        refused("INIT", rsvd, None, access=1)
        refused("RTR", bad, 0xffffff, sq_psn=1 << 24)
        refused("RTR", bad, 31, timeout=32)
        refused("RTR", bad, 7, retry_cnt=8)
        refused("RTR", bad, 7, rnr_retry=8)
        refused("RTR", bad, 4, max_rd_atomic=5)

        # A hop limit of 0 is taken as 64; the MTU is at most what the port has in force.
        bring(qp, attributes, table, "INIT")
        values = attributes.pick(table["INIT", "RTR"][0], "INIT")
        qp.modify(abi.KIWI_QPS_RTR, **{**values, "hop_limit": 0})
        assert qp.query().hop_limit == 64
        node.dev.ok(abi.KIWI_SNIC_OP_SET_PORT, fields(
            "kiwi_snic_set_port_in", port=1, enabled=1, mtu=3))
        refused("INIT", bad, 3, mtu=4)
        node.dev.ok(abi.KIWI_SNIC_OP_SET_PORT, fields(
            "kiwi_snic_set_port_in", port=1, enabled=1, mtu=5))
        set_gid(node.dev, None)
        refused("INIT", bad, None, sgid_index=0)
