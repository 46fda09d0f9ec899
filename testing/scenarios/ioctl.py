# SPDX-License-Identifier: GPL-2.0
"""The ioctl interface of the SNIC, checked from C, and its sysfs attributes."""

import re
import struct

import audit
from machine import TOP
from scenario import scenario

KERNELS = ["debian-6.12", "debian-6.1"]
DRIVERS = ("kiwi_fw", "kiwi_snic", "xpu")
SMALL = {"max-pd": 40, "max-mr": 60, "max-cq": 30, "max-qp": 20, "db-pages": 50}
# As kiwi_abi/snic.h and admin.h have them.
OP = {"CLOSE_DB_PAGE": 0x21, "QUERY_PORT": 0x100, "ALLOC_PD": 0x110, "DEALLOC_PD": 0x111,
      "REG_MR": 0x120, "DEREG_MR": 0x121, "CREATE_CQ": 0x130, "DESTROY_CQ": 0x131,
      "CREATE_QP": 0x140, "QUERY_QP": 0x142, "DESTROY_QP": 0x143}
BUSY, INTERNAL = 8, 12
CQ_ERROR, QP_ERROR = 2, 3
EIO, ENODEV, EPROTO, ETIMEDOUT, EREMOTEIO = 5, 19, 71, 110, 121


def load(vm):
    """Loads the drivers; returns what an idle SNIC holds."""
    for module in DRIVERS:
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)
    return audit.live(vm, "snic0")


@scenario("ioctl.all", kernel=KERNELS, iommu=["off", "on"], props={"snic0": SMALL},
          covers=[5, 10, 12, 16, 17, 26, 31, 32, 33, 34, 37, 39], timeout=600)
def everything(vm):
    """Every test of snic-ioctl; the device holds what it held before."""
    idle = load(vm)
    rc, text = vm.run("snic-ioctl", timeout=500)
    print(text)
    assert rc == 0, text
    assert "skipped" not in text or vm.machine.test_kernel, text
    assert audit.live(vm, "snic0") == idle
    assert "freeing invalid memtype" not in vm.dmesg()


@scenario("ioctl.big-doorbells", props={"snic0": {"db-page-shift": 16, "db-pages": 32}},
          covers=[31, 32])
def big_doorbells(vm):
    """Doorbell pages larger than a page of the CPU."""
    load(vm)
    vm.sh("snic-ioctl doorbells.offsets doorbells.use doorbells.outlive "
          "doorbells.map-or-destroy queues.nop", timeout=200)


@scenario("ioctl.no-gpu-queues", props={"snic0": {"caps": ~(1 << 32) & (1 << 64) - 1}}, covers=[40])
def no_gpu_queues(vm):
    """A firmware without queues for GPU code: each use is refused in words, all else works."""
    load(vm)
    assert vm.sh("cat /sys/class/kiwi/snic0/caps/gpu_queues") == "0\n"
    assert vm.sh("cat /sys/class/kiwi/snic1/caps/gpu_queues") == "1\n"
    vm.sh("snic-ioctl gpu.offer args.success objects.cascade queues.nop doorbells.use "
          "gpu.exported gpu.closed-under-peer", timeout=200)


GPU = ("offer", "cq-flags", "qp-flags", "overrun", "collapsed", "record", "describe", "in-vram",
       "exported", "rung-by-peer", "closed-under-peer", "error-page-refused", "error-page-words",
       "error-page-gone")


@scenario("ioctl.gpu", topology="one-switch", covers=[31, 32, 35])
def gpu(vm):
    """Queues as code on a GPU wants them, and doorbells that others ring, below one switch."""
    load(vm)
    rc, text = vm.run("snic-ioctl " + " ".join(f"gpu.{name}" for name in GPU), timeout=300)
    print(text)
    assert rc == 0 and f"{len(GPU)} passed" in text, text


def start_waiting(vm):
    """A process that holds one of each object and waits: the numbers of its CQ and QP."""
    vm.begin("snic-ioctl try wait", "/tmp/wait", "WAITING")
    found = re.search(r"WAITING cqn (\d+) qpn (\d+)", vm.sh("cat /tmp/wait"))
    return int(found[1]), int(found[2])


def end_waiting(vm):
    """What that process printed, when the device's failure has ended it."""
    vm.sh("n=0; until grep -q CLOSED /tmp/wait; do sleep 0.1; n=$((n + 1)); "
          "[ $n -lt 300 ] || exit 1; done", timeout=60)
    return vm.sh("cat /tmp/wait")


