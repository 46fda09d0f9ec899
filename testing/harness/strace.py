# SPDX-License-Identifier: GPL-2.0
"""System calls of programs, by strace."""

import re


def system_calls(vm, command, timeout=110):
    """The names of the system calls of a command, in order."""
    vm.sh(f"timeout {timeout} strace -f -o /run/trace {command}", timeout=timeout + 10)
    return re.findall(r"^\d+ +(\w+)\(", vm.get("/run/trace").decode(), re.MULTILINE)
