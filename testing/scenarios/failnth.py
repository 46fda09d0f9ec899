# SPDX-License-Identifier: GPL-2.0
"""Each allocation, each copy of user memory and each command fails once, in every operation."""

import json
import os
import re

import abi
import g2gfabric
from scenario import scenario

# Small pages only, so that memory needs tables of pages even where an IOMMU joins it.
SMALL = {"page-shift-max": 12}
HOST = {"kernel": "test-6.12", "iommu": "on"}
SNIC = {"topology": "single", "props": {"snic0": SMALL}, **HOST}
G2G = {**g2gfabric.host("g2g-pair", {**g2gfabric.PATIENT, **SMALL}), **HOST}

# What the kernel makes in register_irq_proc() may fail, but not be missing when it is removed.
SETUP = """
set -e
cd /sys/kernel/debug
range=$(sort /proc/kallsyms | awk '/ register_irq_proc$/ {print $1; getline; print $1}')
set -- $range
[ $# = 2 ]
for f in failslab fail_page_alloc fail_usercopy; do
	echo 0 >$f/verbose
	echo 0x$1 >$f/reject-start
	echo 0x$2 >$f/reject-end
done
echo N >failslab/ignore-gfp-wait
echo N >fail_page_alloc/ignore-gfp-wait
echo 0 >fail_page_alloc/min-order
"""


def load(vm, part):
    """Loads the drivers."""
    for module in ("kiwi_fw", f"kiwi_{part}", "xpu"):
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)


def faults(output):
    """How many were met in each operation."""
    return {name: int(n) for name, n in re.findall(r"^(\S+) +faults +(\d+)", output, re.M)}


def sweep(vm, part, strides, faulty):
    """To exhaustion, over every ioctl, open, mmap, close and unbind; of the steps of bind one in so
    many is taken, in a run and in a soak."""
    load(vm, part)
    vm.sh(SETUP)
    stride = strides["KIWI_SOAK" in os.environ]
    output = vm.sh(f"fail-nth {part} -s {stride}", timeout=3000)
    print(output)
    counts = faults(output)
    assert all(counts[name] > 0 for name in faulty)
    assert f"{sum(counts.values())} faults injected" in output


@scenario("failnth.sweep", covers=[12, 37, 44], timeout=600, **SNIC)
def sweep_snic(vm):
    """A SNIC, and with it all that parts have in common."""
    sweep(vm, "snic", (29, 1), ("open", "mr-reg", "cq-create", "qp-create", "bind"))


@scenario("failnth.g2g", covers=[12, 37, 44], timeout=1000, **G2G)
def sweep_g2g(vm):
    """A G2G die, whose peer is another."""
    sweep(vm, "g2g", (101, 10),
          ("open", "fabric-set", "routes-stage", "image-load", "export-create", "import-bind",
           "import-map", "import-dmabuf", "qp-create", "bind"))


def turn(vm, word=None):
    """Answers fail-nth, if there is anything to say; returns the next line that it prints."""
    tell = f"echo {word} >/tmp/to; " if word else ""
    return vm.sh(tell + "read -r line </tmp/from; echo \"$line\"", timeout=120).strip()


@scenario("failnth.refused", covers=[12, 28, 44], timeout=300, **SNIC)
def refused(vm):
    """The same, and it is the device that refuses each command of an operation in turn."""
    load(vm, "snic")
    # What is in a pipe is lost with the last who has it open.
    vm.sh("mkfifo /tmp/to /tmp/from; { exec 3<>/tmp/to 4<>/tmp/from; "
          "fail-nth snic -r <&3 >&4 2>&1; echo ended $? >&4; read -r line <&3; } &")
    text, line = [], turn(vm)
    while not line.startswith("ended "):
        if line.startswith("ready "):
            skip = int(line.split()[1]) - 1
            vm.qom_set("snic0", "fault", f"skip={skip},status={abi.KIWI_ST_INTERNAL}")
            line = turn(vm, "go")
        elif line == "done":
            met = json.loads(vm.qom_get("snic0", "fault-counts"))
            vm.qom_set("snic0", "fault", "")
            line = turn(vm, "met" if met else "passed")
        else:
            text.append(line)
            line = turn(vm)
    output = "\n".join(text)
    print(output)
    assert line == "ended 0", line
    counts = faults(output)
    for name in ("pd-alloc", "mr-reg", "mr-reg-dmabuf", "cq-create", "qp-create", "qp-modify",
                 "destroy-qp", "close", "unbind", "bind"):
        assert counts[name] > 0, name
