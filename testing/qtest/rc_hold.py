# SPDX-License-Identifier: GPL-2.0
"""Regions on hold: S-40 of spec/snic.md, as requester, as responder, and with loss."""

import random
import struct
import time

from rc import Fabric, Mr, Peer, abi, connect, roce, snicdev
from rc_case import (ACK, FLUSH, FabricCase, NAK_ACCESS, NAK_INVALID, NAK_OPERATION, NAK_SEQUENCE,
                     PSN, RNR, tests)
from rc_retries import Loss

PROT = abi.KIWI_CQE_ST_LOC_PROT_ERR
DENIED = abi.KIWI_CQE_ST_REM_ACCESS_ERR
TIMEOUT, SECONDS = 16, 0.27     # an ACK timer that a busy machine does not trip


class HoldCase(FabricCase):
    """A second region of the endpoint, which is the one on hold."""

    WIRE = True

    def peer(self, size=8192, **more):
        p = Peer(self.f, **more)
        p.far = Mr(p.end.nic, p.end.pd, size, iova=0x5555_0000_0000)
        p.far.write(0, self.rng.randbytes(size))
        self.met = self.counts(p)
        return p

    def counts(self, p):
        """(times a WQE stood still, times a request was put off)"""
        return [p.end.nic.diag(index) for index in
                (abi.KIWI_DIAG_HELD_WQE, abi.KIWI_DIAG_HELD_REQUEST)]

    def expect_met(self, p, wqes, requests):
        now = self.counts(p)
        self.assertEqual([n - b for n, b in zip(now, self.met)], [wqes, requests])
        self.met = now

    def still(self, p, seconds=0.1):
        """Nothing is sent, completed, raised or changed."""
        p.silence(seconds)
        self.assertTrue(p.end.idle())
        self.assertTrue(p.far.untouched())
        self.assertEqual(p.end.state, abi.KIWI_QPS_RTS)


