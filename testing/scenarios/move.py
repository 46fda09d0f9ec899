# SPDX-License-Identifier: GPL-2.0
"""GPU memory that moves while it is registered: regions are held, and follow it."""

import os
import re

import audit
from scenario import scenario

KERNEL = "test-6.12"        # tells of moves, and of races and stale memory too
ROUNDS = 1000 if os.environ.get("KIWI_SOAK") else 150
TRAP = {"xpu0": {"trap-freed": "on"}, "xpu1": {"trap-freed": "on"}}


def load(vm):
    """Loads the drivers; returns what idle SNICs hold."""
    for module in ("kiwi_fw", "kiwi_snic", "xpu"):
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)
    return [audit.live(vm, d) for d in ("snic0", "snic1")]


def run(vm, words, timeout):
    """move-test: what it printed as KEY=VALUE."""
    return dict(re.findall(r"(\w+)=(\S+)", vm.sh(f"move-test {words}", timeout=timeout)))


def check_idle(vm, idle):
    """Nothing is left, and no device met memory that it should not."""
    assert [audit.live(vm, d) for d in ("snic0", "snic1")] == idle
    for device in ("snic0", "snic1"):
        faults = {k: n for k, n in audit.diag(vm, device).items() if "fault" in k and n}
        assert not faults, (device, faults)


@scenario("move.storm", kernel=KERNEL, props=TRAP, timeout=1800, covers=[36])
def storm(vm):
    """GPU memory is evicted and returned under traffic, in a soak a thousand times."""
    idle = load(vm)
    found = run(vm, f"storm {ROUNDS}", 1600)
    print(found)
    assert int(found["moves"]) >= 2 * ROUNDS and int(found["moves1"]) >= 2 * ROUNDS, found
    met = [sum(audit.diag(vm, d).get(k, 0) for k in ("held_wqe", "held_request"))
           for d in ("snic0", "snic1")]
    print(f"work met held regions: {met}")
    assert min(met) >= ROUNDS // 20, met
    check_idle(vm, idle)


@scenario("move.fail", kernel=KERNEL, props=TRAP)
def fail(vm):
    """A mapping that fails is tried again; one that will not come back is revoked."""
    idle = load(vm)
    assert run(vm, "fail", 120) == {"failures": "4"}
    assert run(vm, "state", 60) == {"state": "dynamic", "pins": "0", "evict": "0",
                                    "path": "p2p-switch", "then": "system"}
    check_idle(vm, idle)


@scenario("move.stock", kernel="debian-6.12", covers=[9])
def stock(vm):
    """Where the kernel does not tell of moves, memory is pinned as it always was."""
    load(vm)
    found = run(vm, "state", 60)
    assert found["state"] == "pinned" and found["evict"] == "16", found
    assert found["then"] == found["path"] == "p2p-switch", found
