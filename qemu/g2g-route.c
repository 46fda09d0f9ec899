/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Route tables (F-20 to F-25).
 */
#include "g2g.h"
#include "qemu/bswap.h"

bool g2g_route_known(const G2gState *s, uint16_t accel)
{
    return accel < s->accels && s->active.route[accel].ports;
}

bool g2g_route_any(const G2gState *s)
{
    for (unsigned i = 0; i < s->accels; i++) {
        if (s->active.route[i].ports) {
            return true;
        }
    }
    return false;
}

G2gPort *g2g_route_port(G2gState *s, uint16_t src, uint16_t dst,
                        uint8_t *layer)
{
    uint32_t ports;
    unsigned skip;

    if (dst >= s->accels) {
        return NULL;
    }
    ports = s->active.route[dst].ports & g2g_ports_routable(s);
    if (!ports) {
        return NULL;
    }
    *layer = s->active.route[dst].layer;
    for (skip = (src + dst) % ctpop32(ports); skip; skip--) {
        ports &= ports - 1;
    }
    return &s->port[ctz32(ports)];
}

void g2g_route_lost(G2gState *s, uint16_t accel)
{
    uint32_t ports = s->active.route[accel].ports;

    s->port[ports ? ctz32(ports) : 0].count.unroutable++;
}

static size_t table_size(const G2gState *s)
{
    return s->accels * sizeof(*s->active.route);
}

static void table_clear(G2gState *s, G2gTable *t)
{
    memset(t->route, 0, table_size(s));
    t->generation = 0;
    t->valid = false;
}

void g2g_route_forget(G2gState *s)
{
    table_clear(s, &s->active);
    table_clear(s, &s->staged);
    table_clear(s, &s->previous);
}

void g2g_route_init(G2gState *s)
{
    s->active.route = g_malloc0(table_size(s));
    s->staged.route = g_malloc0(table_size(s));
    s->previous.route = g_malloc0(table_size(s));
}

void g2g_route_exit(G2gState *s)
{
    g_free(s->active.route);
    g_free(s->staged.route);
    g_free(s->previous.route);
}

/*
 * Stage
 */

#define STAGE_FIELD(member) offsetof(struct kiwi_g2g_stage_routes_in, member)

static enum kiwi_status check_route(G2gState *s, KiwiCall *c, size_t field)
{
    const struct kiwi_g2g_route *r = (void *)(c->in + field);
    uint32_t ports = le32_to_cpu(r->ports);
    uint32_t known = MAKE_64BIT_MASK(0, s->ports);
    enum kiwi_status st;

    if (ports & ~known) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, field, ports, known);
    }
    st = kiwi_check_range(c, field + offsetof(typeof(*r), layer), r->layer, 0,
                          ports ? G2G_LAYERS - 1 : 0);
    return st ? st : kiwi_check_zero(c, field + offsetof(typeof(*r), rsvd),
                                     sizeof(r->rsvd));
}

static enum kiwi_status check_stage(G2gState *s, KiwiCall *c,
                                    const struct kiwi_g2g_stage_routes_in *in)
{
    uint16_t first = le16_to_cpu(in->first), count = le16_to_cpu(in->count);
    bool clear = in->flags & KIWI_G2G_STAGE_CLEAR;
    enum kiwi_status st;

    st = kiwi_check_range(c, STAGE_FIELD(first), first, 0, s->accels - 1);
    if (!st) {
        st = kiwi_check_range(c, STAGE_FIELD(count), count, clear ? 0 : 1,
                              MIN(KIWI_G2G_ROUTES, s->accels - first));
    }
    if (!st && in->flags & ~KIWI_G2G_STAGE_CLEAR) {
        st = kiwi_refuse(c, KIWI_ST_BAD_RESERVED, STAGE_FIELD(flags), in->flags,
                         KIWI_G2G_STAGE_CLEAR);
    }
    if (!st) {
        st = kiwi_check_zero(c, STAGE_FIELD(rsvd), sizeof(in->rsvd));
    }
    for (unsigned i = 0; !st && i < count; i++) {
        st = check_route(s, c, STAGE_FIELD(route[i]));
    }
    for (unsigned i = count; !st && i < KIWI_G2G_ROUTES; i++) {
        st = kiwi_check_zero(c, STAGE_FIELD(route[i]), sizeof(in->route[i]));
    }
    return st;
}

enum kiwi_status g2g_stage_routes_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    const struct kiwi_g2g_stage_routes_in *in = (void *)c->in;
    uint16_t first = le16_to_cpu(in->first);
    enum kiwi_status st = check_stage(s, c, in);

    if (st) {
        return st;
    }
    if (!g2g_configured(s)) {
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, KIWI_ERR_FIELD_NONE, s->state,
                           0);
    }
    if (in->flags & KIWI_G2G_STAGE_CLEAR) {
        table_clear(s, &s->staged);
    }
    for (unsigned i = 0; i < le16_to_cpu(in->count); i++) {
        s->staged.route[first + i].ports = le32_to_cpu(in->route[i].ports);
        s->staged.route[first + i].layer = in->route[i].layer;
    }
    return KIWI_ST_OK;
}

/*
 * Commit and rollback
 */

