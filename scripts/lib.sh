# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the scripts of this folder: messages, the content-keyed cache and a
# private apt configuration. To be sourced.

set -euo pipefail
shopt -s inherit_errexit
umask 022
export LC_ALL=C

# shellcheck disable=SC2034 # most scripts use it
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
KIWI_CACHE=${KIWI_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/kiwi}
mkdir -p "$KIWI_CACHE"

note() { echo "kiwi: $*" >&2; }
die() { note "$*"; exit 1; }

# All temporary folders of a run lie in one, on the cache's file system.
scratch=$KIWI_CACHE/tmp.$$
trap 'rm -rf -- "$scratch"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
find "$KIWI_CACHE" -maxdepth 1 -name 'tmp.*' -mmin +1440 -exec rm -rf {} +

scratch_dir() { # VARIABLE: set it to a new empty folder
	local d
	mkdir -p "$scratch"
	d=$(mktemp -d "$scratch/XXXXXX")
	chmod 755 "$d"
	printf -v "$1" %s "$d"
}

#
# The cache: one folder an entry, named KIND-KEY, KEY being a hash of all that
# shapes the content. An entry is filled in a temporary folder, gets a manifest,
# and is renamed into place; it is checked against the manifest before each use.
#

hash_of() { # WORDS...: a short hash of the words
	printf '%s\n' "$@" | sha256sum | cut -c1-16
}

recipe_key() { # WORDS...: the hash of the words and of the calling script
	hash_of "$@" "$(sha256sum <"${BASH_SOURCE[1]}")"
}

manifest_write() ( # FOLDER
	cd "$1"
	find . -type l -printf '%p -> %l\n' | sort >.links
	find . -type f ! -name '.manifest*' -print0 | sort -z |
		xargs -0r sha256sum >.manifest.new
	mv .manifest.new .manifest
)

manifest_check() ( # FOLDER: whether all is as it was made; tells what is not
	cd "$1" && [ -s .manifest ] &&
		sha256sum --check --quiet --strict .manifest &&
		find . -type l -printf '%p -> %l\n' | sort | diff .links -
) 2>&1

cache_get() { # KIND KEY BUILDER [ARGS...]: print the entry's folder, made if need be
	local kind=$1 entry=$KIWI_CACHE/$1-$2 new lock fault
	shift 2
	exec {lock}>"$entry.lock"
	flock "$lock"
	if [ ! -e "$entry" ] || ! fault=$(manifest_check "$entry"); then
		[ ! -e "$entry" ] ||
			note "${entry##*/} in the cache is damaged, making it again:" "$(head -n 3 <<<"$fault")"
		rm -rf -- "$entry"
		scratch_dir new
		"$@" "$new" >&2
		manifest_write "$new"
		mv -T -- "$new" "$entry"
	fi
	touch "$entry"
	# Earlier entries of the kind that nothing has used for a month.
	find "$KIWI_CACHE" -maxdepth 1 -name "$kind-????????????????" -mtime +30 -exec rm -rf {} +
	exec {lock}>&-
	echo "$entry"
}

#
# apt without touching the system's own configuration: same mirrors, with source
# packages. Only Debian's own archive is used.
#

apt_private() { # COMMAND [ARGS...]: apt-get or apt-cache with the private configuration
	local cmd=$1
	shift
	"$cmd" -qq -o Dir::Etc::sourcelist="$KIWI_CACHE/apt/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$KIWI_CACHE/apt/lists" \
		-o Dir::Cache="$KIWI_CACHE/apt" \
		-o Dir::Cache::pkgcache=pkgcache.bin \
		-o Dir::Cache::srcpkgcache=srcpkgcache.bin \
		-o Acquire::Languages=none -o Acquire::GzipIndexes=false -o Acquire::Retries=3 \
		-o APT::Sandbox::User=root "$@"
}

apt_targets() {
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' 'Origin: Debian' 2>/dev/null | sort -u
}

