#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prints a folder with the headers that device models need to be loaded into the
# installed QEMU: include/, gen/ (QAPI), STAMP (the build they belong to) and
# VERSION, and checkpatch.pl. Made once from the source package of exactly the
# installed version.

. "$(dirname "$0")/lib.sh"

qemu=$(command -v qemu-system-x86_64) || die "no qemu-system-x86_64; run scripts/deps.sh models"
version=$(dpkg-query -W -f '${Version}' qemu-system-x86)
source=$(dpkg-query -W -f '${source:Version}' qemu-system-x86)

fetch_source() { # FOLDER
	cd "$1"
	note "fetching the source of QEMU $source"
	apt_private apt-get source --download-only "qemu=$source"
}

build_kit() { # FOLDER
	local out=$1 dl src
	scratch_dir dl
	apt_lists
	if ! (fetch_source "$dl"); then
		apt_refresh
		(fetch_source "$dl") ||
			die "the archive has no source of the installed QEMU $version: upgrade qemu-system-x86"
	fi
	src=$dl/src
	dpkg-source --no-check --no-copy -x "$dl"/qemu_*.dsc "$src" >"$dl/log" 2>&1 ||
		{ cat "$dl/log" >&2; die "dpkg-source failed on qemu $source"; }

	cp -r "$src/include" "$src/VERSION" "$src/scripts/checkpatch.pl" "$out/"
	mkdir -p "$out/gen/qapi"
	(cd "$src" && /usr/bin/python3 -B scripts/qapi-gen.py \
		-o "$out/gen/qapi" -b qapi/qapi-schema.json)
	find "$out/gen" ! -name '*.h' -type f -delete

	# What configure found on Debian's builders, as far as headers look at it.
	: >"$out/gen/config-poison.h"
	printf '#define %s 1\n' CONFIG_LINUX CONFIG_POSIX CONFIG_IOVEC CONFIG_INT128 \
		>"$out/gen/config-host.h"

	(cd "$src" && /usr/bin/python3 -B scripts/qemu-stamp.py \
		"$(cat VERSION)" "Debian $version" -- configure) >"$out/STAMP"
	grep -aqF "qemu_stamp$(cat "$out/STAMP")" "$qemu" ||
		die "$qemu is not the build of package qemu-system-x86 $version: its stamp differs"
}

cache_get qemu-kit "$(recipe_key "$version")" build_kit