def try_under(vm, what, fault):
    """Does one operation under a fault: what it printed."""
    vm.qom_set("snic0", "fault", fault)
    text = vm.sh(f"snic-ioctl try {what}", timeout=120)
    print(text)
    vm.qom_set("snic0", "fault", "")
    assert "CLOSED" in text, text
    return text


def attempt(vm, what, fault):
    """Does one operation under a fault: (errno, value, limit, text)."""
    text = try_under(vm, what, fault)
    found = re.search(r"RESULT errno (\d+) value (\d+) limit (\d+): (.*)", text)
    return int(found[1]), int(found[2]), int(found[3]), found[4]


@scenario("ioctl.destroy-refused", covers=[28])
def destroy_refused(vm):
    """The firmware refuses a destruction: it is tried again, and nothing leaks."""
    idle = load(vm)
    error, _, _, text = attempt(vm, "destroy-qp",
                                f"opcode={OP['DESTROY_QP']},count=1,status={INTERNAL}")
    assert error == EREMOTEIO and "DESTROY_QP refused" in text, (error, text)
    assert audit.live(vm, "snic0") == idle
    error, _, _, text = attempt(vm, "destroy-qp-twice",
                                f"opcode={OP['DESTROY_QP']},count=1,status={INTERNAL}")
    assert error == 0, (error, text)
    assert audit.live(vm, "snic0") == idle

    # Refused at close, too: kept, with its memory, until another file is closed.
    for name in ("QP", "CQ"):
        attempt(vm, "pd-alloc", f"opcode={OP[f'DESTROY_{name}']},count=2,status={BUSY}")
        assert audit.live(vm, "snic0") != idle
        vm.sh(": </dev/kiwi/snic0")
        assert audit.live(vm, "snic0") == idle, audit.live(vm, "snic0")
    for name in ("DEREG_MR", "DEALLOC_PD", "CLOSE_DB_PAGE"):
        attempt(vm, "pd-alloc", f"opcode={OP[name]},count=4,status={INTERNAL}")
        assert audit.live(vm, "snic0") != idle
        vm.sh(": </dev/kiwi/snic0")
        assert audit.live(vm, "snic0") == idle, audit.live(vm, "snic0")

    # For ever: the reset at unbind ends it.
    vm.qom_set("snic0", "fault", f"opcode={OP['DESTROY_QP']},count=0,status={INTERNAL}")
    vm.sh("snic-ioctl try pd-alloc")
    vm.sh("snic-ioctl try pd-alloc")
    address = audit.address(vm, "snic0")
    vm.sh(f"echo {address} >/sys/bus/pci/drivers/kiwi_snic/unbind")
    assert not audit.live(vm, "snic0"), audit.live(vm, "snic0")
    vm.qom_set("snic0", "fault", "")
    vm.sh(f"echo {address} >/sys/bus/pci/drivers/kiwi_snic/bind")
    assert audit.live(vm, "snic0") == idle


@scenario("ioctl.revoke-refused", append="slub_debug=P", covers=[16, 28])
def revoke_refused(vm):
    """An exporter takes rings away and the firmware refuses: it is down, and nothing is stale.

    What is freed is poisoned: an event that found the queue still would end the guest.
    """
    idle = load(vm)
    address = audit.address(vm, "snic0")
    for what, name, event in (("qp-revoked", "DESTROY_QP", QP_ERROR),
                              ("cq-revoked", "DESTROY_CQ", CQ_ERROR)):
        text = try_under(vm, what, f"opcode={OP[name]},count=1,status={INTERNAL}")
        assert f"RESULT errno {EIO} " in text, text
        number = int(re.search(r"REVOKED number (\d+)", text)[1])
        vm.sh(f"echo 1 >/sys/bus/pci/devices/{address}/reset", timeout=60)
        seen = int(vm.sh(f"cat /sys/kernel/debug/kiwi_fw/{address}/events"))
        vm.qom_set("snic0", "event", f"type={event},id={number}")
        vm.sh(f"until [ $(cat /sys/kernel/debug/kiwi_fw/{address}/events) -gt {seen} ]; do "
              "usleep 10000; done")
        vm.sh("snic-ioctl objects.order memory.rings-revoked", timeout=120)
        assert audit.live(vm, "snic0") == idle, what


