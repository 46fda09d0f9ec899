// SPDX-License-Identifier: GPL-2.0
/*
 * g2g-test WHAT [ARGUMENT...]: drives all G2G dies of the machine by their ioctls. With any of
 *
 *	up		from whatever it was in, to where every die has a session with every other
 *	image NAME	the same with another personality image, from kiwi/g2g/NAME
 *	wait		until that is so
 *	pairs		loads, stores and atomics of every pair; the results as JSON
 *	traffic, revoke	traffic.c
 *	grants, edges, partition	grants.c
 *	images, part-image	images.c
 *
 * the exit status tells whether all went well; if not, the last line printed is what did not.
 */
#include <stdio.h>
#include <string.h>

#include "g2g-test.h"

static void up(struct fabric *f, char **argv)
{
	(void)argv;
	fabric_up(f);
}

static void switch_image(struct fabric *f, char **argv)
{
	if (!argv[0])
		fail("image NAME");
	fabric_image(f, argv[0]);
	fabric_up(f);
}

static void wait_up(struct fabric *f, char **argv)
{
	(void)argv;
	fabric_wait(f);
}

static const struct {
	const char *name;
	void (*run)(struct fabric *f, char **argv);
} verbs[] = {
	{ "up", up },
	{ "image", switch_image },
	{ "wait", wait_up },
	{ "pairs", pairs },
	{ "traffic", traffic },
	{ "revoke", revoke_export },
	{ "grants", grants },
	{ "edges", edges },
	{ "partition", partition },
	{ "images", images },
	{ "part-image", part_image },
};

int main(int argc, char **argv)
{
	static struct fabric fabric;
	unsigned int n;

	for (n = 0; argc > 1 && n < sizeof(verbs) / sizeof(verbs[0]); n++) {
		if (strcmp(verbs[n].name, argv[1]))
			continue;
		fabric_open(&fabric);
		verbs[n].run(&fabric, argv + 2);
		fabric_close(&fabric);
		return 0;
	}
	fail("no verb %s", argc > 1 ? argv[1] : "given");
}
