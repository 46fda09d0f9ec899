# SPDX-License-Identifier: GPL-2.0
"""The library and the tools: on this machine as far as they need no device, then on one."""

import json
import os
import re
import shlex
import subprocess

from machine import BUILD, TOP
from scenario import hosttest, scenario

OPS = ("write", "read", "send", "atomic", "cas")
GPU = "-m gpu:xpu0 --peer-mem gpu:xpu1"


def command(*words, **options):
    """What a command of this machine prints; it must succeed."""
    done = subprocess.run(words, cwd=TOP, text=True, capture_output=True, check=False,
                          timeout=200, **options)
    assert done.returncode == 0, f"{shlex.join(map(str, words))}\n{done.stdout}{done.stderr}"
    return done.stdout


def tap(*make_words):
    """Runs a make verb that runs tests, and wants at least one result of them."""
    output = command("make", "-s", *make_words)
    results = re.findall(r"^(ok|not ok) ", output, re.MULTILINE)
    assert results and set(results) == {"ok"}, output
    print(f"{len(results)} results")


@hosttest("userspace.library")
def library(_log):
    """Rings, completions, doorbells, lifetime, instructions, over a played kernel."""
    tap("libkiwi-check")


@hosttest("userspace.sanitizers")
def sanitizers(_log):
    """The same with the address and undefined-behaviour sanitizers."""
    tap("libkiwi-check", "SANITIZE=1")


@hosttest("userspace.verify")
def verify(_log):
    """kiwi-perf --verify can fail: each wrong byte is seen."""
    tap("tools-check")


@hosttest("userspace.install")
def install(log):
    """What is installed is enough to build against, and exports what it should."""
    root = log / "root"
    command("make", "-s", "install-libkiwi", "install-tools", f"DESTDIR={root}", "PREFIX=/usr")
    env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=str(root),
               PKG_CONFIG_LIBDIR=str(root / "usr/lib/pkgconfig"))
    flags = command("pkg-config", "--cflags", "--libs", "libkiwi", env=env).split()
    program = log / "hello"
    command("gcc", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-o", program,
            "lib/examples/hello-write.c", *flags)
    needed = command("readelf", "-d", program)
    assert "[libkiwi.so.1]" in needed, needed
    run = subprocess.run([program], env={"LD_LIBRARY_PATH": str(root / "usr/lib")},
                         capture_output=True, text=True, check=False, timeout=20)
    assert run.returncode == 1 and "snic0" in run.stderr, run
    source = log / "cxx.cc"
    source.write_text("#include <kiwi/fabric.h>\nint main() { return kiwi_list(nullptr, 0) < 0 || "
                      "kiwi_g2g_list(nullptr, 0) < 0; }\n", encoding="utf-8")
    command("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-o", log / "cxx", source, *flags)

    exported = {line.split()[-1].split("@")[0] for line in command(
        "nm", "-D", "--defined-only", root / "usr/lib/libkiwi.so").splitlines()}
    declared = public_functions("kiwi.h") | public_functions("fabric.h")
    assert exported - {"KIWI_1.0", "KIWI_1.1", "KIWI_1.2"} == declared, exported ^ declared


def public_functions(header):
    """Names that a header offers; those that end in _ are its own."""
    text = (TOP / "lib/include/kiwi" / header).read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    names = set(re.findall(r"^[a-z][^\n(=;]*\b(kiwi_[a-z0-9_]+)\(", text, re.MULTILINE))
    return {n for n in names if not n.endswith("_")}


@hosttest("userspace.manuals")
def manuals(_log):
    """Each function and each option has its place in the manual, and none is made up."""
    pages = sorted((TOP / "Documentation/man").glob("*.[13]"))
    named = set()
    for page in pages:
        name_section = page.read_text(encoding="utf-8").split(".Sh SYNOPSIS")[0]
        named |= set(re.findall(r"^\.Nm (kiwi_\S+)", name_section, re.MULTILINE))
    functions = public_functions("kiwi.h") | public_functions("queue.h") | \
        public_functions("proxy.h") | public_functions("fabric.h")
    assert named == functions, named ^ functions

    page = (TOP / "Documentation/man/kiwi-perf.1").read_text(encoding="utf-8")
    told = {w for line in re.findall(r"^\.(?:It )?Fl .*", page, re.MULTILINE)
            for w in re.findall(r"-([a-z][a-z-]+)", line)}
    helped = set(re.findall(r"--([a-z][a-z-]+)", command(BUILD / "bin/kiwi-perf", "--help")))
    assert told == helped, told ^ helped


