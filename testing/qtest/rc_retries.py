# SPDX-License-Identifier: GPL-2.0
"""RC transport: no receive entry, no answer, loss and disorder."""

import random
import struct
import time

from rc import Fabric, abi, connect, snicdev
from rc_case import CHANCES, FLUSH, FabricCase, PSN, tests


@tests("retries")
class Retries(FabricCase):
    """No receive entry, no answer, loss and disorder."""

    def setUp(self):
        self.f.faults()
        super().setUp()

    def tearDown(self):
        self.f.faults()

    def test_rnr_is_waited_out(self):
        for with_imm in (False, True):
            a, b = self.f.pair()
            a.mr.write(0, b"patience")
            before = [nic.port_counters() for nic in self.f.nics]
            if with_imm:
                wr_id = a.write(b.mr, a.sge(0, 8), imm=1)
            else:
                wr_id = a.send(a.sge(0, 8))
            time.sleep(0.05)
            self.assertTrue(a.idle())
            recv = b.recv(b.sge(0, 8))
            a.send_cqe(wr_id=wr_id)
            b.recv_cqe(wr_id=recv)
            self.assertEqual(b.mr.read(0, 8), b"patience")
            after = [nic.port_counters() for nic in self.f.nics]
            self.assertGreater(after[0].rnr_nak_rcvd, before[0].rnr_nak_rcvd + 1)
            self.assertEqual(after[1].rnr_nak_sent - before[1].rnr_nak_sent,
                             after[0].rnr_nak_rcvd - before[0].rnr_nak_rcvd)

    def test_rnr_retries_run_out(self):
        for retries in (0, 1, 6):
            a, b = self.f.pair(rnr_retry=retries)
            before = self.f.nics[0].port_counters()
            done = a.write(b.mr, a.sge(0, 8), ring=False)
            wr_id = a.send(a.sge(0, 8), ring=False)
            after = a.write(b.mr, a.sge(0, 8), ring=False)
            a.ring_sq()
            a.send_cqe(wr_id=done)
            cqe = a.send_cqe(abi.KIWI_CQE_ST_RNR_RETRY_EXC_ERR, wr_id)
            self.assertEqual(cqe.vendor_err, 6)
            a.send_cqe(FLUSH, after)
            counters = self.f.nics[0].port_counters()
            self.assertEqual(counters.rnr_nak_rcvd - before.rnr_nak_rcvd, retries + 1)
            self.assertEqual(counters.rnr_nak_retry_err - before.rnr_nak_retry_err, 1)
            self.assertEqual(b.state, abi.KIWI_QPS_RTS)

    def test_rnr_waits_at_least_as_long_as_told(self):
        for code, milliseconds in ((14, 1.28), (19, 5.12), (25, 61.44), (0, 655.36)):
            a, b = self.f.pair(min_rnr=code, rnr_retry=1)
            start = time.monotonic()
            a.send()
            a.send_cqe(abi.KIWI_CQE_ST_RNR_RETRY_EXC_ERR)
            self.assertGreaterEqual(time.monotonic() - start, milliseconds / 1000)

    def test_no_answer(self):
        for drop_at in (0, 1):
            for retries in (0, 3):
                a, b = self.f.pair(timeout=8, retry=retries)
                self.f.nics[drop_at].faults(drop=CHANCES)
                before = self.f.nics[0].port_counters()
                wr_id = a.write(b.mr, a.sge(0, 3000), ring=False)
                late = a.write(b.mr, a.sge(0, 8), ring=False)
                a.ring_sq()
                cqe = a.send_cqe(abi.KIWI_CQE_ST_RETRY_EXC_ERR, wr_id)
                self.assertEqual(cqe.vendor_err, 7)
                a.send_cqe(FLUSH, late)
                counters = self.f.nics[0].port_counters()
                self.assertEqual(counters.local_ack_timeout_err - before.local_ack_timeout_err,
                                 retries + 1)
                self.assertEqual(counters.retry_exceeded_err - before.retry_exceeded_err, 1)
                self.assertEqual(counters.retransmitted - before.retransmitted, 4 * retries)
                self.assertEqual(b.state, abi.KIWI_QPS_RTS)
                self.f.nics[drop_at].faults()

    def test_timer_off(self):
        a, b = self.f.pair(timeout=0)
        self.f.nics[0].faults(drop=CHANCES)
        a.write(b.mr, a.sge(0, 8))
        time.sleep(0.3)
        self.assertTrue(a.idle())
        self.assertEqual(a.state, abi.KIWI_QPS_RTS)
        a.destroy()

    def test_disabled_port(self):
        a, b = self.f.pair(timeout=8, retry=1)

        def enable(on):
            b.nic.ok(abi.KIWI_SNIC_OP_SET_PORT, snicdev.fields(
                "kiwi_snic_set_port_in", port=1, enabled=on, mtu=abi.KIWI_MTU_4096))
        enable(0)
        a.write(b.mr, a.sge(0, 8))
        a.send_cqe(abi.KIWI_CQE_ST_RETRY_EXC_ERR)
        enable(1)
        a.reset()
        b.reset()
        connect((a, b))
        a.write(b.mr, a.sge(0, 8))
        a.send_cqe()

    def test_the_answer_comes_after_a_while(self):
        """A WRITE that got no answer is repeated, and done when the wire is whole again."""
        a, b = self.f.pair(timeout=12, retry=7)
        self.f.nics[0].faults(drop=CHANCES)
        a.mr.write(0, b"at last!")
        a.write(b.mr, a.sge(0, 8))
        time.sleep(0.03)
        self.f.nics[0].faults()
        a.send_cqe()
        self.assertEqual(b.mr.read(0, 8), b"at last!")


