#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# run.sh PROGRAM...: runs host tests one after the other; fails when one does.

rc=0
for t in "$@"; do
	echo "# ${t##*/}"
	timeout 120 "$t" || { rc=1; echo "# FAILED: ${t##*/}"; }
done
exit $rc
