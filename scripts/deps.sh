#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# deps.sh SET...: installs the Debian packages of the named sets that are missing.

. "$(dirname "$0")/lib.sh"

declare -A sets=(
	[build]='gcc g++ make libc6-dev libibverbs-dev libyaml-dev pkg-config libelf1 kmod xz-utils dpkg-dev'
	[models]='gcc make pkg-config python3 dpkg-dev libglib2.0-dev qemu-system-x86'
	[boot]='qemu-system-x86 busybox-static strace kmod cpio lz4 xz-utils zstd python3'
	[check]='sparse coccinelle clang-14 perl git gcc g++ make python3 pahole
		mandoc shellcheck codespell'
	[kernel]='gcc make flex bison bc libelf-dev perl kmod cpio lz4 xz-utils dpkg-dev'
	[test]='tshark python3-jsonschema python3-yaml'
	[plots]='python3-matplotlib'
)

packages=()
for set in "$@"; do
	[ -n "${sets[$set]:-}" ] || die "no set '$set'; the sets are: ${!sets[*]}"
	for p in ${sets[$set]}; do
		dpkg-query -W -f '${db:Status-Status}\n' "$p" 2>/dev/null |
			grep -qx installed || packages+=("$p")
	done
done
[ "${#packages[@]}" -gt 0 ] || exit 0

note "installing ${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
as_root apt-get -qq update >&2
as_root apt-get -qq -y --no-install-recommends install "${packages[@]}" >&2 ||
	die "apt-get could not install: ${packages[*]}"
