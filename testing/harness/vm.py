# SPDX-License-Identifier: GPL-2.0
"""A running emulated host: root commands in the guest, QMP, logs.

    with VM(topology="pair", iommu="on") as vm:
        vm.load("kiwi_snic")
        print(vm.sh("kiwictl list"))

QEMU dies with the process that started it. Start a VM from the main thread.
"""

import fcntl
import json
import os
import pathlib
import re
import secrets
import select
import shlex
import signal
import socket
import subprocess
import time

from machine import BUILD, TOP, Machine

LOGS = BUILD / "log"
BOOT_TIMEOUT = 180
BOOT_ATTEMPTS = 3
CHUNK = 8192        # as much as the guest's serial driver holds for a slow reader
# A slow machine may stretch every timeout of the guest.
STRETCH = float(os.environ.get("KIWI_TIMEOUT_STRETCH", "1"))

INT3 = re.compile(r"(Oops: )?int3: 0000 \[#1\]")
TF = re.compile(r"WARNING: .* exc_debug_kernel\+")
TSC = re.compile(r"PIT calibration deviates from")
RXE = re.compile(r"WARNING: .* at drivers/infiniband/sw/rxe/rxe_comp\.c")
PANIC = re.compile(rb"Kernel panic - not syncing: .*")
COMPLAINT = re.compile(
    r"WARNING:|BUG:|Oops|refcount_t|Kernel panic|general protection fault|"
    r"KASAN|UBSAN|KCSAN|soft lockup|rcu.*detected stall|blocked for more than|"
    r"possible .*deadlock|bad unlock balance|unreferenced object|"
    r"DMA-API: .*:|DMAR: .*[Ff]ault|use-after-free")
TAINT_ALLOWED = 1 << 12 | 1 << 13 | 1 << 18     # out of tree, unsigned, KUnit has run


class VMError(Exception):
    """The host or its guest is not as it should be."""


class GuestTimeout(VMError):
    """The guest did not answer in time; the VM is of no more use."""


class CommandFailed(VMError):
    """A command that had to succeed did not."""