# kiwictl on a made-up /sys/class/kiwi -------------------------------------------------

SYSFS = {
    "snic0/serial": "00ff00ff00ff00ff", "snic0/fw_version": "1.2.3", "snic0/abi_version": "1.1",
    "snic0/revision": "7", "snic0/generation": "1", "snic0/caps/max_qp": "16384",
    "snic0/caps/max_mr_size": "1152921504606846976",
    "snic0/ports/1/state": "ACTIVE", "snic0/ports/1/enabled": "1", "snic0/ports/1/mtu": "1024",
    "snic0/ports/1/mtu_max": "4096", "snic0/ports/1/mbps": "400000",
    "snic0/ports/1/mac": "02:4b:57:00:00:01",
    "snic0/ports/1/gids/0": "fe80:0000:0000:0000:004b:57ff:fe00:0001",
    "snic0/ports/1/gids/1": "0000:0000:0000:0000:0000:0000:0000:0000",
    "snic0/ports/1/gids/10": "::ffff:192.0.2.1",
    "snic0/ports/1/counters/tx_frames": "12", "snic0/ports/2/counters/tx_frames": "34",
    "snic0/ports/2/state": "DOWN", "snic0/ports/2/mac": "02:4b:57:00:00:02",
    "snic0/diag/live_qp": "3",
    "snic10/serial": "2", "snic2/serial": "1\"\\",
    "control/version": "no device",
}


@hosttest("userspace.kiwictl", covers=[23])
def kiwictl_host(log):
    """Text and JSON of every command that shows something, on files made for it."""
    root = log / "sysfs"
    for path, value in SYSFS.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(value + "\n", encoding="utf-8")
    (log / "0000:03:00.0").mkdir()
    (root / "snic0/device").symlink_to(log / "0000:03:00.0")
    env = dict(os.environ, KIWI_SYSFS_PATH=str(root))

    def kiwictl(*words, status=0):
        done = subprocess.run([BUILD / "bin/kiwictl", *words], env=env, text=True, check=False,
                              capture_output=True, timeout=20)
        assert done.returncode == status, (words, done)
        assert bool(done.stderr) == bool(status), done
        return done.stdout if status == 0 else done.stderr

    def shown(*words):
        return json.loads(kiwictl("--json", *words))

    devices = shown("list")
    assert [d["name"] for d in devices] == ["snic0", "snic2", "snic10"], devices
    assert devices[0]["pci"] == "0000:03:00.0" and devices[0]["ports"] == 2, devices
    assert devices[1]["serial"] == "1\"\\", devices
    assert kiwictl("list").splitlines()[1].split()[:2] == ["snic0", "00ff00ff00ff00ff"]

    show = shown("show", "/dev/kiwi/snic0")
    assert show["serial"] == "00ff00ff00ff00ff" and show["generation"] == 1, show
    assert show["caps"] == {"max_qp": 16384, "max_mr_size": "1152921504606846976"}, show
    assert show["ports"][0]["gids"] == [
        {"index": 0, "gid": "fe80::4b:57ff:fe00:1"},
        {"index": 10, "gid": "::ffff:192.0.2.1"}], show
    text = kiwictl("show", "snic0")
    assert "port 1: ACTIVE, enabled, MTU 1024 of 4096, 400000 Mb/s, MAC 02:4b:57:00:00:01" in text
    assert "::ffff:192.0.2.1" in text and "max_qp" in text, text

    both = [p["counters"] for p in shown("counters", "snic0")["ports"]]
    assert both == [{"tx_frames": 12}, {"tx_frames": 34}], both
    assert shown("counters", "snic0", "port", "2")["ports"] == \
        [{"port": 2, "counters": {"tx_frames": 34}}]
    assert shown("diag", "snic0") == {"name": "snic0", "diag": {"live_qp": 3}}
    assert shown("gid", "list", "snic0", "1")["ports"][0]["gids"][1]["index"] == 10

    # What cannot be read is told, and what is printed all the same is whole.
    (root / "snic0/ports/1/counters/rx_frames").mkdir()
    (root / "snic0/diag/commands").mkdir()
    for words in (("counters", "snic0"), ("diag", "snic0")):
        done = subprocess.run([BUILD / "bin/kiwictl", "--json", *words], env=env, text=True,
                              check=False, capture_output=True, timeout=20)
        assert done.returncode == 1 and "Is a directory" in done.stderr, done
        assert json.loads(done.stdout)["name"] == "snic0", done
    (root / "snic10/serial").unlink()
    (root / "snic10/serial").mkdir()
    assert shown("list")[2]["serial"] is None
    assert "Is a directory" in kiwictl("show", "snic10", status=1)
    assert "port 2: DOWN, ?, MTU ? of ?, ? Mb/s" in kiwictl("show", "snic0")

    assert "snic7" in kiwictl("show", "snic7", status=1)
    assert "port '3'" in kiwictl("counters", "snic0", "port", "3", status=1)
    assert "no diagnostic" in kiwictl("diag", "snic2", status=1)
    for words in (("show",), ("frob",), ("show", "snic0", "x"), ("--frob",), ("port", "set"),
                  ("gid", "set", "snic0", "1", "0", "192.0.2.256"),
                  ("port", "set", "snic0", "1", "mtu", "1500"),
                  ("port", "set", "snic0", "0", "up"), ("counters", "snic0", "port")):
        kiwictl(*words, status=2)
    for words in (("show", "../sysfs/snic0"), ("show", "."), ("show", "control"),
                  ("counters", "snic0", "port", "../1")):
        kiwictl(*words, status=1)
    env["KIWI_SYSFS_PATH"] = str(log / "none")
    assert json.loads(subprocess.run([BUILD / "bin/kiwictl", "--json", "list"], env=env,
                                     capture_output=True, check=True, timeout=20).stdout) == []


