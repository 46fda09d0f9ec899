/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults on request; what can be asked for stands in kiwi-fault.h.
 */
#include "kiwi-fault.h"
#include "qemu/cutils.h"
#include "qemu/queue.h"
#include "qapi/error.h"
#include "qapi/visitor.h"

typedef struct FaultPatch {
    uint32_t offset;
    uint32_t len;
    uint8_t bytes[KIWI_AQ_PAYLOAD_MAX];
} FaultPatch;

#define NOT_GIVEN UINT64_MAX

typedef struct FaultRule {
    uint64_t opcode;
    uint64_t skip;
    uint64_t count;             /* left; UINT64_MAX: for ever */
    uint64_t status;
    uint64_t delay_ms;
    uint64_t drop;
    uint64_t twice;
    uint64_t silent;
    uint64_t reg;
    uint64_t value;
    FaultPatch reply;
    FaultPatch entry;
    QTAILQ_ENTRY(FaultRule) next;
} FaultRule;

/* A completion held back. */
typedef struct FaultLate {
    KiwiState *k;
    QEMUTimer *timer;
    struct kiwi_acq_entry done;
    QTAILQ_ENTRY(FaultLate) next;
} FaultLate;

typedef QTAILQ_HEAD(FaultRules, FaultRule) FaultRules;

struct KiwiFault {
    char *text;
    FaultRules rules;
    FaultRule *current;         /* that the running command meets */
    QTAILQ_HEAD(, FaultLate) late;
};

/*
 * At work
 */

uint64_t kiwi_fault_reg(KiwiState *k, hwaddr addr, unsigned size, uint64_t val)
{
    FaultRule *r;

    QTAILQ_FOREACH(r, &k->fault->rules, next) {
        if (r->reg == NOT_GIVEN) {
            continue;
        }
        if (r->reg == addr) {
            return extract64(r->value, 0, size * 8);
        }
        if (size == 4 && r->reg + 4 == addr && r->value >> 32) {
            return r->value >> 32;
        }
    }
    return val;
}

void kiwi_fault_begin(KiwiState *k, uint16_t opcode)
{
    KiwiFault *f = k->fault;
    FaultRule *r;

    f->current = NULL;
    QTAILQ_FOREACH(r, &f->rules, next) {
        if (r->reg != NOT_GIVEN || !r->count ||
            (r->opcode != NOT_GIVEN && r->opcode != opcode)) {
            continue;
        }
        if (r->skip) {
            r->skip--;
            continue;
        }
        if (r->count != UINT64_MAX) {
            r->count--;
        }
        f->current = r;
        return;
    }
}

enum kiwi_status kiwi_fault_status(KiwiState *k, KiwiCall *c)
{
    return k->fault->current ? k->fault->current->status : KIWI_ST_OK;
}

static void patch(const FaultPatch *p, void *buf, size_t size)
{
    if (p->len) {
        memcpy(buf + MIN(p->offset, size), p->bytes,
               MIN(p->len, size - MIN(p->offset, size)));
    }
}

void kiwi_fault_reply(KiwiState *k, KiwiCall *c)
{
    if (k->fault->current) {
        patch(&k->fault->current->reply, c->out, sizeof(c->out));
    }
}

static void late_free(KiwiFault *f, FaultLate *late)
{
    QTAILQ_REMOVE(&f->late, late, next);
    timer_free(late->timer);
    g_free(late);
}

static void late_complete(void *opaque)
{
    FaultLate *late = opaque;

    if (kiwi_running(late->k)) {
        kiwi_aq_complete(late->k, &late->done);
    }
    late_free(late->k->fault, late);
}

bool kiwi_fault_completion(KiwiState *k, struct kiwi_acq_entry *done)
{
    FaultRule *r = k->fault->current;
    FaultLate *late;

    if (!r) {
        return false;
    }
    patch(&r->entry, done, sizeof(*done));
    if (r->drop) {
        return true;
    }
    if (r->silent) {
        k->aq.armed = false;
    }
    if (r->twice) {
        struct kiwi_acq_entry first = *done;

        kiwi_aq_complete(k, &first);
    }
    if (!r->delay_ms) {
        return false;
    }
    late = g_new0(FaultLate, 1);
    late->k = k;
    late->done = *done;
    late->timer = timer_new_ms(QEMU_CLOCK_VIRTUAL, late_complete, late);
    timer_mod(late->timer,
              qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL) + r->delay_ms);
    QTAILQ_INSERT_TAIL(&k->fault->late, late, next);
    return true;
}

void kiwi_fault_reset(KiwiState *k)
{
    FaultLate *late, *next;

    QTAILQ_FOREACH_SAFE(late, &k->fault->late, next, next) {
        late_free(k->fault, late);
    }
}

/*
 * Rules
 */

static bool parse_patch(const char *text, FaultPatch *p)
{
    const char *hex;
    unsigned int byte;

    if (qemu_strtoui(text, &hex, 0, &p->offset) || *hex++ != ':') {
        return false;
    }
    for (p->len = 0; *hex; hex += 2) {
        if (!g_ascii_isxdigit(hex[0]) || !g_ascii_isxdigit(hex[1]) ||
            p->len == sizeof(p->bytes) || sscanf(hex, "%2x", &byte) != 1) {
            return false;
        }
        p->bytes[p->len++] = byte;
    }
    return p->len > 0;
}

