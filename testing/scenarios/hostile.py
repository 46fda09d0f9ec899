# SPDX-License-Identifier: GPL-2.0
"""A device that breaks the rules below the ioctl interface: what is in flight ends, a reset mends."""

import time

import audit
from ioctl import EPROTO, ETIMEDOUT, OP, attempt, load
from lifetime import wait
from scenario import scenario

ENODEV = 19
BIND = "/sys/bus/pci/drivers/kiwi_snic/{}"
# As kiwi_abi/regs.h has them: offset of the register, and the least and most it may hold.
CMD_TIMEOUT_MS, EQ_COUNT = 0x2c, 0x3c
WORDS = {CMD_TIMEOUT_MS: (1, 60000), 0x30: (1, 60000), 0x34: (1, 60000), 0x38: (32, 64),
         EQ_COUNT: (2, 1024)}
# What the model does not keep to: so fast an answer, and numbers of event queues so small.
UNTRUE = ((CMD_TIMEOUT_MS, 1), (EQ_COUNT, 2))
FIELDS = {0: (2, 16), 8: (6, 23), 16: (12, 16)}         # shift in LIMITS
LIMITS, DB_PAGES = 0x28, 0x40
# Every command that a start needs.
START = {"SET_HOST_CAPS": 0x1, "QUERY_CAPS": 0x2, "CREATE_EQ": 0x10, "QUERY_PORT": 0x100}


def counter(vm, address, name):
    """A counter of the firmware interface."""
    return int(vm.sh(f"cat /sys/kernel/debug/kiwi_fw/{address}/{name}"))


@scenario("hostile.replies", props={"snic0": {"cmd-timeout-ms": 1000}}, covers=[29, 40, 43])
def replies(vm):
    """Completions that are wrong, doubled, silent or nobody's."""
    idle = load(vm)
    address = audit.address(vm, "snic0")
    command = f"opcode={OP['REG_MR']},skip=1"
    for fault, name in (("silent=1", "commands_rescued"), ("repeat=1", "unexpected_replies")):
        error, _, _, text = attempt(vm, "mr-reg", f"{command},{fault}")
        assert not error, text
        assert counter(vm, address, name) == 1, name
        assert audit.live(vm, "snic0") == idle, fault
    for patch, expected in (("0:ffff", ETIMEDOUT),          # cmd_id
                            ("2:ffff", EPROTO),             # opcode
                            ("4:0d00", EPROTO),             # status
                            ("4:ffff", EPROTO),
                            ("6:0900", EPROTO),             # out_len
                            ("4:0400", EPROTO),             # refused, yet with a reply
                            ("4:04000000", 22),             # refused, the field that none is
                            ("56:0000", 0)):                # err_field of a success
        error, _, _, text = attempt(vm, "mr-reg", f"{command},entry={patch}")
        assert error == expected, (patch, error, text)
        if expected in (ETIMEDOUT, EPROTO):
            assert vm.run(": </dev/kiwi/snic0")[0], patch
        vm.sh(f"echo 1 >/sys/bus/pci/devices/{address}/reset", timeout=60)
        assert audit.live(vm, "snic0") == idle, patch
    assert counter(vm, address, "unexpected_replies") == 2
    error, _, _, text = attempt(vm, "mr-reg", f"{command},delay-ms=1500")
    assert error == ETIMEDOUT, text
    vm.sh("sleep 1")
    vm.sh(f"echo 1 >/sys/bus/pci/devices/{address}/reset", timeout=60)
    assert audit.live(vm, "snic0") == idle
    vm.sh("snic-ioctl objects.cascade")


def bind(vm, address, fault):
    """Binds the driver under a fault: whether that succeeds."""
    vm.qom_set("snic0", "fault", fault)
    good = not vm.run(f"echo {address} >{BIND.format('bind')}", timeout=200)[0]
    vm.qom_set("snic0", "fault", "")
    return good


@scenario("hostile.limits", covers=[33, 44], timeout=600)
def limits(vm):
    """Each limit at its ends is taken, beyond them and all-ones the device is refused."""
    load(vm)
    address = audit.address(vm, "snic0")
    usual = int(vm.qom_get("snic0", "aq-log2-max")) | int(vm.qom_get("snic0", "eq-log2-max")) << 8 \
        | int(vm.qom_get("snic0", "db-page-shift")) << 16
    cases = [(reg, value, least <= value <= most) for reg, (least, most) in WORDS.items()
             for value in (0, least, most, most + 1, 0xffffffff)
             if (reg, value) not in UNTRUE]
    for shift, (least, most) in FIELDS.items():
        cases += [(LIMITS, usual & ~(0xff << shift) | value << shift, least <= value <= most)
                  for value in (0, least - 1, least, most + 1, 0xff)]
    pages = int(vm.qom_get("snic0", "db-pages"))
    cases += [(DB_PAGES, value, 0 < value <= pages) for value in (0, 1, pages + 1, 0xffffffff)]
    cases += [(0, 0xffffffff, False), (0, 0, False), (4, 0x20000, False), (8, 2, False)]
    for reg, value, good in cases:
        vm.sh(f"echo {address} >{BIND.format('unbind')}")
        assert bind(vm, address, f"reg={reg},value={value}") == good, (hex(reg), hex(value), good)
        if not good:
            assert not audit.live(vm, "snic0"), (hex(reg), hex(value))
            assert bind(vm, address, ""), (hex(reg), hex(value))


@scenario("hostile.start", props={"snic0": {"cmd-timeout-ms": 500}}, covers=[37, 44], timeout=600)
def start(vm):
    """A start that fails at each of its commands: nothing is left, the next one succeeds."""
    idle = load(vm)
    address = audit.address(vm, "snic0")
    for name, opcode in START.items():
        for skip in (0, 1) if name == "CREATE_EQ" else (0,):
            for fault in ("status=12", "drop=1", "entry=2:ffff", "status=11", "reply=0:ffffffff"):
                if fault[0] == "r" and name == "SET_HOST_CAPS":
                    continue        # replies nothing
                vm.sh(f"echo {address} >{BIND.format('unbind')}")
                assert not bind(vm, address, f"opcode={opcode},skip={skip},{fault}"), (name, fault)
                assert not audit.live(vm, "snic0"), (name, fault)
                assert bind(vm, address, ""), (name, fault)
                assert audit.live(vm, "snic0") == idle, (name, fault)


@scenario("hostile.gone", pciehp=True, props={"snic0": {"cmd-timeout-ms": 60000}}, covers=[20, 43])
def gone(vm):
    """Torn out with a command in flight: its caller does not sit out the command's time limit."""
    load(vm)
    vm.qom_set("snic0", "fault", f"opcode={OP['REG_MR']},skip=1,drop=1")
    vm.sh("snic-ioctl try mr-reg >/tmp/try 2>&1 & sleep 2; ! grep -q RESULT /tmp/try")
    before = time.monotonic()
    vm.qom_set("snic0", "surprise", True)
    wait(vm, "grep -q CLOSED /tmp/try", seconds=50)
    assert time.monotonic() - before < 50
    assert f"RESULT errno {ENODEV} " in vm.sh("cat /tmp/try"), vm.sh("cat /tmp/try")
