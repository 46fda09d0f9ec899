/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Object numbers.
 */
#include "kiwi.h"

void kiwi_table_init(KiwiTable *t, uint32_t first, uint32_t max, uint16_t diag)
{
    *t = (KiwiTable) {
        .first = first,
        .max = max,
        .fresh = first,
        .object = g_new0(void *, first + max),
        .reuse = g_new0(uint32_t, first + max),
        .freed = g_new(uint32_t, max),
        .diag = diag,
    };
}

void kiwi_table_free(KiwiTable *t)
{
    g_free(t->object);
    g_free(t->reuse);
    g_free(t->freed);
}

uint32_t kiwi_table_add(KiwiState *k, KiwiTable *t, void *object)
{
    uint32_t number;

    if (t->fresh < t->first + t->max) {
        number = t->fresh++;
    } else if (t->freed_count) {
        number = t->freed[t->freed_head];
        t->freed_head = (t->freed_head + 1) % t->max;
        t->freed_count--;
    } else {
        return 0;
    }
    t->object[number] = object;
    t->reuse[number]++;
    k->diag[t->diag]++;
    return number;
}

void kiwi_table_del(KiwiState *k, KiwiTable *t, uint32_t number)
{
    t->object[number] = NULL;
    t->freed[(t->freed_head + t->freed_count) % t->max] = number;
    t->freed_count++;
    k->diag[t->diag]--;
}

void *kiwi_table_get(const KiwiTable *t, uint32_t number)
{
    return number < t->first + t->max ? t->object[number] : NULL;
}

bool kiwi_table_full(const KiwiTable *t)
{
    return t->fresh == t->first + t->max && !t->freed_count;
}

uint16_t kiwi_table_epoch(const KiwiTable *t, uint32_t number)
{
    /* Spread, so that nobody gets away with the epoch of a neighbour. */
    return t->reuse[number] + number * 0x9e37;
}
