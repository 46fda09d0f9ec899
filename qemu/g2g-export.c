/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exports and the bindings of peers on them (M-1 to M-14).
 */
#include "g2g.h"
#include "qemu/bswap.h"
#include "qemu/cutils.h"
#include "qemu/guest-random.h"

static G2gExport *find_handle(G2gState *s, const uint8_t *handle)
{
    for (uint32_t n = 1; n < s->exports.fresh; n++) {
        G2gExport *e = s->exports.object[n];

        if (e && !memcmp(e->handle, handle, sizeof(e->handle))) {
            return e;
        }
    }
    return NULL;
}

/*
 * Bindings
 */

static void binding_free(G2gState *s, G2gBinding *b)
{
    b->export->bindings--;
    KIWI(s)->diag[KIWI_DIAG_LIVE_BINDING]--;
    g_hash_table_remove(s->bindings, GUINT_TO_POINTER(b->key));
    g2g_kick(s);
}

/* Calls @found for each of a list that stays while it is gone through. */
static void each_binding(G2gState *s, void (*found)(G2gState *s, G2gBinding *b,
                                                    uint32_t what),
                         uint32_t what)
{
    GList *all = g_hash_table_get_values(s->bindings);

    for (GList *i = all; i; i = i->next) {
        found(s, i->data, what);
    }
    g_list_free(all);
}

static void free_of_peer(G2gState *s, G2gBinding *b, uint32_t accel)
{
    if (b->accel == accel) {
        binding_free(s, b);
    }
}

void g2g_export_peer_gone(G2gState *s, uint16_t accel)
{
    each_binding(s, free_of_peer, accel);
}

uint32_t g2g_export_bindings(G2gState *s, uint16_t accel)
{
    uint32_t count = 0;
    GHashTableIter iter;
    void *b;

    g_hash_table_iter_init(&iter, s->bindings);
    while (g_hash_table_iter_next(&iter, NULL, &b)) {
        count += ((G2gBinding *)b)->accel == accel;
    }
    return count;
}

static bool granted(const G2gExport *e, uint16_t accel, uint32_t rights)
{
    return e && e->state == KIWI_G2G_EXPORT_LIVE &&
           e->grantees[accel / 8] & 1 << accel % 8 &&
           rights && !(rights & ~e->rights);
}

static G2gBinding *binding_new(G2gState *s, G2gExport *e, uint16_t accel,
                               uint32_t rights)
{
    G2gBinding *b = g_new0(G2gBinding, 1);

    do {
        b->key = s->next_key++;
    } while (!b->key ||
             g_hash_table_contains(s->bindings, GUINT_TO_POINTER(b->key)));
    b->export = e;
    b->accel = accel;
    b->rights = rights;
    g_hash_table_insert(s->bindings, GUINT_TO_POINTER(b->key), b);
    e->bindings++;
    KIWI(s)->diag[KIWI_DIAG_LIVE_BINDING]++;
    return b;
}

void g2g_export_bind(G2gPeer *p, const struct kiwi_g2g_tx *tx,
                     const struct kiwi_g2g_tx_bind *bind)
{
    G2gState *s = p->s;
    G2gExport *e = find_handle(s, bind->handle);
    uint32_t rights = le32_to_cpu(bind->rights);
    struct kiwi_g2g_tx_bound bound = { };
    uint8_t status = KIWI_G2G_ST_OK;
    G2gPdu *pdu;

    if (bind->rsvd || !granted(e, p->accel, rights)) {
        status = KIWI_G2G_ST_PROTECTION;
        s->count.refused_bind++;
    } else if (g_hash_table_size(s->bindings) >= s->max_binding) {
        status = KIWI_G2G_ST_NO_RESOURCE;
    } else {
        bound.length = cpu_to_le64(e->length);
        bound.key = cpu_to_le32(binding_new(s, e, p->accel, rights)->key);
    }
    pdu = g2g_pdu_new(KIWI_G2G_TX_BIND_RSP, status ? 0 : sizeof(bound));
    g2g_pdu_tx(pdu)->status = status;
    g2g_pdu_tx(pdu)->tag = tx->tag;
    memcpy(g2g_pdu_payload(pdu), &bound, status ? 0 : sizeof(bound));
    g2g_stream_send(p, pdu);
}

