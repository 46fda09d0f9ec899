# SPDX-License-Identifier: GPL-2.0
"""A device that breaks the ABI (qemu/kiwi-fault.h): the driver and the library outlive it.

What can be broken is read from the ABI's own headers and tables, not from the driver.
"""

import json
import os
import time

import abi
import audit
from scenario import scenario

PROPS = {"snic0": {"cmd-timeout-ms": 1000, "reset-timeout-ms": 1000, "vectors": 4}}
ONES = (1 << 64) - 1
OP_DESTROY_CQ = abi.KIWI_SNIC_OP_DESTROY_CQ
STRAY_MS = 2500     # more than what a device needs to be unbound
MUTATIONS = 100000 if os.environ.get("KIWI_SOAK") else 10000
SEED = int(os.environ.get("KIWI_SEED", "1"))


class Hostile:
    """The drivers loaded, and snic0 at our disposal."""

    def __init__(self, vm):
        self.vm = vm
        for module in ("kiwi_fw", "kiwi_snic"):
            vm.sh(f"insmod /modules/{module}.ko", timeout=120)
        self.address = audit.address(vm, "snic0")
        self.idle = audit.live(vm, "snic0")
        self.good()

    def fault(self, rules):
        self.vm.qom_set("snic0", "fault", rules)

    def counts(self):
        return json.loads(self.vm.qom_get("snic0", "fault-counts"))

    def run(self, mode, timeout=120):
        """A mode of snic-hostile: (exit status, what it printed)."""
        return self.vm.run(f"snic-hostile {self.address} {mode}", timeout=timeout)

    def good(self):
        """The device works, and holds nothing that it did not hold at first."""
        rc, text = self.run("good")
        assert rc == 0, text
        held = audit.live(self.vm, "snic0")
        assert held == self.idle, f"{held}, not {self.idle}"

    def rebind(self):
        for action in ("unbind", "bind"):
            self.vm.sh(f"echo {self.address} >/sys/bus/pci/drivers/kiwi_snic/{action}")

    def step(self, name, rules, mode="step"):
        """One misdeed, after which all has to be good again; returns the counts."""
        self.fault(rules)
        rc, text = self.run(mode)
        counts = self.counts()
        self.fault("")
        assert rc == 0, f"{name}: {rules}\n{text}"
        if audit.live(self.vm, "snic0") != self.idle:
            # It made an object and denied it, or the other way round: a reset ends that.
            self.rebind()
            self.good()
        return counts

    def walk(self, steps, mode="step"):
        """Steps of (name, rules): each is met, or it says what the device says anyway."""
        done = same = 0
        for name, rules in steps:
            counts = self.step(name, rules, mode)
            assert any(count.endswith("_met") for count in counts), f"{name}: never met"
            changed = sum(n for count, n in counts.items() if count.endswith("_changed"))
            done += changed
            same += not changed
        print(f"{done} misdeeds, and {same} that made no difference")
        assert done > same, (done, same)


def patches(structure, where):
    """(field, patch) for each value of each field of a structure."""
    for field in abi.fields(structure):
        for value in field.values():
            yield f"{structure}.{field.name}={value.hex()}", \
                f"{where}={field.offset}:{value.hex()}"


# What only a start of the device does, and what this driver never asks for.
STARTING = ("SET_HOST_CAPS", "QUERY_CAPS", "CREATE_EQ", "DESTROY_EQ")
UNUSED = ("HOLD_MR", "RESUME_MR")


def replies(starting):
    """Each field of each completion of a command, and of each reply."""
    for command in abi.commands():
        if command.name in UNUSED or (command.name in STARTING) != starting:
            continue
        for name, patch in patches("kiwi_acq_entry", "entry"):
            yield f"{command.name}: {name}", f"opcode={command.opcode},{patch}"
        for name, patch in patches(command.reply, "reply") if command.reply else ():
            yield f"{command.name}: {name}", f"opcode={command.opcode},{patch}"


