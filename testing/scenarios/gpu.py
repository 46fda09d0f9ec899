# SPDX-License-Identifier: GPL-2.0
"""Kernels of the stand-in accelerator that work queues of the SNIC: no CPU in the path."""

import json
import os
import random
import re

import audit
from scenario import scenario

KERNELS = ["debian-6.12", "debian-6.1"]
SOAK = "KIWI_SOAK" in os.environ
ENDS = 200 if SOAK else 12
OUT = "/run/burn"
BIND = "/sys/bus/pci/drivers"
# Few of each, so that numbers come again soon.
# The emulator does the work of all devices in one thread, from which the guest must get its
# share: each accelerator's thread posts 10,000 times a second, without pause.
PACE = {xpu: {"wqe-ns": 100000} for xpu in ("xpu0", "xpu1")}
FEW = {"snic0": {"max-qp": 3, "max-cq": 3, "db-pages": 4}}

DONE, FAILED, STOPPED = 2, 3, 4
DOORBELL, COMPLETION, ERROR_WORD, RESET = 5, 6, 7, 11
FATAL, GONE = 8, 0xffffffff     # words of a device
WORD_SECONDS = 1                # until they are there, as kiwi/queues.h says


def load(vm):
    """Loads the drivers; returns what an idle SNIC holds."""
    for module in ("kiwi_fw", "kiwi_snic", "xpu"):
        vm.sh(f"insmod /modules/{module}.ko", timeout=120)
    return held(vm)


def held(vm):
    """What the SNICs hold."""
    return [audit.live(vm, d) for d in ("snic0", "snic1")]


def gpu_test(vm, tests="", timeout=500):
    """Runs gpu-test; returns what it printed."""
    rc, text = vm.run(f"gpu-test {tests}", timeout=timeout)
    print(text)
    assert rc == 0, text
    return text


@scenario("gpu.all", kernel=KERNELS, iommu="on", covers=[1, 3, 4, 5, 7, 8], timeout=600)
def everything(vm):
    """Put, signal, get, atomics, fence, all-to-all and experts, each byte looked at."""
    idle = load(vm)
    gpu_test(vm)
    assert held(vm) == idle


@scenario("gpu.no-way", kernel="test-6.12", topology="flat", covers=[1])
def no_way(vm):
    """No way from accelerator to SNIC: the import of a doorbell fails for that, preflight tells."""
    idle = load(vm)
    rc, text = vm.run("gpu-test put.collapsed", timeout=120)
    assert rc and "import of a doorbell: Operation not supported" in text, text
    rc, text = vm.run("kiwictl preflight snic0 --gpu xpu0 --json", timeout=120)
    (exporter,) = [c for c in json.loads(text)[0]["checks"] if c["check"] == "exporter"]
    assert rc == 3 and exporter["state"] == "FAIL", text
    assert "lets no peer reach" in exporter["reason"] and "SNIC can reach" in exporter["fix"], text
    assert held(vm) == idle


@scenario("gpu.late", props=FEW, covers=[31])
def late(vm):
    """Over 10,000 late doorbells of each kind: none acts, the device counts them all."""
    idle = load(vm)
    text = gpu_test(vm, "late")
    dropped = {name: sum(map(int, re.findall(rf"{name} (\d+)", text)))
               for name in ("closed_page", "no_queue", "other_page", "old_epoch", "bad_index")}
    for name in ("closed_page", "no_queue", "old_epoch"):
        assert dropped[name], dropped
    assert held(vm) == idle


def burn(vm, heir=""):
    """Starts kernels at full rate; returns the process that holds the SNICs."""
    vm.begin(f"gpu-test burn {heir}", OUT, "ready", timeout=120)
    vm.sh(f"usleep {random.randrange(0, 200000)}")
    return re.search(r"held by (\d+)", vm.sh(f"cat {OUT}"))[1]


