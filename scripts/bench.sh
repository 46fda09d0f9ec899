#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench.sh: guest instructions of each operation, with soft-RoCE's from the same boot.
cd "$(dirname "$0")/.." || exit 1
exec testing/bench/run.py "$@"
