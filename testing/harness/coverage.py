# SPDX-License-Identifier: GPL-2.0
"""Which lines of the drivers the tests have reached, as the test kernel counts them."""

import json
import os
import pathlib
import shutil
import subprocess

from machine import BUILD, TOP

KERNEL = "test-6.12"
OBJECTS = BUILD / KERNEL / "src"
REPORT = BUILD / "coverage.txt"
DATA = "gcov.tgz"


def collect(vm):
    """Saves the counts of a guest that is about to end in its log folder."""
    # Files of debugfs have no size, so tar sees nothing in them; there are links beside them.
    vm.sh("mkdir -p /tmp/gcov/drivers; cd /sys/kernel/debug/gcov && "
          "for f in $(find . -path '*/drivers/kiwi_*' -prune); do "
          "cp -r $f /tmp/gcov/drivers; done; find /tmp/gcov -type l -exec rm {} +", timeout=120)
    (vm.log / DATA).write_bytes(vm.run_bytes("tar -cz -C /tmp/gcov .", timeout=120)[1])


def merge(archives, scratch):
    """Adds all counts up; returns the folder of the sums, or None if there are no counts."""
    total = None
    for n, archive in enumerate(archives):
        each = scratch / str(n)
        each.mkdir(parents=True)
        subprocess.run(["tar", "-xzf", archive, "-C", each], check=True)
        if next(each.rglob("*.gcda"), None) is None:
            continue        # the drivers were not loaded
        if total is None:
            total = each
            continue
        both = scratch / f"sum{n}"
        subprocess.run(["gcov-tool", "merge", total, each, "-o", both], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(total)
        shutil.rmtree(each)
        total = both
    return total


def lines_of(folder):
    """{source: {line: how often it ran}} of the counts in a folder."""
    result = {}
    for counts in sorted(folder.rglob("*.gcda")):
        relative = counts.relative_to(folder)
        at = relative.parts.index("drivers")
        notes = OBJECTS.joinpath(*relative.parts[at:]).with_suffix(".gcno")
        shutil.copy(notes, counts.with_suffix(".gcno"))
        done = subprocess.run(["gcov", "--json-format", "--stdout", counts], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              cwd=folder)
        for text in done.stdout.splitlines():
            for entry in json.loads(text)["files"]:
                # A unit test's copy of a unit is built from tests/../UNIT.
                source = os.path.normpath(entry["file"])
                if "/drivers/kiwi_" not in source or "/tests/" in source or \
                        not source.endswith(".c"):
                    continue
                source = source[source.rindex("drivers/"):]
                lines = result.setdefault(source, {})
                for line in entry["lines"]:
                    number = line["line_number"]
                    lines[number] = lines.get(number, 0) + line["count"]
    return result


def report(logs):
    """Sums the log folders of tests up in build/coverage.txt.

    Returns how many lines of a hundred were reached, or None if no test tells.
    """
    archives = sorted(archive for log in logs for archive in log.rglob(DATA))
    if not archives:
        return None
    scratch = BUILD / "gcov"
    shutil.rmtree(scratch, ignore_errors=True)
    total = merge(archives, scratch)
    files = lines_of(total) if total else {}
    shutil.rmtree(scratch)
    if not files:
        return None
    table, missed = [], []
    for source, lines in sorted(files.items()):
        table.append((sum(1 for n in lines.values() if n), len(lines), source))
        text = (TOP / source).read_text(encoding="utf-8").splitlines()
        missed += [f"{source}:{n}: {text[n - 1].strip()}"
                   for n, count in sorted(lines.items()) if not count]
    reached, all_lines = (sum(row[n] for row in table) for n in (0, 1))
    with open(REPORT, "w", encoding="utf-8") as out:
        for hit, count, source in table + [(reached, all_lines, "all")]:
            out.write(f"{100 * hit / count:5.1f} %  {hit:4}/{count:4}  {source}\n")
        out.write("\nnot reached:\n" + "".join(f"{line}\n" for line in missed))
    return 100 * reached / all_lines
