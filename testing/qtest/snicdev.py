# SPDX-License-Identifier: GPL-2.0
"""A driver of kiwi-snic in Python, as thin as can be, for tests without a guest.

    with machine() as q:
        dev = Snic(q)
        dev.start()
        pd = dev.alloc_pd()
"""

import collections
import ctypes
import json
import struct

import abi
from qtest import Qtest

SLOT = 4
XPU_SLOT = 5

Reply = collections.namedtuple("Reply", "status out err_field err_value err_limit")

STATUS = {value: name[8:] for name, value in vars(abi).items()
          if name.startswith("KIWI_ST_") and name != "KIWI_ST_COUNT"}


def machine(props="", more=(), arguments=(), **options):
    """A machine with one SNIC, snic0, whose ports have no wire unless told."""
    return Qtest([f"kiwi-snic,id=snic0,addr={SLOT}" + (props and "," + props), *more],
                 arguments, **options)


def fields(name, **values):
    """A structure of the ABI as bytes; "__" in a name stands for "." of a nested one."""
    record = abi.struct(name)()
    for path, value in values.items():
        target = record
        *outer, last = path.split("__")
        for part in outer:
            target = getattr(target, part)
        if isinstance(value, (bytes, list, tuple)):
            getattr(target, last)[:len(value)] = list(value)
        else:
            setattr(target, last, value)
    return bytes(record)


def unpack(name, data):
    """Bytes as a structure of the ABI."""
    return abi.struct(name).from_buffer_copy(data)


def cmd_id(number):
    """The input of commands that take one object."""
    return fields("kiwi_cmd_id", id=number)


def pbl(pages, page_shift=12, offset=0, **more):
    """A page list that stands in the structure itself."""
    return unpack("kiwi_pbl", fields("kiwi_pbl", count=len(pages), page_shift=page_shift,
                                     offset=offset, addr=pages, **more))


class Refused(Exception):
    """A command that should have succeeded did not."""


