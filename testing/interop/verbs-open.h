/* SPDX-License-Identifier: GPL-2.0 */
#ifndef VERBS_OPEN_H
#define VERBS_OPEN_H

#include <infiniband/verbs.h>

/* The device of that name, or NULL, with errno, when there is none or it cannot be opened. */
struct ibv_context *verbs_open(const char *name);

#endif /* VERBS_OPEN_H */
