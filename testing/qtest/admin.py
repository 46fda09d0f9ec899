# SPDX-License-Identifier: GPL-2.0
"""Admin queue: every refusal of A-7 for every command, and the order of the checks."""

import ctypes

import abi
from scenario import hosttest
from snicdev import STATUS, Snic, cmd_id, contiguous, fields, machine, unpack

NOWHERE = 1 << 50
NONE = abi.KIWI_ERR_FIELD_NONE


def size(name):
    return ctypes.sizeof(abi.struct(name)) if name else 0


# Opcode: (input structure, reply structure)
COMMANDS = {c.opcode: (c.input or None, c.reply or None) for c in abi.commands()}

# Those that are unknown until their capability has been accepted.
LATER = (abi.KIWI_SNIC_OP_HOLD_MR, abi.KIWI_SNIC_OP_RESUME_MR)

# Fields that name an object, by command; what else may be wrong stands in VALUES.
HANDLES = {
    abi.KIWI_OP_DESTROY_EQ: ["id"],
    abi.KIWI_SNIC_OP_DEALLOC_PD: ["id"],
    abi.KIWI_SNIC_OP_REG_MR: ["pdn"],
    abi.KIWI_SNIC_OP_DEREG_MR: ["id"],
    abi.KIWI_SNIC_OP_HOLD_MR: ["id"],
    abi.KIWI_SNIC_OP_RESUME_MR: ["key"],
    abi.KIWI_SNIC_OP_CREATE_CQ: ["eqn", "db_page"],
    abi.KIWI_SNIC_OP_DESTROY_CQ: ["id"],
    abi.KIWI_SNIC_OP_CREATE_QP: ["pdn", "send_cqn", "recv_cqn", "db_page"],
    abi.KIWI_SNIC_OP_MODIFY_QP: ["qpn"],
    abi.KIWI_SNIC_OP_QUERY_QP: ["id"],
    abi.KIWI_SNIC_OP_DESTROY_QP: ["id"],
}

CAPS = ("max-inline=64,page-shift-max=30,table-shift-max=14,gids=4,sq-log2-max=9,rq-log2-max=8,"
        "cq-log2-max=10,max-rd-atomic=4,max-mr-pages=4096,max-mr-size=0x40000000,mtu-max=4,"
        "db-pages=64,eq-count=8,eq-log2-max=8,vectors=4")