class VM:
    """See the module's text. The keywords are Machine's, and:

    name     names the folder of the logs, build/log/NAME
    files    {guest path: bytes or host path}, laid into the guest before it boots
    boot     False: QEMU is started stopped, for tests that need no guest
    """

    running = []

    def __init__(self, name="vm", files=None, boot=True, **machine):
        self.machine = Machine(**machine)
        self.stretch = STRETCH * self.machine.slowness
        self.log = pathlib.Path(os.environ.get("KIWI_LOG", LOGS / name))
        if self.running:
            self.log = self.log / f"vm{len(self.running) + 1}"
        self.log.mkdir(parents=True, exist_ok=True)
        self.console_path = self.log / "console.log"
        self.events = []
        (self.log / "commands.log").write_bytes(b"")
        initramfs = self._add_files(files) if files else None
        for attempt in range(BOOT_ATTEMPTS):
            self._start(initramfs, boot)
            try:
                self._qmp_greet()
                if boot:
                    self._wait_boot()
                break
            except VMError:
                self.close()
                if attempt == BOOT_ATTEMPTS - 1 or not self.boot_died():
                    raise
            except BaseException:
                self.close()
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # Commands in the guest

    def run(self, command, timeout=60, check=False):
        """Runs a shell command as root: (exit status, what it printed)."""
        rc, output = self.run_bytes(command, timeout)
        text = output.decode("utf-8", "replace")
        if check and rc:
            raise CommandFailed(f"exit status {rc} of: {command}\n{text}")
        return rc, text

    def sh(self, command, timeout=60):
        """What a command that must succeed prints."""
        return self.run(command, timeout, check=True)[1]

    def begin(self, command, output, ready, timeout=60):
        """Starts a command in the background and waits until its output has the word "ready".

        The file is emptied before, as a former run's must not be taken for this one's."""
        self.sh(f": >{output}; {command} >{output} 2>&1 & "
                f"until grep -q {ready} {output}; do "
                f"kill -0 $! && sleep 0.02 || {{ cat {output}; exit 1; }}; done", timeout)

    def run_bytes(self, command, timeout=60):
        """As run(), with the output untouched."""
        self._record(f"$ {command}\n".encode())
        rc, output = self._request(command.encode(), timeout)
        self._record(output + f"[{rc}]\n".encode())
        return rc, output

    def put(self, path, data, mode=0o644):
        """Writes a file of the guest; a large one is better among the VM's files."""
        quoted = shlex.quote(path)
        self.sh(f"mkdir -p $(dirname {quoted}) && : >{quoted} && chmod {mode:o} {quoted}")
        for at in range(0, len(data), CHUNK):
            chunk = data[at:at + CHUNK]
            rc, output = self._request(f"cat >>{quoted}".encode(), 60, chunk)
            if rc:
                raise CommandFailed(f"cannot write {path}: {output.decode()}")

    def get(self, path):
        """Reads a file of the guest."""
        rc, output = self.run_bytes(f"cat {shlex.quote(path)}")
        if rc:
            raise CommandFailed(f"cannot read {path}: {output.decode('utf-8', 'replace')}")
        return output

    def load(self, *modules):
        """Loads modules, in the order given, with all they depend on."""
        for module in modules:
            self.sh(f"modprobe {module}", timeout=120)

    def dmesg(self):
        """The kernel's log."""
        return self.sh("dmesg")

    # The emulator

    def qmp(self, command, **arguments):
        """Runs a QMP command and returns its result; _ in a name stands for -."""
        request = {"execute": command}
        if arguments:
            request["arguments"] = {k.replace("_", "-"): v for k, v in arguments.items()}
        self._qmp.sendall(json.dumps(request).encode() + b"\n")
        deadline = time.monotonic() + 60 * self.stretch
        while True:
            reply = self._qmp_message(deadline, command)
            if "return" in reply:
                return reply["return"]
            if "error" in reply:
                raise VMError(f"QMP {command}: {reply['error']['desc']}")
            self.events.append(reply)

    def hmp(self, command):
        """Runs a command of QEMU's human monitor and returns its text."""
        return self.qmp("human-monitor-command", command_line=command)

    def qom_get(self, device, prop):
        """A property of a device, by the device's id."""
        return self.qmp("qom-get", path=f"/machine/peripheral/{device}", property=prop)

    def qom_set(self, device, prop, value):
        """Sets a property of a device, by the device's id."""
        self.qmp("qom-set", path=f"/machine/peripheral/{device}", property=prop, value=value)

    def unplug(self, device):
        """Asks the guest to let a device go, and waits until it has."""
        self.qmp("device_del", id=device)
        self.wait_event("DEVICE_DELETED")

    def plug(self, device):
        """Puts a device of the machine, by its id, back into the slot that it went from."""
        words = next(a for a in self.machine.arguments(self.log)
                     if f",id={device},bus=" in a).split(",")
        self.qmp("device_add", driver=words[0], **dict(w.split("=", 1) for w in words[1:]))

    def wait_event(self, name, timeout=60):
        """Waits for a QMP event and returns it; earlier ones count."""
        deadline = time.monotonic() + timeout * self.stretch
        while True:
            for event in self.events:
                if event["event"] == name:
                    self.events.remove(event)
                    return event
            self.events.append(self._qmp_message(deadline, f"event {name}"))

    # State

    def alive(self):
        """Whether QEMU runs."""
        return self._qemu.poll() is None

    def console(self):
        """What the guest printed on its console."""
        return self.console_path.read_bytes().decode("utf-8", "replace")

    def usable(self):
        """Whether the guest still answers, as far as is known."""
        return self.alive() and not self._broken

    def hit_int3(self):
        """Whether the guest died of a defect of QEMU before 8.1.

        With parallel vCPUs it may run an instruction that the kernel, patching
        its own code, has replaced by int3 and restored since.
        """
        return bool(INT3.search(self.console()))

    def boot_died(self):
        """Whether the kernel died before it ran anything of ours.

        The same defect has other guises in code that is patched: KASAN's reports in a
        test kernel, a general protection fault in text_poke_early().
        """
        return self.hit_int3() or bool(
            re.search(r"Comm: swapper.* Not tainted", self.console()))

    def hit_foreign_defect(self):
        """Whether a defect that is not ours spoilt the run.

        That of QEMU, above; or the guest's flags had bits of an address after cmpxchg16b,
        among them TF, and so a debug exception that nobody asked for; or it was held up while it
        measured its clock, which is several times too fast since; or soft-RoCE's completer
        met, under loss, a failed request without an error, which it warns of itself and
        flushes its queue.
        """
        console = self.console()
        return self.hit_int3() or any(defect.search(console) for defect in (TF, TSC, RXE))

    def problems(self):
        """What is wrong with the guest now, as a list of lines; empty is good."""
        found = self.complaints()
        if self.machine.test_kernel and self.usable():
            found += self.leaks()
        return found

    def complaints(self):
        """What the kernel itself complains of."""
        if not self.alive():
            return [f"QEMU has ended with status {self._qemu.returncode}"]
        if self._broken:
            return [self._broken]
        found = [line for line in self.dmesg().splitlines() if COMPLAINT.search(line)]
        tainted = int(self.sh("cat /proc/sys/kernel/tainted"))
        if tainted & ~TAINT_ALLOWED:
            found.append(f"the kernel is tainted: {tainted:#x}")
        return found

    def leaks(self):
        """What kmemleak finds that was not freed; a test kernel has it."""
        # The first scan takes the objects' checksums; the second reports what it does not reach,
        # did not change since, and is older than 5 s.
        self.sh("cd /sys/kernel/debug; sleep 5.5 & echo scan >kmemleak; wait; echo scan >kmemleak",
                timeout=120)
        return self.sh("cat /sys/kernel/debug/kmemleak").splitlines()

    def close(self):
        """Ends QEMU."""
        if self.alive():
            try:
                self._qmp.sendall(b'{"execute": "quit"}\n')
                self._qemu.wait(10)
            except (OSError, subprocess.TimeoutExpired):
                self._qemu.kill()
        self._qemu.wait()
        self._agent.close()
        self._qmp.close()
        if self in VM.running:
            VM.running.remove(self)

    # Below: how it is done

    def _record(self, text):
        with open(self.log / "commands.log", "ab") as record:
            record.write(text)

    def _request(self, script, timeout, data=b""):
        if self._broken:
            raise VMError(f"the VM is of no more use: {self._broken}")
        mark = secrets.token_hex(8)
        request = f"{mark} {len(script)} {len(data)}\n".encode()
        try:
            self._agent.sendall(request + script + data)
        except OSError:
            self._check_alive()
            raise
        end = re.compile(b"\n%s ([0-9]+)\n" % re.escape(mark.encode()))
        match = self._await_agent(end, timeout, f"of: {script.decode('utf-8', 'replace')}")
        output = self._agent_buffer[:match.start()]
        self._agent_buffer = self._agent_buffer[match.end():]
        return int(match[1]), output

    def _add_files(self, files):
        """An initramfs with more files, as one more archive at its end."""
        out = self.log / "initramfs.img"
        tree = self.log / "files"
        subprocess.run(["rm", "-rf", tree], check=True)
        for path, content in files.items():
            target = tree / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                target.write_bytes(content)
                target.chmod(0o755)
            else:
                subprocess.run(["cp", "-L", content, target], check=True)
        with open(out, "wb") as image:
            image.write(self.machine.initramfs().read_bytes())
            image.flush()
            subprocess.run("find . -mindepth 1 | cpio --quiet -o -H newc -R 0:0 | lz4 -lq1",
                           shell=True, cwd=tree, stdout=image, check=True)
        return out

    def _start(self, initramfs, boot):
        self._broken = None
        self._console_seen = 0
        self._agent_buffer = b""
        self._qmp_buffer = b""
        self._agent, agent = socket.socketpair()
        self._qmp, qmp = socket.socketpair()
        arguments = self.machine.arguments(self.log, initramfs) + [
            "-serial", f"file:{self.console_path}",
            "-chardev", f"socket,id=agent,fd={agent.fileno()}",
            "-serial", "chardev:agent",
            "-chardev", f"socket,id=qmp,fd={qmp.fileno()}",
            "-mon", "chardev=qmp,mode=control"]
        if not boot:
            arguments.append("-S")
        command = ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64"] + arguments
        (self.log / "qemu.cmd").write_text(shlex.join(command) + "\n", encoding="utf-8")
        self.console_path.write_bytes(b"")
        with open(self.log / "qemu.log", "wb") as output:
            self._qemu = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                pass_fds=(agent.fileno(), qmp.fileno()), env=qemu_environment())
        agent.close()
        qmp.close()
        VM.running.append(self)

    def _wait_boot(self):
        match = self._await_agent(re.compile(b"agent-ready\n"), BOOT_TIMEOUT, "of the boot")
        self._agent_buffer = self._agent_buffer[match.end():]
        if self.machine.vnet:
            self.load("virtio_pci", "virtio_net")

    def _await_agent(self, pattern, timeout, what):
        deadline = time.monotonic() + timeout * self.stretch
        start = 0
        while True:
            match = pattern.search(self._agent_buffer, start)
            if match:
                return match
            start = max(0, len(self._agent_buffer) - 64)
            self._check_alive()
            if time.monotonic() > deadline:
                self._fail(GuestTimeout, f"no end {what} after {timeout} s\n"
                           + self._agent_buffer[-4096:].decode("utf-8", "replace"))
            if select.select([self._agent], [], [], 0.2)[0]:
                try:
                    self._agent_buffer += self._agent.recv(1 << 16)
                except ConnectionError:
                    pass

    def _check_alive(self):
        with open(self.console_path, "rb") as console:
            console.seek(self._console_seen)
            text = console.read()
        panic = PANIC.search(text)
        if panic:
            try:        # it reboots, that is, ends, after the last of its report
                self._qemu.wait(10)
            except subprocess.TimeoutExpired:
                pass
            self._fail(VMError, panic[0].decode("utf-8", "replace"))
        self._console_seen += max(0, len(text) - 256)
        if not self.alive():
            self._fail(VMError, f"QEMU ended with status {self._qemu.returncode}\n"
                       + (self.log / "qemu.log").read_text("utf-8", "replace")[-4096:])

    def _fail(self, error, text):
        self._broken = text.splitlines()[0]
        tail = "\n".join(self.console().splitlines()[-40:])
        raise error(f"{text}\n--- end of the console ---\n{tail}")

    def _qmp_greet(self):
        self._qmp_message(time.monotonic() + 60 * self.stretch, "greeting")
        self.qmp("qmp_capabilities")

    def _qmp_message(self, deadline, what):
        while b"\n" not in self._qmp_buffer:
            if not self.alive():
                self._check_alive()
            if time.monotonic() > deadline:
                self._fail(GuestTimeout, f"QEMU gave no answer to {what}")
            if select.select([self._qmp], [], [], 0.2)[0]:
                try:
                    self._qmp_buffer += self._qmp.recv(1 << 16)
                except ConnectionError:
                    pass
        line, self._qmp_buffer = self._qmp_buffer.split(b"\n", 1)
        return json.loads(line)


def qemu_environment():
    """The environment in which QEMU finds the device models."""
    return dict(os.environ, LD_PRELOAD=str(BUILD / "qemu/kiwi-load.so"))


def prepare(kernels=("debian-6.12",), rdma=()):
    """Builds all that VMs with these kernels need.

    rdma tells for which of them the guest with rdma-core is wanted too: a
    collection, or True for all.
    """
    def step(*command):
        subprocess.run([str(c) for c in command], check=True, cwd=TOP, timeout=3000)
    BUILD.mkdir(exist_ok=True)
    with open(BUILD / ".prepare", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        step("scripts/deps.sh", "build", "models", "boot")
        step("make", "-s", "models", "programs")
        for kernel in kernels:
            step("scripts/modules.sh", kernel)
            step("scripts/initramfs.sh", kernel)
            if rdma is True or (rdma and kernel in rdma):
                step("scripts/initramfs.sh", kernel, "--with", "rdma")


def terminate_on_signals():
    """Lets SIGTERM unwind like an exception, so that VMs are closed."""
    def stop(number, _frame):
        raise SystemExit(128 + number)
    signal.signal(signal.SIGTERM, stop)