# On the emulated host -----------------------------------------------------------------

def perf(vm, words, timeout=120):
    """A run of kiwi-perf that must succeed: its report."""
    return json.loads(vm.sh(f"kiwi-perf {words} --json", timeout=timeout))


def payload(op, size, count):
    """Bytes of payload that both devices move together for a verified run."""
    if op == "atomic":
        return 24 * count
    if op == "cas":         # each fourth compares unequal and is not written back
        return 24 * count - 8 * (count // 4)
    return 2 * size * count


def check_report(report, op, sizes, count, peer):
    """All sizes verified, and every payload byte where it belongs."""
    assert report["complete"] and report["op"] == op, report
    assert [r["bytes"] for r in report["results"]] == sizes, report
    for row in report["results"]:
        expected = payload(op, row["bytes"], count)
        moved = (row["dma_peer_bytes"], row["dma_system_bytes"])
        assert row["verified"] is True and row["iterations"] == count, row
        assert moved == ((expected, 0) if peer else (0, expected)), (row, expected)
        assert row["mb_per_s"] > 0 and row["us"] > 0 and row["frames"] > 0, row


@scenario("userspace.perf", iommu=["off", "on"], timeout=400)
def kiwi_perf(vm):
    """Every operation from host to host and from GPU to GPU, odd sizes, every byte."""
    vm.load("kiwi_snic", "xpu")
    sizes = "--min 1 --max 1000003"
    expected = [2 ** n for n in range(20)] + [1000003]
    for memory, peer in (("", False), (GPU, True), ("-m gpu:xpu0:4K --peer-mem gpu:xpu1:64K", True)):
        for op in OPS:
            atomic = op in ("atomic", "cas")
            report = perf(vm, f"{op} {'' if atomic else sizes} -n 6 -v {memory}")
            check_report(report, op, [8] if atomic else expected, 6, peer)
            path = report["local"]["path"]
            assert path.startswith(("p2p-switch", "p2p-root") if peer else "system"), path
    for more in ("-e", "-t lat", "-t lat -e", "-p 7 -q 9 --signal-every 5", "-M 256"):
        for op in OPS:
            size = 8 if op in ("atomic", "cas") else 9000
            report = perf(vm, f"{op} -s {size} -n 100 -v {more}")
            check_report(report, op, [size], 100, False)
    report = perf(vm, "write -s 400 -n 100 -v --inline")
    assert report["results"][0]["dma_system_bytes"] == 400 * 100, report


@scenario("userspace.network")
def network(vm):
    """The passive side behind a TCP connection."""
    vm.load("kiwi_snic", "xpu")
    vm.sh("ip link set lo up")
    for op in OPS:
        for more in ("", "-e"):
            report = json.loads(vm.sh(
                "timeout 60 kiwi-perf --listen=7001 -d snic1 -m gpu:xpu1 & sleep 1; timeout 50 "
                f"kiwi-perf {op} -c '[::1]:7001' -m gpu:xpu0 -s 70000 -n 100 -v --json {more} && "
                "wait $!", timeout=90))
            check_report(report, op, [8 if op in ("atomic", "cas") else 70000], 100, True)
    rc, output = vm.run("kiwi-perf --listen=7001 -d snic1 & sleep 1; echo nonsense | "
                        "nc 127.0.0.1 7001; wait $!", timeout=60)
    assert rc == 1 and "nonsense" in output, output


@scenario("userspace.doorbells")
def doorbells(vm):
    """A posted list of 64 costs one doorbell."""
    vm.load("kiwi_snic")
    for op in ("write", "read", "atomic"):
        row = perf(vm, f"{op} -s 8 -n 640 -p 64 -q 64")["results"][0]
        assert row["local"]["doorbells"] == 10, row
        assert row["peer"]["doorbells"] == 0, row


@scenario("userspace.kiwictl-set")
def kiwictl_set(vm):
    """Ports and GIDs are set by the administrator alone, and what is refused is named."""
    vm.load("kiwi_snic")
    vm.sh("chmod 666 /dev/kiwi/*")

    def refused(words, *says, user=None):
        line = f"kiwictl {words}"
        rc, output = vm.run(f"su -s /bin/sh {user} -c '{line}'" if user else line)
        assert rc == 1 and all(w in output for w in says), (words, output)

    for words in ("gid set snic0 1 2 192.0.2.9", "port set snic0 1 down"):
        refused(words, "CAP_NET_ADMIN", user="user")
    refused("gid set snic0 3 0 192.0.2.9", "3")
    refused("gid set snic0 1 16 192.0.2.9", "16")
    refused("gid set snic0 1 3 224.0.0.1", "GID")
    refused("port set snic9 1 up", "snic9")
    vm.sh("kiwictl gid set snic0 1 2 192.0.2.9")
    refused("gid set snic0 1 3 192.0.2.9", "GID")
    ports = json.loads(vm.sh("kiwictl --json gid list snic0"))["ports"]
    assert {"index": 2, "gid": "::ffff:192.0.2.9"} in ports[0]["gids"], ports
    vm.sh("kiwictl gid set snic0 1 2 none")
    ports = json.loads(vm.sh("kiwictl --json gid list snic0"))["ports"]
    assert [g["index"] for g in ports[0]["gids"]] == [0], ports

    vm.sh("kiwictl port set snic1 1 mtu 512")
    port = json.loads(vm.sh("kiwictl --json show snic1"))["ports"][0]
    assert (port["mtu"], port["enabled"], port["state"]) == (512, 1, "ACTIVE"), port
    check_report(perf(vm, "write -s 100000 -n 3 -v"), "write", [100000], 3, False)
    vm.sh("kiwictl port set snic1 1 down")
    port = json.loads(vm.sh("kiwictl --json show snic1"))["ports"][0]
    assert (port["mtu"], port["enabled"], port["state"]) == (512, 0, "DOWN"), port
    rc, output = vm.run("kiwi-perf write")
    assert rc == 1 and "snic1 port 1 is DOWN" in output, output
    vm.sh("kiwictl port set snic1 1 up mtu 4096")
    check_report(perf(vm, "write -s 100000 -n 3 -v"), "write", [100000], 3, False)


@scenario("userspace.unprivileged", covers=[17])
def unprivileged(vm):
    """Whoever can open the file can use the device, within RLIMIT_MEMLOCK."""
    vm.load("kiwi_snic")
    rc, output = vm.run("su -s /bin/sh user -c 'kiwi-perf write'")
    assert rc == 1 and "Permission denied" in output, output
    vm.sh("chmod 666 /dev/kiwi/*")
    output = vm.sh("su -s /bin/sh user -c 'ulimit -l 1024; hello-write'")
    assert "Hello over RDMA!" in output, output
    rc, output = vm.run("su -s /bin/sh user -c 'ulimit -l 1024; kiwi-perf write -s 4M'")
    assert rc == 1 and "RLIMIT_MEMLOCK" in output and "1048576" in output, output


@scenario("userspace.gone", covers=[18])
def gone(vm):
    """A device that goes away ends the programs that wait for it, soon."""
    vm.load("kiwi_snic")
    for op, victim in (("write", "snic1"), ("send -e", "snic0"), ("read", "snic0")):
        pci = vm.sh(f"basename $(readlink /sys/class/kiwi/{victim}/device)").strip()
        rc, output = vm.run(f"kiwi-perf {op} -s 256K -n 1000000 & sleep 2; "
                            f"echo {pci} >/sys/bus/pci/drivers/kiwi_snic/unbind; wait $!; rc=$?; "
                            f"echo {pci} >/sys/bus/pci/drivers/kiwi_snic/bind; exit $rc",
                            timeout=60)
        assert rc == 1 and victim in output, (op, output)
        check_report(perf(vm, "write -n 3 -s 5000 -v"), "write", [5000], 3, False)
