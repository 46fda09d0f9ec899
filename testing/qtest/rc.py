# SPDX-License-Identifier: GPL-2.0
"""Two SNICs and the test itself on one Ethernet, and RC connections between them.

    with Fabric() as f:
        a, b = f.pair()
        a.write(b.mr, a.sge(0, 8))
        assert a.send_cqe().status == abi.KIWI_CQE_ST_OK
"""

import itertools
import os
import pathlib
import select
import socket
import struct
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / folder) for folder in
                ("testing/harness", "testing/host", "testing/qtest")]

import abi                                                  # noqa: E402
import roce                                                 # noqa: E402
import snicdev                                              # noqa: E402
from qtest import Qtest                                     # noqa: E402

SLOT = 4
PAGE = 0                    # the doorbell page of all queues
MTU = 1024                  # of a QP, unless a test says otherwise
GIDS = {"ipv4": "10.0.0.{}", "ipv6": "fd00::{}"}    # by number of the station
NOWHERE = 1 << 45           # an address where no memory is
CHUNK = 1 << 18             # bytes of memory in one request to QEMU
ALL_REMOTE = abi.KIWI_ACCESS_REMOTE_WRITE | abi.KIWI_ACCESS_REMOTE_READ | \
    abi.KIWI_ACCESS_REMOTE_ATOMIC


class Nic(snicdev.Snic):
    """A device that is enabled and has its queues of events and its addresses."""

    def __init__(self, q, index):
        super().__init__(q, SLOT + index)
        self.name, self.station = f"snic{index}", index + 1
        self.start()
        self.async_eq = self.create_eq(abi.KIWI_EQ_ASYNC)
        self.completion_eq = self.create_eq()
        self.open_page(PAGE)
        for port, (index, ip) in itertools.product((1, 2), enumerate(GIDS)):
            snicdev.set_gid(self, self.gid(ip), port, index)

    def gid(self, ip):
        return roce.gid(GIDS[ip].format(self.station))

    def mac(self, port):
        return bytes(snicdev.unpack("kiwi_snic_port", self.ok(
            abi.KIWI_SNIC_OP_QUERY_PORT, snicdev.cmd_id(port), 32)).mac)

    def port_counters(self, port=1):
        return snicdev.unpack("kiwi_snic_port_counters", self.ok(
            abi.KIWI_SNIC_OP_QUERY_PORT_COUNTERS, snicdev.cmd_id(port), 256))

    def events(self):
        """(type, code, id) of the asynchronous events that came."""
        found = []
        while self.async_eq.ready():
            event = self.async_eq.take()
            found.append((event.type, event.code, event.id))
        self.async_eq.tell()
        return found

    def faults(self, drop=0, reorder=0):
        """Probabilities, in 1/10000, that port 1 loses a frame or lets it be overtaken."""
        self.q.qom_set(self.name, "drop0", drop)
        self.q.qom_set(self.name, "reorder0", reorder)


class Mr:
    """A region, whose I/O addresses are not its addresses in memory."""

    def __init__(self, nic, pd, size, access=abi.KIWI_ACCESS_ALL, iova=0x7000_0000_1000,
                 alloc=None):
        """alloc: where the memory comes from, if not from the machine's."""
        self.nic, self.q, self.iova, self.size = nic, nic.q, iova, size
        self.shift = max(abi.KIWI_PAGE_SHIFT_MIN, (size - 1).bit_length())
        self.addr = (alloc or nic.q.alloc)(size, 1 << self.shift)
        self.key = nic.reg_mr(pd, snicdev.pbl([self.addr], self.shift), size, iova, access)
        self.held, self.left = False, None

    def read(self, off=0, size=None):
        size = self.size - off if size is None else size
        return b"".join(self.q.read(self.addr + at, min(CHUNK, off + size - at))
                        for at in range(off, off + size, CHUNK))

    def write(self, off, data):
        for at in range(0, len(data), CHUNK):
            self.q.write(self.addr + off + at, data[at:at + CHUNK])
        if self.held:
            self.left[1][off:off + len(data)] = data

    def dereg(self):
        self.nic.destroy(abi.KIWI_SNIC_OP_DEREG_MR, self.key)

    def hold(self):
        """From now on the device may not write to the memory: untouched() checks."""
        self.nic.hold_mr(self.key)
        self.held, self.left = True, (self.addr, bytearray(self.read()))

    def resume(self):
        """Goes on, with the same bytes in other memory."""
        self.held = False
        self.addr = self.q.alloc(self.size, 1 << self.shift)
        self.write(0, self.left[1])
        self.nic.resume_mr(self.key, snicdev.pbl([self.addr], self.shift), self.size)

    def untouched(self):
        """Whether the memory that was held, and has perhaps been left since, is as it was."""
        old, data = self.left
        return self.q.read(old, len(data)) == data


