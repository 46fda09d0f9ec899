#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# shell.sh [KEY=VALUE...]: boots the emulated host to a prompt.
cd "$(dirname "$0")/.." || exit 1
exec /usr/bin/python3 testing/harness/shell.py "$@"