void g2g_export_unbind(G2gPeer *p, uint32_t key)
{
    G2gBinding *b = g_hash_table_lookup(p->s->bindings, GUINT_TO_POINTER(key));

    if (b && b->accel == p->accel) {
        binding_free(p->s, b);
    }
}

/*
 * Revocation
 */

static void shoot_down(G2gState *s, G2gBinding *b, uint32_t number)
{
    G2gPdu *pdu;

    if (b->export->number == number) {
        pdu = g2g_pdu_new(KIWI_G2G_TX_SHOOTDOWN, 0);
        g2g_pdu_tx(pdu)->key = cpu_to_le32(b->key);
        s->count.shootdowns++;
        g2g_stream_send(s->peer[b->accel], pdu);
    }
}

/* One peer that still has a binding; all of its bindings go with it. */
static void isolate_one(G2gState *s, uint32_t number)
{
    GHashTableIter iter;
    void *value;

    g_hash_table_iter_init(&iter, s->bindings);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        G2gBinding *b = value;

        if (b->export->number == number) {
            b->export->isolated++;
            g2g_peer_isolate(s->peer[b->accel], KIWI_G2G_WHY_REVOKE);
            return;
        }
    }
}

int64_t g2g_export_tick(G2gState *s, int64_t now)
{
    int64_t next = G2G_NEVER;

    for (uint32_t n = 1; n < s->exports.fresh; n++) {
        G2gExport *e = s->exports.object[n];

        if (!e || e->state != KIWI_G2G_EXPORT_REVOKING) {
            continue;
        }
        while (e->bindings && now >= e->deadline) {
            isolate_one(s, n);
        }
        if (!e->bindings) {
            e->state = KIWI_G2G_EXPORT_REVOKED;
            g2g_event(s, KIWI_G2G_EV_EXPORT, e->state, n, e->isolated);
        } else {
            next = MIN(next, e->deadline);
        }
    }
    return next;
}

/*
 * Objects
 */

static void export_free(G2gState *s, G2gExport *e)
{
    kiwi_table_del(KIWI(s), &s->exports, e->number);
    kiwi_pbl_free(e->mem);
    g_free(e);
}

static void free_any(G2gState *s, G2gBinding *b, uint32_t unused)
{
    binding_free(s, b);
}

void g2g_export_reset(G2gState *s)
{
    each_binding(s, free_any, 0);
    for (uint32_t n = 1; n < s->exports.fresh; n++) {
        if (s->exports.object[n]) {
            export_free(s, s->exports.object[n]);
        }
    }
}

void g2g_export_init(G2gState *s)
{
    kiwi_table_init(&s->exports, 1, s->max_export, KIWI_DIAG_LIVE_EXPORT);
    s->bindings = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    qemu_guest_getrandom_nofail(&s->next_key, sizeof(s->next_key));
}

void g2g_export_exit(G2gState *s)
{
    g_hash_table_destroy(s->bindings);
    kiwi_table_free(&s->exports);
}

/*
 * Commands
 */

#define IN_FIELD(member) offsetof(struct kiwi_g2g_create_export_in, member)

static enum kiwi_status check_grantees(G2gState *s, KiwiCall *c,
                                       const uint8_t *grantees)
{
    for (unsigned i = 0; i < KIWI_G2G_ACCELS_MAX; i++) {
        if (grantees[i / 8] & 1 << i % 8 &&
            (i >= s->accels || (g2g_configured(s) && i == s->accel))) {
            return kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(grantees), i,
                               s->accels);
        }
    }
    return KIWI_ST_OK;
}

