# SPDX-License-Identifier: GPL-2.0
"""A driver of kiwi-g2g in Python, as thin as can be, for tests without a guest.

    with mesh(2) as q:
        a, b = fabric(q, 2)
        window = a.map(b, b.export(memory, 4096, [a]))
        q.readq(window.addr)
"""

import ctypes
import json

import abi
from qtest import Qtest
from snicdev import Snic, cmd_id, contiguous, fields, unpack

SLOT = 16       # SNICs of a test stand below
POD = bytes.fromhex("5d0c1e7a6b484f029f3ce4d7a1b2c3d4")
RW = abi.KIWI_ACCESS_REMOTE_READ | abi.KIWI_ACCESS_REMOTE_WRITE
ALL = abi.KIWI_G2G_RIGHTS
ONES = (1 << 64) - 1

# Short, so that silence is noticed soon; long, so that a busy machine is not taken for it.
TIMES = "link-ms=1500,peer-ms=3000,load-us=2000000,pause-ms=400,bind-ms=3000,revoke-ms=3000"


def port_to(me, other):
    """The port of a die in a full mesh that leads to another."""
    return other if other < me else other - 1


def mesh(count, props=TIMES, more=(), arguments=(), **options):
    """A machine with dies die0, die1 … and a link between any two of them."""
    devices, netdevs, links = [], [], {}
    for a in range(count):
        for b in range(a):
            hub = a * count + b
            for me, other in ((a, b), (b, a)):
                name = f"l{me}to{other}"
                netdevs += ["-netdev", f"hubport,id={name},hubid={hub}"]
                links.setdefault(me, []).append(f"netdev{port_to(me, other)}={name}")
    for n in range(count):
        devices.append(",".join([f"kiwi-g2g,id=die{n},addr={SLOT + n:#x},serial={n + 1}", props]
                                + links.get(n, [])))
    return Qtest([*devices, *more], [*netdevs, *arguments], **options)


def switch(count, props=TIMES, more=(), arguments=(), **options):
    """A machine with dies whose ports 0 are on one switch."""
    devices, netdevs = [], []
    for n in range(count):
        netdevs += ["-netdev", f"hubport,id=s{n},hubid=0"]
        devices.append(f"kiwi-g2g,id=die{n},addr={SLOT + n:#x},serial={n + 1},{props},netdev0=s{n}")
    return Qtest([*devices, *more], [*netdevs, *arguments], **options)


