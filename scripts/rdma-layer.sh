#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prints a folder with layer.cpio.lz4: rdma-core's libraries and tools, perftest,
# iproute2 as Debian ships them, for interoperation with soft-RoCE.

. "$(dirname "$0")/lib.sh"

packages=(ibverbs-utils libibverbs1 ibverbs-providers librdmacm1 rdmacm-utils
	libibumad3 perftest iproute2 libnl-3-200 libnl-route-3-200
	libpci3 libmnl0
	libelf1 libcap2 libbpf1 libbsd0 libmd0 libtirpc3 libselinux1 libpcre2-8-0
	libdb5.3 libudev1 zlib1g libkmod2 liblzma5 libzstd1 libssl3 libxtables12
	libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0 libcom-err2
	libkeyutils1 libc6 libgcc-s1)

missing_libraries() ( # TREE: names that an object in it needs and that it has not
	cd "$1"
	find . -name '*.so*' -printf '%f\n' | sort -u >"$scratch/have"
	find . -type f \( -perm /111 -o -name '*.so*' \) -print0 |
		{ xargs -0 readelf -d 2>/dev/null || true; } |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | comm -23 - "$scratch/have"
)

build_layer() { # FOLDER
	local unpacked tree missing
	scratch_dir unpacked
	scratch_dir tree
	deb_unpack "$unpacked" "${packages[@]}"
	rm -rf "${unpacked:?}/usr/share" "$unpacked"/usr/lib/systemd

	# Some packages still have files below /lib and /bin: merge them as the guest does.
	mkdir -p "$tree"/usr/{bin,lib,lib64}
	for d in lib lib64 bin sbin usr/bin usr/sbin usr/lib usr/lib64; do
		[ -d "$unpacked/$d" ] || continue
		case $d in
		*bin) cp -a "$unpacked/$d/." "$tree/usr/bin/" ;;
		*) cp -a "$unpacked/$d/." "$tree/usr/${d##*/}/" ;;
		esac
	done
	cp -a "$unpacked/etc" "$tree/"
	rm -rf "$tree"/usr/lib/x86_64-linux-gnu/{gconv,audit,tc}

	missing=$(missing_libraries "$tree")
	[ -z "$missing" ] || die "rdma layer: no package of the list brings ${missing//$'\n'/ }"
	cpio_pack "$tree" >"$1/layer.cpio.lz4"
}

apt_ready "$@"
key=$(recipe_key "$(deb_table "${packages[@]}")")
cache_get rdma-layer "$key" build_layer
