# SPDX-License-Identifier: GPL-2.0
"""The emulated host: from a description to the command line of QEMU."""

import dataclasses
import pathlib

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / "build"



def accelerators(count):
    """G2G dies, each below one switch with its accelerator."""
    return tuple((f"g2g{n}", f"xpu{n}") for n in range(count))


# Devices by the switch that they share. A group of one has a root port of its own.
TOPOLOGIES = {
    "pair": (("snic0", "xpu0"), ("snic1", "xpu1")),
    "flat": (("snic0",), ("xpu0",), ("snic1",), ("xpu1",)),
    "one-switch": (("snic0", "xpu0", "snic1", "xpu1"),),
    "single": (("snic0", "xpu0"),),
    "xpus": (("xpu0",), ("xpu1",)),
    "bare": (),
    "g2g-pair": accelerators(2),
    "g2g-mesh": accelerators(4),
    "g2g-spine": accelerators(8) + (("g2g8",), ("g2g9",)),
    "g2g-switch": accelerators(8),
    "g2g-snic": (("snic0", "g2g0", "xpu0"), ("snic1", "g2g1", "xpu1")),
}
PORTS = 2       # of a SNIC; port n of each is on wire n
TYPES = {"snic": "kiwi-snic", "xpu": "xpu", "g2g": "kiwi-g2g"}


def full_mesh(count):
    """A wire between any two dies: each has a port to each other, in the order of the others."""
    return tuple(((a, b - 1), (b, a)) for b in range(count) for a in range(b))


# Wires between ports (die, port) of G2G dies; an Ethernet switch joins more than two.
WIRES = {
    "g2g-pair": full_mesh(2),
    "g2g-snic": full_mesh(2),
    "g2g-mesh": full_mesh(4),
    "g2g-spine": tuple(((leaf, spine), (8 + spine, leaf))
                       for spine in range(2) for leaf in range(8)),
    "g2g-switch": tuple(tuple((leaf, plane) for leaf in range(8)) for plane in range(2)),
}


