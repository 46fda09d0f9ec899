/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The diagnostic counters as QOM properties, for tests outside of the guest.
 */
#ifndef KIWI_DIAG_QOM_H
#define KIWI_DIAG_QOM_H

#include "kiwi.h"

/* Property "diag": a JSON object of all counters that are not zero. */
void kiwi_diag_class_init(ObjectClass *oc);

/* Adds a counter that is not zero to a JSON object that begins with its '{'. */
void kiwi_json_append(GString *text, uint64_t value, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

#endif /* KIWI_DIAG_QOM_H */