def entries():
    """Each field of each kind of event and completion that a round meets."""
    for kind in ("COMPLETION", "QP_DRAINED", "PORT_CHANGE"):
        for name, patch in patches("kiwi_eqe", "entry"):
            yield f"{kind}: {name}", f"event={getattr(abi, f'KIWI_EV_{kind}')},{patch}"
    for kind in ("NOP", "RECV"):
        for name, patch in patches("kiwi_cqe", "entry"):
            yield f"{kind}: {name}", f"cqe={getattr(abi, f'KIWI_CQE_{kind}')},{patch}"


def registers():
    """Each register at each value, as long as the driver looks."""
    for field in abi.registers():
        if field.offset >= abi.KIWI_REG_HEALTH_SEVERITY:
            continue    # read when the device says that it is in fatal state
        for value in field.values():
            number = int.from_bytes(value, "little")
            yield f"{field.name}={number:#x}", f"reg={field.offset},value={number}"
    yield "all registers at all ones", f"reg=any,value={ONES}"
    yield "another generation", f"reg={abi.KIWI_REG_GENERATION},add=1"


@scenario("hostile.fields.replies", iommu="on", props=PROPS, covers=[40], timeout=600)
def reply_fields(vm):
    """Every field of every reply: 0, its maximum, one more, all ones."""
    host = Hostile(vm)
    host.walk(replies(False))
    host.good()


@scenario("hostile.fields.entries", props=PROPS, covers=[40])
def entry_fields(vm):
    """The same of every event and completion of work."""
    host = Hostile(vm)
    host.walk(entries())
    host.good()


@scenario("hostile.fields.start", iommu="on", props=PROPS, covers=[40, 44])
def start_fields(vm):
    """The same of what is replied while the device is started and stopped."""
    host = Hostile(vm)
    host.walk(replies(True), "bind")
    host.good()


@scenario("hostile.fields.registers", iommu="on", props=PROPS, covers=[40, 44])
def register_values(vm):
    """The same of every register, as long as the device is started and used."""
    host = Hostile(vm)
    for name, rules in registers():
        host.fault(rules)
        host.run("try")
        met = host.counts().get("reg_met")
        host.fault("")
        rc, text = host.run("bind")
        assert rc == 0, f"{name}: {rules}\n{text}"
        assert met or name.startswith("RESET_REASON"), name
    host.good()


def fail_each_step(vm, *misdeeds):
    """Lets each step of unbinding and probing fail in turn, until there is none left."""
    host = Hostile(vm)
    for what in misdeeds:
        steps = failed = 0
        while True:
            host.fault(f"{what},skip={steps}")
            rc, _ = host.run("start")
            met = host.counts()
            host.fault("")
            if not met:
                break
            steps += 1
            if rc:
                failed += 1
                rc, text = host.run("start")
                assert rc == 0, f"{what}, step {steps}: {text}"
            host.good()
        print(f"{what}: {steps} steps, at {failed} of which the probe fails")
        assert failed > 5, (what, steps, failed)


@scenario("hostile.probe.commands", iommu="on", props=PROPS, covers=[44], timeout=400)
def probe_commands(vm):
    """A command fails at each step of a probe in turn; the next probe succeeds."""
    fail_each_step(vm, f"status={abi.KIWI_ST_INTERNAL}", "drop=1", "entry=4:ffff")


# Chances ------------------------------------------------------------------------------

def dice():
    """Rules that spoil about every fourth entry, in all fields alike, and much else at times.

    What ends the life of the device, or costs a timeout, is rarer: it would be all there is.
    """
    def fields(selector, structure, where, chance, rarely=()):
        for field in abi.fields(structure):
            odds = chance * 40 if field.name in rarely else chance
            for value in [v.hex() for v in field.values()] + ["??" * field.size]:
                yield f"{selector},count=0,chance={odds},{where}={field.offset}:{value}"

    yield from fields("cqe=any", "kiwi_cqe", "entry", 160, ["flags"])
    yield from fields("event=any", "kiwi_eqe", "entry", 60, ["flags"])
    yield from fields("opcode=any", "kiwi_acq_entry", "entry", 500, ["flags", "cmd_id"])
    for command in abi.commands():
        if command.reply:
            yield from fields(f"opcode={command.opcode}", command.reply, "reply", 300)
    for status in (*range(1, abi.KIWI_ST_COUNT + 1), 0xffff):
        yield f"count=0,chance=1000,status={status}"
    for selector in ("opcode=any", "event=any", "cqe=any", "vector=any"):
        yield f"{selector},count=0,chance=3000,drop=1"
        yield f"{selector},count=0,chance=1000,repeat=2"
        yield f"{selector},count=0,chance=1000,delay-ms=2"
    yield f"reg=any,chance=20000,value={ONES}"
    yield f"reg={abi.KIWI_REG_GENERATION},chance=100,add=1"
    yield f"reg={abi.KIWI_REG_DEV_STS},chance=200,value=0"


