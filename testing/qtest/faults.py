# SPDX-License-Identifier: GPL-2.0
"""The faults that the models can be told to have (qemu/kiwi-fault.h)."""

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

        fault("opcode=0x110,twice=1")
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
        q.qom_set("snic0", "fault", "")
        assert dev.rd32(abi.KIWI_REG_MAGIC) == abi.KIWI_MAGIC


@hosttest("model.faults.refused")
def refused(log):
    """A rule that is none is refused, and the one before stays."""
    with machine(log=log) as q:
        for text in ("opcode", "opcode=x", "what=1", "reply=4", "reply=0:1", "reply=0:zz",
                     "status=99999", "opcode=1,,drop=1"):
            try:
                q.qom_set("snic0", "fault", text)
            except QtestError:
                assert q.qom_get("snic0", "fault") == ""
            else:
                raise AssertionError(f"accepted: {text}")
        for prop, value in (("event", "type=1"), ("drop0", 10001), ("surprise", True)):
            try:
                q.qom_set("snic0", prop, value)
            except QtestError:
                pass
            else:
                raise AssertionError(f"accepted: {prop}={value}")
