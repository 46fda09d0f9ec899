/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows: what is bound at an exporter, and where it stands in BAR 4 (M-20 to
 * M-23).
 */
#include "g2g.h"
#include "qemu/bswap.h"

static uint64_t granule(const G2gState *s)
{
    return 1ULL << s->granule_shift;
}

static uint64_t granules_of(const G2gState *s, uint64_t length)
{
    return (length - 1) / granule(s) + 1;
}

void g2g_window_event(G2gState *s, G2gWindow *w)
{
    g2g_event(s, KIWI_G2G_EV_WINDOW, w->state, w->number, w->reason);
}

uint8_t g2g_window_dead_status(const G2gWindow *w)
{
    return w->reason == KIWI_G2G_WHY_REVOKED ? KIWI_G2G_ST_REVOKED
                                             : KIWI_G2G_ST_ISOLATED;
}

static void end_accesses(G2gState *s, G2gWindow *w, uint8_t status)
{
    G2gAccess *a, *next;

    QTAILQ_FOREACH_SAFE(a, &w->accesses, next, next) {
        g2g_access_end(s, a, status);
    }
    g2g_access_drop_stores(s, w, status);
}

static void forget_bind(G2gState *s, G2gWindow *w)
{
    if (w->state == KIWI_G2G_WINDOW_BINDING) {
        g2g_tag_orphan(s->peer[w->accel], w->tag);
    }
}

void g2g_window_kill(G2gState *s, G2gWindow *w, uint8_t reason)
{
    forget_bind(s, w);
    w->state = KIWI_G2G_WINDOW_DEAD;
    w->reason = reason;
    w->key = 0;
    end_accesses(s, w, g2g_window_dead_status(w));
}

static void release(G2gPeer *p, uint32_t key)
{
    G2gPdu *pdu = g2g_pdu_new(KIWI_G2G_TX_RELEASE, 0);

    g2g_pdu_tx(pdu)->key = cpu_to_le32(key);
    g2g_stream_send(p, pdu);
}

static void place(G2gState *s, G2gWindow *w, G2gWindow *owner)
{
    uint64_t first = w->offset >> s->granule_shift;

    for (uint64_t i = 0; i < granules_of(s, w->length); i++) {
        s->granule[first + i] = owner;
    }
    w->placed = owner;
}

static void window_free(G2gState *s, G2gWindow *w)
{
    if (w->placed) {
        place(s, w, NULL);
    }
    kiwi_table_del(KIWI(s), &s->windows, w->number);
    g_free(w->cell);
    g_free(w);
}

/*
 * What the exporter says
 */

G2gWindow *g2g_window_by_key(G2gPeer *p, uint32_t key)
{
    const KiwiTable *t = &p->s->windows;

    for (uint32_t n = 1; key && n < t->fresh; n++) {
        G2gWindow *w = t->object[n];

        if (w && w->accel == p->accel && w->key == key) {
            return w;
        }
    }
    return NULL;
}

uint32_t g2g_window_count(G2gState *s, uint16_t accel)
{
    uint32_t count = 0;

    for (uint32_t n = 1; n < s->windows.fresh; n++) {
        G2gWindow *w = s->windows.object[n];

        count += w && w->accel == accel;
    }
    return count;
}

void g2g_window_bound(G2gPeer *p, G2gWindow *w, uint8_t status,
                      const struct kiwi_g2g_tx_bound *bound)
{
    if (status == KIWI_G2G_ST_OK &&
        g_hash_table_contains(p->shot, GUINT_TO_POINTER(
                                           le32_to_cpu(bound->key)))) {
        w->state = KIWI_G2G_WINDOW_DEAD;
        w->reason = KIWI_G2G_WHY_REVOKED;
    } else if (status == KIWI_G2G_ST_OK) {
        w->state = KIWI_G2G_WINDOW_BOUND;
        w->export_length = le64_to_cpu(bound->length);
        w->key = le32_to_cpu(bound->key);
    } else {
        w->state = KIWI_G2G_WINDOW_DEAD;
        w->reason = status == KIWI_G2G_ST_NO_RESOURCE
                    ? KIWI_G2G_WHY_NO_RESOURCE : KIWI_G2G_WHY_NO_ACCESS;
    }
    g2g_window_event(p->s, w);
}

void g2g_window_shot_down(G2gPeer *p, uint32_t key)
{
    G2gWindow *w = g2g_window_by_key(p, key);

    if (w) {
        g2g_window_kill(p->s, w, KIWI_G2G_WHY_REVOKED);
        g2g_window_event(p->s, w);
    } else if (g_hash_table_size(p->shot) < G2G_TAGS) {
        /* The grant may be on its way in the other class. */
        g_hash_table_add(p->shot, GUINT_TO_POINTER(key));
    }
}

