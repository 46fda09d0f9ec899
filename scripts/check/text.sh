# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Gates of all that is read and not compiled.

# With what they source; and a list of several, or a quoted $, may well be meant.
gate_shell() {
	found "$(tracked | xargs grep -lE '^#!/bin/(ba)?sh' |
		xargs shellcheck -axf gcc -P SCRIPTDIR -e SC2015,SC2016 | sort -u)"
}

# Names of fields and of mdoc macros, which are no misspelt words.
gate_spelling() {
	tracked | sed '/^COPYING$/d' | xargs codespell -L ect,filp,fo,nd
}

# mandoc knows no manual but those that are installed.
gate_manuals() {
	found "$(tracked 'Documentation/man/*' | xargs mandoc -T lint 2>&1 |
		grep -vE 'referenced manual not found|outdated mandoc.db' || true)"
}

gate_tree() {
	local f status=0
	for f in $(tracked '*.[chS]' '*.sh' '*.py' '*.mk' '*Makefile' '*Kbuild' '*Kconfig' .ci/run); do
		head -n 2 "$f" | grep -q 'SPDX-License-Identifier: ' ||
			{ echo "$f: no SPDX line"; status=1; }
	done
	for f in $(tracked '*.py'); do
		/usr/bin/python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read(), sys.argv[1])' "$f" ||
			status=1
	done
	found "$(tracked | xargs grep -nIiE '(^|[^[:alnum:]])/([w]ork|[r]oot|[h]ome)/' || true)" || status=1
	found "$(tracked .ci scripts Makefile '*.sh' '*.mk' | xargs grep -nIE '[h]ttps?://' || true)" || status=1
	found "$(tracked '*.[ch]' '*.sh' '*.py' '*.mk' '*Makefile' '*Kbuild' |
		xargs grep -nIwE '[T]ODO|[F]IXME|[X]XX|[H]ACK' || true)" || status=1
	return $status
}