class Bench:
    """A device with one object of each kind, and a good input for each command."""

    def __init__(self, q):
        self.dev = dev = Snic(q)
        dev.start()
        self.eq = dev.create_eq()
        self.page = dev.open_page(3)
        self.pd = dev.alloc_pd()
        self.cq = dev.create_cq(self.eq, self.page)
        self.qp = dev.create_qp(self.pd, self.cq, self.page)
        self.mem = q.alloc(16384)
        self.key = dev.reg_mr(self.pd, self.mem, 16384)
        self.held = dev.reg_mr(self.pd, self.mem, 8192)
        dev.hold_mr(self.held)
        self.live = [dev.diag(kind) for kind in range(abi.KIWI_DIAG_LIVE_END + 1)]

    def good(self, opcode):
        """An input that is right in form; the objects it names are alive."""
        dev, q = self.dev, self.dev.q
        number = {
            abi.KIWI_OP_DESTROY_EQ: self.eq.number, abi.KIWI_OP_OPEN_DB_PAGE: 9,
            abi.KIWI_OP_CLOSE_DB_PAGE: self.page, abi.KIWI_SNIC_OP_QUERY_PORT: 1,
            abi.KIWI_SNIC_OP_QUERY_PORT_COUNTERS: 2, abi.KIWI_SNIC_OP_DEALLOC_PD: self.pd,
            abi.KIWI_SNIC_OP_DEREG_MR: self.key, abi.KIWI_SNIC_OP_HOLD_MR: self.key,
            abi.KIWI_SNIC_OP_DESTROY_CQ: self.cq.number,
            abi.KIWI_SNIC_OP_QUERY_QP: self.qp.number,
            abi.KIWI_SNIC_OP_DESTROY_QP: self.qp.number}
        if opcode in number:
            return cmd_id(number[opcode])
        return {
            abi.KIWI_OP_SET_HOST_CAPS: lambda: fields(
                "kiwi_cmd_set_host_caps_in", caps=1, abi=1 << 16),
            abi.KIWI_OP_CREATE_EQ: lambda: fields(
                "kiwi_cmd_create_eq_in", base=q.alloc(1024), log2=6, kind=2, vector=3),
            abi.KIWI_SNIC_OP_SET_PORT: lambda: fields(
                "kiwi_snic_set_port_in", port=1, enabled=1, mtu=3),
            abi.KIWI_SNIC_OP_SET_GID: lambda: fields(
                "kiwi_snic_set_gid_in", port=1, index=1, type=2,
                gid=bytes.fromhex("fd00000000000000000000000000000b")),
            abi.KIWI_SNIC_OP_REG_MR: lambda: dev.reg_mr_in(self.pd, self.mem, 8192),
            abi.KIWI_SNIC_OP_RESUME_MR: lambda: dev.resume_mr_in(self.held, self.mem, 8192),
            abi.KIWI_SNIC_OP_CREATE_CQ: lambda: self.cq.create_in(self.eq.number),
            abi.KIWI_SNIC_OP_CREATE_QP: lambda: self.qp.create_in(
                self.pd, self.cq.number, self.cq.number),
            abi.KIWI_SNIC_OP_MODIFY_QP: lambda: fields(
                "kiwi_snic_modify_qp_in", qpn=self.qp.number, mask=0xd, attr__state=1,
                attr__port=1, attr__access=0xe),
        }.get(opcode, lambda: b"")()

    def refused(self, reply, status, field=NONE, value=None, limit=None):
        """Checks a refusal, and that it had no effect."""
        assert reply.status == status, f"{STATUS[reply.status]}, not {STATUS[status]}: {reply}"
        assert reply.err_field == field, f"field {reply.err_field}, not {field}: {reply}"
        assert value is None or reply.err_value == value, f"not value {value}: {reply}"
        assert limit is None or reply.err_limit == limit, f"not limit {limit}: {reply}"
        live = [self.dev.diag(kind) for kind in range(abi.KIWI_DIAG_LIVE_END + 1)]
        assert live == self.live, "a refused command had an effect"


@hosttest("model.admin.entries")
def entries(log):
    """Opcode, lengths, flags, addresses and reserved fields of the entry itself."""
    with machine(CAPS, log=log) as q:
        bench = Bench(q)
        dev = bench.dev
        for opcode in (0, 3, 0x12, 0x22, 0xff, 0x104, 0x144, 0x200, 0xffff):
            bench.refused(dev.command(opcode, flags=1, in_len=9), abi.KIWI_ST_BAD_OPCODE,
                          value=opcode)
        for opcode, (in_name, out_name) in COMMANDS.items():
            data, out = bench.good(opcode), size(out_name)
            assert len(data) == size(in_name), hex(opcode)

            def refuse(status, value=None, limit=None, **change):
                entry = unpack("kiwi_aq_entry", dev.entry(opcode, data, out))
                for name, new in change.items():
                    if isinstance(new, bytes):
                        getattr(entry, name)[:len(new)] = list(new)
                    else:
                        setattr(entry, name, new)
                bench.refused(dev.run(bytes(entry)), status, value=value, limit=limit)
            for length in {0, 8, len(data) - 1, len(data) + 1, len(data) + 8, 4096, 0xffff}:
                if length not in (len(data), -1):
                    refuse(abi.KIWI_ST_BAD_LENGTH, length, len(data), in_len=length, flags=1)
            for length in {0, 8, out - 1, out + 1, out + 8, 4096, 0xffff}:
                if length not in (out, -1):
                    refuse(abi.KIWI_ST_BAD_LENGTH, length, out, out_len=length, flags=1)
            for bit in (0, 1, 15):
                refuse(abi.KIWI_ST_BAD_RESERVED, 1 << bit, flags=1 << bit, in_addr=3)
            for name, length in (("in_addr", len(data)), ("out_addr", out)):
                if length <= abi.KIWI_AQ_INLINE:
                    refuse(abi.KIWI_ST_BAD_RESERVED, 1 << 40, **{name: 1 << 40})
                else:
                    for addr in (q.alloc(4096) + 4, NOWHERE + 1):
                        refuse(abi.KIWI_ST_BAD_PARAM, addr, 8, **{name: addr})
            for at in range(6):
                refuse(abi.KIWI_ST_BAD_RESERVED, at + 1, rsvd=bytes(at) + bytes([at + 1]))
            used = len(data) if len(data) <= abi.KIWI_AQ_INLINE else 0
            for at in {used, abi.KIWI_AQ_INLINE - 1}:
                if used <= at < abi.KIWI_AQ_INLINE:
                    stray = bytearray(data[:used].ljust(abi.KIWI_AQ_INLINE, b"\0"))
                    stray[at] = 0x80
                    refuse(abi.KIWI_ST_BAD_RESERVED, 0x80, **{"in": bytes(stray)})