@tests("hold-requester")
class Requester(HoldCase):
    """Work stands still, with what is behind it; what is before it goes on."""

    def test_write(self):
        for send in (False, True):
            p = self.peer(retry=0)
            end, far = p.end, p.far

            def post(mr, p=p, send=send):
                sge = p.end.sge(0, 100, mr=mr)
                return p.end.send(sge) if send else p.end.write(p.end.mr, sge)
            only = roce.SEND_ONLY if send else roce.WRITE_ONLY
            far.hold()
            first, held, behind = post(end.mr), post(far), post(end.mr)
            p.expect(only, 2000)
            p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
            end.send_cqe(wr_id=first)
            self.still(p)
            self.expect_met(p, 1, 0)
            for syndrome in (NAK_SEQUENCE, NAK_SEQUENCE):
                p.send(roce.ACK, 2001, syndrome=syndrome, msn=1)    # never sent: of no weight
            self.still(p)
            far.resume()
            p.expect(only, 2001, payload=far.read(0, 100))
            p.expect(only, 2002)
            p.send(roce.ACK, 2002, syndrome=ACK, msn=3)
            end.send_cqe(wr_id=held)
            end.send_cqe(wr_id=behind)
            self.expect_met(p, 0, 0)

    def test_within_a_message(self):
        """Packets that need the region only; the rest of the message is no new one."""
        p = self.peer(retry=0)
        end, far = p.end, p.far
        far.hold()
        wr_id = end.write(end.mr, end.sge(0, 1500), end.sge(8, 2000, mr=far))
        p.expect(roce.WRITE_FIRST, 2000, dma_len=3500)
        p.send(roce.ACK, 2000, syndrome=ACK, msn=0)
        self.still(p)
        far.resume()
        p.expect(roce.WRITE_MIDDLE, 2001, payload=end.mr.read(1024, 476) + far.read(8, 548))
        p.expect(roce.WRITE_MIDDLE, 2002)
        p.expect(roce.WRITE_LAST, 2003, payload=far.read(8 + 1572, 428))
        p.send(roce.ACK, 2003, syndrome=ACK, msn=1)
        end.send_cqe(wr_id=wr_id)

    def test_going_back(self):
        """What is to be sent again stands still, too, and no retry is counted meanwhile."""
        p = self.peer(retry=1, timeout=TIMEOUT)
        end, far = p.end, p.far
        wr_id = end.write(end.mr, end.sge(0, 100, mr=far))
        behind = end.write(end.mr, end.sge(0, 8))
        before = end.nic.port_counters()
        p.expect(roce.WRITE_ONLY, 2000)
        p.expect(roce.WRITE_ONLY, 2001)
        far.hold()
        self.still(p, 3 * SECONDS)      # the timer would have run out again and again
        counters = end.nic.port_counters()
        self.assertEqual(counters.local_ack_timeout_err - before.local_ack_timeout_err, 1)
        self.expect_met(p, 1, 0)
        p.send(roce.ACK, 2000, syndrome=NAK_SEQUENCE, msn=0)
        self.still(p)
        far.resume()
        p.expect(roce.WRITE_ONLY, 2000, payload=far.read(0, 100))
        p.expect(roce.WRITE_ONLY, 2001)
        p.send(roce.ACK, 2001, syndrome=ACK, msn=2)
        end.send_cqe(wr_id=wr_id)
        end.send_cqe(wr_id=behind)

    def test_late_acknowledgement(self):
        """Of what stands still only because it was to be sent again: it goes on behind it."""
        p = self.peer(retry=1, timeout=TIMEOUT)
        end, far = p.end, p.far
        wr_id = end.write(end.mr, end.sge(0, 100, mr=far))
        p.expect(roce.WRITE_ONLY, 2000)
        far.hold()
        self.still(p, 2 * SECONDS)
        self.expect_met(p, 1, 0)
        behind = end.write(end.mr, end.sge(0, 8))
        self.still(p)
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        end.send_cqe(wr_id=wr_id)
        p.expect(roce.WRITE_ONLY, 2001)
        p.send(roce.ACK, 2001, syndrome=ACK, msn=2)
        end.send_cqe(wr_id=behind)
        self.assertTrue(far.untouched())
        far.dereg()

    def test_what_is_before_goes_on(self):
        """Its timer runs, its NAKs are heard, its errors end the QP."""
        for ending in (ACK, NAK_ACCESS):
            p = self.peer(retry=7, timeout=TIMEOUT - 1)
            end, far = p.end, p.far
            far.hold()
            first = end.write(end.mr, end.sge(0, 8))
            held = end.write(end.mr, end.sge(0, 8, mr=far))
            for _ in range(3):
                p.expect(roce.WRITE_ONLY, 2000)     # again and again
            p.send(roce.ACK, 2000, syndrome=NAK_SEQUENCE, msn=0)
            p.expect(roce.WRITE_ONLY, 2000)
            p.send(roce.ACK, 2000, syndrome=ending, msn=1)
            if ending == ACK:
                end.send_cqe(wr_id=first)
                while p.receive(0.05):
                    pass
                self.still(p)
                far.resume()
                p.expect(roce.WRITE_ONLY, 2001)
                p.send(roce.ACK, 2001, syndrome=ACK, msn=2)
                end.send_cqe(wr_id=held)
            else:
                end.send_cqe(DENIED, first)
                end.send_cqe(FLUSH, held)
                self.assertTrue(far.untouched())
                far.resume()
                while p.receive(0.1):
                    pass
                self.assertTrue(end.idle())

    def test_silence_of_the_peer_still_counts(self):
        p = self.peer(retry=2, timeout=10)
        end, far = p.end, p.far
        far.hold()
        first = end.write(end.mr, end.sge(0, 8))
        held = end.write(end.mr, end.sge(0, 8, mr=far))
        end.send_cqe(abi.KIWI_CQE_ST_RETRY_EXC_ERR, first)
        end.send_cqe(FLUSH, held)
        self.assertTrue(far.untouched())

    def test_read_does_not_start(self):
        """Where there is no place for the answer nothing is asked for."""
        for post, opcode in (
                (lambda e, s: e.read(e.mr, s), roce.READ_REQUEST),
                (lambda e, s: e.fetch_add(e.mr, s, 1), roce.FETCH_ADD),
                (lambda e, s: e.cmp_swap(e.mr, s, 1, 2), roce.CMP_SWAP)):
            p = self.peer(retry=0)
            p.far.hold()
            wr_id = post(p.end, p.end.sge(16, 8, mr=p.far))
            self.still(p)
            self.expect_met(p, 1, 0)
            p.far.resume()
            p.expect(opcode, 2000)
            if opcode == roce.READ_REQUEST:
                p.send(roce.READ_RESP_ONLY, 2000, b"response", syndrome=ACK, msn=1)
            else:
                p.send(roce.ATOMIC_ACK, 2000, syndrome=ACK, msn=1,
                       orig=struct.unpack("<Q", b"response")[0])
            p.end.send_cqe(wr_id=wr_id)
            self.assertEqual(p.far.read(16, 8), b"response")

    def test_answer_that_cannot_be_placed(self):
        """It is asked for again, from the byte that is missing on, without a retry."""
        data = self.rng.randbytes(3000)
        for placed in (0, 1, 2):
            p = self.peer(retry=0, timeout=TIMEOUT)
            end, far = p.end, p.far
            wr_id = end.read(end.mr, end.sge(64, 3000, mr=far), off=7)
            behind = end.write(end.mr, end.sge(0, 8))
            p.expect(roce.READ_REQUEST, 2000, dma_len=3000)
            p.expect(roce.WRITE_ONLY, 2003)
            pieces = [(roce.READ_RESP_FIRST, data[:1024]), (roce.READ_RESP_MIDDLE, data[1024:2048]),
                      (roce.READ_RESP_LAST, data[2048:])]
            for n, (opcode, piece) in enumerate(pieces):
                if n == placed:
                    self.q.until(lambda: far.read(64, 1024 * placed) == data[:1024 * placed],
                                 "first part")                  # pylint: disable=W0640
                    far.hold()
                p.send(opcode, 2000 + n, piece, syndrome=ACK, msn=1)
            p.send(roce.ACK, 2003, syndrome=ACK, msn=2)
            self.still(p, 2 * SECONDS)
            self.expect_met(p, 1, 0)
            far.resume()
            p.expect(roce.READ_REQUEST, 2000 + placed, va=end.mr.iova + 7 + 1024 * placed,
                     dma_len=3000 - 1024 * placed)
            p.expect(roce.WRITE_ONLY, 2003)
            rest = data[1024 * placed:]
            if placed == 2:
                p.send(roce.READ_RESP_ONLY, 2002, rest, syndrome=ACK, msn=1)
            else:
                p.send(roce.READ_RESP_FIRST, 2000 + placed, rest[:1024], syndrome=ACK, msn=1)
                if placed == 0:
                    p.send(roce.READ_RESP_MIDDLE, 2001, rest[1024:2048])
                p.send(roce.READ_RESP_LAST, 2002, data[2048:], syndrome=ACK, msn=1)
            p.send(roce.ACK, 2003, syndrome=ACK, msn=2)
            end.send_cqe(wr_id=wr_id)
            end.send_cqe(wr_id=behind)
            self.assertEqual(far.read(64, 3000), data)

    def test_read_that_the_peer_stops(self):
        """Answers to what lies behind it say nothing while it waits, and cost no retry."""
        p = self.peer(retry=0, rnr_retry=1)
        end, data = p.end, self.rng.randbytes(3000)
        wr_id = end.read(end.mr, end.sge(0, 3000), off=9)
        behind = end.write(end.mr, end.sge(0, 8))
        p.expect(roce.READ_REQUEST, 2000)
        p.expect(roce.WRITE_ONLY, 2003)
        p.send(roce.READ_RESP_FIRST, 2000, data[:1024], syndrome=ACK, msn=1)
        p.send(roce.ACK, 2001, syndrome=RNR | 25, msn=1)
        for psn in (2001, 2003):
            p.send(roce.ACK, psn, syndrome=ACK, msn=2)
        p.silence(0.05)                 # it waits as long as it was told
        p.expect(roce.READ_REQUEST, 2001, va=end.mr.iova + 9 + 1024, dma_len=3000 - 1024)
        p.expect(roce.WRITE_ONLY, 2003)
        p.send(roce.READ_RESP_FIRST, 2001, data[1024:2048], syndrome=ACK, msn=1)
        p.send(roce.ACK, 2002, syndrome=RNR | 1, msn=1)     # progress was made: one more
        p.expect(roce.READ_REQUEST, 2002, dma_len=3000 - 2048)
        p.expect(roce.WRITE_ONLY, 2003)
        p.send(roce.READ_RESP_ONLY, 2002, data[2048:], syndrome=ACK, msn=1)
        p.send(roce.ACK, 2003, syndrome=ACK, msn=2)
        end.send_cqe(wr_id=wr_id)
        end.send_cqe(wr_id=behind)
        self.assertEqual(end.mr.read(0, 3000), data)

    def test_answer_of_an_atomic(self):
        p = self.peer(retry=0, timeout=TIMEOUT)
        wr_id = p.end.fetch_add(p.end.mr, p.end.sge(24, 8, mr=p.far), 5)
        p.expect(roce.FETCH_ADD, 2000, swap_add=5)
        p.far.hold()
        p.send(roce.ATOMIC_ACK, 2000, syndrome=ACK, msn=1, orig=1)
        self.still(p, 2 * SECONDS)
        p.far.resume()
        p.expect(roce.FETCH_ADD, 2000, swap_add=5)
        p.send(roce.ATOMIC_ACK, 2000, syndrome=ACK, msn=1, orig=2)
        p.end.send_cqe(wr_id=wr_id)
        self.assertEqual(p.far.read(24, 8), struct.pack("<Q", 2))

    def test_deregistered_while_held(self):
        """Work that waits fails as with a bad key."""
        for post in (lambda e, s: e.write(e.mr, s), lambda e, s: e.send(s),
                     lambda e, s: e.read(e.mr, s), lambda e, s: e.fetch_add(e.mr, s, 1)):
            p = self.peer()
            p.far.hold()
            wr_id = post(p.end, p.end.sge(0, 8, mr=p.far))
            behind = p.end.write(p.end.mr, p.end.sge(0, 8))
            self.still(p, 0.02)
            p.far.dereg()
            self.assertEqual(p.end.send_cqe(PROT, wr_id).vendor_err, 1)
            p.end.send_cqe(FLUSH, behind)
            p.silence(0.02)
            self.assertTrue(p.far.untouched())

    def test_answer_to_a_region_deregistered_while_held(self):
        p = self.peer()
        wr_id = p.end.read(p.end.mr, p.end.sge(0, 8, mr=p.far))
        p.expect(roce.READ_REQUEST, 2000)
        p.far.hold()
        p.send(roce.READ_RESP_ONLY, 2000, b"response", syndrome=ACK, msn=1)
        self.still(p, 0.02)
        p.far.dereg()
        self.assertEqual(p.end.send_cqe(PROT, wr_id).vendor_err, 1)
        p.silence(0.05)
        self.assertTrue(p.far.untouched())

    def test_checked_as_a_live_one(self):
        """Bounds, right and PD of a region on hold, also behind an entry that waits."""
        p = self.peer()
        end, nic = p.end, p.end.nic
        alien = Mr(nic, nic.alloc_pd(), 4096)
        silent = Mr(nic, end.pd, 4096, access=abi.KIWI_ACCESS_REMOTE_READ)
        for mr in (p.far, alien, silent):
            mr.hold()
        wait = end.sge(0, 8, mr=p.far)
        for want, post in (
                (2, lambda e: e.write(e.mr, e.sge(8190, 3, mr=p.far))),
                (2, lambda e: e.write(e.mr, wait, e.sge(8190, 3, mr=p.far))),
                (1, lambda e: e.send(e.sge(0, 8, mr=alien))),
                (1, lambda e: e.send(wait, e.sge(0, 8, mr=alien))),
                (3, lambda e: e.read(e.mr, e.sge(0, 8, mr=silent))),
                (3, lambda e: e.fetch_add(e.mr, e.sge(0, 8, mr=silent), 1))):
            wr_id = post(end)
            self.assertEqual(end.send_cqe(PROT, wr_id).vendor_err, want)
            end.reset()
            p.connect((1000, 2000))
        self.expect_met(p, 0, 0)

    def test_what_needs_no_byte_of_it(self):
        p = self.peer()
        p.far.hold()
        p.end.write(p.end.mr, p.end.sge(0, 0, mr=p.far))
        p.expect(roce.WRITE_ONLY, 2000, payload=b"")
        p.end.write_inline(p.end.mr, b"inline")
        p.expect(roce.WRITE_ONLY, 2001, payload=b"inline")
        p.end.read(p.end.mr, p.end.sge(0, 0, mr=p.far))
        p.expect(roce.READ_REQUEST, 2002)
        self.expect_met(p, 0, 0)

    def test_states(self):
        """To ERR and RESET, DESTROY_QP, and SQD, while work stands still."""
        def stand():
            p = self.peer(retry=0)
            p.far.hold()
            p.posted = [p.end.write(p.end.mr, p.end.sge(0, 8, mr=p.far)) for _ in range(3)]
            self.still(p, 0.02)
            return p
        p = stand()
        p.end.modify(abi.KIWI_QPS_ERR)
        for wr_id in p.posted:
            p.end.send_cqe(FLUSH, wr_id)
        p.far.resume()
        p.silence(0.05)
        self.assertTrue(p.end.idle())

        p = stand()
        p.end.reset()
        p.connect((1000, 3000))
        wr_id = p.end.write(p.end.mr, p.end.sge(0, 8))
        p.expect(roce.WRITE_ONLY, 3000)         # nothing waits any more
        p.far.resume()
        p.silence(0.05)
        p.send(roce.ACK, 3000, syndrome=ACK, msn=1)
        p.end.send_cqe(wr_id=wr_id)

        p = stand()
        p.end.destroy()
        p.far.resume()
        p.silence(0.05)

        p = stand()
        p.end.modify(abi.KIWI_QPS_SQD)
        self.assertTrue(p.end.idle())           # not drained yet: one has begun
        p.far.resume()
        p.expect(roce.WRITE_ONLY, 2000)
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        p.end.send_cqe(wr_id=p.posted[0])
        self.events(p.end.nic, (abi.KIWI_EV_QP_DRAINED, 0, p.end.number))
        p.silence(0.05)

    def test_two_regions(self):
        """One that is there again sets the work going as far as the other."""
        p = self.peer()
        other = Mr(p.end.nic, p.end.pd, 4096, iova=0x6666_0000_0000)
        p.far.hold()
        other.hold()
        wr_id = p.end.send(p.end.sge(0, 1024, mr=p.far), p.end.sge(0, 8, mr=other))
        self.still(p, 0.02)
        other.resume()
        self.still(p, 0.02)
        other.hold()
        p.far.resume()
        p.expect(roce.SEND_FIRST, 2000)
        p.silence(0.05)
        other.resume()
        p.expect(roce.SEND_LAST, 2001)
        p.send(roce.ACK, 2001, syndrome=ACK, msn=1)
        p.end.send_cqe(wr_id=wr_id)
        self.expect_met(p, 3, 0)


