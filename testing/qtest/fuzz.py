# SPDX-License-Identifier: GPL-2.0
"""Random commands, registers, doorbells and work, from a fixed seed: nothing dies of it.

KIWI_FUZZ_SEED and KIWI_FUZZ_ROUNDS choose another run.
"""

import ctypes
import os
import random

import abi
from admin import COMMANDS, Bench, size
from scenario import hosttest
from snicdev import fields, machine, pair, raddr, sge, to_rts, unpack, wqe, Node

SEED = int(os.environ.get("KIWI_FUZZ_SEED", "1"))
ROUNDS = int(os.environ.get("KIWI_FUZZ_ROUNDS", "1500"))
INTERESTING = [0, 1, 2, 3, 7, 8, 12, 13, 63, 64, 4095, 4096, 4097, 1 << 15, 1 << 16, 1 << 24,
               (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 50, (1 << 63), (1 << 64) - 1]


FLAGS = (abi.KIWI_QP_SQ_ONLY, abi.KIWI_QP_DB_RECORD,
         abi.KIWI_QP_SQ_ONLY | abi.KIWI_QP_DB_RECORD)


def leaves(name, at=0):
    """(offset, length) of every field of a structure."""
    for field, kind in abi.struct(name)._fields_:
        offset = at + getattr(abi.struct(name), field).offset
        if hasattr(kind, "_fields_"):
            yield from leaves(kind.__name__, offset)
        elif hasattr(kind, "_length_"):
            step = ctypes.sizeof(kind._type_)
            for n in range(kind._length_):
                yield offset + n * step, step
        else:
            yield offset, ctypes.sizeof(kind)


def mutate(chance, data, name):
    """The structure with some of its fields changed."""
    data = bytearray(data)
    for at, length in chance.choices(list(leaves(name)), k=chance.choice((0, 1, 1, 1, 2, 4))):
        old = int.from_bytes(data[at:at + length], "little")
        new = chance.choice([chance.choice(INTERESTING), chance.getrandbits(64), old + 1, old - 1,
                             old ^ 1 << chance.randrange(8 * length)])
        data[at:at + length] = (new & (1 << 8 * length) - 1).to_bytes(length, "little")
    return bytes(data)


def alive(dev):
    """The device answers; if it went FATAL, which a host can bring about, it is reset."""
    if dev.status() & abi.KIWI_DEV_STS_FATAL:
        dev.reset(abi.KIWI_RESET_FATAL)
        return False
    return bool(dev.caps().ports)


@hosttest("model.fuzz.commands", covers=[33, 34, 37], timeout=600)
def commands(log):
    """Commands whose fields are changed at random."""
    chance = random.Random(SEED)
    with machine("max-mr=64,max-qp=64,max-cq=64,max-pd=64,max-mr-pages=65536", log=log) as q:
        bench = Bench(q)
        dev = bench.dev
        statuses = set()
        for n in range(ROUNDS):
            opcode = chance.choice(list(COMMANDS))
            if opcode in (abi.KIWI_SNIC_OP_DESTROY_QP, abi.KIWI_SNIC_OP_DESTROY_CQ,
                          abi.KIWI_SNIC_OP_DEALLOC_PD) and chance.random() < 0.7:
                continue
            in_name, out_name = COMMANDS[opcode]
            data = bench.good(opcode)
            if in_name:
                data = mutate(chance, data, in_name)
            entry = dev.entry(opcode, data, size(out_name))
            if chance.random() < 0.1:
                entry = mutate(chance, entry, "kiwi_aq_entry")
                entry = entry[:16] + bytes(dev.payload_out.to_bytes(8, "little")) + entry[24:]
            sent = unpack("kiwi_aq_entry", entry)
            dev.post(entry)
            done = dev.take()
            assert (done.cmd_id, done.opcode) == (sent.cmd_id, sent.opcode)
            assert done.status < abi.KIWI_ST_COUNT and done.status != abi.KIWI_ST_INTERNAL
            statuses.add(done.status)
            if n % 200 == 199:
                live = sum(dev.diag(k) for k in range(abi.KIWI_DIAG_LIVE_END + 1))
                lost = dev.diag(abi.KIWI_DIAG_LOST_AT_RESET)
                dev.reset()
                assert dev.diag(abi.KIWI_DIAG_LOST_AT_RESET) == lost + live
                bench = Bench(q)
                dev = bench.dev
        assert len(statuses) >= 9, statuses


@hosttest("model.fuzz.registers", timeout=600)
def registers(log):
    """Writes of every width at random places of both BARs."""
    chance = random.Random(SEED)
    with machine(log=log) as q:
        bench = Bench(q)
        dev = bench.dev
        known = [abi.KIWI_REG_DEV_CTL, abi.KIWI_REG_AQ_BASE, abi.KIWI_REG_ACQ_BASE,
                 abi.KIWI_REG_AQ_CFG, abi.KIWI_REG_AQ_PI, abi.KIWI_REG_ACQ_CI,
                 abi.KIWI_REG_EQ_DB(0), abi.KIWI_REG_EQ_DB(5)]
        for n in range(ROUNDS):
            where = chance.choice((dev.regs + chance.choice(known) + chance.choice((0, 0, 0, 4)),
                                   dev.regs + chance.randrange(0x10000),
                                   dev.doorbells + chance.randrange(1 << 16)))
            value = chance.choice((chance.choice(INTERESTING), chance.getrandbits(64)))
            width = chance.choice((1, 2, 4, 8))
            write = {1: q.writeb, 2: q.writew, 4: q.writel, 8: q.writeq}[width]
            write(where, value & (1 << 8 * width) - 1)
            {1: q.readb, 2: q.readw, 4: q.readl, 8: q.readq}[width](where)
            if n % 100 == 99:
                dev.reset()
                bench = Bench(q)
        assert alive(bench.dev)


@hosttest("model.fuzz.work", covers=[38, 39], timeout=600)
def work(log):
    """WQEs, RQEs and doorbells of nonsense between two devices."""
    chance = random.Random(SEED)
    with pair("max-qp=64", log=log) as q:
        a, b = Node(q, 0, 6), Node(q, 1, 6)
        mem = q.alloc(1 << 16)
        lkey, rkey = a.dev.reg_mr(a.pd, mem, 1 << 16), b.dev.reg_mr(b.pd, mem, 1 << 16)
        blkey = b.dev.reg_mr(b.pd, mem, 1 << 16)
        statuses = set()
        for _ in range(ROUNDS // 10):
            qa, qb = (node.qp(flags=chance.choice((0, 0, *FLAGS))) for node in (a, b))
            quick = dict(timeout=6, retry_cnt=1, rnr_retry=1, mtu=chance.randrange(1, 6))
            to_rts(qa, a, b, qb.number, **quick)
            to_rts(qb, b, a, qa.number, **quick)
            for _ in range(chance.randrange(4)):
                qb.put_rqe(1, *[(chance.randrange(1 << 16), chance.choice((blkey, blkey, 5)),
                                 chance.choice((64, 4096, 1 << 20))) for _ in range(3)])
            qb.ring_rq()
            for _ in range(chance.randrange(1, 6)):
                opcode = chance.randrange(8)
                length = chance.choice((0, 1, 8, 8, 100, 5000, 20000))
                segments = [raddr(chance.choice((0, 8, 13, 60000)), rkey)] if opcode > 2 else []
                if opcode > 5:
                    segments.append(fields("kiwi_wqe_atomic", swap_add=1))
                segments.append(sge(chance.randrange(1 << 15), lkey, length))
                entry = wqe(opcode, *segments, flags=chance.choice((0, 1, 1, 3, 5, 9)))
                if chance.random() < 0.4:
                    entry = mutate(chance, entry[:16], "kiwi_wqe_ctrl") + entry[16:]
                if chance.random() < 0.2:
                    entry = entry[:16] + mutate(chance, entry[16:32].ljust(16, b"\0"),
                                                "kiwi_sge") + entry[32:]
                qa.put_wqe(entry)
            qa.ring_sq(chance.choice((qa.sq_pi, qa.sq_pi, qa.sq_pi, chance.getrandbits(16))))
            held = chance.choice(((), (), ((a, lkey),), ((b, rkey),), ((a, lkey), (b, blkey))))
            for node, key in held:
                node.dev.hold_mr(key)
            q.settle(0.003)
            for node, key in held:
                node.dev.resume_mr(key, mem, 1 << 16)
            if held:
                q.settle(0.003)
            for node in (a, b):
                while node.cq.ready():
                    statuses.add(node.cq.take().status)
                node.cq.publish()
                node.events.tell()
            qa.destroy()
            qb.destroy()
            assert alive(a.dev) and alive(b.dev)
        assert len(statuses) >= 5, statuses