@hosttest("model.admin.not-ready")
def not_ready(log):
    """A-8: nothing before SET_HOST_CAPS, which is accepted once."""
    with machine(CAPS, log=log) as q:
        dev = Snic(q)
        dev.enable()
        for opcode, (in_name, out_name) in COMMANDS.items():
            if opcode == abi.KIWI_OP_SET_HOST_CAPS:
                continue
            data = bytes(size(in_name))
            if opcode in LATER:
                assert dev.command(opcode, data, flags=1).status == abi.KIWI_ST_BAD_OPCODE
                continue
            assert dev.command(opcode, data, size(out_name), flags=1).status == \
                abi.KIWI_ST_BAD_RESERVED
            change = {"in_addr": NOWHERE} if len(data) > abi.KIWI_AQ_INLINE else {}
            assert dev.command(opcode, data, size(out_name), **change).status == \
                abi.KIWI_ST_NOT_READY, hex(opcode)

        def caps(**values):
            reply = dev.command(abi.KIWI_OP_SET_HOST_CAPS, fields(
                "kiwi_cmd_set_host_caps_in", **{"caps": 1, "abi": 1 << 16, **values}))
            return STATUS[reply.status], reply.err_field, reply.err_value, reply.err_limit
        every, version = dev.rd64(abi.KIWI_REG_CAPS), dev.rd32(abi.KIWI_REG_ABI)
        assert caps(caps=3, abi=0, rsvd=1) == ("BAD_PARAM", 0, 3, every)
        assert caps(caps=1 << 63) == ("BAD_PARAM", 0, 1 << 63, every)
        assert caps(abi=2 << 16, rsvd=1) == ("UNSUPPORTED", 8, 2 << 16, version)
        assert caps(abi=0)[0] == "UNSUPPORTED"
        assert caps(rsvd=5) == ("BAD_RESERVED", 12, 5, 0)
        assert dev.command(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8).status == abi.KIWI_ST_NOT_READY
        assert caps(caps=0, abi=1 << 16 | 9)[0] == "OK"     # any minor version
        assert caps()[0] == "BAD_STATE"
        assert caps(rsvd=5)[0] == "BAD_RESERVED"
        dev.alloc_pd()
        dev.reset()
        dev.start()


@hosttest("model.admin.reserved")
def reserved(log):
    """Every reserved field of every input, found by its name in the headers."""
    with machine(CAPS, log=log) as q:
        bench = Bench(q)
        checked = 0
        for opcode, (in_name, out_name) in COMMANDS.items():
            for path, at, length in reserved_fields(in_name) if in_name else ():
                for byte in {0, length - 1}:
                    data = bytearray(bench.good(opcode))
                    data[at + byte] = 0x10
                    value = 0x10 << 8 * byte if length <= 8 else 0x10
                    bench.refused(bench.dev.command(opcode, bytes(data), size(out_name)),
                                  abi.KIWI_ST_BAD_RESERVED, at, value, 0)
                    checked += 1
        assert checked >= 39, checked