static enum kiwi_status check_create(G2gState *s, KiwiCall *c,
                                     const struct kiwi_g2g_create_export_in *in)
{
    uint64_t length = le64_to_cpu(in->length);
    uint64_t max = MIN(s->max_export_size, 1ULL << s->image->addr_bits);
    enum kiwi_status st;

    if (buffer_is_zero(in->handle, sizeof(in->handle)) ||
        find_handle(s, in->handle)) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(handle), 0, 0);
    }
    st = kiwi_check_range(c, IN_FIELD(length), length, 1, max);
    if (!st) {
        st = g2g_check_rights(s, c, IN_FIELD(rights), le32_to_cpu(in->rights));
    }
    if (!st) {
        st = kiwi_check_zero(c, IN_FIELD(rsvd), sizeof(in->rsvd));
    }
    if (!st) {
        st = check_grantees(s, c, in->grantees);
    }
    if (!st) {
        st = kiwi_pbl_check(KIWI(s), c, IN_FIELD(pbl));
    }
    return st ? st : kiwi_pbl_check_length(KIWI(s), c, IN_FIELD(pbl), length);
}

enum kiwi_status g2g_create_export_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    const struct kiwi_g2g_create_export_in *in = (void *)c->in;
    struct kiwi_cmd_id *out = (void *)c->out;
    enum kiwi_status st = check_create(s, c, in);
    G2gExport *e;
    KiwiPbl *mem;

    if (st) {
        return st;
    }
    if (!(s->image->semantics & KIWI_G2G_SEM_MEMORY)) {
        return kiwi_refuse(c, KIWI_ST_UNSUPPORTED, KIWI_ERR_FIELD_NONE, 0, 0);
    }
    if (!g2g_configured(s)) {
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, KIWI_ERR_FIELD_NONE, s->state,
                           0);
    }
    if (kiwi_table_full(&s->exports)) {
        return kiwi_refuse_full(c, &s->exports);
    }
    st = kiwi_pbl_load(k, c, IN_FIELD(pbl), le64_to_cpu(in->length), &mem);
    if (st) {
        return st;
    }
    e = g_new0(G2gExport, 1);
    e->state = KIWI_G2G_EXPORT_LIVE;
    memcpy(e->handle, in->handle, sizeof(e->handle));
    e->length = le64_to_cpu(in->length);
    e->rights = le32_to_cpu(in->rights);
    memcpy(e->grantees, in->grantees, sizeof(e->grantees));
    e->mem = mem;
    e->number = kiwi_table_add(k, &s->exports, e);
    out->id = cpu_to_le32(e->number);
    return KIWI_ST_OK;
}

enum kiwi_status g2g_revoke_export_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    void *object;
    enum kiwi_status st = kiwi_id_in(c, &s->exports, &object);
    G2gExport *e;

    if (st) {
        return st;
    }
    e = object;
    if (e->state != KIWI_G2G_EXPORT_LIVE) {
        return kiwi_refuse_id(c, KIWI_ST_BAD_STATE, e->state);
    }
    e->state = KIWI_G2G_EXPORT_REVOKING;
    kiwi_pbl_free(e->mem);
    e->mem = NULL;
    /* Early enough to have isolated who does not answer when it is due. */
    e->deadline = g2g_now() + (int64_t)s->revoke_ms * SCALE_MS * 3 / 4;
    each_binding(s, shoot_down, e->number);
    g2g_kick(s);
    return KIWI_ST_OK;
}

enum kiwi_status g2g_destroy_export_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    void *object;
    enum kiwi_status st = kiwi_id_in(c, &s->exports, &object);
    G2gExport *e;

    if (st) {
        return st;
    }
    e = object;
    if (e->state == KIWI_G2G_EXPORT_REVOKING || e->bindings) {
        return kiwi_refuse_id(c, KIWI_ST_BUSY, e->bindings);
    }
    export_free(s, e);
    return KIWI_ST_OK;
}

enum kiwi_status g2g_query_export_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    struct kiwi_g2g_export *out = (void *)c->out;
    void *object, *value;
    enum kiwi_status st = kiwi_id_in(c, &s->exports, &object);
    GHashTableIter iter;
    const G2gExport *e;

    if (st) {
        return st;
    }
    e = object;
    out->state = e->state;
    out->bindings = cpu_to_le32(e->bindings);
    g_hash_table_iter_init(&iter, s->bindings);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const G2gBinding *b = value;

        if (b->export == e) {
            out->importers[b->accel / 8] |= 1 << b->accel % 8;
        }
    }
    return KIWI_ST_OK;
}