apt_refresh() {
	local targets uri release component keyring opt='' lock
	exec {lock}>"$KIWI_CACHE/apt.lock"
	flock "$lock"
	as_root apt-get -qq update >&2 || note "apt-get update failed: the package lists may be old"
	targets=$(apt_targets)
	[ -n "$targets" ] || die "apt knows no Debian archive; see /etc/apt/sources.list"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ ! -e "$keyring" ] || opt="[signed-by=$keyring] "
	rm -rf "$KIWI_CACHE/apt/lists"
	mkdir -p "$KIWI_CACHE/apt/lists/partial" "$KIWI_CACHE/apt/archives/partial"
	while read -r uri release component; do
		echo "deb $opt$uri $release $component"
		echo "deb-src $opt$uri $release $component"
	done <<<"$targets" >"$KIWI_CACHE/apt/sources.list"
	note "reading Debian's package lists"
	apt_private apt-get update >&2
	touch "$KIWI_CACHE/apt/ready"
	exec {lock}>&-
}

apt_lists() { # reads the package lists, unless they were read for these sources
	[ -e "$KIWI_CACHE/apt/ready" ] &&
		[ -z "$(find /etc/apt/sources.list* -newer "$KIWI_CACHE/apt/ready" 2>/dev/null)" ] ||
		apt_refresh
}

# The archive does not have what the lists promise: it has moved on since.
outdated=91
apt_outdated() { note "$*"; exit $outdated; }

apt_ready() { # ARGUMENTS: to be called with the script's own, before it asks apt
	local status=0
	if [ -n "${KIWI_APT_READY:-}" ]; then
		unset KIWI_APT_READY
		return
	fi
	apt_lists
	KIWI_APT_READY=1 "$0" "$@" || status=$?
	if [ $status = $outdated ]; then
		apt_refresh
		status=0
		KIWI_APT_READY=1 "$0" "$@" || status=$?
	fi
	exit $status
}

deb_field() { # FIELD PACKAGE[=VERSION]
	{ apt_private apt-cache show --no-all-versions "$2" || true; } | awk -v f="$1:" '$1 == f && !n++ { sub(/[^ ]* /, ""); print }'
}

deb_table() { # PACKAGE[=VERSION]...: lines of NAME=VERSION, file name, SHA256
	{ apt_private apt-cache show --no-all-versions "$@" || true; } | awk '
		$1 == "Package:" { p = $2 } $1 == "Version:" { v = $2 }
		$1 == "Filename:" { n = split($2, f, "/") }
		$1 == "SHA256:" { print p "=" v, f[n], $2 }'
}

deb_fetch() { # PACKAGE[=VERSION]...: print their paths in the cache, fetched if need be
	local table deb file sum tmp wanted=() files=()
	table=$(deb_table "$@")
	[ "$(wc -l <<<"$table")" = $# ] || apt_outdated "Debian's archive lacks one of: $*"
	mkdir -p "$KIWI_CACHE/deb"
	while read -r deb file sum; do
		files+=("$KIWI_CACHE/deb/$file")
		sha256sum --check --status <<<"$sum  ${files[-1]}" 2>/dev/null || wanted+=("$deb")
	done <<<"$table"
	if [ "${#wanted[@]}" -gt 0 ]; then
		note "fetching ${wanted[*]}"
		scratch_dir tmp
		(cd "$tmp" && apt_private apt-get download "${wanted[@]}" >&2) ||
			apt_outdated "cannot fetch ${wanted[*]}"
		for file in "$tmp"/*.deb; do	# apt adds the epoch to the archive's name
			mv -- "$file" "$KIWI_CACHE/deb/$(basename "$file" | sed 's/_[0-9]*%3a/_/')"
		done
	fi
	printf '%s\n' "${files[@]}"
}

deb_unpack() { # FOLDER PACKAGE[=VERSION]...
	local out=$1 files file
	shift
	files=$(deb_fetch "$@")
	while read -r file; do
		dpkg -x "$file" "$out"
	done <<<"$files"
}

cpio_pack() { # FOLDER: its content as an lz4 initramfs on standard output
	(cd "$1" && find . -mindepth 1 | sort |
		cpio --quiet -o -H newc -R 0:0 --reproducible) | lz4 -lq1
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}