def ends(vm):
    """Waits for the end of the program: {(rank, kernel): (state, fault, detail, time)}."""
    text = vm.sh("for i in $(seq 2000); do pidof gpu-test >/dev/null || break; usleep 50000; done; "
                 f"cat {OUT}", timeout=200)
    found = {}
    for rank, kernel, rest in re.findall(r"rank (\d) (\w+): (.*)", text):
        match = re.fullmatch(r"state (\d+) fault (\d+) detail (\w+) at ([\d.]+)", rest)
        found[int(rank), kernel] = (int(match[1]), int(match[2]), int(match[3], 16),
                                    float(match[4])) if match else rest
    assert len(found) == 4, text
    return found


def uptime(vm):
    """What burn's times are to be compared with; it counts in steps of 10 ms."""
    return float(vm.sh("cut -d' ' -f1 /proc/uptime")) + 0.01


def word_seen(end):
    """Whether work ended by the word of a device that is dead or gone, or right behind it."""
    state, fault, detail, _ = end
    return state == FAILED and (fault == DOORBELL or
                                fault == ERROR_WORD and detail in (FATAL, GONE))


def told(end, rank, before):
    """The rank's kernels saw the word of their device in time."""
    assert word_seen(end[rank, "work"]), end
    assert end[rank, "watch"][0] == DONE and end[rank, "watch"][3] < before, (end, before)


def cut_off(end, rank):
    """The rank's work ended with a completion that says that the peer is of no use."""
    state, fault, detail, _ = end[rank, "work"]
    assert (state, fault) == (FAILED, COMPLETION) and detail, end
    assert end[rank, "watch"][0] == STOPPED, end