@scenario("ioctl.bad-replies", covers=[40])
def bad_replies(vm):
    """Replies out of range: EPROTO, the device is taken out of service, a reset mends it."""
    idle = load(vm)
    address = audit.address(vm, "snic0")
    for what, name, reply in (("pd-alloc", "ALLOC_PD", "00000000"),
                              ("pd-alloc", "ALLOC_PD", "00000001"),
                              ("mr-reg", "REG_MR", "ff000000"),
                              ("cq-create", "CREATE_CQ", "ffffffff"),
                              ("qp-create", "CREATE_QP", "00000001")):
        error, _, _, text = attempt(vm, what, f"opcode={OP[name]},skip=1,reply=0:{reply}")
        assert error == EPROTO and name in text, (what, error, text)
        rc, text = vm.run("snic-ioctl try pd-alloc")
        assert rc, text
        vm.sh(f"echo 1 >/sys/bus/pci/devices/{address}/reset", timeout=60)
        assert audit.live(vm, "snic0") == idle, what
    # The number of a queue that another file has.
    for what, name, which in (("cq-create", "CREATE_CQ", 0), ("qp-create", "CREATE_QP", 1)):
        number = start_waiting(vm)[which]
        reply = number.to_bytes(4, "little").hex()
        error, value, _, text = attempt(vm, what, f"opcode={OP[name]},skip=1,reply=0:{reply}")
        assert error == EPROTO and value == number and "two" in text, (what, error, text)
        end_waiting(vm)
        vm.sh(f"echo 1 >/sys/bus/pci/devices/{address}/reset", timeout=60)
        assert audit.live(vm, "snic0") == idle, what

    for field in ("0:00", "1:02", "2:00", "2:06", "3:06", "8:010000000000", "8:000000000000"):
        error, _, _, text = attempt(vm, "port-query",
                                    f"opcode={OP['QUERY_PORT']},reply={field}")
        assert error == EPROTO and "QUERY_PORT" in text, (field, error, text)
    for field, reply in (("state", "0:07"), ("cur_state", "1:07"), ("mtu", "2:06"),
                         ("dest_qpn", "4:00000001"), ("rq_psn", "12:00000001"),
                         ("timeout", "16:20"), ("retry_cnt", "17:08"), ("rnr_retry", "18:08"),
                         ("min_rnr_timer", "19:20"), ("access", "48:10"),
                         ("flow_label", "52:00001000")):
        error, _, _, text = attempt(vm, "qp-query", f"opcode={OP['QUERY_QP']},reply={reply}")
        assert error == EPROTO and f" {field} " in text, (field, error, text)
    assert audit.live(vm, "snic0") == idle


@scenario("ioctl.dead", props={"snic0": {"cmd-timeout-ms": 1000}}, covers=[29, 43])
def dead(vm):
    """Timeouts and FATAL: errno as the uAPI says, memory comes back, a reset mends it."""
    idle = load(vm)
    address = audit.address(vm, "snic0")
    error, _, _, text = attempt(vm, "mr-reg", f"opcode={OP['REG_MR']},skip=1,drop=1")
    assert error == ETIMEDOUT and "REG_MR" in text, (error, text)
    vm.sh(f"echo 1 >/sys/bus/pci/devices/{address}/reset", timeout=60)
    assert audit.live(vm, "snic0") == idle

    start_waiting(vm)
    vm.qom_set("snic0", "fatal", 3)
    text = end_waiting(vm)
    assert "EVENT 8 " in text and f"RESULT errno {EIO} " in text, text
    rc, text = vm.run(": </dev/kiwi/snic0")
    assert rc and ("Input/output" in text or "I/O" in text), text
    rc, text = vm.run("cat /sys/class/kiwi/snic0/ports/1/state")
    assert rc and ("Input/output" in text or "I/O" in text), text
    assert int(vm.sh("cat /sys/class/kiwi/snic0/diag/commands"))
    vm.sh(f"echo 1 >/sys/bus/pci/devices/{address}/reset", timeout=60)
    assert audit.live(vm, "snic0") == idle
    vm.sh("snic-ioctl objects.cascade life.unbind")


