/* SPDX-License-Identifier: GPL-2.0 */
/* Work requests and doorbell values, of sense and of nonsense. */
#ifndef RINGS_H
#define RINGS_H

#include "fuzz.h"

void rings_post(struct context *ctx);
void rings_doorbell(struct context *ctx);

#endif /* RINGS_H */
