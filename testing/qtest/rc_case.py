# SPDX-License-Identifier: GPL-2.0
"""What the tests of the RC transport share.

A class of tests shares a machine and is one line of the report; each test makes its
own objects. Names of statuses and syndromes that most of them use stand here, too.
"""

import functools
import random
import unittest

from scenario import hosttest

from rc import Fabric, abi

OK = abi.KIWI_CQE_ST_OK
FLUSH = abi.KIWI_CQE_ST_WR_FLUSH_ERR
SIGNALED = abi.KIWI_WQE_SIGNALED
ACK, NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS, NAK_OPERATION = 0x1f, 0x60, 0x61, 0x62, 0x63
RNR = 0x20
PSN = 1 << 24               # PSNs count modulo this
CHANCES = 10000             # of the faults of a port


def tests(name, prefix="model.rc", **options):
    """Registers a class of tests as PREFIX.NAME."""
    def register(case):
        @hosttest(f"{prefix}.{name}", **options)
        def run(_log):
            suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
            assert suite.countTestCases()
            result = unittest.TextTestRunner(verbosity=2, failfast=False).run(suite)
            assert result.wasSuccessful() and not result.skipped, "see above"
        return case
    return register


def each_connection(mtus=(256, 1024, 4096), **more):
    """Runs a test with a new pair of endpoints for each MTU and IP version."""
    def decorate(test):
        @functools.wraps(test)
        def run(self):
            for mtu in mtus:
                for ip in ("ipv4", "ipv6"):
                    with self.subTest(mtu=mtu, ip=ip):
                        test(self, mtu, *self.f.pair(mtu=mtu, ip=ip, **more))
        return run
    return decorate


class FabricCase(unittest.TestCase):
    """Tests that share a machine; each makes its own objects."""

    PROPS = ""
    WIRE = False

    @classmethod
    def setUpClass(cls):
        cls.f = Fabric(cls.PROPS, cls.WIRE)
        cls.q = cls.f.q
        cls.rng = random.Random(7)

    @classmethod
    def tearDownClass(cls):
        cls.f.close()

    def setUp(self):
        for nic in self.f.nics:
            nic.events()

    def in_error(self, end):
        """The QP goes to ERR."""
        self.q.until(lambda: end.state == abi.KIWI_QPS_ERR, "ERR")

    def events(self, nic, *want):
        """Exactly these events came."""
        self.q.until(lambda: nic.async_eq.ready() or not want, "event")
        self.q.settle()
        self.assertEqual(nic.events(), list(want))
