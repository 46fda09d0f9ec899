/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Kiwi firmware ABI: what every ABI header needs.
 *
 * The headers of this folder compile unchanged in the kernel, in the device
 * models and in user space (C and C++). All multi-byte fields are little-endian.
 *
 * Tags on constants: [public: X] is taken from the published standard X,
 * [borrowed: X] is a convention of the open driver X, [ours] is our own choice.
 */
#ifndef KIWI_ABI_TYPES_H
#define KIWI_ABI_TYPES_H

#include <linux/types.h>

#ifdef __cplusplus
#define KIWI_ABI_ASSERT(cond, text)	static_assert(cond, text)
#else
#define KIWI_ABI_ASSERT(cond, text)	_Static_assert(cond, text)
#endif

/* Every structure of the ABI states its size, and the offsets that matter. */
#define KIWI_ABI_SIZE(type, bytes) \
	KIWI_ABI_ASSERT(sizeof(type) == (bytes), #type " must be " #bytes " bytes")
#define KIWI_ABI_OFFSET(type, member, bytes) \
	KIWI_ABI_ASSERT(__builtin_offsetof(type, member) == (bytes), \
			#type "." #member " must be at " #bytes)

#endif /* KIWI_ABI_TYPES_H */
