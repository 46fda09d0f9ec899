#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Prints a folder with the checkers of the newest kernel source that Debian 12 has:
# checkpatch.pl with its data files, and semantic patches.

. "$(dirname "$0")/lib.sh"

package=linux-source-6.12

build_scripts() { # FOLDER
	local out=$1 deb
	deb=$(deb_fetch "$package")
	note "unpacking the scripts of $package"
	dpkg-deb --fsys-tarfile "$deb" |
		tar -xO "./usr/src/$package.tar.xz" | xz -dc -T2 |
		tar -x -C "$out" --strip-components=1 --wildcards \
			"$package/scripts/checkpatch.pl" "$package/scripts/spelling.txt" \
			"$package/scripts/*.checkpatch" "$package/.clang-format" \
			"$package/scripts/coccinelle/*"
}

apt_ready "$@"
key=$(recipe_key "$(deb_table "$package")")
cache_get kernel-scripts "$key" build_scripts
