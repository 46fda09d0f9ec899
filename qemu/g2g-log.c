/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters, and the log of accesses that went wrong (F-60, F-61).
 */
#include "g2g.h"
#include "qemu/bswap.h"

void g2g_put_counters(KiwiCall *c, const void *counters, size_t size)
{
    const uint64_t *value = counters;

    for (size_t i = 0; i < size / sizeof(*value); i++) {
        stq_le_p(c->out + i * sizeof(*value), value[i]);
    }
}

QEMU_BUILD_BUG_ON(sizeof(G2gCounters) !=
                  offsetof(struct kiwi_g2g_counters, rsvd));

enum kiwi_status g2g_query_counters_cmd(KiwiState *k, KiwiCall *c)
{
    g2g_put_counters(c, &KIWI_G2G(k)->count, sizeof(G2gCounters));
    return KIWI_ST_OK;
}

void g2g_log_reset(G2gState *s)
{
    memset(&s->count, 0, sizeof(s->count));
    s->log_head = 0;
    s->log_count = 0;
    s->log_sequence = 0;
    s->log_lost = 0;
    s->log_told = false;
}

static bool same(const struct kiwi_g2g_log_entry *a,
                 const struct kiwi_g2g_log_entry *b)
{
    return a->kind == b->kind && a->id == b->id && a->accel == b->accel &&
           a->status == b->status;
}

void g2g_log(G2gState *s, enum kiwi_g2g_log_kind kind, uint32_t id,
             uint16_t accel, enum kiwi_g2g_status status, uint64_t addr,
             uint32_t len)
{
    struct kiwi_g2g_log_entry e = {
        .time_us = cpu_to_le64((g2g_now() - KIWI(s)->enabled_ns) / SCALE_US),
        .addr = cpu_to_le64(addr),
        .id = cpu_to_le32(id),
        .count = cpu_to_le32(1),
        .len = cpu_to_le32(len),
        .accel = cpu_to_le16(accel),
        .kind = kind,
        .status = status,
    };
    struct kiwi_g2g_log_entry *newest =
        &s->log[(s->log_head + s->log_count - 1) % G2G_LOG_SIZE];

    if (s->log_count && same(newest, &e)) {
        newest->count = cpu_to_le32(le32_to_cpu(newest->count) + 1);
        return;
    }
    if (s->log_count == G2G_LOG_SIZE) {
        s->log_lost++;
        return;
    }
    e.sequence = cpu_to_le64(++s->log_sequence);
    s->log[(s->log_head + s->log_count) % G2G_LOG_SIZE] = e;
    s->log_count++;
    if (!s->log_told) {
        s->log_told = true;
        g2g_event(s, KIWI_G2G_EV_LOG, 0, 0, 0);
    }
}

enum kiwi_status g2g_read_log_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    struct kiwi_g2g_log *out = (void *)c->out;
    uint32_t count = MIN(s->log_count, KIWI_G2G_LOG_READ);

    for (uint32_t i = 0; i < count; i++) {
        out->entry[i] = s->log[s->log_head];
        s->log_head = (s->log_head + 1) % G2G_LOG_SIZE;
    }
    s->log_count -= count;
    if (!s->log_count) {
        s->log_told = false;
    }
    out->count = cpu_to_le32(count);
    out->left = cpu_to_le32(s->log_count);
    out->lost = cpu_to_le64(s->log_lost);
    return KIWI_ST_OK;
}
