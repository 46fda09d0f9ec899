# SPDX-License-Identifier: GPL-2.0
"""A machine without a guest: the test itself reads and writes memory and registers.

    with Qtest(["kiwi-snic,id=snic0,addr=4"]) as q:
        pci = q.pci(4)
        q.readl(pci.bar(0))

The vCPU halts at its first instruction, so that virtual time runs; nothing
else touches the devices. A test may give it something to do.
"""

import itertools
import json
import os
import pathlib
import select
import socket
import subprocess
import tempfile
import time

from machine import BUILD

ECAM = 0xb0000000
BARS = 0x100000000000       # where BARs are mapped
RAM = 0x1000000             # where alloc() begins
TIMEOUT = 20

BIOS_SIZE = 0x10000
HALT = b"\xfa\xf4\xeb\xfd"  # cli; hlt; jmp hlt
JUMP = b"\xea\x00\x00\x00\xf0"     # jmp 0xf000:0

CAP_EXP, CAP_MSIX = 0x10, 0x11


class QtestError(Exception):
    """QEMU does not do as told."""


class Qtest:
    """See the module's text."""

    def __init__(self, devices, arguments=(), memory="256M", log=None, code=b""):
        """code: real-mode instructions at 0xf0000 that the vCPU runs instead of halting."""
        self.log = pathlib.Path(log or tempfile.mkdtemp(prefix="kiwi-qtest-"))
        self._functions = {}
        self._bars = itertools.count(BARS, 1 << 40)
        self._free = RAM
        self._buffer = self._qmp_buffer = b""
        self.events = []
        bios = self.log / "halt.bin"
        first = JUMP if code else HALT
        bios.write_bytes(code.ljust(BIOS_SIZE - 16, b"\xf4") + first.ljust(16, b"\xf4"))
        self._qtest, theirs = socket.socketpair()
        self._qmp, theirs_qmp = socket.socketpair()
        command = ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64",
                   "-nodefaults", "-no-user-config", "-display", "none",
                   "-machine", "q35", "-accel", "tcg", "-m", memory, "-bios", bios,
                   "-chardev", f"socket,id=qtest,fd={theirs.fileno()}",
                   "-qtest", "chardev:qtest", "-qtest-log", "none",
                   "-chardev", f"socket,id=qmp,fd={theirs_qmp.fileno()}",
                   "-mon", "chardev=qmp,mode=control", *arguments]
        for device in devices:
            command += ["-device", device]
        with open(self.log / "qemu.log", "wb") as output:
            self._qemu = subprocess.Popen(
                [str(c) for c in command], stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, pass_fds=(theirs.fileno(), theirs_qmp.fileno()),
                env=dict(os.environ, LD_PRELOAD=str(BUILD / "qemu/kiwi-load.so")))
        theirs.close()
        theirs_qmp.close()
        try:
            self._message()
            self.qmp("qmp_capabilities")
            self._config(0, 0x64, 0)
            self._config(0, 0x60, ECAM | 1)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends QEMU."""
        self._qemu.kill()
        self._qemu.wait()
        self._qtest.close()
        self._qmp.close()

    # Memory and registers

    def readb(self, addr):
        return self._number(f"readb {addr:#x}")

    def readw(self, addr):
        return self._number(f"readw {addr:#x}")

    def readl(self, addr):
        return self._number(f"readl {addr:#x}")

    def readq(self, addr):
        return self._number(f"readq {addr:#x}")

    def writeb(self, addr, value):
        self._command(f"writeb {addr:#x} {value:#x}")

    def writew(self, addr, value):
        self._command(f"writew {addr:#x} {value:#x}")

    def writel(self, addr, value):
        self._command(f"writel {addr:#x} {value:#x}")

    def writeq(self, addr, value):
        self._command(f"writeq {addr:#x} {value:#x}")

    def read(self, addr, size):
        """Bytes of memory."""
        return bytes.fromhex(self._command(f"read {addr:#x} {size:#x}")[2:]) if size else b""

    def write(self, addr, data):
        """Writes bytes to memory."""
        if data:
            self._command(f"write {addr:#x} {len(data):#x} 0x{bytes(data).hex()}")

    def fill(self, addr, size, value=0):
        """Sets memory to one byte."""
        self._command(f"memset {addr:#x} {size:#x} {value:#x}")

    def alloc(self, size, align=4096):
        """The address of memory that nobody else uses, all zero."""
        addr = -(-self._free // align) * align
        self._free = addr + size
        self.fill(addr, size)
        return addr

    def until(self, condition, what, timeout=TIMEOUT):
        """Waits until a function gives something true, and returns that."""
        deadline = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > deadline:
                raise QtestError(f"no {what} within {timeout} s")
            time.sleep(0.001)

    def settle(self, seconds=0.02):
        """Lets the device do what it has to do."""
        time.sleep(seconds)
        self.readl(RAM)

    # Devices

    def pci(self, slot, bus=0):
        """The function at a slot, its BARs mapped and bus mastering on."""
        if (bus, slot) not in self._functions:
            self._functions[bus, slot] = Function(self, slot, bus)
        return self._functions[bus, slot]

    def forget(self, slot, bus=0):
        """The function is another one from now on."""
        del self._functions[bus, slot]

    def bridge(self, slot, bus):
        """Opens the way through the bridge at a slot to the bus behind it."""
        config = ECAM + (slot << 15)
        self.writel(config + 0x18, bus << 16 | bus << 8)
        self.writel(config + 0x24, 0xfff00000)      # prefetchable: from 0 ...
        self.writel(config + 0x28, BARS >> 32)      # ... BARS ...
        self.writel(config + 0x2c, 0xffff)          # ... to the end
        self.writew(config + 4, 6)
        return config

    def next_bar(self):
        """An address for a BAR of any size."""
        return next(self._bars)

    # QMP

    def qmp(self, command, **arguments):
        """Runs a QMP command and returns its result; _ in a name stands for -."""
        request = {"execute": command}
        if arguments:
            request["arguments"] = {k.replace("_", "-"): v for k, v in arguments.items()}
        self._send(self._qmp, json.dumps(request))
        while True:
            reply = self._message()
            if "return" in reply:
                return reply["return"]
            if "error" in reply:
                raise QtestError(f"QMP {command}: {reply['error']['desc']}")
            self.events.append(reply)

    def qom_get(self, device, prop):
        """A property of a device, by the device's id."""
        return self.qmp("qom-get", path=f"/machine/peripheral/{device}", property=prop)

    def qom_set(self, device, prop, value):
        """Sets a property of a device, by the device's id."""
        self.qmp("qom-set", path=f"/machine/peripheral/{device}", property=prop, value=value)

    # Below: how it is done

    def _config(self, slot, reg, value):
        self._command(f"outl 0xcf8 {0x80000000 | slot << 11 | reg:#x}")
        self._command(f"outl 0xcfc {value:#x}")

    @staticmethod
    def _send(sock, text):
        try:
            sock.sendall(text.encode() + b"\n")
        except BrokenPipeError:
            pass            # QEMU has ended; who waits for its answer learns why

    def _line(self, sock, buffer):
        deadline = time.monotonic() + TIMEOUT
        while b"\n" not in buffer:
            if not select.select([sock], [], [], max(0, deadline - time.monotonic()))[0]:
                raise QtestError(f"QEMU gives no answer within {TIMEOUT} s")
            try:
                data = sock.recv(1 << 16)
            except ConnectionError:
                data = b""
            if not data:
                self._qemu.wait()
                raise QtestError("QEMU has ended: "
                                 + (self.log / "qemu.log").read_text("utf-8", "replace"))
            buffer += data
        line, _, rest = buffer.partition(b"\n")
        return line.decode(), rest

    def _command(self, text):
        self._send(self._qtest, text)
        line, self._buffer = self._line(self._qtest, self._buffer)
        word, _, rest = line.partition(" ")
        if word != "OK":
            raise QtestError(f"{text}: {line}")
        return rest.strip()

    def _number(self, text):
        return int(self._command(text), 16)

    def _message(self):
        line, self._qmp_buffer = self._line(self._qmp, self._qmp_buffer)
        return json.loads(line)


