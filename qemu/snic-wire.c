/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A wire that loses frames and lets them overtake each other, the same way on
 * each run with the same seed. Properties dropN and reorderN of port N, from 0,
 * in 1/10000; droppedN and reorderedN tell how often it happened.
 */
#include "snic.h"
#include "qapi/error.h"
#include "qapi/visitor.h"

#define CHANCES         10000
/* A frame held back follows at most so many others, or comes after a while. */
#define OVERTAKERS_MAX  4
#define HELD_NS         (1 * SCALE_MS)

typedef struct SnicHeld {
    QEMUTimer *timer;
    unsigned frames;            /* that are still to overtake */
    size_t len;                 /* 0: nothing is held */
    uint8_t frame[SNIC_FRAME_MAX];
} SnicHeld;

struct SnicWire {
    uint64_t random;
    uint64_t dropped;
    uint64_t reordered;
    SnicHeld held;
};

/* splitmix64 [public: Steele, Lea, Flood 2014] */
static uint64_t draw(SnicWire *w)
{
    uint64_t z = w->random += 0x9e3779b97f4a7c15ULL;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static bool chance(SnicWire *w, uint32_t probability)
{
    return probability && draw(w) % CHANCES < probability;
}

static void release_held(void *opaque)
{
    SnicPort *port = opaque;
    SnicHeld *held = &port->wire->held;
    size_t len = held->len;

    timer_del(held->timer);
    held->len = 0;
    if (len && snic_running(port->s) && snic_port_active(port)) {
        snic_net_transmit(port, held->frame, len);
    }
}

static void hold(SnicPort *port, const uint8_t *frame, size_t len)
{
    SnicWire *w = port->wire;

    w->reordered++;
    w->held.len = len;
    memcpy(w->held.frame, frame, len);
    w->held.frames = 1 + draw(w) % OVERTAKERS_MAX;
    timer_mod(w->held.timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + HELD_NS);
}

void snic_port_send(SnicPort *port, const uint8_t *frame, size_t len)
{
    SnicWire *w = port->wire;

    assert(len <= SNIC_FRAME_MAX);
    if (!snic_running(port->s) || !snic_port_active(port)) {
        return;
    }
    if (chance(w, port->drop)) {
        w->dropped++;
        return;
    }
    if (!w->held.len && chance(w, port->reorder)) {
        hold(port, frame, len);
        return;
    }
    snic_net_transmit(port, frame, len);
    if (w->held.len && --w->held.frames == 0) {
        release_held(port);
    }
}

void snic_wire_reset(SnicPort *port)
{
    timer_del(port->wire->held.timer);
    port->wire->held.len = 0;
}

void snic_wire_init(SnicPort *port)
{
    port->wire = g_new0(SnicWire, 1);
    port->wire->random = port->s->seed + port->number;
    port->wire->held.timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, release_held,
                                          port);
}

void snic_wire_exit(SnicPort *port)
{
    timer_free(port->wire->held.timer);
    g_free(port->wire);
}

/*
 * Properties
 */

static SnicPort *property_port(Object *obj, const char *name)
{
    return &KIWI_SNIC(obj)->port[name[strlen(name) - 1] - '0'];
}

static uint32_t *probability(Object *obj, const char *name)
{
    SnicPort *port = property_port(obj, name);

    return g_str_has_prefix(name, "drop") ? &port->drop : &port->reorder;
}

static void probability_get(Object *obj, Visitor *v, const char *name,
                            void *opaque, Error **errp)
{
    visit_type_uint32(v, name, probability(obj, name), errp);
}

static void probability_set(Object *obj, Visitor *v, const char *name,
                            void *opaque, Error **errp)
{
    uint32_t value;

    if (!visit_type_uint32(v, name, &value, errp)) {
        return;
    }
    if (value > CHANCES) {
        error_setg(errp, "%s is %u, not 0 to %u", name, value, CHANCES);
        return;
    }
    *probability(obj, name) = value;
}

static void count_get(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    SnicWire *w = property_port(obj, name)->wire;
    uint64_t value = 0;

    if (w) {
        value = g_str_has_prefix(name, "drop") ? w->dropped : w->reordered;
    }
    visit_type_uint64(v, name, &value, errp);
}

void snic_wire_class_init(ObjectClass *oc)
{
    static const char *const probabilities[] = {
        "drop0", "drop1", "reorder0", "reorder1",
    };
    static const char *const counts[] = {
        "dropped0", "dropped1", "reordered0", "reordered1",
    };

    for (int i = 0; i < ARRAY_SIZE(probabilities); i++) {
        object_class_property_add(oc, probabilities[i], "uint32",
                                  probability_get, probability_set, NULL, NULL);
        object_class_property_add(oc, counts[i], "uint64", count_get, NULL,
                                  NULL, NULL);
    }
}

QEMU_BUILD_BUG_ON(SNIC_PORTS_MAX != 2);
