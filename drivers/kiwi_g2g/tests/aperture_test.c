// SPDX-License-Identifier: GPL-2.0
/* Places in the aperture. */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/sizes.h>

#include "../aperture.h"

#define GRANULES	64
#define G		SZ_64K

static int aperture_init(struct kunit *test)
{
	struct kg2g_aperture *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);

	if (!a)
		return -ENOMEM;
	kg2g_aperture_init(a);
	kg2g_aperture_resize(a, GRANULES * G, G);
	test->priv = a;
	return 0;
}

static void expect_take(struct kunit *test, struct kg2g_range *range, u64 length, u64 offset)
{
	KUNIT_ASSERT_EQ(test, kg2g_range_take(test->priv, range, length), 0);
	KUNIT_EXPECT_EQ(test, range->offset, offset);
}

static void aperture_rounds_to_granules(struct kunit *test)
{
	struct kg2g_range a, b, c;

	expect_take(test, &a, 1, 0);
	expect_take(test, &b, G + 1, G);
	expect_take(test, &c, G, 3 * G);
	KUNIT_EXPECT_EQ(test, a.size, G);
	KUNIT_EXPECT_EQ(test, b.size, 2 * G);
	KUNIT_EXPECT_EQ(test, c.size, G);
}

static void aperture_all_of_it(struct kunit *test)
{
	struct kg2g_range a, b;

	expect_take(test, &a, GRANULES * G, 0);
	KUNIT_EXPECT_EQ(test, kg2g_range_take(test->priv, &b, 1), -ENOSPC);
	kg2g_range_give(test->priv, &a);
	expect_take(test, &b, 1, 0);
}

static void aperture_beyond(struct kunit *test)
{
	struct kg2g_range a;

	KUNIT_EXPECT_EQ(test, kg2g_range_take(test->priv, &a, GRANULES * G + 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, kg2g_range_take(test->priv, &a, U64_MAX), -ENOSPC);
}

/* The smallest gap that holds it, not the first: the large one stays. */
static void aperture_best_fit(struct kunit *test)
{
	struct kg2g_range r[5], s;

	expect_take(test, &r[0], 10 * G, 0);
	expect_take(test, &r[1], G, 10 * G);
	expect_take(test, &r[2], 3 * G, 11 * G);
	expect_take(test, &r[3], (GRANULES - 14) * G, 14 * G);
	kg2g_range_give(test->priv, &r[0]);
	kg2g_range_give(test->priv, &r[2]);
	expect_take(test, &s, 2 * G, 11 * G);
	expect_take(test, &r[4], 10 * G, 0);
}

/* A range that a reset left over, and that is not in the aperture as it is now. */
static void aperture_after_resize(struct kunit *test)
{
	struct kg2g_range left, a, b;

	expect_take(test, &left, 3 * G, 0);
	kg2g_aperture_resize(test->priv, 8 * SZ_1M, SZ_1M);
	expect_take(test, &a, 1, SZ_1M);
	KUNIT_EXPECT_EQ(test, kg2g_range_take(test->priv, &b, 8 * SZ_1M), -ENOSPC);
	kg2g_range_give(test->priv, &left);
	expect_take(test, &b, 1, 0);
}

static void aperture_shrunk_below_a_range(struct kunit *test)
{
	struct kg2g_range a, left, b;

	expect_take(test, &a, 30 * G, 0);
	expect_take(test, &left, 10 * G, 30 * G);
	kg2g_range_give(test->priv, &a);
	kg2g_aperture_resize(test->priv, 4 * G, G);
	expect_take(test, &b, 4 * G, 0);
	KUNIT_EXPECT_EQ(test, kg2g_range_take(test->priv, &a, 1), -ENOSPC);
}

/* No two ranges overlap, none is beyond, and what is free in one piece can be had. */
static void check(struct kunit *test, struct kg2g_range *ranges, const bool *taken, unsigned int nr)
{
	u8 owner[GRANULES] = { };
	unsigned int i;
	u64 at;

	for (i = 0; i < nr; i++) {
		if (!taken[i])
			continue;
		KUNIT_ASSERT_LE(test, ranges[i].offset + ranges[i].size, (u64)GRANULES * G);
		for (at = 0; at < ranges[i].size; at += G) {
			KUNIT_ASSERT_EQ(test, owner[(ranges[i].offset + at) / G], 0);
			owner[(ranges[i].offset + at) / G] = 1;
		}
	}
}

static unsigned int largest_gap(const struct kg2g_range *ranges, const bool *taken, unsigned int nr)
{
	unsigned int i, g, run = 0, best = 0;
	bool used;

	for (g = 0; g < GRANULES; g++) {
		used = false;
		for (i = 0; i < nr; i++)
			used |= taken[i] && g >= ranges[i].offset / G &&
				g < (ranges[i].offset + ranges[i].size) / G;
		run = used ? 0 : run + 1;
		best = max(best, run);
	}
	return best;
}

static void aperture_random(struct kunit *test)
{
	static struct kg2g_range ranges[24];
	bool taken[ARRAY_SIZE(ranges)] = { };
	unsigned int step, i, want, gap;
	struct rnd_state rnd;
	int ret;

	prandom_seed_state(&rnd, 5);
	for (step = 0; step < 4000; step++) {
		i = prandom_u32_state(&rnd) % ARRAY_SIZE(ranges);
		if (taken[i]) {
			kg2g_range_give(test->priv, &ranges[i]);
			taken[i] = false;
			continue;
		}
		want = 1 + prandom_u32_state(&rnd) % 12;
		gap = largest_gap(ranges, taken, ARRAY_SIZE(ranges));
		ret = kg2g_range_take(test->priv, &ranges[i], want * G);
		KUNIT_ASSERT_EQ(test, ret, want <= gap ? 0 : -ENOSPC);
		taken[i] = !ret;
		check(test, ranges, taken, ARRAY_SIZE(ranges));
	}
}

static struct kunit_case aperture_cases[] = {
	KUNIT_CASE(aperture_rounds_to_granules),
	KUNIT_CASE(aperture_all_of_it),
	KUNIT_CASE(aperture_beyond),
	KUNIT_CASE(aperture_best_fit),
	KUNIT_CASE(aperture_after_resize),
	KUNIT_CASE(aperture_shrunk_below_a_range),
	KUNIT_CASE(aperture_random),
	{}
};

static struct kunit_suite aperture_suite = {
	.name = "kiwi_g2g_aperture",
	.init = aperture_init,
	.test_cases = aperture_cases,
};

kunit_test_suite(aperture_suite);
