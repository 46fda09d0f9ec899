# SPDX-License-Identifier: GPL-2.0
"""The emulated host itself: it boots, sees the devices, and the modules load."""

import os
import pty
import select
import subprocess
import time

from machine import TOP
from scenario import hosttest, scenario
from vm import BOOT_TIMEOUT, STRETCH

KERNELS = ["debian-6.12", "debian-6.1"]


@scenario("smoke.boot", kernel=KERNELS, iommu=["off", "on"], covers=[19])
def boot(vm):
    """Boots; the shell channel carries text, bytes and exit statuses."""
    assert vm.run("exit 3") == (3, "")
    assert vm.sh("printf 'a\\nb'; printf c >&2") == "a\nbc"
    every_byte = bytes(range(256)) * 9
    vm.put("/tmp/bytes", every_byte)
    assert vm.get("/tmp/bytes") == every_byte
    assert vm.sh("cat /proc/cmdline").count("intel_iommu=on") == \
        (vm.machine.iommu == "on")


@scenario("smoke.modules", kernel=KERNELS, covers=[19])
def modules(vm):
    """Each module loads by insmod and unloads, and every device gets its driver."""
    names = vm.sh("cd /modules && ls *.ko").split()
    assert {"kiwi_fw.ko", "kiwi_snic.ko", "xpu.ko"} <= set(names), names
    for name in ("kiwi_fw", "kiwi_snic", "xpu"):
        vm.sh(f"insmod /modules/{name}.ko", timeout=120)
    drivers = vm.sh("for d in /sys/bus/pci/devices/*/driver; do basename $(readlink $d); done")
    for driver in ("kiwi_snic", "xpu"):
        assert drivers.split().count(driver) == 2, drivers
    for name in ("xpu", "kiwi_snic", "kiwi_fw"):
        vm.sh(f"rmmod {name}", timeout=120)


class Terminal:
    """scripts/shell.sh on a terminal of its own; it dies with this process."""

    def __init__(self, *words):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", TOP / "scripts/shell.sh", *words],
            stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        self.text = ""

    def until(self, words, timeout):
        """Reads up to some words, or if they are None up to the end: what was read."""
        deadline = time.monotonic() + timeout * STRETCH
        while words is None or words not in self.text:
            assert time.monotonic() < deadline, f"no {words!r} in {self.text!r}"
            if not select.select([self.master], [], [], 1)[0]:
                continue
            try:
                self.text += os.read(self.master, 4096).decode("utf-8", "replace")
            except OSError:         # the terminal has been closed at the other end
                assert words is None, f"no {words!r} in {self.text!r}"
                break
        text, _, self.text = self.text.partition(words) if words else (self.text, "", "")
        print(text)
        return text

    def type(self, line):
        os.write(self.master, line.encode() + b"\n")


@hosttest("smoke.shell", timeout=600)
def shell(_log):
    """make shell: drivers loaded, tools on PATH, options taken, QEMU's monitor beside it."""
    terminal = Terminal("iommu=on", "topology=single", "snic0.max-qp=4")
    try:
        boot_text = terminal.until("kiwi# ", 300 + BOOT_TIMEOUT)
        assert "snic0" in boot_text and "snic1" not in boot_text, boot_text
        terminal.type("cat /sys/class/kiwi/snic0/caps/max_qp /proc/cmdline")
        caps = terminal.until("kiwi# ", 60)
        assert "\n4\r" in caps and "intel_iommu=on" in caps, caps
        terminal.type("\x01cqom-get /machine/peripheral/snic0 fault-counts\n\x01c")
        assert "{}" in terminal.until("kiwi# ", 60)
        terminal.type("exit")
        terminal.until(None, 60)
        assert terminal.process.wait(60) == 0
    finally:
        terminal.process.kill()
        terminal.process.wait()


@hosttest("smoke.shell-options")
def shell_options(_log):
    """What is no option is refused, and named."""
    for word in ("topology=mesh", "smp=x", "snic7.max-qp=4", "props=1", "frob"):
        done = subprocess.run([TOP / "scripts/shell.sh", word], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        named = word.partition("=")[0].partition(".")[0]
        assert done.returncode == 1 and named in done.stdout, (word, done.stdout)
        assert "Traceback" not in done.stdout, done.stdout
