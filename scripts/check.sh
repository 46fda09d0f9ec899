#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh GATE...: static gates. Each prints what it finds and fails if it finds any.

. "$(dirname "$0")/lib.sh"
cd "$top"

gates='modules-6.12 modules-6.1 sparse checkpatch qemu-style models kernel-doc headers tree'

found() { # TEXT: fail if there is any
	[ -z "$1" ] || { echo "$1"; return 1; }
}

tracked() { # PATTERN...: files of the tree, with those not yet committed
	git ls-files --cached --others --exclude-standard -- "$@" | sort -u |
		while read -r f; do [ ! -f "$f" ] || echo "$f"; done
}

# All modules from nothing, so that no warning hides behind an object of before.
build_modules() { # KERNEL FOLDER [MAKE ARGUMENT...]
	local log=$2/log status=0
	rm -rf "$2"
	mkdir -p "$2"
	scripts/modules.sh "$1" -o "$2" "${@:3}" >"$log" 2>&1 || status=$?
	found "$(grep -E '(warning|error|WARNING|ERROR):|\*\*\*' "$log" | sed "s|$2/src/||")"
	[ "$status" = 0 ] || { tail -n 20 "$log"; return 1; }
}

gate_modules-6.12() { build_modules debian-6.12 "$top/build/check/w1-6.12" W=1; }
gate_modules-6.1() { build_modules debian-6.1 "$top/build/check/w1-6.1" W=1; }
gate_sparse() { build_modules debian-6.12 "$top/build/check/sparse" C=2; }

checkpatch() { # OPTIONS FILE...
	local options=$1
	shift
	[ $# = 0 ] || "$style/scripts/checkpatch.pl" --no-tree --terse --show-types \
		--quiet --no-summary $options -f "$@" || true
}

# What is ignored, and why: an ABI header has its size assertion right below each
# structure and may not use the kernel's BIT(); compat.h is there to compare
# versions; programs are no kernel code: no kernel types, attributes, strings or
# errnos, and not strict.
user_types=PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,ARRAY_SIZE,STRCPY
user_types+=,UNNECESSARY_ELSE,TRAILING_STATEMENTS,USE_NEGATIVE_ERRNO,VOLATILE,AVOID_EXTERNS,EMBEDDED_FUNCTION_NAME,COMPLEX_MACRO

gate_checkpatch() {
	local compat=include/kiwi/compat.h kernel user
	style=$(scripts/kernel-scripts.sh)
	user=$(tracked 'testing/xpu/*user*.c' 'testing/xpu/*selftest.c' testing/xpu/xpu.h
		tracked 'lib/*.[ch]' 'tools/*.[ch]' 'testing/*.[ch]' |
			grep -vE '^testing/(xpu|host)/' || true)
	kernel=$(tracked 'drivers/*.[ch]' 'include/kiwi/*.h' 'kunit/*.[ch]' 'testing/xpu/*.[ch]' |
		grep -vxF -e "$compat" -e "$user" || true)
	found "$(
		checkpatch --strict $kernel
		checkpatch '--strict --ignore LINUX_VERSION_CODE,CONSTANT_COMPARISON' $(tracked "$compat")
		checkpatch '--strict --ignore LINE_SPACING,BIT_MACRO,CAMELCASE' \
			$(tracked 'firmware-abi/*.h' 'include/uapi/*.h')
		checkpatch "--ignore $user_types" $user
	)"
	rm -f .checkpatch-camelcase.*
}

# QEMU's own style, which suffers lines of up to 90 columns. It takes __has_include
# for an architecture, and asks for helpers that QEMU alone has.
gate_qemu-style() {
	local kit f
	kit=$(scripts/qemu-kit.sh)
	found "$(for f in $(tracked 'qemu/*.[ch]' 'testing/host/*.[ch]'); do
		"$kit/checkpatch.pl" --no-tree --terse --no-summary -q -f "$f" || true
	done | grep -vE '^total:|: line over 80 |architecture specific defines|^testing/.*qemu_strto' || true)"
}

gate_models() {
	rm -rf build/check/qemu
	make -C qemu O="$top/build/check/qemu" WERROR=1
}

gate_kernel-doc() {
	local kdir name
	kdir=$(scripts/kernel.sh debian-6.12)/kdir
	found "$(tracked 'drivers/*.[ch]' 'include/*.h' 'testing/xpu/*.[ch]' |
		xargs -r "$kdir/scripts/kernel-doc" -none 2>&1 | grep -E 'warning|error' || true)"
	found "$(grep -rhoE '^EXPORT_SYMBOL[A-Z_]*\(\w+' drivers | sed 's/.*(//' |
		while read -r name; do
			grep -rqE "^ \* $name\(\) - |^extern .*\b$name;" drivers include ||
				echo "$name is exported without kernel-doc"
		done)"
}

sizes() { # OBJECT: the sizes of its symbols
	nm -S --defined-only "$1" | sed -E 's/^\w+ 0*(\w*) \w /\1 /' | sort
}

# Each header alone, in C90 and C++17, for 64 and 32 bit; no holes; the same sizes.
gate_headers() {
	local out=build/check/headers h base flags status=0
	flags="-Wall -Wextra -Wpadded -Werror -Iinclude/uapi -Ifirmware-abi"
	flags+=" -isystem /usr/include/x86_64-linux-gnu"
	rm -rf "$out"
	mkdir -p "$out"
	for h in $(tracked 'include/uapi/*.h' 'firmware-abi/*.h'); do
		base=$out/$(tr / - <<<"$h")
		{
			echo "#include \"${h#*/}\""
			sed -nE 's/^(struct|union) (\w+) \{.*/extern char size_\2[]; char size_\2[sizeof(\1 \2)];/p' "$h"
		} | sed 's|"uapi/|"|' >"$base.c"
		for bits in 64 32; do
			gcc -m$bits -std=c90 $flags -c -o "$base.$bits.o" "$base.c" || status=1
			g++ -m$bits -std=c++17 $flags -x c++ -fsyntax-only "$base.c" || status=1
		done
		diff <(sizes "$base.64.o") <(sizes "$base.32.o") ||
			{ echo "$h: sizes differ between 64 and 32 bit"; status=1; }
	done
	return $status
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
	for f in $(tracked 'scripts/*.sh' .ci/run); do
		bash -n "$f" || status=1
	done
	found "$(tracked | xargs grep -nIE '(^|[^[:alnum:]])/([w]ork|[r]oot|[h]ome)/' || true)" || status=1
	found "$(tracked .ci scripts Makefile '*.sh' '*.mk' | xargs grep -nIE '[h]ttps?://' || true)" || status=1
	found "$(tracked '*.[ch]' '*.sh' '*.py' '*.mk' '*Makefile' '*Kbuild' |
		xargs grep -nIwE '[T]ODO|[F]IXME|[X]XX|[H]ACK' || true)" || status=1
	return $status
}

[ $# -gt 0 ] || set -- $gates
failed=
for gate in "$@"; do
	declare -F "gate_$gate" >/dev/null || die "no gate '$gate'; there are: $gates"
	# In a process of its own, so that errexit holds in it.
	if [ $# = 1 ]; then
		"gate_$gate"
	else
		"$0" "$gate" || failed+=" $gate"
	fi
done
[ -z "$failed" ] || die "failed:$failed"
