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

typedef struct FaultRule {
    bool any_opcode;
    uint64_t opcode;
    uint64_t skip;
    uint64_t count;             /* left; UINT64_MAX: for ever */
    uint64_t status;
    uint64_t delay_ms;
    uint64_t drop;
    bool is_reg;
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
        if (r->is_reg && r->reg == addr) {
            return extract64(r->value, 0, size * 8);
        }
        if (r->is_reg && size == 4 && r->reg + 4 == addr) {
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
        if (r->is_reg || !r->count || (!r->any_opcode && r->opcode != opcode)) {
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

static bool parse_number(const char *text, uint64_t *number)
{
    return qemu_strtou64(text, NULL, 0, number) == 0;
}

static bool parse_item(const char *key, const char *value, FaultRule *r)
{
    if (!strcmp(key, "opcode")) {
        r->any_opcode = false;
        return parse_number(value, &r->opcode);
    } else if (!strcmp(key, "skip")) {
        return parse_number(value, &r->skip);
    } else if (!strcmp(key, "count")) {
        return parse_number(value, &r->count);
    } else if (!strcmp(key, "status")) {
        return parse_number(value, &r->status) && r->status <= UINT16_MAX;
    } else if (!strcmp(key, "delay-ms")) {
        return parse_number(value, &r->delay_ms);
    } else if (!strcmp(key, "drop")) {
        return parse_number(value, &r->drop);
    } else if (!strcmp(key, "reg")) {
        r->is_reg = true;
        return parse_number(value, &r->reg);
    } else if (!strcmp(key, "value")) {
        return parse_number(value, &r->value);
    } else if (!strcmp(key, "reply")) {
        return parse_patch(value, &r->reply);
    } else if (!strcmp(key, "entry")) {
        return parse_patch(value, &r->entry);
    }
    return false;
}

/* Calls @item for each KEY=VALUE of a list; false at the first it refuses. */
static bool parse_list(const char *text, void *into,
                       bool (*item)(const char *key, const char *value,
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

static bool rule_item(const char *key, const char *value, void *into)
{
    return parse_item(key, value, into);
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

        r->any_opcode = true;
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

static bool event_item(const char *key, const char *value, void *into)
{
    FaultEvent *e = into;

    if (!strcmp(key, "type")) {
        return parse_number(value, &e->type);
    } else if (!strcmp(key, "code")) {
        return parse_number(value, &e->code);
    } else if (!strcmp(key, "id")) {
        return parse_number(value, &e->id);
    } else if (!strcmp(key, "info")) {
        return parse_number(value, &e->info);
    } else if (!strcmp(key, "eq")) {
        return parse_number(value, &e->eq);
    }
    return false;
}

static void event_set(Object *obj, const char *text, Error **errp)
{
    KiwiState *k = KIWI(obj);
    FaultEvent e = { .eq = UINT64_MAX };
    KiwiEq *eq;

    if (!parse_list(text, &e, event_item, errp)) {
        return;
    }
    eq = e.eq == UINT64_MAX ? k->async_eq : kiwi_eq_find(k, e.eq);
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
