# SPDX-License-Identifier: GPL-2.0
"""RC transport: what the device does with requests, packet by packet."""

import random
import struct

from rc import Endpoint, Fabric, Mr, Peer, abi, roce
from rc_case import ACK, FLUSH, FabricCase, NAK_ACCESS, NAK_INVALID, NAK_SEQUENCE, PSN, RNR, tests


@tests("responder")
class Responder(FabricCase):
    """What the device does with requests, packet by packet."""

    WIRE = True

    def write(self, p, psn, data, off=0, **more):
        p.send(roce.WRITE_ONLY, psn, data, va=p.end.mr.iova + off, rkey=p.end.mr.key,
               dma_len=len(data), **{"ack_req": 1, **more})

    def read(self, p, psn, size, off=0, key=None):
        p.send(roce.READ_REQUEST, psn, va=p.end.mr.iova + off,
               rkey=p.end.mr.key if key is None else key, dma_len=size)

    def add(self, p, psn, add, off=0, opcode=roce.FETCH_ADD, compare=0):
        p.send(opcode, psn, va=p.end.mr.iova + off, rkey=p.end.mr.key, swap_add=add,
               compare=compare, ack_req=1)

    def test_acks_when_asked(self):
        p = Peer(self.f)
        for n in range(4):
            self.write(p, 1000 + n, b"12345678", off=8 * n, ack_req=0)
        p.silence()
        self.write(p, 1004, b"x", off=32)
        p.expect(roce.ACK, 1004, syndrome=ACK, msn=5)
        self.assertEqual(p.end.mr.read(0, 32), b"12345678" * 4)

    def test_in_packets(self):
        p = Peer(self.f, psn=(PSN - 1, 5))
        mr = p.end.mr
        data = self.rng.randbytes(2500)
        p.send(roce.WRITE_FIRST, PSN - 1, data[:1024], va=mr.iova, rkey=mr.key, dma_len=2500,
               ack_req=1)
        p.expect(roce.ACK, PSN - 1, syndrome=ACK, msn=0)
        p.send(roce.WRITE_MIDDLE, 0, data[1024:2048])
        p.send(roce.WRITE_LAST, 1, data[2048:], ack_req=1)
        p.expect(roce.ACK, 1, syndrome=ACK, msn=1)
        self.assertEqual(mr.read(0, 2500), data)
        recv = p.end.recv(p.end.sge(4000, 4000))
        p.send(roce.SEND_FIRST, 2, data[:1024])
        p.send(roce.SEND_LAST_IMM, 3, data[1024:1100], imm=b"\1\2\3\4", ack_req=1, solicited=1)
        p.expect(roce.ACK, 3, syndrome=ACK, msn=2)
        cqe = p.end.recv_cqe(wr_id=recv)
        self.assertEqual((cqe.byte_len, cqe.imm, cqe.flags & ~1),
                         (1100, 0x01020304, abi.KIWI_CQE_IMM | abi.KIWI_CQE_SOLICITED))
        self.assertEqual(mr.read(4000, 1100), data[:1100])

    def test_ahead_is_refused_once(self):
        p = Peer(self.f)
        before = p.end.nic.port_counters().out_of_sequence
        for n in (2, 3, 5, 4):
            self.write(p, 1000 + n, b"x")
        p.expect(roce.ACK, 1000, syndrome=NAK_SEQUENCE, msn=0)
        p.silence()
        self.assertEqual(p.end.nic.port_counters().out_of_sequence, before + 4)
        self.write(p, 1000, b"0")
        p.expect(roce.ACK, 1000, syndrome=ACK, msn=1)
        self.write(p, 1002, b"x")
        p.expect(roce.ACK, 1001, syndrome=NAK_SEQUENCE, msn=1)

    def test_duplicates_are_acknowledged_again(self):
        p = Peer(self.f)
        p.end.recv(p.end.sge(100, 8))
        before = p.end.nic.port_counters().duplicate_request
        self.write(p, 1000, b"first")
        p.send(roce.SEND_ONLY, 1001, b"message", ack_req=1)
        p.end.recv_cqe()
        while p.receive(0.05):
            pass
        p.end.mr.write(0, bytes(200))
        self.write(p, 1000, b"again")
        p.expect(roce.ACK, 1000, syndrome=ACK, msn=2)
        p.send(roce.SEND_ONLY, 1001, b"message", ack_req=1)
        p.expect(roce.ACK, 1001, syndrome=ACK, msn=2)
        self.write(p, 1000, b"again", ack_req=0)
        p.silence()
        self.assertEqual(p.end.mr.read(0, 200), bytes(200))
        self.assertEqual(p.end.nic.port_counters().duplicate_request, before + 3)
        self.assertTrue(p.end.idle())

    def expect_read(self, p, psn, data, mtu=1024, msn=None):
        """The response to a READ."""
        pieces = [data[at:at + mtu] for at in range(0, len(data), mtu)] or [b""]
        for n, piece in enumerate(pieces):
            first, last = n == 0, n == len(pieces) - 1
            opcode = {(True, True): roce.READ_RESP_ONLY, (True, False): roce.READ_RESP_FIRST,
                      (False, True): roce.READ_RESP_LAST,
                      (False, False): roce.READ_RESP_MIDDLE}[first, last]
            packet = p.expect(opcode, (psn + n) % PSN, payload=piece)
            if first or last:
                self.assertEqual(packet["syndrome"], ACK)
                self.assertIn(packet["msn"], (msn, packet["msn"] if msn is None else msn))

    def test_read(self):
        for mtu in (256, 1024, 4096):
            for size in (0, 1, mtu, mtu + 1, 3 * mtu + 5):
                p = Peer(self.f, mtu=mtu, psn=(PSN - 2, 0))
                data = self.rng.randbytes(20000)
                p.end.mr.write(0, data)
                self.read(p, PSN - 2, size, off=3)
                self.expect_read(p, PSN - 2, data[3:3 + size], mtu, msn=1)
                self.write(p, (PSN - 2 + max(1, -(-size // mtu))) % PSN, b"")
                p.expect(roce.ACK, (PSN - 2 + max(1, -(-size // mtu))) % PSN, msn=2)

    def test_duplicate_read(self):
        """Again, in whole or from anywhere in it on; what it reads is what is there now."""
        p = Peer(self.f)
        data = self.rng.randbytes(4000)
        p.end.mr.write(0, data)
        self.read(p, 1000, 4000)
        self.expect_read(p, 1000, data)
        new = self.rng.randbytes(4000)
        p.end.mr.write(0, new)
        self.read(p, 1000, 4000)
        self.expect_read(p, 1000, new)
        self.read(p, 1002, 4000 - 2048, off=2048)
        self.expect_read(p, 1002, new[2048:])
        self.read(p, 1002, 4000)            # reaches beyond what was ever asked for
        p.silence()
        self.write(p, 1004, b"next")
        p.expect(roce.ACK, 1004, syndrome=ACK, msn=2)

    def drain(self, p, behind):
        """Packets up to the one before a PSN."""
        packets = []
        while not packets or packets[-1]["psn"] != behind - 1:
            packets.append(p.receive())
            assert packets[-1], f"no packet, after {packets[-2:]}"
        return packets

    def test_duplicate_read_ends_the_first(self):
        """The peer went back: what was being sent is not sent to its end, then again."""
        slow = Fabric("link-mbps=20", wire=True)    # the second READ finds the first at work
        self.addCleanup(slow.close)
        p = Peer(slow, mtu=256, max_rd=1, size=1 << 20)
        data = self.rng.randbytes(1 << 20)
        p.end.mr.write(0, data)
        self.read(p, 1000, 1 << 20)
        p.expect(roce.READ_RESP_FIRST, 1000)
        self.read(p, 1003, (1 << 20) - 768, off=768)
        packets = self.drain(p, 1000 + 4096)
        again = next(n for n, packet in enumerate(packets) if packet["psn"] == 1003 and
                     packet["opcode"] == roce.READ_RESP_FIRST)
        self.assertEqual([packet["psn"] for packet in packets[again:]],
                         list(range(1003, 1000 + 4096)))
        self.assertEqual(b"".join(packet["payload"] for packet in packets[again:]), data[768:])

    def test_reads_beyond_the_limit(self):
        """One that arrives while as many as are allowed are being answered."""
        p = Peer(self.f, mtu=256, max_rd=2, size=1 << 20)
        for n in range(3):
            self.read(p, 1000 + 4096 * n, 1 << 20)
        self.drain(p, 1000 + 2 * 4096)
        self.dies(p, 1000 + 2 * 4096, NAK_INVALID, abi.KIWI_CQE_ST_REM_INV_REQ_ERR)

    def test_flood_of_duplicates(self):
        """A peer that repeats itself without end gets answers, and harms only itself."""
        p = Peer(self.f, mtu=256, size=1 << 20)
        a, b = self.f.pair()
        self.write(p, 1000, b"x")
        self.read(p, 1001, 1 << 20)
        self.add(p, 1001 + 4096, 1)
        for n in range(2000):
            if n % 3 == 0:
                self.write(p, 1000, b"x")
            elif n % 3 == 1:
                self.read(p, 1001 + n, 256)
            else:
                self.add(p, 1001 + 4096, 1)
            if n % 20 == 0:
                while p.receive(0):
                    pass
        a.write(b.mr, a.sge(0, 4096))
        a.send_cqe()
        while p.receive(0.2):
            pass
        self.write(p, 1001 + 4097, b"y")
        p.expect(roce.ACK, 1001 + 4097, syndrome=ACK)
        self.assertEqual(p.end.mr.read(0, 8), b"y" + bytes(7))

    def test_duplicate_read_has_its_rights_checked(self):
        p = Peer(self.f)
        mr = Mr(p.end.nic, p.end.pd, 4096)
        p.send(roce.READ_REQUEST, 1000, va=mr.iova, rkey=mr.key, dma_len=8)
        p.expect(roce.READ_RESP_ONLY, 1000)
        mr.dereg()
        p.send(roce.READ_REQUEST, 1000, va=mr.iova, rkey=mr.key, dma_len=8)
        p.expect(roce.ACK, 1000, syndrome=NAK_ACCESS)
        self.assertEqual(p.end.state, abi.KIWI_QPS_RTS)
        self.write(p, 1001, b"alive")
        p.expect(roce.ACK, 1001, syndrome=ACK)

    def test_duplicate_atomics_run_once(self):
        p = Peer(self.f, max_rd=4)
        p.end.mr.write(0, bytes(16))
        for n in range(6):
            self.add(p, 1000 + n, 10)
            p.expect(roce.ATOMIC_ACK, 1000 + n, syndrome=ACK, msn=n + 1, orig=10 * n)
        self.add(p, 1006, 7, opcode=roce.CMP_SWAP, compare=60)
        p.expect(roce.ATOMIC_ACK, 1006, orig=60)
        for n in (5, 4, 3, 5):
            self.add(p, 1000 + n, 10)
            p.expect(roce.ATOMIC_ACK, 1000 + n, orig=10 * n)
        self.add(p, 1006, 7, opcode=roce.CMP_SWAP, compare=60)
        p.expect(roce.ATOMIC_ACK, 1006, orig=60)
        self.assertEqual(p.end.mr.read(0, 8), struct.pack("<Q", 7))

    def test_atomic_of_long_ago_is_not_answered(self):
        p = Peer(self.f, max_rd=2)
        for n in range(40):
            self.add(p, 1000 + n, 1)
            p.expect(roce.ATOMIC_ACK, 1000 + n, orig=n)
        self.add(p, 1000, 1)
        p.silence()
        self.assertEqual(p.end.mr.read(0, 8), struct.pack("<Q", 40))

    def test_answers_keep_their_order(self):
        p = Peer(self.f)
        data = self.rng.randbytes(3000)
        p.end.mr.write(0, data)
        frames = [p.frame(roce.READ_REQUEST, 1000, va=p.end.mr.iova, rkey=p.end.mr.key,
                          dma_len=3000),
                  p.frame(roce.WRITE_ONLY, 1003, b"w", va=p.end.mr.iova + 9000,
                          rkey=p.end.mr.key, dma_len=1, ack_req=1),
                  p.frame(roce.FETCH_ADD, 1004, va=p.end.mr.iova + 8000, rkey=p.end.mr.key,
                          swap_add=1, compare=0),
                  p.frame(roce.READ_REQUEST, 1005, va=p.end.mr.iova, rkey=p.end.mr.key,
                          dma_len=8)]
        for frame in frames:
            p.wire.send(frame)
        self.expect_read(p, 1000, data)
        p.expect(roce.ACK, 1003, msn=2)
        p.expect(roce.ATOMIC_ACK, 1004, msn=3)
        self.expect_read(p, 1005, data[:8])

    def test_rnr(self):
        """The packet is asked for again; those behind it are dropped without a word."""
        p = Peer(self.f, min_rnr=9)
        p.send(roce.SEND_ONLY, 1000, b"one", ack_req=1)
        p.expect(roce.ACK, 1000, syndrome=RNR | 9, msn=0)
        p.send(roce.SEND_ONLY, 1001, b"two", ack_req=1)
        p.silence()
        p.send(roce.SEND_ONLY, 1000, b"one", ack_req=1)
        p.expect(roce.ACK, 1000, syndrome=RNR | 9, msn=0)
        recv = p.end.recv(p.end.sge(0, 8))
        p.send(roce.SEND_ONLY, 1000, b"one", ack_req=1)
        p.expect(roce.ACK, 1000, syndrome=ACK, msn=1)
        p.end.recv_cqe(wr_id=recv)
        self.assertEqual(p.end.mr.read(0, 3), b"one")

    def test_rnr_of_write_with_immediate(self):
        """Nothing of the refused packet is placed; what came before stands."""
        p = Peer(self.f)
        mr = p.end.mr
        mr.write(0, bytes(2048))
        p.send(roce.WRITE_FIRST, 1000, b"\x11" * 1024, va=mr.iova, rkey=mr.key, dma_len=1030)
        p.send(roce.WRITE_LAST_IMM, 1001, b"\x22" * 6, imm=b"imm!", ack_req=1)
        p.expect(roce.ACK, 1001, syndrome=RNR | 1, msn=0)
        self.assertEqual(mr.read(0, 1030), b"\x11" * 1024 + bytes(6))
        p.end.recv()
        p.send(roce.WRITE_LAST_IMM, 1001, b"\x22" * 6, imm=b"imm!", ack_req=1)
        p.expect(roce.ACK, 1001, syndrome=ACK, msn=1)
        self.assertEqual(p.end.recv_cqe().byte_len, 1030)
        self.assertEqual(mr.read(0, 1030), b"\x11" * 1024 + b"\x22" * 6)

    def dies(self, p, psn, syndrome, event):
        p.expect(roce.ACK, psn, syndrome=syndrome)
        self.in_error(p.end)
        self.events(p.end.nic, (abi.KIWI_EV_QP_ACCESS, event, p.end.number))

    def test_malformed_requests(self):
        full, reth = bytes(1024), {}
        first_write = (roce.WRITE_FIRST, full, {"dma_len": 3000})
        cases = {
            "middle of nothing": [(roce.SEND_MIDDLE, full, {})],
            "last of nothing": [(roce.WRITE_LAST, b"x", {})],
            "first in a message": [(roce.SEND_FIRST, full, {}), (roce.SEND_FIRST, full, {})],
            "only in a message": [(roce.SEND_FIRST, full, {}), (roce.SEND_ONLY, b"", {})],
            "write in a send": [(roce.SEND_FIRST, full, {}), (roce.WRITE_MIDDLE, full, {})],
            "send in a write": [first_write, (roce.SEND_LAST, b"x", {})],
            "read in a message": [first_write, (roce.READ_REQUEST, b"", {"dma_len": 8})],
            "atomic in a message": [first_write, (roce.FETCH_ADD, b"",
                                                  {"swap_add": 1, "compare": 0})],
            "short first": [(roce.SEND_FIRST, full[1:], {})],
            "long first": [(roce.SEND_FIRST, full + b"1234", {})],
            "short middle": [(roce.SEND_FIRST, full, {}), (roce.SEND_MIDDLE, full[4:], {})],
            "empty last": [(roce.SEND_FIRST, full, {}), (roce.SEND_LAST, b"", {})],
            "long last": [(roce.SEND_FIRST, full, {}), (roce.SEND_LAST, full + b"1", {})],
            "long only": [(roce.SEND_ONLY, full + b"1", {})],
            "write shorter than RETH": [(roce.WRITE_ONLY, b"12", {"dma_len": 3})],
            "write longer than RETH": [(roce.WRITE_ONLY, b"12", {"dma_len": 1})],
            "first is all": [(roce.WRITE_FIRST, full, {"dma_len": 1024})],
            "middle is all": [(roce.WRITE_FIRST, full, {"dma_len": 2048}),
                              (roce.WRITE_MIDDLE, full, {})],
            "last is less": [(roce.WRITE_FIRST, full, {"dma_len": 1030}),
                             (roce.WRITE_LAST, b"12345", {})],
            "last is more": [(roce.WRITE_FIRST, full, {"dma_len": 1030}),
                             (roce.WRITE_LAST, b"1234567", {})],
            "write above the maximum": [(roce.WRITE_FIRST, full, {"dma_len": 0xffffffff})],
            "read above the maximum": [(roce.READ_REQUEST, b"", {"dma_len": 0x40000001})],
            "unaligned atomic": [(roce.CMP_SWAP, b"", {"va": 1, "swap_add": 0, "compare": 0})],
        }
        for name, packets in cases.items():
            with self.subTest(name):
                p = Peer(self.f)
                recvs = [p.end.recv(p.end.sge(0, 8192)) for _ in range(2)]
                for n, (opcode, payload, fields) in enumerate(packets):
                    reth = {"va": p.end.mr.iova, "rkey": p.end.mr.key, **fields}
                    p.send(opcode, 1000 + n, payload, **reth)
                self.dies(p, 1000 + len(packets) - 1, NAK_INVALID,
                          abi.KIWI_CQE_ST_REM_INV_REQ_ERR)
                for wr_id in recvs:
                    p.end.recv_cqe(FLUSH, wr_id)

    def test_too_many_reads(self):
        p = Peer(self.f, max_rd=0)
        self.read(p, 1000, 8)
        self.dies(p, 1000, NAK_INVALID, abi.KIWI_CQE_ST_REM_INV_REQ_ERR)
        p = Peer(self.f, max_rd=0)
        self.add(p, 1000, 8)
        self.dies(p, 1000, NAK_INVALID, abi.KIWI_CQE_ST_REM_INV_REQ_ERR)

    def test_pkey(self):
        p = Peer(self.f)
        self.write(p, 1000, b"x", pkey=0x7fff)
        p.expect(roce.ACK, 1000)
        self.write(p, 1001, b"x", pkey=0x8001)
        p.silence()

    def test_strangers_are_not_heard(self):
        """Wrong address, QP, type or state: dropped, counted, nothing changes."""
        p = Peer(self.f)
        waiting = Endpoint(self.f.nics[0])
        waiting.init()
        end, nic = p.end, p.end.nic
        good = dict(va=end.mr.iova, rkey=end.mr.key, dma_len=8, ack_req=1)
        stranger = roce.gid("10.0.0.200")
        frames = [
            p.frame(roce.WRITE_ONLY, 1000, bytes(8), sgid=stranger, **good),
            p.frame(roce.WRITE_ONLY, 1000, bytes(8), dgid=stranger, **good),
            p.frame(roce.WRITE_ONLY, 1000, bytes(8), dgid=nic.gid("ipv6"),
                    sgid=roce.gid("fd00::77"), **good),
            p.frame(roce.WRITE_ONLY, 1000, bytes(8), qpn=0, **good),
            p.frame(roce.WRITE_ONLY, 1000, bytes(8), qpn=1 << 23, **good),
            p.frame(roce.WRITE_ONLY, 1000, bytes(8), qpn=waiting.number, **good),
        ]
        before = nic.port_counters()
        for frame in frames:
            p.wire.send(frame)
        p.silence()
        after = nic.port_counters()
        self.assertEqual(after.rx_no_qp - before.rx_no_qp, len(frames))
        self.assertEqual(end.state, abi.KIWI_QPS_RTS)
        self.assertEqual(waiting.state, abi.KIWI_QPS_INIT)
        self.assertEqual(end.query().rq_psn, 1000)
        self.write(p, 1000, b"x", sport=0xffff)
        p.expect(roce.ACK, 1000, syndrome=ACK)

    def test_malformed_frames(self):
        """Every kind of damage is counted as what it is, and never changes a QP."""
        p = Peer(self.f)
        end = p.end
        end.mr.write(0, bytes(64))
        good = p.frame(roce.WRITE_ONLY, 1000, bytes(range(1, 31)), va=end.mr.iova,
                       rkey=end.mr.key, dma_len=30, ack_req=1)

        def changed(at, value, reseal=True):
            raw = bytearray(good)
            raw[at:at + len(value)] = value
            return roce.reseal(bytes(raw)) if reseal else bytes(raw)

        bth = 14 + 20 + 8
        icrc = [changed(len(good) - 1, bytes([good[-1] ^ 1]), False),
                changed(bth + 40, b"\xff", False)]
        malformed = [good[:n] for n in range(14 + 28, len(good))]
        malformed += [
            changed(bth, b"\x15"), changed(bth, b"\x81"), changed(bth, b"\xff"),
            changed(bth + 1, b"\x61"), changed(bth + 1, b"\x6f"),
            changed(14 + 20 + 4, struct.pack(">H", 40), False),
            changed(24, b"\0\0", False),
        ]
        not_roce = [good[:12] + b"\x81\x00\x00\x01" + good[12:], good[:12] + b"\x88\xb5" + good[14:]]
        before = end.nic.port_counters()
        for frame in icrc + malformed + not_roce:
            p.wire.send(frame)
        p.silence(0.3)
        after = end.nic.port_counters()
        self.assertEqual((after.rx_icrc_encapsulated - before.rx_icrc_encapsulated,
                          after.rx_malformed - before.rx_malformed,
                          after.rx_not_roce - before.rx_not_roce),
                         (len(icrc), len(malformed), len(not_roce)))
        self.assertEqual(end.query().rq_psn, 1000)
        self.assertEqual(end.mr.read(0, 64), bytes(64))
        p.wire.send(good)
        p.expect(roce.ACK, 1000, syndrome=ACK)
        self.assertEqual(end.mr.read(0, 30), bytes(range(1, 31)))

    def test_fuzz(self):
        """Frames damaged at random, with and without a fitting ICRC: the device lives,
        and no memory but the region changes."""
        rng = random.Random(5)
        guard = self.q.alloc(1 << 16)
        self.q.fill(guard, 1 << 16, 0x5a)
        victims, total = 0, 4000
        p = Peer(self.f, size=4096)
        other_a, other_b = self.f.pair()
        for n in range(total):
            opcode = rng.choice(roce.OPCODES)
            payload = b"" if opcode in roce.NO_PAYLOAD else rng.randbytes(rng.choice(
                (0, 1, 8, 63, 1024)))
            psn = (p.end.query().rq_psn if n % 16 == 0 else psn) + rng.choice((0, 0, 0, 1, -1))
            raw = bytearray(p.frame(
                opcode, psn % PSN, payload, va=p.end.mr.iova + rng.choice((0, 8, 4090)),
                rkey=p.end.mr.key, dma_len=rng.choice((len(payload), 0, 1 << 31)),
                swap_add=1, compare=0, syndrome=rng.getrandbits(8), msn=0, orig=0,
                imm=b"1234", ack_req=1))
            for _ in range(rng.randint(0, 4)):
                raw[rng.randrange(12, len(raw))] = rng.getrandbits(8)
            cut = bytes(raw[:rng.choice((len(raw), rng.randint(14, len(raw))))])
            if rng.random() < 0.7:
                try:
                    cut = roce.reseal(cut)
                except (IndexError, struct.error):
                    pass
            if len(cut) >= 14:
                p.wire.send(cut)
            if n % 50 == 49:
                while p.wire.receive(0):
                    pass
                if p.end.state == abi.KIWI_QPS_ERR:
                    victims += 1
                    p.end.destroy()
                    p = Peer(self.f, size=4096)
                self.f.nics[0].events()
        other_a.write(other_b.mr, other_a.sge(0, 4096))
        other_a.send_cqe()
        self.assertEqual(self.q.read(guard, 1 << 16), b"\x5a" * (1 << 16))
        self.assertGreater(victims, 0, "no frame got as far as the QP")
        self.assertLess(victims, total // 50)
