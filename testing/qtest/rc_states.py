# SPDX-License-Identifier: GPL-2.0
"""RC transport: what the states of a QP let pass."""

from rc import Endpoint, Peer, abi, connect, roce
from rc_case import ACK, FLUSH, FabricCase, PSN, tests


@tests("states")
class States(FabricCase):
    """What the states of a QP let pass."""

    WIRE = True

    def test_established(self):
        nic_a, nic_b = self.f.nics
        a, b = Endpoint(nic_a), Endpoint(nic_b)
        for end in (a, b):
            end.init()
        a.rtr(nic_b.mac(1), nic_b.gid("ipv4"), b.number)
        b.rtr(nic_a.mac(1), nic_a.gid("ipv4"), a.number)
        a.rts()
        for _ in range(3):
            a.write(b.mr, a.sge(0, 8))
            a.send_cqe()
        self.events(nic_b, (abi.KIWI_EV_QP_ESTABLISHED, 0, b.number))
        b.rts()
        b.write(a.mr, b.sge(0, 8))
        b.send_cqe()
        self.events(nic_a)

    def test_work_handed_over_early_waits(self):
        nic_a, nic_b = self.f.nics
        a, b = Endpoint(nic_a), Endpoint(nic_b)
        a.init()
        b.init()
        a.send_inline(b"early")
        recv = b.recv(b.sge(0, 5))
        a.rtr(nic_b.mac(1), nic_b.gid("ipv4"), b.number)
        b.rtr(nic_a.mac(1), nic_a.gid("ipv4"), a.number)
        self.assertTrue(a.idle() and b.idle())
        a.rts()
        a.send_cqe()
        b.recv_cqe(wr_id=recv)
        self.assertEqual(b.mr.read(0, 5), b"early")

    def test_drain(self):
        a, b = self.f.pair(size=1 << 20)
        begun = a.write(b.mr, a.sge(0, 1 << 20))
        a.modify(abi.KIWI_QPS_SQD)
        self.events(a.nic, (abi.KIWI_EV_QP_DRAINED, 0, a.number))
        if a.send_cq.ready():
            a.send_cqe(wr_id=begun)
            begun = None
        waits = a.write(b.mr, a.sge(0, 8))
        self.assertTrue(a.idle())
        b.write(a.mr, b.sge(0, 8))          # the responder goes on
        b.send_cqe()
        self.events(a.nic)
        a.modify(abi.KIWI_QPS_RTS)
        if begun:
            a.send_cqe(wr_id=begun)
        a.send_cqe(wr_id=waits)
        a.modify(abi.KIWI_QPS_SQD)
        self.events(a.nic, (abi.KIWI_EV_QP_DRAINED, 0, a.number))

    def test_drain_waits_for_answers(self):
        p = Peer(self.f)
        wr_id = p.end.send_inline(b"x")
        p.expect(roce.SEND_ONLY, 2000)
        p.end.send_inline(b"y", ring=False)
        p.end.modify(abi.KIWI_QPS_SQD)
        p.end.ring_sq()
        self.events(p.end.nic)
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        p.end.send_cqe(wr_id=wr_id)
        self.events(p.end.nic, (abi.KIWI_EV_QP_DRAINED, 0, p.end.number))
        p.silence()
        p.end.modify(abi.KIWI_QPS_SQD, timeout=5, retry_cnt=1)
        p.end.modify(abi.KIWI_QPS_RTS)
        p.expect(roce.SEND_ONLY, 2001, payload=b"y")

    def test_new_address_while_drained(self):
        p = Peer(self.f)
        p.end.modify(abi.KIWI_QPS_SQD)
        self.events(p.end.nic, (abi.KIWI_EV_QP_DRAINED, 0, p.end.number))
        p.end.modify(abi.KIWI_QPS_SQD, dmac=Peer.MAC, dgid=p.gid, sgid_index=0, hop_limit=9,
                     traffic_class=0x81, udp_sport=0xc123)
        p.end.modify(abi.KIWI_QPS_RTS)
        p.end.send_inline(b"")
        p.expect(roce.SEND_ONLY, 2000, hop_limit=9, traffic_class=0x82, sport=0xc123)

    def test_reset_drops_all_silently(self):
        p = Peer(self.f)
        for _ in range(3):
            p.end.send_inline(b"x")
            p.end.recv(p.end.sge(0, 8))
        p.end.reset()
        self.assertTrue(p.end.idle())
        self.assertEqual(p.end.state, abi.KIWI_QPS_RESET)
        while p.receive(0.05):
            pass
        p.connect((60, 70))
        p.end.send_inline(b"anew")
        p.expect(roce.SEND_ONLY, 70, payload=b"anew")
        p.send(roce.ACK, 70, syndrome=ACK, msn=1)
        self.assertEqual(p.end.send_cqe().sq_index, 1)
        p.end.recv(p.end.sge(0, 8))
        p.send(roce.SEND_ONLY, 60, b"hi", ack_req=1)
        p.expect(roce.ACK, 60, syndrome=ACK, msn=1)
        self.assertEqual(p.end.recv_cqe().sq_index, 1)

    def test_error_flushes_in_order(self):
        p = Peer(self.f)
        sends = [p.end.send_inline(b"x", flags=0) for _ in range(200)]
        recvs = [p.end.recv() for _ in range(5)]
        p.expect(roce.SEND_ONLY, 2000)
        p.end.modify(abi.KIWI_QPS_ERR)
        for wr_id in sends:
            p.end.send_cqe(FLUSH, wr_id)
        for wr_id in recvs:
            p.end.recv_cqe(FLUSH, wr_id)
        self.assertTrue(p.end.idle())
        while p.receive(0.05):
            pass
        p.send(roce.SEND_ONLY, 1000, b"hi", ack_req=1)
        p.send(roce.ACK, 2000, syndrome=ACK, msn=1)
        p.silence()
        self.assertTrue(p.end.idle())

    def test_error_from_reset(self):
        end = Endpoint(self.f.nics[0])
        end.modify(abi.KIWI_QPS_ERR)
        end.send_cqe(FLUSH, end.send_inline(b""))
        end.recv_cqe(FLUSH, end.recv())

    def test_destroy_with_work_in_flight(self):
        for n in range(20):
            a, b = self.f.pair(size=1 << 20)
            for _ in range(4):
                a.write(b.mr, a.sge(0, 1 << 20), ring=False)
                a.read(b.mr, a.sge(0, 1 << 20), ring=False)
            b.recv(b.sge(0, 8))
            a.ring_sq()
            victim = (a, b)[n % 2]
            victim.destroy()
            before = victim.send_cq.ready(), victim.recv_cq.ready()
            ci = victim.send_cq.ci
            self.q.settle()
            self.assertEqual((victim.send_cq.ready(), victim.recv_cq.ready()), before)
            self.assertEqual(victim.send_cq.ci, ci)
            (b, a)[n % 2].destroy()
        self.assertEqual([nic.events() for nic in self.f.nics], [[], []])

    def test_query_tells_psns(self):
        a, b = self.f.pair(psn=(PSN - 1, 77))
        self.assertEqual((a.query().sq_psn, a.query().rq_psn), (PSN - 1, 77))
        a.write(b.mr, a.sge(0, 3000))
        a.send_cqe()
        self.assertEqual((a.query().sq_psn, b.query().rq_psn), (2, 2))
