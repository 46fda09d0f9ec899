/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults on request; what can be asked for stands in kiwi-fault.h.
 */
#include "fault-rule.h"
#include "qapi/error.h"
#include "qapi/visitor.h"

#include "kiwi-diag.h"

#define ENTRY_MAX 64            /* bytes of an entry of any queue */

/* A write or message held back, or one that is made a second time. */
typedef struct FaultLate {
    KiwiState *k;
    QEMUTimer *timer;
    FaultRule *rule;
    KiwiFaultKind kind;
    uint32_t queue;
    KiwiFaultWrite *write;      /* NULL: a stray write, to @addr */
    bool reply_changed;
    uint64_t addr;
    size_t size;
    uint8_t entry[ENTRY_MAX];
    QTAILQ_ENTRY(FaultLate) next;
} FaultLate;

/* An entry that was changed and that the host has not consumed yet. */
typedef struct FaultMark {
    KiwiFaultKind kind;
    uint32_t queue;
    uint32_t index;
    QTAILQ_ENTRY(FaultMark) next;
} FaultMark;

typedef enum FaultCounter {
    FAULT_MET, FAULT_CHANGED, FAULT_TAKEN, FAULT_LANDED, FAULT_CAUGHT,
    FAULT_COUNTERS
} FaultCounter;

static const char *const counter_names[FAULT_COUNTERS] = {
    [FAULT_MET] = "met",
    [FAULT_CHANGED] = "changed",
    [FAULT_TAKEN] = "taken",
    [FAULT_LANDED] = "landed",
    [FAULT_CAUGHT] = "caught",
};

struct KiwiFault {
    char *text;
    FaultRules rules[KIWI_FAULT_KINDS];
    FaultRule *current[KIWI_FAULT_KINDS];   /* met by what is under way */
    bool reply_changed;         /* of the command under way */
    GRand *rand;
    uint64_t counts[KIWI_FAULT_KINDS][FAULT_COUNTERS];
    QTAILQ_HEAD(, FaultLate) late;
    QTAILQ_HEAD(, FaultMark) marks;
};

static const enum kiwi_diag_dma_kind dma_kinds[] = {
    [KIWI_FAULT_COMMAND] = KIWI_DMA_ADMIN,
    [KIWI_FAULT_EVENT] = KIWI_DMA_EQE,
    [KIWI_FAULT_CQE] = KIWI_DMA_CQE,
};

/*
 * Choice of the rule
 */

/* Whether a rule that meets something acts on it. */
static bool rule_acts(KiwiFault *f, FaultRule *r)
{
    if (!r->count) {
        return false;
    }
    if (r->skip) {
        r->skip--;
        return false;
    }
    if (r->chance && g_rand_int_range(f->rand, 0, r->chance)) {
        return false;
    }
    if (r->count != UINT64_MAX) {
        r->count--;
    }
    f->counts[r->kind][FAULT_MET]++;
    return true;
}

void kiwi_fault_begin(KiwiState *k, KiwiFaultKind kind, uint32_t what)
{
    KiwiFault *f = k->fault;
    FaultRule *r;

    f->current[kind] = NULL;
    f->reply_changed &= kind != KIWI_FAULT_COMMAND;
    QSIMPLEQ_FOREACH(r, &f->rules[kind], next) {
        if ((r->what == FAULT_ANY || r->what == what) && rule_acts(f, r)) {
            f->current[kind] = r;
            return;
        }
    }
}

uint64_t kiwi_fault_reg(KiwiState *k, hwaddr addr, unsigned size, uint64_t val)
{
    KiwiFault *f = k->fault;
    FaultRule *r;

    QSIMPLEQ_FOREACH(r, &f->rules[KIWI_FAULT_REG], next) {
        bool upper = size == 4 && r->what + 4 == addr && r->value >> 32;

        if ((r->what == FAULT_ANY || r->what == addr || upper) &&
            rule_acts(f, r)) {
            return extract64(r->add ? val + r->add : r->value, upper * 32,
                             size * 8);
        }
    }
    return val;
}

