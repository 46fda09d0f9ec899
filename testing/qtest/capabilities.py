# SPDX-License-Identifier: GPL-2.0
"""Capabilities of versions after 1.0: offered or not, accepted or not (A-8, A-9)."""

import abi
from scenario import hosttest
from snicdev import Snic, cmd_id, fields, machine, unpack

DIAG = abi.KIWI_CAP_DIAG
QUEUES, HOLD = abi.KIWI_SNIC_CAP_GPU_QUEUES, abi.KIWI_SNIC_CAP_MR_HOLD
EVERY = DIAG | QUEUES | HOLD


@hosttest("model.capabilities.offered")
def offered(log):
    """The property leaves capabilities off; what is not offered cannot be accepted."""
    for mask in (0, DIAG, DIAG | QUEUES, DIAG | HOLD, EVERY, (1 << 64) - 1):
        with machine(f"caps={mask:#x}", log=log) as q:
            dev, offers = Snic(q), mask & EVERY
            assert dev.rd64(abi.KIWI_REG_CAPS) == offers
            dev.enable()
            for bit in (1 << n for n in range(64)):
                if bit & ~offers:
                    reply = dev.command(abi.KIWI_OP_SET_HOST_CAPS, fields(
                        "kiwi_cmd_set_host_caps_in", caps=bit | offers, abi=1 << 16))
                    assert (reply.status, reply.err_value, reply.err_limit) == (
                        abi.KIWI_ST_BAD_PARAM, bit | offers, offers)
            assert dev.command(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8).status == abi.KIWI_ST_NOT_READY
            dev.reset()
            dev.start()
            dev.alloc_pd()
            # Without the capability there is no diagnostic block.
            assert dev.diag(abi.KIWI_DIAG_LIVE_PD) == (1 if offers & DIAG else 0)
            assert dev.counters()["live_pd"] == 1


class Bench:
    """A device on which some capabilities were accepted."""

    def __init__(self, dev, caps):
        self.dev = dev
        dev.start(caps=caps)
        self.eq, self.page, self.pd = dev.create_eq(), dev.open_page(0), dev.alloc_pd()
        self.cq = dev.create_cq(self.eq, self.page)
        self.qp = dev.create_qp(self.pd, self.cq, self.page)
        self.mem = dev.q.alloc(4096)
        self.key = dev.reg_mr(self.pd, self.mem, 4096)

    def status(self, opcode, name, good, out=8, **change):
        """Status and field of a command with some fields changed."""
        record = unpack(name, good)
        for field, value in change.items():
            setattr(record, field, value)
        reply = self.dev.command(opcode, bytes(record), out)
        return reply.status, reply.err_field, reply.err_limit

    def create_cq(self, **change):
        return self.status(abi.KIWI_SNIC_OP_CREATE_CQ, "kiwi_snic_create_cq_in",
                           self.cq.create_in(self.eq.number), **change)

    def create_qp(self, **change):
        return self.status(abi.KIWI_SNIC_OP_CREATE_QP, "kiwi_snic_create_qp_in",
                           self.qp.create_in(self.pd, self.cq.number, self.cq.number), **change)

    def reg_mr(self, access):
        return self.status(abi.KIWI_SNIC_OP_REG_MR, "kiwi_snic_reg_mr_in",
                           self.dev.reg_mr_in(self.pd, self.mem, 4096), access=access)

    def queues_off(self):
        """Flags are unknown, the field of a flag must be zero."""
        rsvd = abi.KIWI_ST_BAD_RESERVED
        flags = abi.offset("kiwi_snic_create_cq_in", "flags")
        for value in (abi.KIWI_CQ_OVERRUN_IGNORE, abi.KIWI_CQ_COLLAPSED, 3, 4):
            assert self.create_cq(flags=value) == (rsvd, flags, 0)
        flags = abi.offset("kiwi_snic_create_qp_in", "flags")
        for value in (abi.KIWI_QP_SQ_ONLY, abi.KIWI_QP_DB_RECORD, 6, 7, 8):
            assert self.create_qp(flags=value) == (rsvd, flags, abi.KIWI_QP_SQ_SIG_ALL)
        assert self.create_qp(flags=abi.KIWI_QP_DB_RECORD, db_record=8)[:2] == (rsvd, flags)
        assert self.create_qp(db_record=8) == (
            rsvd, abi.offset("kiwi_snic_create_qp_in", "db_record"), 0)
        assert self.reg_mr(abi.KIWI_ACCESS_RELAXED | 1) == (
            rsvd, abi.offset("kiwi_snic_reg_mr_in", "access"), abi.KIWI_ACCESS_ALL)

    def queues_on(self):
        ok = abi.KIWI_ST_OK
        assert self.create_cq(flags=abi.KIWI_CQ_OVERRUN_IGNORE, ci_offset=0)[0] == ok
        assert self.create_cq(flags=3, ci_offset=0, log2=0)[0] == ok
        assert self.create_qp(flags=abi.KIWI_QP_DB_RECORD, db_record=self.mem)[0] == ok
        assert self.reg_mr(abi.KIWI_ACCESS_RELAXED)[0] == ok

    def hold_off(self):
        """The commands are unknown, whatever is in their entry."""
        resume = self.dev.resume_mr_in(self.key, self.mem, 4096)
        for opcode, data in ((abi.KIWI_SNIC_OP_HOLD_MR, cmd_id(self.key)),
                             (abi.KIWI_SNIC_OP_RESUME_MR, resume)):
            for change in ({}, {"flags": 1}, {"in_len": 3}):
                reply = self.dev.command(opcode, data, **change)
                assert (reply.status, reply.err_value) == (abi.KIWI_ST_BAD_OPCODE, opcode)

    def hold_on(self):
        self.dev.hold_mr(self.key)
        self.dev.resume_mr(self.key, self.mem, 4096)


@hosttest("model.capabilities.accepted")
def accepted(log):
    """What was not named in SET_HOST_CAPS is off, whether it is offered or not, until a reset."""
    for mask in (EVERY, DIAG, DIAG | QUEUES):
        with machine(f"caps={mask:#x}", log=log) as q:
            dev = Snic(q)
            for caps in (0, DIAG, QUEUES, HOLD, EVERY, 0):
                if caps & ~mask:
                    continue
                bench = Bench(dev, caps)
                bench.queues_on() if caps & QUEUES else bench.queues_off()
                bench.hold_on() if caps & HOLD else bench.hold_off()
                dev.reset()
