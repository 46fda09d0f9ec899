# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Gates of what programs and firmware rely on: include/uapi and firmware-abi.

abi_headers() { tracked 'include/uapi/*.h' 'firmware-abi/*.h'; }

abi_types() { sed -nE 's/^((struct|union) \w+) \{.*/\1/p' "$1"; }

abi_include() { # HEADER: a line that includes it
	local name=${1#firmware-abi/}
	echo "#include <${name#include/uapi/}>"
}

abi_cc() { # COMPILER [ROOT] OPTION...: with the headers of a tree alone
	"$1" -Wall -Wextra -Werror "-I$2/include/uapi" "-I$2/firmware-abi" \
		-isystem /usr/include/x86_64-linux-gnu "${@:3}"
}

abi_layout() { # HEADER ROOT OPTION...: what pahole says of its types
	local object=$out/layout.o
	abi_include "$1" | abi_cc gcc "$2" "${@:3}" -g -fno-eliminate-unused-debug-types \
		-x c -c -o "$object" -
	[ -z "$(abi_types "$2/$1")" ] || pahole "$object"
}

abi_folder() { # NAME: set out to a folder for its objects, emptied
	out=build/check/$1
	rm -rf "$out"
	mkdir -p "$out"
}

sizes() { # OBJECT: the sizes of its symbols
	nm -S --defined-only "$1" | sed -E 's/^\w+ 0*(\w*) \w /\1 /' | sort
}

# Each header alone, in C90 and C++17, for 64 and 32 bit; the same sizes.
gate_headers() {
	local h base bits status=0
	abi_folder headers
	for h in $(abi_headers); do
		base=$out/${h//\//-}
		{
			abi_include "$h"
			abi_types "$h" | sed 's/\w* \(.*\)/extern char size_\1[]; char size_\1[sizeof(&)];/'
		} >"$base.c"
		for bits in 64 32; do
			abi_cc gcc . -m$bits -std=c90 -c -o "$base.$bits.o" "$base.c" || status=1
			abi_cc g++ . -m$bits -std=c++17 -x c++ -fsyntax-only "$base.c" || status=1
		done
		diff <(sizes "$base.64.o") <(sizes "$base.32.o") ||
			{ echo "$h: sizes differ between 64 and 32 bit"; status=1; }
	done
	return $status
}

# Nothing in a structure is without a name: such bytes would leak what was in memory, and
# could never be given a meaning.
gate_holes() {
	local h bits layout status=0
	abi_folder holes
	for h in $(abi_headers); do
		for bits in 64 32; do
			layout=$(abi_layout "$h" . -m$bits)
			found "$(awk -v RS='};\n' '/(bytes|bits) hole,|padding: /' <<<"$layout")" ||
				{ echo "$h: holes, for $bits bit"; status=1; }
		done
	done
	return $status
}

abi_enumerators() { # HEADER ROOT: each with its value, as the compiler has it
	{
		abi_include "$1"
		echo 'void enumerators(void) {'
		abi_include "$1" | abi_cc gcc "$2" -E -P -x c - |
			sed -nE 's/^\s*(KIWI_\w+)\s*(=.*|,|$)/asm("=> \1 %c0" : : "i" (\1));/p'
		echo '}'
	} | abi_cc gcc "$2" -S -O1 -x c -o - - | sed -n 's/^\s*=> //p'
}

# Type, name, offset and size of each member that is not reserved; each constant
# and enumerator, but for those that count what may be added.
abi_promises() { # HEADER ROOT
	{
		abi_layout "$1" "$2" | awk '
			/^(struct|union) .*\{$/ { type = $2 }
			/\/\* *[0-9: ]+\*\/$/ && !/ rsvd[^ ]*;/ { $1 = $1; print type ": " $0 }'
		abi_include "$1" | abi_cc gcc "$2" -E -dM -x c -
		abi_enumerators "$1" "$2"
	} | sed -E '/KIWI_(ABI_MINOR|DMA_KINDS) [0-9]+$/d' | sort
}

# What version 1 promised still holds. Anything may be added: types, constants, members at
# the end of an ioctl's argument, which tells its size, a meaning for reserved ones.
gate_abi() {
	local v1=testing/check/abi-v1 h lost status=0
	abi_folder abi
	for h in $(cd $v1 && find . -name '*.h' -printf '%P\n' | sort); do
		[ -f "$h" ] || { echo "$h is gone"; status=1; continue; }
		abi_promises "$h" $v1 >"$out/v1"
		abi_promises "$h" . >"$out/now"
		lost=$(comm -23 "$out/v1" "$out/now")
		found "${lost:+$h had in version 1:$'\n'$lost}" || status=1
	done
	return $status
}
