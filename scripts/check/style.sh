# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Gates of style: kernel, QEMU, documentation in the code.

# Of testing/xpu, these are programs; the rest is the driver.
xpu_program='testing/xpu/(xpu\.h|xpu_user\.c|.*selftest\.[ch])'

user_code() {
	tracked 'lib/*.[ch]' 'tools/*.[ch]' 'testing/*.[ch]' |
		sed -E "\\%^testing/host/%d; \\%^$xpu_program\$%p; \\%^testing/xpu/%d"
}

kernel_code() {
	tracked 'drivers/*.[ch]' 'include/kiwi/*.h' 'testing/xpu/*.[ch]' |
		sed -E "\\%^$xpu_program\$%d"
}

# What is ignored, and why: an ABI header has its size assertion right below each
# structure and may not use the kernel's BIT(); compat.h is there to compare
# versions; programs are no kernel code: no kernel types, attributes, strings or
# errnos, and not strict.
ignored_abi=LINE_SPACING,BIT_MACRO,CAMELCASE
ignored_compat=LINUX_VERSION_CODE,CONSTANT_COMPARISON
ignored_user=PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,ARRAY_SIZE,STRCPY
ignored_user+=,UNNECESSARY_ELSE,TRAILING_STATEMENTS,USE_NEGATIVE_ERRNO,VOLATILE
ignored_user+=,AVOID_EXTERNS,EMBEDDED_FUNCTION_NAME,COMPLEX_MACRO

gate_checkpatch() {
	local compat=include/kiwi/compat.h folder
	folder=$(scripts/kernel-scripts.sh)/scripts
	checkpatch() { # OPTION...: of the files that are listed on standard input
		xargs -r "$folder/checkpatch.pl" --no-tree --terse --show-types --quiet \
			--no-summary "$@" -f || true
	}
	found "$(
		kernel_code | sed "\\|^$compat\$|d" | checkpatch --strict
		echo $compat | checkpatch --strict --ignore $ignored_compat
		tracked 'firmware-abi/*.h' 'include/uapi/*.h' | checkpatch --strict --ignore $ignored_abi
		user_code | checkpatch --ignore $ignored_user
	)"
	rm -f .checkpatch-camelcase.*
}

# QEMU's own style, which suffers lines of up to 90 columns. It takes __has_include
# for an architecture, and asks for helpers that QEMU alone has.
gate_qemu-style() {
	local kit f
	kit=$(scripts/qemu-kit.sh)
	found "$(tracked 'qemu/*.[ch]' 'testing/host/*.[ch]' | while read -r f; do
		"$kit/checkpatch.pl" --no-tree --terse --no-summary -q -f "$f" || true
	done | grep -vE '^total:|: line over 80 |architecture specific defines|^testing/.*qemu_strto' || true)"
}

gate_kernel-doc() {
	local kdir name status=0
	kdir=$(scripts/kernel.sh debian-6.12)/kdir
	tracked 'drivers/*.[ch]' 'include/*.h' 'firmware-abi/*.h' 'testing/xpu/*.[ch]' |
		xargs -r "$kdir/scripts/kernel-doc" -Wall -Werror -none 2>&1 || status=1
	found "$(tracked 'drivers/*.c' | xargs -r grep -hoE '^EXPORT_SYMBOL[A-Z_]*\(\w+' | sed 's/.*(//' |
		while read -r name; do
			grep -rqE "^ \* $name\(\) - |^extern .*\b$name;" drivers include ||
				echo "$name is exported without kernel-doc"
		done)" || status=1
	return $status
}

# All device models, where gcc's warnings are errors.
gate_models() { make -s models; }