class Cq(snicdev.Cq):
    """A completion queue whose consumer keeps its record up to date."""

    def __init__(self, nic, log2, alloc=None, flags=0):
        super().__init__(nic, nic.completion_eq, PAGE, log2, flags, alloc)

    def next(self):
        cqe = self.take()
        self.publish()
        return cqe


class Endpoint(snicdev.Qp):
    """A QP with two CQs and a region, and what a test does with them."""

    def __init__(self, nic, size=1 << 16, cq_log2=8, pd=None, send_cq=None, recv_cq=None,
                 access=abi.KIWI_ACCESS_ALL, nowhere=(), alloc=None, **queues):
        """nowhere: the rings, sq or rq, whose memory does not exist; alloc: where the rest
        of the memory comes from, if not from the machine's."""
        self.nic, self.q, self.nowhere = nic, nic.q, nowhere
        self.pd = nic.alloc_pd() if pd is None else pd
        self.send_cq = send_cq or Cq(nic, cq_log2, alloc)
        self.recv_cq = recv_cq or Cq(nic, cq_log2, alloc)
        self.mr = Mr(nic, self.pd, size, access, alloc=alloc)
        super().__init__(nic, self.pd, self.send_cq, PAGE, self.recv_cq, alloc=alloc,
                         **{"sq_log2": 8, "rq_log2": 6, **queues})
        self.wr_ids = itertools.count(1)
        self.port, self.mtu = None, None

    def create_in(self, *args):
        made = snicdev.unpack("kiwi_snic_create_qp_in", super().create_in(*args))
        for ring in self.nowhere:
            getattr(made, ring).addr[0] = NOWHERE
        return bytes(made)

    # State

    def init(self, access=ALL_REMOTE, port=1):
        self.port = port
        self.modify(abi.KIWI_QPS_INIT, port=port, access=access)

    def rtr(self, dmac, dgid, dest_qpn, psn=0, mtu=MTU, ip="ipv4", max_rd=16, min_rnr=1, **av):
        self.mtu = mtu
        self.modify(abi.KIWI_QPS_RTR, dmac=dmac, dgid=dgid, sgid_index=list(GIDS).index(ip),
                    dest_qpn=dest_qpn, rq_psn=psn, mtu=mtu.bit_length() - 8,
                    max_dest_rd_atomic=max_rd, min_rnr_timer=min_rnr, **av)

    def rts(self, psn=0, timeout=18, retry=7, rnr_retry=7, max_rd=16):
        self.modify(abi.KIWI_QPS_RTS, sq_psn=psn, timeout=timeout, retry_cnt=retry,
                    rnr_retry=rnr_retry, max_rd_atomic=max_rd)

    def reset(self):
        self.modify(abi.KIWI_QPS_RESET)
        self.sq_pi = self.rq_pi = 0

    @property
    def state(self):
        return self.query().state

    # Work

    def sge(self, off, size, mr=None, key=None):
        mr = mr or self.mr
        return snicdev.sge(mr.iova + off, mr.key if key is None else key, size)

    def post(self, opcode, body=b"", flags=abi.KIWI_WQE_SIGNALED, imm=None, ring=True):
        """Hands over a WQE; returns its wr_id."""
        wr_id = next(self.wr_ids)
        self.put_wqe(snicdev.wqe(opcode, body, flags=flags, wr_id=wr_id, imm=imm or 0))
        if ring:
            self.ring_sq()
        return wr_id

    def send(self, *sges, imm=None, **more):
        opcode = abi.KIWI_WQE_SEND if imm is None else abi.KIWI_WQE_SEND_IMM
        return self.post(opcode, b"".join(sges), imm=imm, **more)

    def write(self, mr, *sges, off=0, key=None, imm=None, **more):
        opcode = abi.KIWI_WQE_WRITE if imm is None else abi.KIWI_WQE_WRITE_IMM
        return self.post(opcode, remote(mr, off, key) + b"".join(sges), imm=imm, **more)

    def read(self, mr, *sges, off=0, key=None, **more):
        return self.post(abi.KIWI_WQE_READ, remote(mr, off, key) + b"".join(sges), **more)

    def send_inline(self, data, flags=abi.KIWI_WQE_SIGNALED, **more):
        return self.post(abi.KIWI_WQE_SEND, snicdev.inline(data),
                         flags=flags | abi.KIWI_WQE_INLINE, **more)

    def write_inline(self, mr, data, off=0, flags=abi.KIWI_WQE_SIGNALED, **more):
        return self.post(abi.KIWI_WQE_WRITE, remote(mr, off) + snicdev.inline(data),
                         flags=flags | abi.KIWI_WQE_INLINE, **more)

    def fetch_add(self, mr, sge, add, off=0, key=None, **more):
        return self.post(abi.KIWI_WQE_FETCH_ADD, remote(mr, off, key) + atomic(add) + sge, **more)

    def cmp_swap(self, mr, sge, compare, swap, off=0, key=None, **more):
        return self.post(abi.KIWI_WQE_CMP_SWAP,
                         remote(mr, off, key) + atomic(swap, compare) + sge, **more)

    def recv(self, *sges, ring=True):
        """Hands over an RQE; returns its wr_id."""
        wr_id = next(self.wr_ids)
        index = self.rq_pi % (1 << self.rq_log2)
        self.q.write(self.rq + (index << self.rq_stride),
                     snicdev.fields("kiwi_rqe", wr_id=wr_id, num_sge=len(sges)) + b"".join(sges))
        self.rq_pi += 1
        if ring:
            self.ring_rq()
        return wr_id

    def send_cqe(self, status=abi.KIWI_CQE_ST_OK, wr_id=None):
        return self._expect(self.send_cq, status, wr_id, 0)

    def recv_cqe(self, status=abi.KIWI_CQE_ST_OK, wr_id=None):
        return self._expect(self.recv_cq, status, wr_id, 0x80)

    def _expect(self, cq, status, wr_id, side):
        cqe = cq.next()
        assert cqe.status == status, f"status {cqe.status}, not {status}: {show(cqe)}"
        assert wr_id in (None, cqe.wr_id), f"wr_id is not {wr_id}: {show(cqe)}"
        assert cqe.qpn == self.number and cqe.opcode & 0x80 == side and not any(cqe.rsvd), \
            show(cqe)
        if status == abi.KIWI_CQE_ST_OK:
            assert cqe.vendor_err == 0, show(cqe)
        return cqe

    def idle(self):
        """No completion and no event came."""
        self.q.settle()
        return not (self.send_cq.ready() or self.recv_cq.ready() or self.nic.async_eq.ready())