def reserved_fields(name, at=0, path=""):
    """(name, offset, length) of each reserved field."""
    for field, kind in abi.struct(name)._fields_:
        offset = at + getattr(abi.struct(name), field).offset
        if field.startswith("rsvd"):
            yield path + field, offset, ctypes.sizeof(kind)
        elif hasattr(kind, "_fields_"):
            yield from reserved_fields(kind.__name__, offset, path + field + ".")


@hosttest("model.admin.dma-errors")
def dma_errors(log):
    """Payloads that cannot be reached, and that are only looked at after the entry."""
    with machine(CAPS, log=log) as q:
        bench = Bench(q)
        for opcode, (in_name, out_name) in COMMANDS.items():
            for name, length in (("in_addr", size(in_name)), ("out_addr", size(out_name))):
                if length > abi.KIWI_AQ_INLINE:
                    for addr in (NOWHERE, (1 << 64) - 8):
                        reply = bench.dev.command(opcode, bench.good(opcode), size(out_name),
                                                  **{name: addr})
                        bench.refused(reply, abi.KIWI_ST_DMA_ERROR, value=addr)
        faults = bench.dev.diag(abi.KIWI_DIAG_DMA(abi.KIWI_DMA_ADMIN, abi.KIWI_DMA_FAULT,
                                                  abi.KIWI_DMA_TRANSACTIONS))
        assert faults == 16, faults


@hosttest("model.admin.handles")
def handles(log):
    """Numbers that name nothing: 0, one never given, the largest, all ones."""
    with machine(CAPS, log=log) as q:
        bench = Bench(q)
        wrong_kind = bench.dev.create_eq(abi.KIWI_EQ_ASYNC).number
        bench.live[abi.KIWI_DIAG_LIVE_EQ] += 1
        for opcode, names in HANDLES.items():
            in_name, out_name = COMMANDS[opcode]
            for name in names:
                values = [5, 60, abi.KIWI_SNIC_NUMBER_MAX, 1 << 24, 0xffffffff]
                if name not in ("eqn", "db_page") and opcode != abi.KIWI_OP_DESTROY_EQ:
                    values.append(0)
                if name == "eqn":
                    values.append(wrong_kind)
                if opcode in (abi.KIWI_SNIC_OP_DEREG_MR, *LATER):
                    key = bench.held if name == "key" else bench.key
                    values += [key ^ 1, key ^ 0x80, key >> 8]
                for value in values:
                    record = unpack(in_name, bench.good(opcode))
                    setattr(record, name, value)
                    bench.refused(bench.dev.command(opcode, bytes(record), size(out_name)),
                                  abi.KIWI_ST_BAD_HANDLE, abi.offset(in_name, name), value)


def pbl_values(prefix):
    """Wrong values of a page list's fields that are wrong whatever it describes."""
    return [(prefix + ".count", 0, "BAD_PARAM", 1),
            (prefix + ".count", 4097, "BAD_PARAM", 4096),
            (prefix + ".count", 5, "BAD_PARAM", 4),
            (prefix + ".page_shift", 11, "BAD_PARAM", 12),
            (prefix + ".page_shift", 31, "BAD_PARAM", 30),
            (prefix + ".page_shift", 255, "BAD_PARAM", 30),
            (prefix + ".levels", 3, "BAD_PARAM", 2),
            (prefix + ".levels", 255, "BAD_PARAM", 2),
            (prefix + ".table_shift", 12, "BAD_PARAM", 0)]


