#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# initramfs.sh KERNEL [--with rdma]: packs build/KERNEL/initramfs.img from
# busybox and strace, the distribution's modules, our modules and the programs of build/bin.
# With the rdma layer (rdma-core, perftest and iproute2 as Debian ships them) the
# file is initramfs-rdma.img. Prints the file's path.

. "$(dirname "$0")/lib.sh"

name=${1:?usage: initramfs.sh KERNEL [--with rdma]}
layer=
case ${2:-} in
--with) layer=${3:?--with which layer?} ;;
'') ;;
*) die "unknown argument $2" ;;
esac

kernel=$("$top/scripts/kernel.sh" "$name")
case $layer in
'') ;;
rdma) layer_folder=$("$top/scripts/rdma-layer.sh") ;;
*) die "no layer '$layer'; there is: rdma" ;;
esac
release=$(cat "$kernel/release")
out=$top/build/$name
mkdir -p "$out"

add_modules() { # TREE
	local to=$1/lib/modules/$release/updates ko
	mkdir -p "$1/lib/modules"
	cp -r "$kernel/modules/lib/modules/$release" "$1/lib/modules/"
	mkdir -p "$to"
	for ko in "$out"/*.ko; do
		[ ! -e "$ko" ] || strip -g -o "$to/${ko##*/}" "$ko"
	done
	ln -s "lib/modules/$release/updates" "$1/modules"
	/sbin/depmod -b "$1" "$release"
}

libraries() { # PROGRAM...: the shared objects they need, from the host
	LD_LIBRARY_PATH=$top/build/lib:$top/build/bin ldd "$@" 2>/dev/null |
		sed -nE 's/.* => (\/[^ ]+) .*/\1/p; s/^\s+(\/[^ ]+) .*/\1/p' | sort -u
}

add_programs() { # TREE
	local file lib
	for file in "$top"/build/bin/* /usr/bin/strace; do
		[ -f "$file" ] || continue
		cp -L "$file" "$1/usr/bin/"
		while read -r lib; do
			case $lib in
			"$top"/*) install -D "$lib" "$1/usr/lib/${lib##*/}" ;;
			*) install -D "$lib" "$1$lib" ;;
			esac
		done < <(libraries "$file")
	done
}

base_tree() { # FOLDER
	local t=$1 a
	mkdir -p "$t"/{bin,dev,etc,proc,root,run,sys,tmp,usr/bin,usr/lib}
	ln -s usr/lib "$t/lib"
	ln -s usr/lib64 "$t/lib64"
	ln -s bin "$t/sbin"
	mkdir -p "$t/usr/lib64"
	cp /bin/busybox "$t/bin/"
	for a in $("$t/bin/busybox" --list); do
		[ -e "$t/bin/$a" ] || ln -s busybox "$t/bin/$a"
	done
	cp -r "$top/testing/guest/." "$t/"
	ln -s bin/init "$t/init"
	add_modules "$t"
	add_programs "$t"
}

exec 9>"$out/.lock"
flock 9
scratch_dir tree
# shellcheck disable=SC2154 # it is set by its name
base_tree "$tree"
file=$out/initramfs${layer:+-$layer}.img
{
	[ -z "$layer" ] || cat "$layer_folder/layer.cpio.lz4"
	cpio_pack "$tree"
} >"$file.new"
mv "$file.new" "$file"
echo "$file"