class Snic:
    """The device, and the queues by which it is driven."""

    def __init__(self, q, slot=SLOT, bus=0):
        self.q = q
        self.pci = q.pci(slot, bus)
        self.regs = self.pci.bar(abi.KIWI_BAR_REGS)
        self.doorbells = self.pci.bar(abi.KIWI_BAR_DOORBELL)
        self.msi = self.pci.msix()
        self.aq_log2 = 0

    # Registers

    def rd32(self, reg):
        return self.q.readl(self.regs + reg)

    def rd64(self, reg):
        return self.q.readq(self.regs + reg)

    def wr32(self, reg, value):
        self.q.writel(self.regs + reg, value)

    def wr64(self, reg, value):
        self.q.writeq(self.regs + reg, value)

    def status(self):
        return self.rd32(abi.KIWI_REG_DEV_STS)

    def diag(self, index):
        """A diagnostic counter."""
        return self.rd64(abi.KIWI_REG_DIAG(index))

    def counters(self):
        """The diagnostic counters as QOM has them."""
        return json.loads(self.q.qom_get("snic0", "diag"))

    # Life

    def wait_status(self, bits, mask=0xf):
        """Waits until the bits of DEV_STS that mask selects are these."""
        self.q.until(lambda: self.status() & mask == bits, f"status {bits:#x}")

    def wait_ready(self):
        self.wait_status(abi.KIWI_DEV_STS_READY)

    def reset(self, reason=abi.KIWI_RESET_USER):
        self.wr32(abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_RESET | reason << 8)
        self.wait_ready()

    def configure(self, log2=4, vector=0):
        """Writes the registers of the admin queue."""
        self.aq_log2 = log2
        self.aq = self.q.alloc(64 << log2)
        self.acq = self.q.alloc(64 << log2)
        self.pi = self.ci = 0
        self.payload_in = self.q.alloc(4096)
        self.payload_out = self.q.alloc(4096)
        self.wr64(abi.KIWI_REG_AQ_BASE, self.aq)
        self.wr64(abi.KIWI_REG_ACQ_BASE, self.acq)
        self.wr32(abi.KIWI_REG_AQ_CFG, log2 | vector << 16)

    def enable(self, **config):
        """From READY to ENABLED."""
        self.wait_ready()
        self.configure(**config)
        self.wr32(abi.KIWI_REG_DEV_CTL, abi.KIWI_DEV_CTL_ENABLE)
        self.wait_status(abi.KIWI_DEV_STS_READY | abi.KIWI_DEV_STS_ENABLED)

    def start(self, caps=None, **config):
        """Enables, and accepts capabilities: all of them unless told."""
        self.enable(**config)
        self.ok(abi.KIWI_OP_SET_HOST_CAPS, fields(
            "kiwi_cmd_set_host_caps_in", abi=self.rd32(abi.KIWI_REG_ABI),
            caps=self.rd64(abi.KIWI_REG_CAPS) if caps is None else caps))

    # Admin queue

    def post(self, entry):
        """Hands over one entry of the admin queue, as it stands."""
        index = self.pi % (1 << self.aq_log2)
        self.q.write(self.aq + 64 * index, entry)
        self.pi += 1
        self.wr32(abi.KIWI_REG_AQ_PI, self.pi & 0xffffffff)

    def completed(self):
        """Whether there is a completion to take."""
        index = self.ci % (1 << self.aq_log2)
        flags = self.q.readb(self.acq + 64 * index + 63)
        phase = not (self.ci >> self.aq_log2) & 1
        return bool(flags & abi.KIWI_ACQ_PHASE) == phase

    def take(self):
        """The next completion, as a structure."""
        self.q.until(self.completed, "completion")
        index = self.ci % (1 << self.aq_log2)
        self.ci += 1
        return unpack("kiwi_acq_entry", self.q.read(self.acq + 64 * index, 64))

    def entry(self, opcode, data=b"", out_len=0, **change):
        """An entry for a command, with its payload put in place."""
        values = dict(cmd_id=self.pi & 0xffff, opcode=opcode, in_len=len(data), out_len=out_len)
        if len(data) <= abi.KIWI_AQ_INLINE:
            values["in"] = data
        else:
            self.q.write(self.payload_in, data)
            values["in_addr"] = self.payload_in
        if out_len > abi.KIWI_AQ_INLINE:
            values["out_addr"] = self.payload_out
        return fields("kiwi_aq_entry", **{**values, **change})

    def command(self, opcode, data=b"", out_len=0, **change):
        """Runs a command; keywords change fields of its entry."""
        return self.run(self.entry(opcode, data, out_len, **change))

    def run(self, entry):
        """Runs the command of an entry."""
        sent = unpack("kiwi_aq_entry", entry)
        self.post(entry)
        done = self.take()
        assert (done.cmd_id, done.opcode) == (sent.cmd_id, sent.opcode)
        assert not any(done.rsvd) and done.flags & ~abi.KIWI_ACQ_PHASE == 0
        if done.status == abi.KIWI_ST_OK:
            assert done.out_len == sent.out_len
            assert (done.err_field, done.err_value, done.err_limit) == \
                (abi.KIWI_ERR_FIELD_NONE, 0, 0)
        else:
            assert done.out_len == 0 and not any(done.out)
        if done.out_len > abi.KIWI_AQ_INLINE:
            out = self.q.read(sent.out_addr, done.out_len)
        else:
            out = bytes(done.out)[:done.out_len]
        return Reply(done.status, out, done.err_field, done.err_value, done.err_limit)

    def ok(self, opcode, data=b"", out_len=0):
        """The reply of a command that must succeed."""
        reply = self.command(opcode, data, out_len)
        if reply.status != abi.KIWI_ST_OK:
            raise Refused(f"command {opcode:#x}: {STATUS[reply.status]}, field "
                          f"{reply.err_field}, value {reply.err_value:#x}, "
                          f"limit {reply.err_limit:#x}")
        return reply.out

    def ok_id(self, opcode, data=b""):
        """The object number that a command replies."""
        return unpack("kiwi_cmd_id", self.ok(opcode, data, 8)).id

    # Objects

    def caps(self):
        size = ctypes.sizeof(abi.struct("kiwi_snic_caps"))
        return unpack("kiwi_snic_caps", self.ok(abi.KIWI_OP_QUERY_CAPS, b"", size))

    def create_eq(self, kind=abi.KIWI_EQ_COMPLETION, log2=6, vector=1):
        return Eq(self, kind, log2, vector)

    def open_page(self, page):
        self.ok(abi.KIWI_OP_OPEN_DB_PAGE, cmd_id(page))
        return page

    def close_page(self, page):
        self.ok(abi.KIWI_OP_CLOSE_DB_PAGE, cmd_id(page))

    def ring(self, page, kind, number, epoch, index):
        """Writes a doorbell."""
        self.q.writeq(self.doorbells + (page << 12) + abi.KIWI_DB_REG,
                      abi.KIWI_DB_VALUE(kind, number, epoch, index & 0xffff))

    def alloc_pd(self):
        return self.ok_id(abi.KIWI_SNIC_OP_ALLOC_PD)

    def reg_mr(self, pd, mem, length, iova=0, access=abi.KIWI_ACCESS_ALL):
        """The key of a region; mem is a page list or the address of its first byte."""
        return self.ok_id(abi.KIWI_SNIC_OP_REG_MR, self.reg_mr_in(pd, mem, length, iova, access))

    @staticmethod
    def reg_mr_in(pd, mem, length, iova=0, access=abi.KIWI_ACCESS_ALL):
        if isinstance(mem, int):
            mem = contiguous(mem, length)
        return fields("kiwi_snic_reg_mr_in", pdn=pd, access=access, iova=iova,
                      length=length, pbl=mem)

    def hold_mr(self, key):
        self.ok(abi.KIWI_SNIC_OP_HOLD_MR, cmd_id(key))

    def resume_mr(self, key, mem, length):
        self.ok(abi.KIWI_SNIC_OP_RESUME_MR, self.resume_mr_in(key, mem, length))

    @staticmethod
    def resume_mr_in(key, mem, length):
        if isinstance(mem, int):
            mem = contiguous(mem, length)
        return fields("kiwi_snic_resume_mr_in", key=key, pbl=mem)

    def create_cq(self, eq, page, log2=4, flags=0):
        return Cq(self, eq, page, log2, flags)

    def create_qp(self, pd, cq, page, **options):
        return Qp(self, pd, cq, page, **options)

    def destroy(self, opcode, number):
        self.ok(opcode, cmd_id(number))