@tests("loss")
class Loss(FabricCase):
    """A wire that loses and reorders: all is done once, in order, and the data are right."""

    SEEDS = ((1, 100, 0), (2, 0, 100), (3, 100, 100), (4, 500, 500), (5, 1500, 0),
             (6, 0, 3000))

    @classmethod
    def setUpClass(cls):
        cls.rng = random.Random(11)

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        pass

    def mixed(self, f, a, b, count=120):
        """Operations of all kinds; the far end checks what each left behind."""
        area = 20000            # of each operation in flight
        model_add = 0
        b.mr.write(0, bytes(64))
        expect_b, expect_a, recvs = {}, {}, []
        for n in range(count):
            kind = self.rng.choice(("write", "read", "send", "add", "write_imm", "swap"))
            size = self.rng.choice((0, 1, 100, 1024, 1025, 5000, area))
            slot = 64 + n * area
            data = self.rng.randbytes(size)
            if kind in ("write", "write_imm", "send"):
                a.mr.write(slot, data)
                expect_b[slot] = data
            if kind in ("send", "write_imm"):
                recvs.append((b.recv(b.sge(slot, size)), size))
            if kind == "write":
                a.write(b.mr, a.sge(slot, size), off=slot)
            elif kind == "write_imm":
                a.write(b.mr, a.sge(slot, size), off=slot, imm=n)
            elif kind == "send":
                a.send(a.sge(slot, size))
            elif kind == "read":
                b.mr.write(slot, data)
                a.read(b.mr, a.sge(slot, size), off=slot)
                expect_a[slot] = data
            elif kind == "add":
                a.fetch_add(b.mr, a.sge(slot, 8), n, off=0)
                expect_a[slot] = struct.pack("<Q", model_add)
                model_add += n
            else:
                a.cmp_swap(b.mr, a.sge(slot, 8), model_add, model_add + 1, off=0)
                expect_a[slot] = struct.pack("<Q", model_add)
                model_add += 1
            if n % 8 == 7:
                for wr_id in range(self.done + 1, self.done + 9):
                    a.send_cqe(wr_id=wr_id)
                self.done += 8
        for wr_id, size in recvs:
            self.assertEqual(b.recv_cqe(wr_id=wr_id).byte_len, size)
        self.assertEqual(b.mr.read(0, 8), struct.pack("<Q", model_add))
        for mr, expect in ((a.mr, expect_a), (b.mr, expect_b)):
            for slot, data in expect.items():
                self.assertEqual(mr.read(slot, len(data)), data)

    def test_mixed_operations(self):
        for seed, drop, reorder in self.SEEDS:
            with self.subTest(seed=seed, drop=drop, reorder=reorder), \
                    Fabric(f"seed={seed}") as f:
                a, b = f.pair(psn=(PSN - 60, PSN - 5), timeout=10, size=1 << 22, cq_log2=10)
                f.faults(drop=drop, reorder=reorder)
                self.done = 0
                self.mixed(f, a, b)
                counters = f.nics[0].port_counters()
                self.assertGreater(counters.retransmitted, 0)
                if drop:
                    self.assertGreater(f.q.qom_get("snic0", "dropped0"), 0)
                if reorder:
                    self.assertGreater(f.q.qom_get("snic0", "reordered0"), 0)

    def test_long_messages(self):
        """Many windows, so that losses meet READ responses and the middle of messages."""
        size = 1 << 20
        for seed, drop, reorder in ((7, 100, 0), (8, 100, 100), (9, 300, 0)):
            with self.subTest(seed=seed, drop=drop, reorder=reorder), \
                    Fabric(f"seed={seed}") as f:
                a, b = f.pair(timeout=10, size=2 * size)
                f.faults(drop=drop, reorder=reorder)
                data = self.rng.randbytes(size)
                a.mr.write(0, data)
                b.recv(b.sge(size, size))
                a.write(b.mr, a.sge(0, size))
                a.send(a.sge(0, size))
                a.send_cqe()
                a.send_cqe()
                b.recv_cqe()
                self.assertEqual(b.mr.read(), data * 2)
                a.read(b.mr, a.sge(size, size))
                a.send_cqe()
                self.assertEqual(a.mr.read(size, size), data)

    def test_many_qps(self):
        """Each QP recovers on its own."""
        with Fabric("seed=10") as f:
            pairs = [f.pair(timeout=10) for _ in range(8)]
            f.faults(drop=300, reorder=300)
            for a, b in pairs:
                b.mr.write(0, bytes(8))
                for _ in range(30):
                    a.fetch_add(b.mr, a.sge(0, 8), 1, ring=False)
                a.ring_sq()
            for a, b in pairs:
                for wr_id in range(1, 31):
                    a.send_cqe(wr_id=wr_id)
                self.assertEqual(b.mr.read(0, 8), struct.pack("<Q", 30))
                self.assertEqual(a.mr.read(0, 8), struct.pack("<Q", 29))

    def test_same_seed_same_losses(self):
        found = []
        for _ in range(2):
            with Fabric("seed=12") as f:
                a, b = f.pair(timeout=0)        # no timer: nothing depends on time
                f.nics[0].faults(drop=2000)
                for _ in range(20):
                    a.write(b.mr, a.sge(0, 0), ring=False)
                a.ring_sq()
                f.q.settle(0.1)
                found.append((f.q.qom_get("snic0", "dropped0"),
                              f.nics[1].port_counters().out_of_sequence))
        self.assertEqual(found[0], found[1])
        self.assertGreater(found[0][0], 0)
