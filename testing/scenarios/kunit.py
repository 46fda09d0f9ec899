# SPDX-License-Identifier: GPL-2.0
"""The drivers' KUnit suites, each module of them loaded on the test kernel."""

import ktap
from scenario import scenario

RESULTS = "/sys/kernel/debug/kunit"

# All suites, and how many cases each has: one that is not run fails the test.
SUITES = {
    "kiwi_fw": {
        "kiwi_fw_admin": 27,
        "kiwi_fw_admin_faults": 24,
        "kiwi_fw_db": 13,
        "kiwi_fw_dmabuf": 12,
        "kiwi_fw_eq": 27,
        "kiwi_fw_eq_start": 6,
        "kiwi_fw_events": 8,
        "kiwi_fw_health": 9,
        "kiwi_fw_identify": 22,
        "kiwi_fw_lifecycle": 21,
        "kiwi_fw_mem": 12,
        "kiwi_fw_pbl": 7,
        "kiwi_fw_pbl_layout": 22,
    },
    "kiwi_g2g": {
        "kiwi_g2g_aperture": 7,
        "kiwi_g2g_caps": 12,
        "kiwi_g2g_export": 19,
        "kiwi_g2g_fabric": 20,
        "kiwi_g2g_image": 8,
        "kiwi_g2g_ioctl": 10,
        "kiwi_g2g_queues": 12,
        "kiwi_g2g_route_check": 24,
        "kiwi_g2g_route_make": 15,
        "kiwi_g2g_route_random": 1,
        "kiwi_g2g_route_table": 7,
        "kiwi_g2g_stage": 6,
        "kiwi_g2g_window": 19,
    },
    "kiwi_snic": {
        "kiwi_snic_abi": 13,
        "kiwi_snic_caps": 21,
        "kiwi_snic_cmd": 21,
        "kiwi_snic_ioctl": 41,
        "kiwi_snic_object": 43,
        "kiwi_snic_port": 11,
        "kiwi_snic_qp": 31,
    },
}


def _register(module):
    @scenario(f"kunit.{module}", kernel="test-6.12", topology="bare", timeout=600)
    def suites(vm):
        vm.sh(f"insmod /modules/{module}_test.ko", timeout=500)
        reports = [ktap.read(vm.sh(f"cat {RESULTS}/{suite}/results"))
                   for suite in vm.sh(f"ls {RESULTS}").split()]
        counts = {suite: len(cases) for suite, cases in reports}
        assert counts == SUITES[module], f"suites and cases found: {counts}"
        failed = [f"{suite}.{case}\n{why}" for suite, cases in reports
                  for case, why in cases.items() if why]
        assert not failed, f"{len(failed)} of {sum(counts.values())} cases failed:\n" + \
            "\n".join(failed)
        vm.sh(f"rmmod {module}_test", timeout=60)


for name in SUITES:
    _register(name)