def contiguous(addr, length, page_shift=12):
    """The page list of contiguous memory of at most KIWI_PBL_INLINE pages."""
    while True:
        size = 1 << page_shift
        first = addr & ~(size - 1)
        pages = range(first, addr + length, size)
        if len(pages) <= abi.KIWI_PBL_INLINE:
            return pbl(list(pages), page_shift, addr - first)
        page_shift += 1


class Eq:
    """An event queue."""

    def __init__(self, dev, kind, log2, vector):
        self.dev, self.log2, self.vector = dev, log2, vector
        self.base = dev.q.alloc(16 << log2)
        self.ci = 0
        self.number = dev.ok_id(abi.KIWI_OP_CREATE_EQ, fields(
            "kiwi_cmd_create_eq_in", base=self.base, log2=log2, kind=kind, vector=vector))

    def ready(self):
        """Whether there is an event to take."""
        flags = self.dev.q.readb(self.base + 16 * (self.ci % (1 << self.log2)) + 15)
        return bool(flags & abi.KIWI_EQE_PHASE) == (not (self.ci >> self.log2) & 1)

    def take(self):
        """The next event, as a structure."""
        self.dev.q.until(self.ready, "event")
        data = self.dev.q.read(self.base + 16 * (self.ci % (1 << self.log2)), 16)
        self.ci += 1
        event = unpack("kiwi_eqe", data)
        assert event.rsvd0 == 0 and not any(event.rsvd1)
        return event

    def none(self):
        """Whether no event comes."""
        self.dev.q.settle()
        return not self.ready()

    def tell(self, arm=True, ci=None):
        """Writes the consumer index, and arms."""
        ci = self.ci if ci is None else ci
        self.dev.wr32(abi.KIWI_REG_EQ_DB(self.number),
                      ci & abi.KIWI_EQ_DB_CI | (abi.KIWI_EQ_DB_ARM if arm else 0))

    def destroy(self):
        self.dev.destroy(abi.KIWI_OP_DESTROY_EQ, self.number)


