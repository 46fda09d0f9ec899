#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# demo.sh [KERNEL]: GPU memory to GPU memory over RDMA on the emulated host.
cd "$(dirname "$0")/.." || exit 1
exec /usr/bin/python3 testing/demo.py "$@"