/* A key whose value is a number, and where in the structure that goes. */
typedef struct FaultKey {
    const char *name;
    size_t offset;
    uint64_t max;
} FaultKey;

static bool parse_key(const FaultKey *keys, const char *name, const char *value,
                      void *into)
{
    for (; keys->name; keys++) {
        if (!strcmp(name, keys->name)) {
            uint64_t *number = into + keys->offset;

            return !qemu_strtou64(value, NULL, 0, number) &&
                   *number <= keys->max;
        }
    }
    return false;
}

/* Calls @item for each KEY=VALUE of a list; false at the first it refuses. */
static bool parse_list(const char *text, void *into,
                       bool (*item)(const char *name, const char *value,
                                    void *into), Error **errp)
{
    g_auto(GStrv) items = g_strsplit(text, ",", 0);

    for (char **i = items; *i; i++) {
        char *value = strchr(*i, '=');

        if (value) {
            *value++ = 0;
        }
        if (!value || !item(*i, value, into)) {
            error_setg(errp, "fault: cannot take '%s%s%s'", *i,
                       value ? "=" : "", value ? value : "");
            return false;
        }
    }
    return true;
}

static const FaultKey rule_keys[] = {
    { "opcode", offsetof(FaultRule, opcode), UINT16_MAX },
    { "skip", offsetof(FaultRule, skip), UINT64_MAX },
    { "count", offsetof(FaultRule, count), UINT64_MAX },
    { "status", offsetof(FaultRule, status), UINT16_MAX },
    { "delay-ms", offsetof(FaultRule, delay_ms), INT32_MAX },
    { "drop", offsetof(FaultRule, drop), 1 },
    { "twice", offsetof(FaultRule, twice), 1 },
    { "silent", offsetof(FaultRule, silent), 1 },
    { "reg", offsetof(FaultRule, reg), KIWI_BAR_REGS_SIZE },
    { "value", offsetof(FaultRule, value), UINT64_MAX },
    { }
};

static bool rule_item(const char *name, const char *value, void *into)
{
    FaultRule *r = into;

    if (!strcmp(name, "reply")) {
        return parse_patch(value, &r->reply);
    }
    if (!strcmp(name, "entry")) {
        return parse_patch(value, &r->entry);
    }
    return parse_key(rule_keys, name, value, r);
}

static void free_rules(FaultRules *rules)
{
    FaultRule *r, *next;

    QTAILQ_FOREACH_SAFE(r, rules, next, next) {
        QTAILQ_REMOVE(rules, r, next);
        g_free(r);
    }
}

static bool parse_rules(const char *text, FaultRules *rules, Error **errp)
{
    g_auto(GStrv) parts = g_strsplit(text, ";", 0);

    for (char **part = parts; *part; part++) {
        FaultRule *r = g_new0(FaultRule, 1);

        r->opcode = NOT_GIVEN;
        r->reg = NOT_GIVEN;
        r->count = 1;
        QTAILQ_INSERT_TAIL(rules, r, next);
        if (!parse_list(*part, r, rule_item, errp)) {
            return false;
        }
        if (!r->count) {
            r->count = UINT64_MAX;
        }
    }
    return true;
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
    FaultRules rules = QTAILQ_HEAD_INITIALIZER(rules);
    FaultRule *r;

    if (!parse_rules(text, &rules, errp)) {
        free_rules(&rules);
        return;
    }
    free_rules(&f->rules);
    while ((r = QTAILQ_FIRST(&rules))) {
        QTAILQ_REMOVE(&rules, r, next);
        QTAILQ_INSERT_TAIL(&f->rules, r, next);
    }
    f->current = NULL;
    g_free(f->text);
    f->text = g_strdup(text);
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
    return parse_key(event_keys, name, value, into);
}

static void event_set(Object *obj, const char *text, Error **errp)
{
    KiwiState *k = KIWI(obj);
    FaultEvent e = { .eq = NOT_GIVEN };
    KiwiEq *eq;

    if (!parse_list(text, &e, event_item, errp)) {
        return;
    }
    eq = e.eq == NOT_GIVEN ? k->async_eq : kiwi_eq_find(k, e.eq);
    if (!eq || !kiwi_running(k)) {
        error_setg(errp, "fault: no such event queue");
        return;
    }
    kiwi_eq_event(k, eq, e.type, e.code, e.id, e.info);
}

void kiwi_fault_class_init(ObjectClass *oc)
{
    object_class_property_add_str(oc, "fault", fault_get, fault_set);
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
    QTAILQ_INIT(&k->fault->rules);
    QTAILQ_INIT(&k->fault->late);
}

void kiwi_fault_exit(KiwiState *k)
{
    kiwi_fault_reset(k);
    free_rules(&k->fault->rules);
    g_free(k->fault->text);
    g_free(k->fault);
}
