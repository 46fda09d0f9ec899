/* SPDX-License-Identifier: GPL-2.0 */
/* The other end, as the active side sees it. */
#ifndef PEER_H
#define PEER_H

#include "target.h"

/*
 * Calls return false when the peer failed, after telling why. progress() is what the
 * peer does meanwhile; it is cheap and makes no system call.
 */
struct peer {
	struct target *target;	/* in this process, or NULL */
	int socket;		/* to the other, or -1 */
	struct address address;
	char about[END_ABOUT];
};

bool peer_open_local(struct peer *p, const struct options *o, struct end *mine,
		     const struct address *my_address);
bool peer_open_remote(struct peer *p, const struct options *o, const struct address *my_address);
void peer_close(struct peer *p);

bool peer_prepare(struct peer *p, struct layout layout);
bool peer_window(struct peer *p, uint64_t first, uint64_t n);
bool peer_check(struct peer *p, uint64_t first, uint64_t n, uint64_t *bad);
bool peer_finish(struct peer *p, uint64_t *bad);
bool peer_counts(struct peer *p, struct counts *counts);

static inline bool peer_progress(struct peer *p)
{
	return !p->target || target_progress(p->target);
}

/* The passive side of a connection: serve one client. Returns the exit status. */
int serve(const struct options *o);

#endif /* PEER_H */
