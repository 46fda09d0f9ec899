# SPDX-License-Identifier: GPL-2.0
"""System calls of programs, by strace."""

import re


def system_calls(vm, command, since=None, timeout=110):
    """The names of the system calls of a command, in order; behind the first that names "since"."""
    vm.sh(f"timeout {timeout} strace -f -o /run/trace {command}", timeout=timeout + 10)
    text = vm.get("/run/trace").decode()
    if since:
        text = text[text.index(since):]
    return re.findall(r"^\d+ +(\w+)\(", text, re.MULTILINE)