class Ends:
    """Ways for kernels to end. Each leaves devices and drivers as they were."""

    def __init__(self, vm):
        self.vm = vm
        self.snic = [audit.address(vm, f"snic{n}") for n in range(2)]
        self.xpu = [vm.sh(f"basename $(readlink -f /sys/class/xpu/xpu{n}/device)").strip()
                    for n in range(2)]

    def bind(self, driver, address, action="bind"):
        self.vm.sh(f"echo {address} >{BIND}/{driver}/{action}", timeout=120)

    def unbind(self, driver, address):
        self.bind(driver, address, "unbind")

    def kill(self, _n):
        """With all that it holds."""
        pid = burn(self.vm)
        self.vm.sh(f"kill -9 {pid}; while pidof gpu-test; do usleep 10000; done")

    def kill_holder(self, _n):
        """Only the SNICs: another process has the accelerators."""
        pid = burn(self.vm, "heir")
        self.vm.sh(f"kill -9 {pid}; while [ -e /proc/{pid} ]; do usleep 10000; done")
        before, end = uptime(self.vm), ends(self.vm)
        for rank in range(2):       # the file that is closed last may first learn of the other
            work, (state, *_, at) = end[rank, "work"], end[rank, "watch"]
            assert word_seen(work) or work[:2] == (FAILED, COMPLETION), end
            assert state == DONE and at < before, (end, before)

    def snic_unbind(self, n):
        burn(self.vm)
        self.unbind("kiwi_snic", self.snic[n])
        before, end = uptime(self.vm), ends(self.vm)
        self.bind("kiwi_snic", self.snic[n])
        told(end, n, before)
        cut_off(end, 1 - n)

    def snic_reset(self, n):
        burn(self.vm)
        self.vm.sh(f"echo 1 >/sys/bus/pci/devices/{self.snic[n]}/reset", timeout=120)
        before, end = uptime(self.vm), ends(self.vm)
        told(end, n, before)
        cut_off(end, 1 - n)

    def snic_fatal(self, n):
        """The firmware dies, and says so; a reset mends it."""
        burn(self.vm)
        before = uptime(self.vm) + WORD_SECONDS * self.vm.stretch
        self.vm.qom_set(f"snic{n}", "fatal", 3)
        end = ends(self.vm)
        told(end, n, before)
        assert end[n, "work"][2] == FATAL or end[n, "work"][1] == DOORBELL, end
        cut_off(end, 1 - n)
        self.vm.sh(f"echo 1 >/sys/bus/pci/devices/{self.snic[n]}/reset", timeout=120)

    def xpu_unbind(self, n):
        burn(self.vm)
        self.unbind("xpu", self.xpu[n])
        end = ends(self.vm)
        self.bind("xpu", self.xpu[n])
        assert end[n, "work"] == end[n, "watch"] == "gone", end
        cut_off(end, 1 - n)

    def xpu_reset(self, n):
        burn(self.vm)
        self.vm.sh(f"echo 1 >/sys/bus/pci/devices/{self.xpu[n]}/reset", timeout=120)
        end = ends(self.vm)
        for kernel in ("work", "watch"):
            assert end[n, kernel][:2] == (FAILED, RESET), end
        cut_off(end, 1 - n)

    def snic_unplug(self, n):
        burn(self.vm)
        self.vm.unplug(f"snic{n}")
        before, end = uptime(self.vm), ends(self.vm)
        self.plug("snic", n)
        told(end, n, before)
        cut_off(end, 1 - n)

    def xpu_unplug(self, n):
        burn(self.vm)
        self.vm.unplug(f"xpu{n}")
        end = ends(self.vm)
        self.plug("xpu", n)
        assert end[n, "work"] == end[n, "watch"] == "gone", end
        cut_off(end, 1 - n)

    def plug(self, kind, n):
        """The same device again, whose driver is there and waits."""
        name = "kiwi" if kind == "snic" else kind
        self.vm.plug(f"{kind}{n}")
        self.vm.sh(f"until [ -e /sys/class/{name}/{kind}{n} ]; do usleep 50000; done", timeout=60)

    def both(self, n, first, second):
        burn(self.vm)
        address = {"kiwi_snic": self.snic[n], "xpu": self.xpu[n]}
        self.unbind(first, address[first])
        self.unbind(second, address[second])
        end = ends(self.vm)
        for driver in (second, first):
            self.bind(driver, address[driver])
        work, watch = end[n, "work"], end[n, "watch"]
        if first == "xpu":
            assert work == watch == "gone", end
        else:       # how they ended may be told before the accelerator goes
            assert work == "gone" or word_seen(work), end
            assert watch == "gone" or watch[0] == DONE, end
        cut_off(end, 1 - n)

    def xpu_then_snic(self, n):
        self.both(n, "xpu", "kiwi_snic")

    def snic_then_xpu(self, n):
        self.both(n, "kiwi_snic", "xpu")

    def unload(self, n):
        """Modules stay while they are used, and go in either order when they are not."""
        pid = burn(self.vm)
        for module in ("xpu", "kiwi_snic"):
            assert self.vm.run(f"rmmod {module}")[0], f"{module} went from under its users"
        self.vm.sh(f"kill -9 {pid}; while pidof gpu-test; do usleep 10000; done")
        modules = ("xpu", "kiwi_snic")[::1 - 2 * n]
        for module in modules:
            self.vm.sh(f"rmmod {module}", timeout=120)
        self.vm.sh("echo 0 >/sys/bus/pci/drivers_autoprobe")    # which goes by age: a device
        for module in modules:                                  # plugged in again is the last
            self.vm.sh(f"insmod /modules/{module}.ko", timeout=120)
            for address in self.xpu if module == "xpu" else self.snic:
                self.bind(module, address)
        self.vm.sh("echo 1 >/sys/bus/pci/drivers_autoprobe")

    ALL = (kill, kill_holder, snic_unbind, snic_reset, snic_fatal, snic_unplug, xpu_unbind,
           xpu_reset, xpu_unplug, xpu_then_snic, snic_then_xpu, unload)


@scenario("gpu.ends", kernel="test-6.12", iommu="off", pciehp=False, props=PACE,
          covers=[8, 11, 15, 18, 35], timeout=240 if not SOAK else 3600)
def all_ends(vm):
    """Kernels at full rate when what they use goes, in each order: told in time, nothing left."""
    idle = load(vm)
    random.seed(5)
    way = Ends(vm)
    for n in range(ENDS):
        end = Ends.ALL[n % len(Ends.ALL)]
        end(way, n // len(Ends.ALL) % 2)
        assert held(vm) == idle, f"round {n}, {end.__name__}: {held(vm)}, not {idle}"
    assert vm.run("ls /sys/kernel/debug/dma_buf/bufinfo")[0] or \
        "Total 0 objects" in vm.sh("cat /sys/kernel/debug/dma_buf/bufinfo")
    gpu_test(vm, "put.collapsed alltoall.3")