@dataclasses.dataclass
class Machine:
    """What a scenario may choose about the host it runs in."""
    kernel: str = "debian-6.12"
    topology: str = "pair"
    smp: int = 2
    memory: str = "1G"
    vram: str = "4G"
    iommu: str = "off"          # off, on, or ats (device IOTLBs too)
    acs: bool = False           # the switches' downstream ports can redirect requests
    pciehp: bool = None         # native PCIe hotplug in place of ACPI's; by default with test kernels
    icount: bool = False        # one vCPU that counts instructions, reproducible
    pcap: bool = False          # each port's frames to LOG/snicNpM.pcap
    rdma: bool = False          # the guest has rdma-core and perftest
    vnet: bool = None           # a virtio-net on wire 0; by default with rdma
    props: dict = dataclasses.field(default_factory=dict)   # device -> {property: value}
    extra: list = dataclasses.field(default_factory=list)   # more arguments of QEMU
    append: str = ""            # more of the kernel's command line

    def __post_init__(self):
        if self.topology not in TOPOLOGIES:
            raise ValueError(f"no topology '{self.topology}'; there are: "
                             + ", ".join(TOPOLOGIES))
        if self.iommu not in ("off", "on", "ats"):
            raise ValueError(f"iommu is off, on or ats, not '{self.iommu}'")
        if self.vnet is None:
            self.vnet = self.rdma
        # Under ACPI's hotplug a kernel walks its slots in AML at each bus of a boot, which takes
        # one with detectors half a second. Of an unplugging by its own native hotplug lockdep
        # complains.
        if self.pciehp is None:
            self.pciehp = self.test_kernel
        unknown = set(self.props) - set(self.devices())
        if unknown:
            raise ValueError(f"no device {', '.join(sorted(unknown))} in topology "
                             f"'{self.topology}'")

    @property
    def test_kernel(self):
        """Whether the kernel is one with detectors, and so several times slower."""
        return self.kernel.startswith("test-")

    @property
    def slowness(self):
        """What timeouts are to be multiplied by."""
        return 5 if self.test_kernel else 1

    def devices(self):
        """The ids of the devices, which are their names in QOM too."""
        return [d for group in TOPOLOGIES[self.topology] for d in group]

    def initramfs(self):
        name = "initramfs-rdma.img" if self.rdma else "initramfs.img"
        return BUILD / self.kernel / name

    def _image(self):
        """The kernel: unpacked where it can be entered so, which saves a third of a boot."""
        return BUILD / self.kernel / "kernel" / ("vmlinuz" if self.test_kernel else "vmlinux")

    def cmdline(self):
        """The kernel's command line."""
        words = ["console=ttyS0", "panic=-1", "oops=panic", "iomem=relaxed",
                 # These checks fail when the machine is busy; that of the clock patches
                 # code that runs, for which VM.hit_int3() has the defect.
                 "no_timer_check", "tsc=reliable",
                 # A fifth of a boot: the kernel's tests of its own ciphers.
                 "cryptomgr.notests", "initcall_blacklist=crypto_kdf108_init,jent_mod_init"]
        if self.iommu != "off":
            words.append("intel_iommu=on")
        if self.test_kernel:
            words.append("panic_on_warn=1")
        if self.icount:
            words += ["nokaslr", "random.trust_cpu=off"]
        return " ".join(words + self.append.split())

    def arguments(self, log, initramfs=None):
        """The arguments of QEMU, without the serial ports and the monitor."""
        args = ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                "-machine", "q35", "-cpu", "max", "-m", self.memory,
                "-global", "q35-pcihost.pci-hole64-size=256G",
                "-kernel", self._image(),
                "-initrd", initramfs or self.initramfs(),
                "-append", self.cmdline()]
        if self.icount:
            args += ["-accel", "tcg,thread=single", "-smp", "1", "-seed", "7",
                     "-icount", "shift=0,sleep=off",
                     "-rtc", "base=2020-01-01T00:00:00,clock=vm"]
        else:
            args += ["-accel", "tcg,thread=multi", "-smp", str(self.smp)]
        if self.pciehp:
            args += ["-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"]
        if self.iommu != "off":
            ats = ",device-iotlb=on" if self.iommu == "ats" else ""
            args += ["-device", "intel-iommu,intremap=on" + ats]
        return [str(a) for a in args + self._fabric(log) + self.extra]

    def _fabric(self, log):
        args = []
        for n, group in enumerate(TOPOLOGIES[self.topology]):
            args += ["-device", f"pcie-root-port,id=rp{n},chassis={n},slot={n}"]
            if len(group) == 1:
                args += self._endpoint(group[0], f"rp{n}", log)
                continue
            args += ["-device", f"x3130-upstream,id=up{n},bus=rp{n}"]
            for m, name in enumerate(group):
                port = "kiwi-acs-port" if self.acs else "xio3130-downstream"
                args += ["-device", f"{port},id=dn{n}{m},bus=up{n},"
                                    f"chassis={16 + n},slot={m}"]
                args += self._endpoint(name, f"dn{n}{m}", log)
        if self.vnet:
            args += self._netdev("vnet0", 0, log)
            args += ["-device", "virtio-net-pci,id=vnet0,netdev=vnet0,"
                                "mac=52:54:00:4b:ff:00"]
        return args

    def _endpoint(self, name, bus, log):
        kind, number = name[:-1], int(name[-1])
        args, props = [], {"id": name, "bus": bus}
        if kind == "snic":
            props["serial"] = 0x4b57000000000001 + number
            for port in range(PORTS):
                netdev = f"{name}p{port}"
                args += self._netdev(netdev, port, log)
                props[f"netdev{port}"] = netdev
                props[f"mac{port}"] = f"52:54:00:4b:{number:02x}:{port:02x}"
        elif kind == "g2g":
            props["serial"] = 0x4b57000000000101 + number
            for wire, ends in enumerate(WIRES[self.topology]):
                for port in (port for die, port in ends if die == number):
                    netdev = f"{name}p{port}"
                    args += self._netdev(netdev, PORTS + wire, log)
                    props[f"netdev{port}"] = netdev
        else:
            props["vram-size"] = self.vram
        props.update(self.props.get(name, {}))
        text = ",".join(f"{key}={value}" for key, value in props.items())
        return args + ["-device", f"{TYPES[kind]},{text}"]

    def _netdev(self, name, wire, log):
        args = ["-netdev", f"hubport,id={name},hubid={wire}"]
        if self.pcap:
            args += ["-object", f"filter-dump,id=dump-{name},netdev={name},"
                                f"maxlen=65535,file={log / name}.pcap"]
        return args
