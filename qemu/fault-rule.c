/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the rules of the property "fault".
 */
#include "fault-rule.h"
#include "qemu/cutils.h"
#include "qapi/error.h"

/* The count of a rule that does not give one. */
#define COUNT_ABSENT (UINT64_MAX - 1)

/* What a rule meets, and the key that says so. */
static const struct {
    const char *name;
    uint64_t max;
} selectors[KIWI_FAULT_KINDS] = {
    [KIWI_FAULT_COMMAND] = { "opcode", UINT16_MAX },
    [KIWI_FAULT_EVENT] = { "event", UINT8_MAX },
    [KIWI_FAULT_CQE] = { "cqe", UINT8_MAX },
    [KIWI_FAULT_VECTOR] = { "vector", UINT16_MAX },
    [KIWI_FAULT_REG] = { "reg", KIWI_BAR_REGS_SIZE },
};

const char *const fault_kind_names[KIWI_FAULT_KINDS] = {
    [KIWI_FAULT_COMMAND] = "command",
    [KIWI_FAULT_EVENT] = "event",
    [KIWI_FAULT_CQE] = "cqe",
    [KIWI_FAULT_VECTOR] = "vector",
    [KIWI_FAULT_REG] = "reg",
};

/*
 * Lists of KEY=VALUE
 */

bool fault_parse_key(const FaultKey *keys, const char *name, const char *value,
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

bool fault_parse_list(const char *text, void *into,
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

/*
 * Rules
 */

static bool parse_byte(const char *hex, int16_t *byte)
{
    if (!strncmp(hex, "??", 2)) {
        *byte = FAULT_RANDOM;
        return true;
    }
    *byte = g_ascii_xdigit_value(hex[0]) << 4;
    if (*byte < 0 || !g_ascii_isxdigit(hex[1])) {
        return false;
    }
    *byte |= g_ascii_xdigit_value(hex[1]);
    return true;
}

static bool parse_patch(const char *text, FaultPatch *p)
{
    const char *hex;

    if (p->bytes || qemu_strtoui(text, &hex, 0, &p->offset) || *hex++ != ':' ||
        strlen(hex) > 2 * KIWI_AQ_PAYLOAD_MAX) {
        return false;
    }
    p->bytes = g_new(int16_t, strlen(hex) / 2 + 1);
    for (p->len = 0; *hex; hex += 2) {
        if (!parse_byte(hex, &p->bytes[p->len++])) {
            return false;
        }
    }
    return p->len > 0;
}

static const FaultKey rule_keys[] = {
    { "skip", offsetof(FaultRule, skip), UINT64_MAX },
    { "count", offsetof(FaultRule, count), INT64_MAX },
    { "chance", offsetof(FaultRule, chance), INT32_MAX },
    { "status", offsetof(FaultRule, status), UINT16_MAX },
    { "delay-ms", offsetof(FaultRule, delay_ms), INT32_MAX },
    { "drop", offsetof(FaultRule, drop), 1 },
    { "repeat", offsetof(FaultRule, repeat), UINT16_MAX },
    { "stray-ms", offsetof(FaultRule, stray_ms), INT32_MAX },
    { "silent", offsetof(FaultRule, silent), 1 },
    { "value", offsetof(FaultRule, value), UINT64_MAX },
    { "add", offsetof(FaultRule, add), UINT64_MAX },
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
    for (int kind = 0; kind < KIWI_FAULT_KINDS; kind++) {
        if (!strcmp(name, selectors[kind].name)) {
            r->kind = kind;
            r->what = FAULT_ANY;
            return !strcmp(value, "any") ||
                   (!qemu_strtou64(value, NULL, 0, &r->what) &&
                    r->what <= selectors[kind].max);
        }
    }
    return fault_parse_key(rule_keys, name, value, r);
}

void fault_rule_unref(FaultRule *r)
{
    if (!--r->refs) {
        g_free(r->reply.bytes);
        g_free(r->entry.bytes);
        g_free(r);
    }
}

void fault_rules_init(FaultRules *rules)
{
    for (int kind = 0; kind < KIWI_FAULT_KINDS; kind++) {
        QSIMPLEQ_INIT(&rules[kind]);
    }
}

void fault_rules_free(FaultRules *rules)
{
    FaultRule *r;

    for (int kind = 0; kind < KIWI_FAULT_KINDS; kind++) {
        while ((r = QSIMPLEQ_FIRST(&rules[kind]))) {
            QSIMPLEQ_REMOVE_HEAD(&rules[kind], next);
            fault_rule_unref(r);
        }
    }
}

bool fault_parse(const char *text, FaultRules *rules, Error **errp)
{
    g_auto(GStrv) parts = g_strsplit(text, ";", 0);

    for (char **part = parts; *part; part++) {
        FaultRule *r = g_new0(FaultRule, 1);

        r->refs = 1;
        r->what = FAULT_ANY;
        r->count = COUNT_ABSENT;
        if (!fault_parse_list(*part, r, rule_item, errp)) {
            fault_rule_unref(r);
            return false;
        }
        if (r->count == COUNT_ABSENT) {
            r->count = r->kind != KIWI_FAULT_REG;
        }
        if (!r->count) {
            r->count = UINT64_MAX;
        }
        QSIMPLEQ_INSERT_TAIL(&rules[r->kind], r, next);
    }
    return true;
}
