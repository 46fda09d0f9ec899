# SPDX-License-Identifier: GPL-2.0
"""What went over the emulated Ethernet: capture it, and have it judged."""

import contextlib
import subprocess

import icrc
import rules

# Payload is the test's own bytes: it must not be taken for a protocol by its looks.
GUESSES = ("smcr_infiniband", "smb_direct_infiniband", "rpcrdma_infiniband", "nvme_rdma",
           "lnet_ib", "iser_infiniband", "eth_over_ib", "mellanox_eoib", "sdp_infiniband",
           "fc_infiniband")


@contextlib.contextmanager
def capture(vm, netdev, name):
    """All frames that pass by a netdev while the context is open, in a file."""
    path = vm.log / f"{name}.pcap"
    vm.qmp("object-add", qom_type="filter-dump", id="capture", netdev=netdev,
           file=str(path), maxlen=65535)
    try:
        yield path
    finally:
        vm.qmp("object-del", id="capture")


def tshark(path, *arguments):
    """Lines that tshark prints about a capture file."""
    command = ["tshark", "-n", "-r", str(path), *arguments]
    for guess in GUESSES:
        command += ["--disable-heuristic", guess]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def judge(path, senders, snic, mtu):
    """Asserts that a capture is sound; returns the RoCEv2 frames it holds.

    There are frames of all senders (MAC, IP version), each has the right ICRC,
    tshark dissects each as InfiniBand and finds none malformed, and those of
    the SNIC keep the rules of its specification.
    """
    report = icrc.check(path)
    assert not report.faults, report.faults[:20]
    assert set(report.frames) == set(senders), report.frames
    malformed = tshark(path, "-Y", "_ws.malformed")
    assert not malformed, malformed[:20]
    dissected = tshark(path, "-Y", f"udp.dstport == {icrc.ROCE_PORT} && infiniband.bth",
                       "-T", "fields", "-e", "frame.number")
    assert len(dissected) == report.total, (len(dissected), report.total)
    _, faults = rules.check(path, snic, mtu)
    assert not faults, faults[:20]
    return report.total
