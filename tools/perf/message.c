// SPDX-License-Identifier: GPL-2.0
/* Messages between queue pairs: of SNICs, or of G2G IO dies. */
#include "way.h"

#include <stdio.h>

static const struct options *options;
static struct end end;
static struct peer peer = { .socket = -1 };

/* Units of the send queue: the largest work takes a few. */
static uint32_t send_units(const struct options *o)
{
	uint64_t inlined = o->use_inline ? o->max_size : 0;
	uint64_t units = 1 + (inlined < 512 ? inlined : 512) / 64 + !!inlined;

	return (uint32_t)(units * o->work.depth);
}

static bool message_open(const struct options *o, struct about *about)
{
	struct address mine;

	options = o;
	if (!end_open(&end, &o->local, &o->work, send_units(o)) || !end_address(&end, &mine))
		return false;
	if (o->connect ? !peer_open_remote(&peer, o, &mine) ||
			 !end_connect(&end, &mine, &peer.address) :
			 !peer_open_local(&peer, o, &end, &mine))
		return false;
	about->device = kiwi_device_name(end.dev);
	end_about(&end, about->local);
	snprintf(about->peer, sizeof(about->peer), "%s", peer.about);
	return true;
}

static bool message_run(uint64_t size, struct result *result)
{
	return load_run(&end, &peer, options, size, iterations_for(options, size), result);
}

static void message_close(void)
{
	peer_close(&peer);
	end_close(&end);
}

const struct way message_way = {
	.open = message_open,
	.run = message_run,
	.close = message_close,
};