class Cq:
    """A completion queue; its consumer index record, if any, stands behind the entries."""

    def __init__(self, dev, eq, page, log2, flags=0, alloc=None):
        """alloc: where its memory comes from, if not from the machine's."""
        self.dev, self.page, self.log2, self.flags = dev, page, log2, flags
        self.record = 0 if flags & abi.KIWI_CQ_OVERRUN_IGNORE else 64 << log2
        self.length = self.record + 8 if self.record else 64 << log2
        self.base = (alloc or dev.q.alloc)(self.length)
        self.ci = 0
        out = unpack("kiwi_snic_queue_out", dev.ok(
            abi.KIWI_SNIC_OP_CREATE_CQ, self.create_in(eq.number), 8))
        self.number, self.epoch = out.number, out.epoch

    def create_in(self, eqn):
        return fields("kiwi_snic_create_cq_in", pbl=contiguous(self.base, self.length),
                      ci_offset=self.record, length=self.length, eqn=eqn,
                      db_page=self.page, log2=self.log2, flags=self.flags)

    def ready(self):
        """Whether there is a completion to take."""
        flags = self.dev.q.readb(self.base + 64 * (self.ci % (1 << self.log2)) + 63)
        return bool(flags & abi.KIWI_CQE_PHASE) == (not (self.ci >> self.log2) & 1)

    def take(self):
        """The next completion, as a structure."""
        self.dev.q.until(self.ready, "CQE")
        data = self.dev.q.read(self.base + 64 * (self.ci % (1 << self.log2)), 64)
        self.ci += 1
        return unpack("kiwi_cqe", data)

    def latest(self):
        """The entry of a collapsed queue."""
        return unpack("kiwi_cqe", self.dev.q.read(self.base, 64))

    def none(self):
        """Whether no completion comes."""
        self.dev.q.settle()
        return not self.ready()

    def publish(self):
        """Tells in memory what was consumed."""
        self.dev.q.writel(self.base + self.record, self.ci)

    def arm(self, solicited=False, index=None):
        kind = abi.KIWI_DB_CQ_ARM_SOLICITED if solicited else abi.KIWI_DB_CQ_ARM
        self.dev.ring(self.page, kind, self.number, self.epoch,
                      self.ci if index is None else index)

    def destroy(self):
        self.dev.destroy(abi.KIWI_SNIC_OP_DESTROY_CQ, self.number)


