# SPDX-License-Identifier: GPL-2.0
"""Each allocation, each copy of user memory and each command fails once, in every operation."""

import json
import os
import re

import abi
from scenario import scenario

# Small pages only, so that memory needs tables of pages even where an IOMMU joins it.
PROPS = {"snic0": {"page-shift-max": 12}}

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


def load(vm):
    """Loads the drivers."""
    for module in ("kiwi_fw", "kiwi_snic", "xpu"):
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)


def faults(output):
    """How many were met in each operation."""
    return {name: int(n) for name, n in re.findall(r"^(\S+) +faults +(\d+)", output, re.M)}


@scenario("failnth.sweep", kernel="test-6.12", iommu="on", topology="single", props=PROPS,
          covers=[12, 37, 44], timeout=600)
def sweep(vm):
    """To exhaustion, over every ioctl, open, mmap, close, unbind and, in a soak, bind."""
    load(vm)
    vm.sh(SETUP)
    stride = 1 if os.environ.get("KIWI_SOAK") else 29
    output = vm.sh(f"fail-nth -s {stride}", timeout=500)
    print(output)
    counts = faults(output)
    assert all(counts[name] > 0 for name in ("open", "mr-reg", "cq-create", "qp-create", "bind"))
    assert f"{sum(counts.values())} faults injected" in output


def turn(vm, word=None):
    """Answers fail-nth, if there is anything to say; returns the next line that it prints."""
    tell = f"echo {word} >/tmp/to; " if word else ""
    return vm.sh(tell + "read -r line </tmp/from; echo \"$line\"", timeout=120).strip()


@scenario("failnth.refused", kernel="test-6.12", iommu="on", topology="single", props=PROPS,
          covers=[12, 28, 44], timeout=300)
def refused(vm):
    """The same, and it is the device that refuses each command of an operation in turn."""
    load(vm)
    # What is in a pipe is lost with the last who has it open.
    vm.sh("mkfifo /tmp/to /tmp/from; { exec 3<>/tmp/to 4<>/tmp/from; "
          "fail-nth -r <&3 >&4 2>&1; echo ended $? >&4; read -r line <&3; } &")
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
