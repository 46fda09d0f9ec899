#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Boots the emulated host to a prompt on this terminal.

Arguments are options of the machine, as KEY=VALUE (topology=flat iommu=on
kernel=debian-6.1 rdma=true smp=1 ...), and properties of its devices, as
DEVICE.KEY=VALUE (snic0.max-qp=4 ...). The host ends with its shell, or at once
with Ctrl-a x.
"""

import dataclasses
import os
import sys

sys.dont_write_bytecode = True

from machine import BUILD, Machine                          # noqa: E402
from vm import LOGS, prepare, qemu_environment              # noqa: E402

FIELDS = {f.name: f for f in dataclasses.fields(Machine)}


def parse(words):
    """KEY=VALUE words as keywords of Machine."""
    options = {"props": {}}
    for word in words:
        key, equals, value = word.partition("=")
        device, dot, prop = key.partition(".")
        if equals and dot:
            options["props"].setdefault(device, {})[prop] = value
            continue
        if not equals or key not in FIELDS:
            sys.exit(f"no option '{word}'; KEY=VALUE with KEY one of: " + " ".join(FIELDS))
        kind = FIELDS[key].type
        if kind not in (str, int, bool):
            sys.exit(f"option '{key}' cannot be given here")
        try:
            options[key] = value in ("1", "on", "true", "yes") if kind is bool else kind(value)
        except ValueError:
            sys.exit(f"'{key}' is a number, not '{value}'")
    return options


def main():
    options = parse(sys.argv[1:])
    options["append"] = options.get("append", "") + " kiwi.shell quiet"
    try:
        machine = Machine(**options)
    except ValueError as error:
        sys.exit(str(error))
    prepare([machine.kernel], machine.rdma)
    log = LOGS / "shell"
    log.mkdir(parents=True, exist_ok=True)
    arguments = machine.arguments(log) + ["-serial", "mon:stdio", "-serial", "null"]
    print("The shell comes up in some seconds; Ctrl-a x ends the host.", flush=True)
    os.chdir(BUILD)
    os.execvpe("qemu-system-x86_64", ["qemu-system-x86_64"] + arguments, qemu_environment())


if __name__ == "__main__":
    main()