class Qp:
    """A queue pair; record is where its doorbell record stands, if it has one."""

    def __init__(self, dev, pd, cq, page, recv_cq=None, sq_log2=6, rq_log2=4, rq_stride=6,
                 flags=0, record=None, alloc=None):
        """alloc: where the memory of the rings comes from, if not from the machine's."""
        self.dev, self.page = dev, page
        self.sq_log2, self.rq_log2, self.rq_stride = sq_log2, rq_log2, rq_stride
        alloc = alloc or dev.q.alloc
        self.sq = alloc(64 << sq_log2)
        self.rq = alloc(1 << rq_log2 + rq_stride)
        self.sq_pi = self.rq_pi = 0
        if flags & abi.KIWI_QP_DB_RECORD and record is None:
            record = alloc(8)
        self.record = record
        out = unpack("kiwi_snic_queue_out", dev.ok(
            abi.KIWI_SNIC_OP_CREATE_QP,
            self.create_in(pd, cq.number, (recv_cq or cq).number, flags), 8))
        self.number, self.epoch = out.number, out.epoch

    def create_in(self, pd, send_cqn, recv_cqn, flags=0):
        rq = {} if flags & abi.KIWI_QP_SQ_ONLY else dict(
            recv_cqn=recv_cqn, rq_log2=self.rq_log2, rq_stride=self.rq_stride,
            rq=contiguous(self.rq, 1 << self.rq_log2 + self.rq_stride))
        return fields("kiwi_snic_create_qp_in", pdn=pd, send_cqn=send_cqn, db_page=self.page,
                      type=abi.KIWI_QP_RC, flags=flags, sq_log2=self.sq_log2,
                      db_record=self.record or 0,
                      sq=contiguous(self.sq, 64 << self.sq_log2), **rq)

    def modify(self, state, **attributes):
        """MODIFY_QP; the mask follows from the names of the attributes."""
        reply = self.try_modify(state, **attributes)
        if reply.status:
            raise Refused(f"MODIFY_QP to {state}: {STATUS[reply.status]}, field "
                          f"{reply.err_field}")

    def try_modify(self, state, mask=None, **attributes):
        values = {f"attr__{k}": v for k, v in attributes.items()}
        if mask is None:
            mask = abi.KIWI_QP_ATTR_STATE
            for name in attributes:
                mask |= ATTRIBUTE[name]
        return self.dev.command(abi.KIWI_SNIC_OP_MODIFY_QP, fields(
            "kiwi_snic_modify_qp_in", qpn=self.number, mask=mask, attr__state=state, **values))

    def query(self):
        size = ctypes.sizeof(abi.struct("kiwi_qp_attr"))
        return unpack("kiwi_qp_attr", self.dev.ok(
            abi.KIWI_SNIC_OP_QUERY_QP, cmd_id(self.number), size))

    def put_wqe(self, wqe):
        """Writes a WQE behind the last one, without a doorbell."""
        ring = 1 << self.sq_log2
        wqe = wqe.ljust(-(-len(wqe) // 64) * 64, b"\0")
        for at in range(0, len(wqe), 64):
            self.dev.q.write(self.sq + 64 * (self.sq_pi % ring), wqe[at:at + 64])
            self.sq_pi += 1

    def put_rqe(self, wr_id, *sges):
        """Writes a receive entry, without a doorbell."""
        index = self.rq_pi % (1 << self.rq_log2)
        rqe = fields("kiwi_rqe", wr_id=wr_id, num_sge=len(sges)) + b"".join(
            fields("kiwi_sge", addr=a, lkey=k, len=n) for a, k, n in sges)
        self.dev.q.write(self.rq + (index << self.rq_stride), rqe)
        self.rq_pi += 1

    def ring_sq(self, index=None):
        self.ring(abi.KIWI_DB_SQ, 0, self.sq_pi if index is None else index)

    def ring_rq(self, index=None):
        self.ring(abi.KIWI_DB_RQ, 4, self.rq_pi if index is None else index)

    def ring(self, kind, at, index):
        """Hands over: by the record, where there is one, and then the doorbell's index is wrong."""
        if self.record is not None:
            self.dev.q.writel(self.record + at, index)
            index = ~index
        self.dev.ring(self.page, kind, self.number, self.epoch, index)

    def destroy(self):
        self.dev.destroy(abi.KIWI_SNIC_OP_DESTROY_QP, self.number)


ATTRIBUTE = {
    "cur_state": abi.KIWI_QP_ATTR_CUR_STATE, "access": abi.KIWI_QP_ATTR_ACCESS,
    "port": abi.KIWI_QP_ATTR_PORT, "mtu": abi.KIWI_QP_ATTR_MTU,
    "dest_qpn": abi.KIWI_QP_ATTR_DEST_QPN, "sq_psn": abi.KIWI_QP_ATTR_SQ_PSN,
    "rq_psn": abi.KIWI_QP_ATTR_RQ_PSN, "timeout": abi.KIWI_QP_ATTR_TIMEOUT,
    "retry_cnt": abi.KIWI_QP_ATTR_RETRY_CNT, "rnr_retry": abi.KIWI_QP_ATTR_RNR_RETRY,
    "min_rnr_timer": abi.KIWI_QP_ATTR_MIN_RNR_TIMER,
    "max_rd_atomic": abi.KIWI_QP_ATTR_MAX_RD_ATOMIC,
    "max_dest_rd_atomic": abi.KIWI_QP_ATTR_MAX_DEST_RD_ATOMIC,
    **dict.fromkeys(("hop_limit", "traffic_class", "dmac", "sgid_index", "dgid", "flow_label",
                     "udp_sport"), abi.KIWI_QP_ATTR_AV),
}


def ipv4_gid(text):
    """The GID of an IPv4 address."""
    return bytes(10) + b"\xff\xff" + bytes(int(part) for part in text.split("."))


def set_gid(dev, gid, port=1, index=0):
    """Puts a GID into a port's table; None clears the entry."""
    kind = abi.KIWI_GID_NONE if gid is None else abi.KIWI_GID_ROCE_V2
    dev.ok(abi.KIWI_SNIC_OP_SET_GID, fields(
        "kiwi_snic_set_gid_in", port=port, index=index, type=kind, gid=gid or bytes(16)))


def wqe(opcode, *segments, flags=abi.KIWI_WQE_SIGNALED, wr_id=0, imm=0):
    """A WQE of whole segments."""
    body = b"".join(segments)
    body = body.ljust(-(-len(body) // 16) * 16, b"\0")
    return fields("kiwi_wqe_ctrl", opcode=opcode, flags=flags, segs=1 + len(body) // 16,
                  imm=imm, wr_id=wr_id) + body


def sge(addr, lkey, length):
    return fields("kiwi_sge", addr=addr, lkey=lkey, len=length)


def raddr(addr, rkey):
    return fields("kiwi_wqe_raddr", addr=addr, rkey=rkey)


def inline(data):
    return struct.pack("<I", len(data)) + data


def pair(props="", more=(), wire="hub", arguments=(), **options):
    """A machine with two SNICs, snic0 and snic1, in slots 4 and 6; port 1s joined."""
    arguments = ["-netdev", "hubport,id=w0,hubid=0", "-netdev", "hubport,id=w1,hubid=0",
                 *arguments]
    devices = [f"kiwi-snic,id=snic{n},addr={SLOT + 2 * n},netdev0=w{n},"
               f"mac0=52:54:00:4b:0{n}:00" + (props and "," + props) for n in range(2)]
    return Qtest([*devices, *more], arguments, **options)


class Node:
    """A SNIC with what a connection needs: EQs, a page, a PD, a CQ, a GID."""

    def __init__(self, q, n, cq_log2=8):
        self.dev = Snic(q, SLOT + 2 * n)
        self.dev.start()
        self.gid = ipv4_gid(f"192.0.2.{n + 1}")
        set_gid(self.dev, self.gid)
        self.mac = bytes(self.port().mac)
        self.events = self.dev.create_eq(abi.KIWI_EQ_ASYNC, vector=1)
        self.eq = self.dev.create_eq(vector=2)
        self.page = self.dev.open_page(n + 1)
        self.pd = self.dev.alloc_pd()
        self.cq = self.dev.create_cq(self.eq, self.page, cq_log2)

    def port(self, number=1):
        size = ctypes.sizeof(abi.struct("kiwi_snic_port"))
        return unpack("kiwi_snic_port", self.dev.ok(
            abi.KIWI_SNIC_OP_QUERY_PORT, cmd_id(number), size))

    def counters(self, number=1):
        size = ctypes.sizeof(abi.struct("kiwi_snic_port_counters"))
        return unpack("kiwi_snic_port_counters", self.dev.ok(
            abi.KIWI_SNIC_OP_QUERY_PORT_COUNTERS, cmd_id(number), size))

    def qp(self, **options):
        return self.dev.create_qp(self.pd, self.cq, self.page, **options)


REMOTE = abi.KIWI_ACCESS_ALL & ~abi.KIWI_ACCESS_LOCAL_WRITE


def to_rts(qp, node, peer, peer_qpn, **change):
    """Takes a QP from RESET to RTS, towards a QP of a peer."""
    values = dict(mtu=abi.KIWI_MTU_4096, rq_psn=0x100, sq_psn=0x100, timeout=14, retry_cnt=7,
                  rnr_retry=7, min_rnr_timer=1, max_rd_atomic=8, max_dest_rd_atomic=8)
    values.update(change)

    def pick(*names):
        return {name: values[name] for name in names}
    qp.modify(abi.KIWI_QPS_INIT, port=1, access=REMOTE)
    qp.modify(abi.KIWI_QPS_RTR, dest_qpn=peer_qpn, dmac=peer.mac, dgid=peer.gid,
              **pick("mtu", "rq_psn", "max_dest_rd_atomic", "min_rnr_timer"))
    qp.modify(abi.KIWI_QPS_RTS,
              **pick("sq_psn", "timeout", "retry_cnt", "rnr_retry", "max_rd_atomic"))


def connected(a, b, change=None, **options):
    """Two QPs in RTS, one of each node."""
    qa, qb = a.qp(**options), b.qp(**options)
    to_rts(qa, a, b, qb.number, **(change or {}))
    to_rts(qb, b, a, qa.number, **(change or {}))
    return qa, qb
