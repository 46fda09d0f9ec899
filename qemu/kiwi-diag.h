/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The diagnostic counters as QOM properties, for tests outside of the guest.
 */
#ifndef KIWI_DIAG_QOM_H
#define KIWI_DIAG_QOM_H

#include "kiwi.h"

/* Property "diag": a JSON object of all counters that are not zero. */
void kiwi_diag_class_init(ObjectClass *oc);

#endif /* KIWI_DIAG_QOM_H */
