#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [GATE...]: static gates, by default all. Each prints what it finds and
# fails if it finds any; testing/check/violations has what each must find.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/check/abi.sh"
. "$(dirname "$0")/check/kernel.sh"
. "$(dirname "$0")/check/style.sh"
. "$(dirname "$0")/check/text.sh"
cd "$top"

gates=(modules-6.12 modules-6.1 sparse sparse-tests coccinelle clang checkpatch kernel-doc
	models qemu-style headers holes abi manuals shell spelling tree)

found() { # TEXT: fail if there is any
	[ -z "$1" ] || { echo "$1"; return 1; }
}

# What is in testing/check is there to be compared with, or to be found fault with.
tracked() { # PATTERN...: files of the tree, with those not yet committed
	git ls-files --cached --others --exclude-standard -- "$@" |
		sed '\|^testing/check/|d' | sort -u | while read -r f; do [ ! -f "$f" ] || echo "$f"; done
}

if [ $# = 1 ]; then
	declare -F "gate_$1" >/dev/null || die "no gate '$1'; there are: ${gates[*]}"
	"gate_$1"
	exit
fi

# Each in a process of its own, so that errexit holds in it.
[ $# -gt 0 ] || set -- "${gates[@]}"
failed=
for gate in "$@"; do
	"$0" "$gate" || failed+=" $gate"
done
[ -z "$failed" ] || die "failed:$failed"