# Opcode: (field, wrong value, status, limit)
VALUES = {
    abi.KIWI_OP_CREATE_EQ: [
        ("base", 0x1000010, "BAD_PARAM", 4096), ("log2", 5, "BAD_PARAM", 6),
        ("log2", 9, "BAD_PARAM", 8), ("log2", 255, "BAD_PARAM", 8),
        ("kind", 0, "BAD_PARAM", 1), ("kind", 3, "BAD_PARAM", 2),
        ("vector", 4, "BAD_PARAM", 3), ("vector", 0xffff, "BAD_PARAM", 3)],
    abi.KIWI_OP_DESTROY_EQ: [],
    abi.KIWI_OP_OPEN_DB_PAGE: [
        ("id", 64, "BAD_PARAM", 63), ("id", 0xffffffff, "BAD_PARAM", 63),
        ("id", 3, "BAD_STATE", 0)],
    abi.KIWI_OP_CLOSE_DB_PAGE: [
        ("id", 64, "BAD_PARAM", 63), ("id", 4, "BAD_STATE", 0), ("id", 3, "BUSY", 2)],
    abi.KIWI_SNIC_OP_QUERY_PORT: [
        ("id", 0, "BAD_PARAM", 1), ("id", 3, "BAD_PARAM", 2), ("id", 1 << 31, "BAD_PARAM", 2)],
    abi.KIWI_SNIC_OP_QUERY_PORT_COUNTERS: [
        ("id", 0, "BAD_PARAM", 1), ("id", 3, "BAD_PARAM", 2)],
    abi.KIWI_SNIC_OP_SET_PORT: [
        ("port", 0, "BAD_PARAM", 1), ("port", 3, "BAD_PARAM", 2),
        ("enabled", 2, "BAD_PARAM", 1), ("mtu", 0, "BAD_PARAM", 1), ("mtu", 5, "BAD_PARAM", 4)],
    abi.KIWI_SNIC_OP_SET_GID: [
        ("port", 0, "BAD_PARAM", 1), ("port", 3, "BAD_PARAM", 2), ("index", 4, "BAD_PARAM", 3),
        ("type", 1, "BAD_PARAM", None), ("type", 3, "BAD_PARAM", None),
        ("type", 0, "BAD_RESERVED:gid", 0)],
    abi.KIWI_SNIC_OP_DEALLOC_PD: [("id", "pd", "BUSY", 3)],
    abi.KIWI_SNIC_OP_DESTROY_CQ: [("id", "cq", "BUSY", 2)],
    abi.KIWI_SNIC_OP_REG_MR: [
        ("access", 0x20, "BAD_RESERVED", 0x1f), ("access", 1 << 31, "BAD_RESERVED", 0x1f),
        ("access", 2, "BAD_PARAM", None), ("access", 8, "BAD_PARAM", None),
        ("access", 6, "BAD_PARAM", None), ("length", 0, "BAD_PARAM", 1),
        ("length", (1 << 30) + 1, "BAD_PARAM", 1 << 30),
        ("length", (1 << 64) - 1, "BAD_PARAM", 1 << 30),
        ("iova", (1 << 64) - 8191, "BAD_PARAM:length", 8191),
        ("iova", (1 << 64) - 1, "BAD_PARAM:length", 1),
        ("length", 4096, "BAD_PARAM:pbl.count", 1),
        ("length", 8193, "BAD_PARAM:pbl.count", 3)] + pbl_values("pbl"),
    abi.KIWI_SNIC_OP_HOLD_MR: [("id", "held", "BAD_STATE", 0)],
    abi.KIWI_SNIC_OP_RESUME_MR: [
        ("key", "key", "BAD_STATE", 0), ("pbl.offset", 8, "BAD_PARAM:pbl.count", 3)]
    + pbl_values("pbl"),
    abi.KIWI_SNIC_OP_CREATE_CQ: [
        ("flags", 4, "BAD_RESERVED", 3), ("flags", 0x80, "BAD_RESERVED", 3),
        ("flags", 1, "BAD_RESERVED:ci_offset", 0), ("flags", 3, "BAD_RESERVED:log2", 0),
        ("log2", 0, "BAD_PARAM", 1), ("log2", 11, "BAD_PARAM", 10),
        ("ci_offset", 1028, "BAD_PARAM", 8), ("ci_offset", 1016, "BAD_PARAM", 1024),
        ("ci_offset", 0, "BAD_PARAM", 1024),
        ("ci_offset", (1 << 64) - 8, "BAD_PARAM", (1 << 64) - 9),
        ("ci_offset", 1032, "BAD_PARAM:length", 1040), ("length", 1031, "BAD_PARAM", 1032),
        ("length", 0, "BAD_PARAM", 1032), ("length", 4097, "BAD_PARAM:pbl.count", 2),
        ("length", (1 << 64) - 1, "BAD_PARAM:pbl.count", 1 << 52),
        ("pbl.offset", 32, "BAD_PARAM", 64)] + pbl_values("pbl"),
    abi.KIWI_SNIC_OP_CREATE_QP: [
        ("type", 0, "BAD_PARAM", 1), ("type", 2, "BAD_PARAM", 1),
        ("flags", 8, "BAD_RESERVED", 7), ("flags", 0x81, "BAD_RESERVED", 7),
        ("flags", 2, "BAD_RESERVED:recv_cqn", 0), ("db_record", 8, "BAD_RESERVED", 0),
        ("sq_log2", 2, "BAD_PARAM", 3), ("sq_log2", 10, "BAD_PARAM", 9),
        ("sq_log2", 255, "BAD_PARAM", 9), ("rq_log2", 9, "BAD_PARAM", 8),
        ("rq_stride", 4, "BAD_PARAM", 5), ("rq_stride", 10, "BAD_PARAM", 9),
        ("sq_log2", 7, "BAD_PARAM:sq.count", 2), ("rq_log2", 7, "BAD_PARAM:rq.count", 2),
        ("sq.offset", 8, "BAD_PARAM", 64), ("rq.offset", 32, "BAD_PARAM", 64)]
    + pbl_values("sq") + pbl_values("rq"),
    abi.KIWI_SNIC_OP_MODIFY_QP: [
        ("mask", 0x800d, "BAD_RESERVED", 0x7fff), ("attr.state", 7, "BAD_PARAM", 6),
        ("attr.port", 0, "BAD_PARAM", 1), ("attr.port", 3, "BAD_PARAM", 2),
        ("attr.access", 1, "BAD_RESERVED", 0xe), ("attr.access", 0x10, "BAD_RESERVED", 0xe)]
    + [("attr." + name, 1, "BAD_RESERVED", 0) for name in (
        "cur_state", "mtu", "dest_qpn", "sq_psn", "rq_psn", "timeout", "retry_cnt", "rnr_retry",
        "min_rnr_timer", "max_rd_atomic", "max_dest_rd_atomic", "hop_limit", "traffic_class",
        "sgid_index", "flow_label", "udp_sport")],
}


