/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Things that go wrong on request, the same way on each run with the same seed.
 * Properties, all settable at run time, all off by default:
 *
 * drop, corrupt    chance of a frame sent to be lost, or to have a bit turned
 *                  over, in 1/10000
 * flap, flap-ms    chance of a frame sent to take the carrier of its port away,
 *                  likewise, and for how long
 * silent           the die is dead for its peers: it sends and hears nothing
 * silent-after     it falls silent when it has carried out so many requests of
 *                  peers, before the answer to the last; 0: never
 *
 * dropped, corrupted and flaps count how often it happened.
 */
#include "g2g.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "net/eth.h"

#define CHANCES 10000

/* splitmix64 [public: Steele, Lea, Flood 2014] */
static uint64_t draw(G2gState *s)
{
    uint64_t z = s->random += 0x9e3779b97f4a7c15ULL;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static bool chance(G2gState *s, uint32_t probability)
{
    return probability && draw(s) % CHANCES < probability;
}

G2gFate g2g_fault_frame(G2gPort *port, uint8_t *frame, size_t len)
{
    G2gState *s = port->s;
    uint64_t bit;

    if (chance(s, s->flap)) {
        s->flaps++;
        port->flap_until = g2g_now() + (int64_t)s->flap_ms * SCALE_MS;
        g2g_wake_at(s, g2g_now());
        return G2G_FRAME_LOST;
    }
    if (chance(s, s->drop)) {
        s->dropped++;
        return G2G_FRAME_LOST;
    }
    if (chance(s, s->corrupt)) {
        s->corrupted++;
        bit = draw(s) % ((len - ETH_HLEN) * 8);
        frame[ETH_HLEN + bit / 8] ^= 1 << bit % 8;
    }
    return G2G_FRAME_GOES;
}

int64_t g2g_fault_tick(G2gPort *port, int64_t now)
{
    bool lost = port->state == KIWI_G2G_PORT_TRAINING &&
                port->reason == KIWI_G2G_WHY_NO_CARRIER;

    if (!port->flap_until) {
        return G2G_NEVER;
    }
    if (now >= port->flap_until) {
        port->flap_until = 0;
        g2g_port_carrier(port);
        return G2G_NEVER;
    }
    if (!lost) {
        g2g_port_carrier(port);
    }
    return port->flap_until;
}

void g2g_fault_served(G2gState *s)
{
    s->served++;
    if (s->silent_after && s->served >= s->silent_after) {
        s->silent = true;
    }
}

void g2g_fault_init(G2gState *s)
{
    s->random = s->seed;
}

/*
 * Properties
 */

typedef struct FaultProperty {
    const char *name;
    size_t offset;
    uint32_t max;               /* 0: it counts, and is read alone */
} FaultProperty;

static FaultProperty properties[] = {
    { "drop", offsetof(G2gState, drop), CHANCES },
    { "corrupt", offsetof(G2gState, corrupt), CHANCES },
    { "flap", offsetof(G2gState, flap), CHANCES },
    { "flap-ms", offsetof(G2gState, flap_ms), UINT32_MAX },
    { "silent-after", offsetof(G2gState, silent_after), UINT32_MAX },
    { "dropped", offsetof(G2gState, dropped) },
    { "corrupted", offsetof(G2gState, corrupted) },
    { "flaps", offsetof(G2gState, flaps) },
};

static void count_get(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    const FaultProperty *p = opaque;

    visit_type_uint64(v, name, (uint64_t *)((char *)obj + p->offset), errp);
}

static void value_get(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    const FaultProperty *p = opaque;

    visit_type_uint32(v, name, (uint32_t *)((char *)obj + p->offset), errp);
}

static void value_set(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    const FaultProperty *p = opaque;
    uint32_t value;

    if (!visit_type_uint32(v, name, &value, errp)) {
        return;
    }
    if (value > p->max) {
        error_setg(errp, "%s is %u, not 0 to %u", name, value, p->max);
        return;
    }
    *(uint32_t *)((char *)obj + p->offset) = value;
    KIWI_G2G(obj)->served = 0;
}

static bool silent_get(Object *obj, Error **errp)
{
    return KIWI_G2G(obj)->silent;
}

static void silent_set(Object *obj, bool value, Error **errp)
{
    KIWI_G2G(obj)->silent = value;
}

void g2g_fault_class_init(ObjectClass *oc)
{
    for (int i = 0; i < ARRAY_SIZE(properties); i++) {
        FaultProperty *p = &properties[i];

        if (p->max) {
            object_class_property_add(oc, p->name, "uint32", value_get,
                                      value_set, NULL, p);
        } else {
            object_class_property_add(oc, p->name, "uint64", count_get, NULL,
                                      NULL, p);
        }
    }
    object_class_property_add_bool(oc, "silent", silent_get, silent_set);
}
