# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Gates of kernel code, beside those of style.

modules() { # KERNEL [MAKE ARGUMENT...]: builds them; fails on any warning
	local log status=0
	log=$(scripts/modules.sh "$@" 2>&1) || status=$?
	found "$(grep -E '(warning|error|WARNING|ERROR):|\*\*\*' <<<"$log" |
		sed "s|$top/build/$1/src/||")"
	[ "$status" = 0 ] || { tail -n 20 <<<"$log"; return 1; }
}

gate_modules-6.12() { modules debian-6.12; }
gate_modules-6.1() { modules debian-6.1; }
gate_sparse() { modules debian-6.12 C=2; }
# The suites too, which no other kernel builds.
gate_sparse-tests() { modules test-6.12 C=2; }

# The kernel's own semantic patches, those that fit a driver.
semantic_patches='
	api/alloc/zalloc-simple api/atomic_as_refcounter api/device_attr_show
	api/err_cast api/kfree_mismatch api/memdup api/memdup_user api/stream_open
	free/devm_free free/ifnullfree free/iounmap free/kfree free/put_device
	iterators/itnull iterators/list_entry_update iterators/use_after_iter
	locks/call_kern locks/double_lock locks/flags locks/mini_lock
	misc/array_size_dup misc/flexible_array misc/noderef misc/struct_size
	null/deref_null null/eno null/kmerr
	tests/doublebitand tests/odd_ptr_err tests/unsigned_lesser_than_zero'

# A function named something_lock is there to return with the lock held.
lock_functions_may_lock() {
	local line
	while IFS= read -r line; do
		[[ $line =~ ^([^:]+):.*:\ preceding\ lock\ on\ line\ ([0-9]+)$ ]] &&
			head -n "${BASH_REMATCH[2]}" "${BASH_REMATCH[1]}" | grep '^[a-z]' |
			tail -n 1 | grep -q '_lock(' || echo "$line"
	done
}

gate_coccinelle() {
	local folder name options files output status=0
	folder=$(scripts/kernel-scripts.sh)/scripts/coccinelle
	mapfile -t files < <(kernel_code | sed '/\.h$/d')
	for name in $semantic_patches; do
		mapfile -t options < <(sed -n 's|^// Options: *||p' "$folder/$name.cocci" | xargs -rn 1)
		# In parts: over many files at once deref_null overflows the stack of spatch.
		output=$(printf '%s\n' "${files[@]}" | xargs -n 32 spatch -D report --very-quiet \
			--no-show-diff "${options[@]}" -I include -I include/uapi -I firmware-abi \
			--sp-file "$folder/$name.cocci" 2>&1) ||
			{ echo "$output"; die "spatch fails on $name"; }
		found "$(grep -vE '^(warning: line .*)?$' <<<"$output" | lock_functions_may_lock |
			sed "s|\$| [$name]|")" || status=1
	done
	return $status
}

# The command lines of the objects that gcc has made, but for the options that are about
# code and not about warnings: Debian's header packages are configured for gcc alone. What
# is not to be warned of is in the kernel's own headers.
clang_modules() {
	local src=$top/build/debian-6.12/src
	modules debian-6.12 || return
	cd build/debian-6.12/kernel/kdir || return
	find "$src" -name '.*.o.cmd' ! -name '*.mod.o.cmd' -print0 |
		xargs -0 sed -snE '1s/^[a-z]+_[^ ]+ := +[^ ]*gcc[^ ]* (.*) -c -o [^ ]+ ([^ ]+\.c)\>.*/\1 \2/p' |
		sed -E 's/ -Wp,-MMD,[^ ]+//
			s/ -m(record-mcount|skip-rax-setup|preferred-stack-boundary=|harden-sls=|indirect-branch|function-return=)[^ ]*//g
			s/ -f(conserve-stack|no-allow-store-data-races|trivial-auto-var-init=zero)\>//g
			s/ -falign-(jumps|loops)=[0-9]+//g' |
		xargs -L 1 -P 2 clang-14 -fsyntax-only -Werror -Wno-unknown-warning-option \
			-Wno-gnu-variable-sized-type-not-at-end -Wno-duplicate-decl-specifier
}

gate_clang() {
	local status=0
	(clang_modules) || status=1
	make -sk programs libkiwi-tests CC=clang-14 B=build/check/clang || status=1
	make -sk -C qemu CC=clang-14 O="$top/build/check/clang/qemu" || status=1
	return $status
}