def set_path(record, path, value):
    *outer, last = path.split(".")
    for part in outer:
        record = getattr(record, part)
    setattr(record, last, value)


@hosttest("model.admin.values")
def values(log):
    """Fields out of range: status, field, value and limit of each."""
    with machine(CAPS, log=log) as q:
        bench = Bench(q)
        for opcode, cases in VALUES.items():
            in_name, out_name = COMMANDS[opcode]
            for path, value, expected, limit in cases:
                if isinstance(value, str):
                    value = {"pd": bench.pd, "cq": bench.cq.number, "key": bench.key,
                             "held": bench.held}[value]
                status, _, blamed = expected.partition(":")
                record = unpack(in_name, bench.good(opcode))
                set_path(record, path, value)
                reply = bench.dev.command(opcode, bytes(record), size(out_name))
                try:
                    bench.refused(reply, getattr(abi, "KIWI_ST_" + status),
                                  abi.offset(in_name, blamed or path),
                                  None if blamed else value, limit)
                except AssertionError as error:
                    raise AssertionError(f"{opcode:#x} {path}={value:#x}: {error}") from error


@hosttest("model.admin.order")
def order(log):
    """A-7: the first field in the order of the structure; objects after fields; then limits."""
    with machine(CAPS + ",max-mr=2", log=log) as q:
        bench = Bench(q)
        dev, name = bench.dev, "kiwi_snic_reg_mr_in"
        faults = [("pbl.offset", 1 << 20, "BAD_PARAM"), ("pbl.rsvd", 1, "BAD_RESERVED"),
                  ("pbl.levels", 9, "BAD_PARAM"), ("pbl.page_shift", 9, "BAD_PARAM"),
                  ("pbl.count", 0, "BAD_PARAM"), ("length", 0, "BAD_PARAM"),
                  ("access", 0x80, "BAD_RESERVED")]
        record = unpack(name, dev.reg_mr_in(bench.pd, bench.mem, 8192))

        def expect(status, field):
            bench.refused(dev.command(abi.KIWI_SNIC_OP_REG_MR, bytes(record), 8),
                          getattr(abi, "KIWI_ST_" + status), field)
        expect("NO_RESOURCE", NONE)
        record.pdn = 77
        expect("BAD_HANDLE", 0)
        for path, value, status in faults:
            set_path(record, path, value)
            expect(status, abi.offset(name, path))

        # Tables are read last of all.
        record = unpack(name, dev.reg_mr_in(bench.pd, contiguous(bench.mem, 8192), 8192))
        record.pbl.levels, record.pbl.table_shift = 1, 12
        record.pbl.addr[0], record.pbl.addr[1] = NOWHERE, 0
        expect("NO_RESOURCE", NONE)
        dev.destroy(abi.KIWI_SNIC_OP_DEREG_MR, bench.key)
        bench.live[abi.KIWI_DIAG_LIVE_MR] -= 1
        expect("DMA_ERROR", abi.offset(name, "pbl.addr"))