/*
 * What is done to commands
 */

enum kiwi_status kiwi_fault_status(KiwiState *k)
{
    FaultRule *r = k->fault->current[KIWI_FAULT_COMMAND];

    k->fault->reply_changed = r && r->status;
    return r ? r->status : KIWI_ST_OK;
}

/* Whether it made a difference. */
static bool patch(KiwiFault *f, const FaultPatch *p, uint8_t *buf, size_t size)
{
    bool changed = false;

    for (size_t i = 0; i < p->len && p->offset + i < size; i++) {
        uint8_t *byte = &buf[p->offset + i];
        uint8_t value = p->bytes[i] == FAULT_RANDOM ? g_rand_int(f->rand)
                                                    : p->bytes[i];

        changed |= *byte != value;
        *byte = value;
    }
    return changed;
}

void kiwi_fault_reply(KiwiState *k, void *reply, size_t size)
{
    KiwiFault *f = k->fault;
    FaultRule *r = f->current[KIWI_FAULT_COMMAND];

    f->reply_changed = r && patch(f, &r->reply, reply, size);
}

/*
 * Writes that come late
 */

static void late_free(FaultLate *late)
{
    QTAILQ_REMOVE(&late->k->fault->late, late, next);
    timer_free(late->timer);
    fault_rule_unref(late->rule);
    g_free(late);
}

static void late_stray(FaultLate *late)
{
    KiwiFault *f = late->k->fault;
    bool landed = !late->k->gone &&
                  kiwi_dma_publish(late->k, dma_kinds[late->kind], late->addr,
                                   late->entry, late->size);

    f->counts[late->kind][landed ? FAULT_LANDED : FAULT_CAUGHT]++;
}

static void late_write(void *opaque)
{
    FaultLate *late = opaque;
    KiwiFault *f = late->k->fault;

    if (!late->write) {
        late_stray(late);
    } else if (kiwi_running(late->k)) {
        f->current[late->kind] = late->rule;
        f->reply_changed = late->reply_changed;
        late->write(late->k, late->queue, late->entry);
        f->current[late->kind] = NULL;
    }
    late_free(late);
}

static FaultLate *late_new(KiwiState *k, FaultRule *r, uint64_t ms,
                           const void *entry, size_t size)
{
    FaultLate *late = g_new0(FaultLate, 1);

    assert(size <= ENTRY_MAX);
    late->k = k;
    late->rule = r;
    r->refs++;
    late->kind = r->kind;
    late->size = size;
    late->reply_changed = k->fault->reply_changed;
    if (size) {
        memcpy(late->entry, entry, size);
    }
    late->timer = timer_new_ms(QEMU_CLOCK_VIRTUAL, late_write, late);
    timer_mod(late->timer, qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL) + ms);
    QTAILQ_INSERT_TAIL(&k->fault->late, late, next);
    return late;
}

/*
 * What is done to entries and messages
 */

static void write_some(KiwiState *k, FaultRule *r, uint32_t queue,
                       const void *entry, size_t size, KiwiFaultWrite *write)
{
    uint8_t copy[ENTRY_MAX];
    FaultLate *late;

    if (r && r->drop) {
        return;
    }
    if (r && r->delay_ms) {
        late = late_new(k, r, r->delay_ms, entry, size);
        late->queue = queue;
        late->write = write;
        return;
    }
    for (uint64_t i = 0; i <= (r ? r->repeat : 0); i++) {
        if (size) {
            memcpy(copy, entry, size);
        }
        write(k, queue, copy);
    }
}

void kiwi_fault_write(KiwiState *k, KiwiFaultKind kind, uint32_t queue,
                      const void *entry, size_t size, KiwiFaultWrite *write)
{
    write_some(k, k->fault->current[kind], queue, entry, size, write);
    k->fault->current[kind] = NULL;
}