static uint32_t usable_ports(G2gState *s)
{
    const uint8_t need = KIWI_G2G_PORT_ENABLED | KIWI_G2G_PORT_ROUTABLE;
    uint32_t ports = 0;

    for (unsigned i = 0; i < s->ports; i++) {
        ports |= (uint32_t)((s->port[i].config.flags & need) == need) << i;
    }
    return ports;
}

static enum kiwi_status check_fit(G2gState *s, KiwiCall *c, const G2gTable *t)
{
    const size_t field = offsetof(struct kiwi_cmd_id, id);
    uint32_t usable = usable_ports(s);

    for (unsigned i = 0; i < s->accels; i++) {
        uint32_t ports = t->route[i].ports;

        if (ports && (i == s->accel || i >= g2g_image_accels(s) ||
                      ports & ~usable)) {
            return kiwi_refuse(c, KIWI_ST_BAD_STATE, field, i, ports & ~usable);
        }
    }
    return KIWI_ST_OK;
}

static enum kiwi_status check_generation(G2gState *s, KiwiCall *c)
{
    const struct kiwi_cmd_id *in = (void *)c->in;
    enum kiwi_status st = kiwi_id_check(c);

    if (!st && le32_to_cpu(in->id) != s->active.generation) {
        st = kiwi_refuse(c, KIWI_ST_BAD_STATE, offsetof(typeof(*in), id),
                         s->active.generation, 0);
    }
    if (!st && !g2g_configured(s)) {
        st = kiwi_refuse(c, KIWI_ST_BAD_STATE, KIWI_ERR_FIELD_NONE, s->state,
                         0);
    }
    return st;
}

/* Makes @t the active table and the active one the previous; peers follow. */
static void enforce(G2gState *s, KiwiCall *c, G2gTable t)
{
    struct kiwi_cmd_id *out = (void *)c->out;

    for (unsigned i = 0; i < s->accels; i++) {
        G2gPeer *p = s->peer[i];

        /* A BYE takes the way that there is until now. */
        if (p && !t.route[i].ports && p->state != KIWI_G2G_PEER_NONE &&
            p->state != KIWI_G2G_PEER_ISOLATED) {
            g2g_peer_leave(p, KIWI_G2G_WHY_ADMIN, KIWI_G2G_PEER_NONE,
                           KIWI_G2G_WHY_ADMIN);
        }
    }
    t.generation = s->active.generation + 1;
    if (!t.generation) {
        t.generation = 1;
    }
    t.valid = true;
    s->previous = s->active;
    s->active = t;
    out->id = cpu_to_le32(t.generation);
    for (unsigned i = 0; g2g_active(s) && i < s->accels; i++) {
        if (t.route[i].ports &&
            g2g_peer_need(s, i)->state == KIWI_G2G_PEER_NONE) {
            g2g_peer_seek(s->peer[i], KIWI_G2G_WHY_NONE);
        }
    }
    g2g_fabric_update(s);
}

enum kiwi_status g2g_commit_routes_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    enum kiwi_status st = check_generation(s, c);
    void *room = s->previous.route;
    G2gTable t = s->staged;

    if (!st) {
        st = check_fit(s, c, &t);
    }
    if (st) {
        return st;
    }
    enforce(s, c, t);
    s->staged.route = room;
    table_clear(s, &s->staged);
    return KIWI_ST_OK;
}

enum kiwi_status g2g_rollback_routes_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    enum kiwi_status st = check_generation(s, c);

    if (!st && !s->previous.valid) {
        st = kiwi_refuse(c, KIWI_ST_BAD_STATE, KIWI_ERR_FIELD_NONE, 0, 0);
    }
    if (!st) {
        st = check_fit(s, c, &s->previous);
    }
    if (st) {
        return st;
    }
    enforce(s, c, s->previous);
    table_clear(s, &s->staged);
    return KIWI_ST_OK;
}

#define QUERY_FIELD(member) offsetof(struct kiwi_g2g_query_routes_in, member)

enum kiwi_status g2g_query_routes_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    const G2gTable *const tables[] = {
        [KIWI_G2G_TABLE_ACTIVE] = &s->active,
        [KIWI_G2G_TABLE_STAGED] = &s->staged,
        [KIWI_G2G_TABLE_PREVIOUS] = &s->previous,
    };
    const struct kiwi_g2g_query_routes_in *in = (void *)c->in;
    struct kiwi_g2g_query_routes_out *out = (void *)c->out;
    uint16_t first = le16_to_cpu(in->first);
    enum kiwi_status st;

    st = kiwi_check_range(c, QUERY_FIELD(first), first, 0, s->accels - 1);
    if (!st) {
        st = kiwi_check_range(c, QUERY_FIELD(table), in->table, 0,
                              ARRAY_SIZE(tables) - 1);
    }
    if (!st) {
        st = kiwi_check_zero(c, QUERY_FIELD(rsvd), sizeof(in->rsvd));
    }
    if (st) {
        return st;
    }
    out->generation = cpu_to_le32(tables[in->table]->generation);
    for (unsigned i = 0; i < KIWI_G2G_ROUTES && first + i < s->accels; i++) {
        const G2gTable *t = tables[in->table];

        out->route[i].ports = cpu_to_le32(t->route[first + i].ports);
        out->route[i].layer = t->route[first + i].layer;
    }
    return KIWI_ST_OK;
}
