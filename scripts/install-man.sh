#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# install-man.sh FOLDER PAGE...: installs manual pages, each under all its names.
set -eu

folder=$1
shift
for page in "$@"; do
	file=${page##*/}
	section=${file##*.}
	install -m 644 "$page" "$folder/"
	sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([^ ]*\).*/\1/p' "$page" | while read -r name; do
		[ "$name.$section" = "$file" ] || ln -sf "$file" "$folder/$name.$section"
	done
done
