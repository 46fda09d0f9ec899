// SPDX-License-Identifier: GPL-2.0
/* That kiwi-perf --verify sees what is wrong: every byte, every neighbour, every mix-up. */
#include "../../lib/tests/tap.h"
#include "../perf/pattern.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST 300

static void test_bytes(void)
{
	uint64_t words[MOST / 8 + 2];
	unsigned char *bytes = (unsigned char *)words;
	uint64_t size, at;

	for (size = 1; size <= MOST; size++) {
		memset(words, 0, sizeof(words));
		pattern_fill(words, size, 3);
		holds(pattern_check(words, size, 3, "test"));
		for (at = size; at < sizeof(words); at++)
			holds(!bytes[at]);
		for (at = 0; at < size; at++) {
			bytes[at] ^= 1U << at % 8;
			holds(!pattern_check(words, size, 3, "test"));
			bytes[at] ^= 1U << at % 8;
		}
	}
	say("each byte that changes is seen, of messages of each size");
}

static void test_mixed_up(void)
{
	static uint64_t region[1 << 12];
	uint64_t size, other, i;

	for (size = 8; size <= sizeof(region); size *= 2) {
		for (i = 0; i < 100; i++) {
			pattern_fill(region, size, i);
			holds(!pattern_check(region, size, i + 1, "test"));
			holds(!pattern_check(region, size, i + 64, "test"));
			for (other = 8; other < size; other *= 2)
				holds(!pattern_check(region, other, i, "test"));
		}
		if (size < 16)
			continue;
		/* A part of the message in the place of another. */
		pattern_fill(region, size, 7);
		memmove(region + 1, region, size - 8);
		holds(!pattern_check(region, size, 7, "test"));
	}
	say("messages of another size, number or place are seen");
}

static void test_guards(void)
{
	struct layout l = { .size = 72, .stride = 192, .slots = 3 };
	static unsigned char region[3 * 192];
	unsigned int i;

	for (i = 0; i < sizeof(region); i++) {
		bool outside = i % l.stride >= l.size;

		memset(region, 0, sizeof(region));
		guards_fill(region, &l);
		holds(region[i] == (outside ? 0xa5 : 0));
		holds(guards_check(region, &l, "test") == 0);
		region[i] ^= 0x10;
		holds(guards_check(region, &l, "test") == outside);
	}
	say("each byte behind a message that changes is seen");
}

static void test_atomics(void)
{
	uint64_t word = 17, i;
	unsigned int unequal = 0;

	for (i = 0; i < 1000; i++) {
		struct atomic_step s = atomic_step(OP_FETCH_ADD, i, word);

		holds(s.next == word + s.swap_add && s.swap_add);
		word = s.next;
	}
	for (i = 0; i < 1000; i++) {
		struct atomic_step s = atomic_step(OP_CMP_SWAP, i, word);

		unequal += s.compare != word;
		holds(s.next == (s.compare == word ? s.swap_add : word));
		holds(s.swap_add != word);
		word = s.next;
	}
	holds(unequal == 250);
	say("operands of atomics");
}

int main(void)
{
	/* What the checks tell would fill the screen. */
	if (dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO) < 0)
		return 1;
	test_bytes();
	test_mixed_up();
	test_guards();
	test_atomics();
	return tap_end();
}