@scenario("ioctl.aer", kernel=KERNELS, covers=[20, 43])
def aer(vm):
    """Uncorrectable errors of the link: open files die, the device recovers by itself."""
    idle = load(vm)
    vm.load("aer_inject")
    bus = int(audit.address(vm, "snic0")[5:7], 16)
    for status in (1 << 14, 1 << 18):       # completion timeout; malformed TLP, which is fatal
        start_waiting(vm)
        vm.put("/tmp/error", struct.pack("<BBBx7I", bus, 0, 0, status, 0, 0, 0, 0, 0, 0))
        vm.sh("cat /tmp/error >/dev/aer_inject")
        assert f"RESULT errno {ENODEV} " in end_waiting(vm)
        vm.sh("n=0; until true </dev/kiwi/snic0; do sleep 0.1; n=$((n + 1)); "
              "[ $n -lt 300 ] || exit 1; done", timeout=60)
        vm.sh("snic-ioctl objects.query objects.cascade")
        assert audit.live(vm, "snic0") == idle


@scenario("ioctl.sysfs", kernel=KERNELS, covers=[41])
def sysfs(vm):
    """Stores of nonsense are refused and change nothing; those of sense work."""
    load(vm)
    at = "/sys/class/kiwi/snic0/ports/1"
    gid = vm.sh(f"cat {at}/gids/0").strip()
    assert gid.startswith("fe80::"), gid
    for name, bad in (("enabled", ("", "2", "-1", "x", "18446744073709551616", "1 1", "yes")),
                      ("mtu", ("", "0", "-1", "128", "1000", "8192", "18446744073709551616")),
                      ("gids/1", ("", "fe80", "fe80::1 x", ":::", "1.2.3", gid, "ff02::1",
                                  "::ffff:224.0.0.1", "fe80::1/64"))):
        before = vm.sh(f"cat {at}/{name}")
        for text in bad:
            rc, out = vm.run(f"printf '%s\\n' '{text}' >{at}/{name}")
            assert rc, f"{name} took '{text}': {out}"
        rc, out = vm.run(f"head -c 4095 /dev/zero | tr '\\0' 1 >{at}/{name}")
        assert rc, f"{name} took 4095 digits: {out}"
        assert vm.sh(f"cat {at}/{name}") == before, name
    for name, good, shown in (("enabled", "0", "0"), ("enabled", "1", "1"),
                              ("mtu", "256", "256"), ("mtu", "4096", "4096"),
                              ("gids/1", "::ffff:10.1.2.3", "::ffff:10.1.2.3"),
                              ("gids/1", "2001:db8::5", "2001:db8::5"), ("gids/1", "::", "::")):
        vm.sh(f"printf %s '{good}' >{at}/{name}")
        assert vm.sh(f"cat {at}/{name}").strip() == shown, (name, good)
    vm.sh(f"echo 0 >{at}/enabled")
    assert vm.sh(f"cat {at}/state") == "DOWN\n"
    assert vm.sh(f"cat {at}/mbps") == "0\n"
    vm.sh(f"echo 1 >{at}/enabled")
    assert vm.sh(f"cat {at}/state") == "ACTIVE\n"

    modes = vm.sh(f"stat -c '%a %n' {at}/* {at}/gids/* {at}/counters/* | grep ' .*[a-z0-9]$'")
    for line in modes.splitlines():
        mode, path = line.split()
        name = path[len(at) + 1:]
        wanted = {"enabled": "644", "mtu": "644", "gids": "755", "counters": "755"}
        assert mode == wanted.get(name, "644" if name.startswith("gids/") else "444"), line
    # The mode is root's to change, and makes nothing writable.
    vm.sh(f"chmod 644 {at}/state {at}/counters/tx_bytes")
    for name in ("state", "counters/tx_bytes"):
        rc, out = vm.run(f"echo 1 >{at}/{name}")
        assert rc, f"{name} can be written: {out}"


@scenario("ioctl.documented")
def documented(vm):
    """Each attribute there is, is in Documentation/ABI, and the other way round."""
    load(vm)
    found = set()
    for path in vm.sh("cd /sys/class/kiwi/snic0/ && find . -type f | "
                      "grep -v '/power/\\|/uevent\\|/dev$'").split():
        path = re.sub(r"^ports/\d+/gids/\d+$", "ports/<p>/gids/<i>", path[2:])
        found.add(re.sub(r"^ports/\d+/", "ports/<p>/", path))
    text = (TOP / "Documentation/ABI/testing/sysfs-class-kiwi").read_text(encoding="utf-8")
    written = set(re.findall(r"^What:\t\t/sys/class/kiwi/snicN/(\S+)$", text, re.M))
    assert found == written, (sorted(found - written), sorted(written - found))
