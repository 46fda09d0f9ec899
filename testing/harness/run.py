#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the tests of testing/scenarios; see --help.

Each test runs in a process of its own, which is killed at its timeout, and its
VMs die with it. Logs go to build/log/NAME, a report to build/junit.xml.
"""

import argparse
import fnmatch
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import traceback
import xml.etree.ElementTree as ET

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import coverage                                             # noqa: E402
import hurts                                                # noqa: E402
import scenario                                             # noqa: E402
import vm as vm_module                                      # noqa: E402
from machine import BUILD, Machine                          # noqa: E402

PLAN = scenario.SCENARIOS / "PLAN"
LOGS = vm_module.LOGS
TAIL = 80
AGAIN = 75          # exit status of a test that met a defect of others
ATTEMPTS = 3        # for such a test; the busier the machine, the likelier are those defects


def run_child(test):
    """Runs one test in this process; the exit status tells how it went."""
    vm_module.terminate_on_signals()
    log = pathlib.Path(os.environ["KIWI_LOG"])
    vms = vm_module.VM.running
    try:
        if test.machine is None:
            test.function(log)
            return 0
        vm_module.VM(files=test.files, **test.machine)
        test.function(vms[0])
        faults = [f for vm in vms for f in end_faults(vm)]
        for fault in faults:
            print(f"at the end: {fault}")
        for vm in vms:
            if vm.machine.test_kernel and vm.usable():
                coverage.collect(vm)
        return verdict(vms) if faults else 0
    except BaseException:                                   # pylint: disable=broad-except
        traceback.print_exc()
        return verdict(vms)
    finally:
        for vm in list(vms):
            vm.close()


def verdict(vms):
    """The exit status of a test that failed."""
    return AGAIN if any(vm.hit_foreign_defect() for vm in vms) else 1


def end_faults(vm):
    """What is wrong with a VM when its scenario is over."""
    faults = []
    if vm.usable():
        for check in scenario.END_CHECKS:
            faults += check(vm)
    return faults + vm.problems()


class Job:
    """A test that runs."""

    def __init__(self, test, attempt=1):
        self.test, self.attempt = test, attempt
        self.log = LOGS / test.name
        shutil.rmtree(self.log, ignore_errors=True)
        self.log.mkdir(parents=True)
        self.output = self.log / "output.log"
        self.start = time.monotonic()
        self.limit = test.timeout * vm_module.STRETCH
        if test.machine is not None:
            self.limit *= Machine(**test.machine).slowness
        self.timed_out = False
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", sys.executable, __file__,
                 "--child", test.name],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                env=dict(os.environ, KIWI_LOG=str(self.log), PYTHONUNBUFFERED="1"))

    def seconds(self):
        """How long it has run."""
        return time.monotonic() - self.start

    def finished(self):
        """Whether it is over; ends it if its time is up."""
        if self.process.poll() is None and not self.timed_out and \
                self.seconds() > self.limit:
            self.timed_out = True
            self.stop()
        return self.process.poll() is not None

    def stop(self):
        """Ends it and its VMs."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def text(self):
        """The end of what it printed."""
        lines = self.output.read_text("utf-8", "replace").splitlines()
        if self.timed_out:
            lines.append(f"timeout after {self.limit:.0f} s")
        elif self.process.returncode < 0:
            lines.append(f"ended by signal {-self.process.returncode}")
        return "\n".join(lines[-TAIL:])


def run_tests(tests, jobs):
    """Runs tests, some at a time: a list of (test, seconds, None or what failed)."""
    waiting, running, results = [(t, 1) for t in tests], [], []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Job(*waiting.pop(0)))
            time.sleep(0.1)
            for job in [j for j in running if j.finished()]:
                running.remove(job)
                status = job.process.returncode
                if status == AGAIN and job.attempt < ATTEMPTS:
                    print(f"again {job.test.name}: it met a defect of QEMU or soft-RoCE",
                          flush=True)
                    waiting.insert(0, (job.test, job.attempt + 1))
                    continue
                fault = job.text() if status or job.timed_out else None
                results.append((job.test, job.seconds(), fault))
                print(f"{'FAIL' if fault else 'ok'}   {job.test.name}  "
                      f"{job.seconds():.1f} s", flush=True)
                if fault:
                    print("     | " + fault.replace("\n", "\n     | "), flush=True)
    finally:
        for job in running:
            job.stop()
    return results


