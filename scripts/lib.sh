# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the scripts of this folder: messages, the content-keyed cache and a
# private apt configuration. To be sourced.

set -euo pipefail
shopt -s inherit_errexit
umask 022
export LC_ALL=C

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
	find . -type f ! -name .manifest -print0 | sort -z |
		xargs -0r sha256sum >.manifest.new
	mv .manifest.new .manifest
)

manifest_check() ( # FOLDER: whether all is as it was made; tells what is not
	cd "$1" && [ -s .manifest ] &&
		sha256sum --check --quiet --strict .manifest &&
		find . -type l -printf '%p -> %l\n' | sort | diff .links -
) 2>&1

cache_get() { # KIND KEY BUILDER [ARGS...]: print the entry's folder, made if need be
	local entry=$KIWI_CACHE/$1-$2 new lock fault
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
		-o Acquire::Languages=none -o Acquire::Retries=3 \
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
	targets=$(apt_targets)
	if [ -z "$targets" ]; then
		as_root apt-get -qq update >&2
		targets=$(apt_targets)
	fi
	[ -n "$targets" ] || die "apt knows no Debian archive; see /etc/apt/sources.list"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ ! -e "$keyring" ] || opt="[signed-by=$keyring] "
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

apt_ready() { [ -e "$KIWI_CACHE/apt/ready" ] || apt_refresh; }

deb_field() { # FIELD PACKAGE[=VERSION]
	apt_private apt-cache show --no-all-versions "$2" | sed -n "s/^$1: //p" | head -n 1
}

deb_fetch() { # PACKAGE[=VERSION]: print the path of the package in the cache
	local name sum file tmp
	name=$(deb_field Filename "$1")
	sum=$(deb_field SHA256 "$1")
	[ -n "$sum" ] || die "Debian's archive has no package $1"
	file=$KIWI_CACHE/deb/$(basename "$name")
	mkdir -p "$KIWI_CACHE/deb"
	if ! sha256sum --check --status <<<"$sum  $file" 2>/dev/null; then
		scratch_dir tmp
		note "fetching $(basename "$name")"
		(cd "$tmp" && apt_private apt-get download "$1" >&2) || return 1
		mv -- "$tmp"/*.deb "$file"
	fi
	echo "$file"
}

deb_unpack() { # FOLDER PACKAGE[=VERSION]...
	local out=$1 p file
	shift
	for p in "$@"; do
		file=$(deb_fetch "$p")
		dpkg -x "$file" "$out"
	done
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}
