#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# demo-g2g.sh [KERNEL]: memory of other accelerators by load, store, atomic and message, on the emulated host.
cd "$(dirname "$0")/.." || exit 1
exec /usr/bin/python3 testing/demo_g2g.py "$@"
