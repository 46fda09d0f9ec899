# SPDX-License-Identifier: GPL-2.0
"""Each allocation and each copy of user memory fails once, in every operation."""

import os
import re

from scenario import scenario

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


@scenario("failnth.sweep", kernel="test-6.12", iommu="on", topology="single", covers=[12, 37, 44],
          timeout=600)
def sweep(vm):
    """To exhaustion, over every ioctl, open, mmap, close, unbind and, in a soak, bind."""
    for module in ("kiwi_fw", "kiwi_snic", "xpu"):
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)
    vm.sh(SETUP)
    stride = 1 if os.environ.get("KIWI_SOAK") else 13
    output = vm.sh(f"fail-nth -s {stride}", timeout=500)
    print(output)
    counts = {name: int(n) for name, n in re.findall(r"^(\S+) +faults +(\d+)", output, re.M)}
    assert all(counts[name] > 0 for name in ("open", "mr-reg", "cq-create", "qp-create", "bind"))
    assert f"{sum(counts.values())} faults injected" in output
