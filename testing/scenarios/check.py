# SPDX-License-Identifier: GPL-2.0
"""The static gates of scripts/check.sh, as tests, and the proof that each can fail.

testing/check/violations/GATE holds, like a patch, files of a small tree that the gate
lets pass without the lines marked + (but with those marked -), and does not with them:

    expect REGEX    what the gate then says; there may be several
    file PATH       a file of the tree, whose lines follow, each after its mark
"""

import hashlib
import pathlib
import re
import shutil
import subprocess

from machine import BUILD, TOP
from scenario import hosttest

GATES = ("modules-6.12", "modules-6.1", "sparse", "sparse-tests", "coccinelle", "clang", "checkpatch",
         "kernel-doc", "models", "qemu-style", "headers", "holes", "abi", "manuals",
         "shell", "spelling", "tree")

# These compile what has changed alone, and still find what they found before.
INCREMENTAL = ("modules-6.12", "models")

# What gates run, and what nearly every source includes.
SKELETON = (".gitignore", "Kbuild", "Makefile", "firmware-abi", "include", "lib/libkiwi.map",
            "lib/programs.mk", "qemu/Makefile", "qemu/load.c", "scripts", "testing/check/abi-v1", "testing/kernel")


def check(gate, tree=TOP):
    """Whether a gate lets a tree pass, and what it says."""
    done = subprocess.run([tree / "scripts/check.sh", gate], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout)
    return done.returncode == 0, done.stdout


def read_violations(gate):
    """What the gate is to say, and files with their marked lines."""
    expected, files, lines = [], {}, None
    text = (TOP / "testing/check/violations" / gate).read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("expect "):
            expected.append(line.removeprefix("expect "))
        elif line.startswith("file "):
            lines = files.setdefault(line.removeprefix("file "), [])
        else:
            assert line[:1] in (" ", "+", "-"), f"{gate}: {line}"
            lines.append(line)
    return expected, files


def write_files(tree, files, marks):
    """Lays out the lines with some marks; a file of none is not there."""
    for path, lines in files.items():
        kept = [line[1:] + "\n" for line in lines if line[0] in marks]
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).unlink(missing_ok=True)
        if kept:
            (tree / path).write_text("".join(kept), encoding="utf-8")


def prove(gate, tree):
    """The gate lets a small tree pass, and finds each violation of it."""
    for name in SKELETON:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (TOP / name).is_dir():
            shutil.copytree(TOP / name, tree / name)
        else:
            shutil.copy2(TOP / name, tree / name)
    subprocess.run(["git", "init", "-q", tree], check=True)
    expected, files = read_violations(gate)
    assert expected, f"nothing is expected of {gate}"

    write_files(tree, files, " -")
    passes, text = check(gate, tree)
    assert passes, f"{gate} fails without a violation"
    seen = [e for e in expected if re.search(e, text)]
    assert not seen, f"{gate} says without a violation: {seen}"

    write_files(tree, files, " +")
    for run in ("first", "second") if gate in INCREMENTAL else ("only",):
        passes, text = check(gate, tree)
        assert not passes, f"{gate} lets its violations pass in its {run} run"
        missed = [e for e in expected if not re.search(e, text)]
        assert not missed, f"{gate} does not say in its {run} run: {missed}"


def printed(*command):
    """What a command prints."""
    return subprocess.run(command, check=True, cwd=TOP, stdout=subprocess.PIPE).stdout


def digest(*paths):
    """Of all that a gate depends on: files of the tree, this machine's packages, and the kernels
    and kits in the cache, whose names have the digests of their contents."""
    state = hashlib.sha256(pathlib.Path("/var/lib/dpkg/status").read_bytes())
    cached = printed("bash", "-c", '. scripts/lib.sh; ls "$KIWI_CACHE"')
    state.update(b" ".join(re.findall(rb"^.*-[0-9a-f]{16}$", cached, re.M)))
    for name in sorted(set(printed("git", "ls-files", "-z", "--cached", "--others",
                                   "--exclude-standard", "--", *paths).split(b"\0"))):
        path = TOP / name.decode()
        if path.is_file():
            state.update(b"%s %d\n" % (name, path.stat().st_size) + path.read_bytes())
    return state.hexdigest()


def once(name, state, test):
    """Runs a test, unless it has passed since with the very same it depends on."""
    stamp = BUILD / "check/passed" / name
    if stamp.exists() and stamp.read_text(encoding="ascii") == state:
        print("it has passed, and nothing that it depends on has changed since")
        return
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    test()
    stamp.write_text(state, encoding="ascii")


def _register(gate):
    def passes():
        assert check(gate)[0], f"scripts/check.sh {gate} fails"

    def can_fail():
        tree = BUILD / "check/violated" / gate
        shutil.rmtree(tree, ignore_errors=True)
        prove(gate, tree)

    @hosttest(f"check.{gate}", timeout=900)
    def _(_log):
        once(gate, digest("."), passes)

    @hosttest(f"check.{gate}:violated", timeout=300)
    def _(_log):
        once(f"{gate}:violated", digest(*SKELETON, "testing/scenarios/check.py",
                                        f"testing/check/violations/{gate}"), can_fail)


for name in GATES:
    _register(name)
