#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernel.sh NAME: prints a folder with Debian's own kernel NAME (debian-6.12 or
# debian-6.1), unpacked into the cache and never installed, or with the test kernel
# (test-6.12), built there:
#   vmlinux            Debian's, as the boot image unpacks it; boots in less time
#   vmlinuz            the test kernel's boot image
#   config             as shipped or built
#   kdir               header tree, to be used as make -C
#   modules            modprobe tree of the modules in scripts/guest-modules
#   release, version   uname -r, and the package version

. "$(dirname "$0")/lib.sh"

case ${1:-} in
debian-6.12) flavour=6.12-amd64 ;;
debian-6.1) flavour=amd64 ;;
test-6.12) flavour= ;;
*) die "usage: kernel.sh debian-6.12|debian-6.1|test-6.12" ;;
esac

dependency() { # PACKAGE PATTERN: the dependency that matches, as NAME or NAME=VERSION
	deb_field Depends "$1" | tr ',' '\n' | sed 's/|.*//; s/^ *//; s/ *$//' |
		sed -nE "/^$2/{s/ \(= ([^)]*)\)/=\1/; s/ .*//; p}" | head -n 1
}

resolve() {
	image=$(dependency "linux-image-$flavour" linux-image-)
	headers=$(dependency "linux-headers-$flavour" linux-headers-)
	[ -n "$image" ] && [ -n "$headers" ] ||
		apt_outdated "Debian's archive has no linux-image-$flavour with its headers"
	common=$(dependency "$headers" 'linux-headers-.*-common')
	kbuild=$(dependency "$headers" linux-kbuild-)
	release=${image%%=*}
	release=${release#linux-image-}
	[ "linux-headers-$release" = "${headers%%=*}" ] ||
		die "image and headers of linux-image-$flavour are of different releases"
}

# Relative, so that the tree works wherever the cache lies.
relocate_headers() { # TREE
	local makefile=$1/usr/src/linux-headers-$release/Makefile
	sed -i 's|^include /usr/src/|include $(dir $(lastword $(MAKEFILE_LIST)))../|' "$makefile"
	! grep -q '[ =]/usr/src' "$makefile" || die "unexpected line in $makefile"
}

pick_modules() { # TREE FROM TO
	local from=$2/lib/modules/$release to=$3/lib/modules/$release name file list
	/sbin/depmod -b "$2" "$release"
	mkdir -p "$to"
	cp "$from"/modules.{order,builtin,builtin.modinfo} "$to/"
	list=$(grep -v '^#' "$1" | while read -r name; do
		/sbin/modprobe -d "$2" -S "$release" --show-depends "$name" 2>/dev/null ||
			note "$release has no module $name"
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | sort -u)
	while read -r file; do
		file=${file#"$2"}
		mkdir -p "$3/${file%/*}"
		case $file in
		*.xz) xz -dc "$2/$file" >"$3/${file%.xz}" ;;
		*) cp "$2/$file" "$3/$file" ;;
		esac
	done <<<"$list"
	/sbin/depmod -b "$3" "$release"
}

# Where the payload lies is in the image's header: Documentation/arch/x86/boot.rst. The
# payload's last 4 bytes are its length when it is unpacked.
unpack_vmlinuz() { # VMLINUZ: the kernel as an ELF file, to standard output
	local sectors offset length unpack
	sectors=$(od -An -tu1 -j$((0x1f1)) -N1 "$1")
	read -r offset length <<<"$(od -An -tu4 -j$((0x248)) -N8 "$1")"
	offset=$((offset + (sectors + 1) * 512))
	case $(od -An -tx1 -j"$offset" -N4 "$1" | tr -d ' ') in
	28b52ffd) unpack=zstd ;;
	fd377a58) unpack=xz ;;
	*) die "$1 is packed in an unknown way" ;;
	esac
	dd if="$1" iflag=skip_bytes,count_bytes skip="$offset" count=$((length - 4)) bs=1M \
		status=none | "$unpack" -dc
}

build_kernel() { # FOLDER
	local out=$1 tmp
	deb_unpack "$out" "$headers" "$common" "$kbuild"
	rm -rf "${out:?}/lib/modules" "${out:?}/usr/share"
	relocate_headers "$out"
	ln -s "usr/src/linux-headers-$release" "$out/kdir"

	scratch_dir tmp
	deb_unpack "$tmp" "$image"
	unpack_vmlinuz "$tmp/boot/vmlinuz-$release" >"$out/vmlinux"
	cp "$tmp/boot/config-$release" "$out/config"
	pick_modules "$top/scripts/guest-modules" "$tmp" "$out/modules"

	echo "$release" >"$out/release"
	echo "${image#*=}" >"$out/version"
}

apt_ready "$@"
if [ -z "$flavour" ]; then
	. "$top/scripts/kernel-test.sh"
	test_kernel_resolve "$1"
	cache_get "$1" "$(test_kernel_key)" build_test_kernel
	exit
fi
resolve
key=$(recipe_key "$image" "$headers" "$kbuild" "$(cat "$top/scripts/guest-modules")")
cache_get "$1" "$key" build_kernel
