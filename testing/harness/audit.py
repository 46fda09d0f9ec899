# SPDX-License-Identifier: GPL-2.0
"""What the device models themselves count, read through the emulator.

    before = audit.diag(vm, "snic0")
    assert not audit.live(vm, "snic0")
"""

import json


def parts(vm, kind):
    """The ids of the devices of a kind, snic or g2g, that are plugged in."""
    plugged = {entry["name"] for entry in
               vm.qmp("qom-list", path="/machine/peripheral")}
    return [d for d in vm.machine.devices() if d.startswith(kind) and d in plugged]


def diag(vm, device):
    """The diagnostic counters that are not zero, by name."""
    return json.loads(vm.qom_get(device, "diag"))


def ways(vm, device):
    """Bytes that the device exchanged with peers, by who handed them on: (switch, root)."""
    counts = json.loads(vm.qom_get(device, "ways"))
    return counts.get("switch_bytes", 0), counts.get("root_bytes", 0)


def live(vm, device):
    """The objects that the device holds, by kind; empty if there are none."""
    return {name: n for name, n in diag(vm, device).items() if name.startswith("live_")}


def address(vm, name):
    """The PCI address of a device of class kiwi."""
    return vm.sh(f"basename $(readlink -f /sys/class/kiwi/{name}/device)").strip()


def g2g_counters(vm, *names):
    """Counters that G2G dies keep, by name, summed over all."""
    text = vm.sh("cd /sys/class/kiwi; for n in " + " ".join(names) +
                 "; do echo $n $(cat g2g*/counters/$n); done")
    return {name: sum(map(int, values))
            for name, *values in map(str.split, text.splitlines())}
