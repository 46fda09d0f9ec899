# SPDX-License-Identifier: GPL-2.0
"""Reads what a KUnit suite reports in debugfs: one suite in KTAP, and nothing else."""

import re

INDENT = "    "
CASE = re.compile(INDENT + r"(not )?ok (\d+) (\S+)( #.*)?$")
END = re.compile(r"(not )?ok 1 (\S+)$")


class KtapError(Exception):
    """The report is not what a suite reports, so it proves nothing."""


def read(text):
    """The suite's name, and a dictionary of its cases: None, or why one did not pass."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    head = ["KTAP version 1", "1..1", INDENT + "KTAP version 1"]
    if lines[:3] != head or len(lines) < 6:
        raise KtapError(f"no report of a suite: {lines[:6]}")
    name = _match(INDENT + r"# Subtest: (\S+)$", lines[3])[1]
    planned = int(_match(INDENT + r"1\.\.(\d+)$", lines[4])[1])
    cases, said = {}, []
    for line in lines[5:-1]:
        case = CASE.match(line)
        if not case:
            said.append(line.strip())
            continue
        failed, number, case_name, directive = case.groups()
        if int(number) != len(cases) + 1 or case_name in cases:
            raise KtapError(f"{name}: case out of order: {line.strip()}")
        cases[case_name] = "\n".join(said + [line.strip()]) if failed or directive else None
        said = []
    if len(cases) != planned:
        raise KtapError(f"{name}: {len(cases)} cases of {planned}")
    end = _match(END.pattern, lines[-1])
    if end[2] != name or bool(end[1]) != any(cases.values()):
        raise KtapError(f"{name}: the suite's own result does not fit: {lines[-1]}")
    return name, cases


def _match(pattern, line):
    match = re.match(pattern, line)
    if not match:
        raise KtapError(f"'{line.strip()}' where /{pattern}/ is due")
    return match