static void mark(KiwiFault *f, KiwiFaultKind kind, uint32_t queue,
                 uint32_t index)
{
    FaultMark *m = g_new0(FaultMark, 1);

    m->kind = kind;
    m->queue = queue;
    m->index = index;
    QTAILQ_INSERT_TAIL(&f->marks, m, next);
    f->counts[kind][FAULT_CHANGED]++;
}

static void mark_free(KiwiFault *f, FaultMark *m)
{
    QTAILQ_REMOVE(&f->marks, m, next);
    g_free(m);
}

void kiwi_fault_entry(KiwiState *k, KiwiFaultKind kind, uint32_t queue,
                      uint32_t index, uint64_t addr, void *entry, size_t size)
{
    KiwiFault *f = k->fault;
    FaultRule *r = f->current[kind];
    bool changed;

    if (!r) {
        return;
    }
    changed = patch(f, &r->entry, entry, size);
    if (changed || (kind == KIWI_FAULT_COMMAND && f->reply_changed)) {
        mark(f, kind, queue, index);
    }
    if (r->silent) {
        k->aq.armed = false;
    }
    if (r->stray_ms) {
        late_new(k, r, r->stray_ms, entry, size)->addr = addr;
    }
}

void kiwi_fault_taken(KiwiState *k, KiwiFaultKind kind, uint32_t queue,
                      uint32_t index)
{
    KiwiFault *f = k->fault;
    FaultMark *m, *next;

    QTAILQ_FOREACH_SAFE(m, &f->marks, next, next) {
        if (m->kind == kind && m->queue == queue &&
            (int32_t)(index - m->index) > 0) {
            f->counts[kind][FAULT_TAKEN]++;
            mark_free(f, m);
        }
    }
}

void kiwi_fault_forget(KiwiState *k, KiwiFaultKind kind, uint32_t queue)
{
    KiwiFault *f = k->fault;
    FaultMark *m, *next;

    QTAILQ_FOREACH_SAFE(m, &f->marks, next, next) {
        if (m->kind == kind && m->queue == queue) {
            mark_free(f, m);
        }
    }
}

static void forget_all(KiwiFault *f)
{
    FaultMark *m, *next;

    QTAILQ_FOREACH_SAFE(m, &f->marks, next, next) {
        mark_free(f, m);
    }
}

void kiwi_fault_reset(KiwiState *k)
{
    FaultLate *late, *next;

    QTAILQ_FOREACH_SAFE(late, &k->fault->late, next, next) {
        if (late->write) {
            late_free(late);
        }
    }
    forget_all(k->fault);
}

/*
 * Properties
 */

static char *fault_get(Object *obj, Error **errp)
{
    return g_strdup(KIWI(obj)->fault->text);
}

static void fault_set(Object *obj, const char *text, Error **errp)
{
    KiwiFault *f = KIWI(obj)->fault;
    FaultRules rules[KIWI_FAULT_KINDS];

    fault_rules_init(rules);
    if (!fault_parse(text, rules, errp)) {
        fault_rules_free(rules);
        return;
    }
    fault_rules_free(f->rules);
    for (int kind = 0; kind < KIWI_FAULT_KINDS; kind++) {
        QSIMPLEQ_CONCAT(&f->rules[kind], &rules[kind]);
    }
    memset(f->current, 0, sizeof(f->current));
    memset(f->counts, 0, sizeof(f->counts));
    forget_all(f);
    g_free(f->text);
    f->text = g_strdup(text);
}

static void seed_set(Object *obj, Visitor *v, const char *name, void *opaque,
                     Error **errp)
{
    uint32_t seed;

    if (visit_type_uint32(v, name, &seed, errp)) {
        g_rand_set_seed(KIWI(obj)->fault->rand, seed);
    }
}