def soak(host, seed, wanted):
    """Rounds with the dice thrown, until so many misdeeds were taken; returns the counts."""
    host.vm.qom_set("snic0", "fault-seed", seed)
    host.fault(";".join(dice()))
    host.vm.sh("rm -f /tmp/stop /tmp/status; { "
               f"snic-hostile {host.address} soak /tmp/stop >/dev/null 2>&1; "
               "echo $? >/tmp/status; } &")
    counts, taken, seen = {}, 0, time.monotonic()
    while taken < wanted:
        time.sleep(1)
        counts = host.counts()
        now = sum(n for name, n in counts.items() if name.endswith("_taken"))
        if now > taken:
            taken, seen = now, time.monotonic()
        assert time.monotonic() - seen < 60 * host.vm.stretch, f"stuck at {taken} of {wanted}"
        if host.vm.run("[ -e /tmp/status ]")[0] == 0:
            break
    host.fault("")
    host.vm.sh("touch /tmp/stop; while ! [ -s /tmp/status ]; do usleep 50000; done")
    status = host.vm.sh("cat /tmp/status").strip()
    assert status == "0", f"snic-hostile ended with status {status}"
    return counts


@scenario("hostile.random", props=PROPS, covers=[40], timeout=300 + MUTATIONS // 20)
def random(vm):
    """Entries spoilt at random: 10,000 of them that the host has consumed, 100,000 with KIWI_SOAK.

    On a slow kernel there are fewer."""
    host = Hostile(vm)
    wanted = MUTATIONS // vm.machine.slowness
    counts = soak(host, SEED, wanted)
    print(f"seed {SEED}: {counts}")
    for kind in ("command", "event", "cqe"):
        assert counts[f"{kind}_taken"] > wanted // 50, counts
    rc, text = host.run("bind")
    assert rc == 0, text
    host.good()


# Writes to memory that is not the device's any more ------------------------------------

def caught(host, kind, mode, rules):
    """Stray writes of a kind, all while nobody has given the memory to the device."""
    host.fault(rules)
    rc, text = host.run(f"{mode} {2 * STRAY_MS}")
    counts = host.counts()
    host.fault("")
    print(mode, rules, counts)
    assert rc == 0, text
    assert counts.get(f"{kind}_caught") and not counts.get(f"{kind}_landed"), (rules, counts)
    rc, text = host.run("bind")
    assert rc == 0, text


@scenario("hostile.stray", iommu=["off", "on"], props=PROPS, covers=[40],
          append="iommu.strict=1")
def stray(vm):
    """Writes into rings that were given back: the IOMMU, or the end of bus mastering, stops them."""
    host = Hostile(vm)
    every = f"count=0,stray-ms={STRAY_MS}"
    if vm.machine.iommu == "on":
        caught(host, "cqe", "stray", f"cqe=any,{every}")
    else:
        # The device says nothing to the destruction: it is not believed any more.
        caught(host, "cqe", "stray", f"cqe=any,{every};opcode={OP_DESTROY_CQ},drop=1")
    caught(host, "cqe", "stray-unbind", f"cqe=any,{every}")
    caught(host, "command", "stray-unbind", f"opcode={abi.KIWI_OP_DESTROY_EQ},{every}")
    caught(host, "event", "stray-unbind", f"event={abi.KIWI_EV_PORT_CHANGE},{every}")
    if vm.machine.iommu == "on":
        seen = vm.problems()
        assert seen and all("DMAR: " in line for line in seen), seen
        vm.sh("dmesg -c >/dev/null")
    host.good()
