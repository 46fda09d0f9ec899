# SPDX-License-Identifier: GPL-2.0
"""The faults that the models can be told to have (qemu/kiwi-fault.h)."""

import json
import time

import abi
from qtest import QtestError
from scenario import hosttest
from snicdev import STATUS, Snic, machine


def alloc_pd(dev):
    return dev.entry(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8)


@hosttest("model.faults.commands", covers=[28, 29, 40])
def commands(log):
    """Refused, late, never, and with wrong bytes."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.start()

        def fault(text):
            q.qom_set("snic0", "fault", text)
            assert q.qom_get("snic0", "fault") == text
        fault("opcode=0x110,skip=1,count=2,status=12")
        got = [STATUS[dev.command(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8).status] for _ in range(5)]
        assert got == ["OK", "INTERNAL", "INTERNAL", "OK", "OK"]
        assert dev.diag(abi.KIWI_DIAG_LIVE_PD) == 3

        fault("opcode=0x110,reply=0:ffffffff;opcode=0x110,entry=4:0900")
        dev.post(alloc_pd(dev))
        assert bytes(dev.take().out)[:8] == b"\xff" * 4 + bytes(4)
        dev.post(alloc_pd(dev))
        assert dev.take().status == 9
        assert dev.command(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8).status == abi.KIWI_ST_OK

        fault("opcode=0x110,delay-ms=100")
        before = time.monotonic()
        slow = dev.pi
        dev.post(alloc_pd(dev))
        assert dev.caps().ports == 2        # overtakes
        assert time.monotonic() - before < 0.1
        done = dev.take()
        assert done.cmd_id == slow and time.monotonic() - before > 0.09

        fault("opcode=0x110,repeat=1")
        dev.post(alloc_pd(dev))
        assert bytes(dev.take()) == bytes(dev.take())
        assert not dev.completed()

        fault("count=0,drop=1")
        for _ in range(3):
            dev.post(alloc_pd(dev))
        q.settle()
        assert not dev.completed()
        fault("")
        assert dev.command(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8).status == abi.KIWI_ST_OK

        fault("opcode=0x110,delay-ms=20")
        dev.post(alloc_pd(dev))
        q.settle(0.002)
        dev.reset()
        dev.start()
        time.sleep(0.05)
        assert not dev.completed(), "a completion from before the reset"


def counts(q):
    return json.loads(q.qom_get("snic0", "fault-counts"))


@hosttest("model.faults.entries", covers=[40])
def entries(log):
    """Entries spoilt, repeated and written where they no longer belong, and counted."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.start()

        # The phase is written last, so it can be spoilt too.
        q.qom_set("snic0", "fault", "opcode=0x110,entry=63:00")
        dev.post(alloc_pd(dev))
        q.settle()
        assert not dev.completed()
        assert counts(q) == {"command_met": 1, "command_changed": 1}
        dev.reset()
        dev.start()

        # What makes no difference does not count; what is not consumed is not taken.
        q.qom_set("snic0", "fault", "opcode=0x110,count=2,entry=2:1001;opcode=0x110,entry=4:ffff")
        for _ in range(2):
            assert dev.command(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8).status == abi.KIWI_ST_OK
        dev.post(alloc_pd(dev))
        q.settle()
        assert counts(q) == {"command_met": 3, "command_changed": 1}
        assert dev.take().status == 0xffff
        dev.wr32(abi.KIWI_REG_ACQ_CI, dev.ci)
        assert counts(q)["command_taken"] == 1

        q.qom_set("snic0", "fault", "opcode=0x110,repeat=2")
        dev.post(alloc_pd(dev))
        assert len({dev.take().cmd_id for _ in range(3)}) == 1

        q.qom_set("snic0", "fault", "opcode=0x110,stray-ms=20")
        dev.command(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8)
        time.sleep(0.05)
        assert counts(q).get("command_landed") == 1, counts(q)
        q.qom_set("snic0", "fault", "opcode=0x110,stray-ms=20")
        dev.command(abi.KIWI_SNIC_OP_ALLOC_PD, b"", 8)
        dev.reset()
        time.sleep(0.05)
        assert counts(q).get("command_landed") == 1, "a reset does not end it"


@hosttest("model.faults.random", covers=[40])
def random(log):
    """The same draws from the same seed, others from another; about as many as were asked for."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.start()

        def replies(seed):
            q.qom_set("snic0", "fault-seed", seed)
            q.qom_set("snic0", "fault", "opcode=2,count=0,chance=4,reply=52:????????")
            return [dev.caps().link_mbps for _ in range(200)]
        first = replies(7)
        assert 25 <= counts(q)["command_met"] <= 75, counts(q)
        assert replies(7) == first
        assert replies(8) != first


@hosttest("model.faults.registers", covers=[33])
def registers(log):
    """Registers that say something else."""
    with machine(log=log) as q:
        dev = Snic(q)
        q.qom_set("snic0", "fault", "reg=0,value=0xffffffff;reg=0x28,value=0x30;"
                                    "reg=0x20,value=0xffffffffffffffff")
        assert dev.rd32(abi.KIWI_REG_MAGIC) == 0xffffffff
        assert dev.rd32(abi.KIWI_REG_LIMITS) == 0x30
        assert dev.rd32(abi.KIWI_REG_CMD_TIMEOUT_MS) == 5000
        assert dev.rd64(abi.KIWI_REG_CAPS) == (1 << 64) - 1
        assert dev.rd32(abi.KIWI_REG_CAPS + 4) == 0xffffffff
        generation = dev.rd32(abi.KIWI_REG_GENERATION)
        q.qom_set("snic0", "fault", f"reg={abi.KIWI_REG_GENERATION},skip=1,count=2,add=3;"
                                    "reg=any,skip=2,count=1,value=0xffffffff")
        assert [dev.rd32(abi.KIWI_REG_GENERATION) - generation for _ in range(4)] == [0, 3, 3, 0]
        # The other rule met the two reads that this one did not act on, and this one.
        assert dev.rd32(abi.KIWI_REG_MAGIC) == 0xffffffff
        assert dev.rd32(abi.KIWI_REG_MAGIC) == abi.KIWI_MAGIC
        q.qom_set("snic0", "fault", "")
        assert dev.rd32(abi.KIWI_REG_MAGIC) == abi.KIWI_MAGIC


@hosttest("model.faults.refused")
def refused(log):
    """A rule that is none is refused, and the one before stays."""
    with machine(log=log) as q:
        for text in ("opcode", "opcode=x", "what=1", "reply=4", "reply=0:1", "reply=0:zz",
                     "status=99999", "opcode=1,,drop=1", "entry=0:?", "vector=70000", "cqe=all"):
            try:
                q.qom_set("snic0", "fault", text)
            except QtestError:
                assert q.qom_get("snic0", "fault") == ""
            else:
                raise AssertionError(f"accepted: {text}")
        for prop, value in (("event", "type=1"), ("drop0", 10001), ("surprise", True),
                            ("max-rd-atomic", 255), ("max-qp", 1)):
            try:
                q.qom_set("snic0", prop, value)
            except QtestError:
                pass
            else:
                raise AssertionError(f"accepted: {prop}={value}")