@tests("hold-responder")
class Responder(HoldCase):
    """Requests are put off by RNR NAKs; a READ under way stops."""

    def write(self, p, psn, data, off=0, opcode=roce.WRITE_ONLY, **more):
        p.send(opcode, psn, data, va=p.far.iova + off, rkey=p.far.key,
               **{"dma_len": len(data), "ack_req": 1, **more})

    def put_off(self, p, psn, msn=0):
        p.expect(roce.ACK, psn, syndrome=RNR | 9, msn=msn)
        self.assertTrue(p.far.untouched())

    def test_write(self):
        p = self.peer(min_rnr=9)
        before = p.end.nic.port_counters()
        p.far.hold()
        for _ in range(2):
            self.write(p, 1000, b"again and again")
            self.write(p, 1001, b"behind")              # dropped without a word
            self.put_off(p, 1000)
            self.still(p)
        self.expect_met(p, 0, 2)
        after = p.end.nic.port_counters()
        self.assertEqual(after.rnr_nak_sent - before.rnr_nak_sent, 2)
        p.far.resume()
        self.write(p, 1000, b"again and again", ack_req=0)
        self.write(p, 1001, b"behind", off=100)
        p.expect(roce.ACK, 1001, syndrome=ACK, msn=2)
        self.assertEqual(p.far.read(0, 15), b"again and again")
        self.assertEqual(p.far.read(100, 6), b"behind")
        self.assertTrue(p.far.untouched())              # where it was before
        self.expect_met(p, 0, 0)

    def test_within_a_write(self):
        p = self.peer(min_rnr=9)
        data = self.rng.randbytes(2500)
        self.write(p, 1000, data[:1024], opcode=roce.WRITE_FIRST, dma_len=2500)
        p.expect(roce.ACK, 1000, msn=0)
        p.far.hold()
        for n in (1, 2):
            p.send(roce.WRITE_MIDDLE if n == 1 else roce.WRITE_LAST, 1000 + n,
                   data[1024 * n:1024 * n + 1024], ack_req=1)
        self.put_off(p, 1001)
        p.far.resume()
        p.send(roce.WRITE_MIDDLE, 1001, data[1024:2048])
        p.send(roce.WRITE_LAST, 1002, data[2048:], ack_req=1)
        p.expect(roce.ACK, 1002, syndrome=ACK, msn=1)
        self.assertEqual(p.far.read(0, 2500), data)

    def test_write_with_immediate_takes_its_entry_later(self):
        p = self.peer(min_rnr=9)
        recvs = [p.end.recv(), p.end.recv()]
        p.far.hold()
        self.write(p, 1000, b"data", opcode=roce.WRITE_ONLY_IMM, imm=b"1234")
        self.put_off(p, 1000)
        self.still(p)
        p.far.resume()
        for n, wr_id in enumerate(recvs):
            self.write(p, 1000 + n, b"data", opcode=roce.WRITE_ONLY_IMM, imm=b"1234")
            p.expect(roce.ACK, 1000 + n, syndrome=ACK, msn=n + 1)
            p.end.recv_cqe(wr_id=wr_id)

    def test_send(self):
        """The entry that it took is its own when it is repeated."""
        p = self.peer(min_rnr=9)
        recvs = [p.end.recv(p.end.sge(8 * n, 8, mr=p.far)) for n in range(2)]
        p.far.hold()
        for _ in range(3):
            p.send(roce.SEND_ONLY, 1000, b"message", ack_req=1)
            self.put_off(p, 1000)
        self.still(p)
        p.far.resume()
        for n, wr_id in enumerate(recvs):
            p.send(roce.SEND_ONLY, 1000 + n, b"message", ack_req=1)
            p.expect(roce.ACK, 1000 + n, syndrome=ACK, msn=n + 1)
            self.assertEqual(p.end.recv_cqe(wr_id=wr_id).byte_len, 7)
            self.assertEqual(p.far.read(8 * n, 7), b"message")
        p.send(roce.SEND_ONLY, 1002, b"message", ack_req=1)
        p.expect(roce.ACK, 1002, syndrome=RNR | 9)      # both are used up

    def test_within_a_send(self):
        """Nothing of a packet is placed before all of it can be."""
        p = self.peer(min_rnr=9)
        p.end.mr.write(0, bytes(4096))
        recv = p.end.recv(p.end.sge(0, 1500), p.end.sge(0, 4000, mr=p.far))
        data = self.rng.randbytes(2400)
        p.send(roce.SEND_FIRST, 1000, data[:1024], ack_req=1)
        p.expect(roce.ACK, 1000, syndrome=ACK, msn=0)
        p.far.hold()
        p.send(roce.SEND_MIDDLE, 1001, data[1024:2048], ack_req=1)
        p.send(roce.SEND_LAST, 1002, data[2048:], ack_req=1)
        self.put_off(p, 1001)
        self.assertEqual(p.end.mr.read(0, 1500), data[:1024] + bytes(476))
        p.far.resume()
        p.send(roce.SEND_MIDDLE, 1001, data[1024:2048], ack_req=1)
        p.send(roce.SEND_LAST, 1002, data[2048:], ack_req=1)
        while p.receive(0.05):
            pass
        self.assertEqual(p.end.recv_cqe(wr_id=recv).byte_len, 2400)
        self.assertEqual(p.end.mr.read(0, 1500) + p.far.read(0, 900), data)

    def put_off_send(self, entries=2):
        p = self.peer(min_rnr=9)
        p.recvs = [p.end.recv(p.end.sge(0, 8, mr=p.far)) for _ in range(entries)]
        p.far.hold()
        p.send(roce.SEND_ONLY, 1000, b"message", ack_req=1)
        self.put_off(p, 1000)
        return p

    def test_peer_that_changes_its_mind(self):
        """What it sends in place of a SEND put off takes no entry, or that one."""
        p = self.put_off_send()
        p.send(roce.WRITE_ONLY, 1000, b"write", va=p.end.mr.iova, rkey=p.end.mr.key, dma_len=5,
               ack_req=1)
        p.expect(roce.ACK, 1000, syndrome=ACK)
        self.assertTrue(p.end.idle())
        p.send(roce.WRITE_ONLY_IMM, 1001, b"write", va=p.end.mr.iova, rkey=p.end.mr.key, dma_len=5,
               imm=b"1234", ack_req=1)
        p.expect(roce.ACK, 1001, syndrome=ACK)
        cqe = p.end.recv_cqe(wr_id=p.recvs[0])
        self.assertEqual((cqe.opcode, cqe.byte_len), (abi.KIWI_CQE_RECV_WRITE_IMM, 5))
        self.assertTrue(p.far.untouched())
        p.send(roce.WRITE_ONLY, 1002, b"write", va=p.end.mr.iova, rkey=1, dma_len=5)
        p.expect(roce.ACK, 1002, syndrome=NAK_ACCESS)
        p.end.recv_cqe(FLUSH, p.recvs[1])

    def test_entry_of_a_send_put_off_is_flushed(self):
        p = self.put_off_send()
        p.end.modify(abi.KIWI_QPS_ERR)
        for wr_id in p.recvs:
            p.end.recv_cqe(FLUSH, wr_id)
        self.assertTrue(p.end.idle())
        p = self.put_off_send(1)
        p.end.reset()
        p.connect((1000, 2000))
        p.far.resume()
        p.send(roce.SEND_ONLY, 1000, b"message", ack_req=1)
        p.expect(roce.ACK, 1000, syndrome=RNR | 1)      # no entry was handed over since
        self.assertTrue(p.end.idle())

    def test_read(self):
        p = self.peer(min_rnr=9)
        p.far.hold()
        request = dict(va=p.far.iova + 5, rkey=p.far.key, dma_len=1500)
        p.send(roce.READ_REQUEST, 1000, **request)
        self.put_off(p, 1000)
        self.still(p)
        p.far.resume()
        p.send(roce.READ_REQUEST, 1000, **request)
        p.expect(roce.READ_RESP_FIRST, 1000, payload=p.far.read(5, 1024), msn=1)
        p.expect(roce.READ_RESP_LAST, 1001, payload=p.far.read(1029, 476))
        # A duplicate is put off with its own PSN, and the QP goes on meanwhile.
        p.far.hold()
        p.send(roce.READ_REQUEST, 1000, **request)
        p.expect(roce.ACK, 1000, syndrome=RNR | 9)
        p.send(roce.WRITE_ONLY, 1002, b"w", va=p.end.mr.iova, rkey=p.end.mr.key, dma_len=1,
               ack_req=1)
        p.expect(roce.ACK, 1002, syndrome=ACK)
        self.expect_met(p, 0, 2)
        p.far.resume()

    def test_read_under_way(self):
        """It stops; what is owed behind it waits for the peer to ask again for all."""
        slow = Fabric("link-mbps=20", wire=True)
        self.addCleanup(slow.close)
        p = Peer(slow, mtu=256, max_rd=2, min_rnr=9, size=1 << 20)
        mr, psns, end = p.end.mr, 4096, (1 << 20) - 8
        mr.write(0, self.rng.randbytes(end) + bytes(8))
        p.send(roce.READ_REQUEST, 1000, va=mr.iova, rkey=mr.key, dma_len=1 << 20)
        p.send(roce.FETCH_ADD, 1000 + psns, va=mr.iova + end, rkey=mr.key, swap_add=3,
               compare=0)
        p.send(roce.WRITE_ONLY, 1001 + psns, va=0, rkey=0, dma_len=0, ack_req=1)
        first = p.expect(roce.READ_RESP_FIRST, 1000)
        slow.q.until(lambda: mr.read(end, 8) == struct.pack("<Q", 3), "atomic")
        mr.hold()
        data = mr.left[1]
        got = [first]
        while got[-1]["opcode"] != roce.ACK:
            got.append(p.receive())
            self.assertTrue(got[-1], "the READ did not stop with a NAK")
        nak = got.pop()
        at = 1000 + len(got)
        self.assertLess(at, 1000 + psns - 100, "the READ was not under way")
        self.assertEqual((nak["psn"], nak["syndrome"]), (at, RNR | 9))
        self.assertEqual(b"".join(x["payload"] for x in got[1:]), data[256:256 * len(got)])
        p.silence(0.2)
        rest = dict(va=mr.iova + 256 * len(got), rkey=mr.key, dma_len=(1 << 20) - 256 * len(got))
        p.send(roce.READ_REQUEST, at, **rest)           # too early
        p.expect(roce.ACK, at, syndrome=RNR | 9)
        p.silence(0.1)
        self.assertTrue(mr.untouched())
        mr.resume()
        p.send(roce.READ_REQUEST, at, **rest)
        p.send(roce.FETCH_ADD, 1000 + psns, va=mr.iova + end, rkey=mr.key, swap_add=3,
               compare=0)
        p.send(roce.WRITE_ONLY, 1001 + psns, va=0, rkey=0, dma_len=0, ack_req=1)
        again = [p.receive() for _ in range(psns - len(got))]
        self.assertEqual([x["psn"] for x in again], list(range(at, 1000 + psns)))
        self.assertEqual(b"".join(x["payload"] for x in again), data[256 * len(got):])
        p.expect(roce.ATOMIC_ACK, 1000 + psns, orig=0)
        p.expect(roce.ACK, 1001 + psns, syndrome=ACK, msn=3)
        self.assertEqual(mr.read(end, 8), struct.pack("<Q", 3))     # once

    def test_atomic(self):
        p = self.peer(min_rnr=9)
        p.far.write(0, bytes(16))
        p.far.hold()
        request = dict(va=p.far.iova + 8, rkey=p.far.key, swap_add=5, compare=0)
        for opcode in (roce.FETCH_ADD, roce.CMP_SWAP):
            p.send(opcode, 1000, **request)
            self.put_off(p, 1000)
        p.far.resume()
        p.send(roce.FETCH_ADD, 1000, **request)
        p.expect(roce.ATOMIC_ACK, 1000, orig=0, msn=1)
        # Repeated it is answered without the region.
        p.far.hold()
        p.send(roce.FETCH_ADD, 1000, **request)
        p.expect(roce.ATOMIC_ACK, 1000, orig=0)
        self.assertEqual(p.far.left[1][:16], bytes(8) + struct.pack("<Q", 5))
        self.assertTrue(p.far.untouched())

    def test_duplicates_are_acknowledged(self):
        p = self.peer(min_rnr=9)
        self.write(p, 1000, b"once")
        p.expect(roce.ACK, 1000, syndrome=ACK, msn=1)
        p.far.hold()
        self.write(p, 1000, b"ecno")
        p.expect(roce.ACK, 1000, syndrome=ACK, msn=1)
        self.still(p)
        self.expect_met(p, 0, 0)

    def test_what_needs_no_byte_of_it(self):
        p = self.peer()
        p.far.hold()
        self.write(p, 1000, b"")
        p.expect(roce.ACK, 1000, syndrome=ACK)
        p.send(roce.READ_REQUEST, 1001, va=p.far.iova, rkey=p.far.key, dma_len=0)
        p.expect(roce.READ_RESP_ONLY, 1001, payload=b"")
        p.end.recv(p.end.sge(0, 8, mr=p.far))
        p.send(roce.SEND_ONLY, 1002, b"", ack_req=1)
        p.expect(roce.ACK, 1002, syndrome=ACK)
        p.end.recv_cqe()

    def test_checked_as_a_live_one(self):
        """Bounds, rights, PD, order and lengths are found wrong at once."""
        cases = [
            (NAK_ACCESS, roce.WRITE_ONLY, bytes(8), dict(off=8190)),
            (NAK_ACCESS, roce.READ_REQUEST, b"", dict(off=8190)),
            (NAK_ACCESS, roce.FETCH_ADD, b"", dict(off=8192)),
            (NAK_ACCESS, roce.WRITE_ONLY, bytes(8), dict(access=abi.KIWI_ACCESS_REMOTE_READ)),
            (NAK_ACCESS, roce.READ_REQUEST, b"", dict(access=abi.KIWI_ACCESS_LOCAL_WRITE)),
            (NAK_ACCESS, roce.FETCH_ADD, b"", dict(access=abi.KIWI_ACCESS_REMOTE_READ)),
            (NAK_ACCESS, roce.WRITE_ONLY, bytes(8), dict(alien=True)),
            (NAK_INVALID, roce.WRITE_ONLY, bytes(7), {}),
            (NAK_INVALID, roce.FETCH_ADD, b"", dict(off=4)),
        ]
        for syndrome, opcode, data, case in cases:
            p = self.peer()
            nic = p.end.nic
            mr = Mr(nic, nic.alloc_pd() if case.get("alien") else p.end.pd, 8192,
                    access=case.get("access", abi.KIWI_ACCESS_ALL))
            mr.hold()
            p.send(opcode, 1000, data, va=mr.iova + case.get("off", 0), rkey=mr.key, dma_len=8,
                   swap_add=1, compare=0)
            p.expect(roce.ACK, 1000, syndrome=syndrome)
            self.in_error(p.end)
            self.expect_met(p, 0, 0)
            self.assertTrue(mr.untouched())
            nic.events()

    def test_deregistered_while_held(self):
        p = self.peer(min_rnr=9)
        p.far.hold()
        self.write(p, 1000, b"data")
        self.put_off(p, 1000)
        p.far.dereg()
        self.write(p, 1000, b"data")
        p.expect(roce.ACK, 1000, syndrome=NAK_ACCESS)
        self.in_error(p.end)
        self.events(p.end.nic, (abi.KIWI_EV_QP_ACCESS, DENIED, p.end.number))
        p = self.put_off_send()
        p.far.dereg()
        p.send(roce.SEND_ONLY, 1000, b"message", ack_req=1)
        p.expect(roce.ACK, 1000, syndrome=NAK_OPERATION)
        self.assertEqual(p.end.recv_cqe(PROT, p.recvs[0]).vendor_err, 1)
        p.end.recv_cqe(FLUSH, p.recvs[1])
        self.assertTrue(p.far.untouched())

    def test_no_receive_queue(self):
        """SQ_ONLY: what would take an entry is an invalid request, all else is served (Q-31)."""
        cases = [[(roce.SEND_ONLY, b"m", {})], [(roce.SEND_FIRST, bytes(1024), {})],
                 [(roce.SEND_ONLY_IMM, b"m", {"imm": b"1234"})],
                 [(roce.WRITE_ONLY_IMM, b"m", {"dma_len": 1, "imm": b"1234"})],
                 [(roce.WRITE_FIRST, b"\x11" * 1024, {"dma_len": 1025}),
                  (roce.WRITE_LAST_IMM, b"m", {"imm": b"1234"})]]
        for packets in cases:
            p = self.peer(flags=abi.KIWI_QP_SQ_ONLY)
            self.write(p, 1000, b"write")
            p.expect(roce.ACK, 1000, syndrome=ACK)
            p.send(roce.READ_REQUEST, 1001, va=p.far.iova, rkey=p.far.key, dma_len=5)
            p.expect(roce.READ_RESP_ONLY, 1001, payload=b"write")
            p.send(roce.FETCH_ADD, 1002, va=p.far.iova + 8, rkey=p.far.key, swap_add=1,
                   compare=0)
            p.expect(roce.ATOMIC_ACK, 1002)
            before = p.far.read()
            for n, (opcode, data, fields) in enumerate(packets):
                p.send(opcode, 1003 + n, data, **{"va": p.far.iova, "rkey": p.far.key, **fields})
            p.expect(roce.ACK, 1002 + len(packets), syndrome=NAK_INVALID)
            self.in_error(p.end)
            self.events(p.end.nic, (abi.KIWI_EV_QP_ACCESS, abi.KIWI_CQE_ST_REM_INV_REQ_ERR,
                                    p.end.number))
            self.assertTrue(p.end.idle())
            placed = packets[0][1] if len(packets) > 1 else b""
            self.assertEqual(p.far.read(), placed + before[len(placed):])


