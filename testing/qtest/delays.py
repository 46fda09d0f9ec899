# SPDX-License-Identifier: GPL-2.0
"""Time that things take, by the properties of the models: exact, on a clock that devices alone
move: it counts instructions, and there are none.
"""

import struct
import unittest

import abi
import snicdev
from rc import SLOT, Endpoint, Fabric, connect
from rc_case import tests
from xpu_case import DONE, cmd
from xpu_snic import SIZE, Gpu

DOORBELL, READ, NIC, PACKET, WRITE, WIRE, BUS = 100000, 8000, 700, 50, 300, 1500, 600
POLL = 10                   # ns between two looks of a kernel, and so the error of its time
# A small frame, from the sender's memory to the receiver's.
FRAME = NIC + PACKET + WIRE + NIC + WRITE
PUT, WAIT, QUIET = abi.XPU_OP_PUT, abi.XPU_OP_WAIT, abi.XPU_OP_QUIET
INLINE = abi.XPU_CMD_INLINE


@tests("delays", "model")
class Delays(unittest.TestCase):
    """A kernel and the CPU of one host, which write to that host through two SNICs."""

    @classmethod
    def setUpClass(cls):
        cls.f = Fabric(
            f"doorbell-ns={DOORBELL},read-ns={READ},nic-ns={NIC},packet-ns={PACKET},"
            f"write-ns={WRITE},wire-ns={WIRE}", arguments=("-icount", "shift=0,sleep=off"),
            more=[f"xpu,id=xpu0,addr={SLOT + 2},command-ns=0,wqe-ns=0,mem-ns=0,fence-ns=0,"
                  f"bus-ns={BUS},poll-ns={POLL},poll-max-ns={POLL}"])
        cls.q, cls.gpu = cls.f.q, Gpu(cls.f, 0)

    @classmethod
    def tearDownClass(cls):
        cls.f.close()

    def pair(self):
        """Two endpoints in VRAM, the queue of the first, and a put from it to the second."""
        ends = [Endpoint(nic, size=SIZE, alloc=self.gpu.alloc) for nic in self.f.nics]
        connect(ends, mtu=4096)
        a, b = ends
        n = self.gpu.adopt(a)
        return a, b, dict(queue=n, laddr=a.mr.iova, lkey=a.mr.key, raddr=b.mr.iova,
                          rkey=b.mr.key)

    def took(self, expected, *commands, mr=None):
        """Runs a kernel and checks its time."""
        self.assertEqual(self.gpu.run(list(commands),
                                      buffers=[self.gpu.whole(mr)] if mr else ()), DONE)
        self.assertGreaterEqual(self.gpu.time(), expected)
        self.assertLessEqual(self.gpu.time(), expected + 3 * POLL)

    def test_put(self):
        """The entry is read, then the payload unless it stands in the entry."""
        a, b, place = self.pair()
        inline = BUS + READ + FRAME
        self.took(inline, cmd(PUT, flags=INLINE, value=5, **{**place, "laddr": 0, "lkey": 0},
                              length=8), cmd(WAIT, value=5), mr=b.mr)
        a.mr.write(0, struct.pack("<Q", 6))
        self.took(inline + READ, cmd(PUT, **place, length=8), cmd(WAIT, value=6), mr=b.mr)
        self.took(inline + READ + FRAME, cmd(PUT, **place, length=8),
                  cmd(QUIET, queue=place["queue"]))

    def test_get(self):
        """The far side reads, too; an atomic likewise."""
        _, _, place = self.pair()
        there_and_back = BUS + READ + FRAME + READ + FRAME
        for op, size in ((abi.XPU_OP_GET, 8), (abi.XPU_OP_FETCH_ADD, 0)):
            self.took(there_and_back, cmd(op, **place, length=size),
                      cmd(QUIET, queue=place["queue"]))

    def test_rate(self):
        """Of many requests behind one doorbell only the first is waited for."""
        _, b, place = self.pair()
        count = 200
        start = BUS + READ + FRAME + (count - 1) * PACKET
        self.assertEqual(self.gpu.run([
            cmd(abi.XPU_OP_REPEAT, count=count),
            cmd(PUT, flags=INLINE | abi.XPU_CMD_MORE, value=1, step=1, length=8,
                **{**place, "laddr": 0, "lkey": 0}),
            cmd(abi.XPU_OP_END), cmd(abi.XPU_OP_FENCE, queue=place["queue"]),
            cmd(QUIET, queue=place["queue"]), cmd(WAIT, value=count)],
            buffers=[self.gpu.whole(b.mr)]), DONE)
        self.assertGreaterEqual(self.gpu.time(), start + FRAME)
        self.assertLessEqual(self.gpu.time(), (start + FRAME) * 5 // 4 + 2 * READ)

    def test_order(self):
        """A signal without a payload to read does not overtake data that are read first."""
        a, b, place = self.pair()
        data = bytes(range(1, 251)) * 100
        a.mr.write(64, data)
        place.update(laddr=a.mr.iova + 64, raddr=b.mr.iova + 64)
        self.assertEqual(self.gpu.run([
            cmd(abi.XPU_OP_PUT_SIGNAL, length=len(data), value=1, sig_raddr=b.mr.iova,
                sig_rkey=b.mr.key, **place), cmd(WAIT, value=1)],
            buffers=[self.gpu.whole(b.mr)]), DONE)
        self.assertEqual(b.mr.read(64, len(data)), data)
        self.assertGreater(self.gpu.time(), BUS + 2 * READ + FRAME)

    def cpu(self, push):
        """The time from a doorbell by the CPU to the word that it writes."""
        a, b, _ = self.pair()
        a.mr.write(0, struct.pack("<Q", 7))
        self.q.qmp("stop")
        a.write(b.mr, a.sge(0, 8))
        if push:
            a.nic.status()
        self.gpu.begin([cmd(WAIT, value=7)], buffers=[self.gpu.whole(b.mr)])
        self.q.qmp("cont")
        self.assertEqual(self.gpu.ended(), DONE)
        return self.gpu.time()

    def test_cpu(self):
        """A store of the CPU takes its way, unless an access behind it pushes it."""
        for push, way in ((False, DOORBELL), (True, 0)):
            self.assertIn(self.cpu(push) - way - 2 * READ - FRAME, range(3 * POLL), push)

    def test_cpu_order(self):
        """A command behind a doorbell finds that it has come."""
        nic = self.f.nics[0]
        before = nic.diag(abi.KIWI_DIAG_DB_ACCEPTED)
        a, b, _ = self.pair()
        self.q.qmp("stop")
        a.write(b.mr, a.sge(0, 8))
        nic.post(nic.entry(abi.KIWI_SNIC_OP_DESTROY_QP, snicdev.cmd_id(a.number)))
        self.q.qmp("cont")
        self.assertEqual(nic.take().status, abi.KIWI_ST_OK)
        self.assertEqual(nic.diag(abi.KIWI_DIAG_DB_ACCEPTED), before + 1)
        self.assertEqual(nic.diag(abi.KIWI_DIAG_DB_NO_QUEUE), 0)