@hosttest("model.admin.ring")
def ring(log):
    """Batches, wrapping, phases, and more in one go than the device takes at a time."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.start(log2=6)
        for batch in (1, 64, 63, 64, 64, 5):
            for _ in range(batch):
                q.write(dev.aq + 64 * (dev.pi % 64),
                        dev.entry(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8))
                dev.pi += 1
            dev.wr32(abi.KIWI_REG_AQ_PI, dev.pi)
            for _ in range(batch):
                assert dev.take().status == abi.KIWI_ST_OK
            q.settle(0.001)
            assert not dev.completed()
        assert dev.diag(abi.KIWI_DIAG_LIVE_PD) == 1 + 64 + 63 + 64 + 64 + 5


@hosttest("model.admin.batch")
def batch(log):
    """A-2: each command of a batch sees what those before it did, and nothing of those behind."""
    with machine("aq-log2-max=8", log=log) as q:
        dev = Snic(q)
        dev.start(log2=8)
        page = dev.open_page(3)
        cq = dev.create_cq(dev.create_eq(), page)
        pd = dev.alloc_pd()
        qp = dev.create_qp(pd, cq, page)
        key = dev.reg_mr(pd, q.alloc(4096), 4096)
        wanted = {}

        def add(opcode, data, status, out_len=0, seen=None):
            """A command with payload of its own, and what is to come of it."""
            dev.payload_in, dev.payload_out = q.alloc(512, 64), q.alloc(512, 64)
            q.write(dev.aq + 64 * (dev.pi % 256), dev.entry(opcode, data, out_len))
            wanted[dev.pi] = opcode, status, seen, dev.payload_out
            dev.pi += 1

        def modify(state, status="OK", mask=0, **attributes):
            add(abi.KIWI_SNIC_OP_MODIFY_QP, fields(
                "kiwi_snic_modify_qp_in", qpn=qp.number, mask=abi.KIWI_QP_ATTR_STATE | mask,
                attr__state=state, **attributes), status)

        def query(state, status="OK"):
            add(abi.KIWI_SNIC_OP_QUERY_QP, cmd_id(qp.number), status, size("kiwi_qp_attr"), state)
        for n in range(20):
            modify(abi.KIWI_QPS_INIT, mask=abi.KIWI_QP_ATTR_PORT | abi.KIWI_QP_ATTR_ACCESS,
                   attr__port=1)
            query(abi.KIWI_QPS_INIT)
            modify(abi.KIWI_QPS_RESET)
            query(abi.KIWI_QPS_RESET)
            modify(abi.KIWI_QPS_INIT, "BAD_STATE")          # without a port
            query(abi.KIWI_QPS_RESET)
            for opcode in (abi.KIWI_OP_OPEN_DB_PAGE, abi.KIWI_OP_CLOSE_DB_PAGE):
                for status in ("OK", "BAD_STATE"):
                    add(opcode, cmd_id(40 + n), status)
        for opcode, number in ((abi.KIWI_SNIC_OP_DESTROY_QP, qp.number),
                               (abi.KIWI_SNIC_OP_DEREG_MR, key)):
            add(abi.KIWI_SNIC_OP_DEALLOC_PD, cmd_id(pd), "BUSY")
            add(opcode, cmd_id(number), "OK")
        query(None, "BAD_HANDLE")
        add(abi.KIWI_SNIC_OP_DEALLOC_PD, cmd_id(pd), "OK")
        dev.wr32(abi.KIWI_REG_AQ_PI, dev.pi)
        while wanted:
            done = dev.take()
            opcode, status, seen, out = wanted.pop(done.cmd_id)
            assert (done.opcode, STATUS[done.status]) == (opcode, status), done.cmd_id
            assert seen is None or q.readb(out) == seen, done.cmd_id


@hosttest("model.admin.limits")
def limits(log):
    """NO_RESOURCE for each kind of object, and that a freed place can be used again."""
    with machine("max-pd=3,max-mr=3,max-cq=3,max-qp=3,eq-count=3,vectors=4", log=log) as q:
        dev = Snic(q)
        dev.start()
        page = dev.open_page(0)
        eq = dev.create_eq()
        pd = dev.alloc_pd()
        cq = dev.create_cq(eq, page)
        qp = dev.create_qp(pd, cq, page)
        mem = q.alloc(4096)
        dev.reg_mr(pd, mem, 4096)
        again = {
            abi.KIWI_OP_CREATE_EQ: fields("kiwi_cmd_create_eq_in", base=q.alloc(1024), log2=6,
                                          kind=2, vector=1),
            abi.KIWI_SNIC_OP_ALLOC_PD: b"",
            abi.KIWI_SNIC_OP_REG_MR: dev.reg_mr_in(pd, mem, 4096),
            abi.KIWI_SNIC_OP_CREATE_CQ: cq.create_in(eq.number),
            abi.KIWI_SNIC_OP_CREATE_QP: qp.create_in(pd, cq.number, cq.number),
        }
        undo = {
            abi.KIWI_OP_CREATE_EQ: abi.KIWI_OP_DESTROY_EQ,
            abi.KIWI_SNIC_OP_ALLOC_PD: abi.KIWI_SNIC_OP_DEALLOC_PD,
            abi.KIWI_SNIC_OP_REG_MR: abi.KIWI_SNIC_OP_DEREG_MR,
            abi.KIWI_SNIC_OP_CREATE_CQ: abi.KIWI_SNIC_OP_DESTROY_CQ,
            abi.KIWI_SNIC_OP_CREATE_QP: abi.KIWI_SNIC_OP_DESTROY_QP,
        }
        for opcode, data in again.items():
            dev.ok(opcode, data, 8)
            number = dev.ok_id(opcode, data)
            for _ in range(2):
                reply = dev.command(opcode, data, 8)
                assert reply.status == abi.KIWI_ST_NO_RESOURCE, hex(opcode)
                assert (reply.err_field, reply.err_limit) == (NONE, 3)
            dev.destroy(undo[opcode], number)
            dev.ok(opcode, data, 8)