void g2g_window_write_err(G2gPeer *p, const struct kiwi_g2g_tx *tx)
{
    G2gState *s = p->s;
    G2gWindow *w = g2g_window_by_key(p, le32_to_cpu(tx->key));

    if (w) {
        s->count.stores_dropped++;
        g2g_log(s, KIWI_G2G_LOG_STORE, w->number, p->accel, tx->status,
                le64_to_cpu(tx->addr) - w->export_offset, le16_to_cpu(tx->len));
    }
}

int64_t g2g_window_tick(G2gState *s, int64_t now)
{
    int64_t next = G2G_NEVER;

    for (uint32_t n = 1; n < s->windows.fresh; n++) {
        G2gWindow *w = s->windows.object[n];

        if (!w) {
            continue;
        }
        if (w->state == KIWI_G2G_WINDOW_BINDING) {
            if (now >= w->deadline) {
                g2g_window_kill(s, w, KIWI_G2G_WHY_TIMEOUT);
                g2g_window_event(s, w);
            } else {
                next = MIN(next, w->deadline);
            }
        }
        next = MIN(next, g2g_cell_tick(s, w, now));
    }
    return next;
}

void g2g_window_reset(G2gState *s)
{
    for (uint32_t n = 1; n < s->windows.fresh; n++) {
        G2gWindow *w = s->windows.object[n];
        G2gAccess *a, *next;

        if (!w) {
            continue;
        }
        QTAILQ_FOREACH_SAFE(a, &w->accesses, next, next) {
            QTAILQ_REMOVE(&w->accesses, a, next);
            memset(a->data, 0xff, sizeof(a->data));
            a->done = true;
        }
        window_free(s, w);
    }
    qemu_cond_broadcast(&s->answered);
}

void g2g_window_init(G2gState *s)
{
    kiwi_table_init(&s->windows, 1, s->max_window, KIWI_DIAG_LIVE_WINDOW);
    s->granule = g_new0(G2gWindow *, s->aperture_size >> s->granule_shift);
}

void g2g_window_exit(G2gState *s)
{
    kiwi_table_free(&s->windows);
    g_free(s->granule);
}

/*
 * Commands
 */

#define BIND_FIELD(member) offsetof(struct kiwi_g2g_bind_window_in, member)

static enum kiwi_status check_bind(G2gState *s, KiwiCall *c,
                                   const struct kiwi_g2g_bind_window_in *in)
{
    uint16_t accel = le16_to_cpu(in->accel);
    enum kiwi_status st;

    st = g2g_check_rights(s, c, BIND_FIELD(rights), le32_to_cpu(in->rights));
    if (!st) {
        st = g2g_peer_check(s, c, BIND_FIELD(accel), accel);
    }
    if (!st) {
        st = kiwi_check_zero(c, BIND_FIELD(rsvd), sizeof(in->rsvd));
    }
    if (st) {
        return st;
    }
    if (!(s->image->semantics & KIWI_G2G_SEM_MEMORY)) {
        return kiwi_refuse(c, KIWI_ST_UNSUPPORTED, KIWI_ERR_FIELD_NONE, 0, 0);
    }
    if (!g2g_active(s) || !g2g_peer_up(s->peer[accel])) {
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, BIND_FIELD(accel), accel, 0);
    }
    return kiwi_table_full(&s->windows) ? kiwi_refuse_full(c, &s->windows)
                                        : KIWI_ST_OK;
}

enum kiwi_status g2g_bind_window_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    const struct kiwi_g2g_bind_window_in *in = (void *)c->in;
    struct kiwi_cmd_id *out = (void *)c->out;
    enum kiwi_status st = check_bind(s, c, in);
    struct kiwi_g2g_tx_bind bind = { .rights = in->rights };
    G2gWindow *w;
    G2gPeer *p;
    G2gPdu *pdu;
    int tag;

    if (st) {
        return st;
    }
    p = s->peer[le16_to_cpu(in->accel)];
    w = g_new0(G2gWindow, 1);
    tag = g2g_tag_new(p, G2G_TAG_BIND, w);
    if (tag < 0) {
        g_free(w);
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, BIND_FIELD(accel), p->accel,
                           0);
    }
    w->state = KIWI_G2G_WINDOW_BINDING;
    w->accel = p->accel;
    w->rights = le32_to_cpu(in->rights);
    w->tag = tag;
    w->deadline = g2g_now() + (int64_t)s->bind_ms * SCALE_MS * 3 / 4;
    QTAILQ_INIT(&w->accesses);
    w->number = kiwi_table_add(k, &s->windows, w);
    out->id = cpu_to_le32(w->number);

    memcpy(bind.handle, in->handle, sizeof(bind.handle));
    pdu = g2g_pdu_new(KIWI_G2G_TX_BIND, sizeof(bind));
    g2g_pdu_tx(pdu)->tag = cpu_to_le16(tag);
    memcpy(g2g_pdu_payload(pdu), &bind, sizeof(bind));
    g2g_wake_at(s, w->deadline);
    g2g_stream_send(p, pdu);
    return KIWI_ST_OK;
}