class Die(Snic):
    """The device, and the queues by which it is driven."""

    def __init__(self, q, number, slot=None, bus=0):
        super().__init__(q, SLOT + number if slot is None else slot, bus)
        self.id = f"die{number}"
        self.accel = number
        self.aperture = self.pci.bar(abi.KIWI_BAR_APERTURE)
        self.next_granule = 0

    def begin(self, caps=None):
        """From power-on to where commands are taken, with an event queue."""
        self.start(caps=caps)
        self.events = self.create_eq(abi.KIWI_EQ_ASYNC, log2=10, vector=1)
        return self

    def counters(self):
        return json.loads(self.q.qom_get(self.id, "diag"))

    # Commands

    def query(self, opcode, name, data=b""):
        return unpack(name, self.ok(opcode, data, ctypes.sizeof(abi.struct(name))))

    def caps(self):
        return self.query(abi.KIWI_OP_QUERY_CAPS, "kiwi_g2g_caps")

    def fabric(self):
        return self.query(abi.KIWI_G2G_OP_QUERY_FABRIC, "kiwi_g2g_fabric")

    def port(self, number=0):
        return self.query(abi.KIWI_G2G_OP_QUERY_PORT, "kiwi_g2g_port", cmd_id(number))

    def port_counters(self, number=0):
        return self.query(abi.KIWI_G2G_OP_QUERY_PORT_COUNTERS, "kiwi_g2g_port_counters",
                          cmd_id(number))

    def count(self):
        return self.query(abi.KIWI_G2G_OP_QUERY_COUNTERS, "kiwi_g2g_counters")

    def peer(self, other):
        return self.query(abi.KIWI_G2G_OP_QUERY_PEER, "kiwi_g2g_peer", cmd_id(number_of(other)))

    def window(self, number):
        return self.query(abi.KIWI_G2G_OP_QUERY_WINDOW, "kiwi_g2g_window", cmd_id(number))

    def export_state(self, number):
        return self.query(abi.KIWI_G2G_OP_QUERY_EXPORT, "kiwi_g2g_export", cmd_id(number))

    def slot(self, number):
        return self.query(abi.KIWI_G2G_OP_QUERY_IMAGE, "kiwi_g2g_slot", cmd_id(number))

    def read_log(self):
        """All records."""
        found = []
        while True:
            log = self.query(abi.KIWI_G2G_OP_READ_LOG, "kiwi_g2g_log")
            found += [unpack("kiwi_g2g_log_entry", bytes(e)) for e in log.entry[:log.count]]
            if not log.left:
                return found

    def act(self, name, data=b"", out_len=0):
        """Runs a command that must succeed, by the name of its opcode."""
        return self.ok(getattr(abi, "KIWI_G2G_OP_" + name), data, out_len)

    def status_of(self, name, data=b"", out_len=0):
        """The status of a command, by the name of its opcode."""
        return self.command(getattr(abi, "KIWI_G2G_OP_" + name), data, out_len)

    def set_fabric(self, accel=None, pod=POD, partition=5, epoch=7):
        self.accel = self.accel if accel is None else accel
        self.act("SET_FABRIC", fields("kiwi_g2g_set_fabric_in", pod=pod, accel=self.accel,
                                      partition=partition, epoch=epoch))

    @staticmethod
    def port_in(port, flags=abi.KIWI_G2G_PORT_ENABLED | abi.KIWI_G2G_PORT_ROUTABLE,
                mode=abi.KIWI_G2G_PORT_DIRECT, lanes=None, mtu=abi.KIWI_G2G_MTU_MAX, **config):
        lanes = 1 << port % 4 if lanes is None else lanes
        config = dict(flags=flags, mode=mode, lanes=lanes, mtu=mtu, **config)
        return fields("kiwi_g2g_set_port_in", port=port,
                      **{"config__" + k: v for k, v in config.items()})

    def set_port(self, port, **config):
        self.act("SET_PORT", self.port_in(port, **config))

    @staticmethod
    def stage_in(routes, first=None, flags=abi.KIWI_G2G_STAGE_CLEAR):
        """routes: accelerator -> ports, or (ports, layer)."""
        first = min(routes, default=0) if first is None else first
        table = [fields("kiwi_g2g_route")] * 64
        for accel, route in routes.items():
            ports, layer = route if isinstance(route, tuple) else (route, 0)
            table[accel - first] = fields("kiwi_g2g_route", ports=ports, layer=layer)
        count = max(routes, default=first - 1) - first + 1
        return fields("kiwi_g2g_stage_routes_in", first=first, count=count,
                      flags=flags)[:8] + b"".join(table)

    def stage(self, routes, **how):
        self.act("STAGE_ROUTES", self.stage_in(routes, **how))

    def commit(self):
        return unpack("kiwi_cmd_id",
                      self.act("COMMIT_ROUTES", cmd_id(self.fabric().routes), 8)).id

    def route(self, routes):
        self.stage(routes)
        return self.commit()

    def load_image(self, data, slot=1, chunk=4096):
        """Uploads, without verifying."""
        self.act("BEGIN_IMAGE", fields("kiwi_g2g_begin_image_in", slot=slot, length=len(data)))
        mem = self.q.alloc(len(data))
        self.q.write(mem, data)
        for at in range(0, len(data), chunk):
            self.act("WRITE_IMAGE", fields("kiwi_g2g_write_image_in", slot=slot, offset=at,
                                           len=min(chunk, len(data) - at), addr=mem + at))

    def use_image(self, data, slot=1):
        self.load_image(data, slot)
        self.act("VERIFY_IMAGE", cmd_id(slot))
        self.act("ACTIVATE_IMAGE", cmd_id(slot))

    @staticmethod
    def export_in(mem, length, grantees, rights=ALL, handle=None):
        if handle is None:
            Die.handles += 1
            handle = Die.handles.to_bytes(16, "big")
        if isinstance(mem, int):
            mem = contiguous(mem, length)
        mask = bytearray(128)
        for g in map(number_of, grantees):
            mask[g // 8] |= 1 << g % 8
        return fields("kiwi_g2g_create_export_in", handle=handle, length=length, rights=rights,
                      grantees=bytes(mask), pbl=mem)
    handles = 0x4b57 << 100

    def export(self, mem, length, grantees, **how):
        """An export of memory, or of a page list."""
        data = self.export_in(mem, length, grantees, **how)
        return Export(self, data[:16], length, unpack(
            "kiwi_cmd_id", self.act("CREATE_EXPORT", data, 8)).id)

    def bind(self, other, handle, rights=ALL):
        """The number of a window; it is BINDING."""
        return unpack("kiwi_cmd_id", self.act("BIND_WINDOW", fields(
            "kiwi_g2g_bind_window_in", handle=handle, rights=rights, accel=number_of(other)),
            8)).id

    def bound(self, other, handle, rights=ALL):
        """A window that is no longer BINDING."""
        number = self.bind(other, handle, rights)
        self.q.until(lambda: self.window(number).state != abi.KIWI_G2G_WINDOW_BINDING, "binding")
        return number

    @staticmethod
    def map_in(window, offset, length, export_offset=0):
        return fields("kiwi_g2g_map_window_in", window=window, offset=offset,
                      export_offset=export_offset, length=length)

    def map(self, export, rights=ALL, length=None, export_offset=0, offset=None):
        """A window on an export of another die, mapped."""
        number = self.bound(export.die, export.handle, rights)
        length = export.length - export_offset if length is None else length
        granule = 1 << 16
        if offset is None:
            offset = self.next_granule * granule
            self.next_granule += -(-length // granule)
        self.act("MAP_WINDOW", self.map_in(number, offset, length, export_offset))
        return Window(self, number, offset)

    # Waiting

    def wait_peer(self, other, state=abi.KIWI_G2G_PEER_ESTABLISHED):
        self.q.until(lambda: self.peer(other).state == state, f"peer state {state}")

    def wait_port(self, port=0, state=abi.KIWI_G2G_PORT_UP, reason=0):
        def there():
            p = self.port(port)
            return (p.state, p.reason) == (state, reason)
        self.q.until(there, f"port state {state} {reason}")

    def wait_fabric(self, state):
        self.q.until(lambda: self.fabric().state == state, f"fabric state {state}")

    def event(self, kind=None):
        """The next event, or the next of a kind."""
        while True:
            e = self.events.take()
            self.events.tell(arm=False)
            if kind is None or e.type == kind:
                return e

    def drain(self):
        """The events that are there."""
        found = []
        self.q.settle()
        while self.events.ready():
            found.append(self.events.take())
        self.events.tell(arm=False)
        return found


def number_of(die):
    return die if isinstance(die, int) else die.accel


class Export:
    """An export of a die."""

    def __init__(self, die, handle, length, number):
        self.die, self.handle, self.length, self.number = die, handle, length, number


class Window:
    """A mapped window, and where the CPU sees it."""

    def __init__(self, die, number, offset):
        self.die, self.number = die, number
        self.addr = die.aperture + offset

    def state(self):
        return self.die.window(self.number)

    def unbind(self):
        self.die.act("UNBIND_WINDOW", cmd_id(self.number))

    def cell(self, n=0):
        page = self.die.aperture + self.die.caps().atomic_base + (self.number - 1 << 12)
        return Cell(self.die.q, page + abi.KIWI_G2G_CELL_SIZE * n)


class Cell:
    """A cell of an atomic page."""

    def __init__(self, q, addr):
        self.q, self.addr = q, addr

    def go(self, op, offset, operand=0, compare=0):
        self.q.writeq(self.addr + abi.KIWI_G2G_CELL_OPERAND, operand)
        self.q.writeq(self.addr + abi.KIWI_G2G_CELL_COMPARE, compare)
        self.q.writeq(self.addr + abi.KIWI_G2G_CELL_GO, op << abi.KIWI_G2G_CELL_OP_SHIFT | offset)

    def read(self):
        """Result and status."""
        return (self.q.readq(self.addr + abi.KIWI_G2G_CELL_RESULT),
                self.q.readq(self.addr + abi.KIWI_G2G_CELL_STATUS))

    def run(self, op, offset, operand=0, compare=0):
        self.go(op, offset, operand, compare)
        return self.read()


def configured(q, count, caps=None, mode=abi.KIWI_G2G_PORT_DIRECT, ids=None):
    """Dies of a full mesh with a fabric and trained ports; not yet routed."""
    dies = [Die(q, n).begin(caps) for n in range(count)]
    ids = ids or range(count)
    for die, accel in zip(dies, ids):
        die.set_fabric(accel)
    for n, die in enumerate(dies):
        for port in range(count - 1):
            die.set_port(port, mode=mode)
    for die in dies:
        for port in range(count - 1):
            die.wait_port(port)
    return dies


def fabric(q, count, **how):
    """Dies of a full mesh, active, every peer established."""
    dies = configured(q, count, **how)
    activate(dies)
    return dies


def activate(dies, port=port_to):
    """Routes each die to all others by the port that a function tells, and activates."""
    for n, die in enumerate(dies):
        die.route({other.accel: 1 << port(n, m) for m, other in enumerate(dies) if m != n})
        die.act("ACTIVATE")
    for die in dies:
        for other in dies:
            if other is not die:
                die.wait_peer(other)