@tests("hold")
class Both(FabricCase):
    """Between two devices."""

    def test_waits_at_either_end(self):
        """Each kind of work, its region on hold here, there, and at both ends."""
        posts = {
            "write": lambda a, b: a.write(b.mr, a.sge(0, 3000), off=4096),
            "read": lambda a, b: a.read(b.mr, a.sge(4096, 3000)),
            "send": lambda a, b: (b.recv(b.sge(4096, 3000)), a.send(a.sge(0, 3000)))[1],
            "write_imm": lambda a, b: (b.recv(), a.write(b.mr, a.sge(0, 3000), off=4096,
                                                         imm=1))[1],
            "add": lambda a, b: a.fetch_add(b.mr, a.sge(4096, 8), 7),
            "swap": lambda a, b: a.cmp_swap(b.mr, a.sge(4096, 8), 0, 7),
        }
        for name, post in posts.items():
            for ends in ((0,), (1,), (0, 1), (1, 0)):
                with self.subTest(kind=name, ends=ends):
                    pair = a, b = self.f.pair(size=8192, timeout=14, retry=1)
                    a.mr.write(0, self.rng.randbytes(4096))
                    data = a.mr.read(0, 3000)
                    if name == "read":
                        b.mr.write(0, data)
                    for n in ends:
                        pair[n].mr.hold()
                    wr_id = post(a, b)
                    for n in ends:
                        time.sleep(0.15)
                        self.assertTrue(a.idle() and b.idle())
                        self.assertTrue(pair[n].mr.untouched())
                        pair[n].mr.resume()
                    a.send_cqe(wr_id=wr_id)
                    if name in ("send", "write_imm"):
                        self.assertEqual(b.recv_cqe().byte_len, 3000)
                    if name in ("add", "swap"):
                        self.assertEqual(b.mr.read(0, 8), struct.pack("<Q", 7))
                        self.assertEqual(a.mr.read(4096, 8), bytes(8))
                    else:
                        self.assertEqual((a if name == "read" else b).mr.read(4096, 3000), data)
                    for n in ends:
                        self.assertTrue(pair[n].mr.untouched())
                    a.destroy()
                    b.destroy()

    def test_peer_that_gives_up(self):
        """rnr_retry below 7: RNR_RETRY_EXC_ERR at the peer; this end is not harmed."""
        a, b = self.f.pair(rnr_retry=2)
        b.mr.hold()
        wr_id = a.write(b.mr, a.sge(0, 8))
        a.send_cqe(abi.KIWI_CQE_ST_RNR_RETRY_EXC_ERR, wr_id)
        self.assertEqual(b.state, abi.KIWI_QPS_RTS)
        self.assertTrue(b.mr.untouched())
        b.mr.resume()
        a.reset()
        b.reset()
        connect((a, b))
        a.write(b.mr, a.sge(0, 8))
        a.send_cqe()

    def test_qps_do_not_wait_for_each_other(self):
        """Work of other QPs, and other work of the same peer, goes on."""
        a, b = self.f.pair()
        c, d = self.f.pair()
        b.mr.hold()
        stuck = a.write(b.mr, a.sge(0, 8))
        c.write(d.mr, c.sge(0, 60000))
        c.send_cqe()
        b.write(a.mr, b.sge(0, 8, mr=Mr(b.nic, b.pd, 4096)))    # the other direction
        b.send_cqe()
        self.assertTrue(a.idle())
        b.mr.resume()
        a.send_cqe(wr_id=stuck)

    def test_resume_is_refused(self):
        """With a wrong list, or tables that cannot be read: the region stays on hold."""
        a, b = self.f.pair()
        nic, mr = b.nic, b.mr
        held = nic.diag(abi.KIWI_DIAG_MR_HELD)
        mr.hold()
        wr_id = a.write(b.mr, a.sge(0, 8))
        short = snicdev.pbl([mr.addr], mr.shift - 1)
        tables = snicdev.pbl([1 << 50], mr.shift, levels=1, table_shift=12)
        good = snicdev.pbl([mr.addr], mr.shift)
        for key, mem, status, field in (
                (mr.key, short, abi.KIWI_ST_BAD_PARAM, "pbl.count"),
                (mr.key, tables, abi.KIWI_ST_DMA_ERROR, "pbl.addr"),
                (mr.key ^ 1, good, abi.KIWI_ST_BAD_HANDLE, "key")):
            reply = nic.command(abi.KIWI_SNIC_OP_RESUME_MR, nic.resume_mr_in(key, mem, mr.size))
            self.assertEqual((reply.status, reply.err_field), (
                status, abi.offset("kiwi_snic_resume_mr_in", field)))
        reply = nic.command(abi.KIWI_SNIC_OP_HOLD_MR, snicdev.cmd_id(mr.key))
        self.assertEqual((reply.status, reply.err_field), (abi.KIWI_ST_BAD_STATE, 0))
        self.assertTrue(a.idle() and mr.untouched())
        self.assertEqual(nic.diag(abi.KIWI_DIAG_MR_HELD), held + 1)
        mr.resume()
        self.assertEqual(nic.diag(abi.KIWI_DIAG_MR_HELD), held)
        a.send_cqe(wr_id=wr_id)
        reply = nic.command(abi.KIWI_SNIC_OP_RESUME_MR, nic.resume_mr_in(mr.key, good, mr.size))
        self.assertEqual((reply.status, reply.err_field), (abi.KIWI_ST_BAD_STATE, 0))
        mr.hold()
        mr.dereg()
        self.assertEqual(nic.diag(abi.KIWI_DIAG_MR_HELD), held)

    def test_reset_while_held(self):
        """Everything is lost, nothing is left; the device starts anew."""
        with Fabric() as f:
            a, b = f.pair(timeout=10)
            for end in (a, b):
                end.mr.hold()
            for end, far in ((a, b), (b, a)):
                end.write(far.mr, end.sge(0, 8))
                end.read(far.mr, end.sge(0, 8))
            f.q.settle()
            for end in (a, b):
                nic = end.nic
                live = sum(nic.diag(k) for k in range(abi.KIWI_DIAG_LIVE_END + 1))
                lost = nic.diag(abi.KIWI_DIAG_LOST_AT_RESET)
                self.assertEqual(nic.diag(abi.KIWI_DIAG_MR_HELD), 1)
                nic.reset()
                self.assertEqual(nic.diag(abi.KIWI_DIAG_LOST_AT_RESET), lost + live)
                self.assertEqual(nic.diag(abi.KIWI_DIAG_MR_HELD), 0)
                nic.start()
                self.assertEqual(nic.command(abi.KIWI_SNIC_OP_RESUME_MR, nic.resume_mr_in(
                    end.mr.key, end.mr.addr, end.mr.size)).status, abi.KIWI_ST_BAD_HANDLE)
            f.q.settle(0.1)
            self.assertTrue(a.mr.untouched() and b.mr.untouched())


