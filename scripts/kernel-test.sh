# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
# The part of kernel.sh that makes the test kernel: Debian's kernel source, built
# with testing/kernel/NAME.config. To be sourced.

test_kernel_resolve() { # NAME
	config=$top/testing/kernel/$1.config
	source=linux-source-${1#test-}
	"$top/scripts/deps.sh" kernel
	version=$(deb_field Version "$source" | head -n 1)
	[ -n "$version" ] || apt_outdated "Debian's archive has no $source"
}

test_kernel_key() {
	recipe_key "$version" "$(cat "$config")" "$(gcc --version | head -n 1)"
}

# The options of the fragment that did not end up as asked for.
options_lost() { # .CONFIG
	grep -E '^(CONFIG_|# CONFIG_.* is not set)' "$config" | while read -r line; do
		case $line in
		'#'*)
			line=${line#\# }
			! grep -q "^${line%% *}=" "$1" || echo "$line"
			;;
		*) grep -qxF "$line" "$1" || echo "$line" ;;
		esac
	done
}

# Objects lie below the source, so that the header tree can be moved.
build_test_kernel() { # FOLDER
	local out=$1 tree objects deb lost make release
	scratch_dir tree
	deb=$(deb_fetch "$source=$version")
	note "building the test kernel from $source $version: some 15 minutes on 2 cores"
	dpkg-deb --fsys-tarfile "$deb" | tar -xO "./usr/src/$source.tar.xz" |
		xz -dc -T2 | tar -x -C "$tree" --strip-components=1
	# The DMA API's checks cannot count more than 7 mappings of the same memory, and warn. With
	# RDMA that is no fault: memory may be registered as often as one likes.
	sed -i '/^\tWARN_ONCE(overlap > ACTIVE_CACHELINE_MAX_OVERLAP,$/,/);$/d' \
		"$tree/kernel/dma/debug.c"
	! grep -q 'WARN_ONCE(overlap' "$tree/kernel/dma/debug.c" ||
		die "kernel/dma/debug.c of $version is not as expected"
	objects=$tree/o
	make=(make -s -C "$tree" O="$objects" -j"$(nproc)" KBUILD_BUILD_USER=kiwi
		KBUILD_BUILD_HOST=kiwi KBUILD_BUILD_TIMESTAMP=2024-01-01)
	if command -v ccache >/dev/null; then
		export CCACHE_DIR=$KIWI_CACHE/ccache CCACHE_NOHASHDIR=1
		make+=(CC='ccache gcc' HOSTCC='ccache gcc')
	fi
	"${make[@]}" allnoconfig
	(cd "$tree" && scripts/kconfig/merge_config.sh -m -O o o/.config "$config" >/dev/null)
	"${make[@]}" olddefconfig
	lost=$(options_lost "$objects/.config")
	[ -z "$lost" ] || die "the kernel's configuration did not take: $lost"
	"${make[@]}" bzImage modules

	release=$("${make[@]}" kernelrelease)
	"${make[@]}" INSTALL_MOD_PATH="$out/modules" modules_install
	rm -f "$out/modules/lib/modules/$release"/{build,source}
	"${make[@]}" run-command \
		KBUILD_RUN_COMMAND="\$(srctree)/scripts/package/install-extmod-build $out/kdir"
	cp "$objects/arch/x86/boot/bzImage" "$out/vmlinuz"
	cp "$objects/.config" "$out/config"
	echo "$release" >"$out/release"
	echo "$version" >"$out/version"
}