def remote(mr, off=0, key=None):
    return snicdev.raddr(mr.iova + off, mr.key if key is None else key)


def atomic(swap_add, compare=0):
    return snicdev.fields("kiwi_wqe_atomic", swap_add=swap_add, compare=compare)


def show(record):
    """A structure as text."""
    return ", ".join(f"{name} {value:#x}" for name, value in
                     ((n, getattr(record, n)) for n, _ in record._fields_)
                     if isinstance(value, int) and value)


class Wire:
    """The test's own place on the Ethernet."""

    def __init__(self, folder):
        self.theirs, ours = f"{folder}/qemu", f"{folder}/test"
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(ours)
        self.arguments = [
            "-netdev", "dgram,id=tap,local.type=unix,remote.type=unix,"
                       f"local.path={self.theirs},remote.path={ours}",
            "-netdev", "hubport,id=taphub,hubid=0,netdev=tap"]

    def send(self, frame):
        self.sock.sendto(frame, self.theirs)

    def receive(self, timeout):
        """The next frame, or None."""
        if not select.select([self.sock], [], [], timeout)[0]:
            return None
        return self.sock.recv(1 << 16)

    def close(self):
        self.sock.close()


class Fabric:
    """Two devices, their ports 1 on one Ethernet and their ports 2 on another."""

    def __init__(self, props="", wire=False, memory="512M", more=(), arguments=()):
        """props: of the SNICs; more: other devices; arguments: more of QEMU."""
        self._folder = tempfile.TemporaryDirectory(prefix="kiwi-rc-")
        self.wire = Wire(self._folder.name) if wire else None
        arguments = [*arguments, *(self.wire.arguments if wire else ())]
        devices = []
        for n in range(2):
            netdevs = ""
            for port in range(2):
                arguments += ["-netdev", f"hubport,id=n{n}p{port},hubid={port}"]
                netdevs += f",netdev{port}=n{n}p{port}"
            devices.append(f"kiwi-snic,id=snic{n},addr={SLOT + n}{netdevs}"
                           + (props and "," + props))
        log = pathlib.Path(os.environ.get("KIWI_LOG", self._folder.name))
        self.q = Qtest([*devices, *more], arguments, memory, log)
        self.nics = [Nic(self.q, n) for n in range(2)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.q.close()
        if self.wire:
            self.wire.close()
        self._folder.cleanup()

    def pair(self, psn=(100, 200), mtu=MTU, ip="ipv4", port=1, access=ALL_REMOTE, max_rd=16,
             min_rnr=1, nics=None, timeout=18, retry=7, rnr_retry=7, **more):
        """Two connected endpoints; more goes to Endpoint."""
        ends = [Endpoint(nic, **more) for nic in nics or self.nics]
        connect(ends, psn, mtu, ip, port, access, max_rd, min_rnr, timeout=timeout, retry=retry,
                rnr_retry=rnr_retry)
        return ends

    def faults(self, **probabilities):
        for nic in self.nics:
            nic.faults(**probabilities)


def connect(ends, psn=(100, 200), mtu=MTU, ip="ipv4", port=1, access=ALL_REMOTE, max_rd=16,
            min_rnr=1, **rts):
    """Takes two endpoints from RESET to RTS."""
    for end in ends:
        end.init(access, port)
    for end, peer, peer_psn in zip(ends, ends[::-1], psn[::-1]):
        end.rtr(peer.nic.mac(port), peer.nic.gid(ip), peer.number, peer_psn, mtu, ip, max_rd,
                min_rnr)
    for end, own_psn in zip(ends, psn):
        end.rts(own_psn, max_rd=max_rd, **rts)


class Peer:
    """A connection of snic0, whose far end is the test."""

    MAC = bytes.fromhex("024b57fffe01")
    STATION = 77
    qpns = itertools.count(0x777)

    def __init__(self, fabric, psn=(1000, 2000), mtu=MTU, ip="ipv4", access=ALL_REMOTE,
                 max_rd=16, min_rnr=1, timeout=0, retry=7, rnr_retry=7, **more):
        """psn: what the test sends first, what the device sends first."""
        self.wire, self.ip, self.qpn = fabric.wire, ip, next(self.qpns)
        self.gid = roce.gid(GIDS[ip].format(self.STATION))
        self.end = Endpoint(fabric.nics[0], **more)
        self.mac = self.end.nic.mac(1)
        self.access = access
        self.connect(psn, mtu, max_rd, min_rnr, timeout, retry, rnr_retry)

    def connect(self, psn, mtu=MTU, max_rd=16, min_rnr=1, timeout=0, retry=7, rnr_retry=7):
        """Takes the endpoint from RESET to RTS."""
        self.end.init(self.access)
        self.end.rtr(self.MAC, self.gid, self.qpn, psn[0], mtu, self.ip, max_rd, min_rnr)
        self.end.rts(psn[1], timeout, retry, rnr_retry, max_rd)

    def frame(self, opcode, psn, payload=b"", **fields):
        """A frame from the far end; fields may be any that roce.frame() knows."""
        values = dict(sgid=self.gid, dgid=self.end.nic.gid(self.ip), smac=self.MAC,
                      dmac=self.mac)
        return roce.frame(opcode, fields.pop("qpn", self.end.number), psn, payload=payload,
                          **{**values, **fields})

    def send(self, opcode, psn, payload=b"", **fields):
        self.wire.send(self.frame(opcode, psn, payload, **fields))

    def receive(self, timeout=5):
        """The next packet to the far end, checked and taken apart, or None."""
        while True:
            raw = self.wire.receive(timeout)
            if raw is None:
                return None
            if raw[:6] == self.MAC:
                packet = roce.parse(raw)
                if packet["qpn"] != self.qpn:       # of a test before this
                    continue
                assert packet["pkey"] == 0xffff, packet
                assert packet["sgid"] == self.end.nic.gid(self.ip) and packet["dgid"] == self.gid
                return packet

    def expect(self, opcode, psn, **fields):
        """The next packet, which shall be this one."""
        packet = self.receive()
        assert packet, f"no packet came, where opcode {opcode:#x} psn {psn} was expected"
        want = dict(opcode=opcode, psn=psn, **fields)
        got = {name: packet[name] for name in want}
        assert got == want, f"{got}, not {want}"
        return packet

    def silence(self, seconds=0.1):
        packet = self.receive(seconds)
        assert packet is None, packet