class Mover:
    """Holds regions at random moments, and lets them go on in other memory."""

    def __init__(self, q, rng, regions):
        self.rng, self.regions, self.held, self.moves = rng, regions, set(), 0
        self.busy, self.wait, self.ring = False, q.until, q.writeq
        q.until, q.writeq = self.until, self.writeq

    def until(self, condition, what, **more):
        return self.wait(lambda: self.step() or condition(), what, **more)

    def writeq(self, addr, value):
        self.ring(addr, value)
        self.step()

    def step(self):
        """Also called within a wait of its own commands, which it leaves alone."""
        if self.busy:
            return
        self.busy = True
        for mr in self.regions:
            if mr in self.held:
                if self.rng.random() < 0.5:
                    assert mr.untouched(), "written to while on hold"
                    mr.resume()
                    self.held.remove(mr)
                    self.moves += 1
            elif self.rng.random() < 0.3:
                mr.hold()
                self.held.add(mr)
        self.busy = False

    def stop(self):
        """All regions are live again."""
        self.busy = True
        for mr in self.held:
            assert mr.untouched(), "written to while on hold"
            mr.resume()


@tests("hold-loss", timeout=480)
class UnderLoss(Loss):
    """Regions of both ends move all the time, on a wire that loses and reorders: all is done
    once, in order, and the data are right."""

    SEEDS = ((21, 0, 0), (22, 100, 0), (23, 0, 300), (24, 300, 300))

    def run_moving(self, seed, drop, reorder):
        with Fabric(f"seed={seed}", memory="2G") as f:
            # Moving the bytes takes its time, in which the devices stand still.
            a, b = f.pair(psn=(PSN - 60, PSN - 5), timeout=14, size=1 << 19, cq_log2=10)
            mover = Mover(f.q, random.Random(seed), (a.mr, b.mr))
            f.faults(drop=drop, reorder=reorder)
            self.done = 0
            self.mixed(f, a, b, count=24)
            mover.stop()
            self.assertGreater(mover.moves, 10)
            for nic in f.nics:
                self.assertEqual(nic.diag(abi.KIWI_DIAG_MR_HELD), 0)
            return sum(nic.diag(index) for nic in f.nics for index in (
                abi.KIWI_DIAG_HELD_WQE, abi.KIWI_DIAG_HELD_REQUEST))

    def test_mixed_operations(self):
        met = 0
        for seed, drop, reorder in self.SEEDS:
            with self.subTest(seed=seed, drop=drop, reorder=reorder):
                met += self.run_moving(seed, drop, reorder)
        self.assertGreater(met, 20)

    test_long_messages = test_many_qps = test_same_seed_same_losses = None