#define MAP_FIELD(member) offsetof(struct kiwi_g2g_map_window_in, member)

static enum kiwi_status refuse_map(KiwiCall *c, size_t field, uint64_t value,
                                   uint64_t limit)
{
    return kiwi_refuse(c, KIWI_ST_BAD_PARAM, field, value, limit);
}

static enum kiwi_status check_map(G2gState *s, KiwiCall *c,
                                  const struct kiwi_g2g_map_window_in *in)
{
    uint64_t offset = le64_to_cpu(in->offset);
    uint64_t export_offset = le64_to_cpu(in->export_offset);
    uint64_t length = le64_to_cpu(in->length);
    enum kiwi_status st;

    st = kiwi_check_zero(c, MAP_FIELD(rsvd), sizeof(in->rsvd));
    if (st) {
        return st;
    }
    if (offset % granule(s) || offset >= s->aperture_size) {
        return refuse_map(c, MAP_FIELD(offset), offset,
                          offset % granule(s) ? granule(s) : s->aperture_size);
    }
    if (export_offset % 4096) {
        return refuse_map(c, MAP_FIELD(export_offset), export_offset, 4096);
    }
    return kiwi_check_range(c, MAP_FIELD(length), length, 1,
                            s->aperture_size - offset);
}

enum kiwi_status g2g_map_window_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    const struct kiwi_g2g_map_window_in *in = (void *)c->in;
    uint64_t offset = le64_to_cpu(in->offset);
    uint64_t export_offset = le64_to_cpu(in->export_offset);
    uint64_t length = le64_to_cpu(in->length);
    enum kiwi_status st = check_map(s, c, in);
    G2gWindow *w;

    if (st) {
        return st;
    }
    w = kiwi_table_get(&s->windows, le32_to_cpu(in->window));
    if (!w) {
        return kiwi_refuse(c, KIWI_ST_BAD_HANDLE, MAP_FIELD(window),
                           le32_to_cpu(in->window), 0);
    }
    if (w->state != KIWI_G2G_WINDOW_BOUND) {
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, MAP_FIELD(window), w->number,
                           w->state);
    }
    if (length > w->export_length || export_offset > w->export_length - length) {
        return refuse_map(c, MAP_FIELD(length), length, w->export_length);
    }
    for (uint64_t i = 0; i < granules_of(s, length); i++) {
        G2gWindow *other = s->granule[(offset >> s->granule_shift) + i];

        if (other) {
            return kiwi_refuse(c, KIWI_ST_BUSY, MAP_FIELD(offset),
                               other->number, 0);
        }
    }
    w->offset = offset;
    w->export_offset = export_offset;
    w->length = length;
    w->state = KIWI_G2G_WINDOW_MAPPED;
    if (w->rights & KIWI_ACCESS_REMOTE_ATOMIC) {
        w->cell = g_new0(G2gCell, KIWI_G2G_CELLS);
    }
    place(s, w, w);
    return KIWI_ST_OK;
}

enum kiwi_status g2g_unbind_window_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    void *object;
    enum kiwi_status st = kiwi_id_in(c, &s->windows, &object);
    G2gWindow *w;

    if (st) {
        return st;
    }
    w = object;
    forget_bind(s, w);
    end_accesses(s, w, KIWI_G2G_ST_REVOKED);
    if (w->key) {
        release(s->peer[w->accel], w->key);
    }
    window_free(s, w);
    return KIWI_ST_OK;
}

enum kiwi_status g2g_query_window_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    struct kiwi_g2g_window *out = (void *)c->out;
    void *object;
    enum kiwi_status st = kiwi_id_in(c, &s->windows, &object);
    const G2gWindow *w;

    if (st) {
        return st;
    }
    w = object;
    out->state = w->state;
    out->reason = w->reason;
    out->accel = cpu_to_le16(w->accel);
    out->rights = cpu_to_le32(w->rights);
    out->export_length = cpu_to_le64(w->export_length);
    out->offset = cpu_to_le64(w->offset);
    out->export_offset = cpu_to_le64(w->export_offset);
    out->length = cpu_to_le64(w->length);
    return KIWI_ST_OK;
}
