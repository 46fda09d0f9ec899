#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# modules.sh KERNEL [MAKE ARGUMENT...]: builds all modules, the test accelerator's
# among them, for a kernel of kernel.sh, with the warnings of W=1. They are collected
# in build/KERNEL; objects stay below build/KERNEL/src, so that kernels do not mix
# and the next build is incremental, unless there were warnings: those are told
# again until there is no reason for them.

. "$(dirname "$0")/lib.sh"

name=${1:?usage: modules.sh KERNEL [MAKE ARGUMENT...]}
shift
out=$top/build/$name
kernel=$("$top/scripts/kernel.sh" "$name")
src=$out/src
mkdir -p "$out"
ln -sfn "$kernel" "$out/kernel"
exec 9>"$out/.lock"
flock 9
! grep -qsi 'warning:' "$out/log" || rm -rf "$src"

# A tree of links: objects and dependency files lie beside the links.
folders='drivers testing/xpu testing/detectors'
mkdir -p "$src"
find "$src" -type l \( -xtype l -o ! -lname "$top/*" \) | while read -r link; do
	base=${link##*/}	# what was made of it must not outlive it
	rm -f "$link" "${link%.*}.o" "${link%/*}/.${base%.*}.o.cmd"
done
for d in include firmware-abi Kbuild; do
	ln -sfn "$top/$d" "$src/$d"
done
(cd "$top" && for d in $folders; do
	[ ! -d "$d" ] || find "$d" -type f \( -name '*.[chS]' -o -name Kbuild \) ! -name "*.mod.c"
done) | while read -r file; do
	mkdir -p "$src/${file%/*}"
	[ -L "$src/$file" ] || ln -sf "$top/$file" "$src/$file"
done

# Modules that are not there yet are built as nothing.
sed -n 's|^obj-.*= *\(.*\)/$|\1|p' "$top/Kbuild" | while read -r d; do
	[ -e "$src/$d/Kbuild" ] || { mkdir -p "$src/$d" && : >"$src/$d/Kbuild"; }
done

# A test kernel records which lines and branches of the modules were reached.
case $name in
test-*) set -- CONFIG_KIWI_FW_KUNIT_TEST=m CONFIG_KIWI_SNIC_KUNIT_TEST=m CONFIG_KIWI_G2G_KUNIT_TEST=m \
	CONFIG_KIWI_PLANT=m \
	GCOV_PROFILE=y KCOV_INSTRUMENT=y "$@" ;;
esac

# BTF would need pahole and serves nothing here.
make -j2 --no-print-directory -C "$kernel/kdir" M="$src" CONFIG_KIWI_XPU=m CONFIG_KIWI_G2G_ROUTE_BENCH=m \
	CONFIG_DEBUG_INFO_BTF_MODULES= W=1 "$@" modules 2>&1 | tee "$out/log" >&2

rm -f "$out"/*.ko
sed -n 's/\.k\?o$/.ko/p' "$src/modules.order" | while read -r ko; do
	case $ko in
	/*) ;;
	*) ko=$src/$ko ;;
	esac
	cp "$ko" "$out/"
done
