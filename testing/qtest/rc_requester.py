# SPDX-License-Identifier: GPL-2.0
"""RC transport: what the device sends, packet by packet, and how it takes answers."""

import time

from rc import Mr, Peer, abi, roce
from rc_case import ACK, FLUSH, FabricCase, NAK_ACCESS, NAK_INVALID, NAK_OPERATION, NAK_SEQUENCE, PSN, RNR, SIGNALED, tests


@tests("requester")
class Requester(FabricCase):
    """What the device sends, packet by packet, and how it takes answers."""

    WIRE = True

    def test_addressing(self):
        for ip in ("ipv4", "ipv6"):
            p = Peer(self.f, ip=ip)
            p.end.write_inline(p.end.mr, b"abc")
            packet = p.expect(roce.WRITE_ONLY, 2000, payload=b"abc", dma_len=3, ack_req=1,
                              rkey=p.end.mr.key, va=p.end.mr.iova, solicited=0, smac=p.mac,
                              dmac=Peer.MAC, hop_limit=64, traffic_class=2, flow_label=0)
            self.assertGreaterEqual(packet["sport"], 0xc000)

    def test_segmentation(self):
        p = Peer(self.f)
        end = p.end
        end.mr.write(0, bytes(range(256)) * 16)
        data = end.mr.read(0, 4096)
        sol = abi.KIWI_WQE_SOLICITED
        end.send(end.sge(0, 2049), flags=SIGNALED | sol)
        p.expect(roce.SEND_FIRST, 2000, payload=data[:1024], ack_req=0, solicited=0)
        p.expect(roce.SEND_MIDDLE, 2001, payload=data[1024:2048], ack_req=0, solicited=0)
        p.expect(roce.SEND_LAST, 2002, payload=data[2048:2049], ack_req=1, solicited=1)
        end.send(end.sge(0, 1025), imm=0xaabbccdd)
        p.expect(roce.SEND_FIRST, 2003)
        p.expect(roce.SEND_LAST_IMM, 2004, imm=b"\xaa\xbb\xcc\xdd", payload=data[1024:1025])
        end.send(imm=1, flags=SIGNALED | sol)
        p.expect(roce.SEND_ONLY_IMM, 2005, imm=b"\0\0\0\1", payload=b"", solicited=1)
        end.write(end.mr, end.sge(0, 2048), off=5)
        p.expect(roce.WRITE_FIRST, 2006, va=end.mr.iova + 5, rkey=end.mr.key, dma_len=2048,
                 payload=data[:1024], ack_req=0)
        p.expect(roce.WRITE_LAST, 2007, payload=data[1024:2048], ack_req=1)
        end.write(end.mr, end.sge(0, 1025), imm=2)
        p.expect(roce.WRITE_FIRST, 2008)
        p.expect(roce.WRITE_LAST_IMM, 2009, imm=b"\0\0\0\2")
        end.write(end.mr, end.sge(0, 1024), imm=3)
        p.expect(roce.WRITE_ONLY_IMM, 2010, imm=b"\0\0\0\3", dma_len=1024)
        end.read(end.mr, end.sge(0, 3000), off=1)
        p.expect(roce.READ_REQUEST, 2011, va=end.mr.iova + 1, dma_len=3000)
        end.cmp_swap(end.mr, end.sge(0, 8), 5, 6, off=16)
        p.expect(roce.CMP_SWAP, 2014, va=end.mr.iova + 16, compare=5, swap_add=6)
        end.fetch_add(end.mr, end.sge(0, 8), 7, off=24)
        p.expect(roce.FETCH_ADD, 2015, va=end.mr.iova + 24, compare=0, swap_add=7)
        p.silence()

    def test_inline_data_is_taken_when_the_wqe_is_fetched(self):
        p = Peer(self.f)
        wr_id = p.end.send_inline(b"before")
        p.expect(roce.SEND_ONLY, 2000, payload=b"before")
        self.q.fill(p.end.sq, 64 << p.end.sq_log2, 0xff)
        p.send(roce.ACK, 2000, syndrome=NAK_SEQUENCE, msn=0)
        p.expect(roce.SEND_ONLY, 2000, payload=b"before")
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        p.end.send_cqe(wr_id=wr_id)

    def test_window_and_requests_for_acks(self):
        p = Peer(self.f, psn=(1000, PSN - 100), size=1 << 20)
        p.end.write(p.end.mr, p.end.sge(0, 300 * 1024))
        asked = []
        for n in range(128):
            if p.expect(roce.WRITE_MIDDLE if n else roce.WRITE_FIRST,
                        (PSN - 100 + n) % PSN)["ack_req"]:
                asked.append(n)
        self.assertEqual(asked, [63, 127])
        p.silence()
        p.send(roce.ACK, PSN - 100 + 63, syndrome=ACK, msn=0)
        for n in range(128, 192):
            p.expect(roce.WRITE_MIDDLE, (PSN - 100 + n) % PSN, ack_req=int(n == 191))
        p.silence()
        p.send(roce.ACK, 191 - 100, syndrome=ACK, msn=0)
        for n in range(192, 300):
            p.expect(roce.WRITE_LAST if n == 299 else roce.WRITE_MIDDLE, n - 100,
                     ack_req=int(n in (255, 299)))
        self.assertTrue(p.end.idle())
        p.send(roce.ACK, 199, syndrome=ACK, msn=1)
        p.end.send_cqe()

    def test_one_ack_for_many(self):
        p = Peer(self.f)
        want = [p.end.send_inline(bytes([n])) for n in range(10)]
        for n in range(10):
            p.expect(roce.SEND_ONLY, 2000 + n, ack_req=1)
        p.send(roce.ACK, 2006, syndrome=ACK, msn=7)
        for wr_id in want[:7]:
            p.end.send_cqe(wr_id=wr_id)
        self.assertTrue(p.end.idle())
        p.send(roce.ACK, 2009, syndrome=ACK, msn=10)
        for wr_id in want[7:]:
            p.end.send_cqe(wr_id=wr_id)

    def test_acks_that_say_nothing(self):
        """Of what is long done, or was never sent."""
        p = Peer(self.f)
        wr_id = p.end.send_inline(b"x")
        p.expect(roce.SEND_ONLY, 2000)
        for psn in (1999, 2001, 2000 + (PSN >> 1), 0, PSN - 1):
            for syndrome in (ACK, NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS, NAK_OPERATION, RNR | 1):
                p.send(roce.ACK, psn, syndrome=syndrome, msn=1)
        p.send(roce.READ_RESP_ONLY, 1999, b"12345678", syndrome=ACK, msn=1)
        p.send(roce.ATOMIC_ACK, 2001, syndrome=ACK, msn=1, orig=5)
        p.send(roce.ACK, 2000, syndrome=0x5f, msn=1)        # of a reserved type
        self.assertTrue(p.end.idle())
        p.silence()
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        p.end.send_cqe(wr_id=wr_id)

    def test_sequence_nak(self):
        """Acknowledges what is before it, and asks for the rest."""
        p = Peer(self.f)
        before = p.end.nic.port_counters().packet_seq_err
        first = p.end.send_inline(b"0")
        second = p.end.send(p.end.sge(0, 3000))
        p.expect(roce.SEND_ONLY, 2000)
        for n, opcode in enumerate((roce.SEND_FIRST, roce.SEND_MIDDLE, roce.SEND_LAST)):
            p.expect(opcode, 2001 + n)
        p.send(roce.ACK, 2002, syndrome=NAK_SEQUENCE, msn=1)
        p.expect(roce.SEND_MIDDLE, 2002)
        p.expect(roce.SEND_LAST, 2003, ack_req=1)
        p.end.send_cqe(wr_id=first)
        p.send(roce.ACK, 2002, syndrome=NAK_SEQUENCE, msn=1)    # the same once more
        p.silence()
        p.send(roce.ACK, 2003, syndrome=ACK, msn=2)
        p.end.send_cqe(wr_id=second)
        self.assertEqual(p.end.nic.port_counters().packet_seq_err, before + 2)

    def test_sequence_naks_without_progress_run_out(self):
        p = Peer(self.f, retry=2, timeout=10)
        p.end.send_inline(b"0")
        p.expect(roce.SEND_ONLY, 2000)
        p.send(roce.ACK, 2000, syndrome=NAK_SEQUENCE, msn=0)
        for _ in range(2):
            p.expect(roce.SEND_ONLY, 2000)
        p.end.send_cqe(abi.KIWI_CQE_ST_RETRY_EXC_ERR)

    def test_progress_renews_the_retries(self):
        p = Peer(self.f, retry=1, timeout=0, size=1 << 16)
        p.end.write(p.end.mr, p.end.sge(0, 6 * 1024))
        for n in range(6):
            p.receive()
        for n in range(1, 6):
            p.send(roce.ACK, 2000 + n, syndrome=NAK_SEQUENCE, msn=0)
            for later in range(n, 6):
                p.expect(roce.WRITE_LAST if later == 5 else roce.WRITE_MIDDLE, 2000 + later)
        p.send(roce.ACK, 2005, syndrome=ACK, msn=1)
        p.end.send_cqe()

    def test_fatal_naks(self):
        for syndrome, status in ((NAK_INVALID, abi.KIWI_CQE_ST_REM_INV_REQ_ERR),
                                 (NAK_ACCESS, abi.KIWI_CQE_ST_REM_ACCESS_ERR),
                                 (NAK_OPERATION, abi.KIWI_CQE_ST_REM_OP_ERR),
                                 (0x64, abi.KIWI_CQE_ST_BAD_RESP_ERR)):
            p = Peer(self.f)
            before, hit, after = (p.end.send_inline(b"x") for _ in range(3))
            for n in range(3):
                p.expect(roce.SEND_ONLY, 2000 + n)
            p.send(roce.ACK, 2001, syndrome=syndrome, msn=1)
            p.end.send_cqe(wr_id=before)
            p.end.send_cqe(status, hit)
            p.end.send_cqe(FLUSH, after)
            self.in_error(p.end)

    def test_rnr_nak(self):
        p = Peer(self.f, rnr_retry=1)
        first, second = p.end.send_inline(b"0"), p.end.send_inline(b"1")
        p.expect(roce.SEND_ONLY, 2000)
        p.expect(roce.SEND_ONLY, 2001)
        start = time.monotonic()
        p.send(roce.ACK, 2001, syndrome=RNR | 25, msn=1)
        p.end.send_cqe(wr_id=first)
        third = p.end.send_inline(b"2")
        p.expect(roce.SEND_ONLY, 2001)
        self.assertGreaterEqual(time.monotonic() - start, 0.06144)
        p.expect(roce.SEND_ONLY, 2002)
        p.send(roce.ACK, 2001, syndrome=ACK, msn=2)
        p.end.send_cqe(wr_id=second)
        p.send(roce.ACK, 2002, syndrome=RNR | 1, msn=2)     # progress was made: one more is allowed
        p.expect(roce.SEND_ONLY, 2002)
        p.send(roce.ACK, 2002, syndrome=RNR | 1, msn=2)
        p.end.send_cqe(abi.KIWI_CQE_ST_RNR_RETRY_EXC_ERR, third)

    def test_ack_during_the_wait(self):
        p = Peer(self.f)
        first = p.end.send_inline(b"0")
        p.expect(roce.SEND_ONLY, 2000)
        p.send(roce.ACK, 2000, syndrome=RNR | 26, msn=0)
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        p.end.send_cqe(wr_id=first)
        second = p.end.send_inline(b"1")
        p.expect(roce.SEND_ONLY, 2001)
        p.send(roce.ACK, 2001, syndrome=ACK, msn=2)
        p.end.send_cqe(wr_id=second)

    def test_lost_read_responses(self):
        """The missing part is asked for, from the PSN that is missing on."""
        p = Peer(self.f)
        end = p.end
        end.mr.write(0, b"\xee" * 8192)
        data = self.rng.randbytes(5000)
        wr_id = end.read(end.mr, end.sge(100, 5000), off=40)
        p.expect(roce.READ_REQUEST, 2000, va=end.mr.iova + 40, dma_len=5000)
        p.send(roce.READ_RESP_FIRST, 2000, data[:1024], syndrome=ACK, msn=1)
        p.send(roce.READ_RESP_MIDDLE, 2001, data[1024:2048])
        p.send(roce.READ_RESP_MIDDLE, 2003, data[3072:4096])            # 2002 is lost
        p.expect(roce.READ_REQUEST, 2002, va=end.mr.iova + 40 + 2048, dma_len=2952)
        p.send(roce.READ_RESP_LAST, 2004, data[4096:], syndrome=ACK, msn=1)     # still on its way
        p.silence()
        p.send(roce.READ_RESP_FIRST, 2002, data[2048:3072], syndrome=ACK, msn=1)
        p.send(roce.READ_RESP_MIDDLE, 2002, b"\xbb" * 1024)             # behind: not looked at
        p.send(roce.READ_RESP_MIDDLE, 2003, data[3072:4096])
        p.send(roce.READ_RESP_LAST, 2004, data[4096:], syndrome=ACK, msn=1)
        self.assertEqual(end.send_cqe(wr_id=wr_id).byte_len, 5000)
        self.assertEqual(end.mr.read(0, 5200), b"\xee" * 100 + data + b"\xee" * 100)

    def test_read_response_lost_altogether(self):
        """An answer to what came later tells; nothing later is complete before."""
        for answer in (
                lambda p: p.send(roce.ACK, 2002, syndrome=ACK, msn=2),
                lambda p: p.send(roce.ACK, 2002, syndrome=NAK_SEQUENCE, msn=2)):
            p = Peer(self.f)
            read = p.end.read(p.end.mr, p.end.sge(0, 2000))
            write = p.end.write(p.end.mr, p.end.sge(0, 8))
            p.expect(roce.READ_REQUEST, 2000)
            p.expect(roce.WRITE_ONLY, 2002)
            answer(p)
            p.expect(roce.READ_REQUEST, 2000, dma_len=2000)
            p.expect(roce.WRITE_ONLY, 2002)
            self.assertTrue(p.end.idle())
            p.send(roce.READ_RESP_FIRST, 2000, bytes(1024), syndrome=ACK, msn=1)
            p.send(roce.READ_RESP_LAST, 2001, bytes(976), syndrome=ACK, msn=1)
            p.send(roce.ACK, 2002, syndrome=ACK, msn=2)
            p.end.send_cqe(wr_id=read)
            p.end.send_cqe(wr_id=write)

    def test_read_response_acknowledges_what_came_before(self):
        p = Peer(self.f)
        want = [p.end.write(p.end.mr, p.end.sge(0, 8)), p.end.read(p.end.mr, p.end.sge(0, 8))]
        p.receive()
        p.receive()
        p.send(roce.READ_RESP_ONLY, 2001, b"response", syndrome=ACK, msn=2)
        for wr_id in want:
            p.end.send_cqe(wr_id=wr_id)
        self.assertEqual(p.end.mr.read(0, 8), b"response")

    def test_lost_atomic_answer(self):
        p = Peer(self.f, timeout=12)
        wr_id = p.end.fetch_add(p.end.mr, p.end.sge(0, 8), 3)
        p.expect(roce.FETCH_ADD, 2000, swap_add=3)
        p.expect(roce.FETCH_ADD, 2000, swap_add=3)
        p.send(roce.ATOMIC_ACK, 2000, syndrome=ACK, msn=1, orig=0x0102030405060708)
        p.end.send_cqe(wr_id=wr_id)
        self.assertEqual(p.end.mr.read(0, 8), bytes.fromhex("0807060504030201"))

    def test_answers_after_going_back(self):
        """An ACK of the first round counts when it arrives in the second."""
        p = Peer(self.f, timeout=14)
        want = [p.end.send_inline(bytes([n])) for n in range(3)]
        for n in range(3):
            p.expect(roce.SEND_ONLY, 2000 + n)
        p.expect(roce.SEND_ONLY, 2000)          # the timer
        p.send(roce.ACK, 2002, syndrome=ACK, msn=3)
        for wr_id in want:
            p.end.send_cqe(wr_id=wr_id)
        while p.receive(0.05):
            pass
        p.end.send_inline(b"next")
        p.expect(roce.SEND_ONLY, 2003)

    def test_bad_responses(self):
        def read(p):
            wr_id = p.end.read(p.end.mr, p.end.sge(0, 3000))
            p.expect(roce.READ_REQUEST, 2000)
            return wr_id

        def add(p):
            wr_id = p.end.fetch_add(p.end.mr, p.end.sge(0, 8), 1)
            p.expect(roce.FETCH_ADD, 2000)
            return wr_id

        def write(p):
            wr_id = p.end.write(p.end.mr, p.end.sge(0, 8))
            p.expect(roce.WRITE_ONLY, 2000)
            return wr_id

        aeth = dict(syndrome=ACK, msn=1)
        for post, opcode, payload, fields in (
                (read, roce.READ_RESP_FIRST, bytes(1023), aeth),
                (read, roce.READ_RESP_FIRST, bytes(1028), aeth),
                (read, roce.READ_RESP_FIRST, b"", aeth),
                (read, roce.READ_RESP_LAST, bytes(1024), aeth),
                (read, roce.READ_RESP_ONLY, bytes(1024), aeth),
                (read, roce.ATOMIC_ACK, b"", dict(aeth, orig=1)),
                (add, roce.READ_RESP_ONLY, bytes(8), aeth),
                (write, roce.READ_RESP_ONLY, bytes(8), aeth),
                (write, roce.ATOMIC_ACK, b"", dict(aeth, orig=1))):
            p = Peer(self.f)
            p.end.mr.write(0, b"\xee" * 4096)
            wr_id = post(p)
            p.send(opcode, 2000, payload, **fields)
            p.end.send_cqe(abi.KIWI_CQE_ST_BAD_RESP_ERR, wr_id)
            self.in_error(p.end)
            self.assertEqual(p.end.mr.read(0, 4096), b"\xee" * 4096)

    def test_limit_of_reads(self):
        p = Peer(self.f, max_rd=2)
        for n in range(4):
            p.end.read(p.end.mr, p.end.sge(8 * n, 8))
        p.end.write(p.end.mr, p.end.sge(0, 8))
        p.expect(roce.READ_REQUEST, 2000)
        p.expect(roce.READ_REQUEST, 2001)
        p.silence()
        for n in range(4):
            p.send(roce.READ_RESP_ONLY, 2000 + n, bytes(8), syndrome=ACK, msn=n + 1)
            p.end.send_cqe()
            if n < 2:
                p.expect(roce.READ_REQUEST, 2002 + n)
            if n == 1:
                p.expect(roce.WRITE_ONLY, 2004)

    def test_fence(self):
        p = Peer(self.f)
        p.end.read(p.end.mr, p.end.sge(0, 8))
        p.end.write(p.end.mr, p.end.sge(0, 8))
        p.end.write(p.end.mr, p.end.sge(0, 8), flags=SIGNALED | abi.KIWI_WQE_FENCE)
        p.end.write(p.end.mr, p.end.sge(0, 8))
        p.expect(roce.READ_REQUEST, 2000)
        p.expect(roce.WRITE_ONLY, 2001)
        p.silence()
        p.send(roce.READ_RESP_ONLY, 2000, b"newvalue", syndrome=ACK, msn=1)
        p.expect(roce.WRITE_ONLY, 2002, payload=b"newvalue")
        p.expect(roce.WRITE_ONLY, 2003)

    def test_region_gone_before_a_retry(self):
        p = Peer(self.f)
        mr = Mr(p.end.nic, p.end.pd, 4096)
        wr_id = p.end.write(p.end.mr, p.end.sge(0, 3000, mr=mr))
        for _ in range(3):
            p.receive()
        mr.dereg()
        p.send(roce.ACK, 2001, syndrome=NAK_SEQUENCE, msn=0)
        cqe = p.end.send_cqe(abi.KIWI_CQE_ST_LOC_PROT_ERR, wr_id)
        self.assertEqual(cqe.vendor_err, 1)
        p.silence()

    def test_failure_waits_for_its_turn(self):
        """A bad WQE ends after the good one before it, however late that is."""
        p = Peer(self.f, timeout=12)
        good = p.end.send_inline(b"good")
        bad = p.end.send(p.end.sge(0, 8, key=0))
        p.expect(roce.SEND_ONLY, 2000, payload=b"good")
        p.expect(roce.SEND_ONLY, 2000, payload=b"good")
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        p.end.send_cqe(wr_id=good)
        p.end.send_cqe(abi.KIWI_CQE_ST_LOC_PROT_ERR, bad)