def prepare(tests):
    """Builds all that the tests need."""
    machines = [Machine(**t.machine) for t in tests if t.machine is not None]
    if all(t.name.startswith("check.") for t in tests):
        return
    vm_module.prepare(sorted({m.kernel for m in machines}),
                      rdma={m.kernel for m in machines if m.rdma})


def plan_fault(tests):
    """How the registered tests differ from the plan, or None."""
    planned = set(PLAN.read_text(encoding="utf-8").split()) if PLAN.exists() else set()
    lines = [f"not in {PLAN.name}: {n}" for n in sorted(set(tests) - planned)] + \
            [f"in {PLAN.name} only: {n}" for n in sorted(planned - set(tests))]
    lines += filter(None, [hurts.fault(tests)])
    if not lines:
        return None
    return "\n".join(lines + ["if this is meant: testing/harness/run.py --write-plan"])


def report(results):
    """Writes build/junit.xml."""
    failed = sum(1 for r in results if r[2])
    suite = ET.Element("testsuite", name="kiwi", tests=str(len(results)),
                       failures=str(failed))
    for name, seconds, fault in results:
        case = ET.SubElement(suite, "testcase", name=name, time=f"{seconds:.1f}")
        if fault:
            text = "".join(c for c in fault if c.isprintable() or c in "\n\t")
            ET.SubElement(case, "failure", message=text.splitlines()[-1]).text = text
    ET.ElementTree(suite).write(BUILD / "junit.xml", encoding="utf-8",
                                xml_declaration=True)


def main():
    parser = argparse.ArgumentParser(description="Runs the project's tests.")
    parser.add_argument("patterns", nargs="*", help="names or shell patterns; all by default")
    parser.add_argument("-j", "--jobs", type=int,
                        default=int(os.environ.get("KIWI_JOBS", min(2, os.cpu_count()))),
                        help="how many run at once (%(default)s)")
    parser.add_argument("-l", "--list", action="store_true", help="list the tests")
    parser.add_argument("-n", "--no-prepare", action="store_true",
                        help="build nothing first")
    parser.add_argument("--write-plan", action="store_true",
                        help=f"make {PLAN.name} and {hurts.TABLE.name} those of the "
                        "registered tests")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    tests = scenario.load_all()

    if args.child:
        return run_child(tests[args.child])
    if args.write_plan:
        PLAN.write_text("".join(f"{n}\n" for n in sorted(tests)), encoding="utf-8")
        hurts.write(tests)
        return 0
    chosen = [t for n, t in tests.items() if not args.patterns or
              any(n == p or n.split(":")[0] == p or fnmatch.fnmatch(n, p)
                  for p in args.patterns)]
    if args.list:
        for test in chosen:
            covers = " ".join(map(str, test.covers))
            print(test.name + (f"  covers {covers}" if covers else ""))
        return 0
    if not chosen:
        parser.error("no test has such a name")

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    BUILD.mkdir(exist_ok=True)
    if not args.no_prepare:
        prepare(chosen)
    results = [(t.name, s, f) for t, s, f in run_tests(chosen, args.jobs)]
    if not args.patterns:
        fault = plan_fault(tests)
        results.append(("plan", 0.0, fault))
        print(f"{'FAIL' if fault else 'ok'}   plan" + (f"\n{fault}" if fault else ""))
    report(results)
    reached = coverage.report([LOGS / name for name, _, _ in results])
    if reached is not None:
        print(f"lines of the drivers reached on a test kernel: {reached:.1f} %, by file in "
              f"{coverage.REPORT.relative_to(BUILD.parent)}")
    failed = sum(1 for r in results if r[2])
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
