// SPDX-License-Identifier: GPL-2.0
/* Images: what forbids to change them, and what is left of an upload that does not end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "g2g-test.h"

#define FOLDER	"/lib/firmware/kiwi/g2g/"

static struct kiwi_g2g_image_query query(const struct die *die, unsigned int slot)
{
	struct kiwi_g2g_image_query q = { .slot = slot };

	MUST(die, IMAGE_QUERY, &q);
	return q;
}

/* A refusal for live objects names who has them. */
static void expect_busy(const struct die *die, int ret, const char *what)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	if (ret != -EBUSY || !strstr(die_error(die), pid))
		fail("%s: %s (%s) and not EBUSY, held by %s", what, strerror(-ret),
		     die_error(die), pid);
}

static int load(const struct die *die, unsigned int slot, const char *name)
{
	struct kiwi_g2g_image_load l = { .slot = slot };

	snprintf(l.name, sizeof(l.name), "%s", name);
	return TRY(die, IMAGE_LOAD, &l);
}

static int activate(const struct die *die, unsigned int slot)
{
	struct kiwi_g2g_image_change c = { .slot = slot, .op = KIWI_G2G_IMAGE_DO_ACTIVATE };

	return TRY(die, IMAGE_CHANGE, &c);
}

static int change(const struct die *die, enum kiwi_g2g_fabric_change_op op)
{
	struct kiwi_g2g_fabric_change c = { .op = op };

	return TRY(die, FABRIC_CHANGE, &c);
}

/* NAME: the fabric is up; live objects forbid to take it down, to set it, to switch the image. */
void images(struct fabric *f, char **argv)
{
	const struct die *die = &f->dies[0];
	unsigned int old = fabric_query(die).slot, new = !old;
	struct kiwi_g2g_fabric_set set = { .accel = 0, .pod = "x" };
	struct export e;

	if (!argv[0])
		fail("images NAME");
	if (load(die, old, argv[0]) != -EBUSY)
		fail("the active slot can be loaded");
	if (load(die, new, argv[0]))
		fail("%s cannot be loaded: %s", argv[0], die_error(die));
	if (activate(die, new) != -EINVAL)
		fail("an image can be activated in an active fabric");
	export_make(&e, die, 4096, ALL, 2);
	expect_busy(die, change(die, KIWI_G2G_FABRIC_DO_DEACTIVATE), "DEACTIVATE");
	export_destroy(&e);
	if (change(die, KIWI_G2G_FABRIC_DO_DEACTIVATE))
		fail("DEACTIVATE: %s", die_error(die));
	export_make(&e, die, 4096, ALL, 2);
	expect_busy(die, activate(die, new), "ACTIVATE_IMAGE");
	expect_busy(die, TRY(die, FABRIC_SET, &set), "FABRIC_SET");
	if (fabric_query(die).slot != old || !query(die, old).active)
		fail("a refused switch has switched");
	export_destroy(&e);
	if (activate(die, new))
		fail("ACTIVATE_IMAGE: %s", die_error(die));
	if (query(die, old).state != KIWI_G2G_SLOT_VERIFIED || !query(die, new).active)
		fail("the old image is not kept, or the new one is not active");
	/* Back. */
	if (activate(die, old) || fabric_query(die).slot != old)
		fail("the image cannot be rolled back: %s", die_error(die));
}

/* NAME: begins an upload and leaves it. */
void part_image(struct fabric *f, char **argv)
{
	const struct die *die = &f->dies[0];
	static uint8_t bytes[65536];
	struct kiwi_g2g_image_write w = {
		.slot = !fabric_query(die).slot,
		.length = sizeof(bytes) + 4464,
		.len = sizeof(bytes),
		.data = (uintptr_t)bytes,
	};
	char path[96];
	int file;

	snprintf(path, sizeof(path), FOLDER "%s", argv[0] ? argv[0] : "");
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || read(file, bytes, sizeof(bytes)) != sizeof(bytes))
		fail("%s cannot be read", path);
	close(file);
	MUST(die, IMAGE_WRITE, &w);
	if (query(die, w.slot).state != KIWI_G2G_SLOT_LOADING ||
	    query(die, w.slot).written != sizeof(bytes))
		fail("the slot is not LOADING");
	if (activate(die, w.slot) != -EINVAL)
		fail("a slot that is LOADING can be activated");
}