static char *counts_get(Object *obj, Error **errp)
{
    KiwiFault *f = KIWI(obj)->fault;
    GString *text = g_string_new("{");

    for (int kind = 0; kind < KIWI_FAULT_KINDS; kind++) {
        for (int i = 0; i < FAULT_COUNTERS; i++) {
            kiwi_json_append(text, f->counts[kind][i], "%s_%s",
                             fault_kind_names[kind], counter_names[i]);
        }
    }
    g_string_append_c(text, '}');
    return g_string_free(text, false);
}

static bool freeze_get(Object *obj, Error **errp)
{
    return KIWI(obj)->frozen;
}

static void freeze_set(Object *obj, bool value, Error **errp)
{
    KIWI(obj)->frozen = value;
}

static void fatal_set(Object *obj, Visitor *v, const char *name, void *opaque,
                      Error **errp)
{
    uint32_t syndrome;

    if (visit_type_uint32(v, name, &syndrome, errp)) {
        kiwi_fatal(KIWI(obj), syndrome, 0);
    }
}

static void restart_set(Object *obj, bool value, Error **errp)
{
    if (value) {
        kiwi_restart(KIWI(obj));
    }
}

typedef struct FaultEvent {
    uint64_t type;
    uint64_t code;
    uint64_t id;
    uint64_t info;
    uint64_t eq;
} FaultEvent;

#define EQ_ABSENT UINT64_MAX

static const FaultKey event_keys[] = {
    { "type", offsetof(FaultEvent, type), UINT8_MAX },
    { "code", offsetof(FaultEvent, code), UINT8_MAX },
    { "id", offsetof(FaultEvent, id), UINT32_MAX },
    { "info", offsetof(FaultEvent, info), UINT32_MAX },
    { "eq", offsetof(FaultEvent, eq), UINT16_MAX },
    { }
};

static bool event_item(const char *name, const char *value, void *into)
{
    return fault_parse_key(event_keys, name, value, into);
}

static void event_set(Object *obj, const char *text, Error **errp)
{
    KiwiState *k = KIWI(obj);
    FaultEvent e = { .eq = EQ_ABSENT };
    KiwiEq *eq;

    if (!fault_parse_list(text, &e, event_item, errp)) {
        return;
    }
    eq = e.eq == EQ_ABSENT ? k->async_eq : kiwi_eq_find(k, e.eq);
    if (!eq || !kiwi_running(k)) {
        error_setg(errp, "fault: no such event queue");
        return;
    }
    kiwi_eq_event(k, eq, e.type, e.code, e.id, e.info);
}

void kiwi_fault_class_init(ObjectClass *oc)
{
    object_class_property_add_str(oc, "fault", fault_get, fault_set);
    object_class_property_add(oc, "fault-seed", "uint32", NULL, seed_set, NULL,
                              NULL);
    object_class_property_add_str(oc, "fault-counts", counts_get, NULL);
    object_class_property_add_bool(oc, "freeze", freeze_get, freeze_set);
    object_class_property_add(oc, "fatal", "uint32", NULL, fatal_set, NULL,
                              NULL);
    object_class_property_add_bool(oc, "restart", NULL, restart_set);
    object_class_property_add_str(oc, "event", NULL, event_set);
}

void kiwi_fault_init(KiwiState *k)
{
    k->fault = g_new0(KiwiFault, 1);
    k->fault->text = g_strdup("");
    k->fault->rand = g_rand_new_with_seed(0);
    fault_rules_init(k->fault->rules);
    QTAILQ_INIT(&k->fault->late);
    QTAILQ_INIT(&k->fault->marks);
}

void kiwi_fault_exit(KiwiState *k)
{
    KiwiFault *f = k->fault;
    FaultLate *late, *next;

    QTAILQ_FOREACH_SAFE(late, &f->late, next, next) {
        late_free(late);
    }
    forget_all(f);
    fault_rules_free(f->rules);
    g_rand_free(f->rand);
    g_free(f->text);
    g_free(f);
}