class Function:
    """A PCI function."""

    def __init__(self, qtest, slot, bus=0):
        self.q = qtest
        self.config = ECAM + (bus << 20) + (slot << 15)
        self._bar = {}
        if qtest.readl(self.config) == 0xffffffff:
            raise QtestError(f"no device in slot {slot} of bus {bus}")
        self.map_bars()

    def map_bars(self):
        """Maps the BARs, all 64 bits wide, and switches memory and bus master on."""
        for n in (0, 2, 4):
            reg = self.config + 0x10 + 4 * n
            self.q.writel(reg, 0xffffffff)
            if not self.q.readl(reg):
                continue
            self._bar.setdefault(n, self.q.next_bar())
            self.q.writel(reg, self._bar[n] & 0xffffffff)
            self.q.writel(reg + 4, self._bar[n] >> 32)
        self.q.writew(self.config + 4, 6)

    def bar(self, n):
        """Where a BAR is mapped."""
        return self._bar[n]

    def bus_master(self, on):
        """Sets Bus Master Enable."""
        self.q.writew(self.config + 4, 6 if on else 2)

    def capability(self, number):
        """The address of a capability in configuration space."""
        at = self.q.readb(self.config + 0x34)
        while at:
            if self.q.readb(self.config + at) == number:
                return self.config + at
            at = self.q.readb(self.config + at + 1)
        raise QtestError(f"no capability {number:#x}")

    def extended(self, number):
        """The address of an extended capability."""
        at = 0x100
        while at:
            header = self.q.readl(self.config + at)
            if header & 0xffff == number:
                return self.config + at
            at = header >> 20
        raise QtestError(f"no extended capability {number:#x}")

    def flr(self):
        """Function-level reset; maps the BARs again."""
        self.q.writew(self.capability(CAP_EXP) + 8, 1 << 15)
        self.map_bars()

    def msix(self):
        """Switches MSI-X on: vector n of the first 8 writes its message to memory.

        Returns a function of the vector that tells whether a message came since
        it was asked last.
        """
        cap = self.capability(CAP_MSIX)
        vectors = min(8, (self.q.readw(cap + 2) & 0x7ff) + 1)
        where = self.q.readl(cap + 4)
        table = self.bar(where & 7) + (where & ~7)
        sink = self.q.alloc(4 * vectors)
        for n in range(vectors):
            self.q.writel(table + 16 * n, sink + 4 * n)
            self.q.writel(table + 16 * n + 4, 0)
            self.q.writel(table + 16 * n + 8, n + 1)
            self.q.writel(table + 16 * n + 12, 0)
        self.q.writew(cap + 2, self.q.readw(cap + 2) | 0x8000)

        def take(vector):
            came = self.q.readl(sink + 4 * vector)
            if came:
                self.q.writel(sink + 4 * vector, 0)
            assert came in (0, vector + 1), f"vector {vector} wrote {came}"
            return bool(came)
        return take
