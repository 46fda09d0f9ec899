/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules of the property "fault" (kiwi-fault.h), and how they are read.
 */
#ifndef FAULT_RULE_H
#define FAULT_RULE_H

#include "kiwi-fault.h"
#include "qemu/queue.h"

/* Bytes to be overwritten. */
typedef struct FaultPatch {
    uint32_t offset;
    uint32_t len;
    int16_t *bytes;             /* FAULT_RANDOM, or a value */
} FaultPatch;

#define FAULT_RANDOM -1
#define FAULT_ANY UINT64_MAX

typedef struct FaultRule {
    KiwiFaultKind kind;
    uint64_t what;              /* of the kind it meets, or FAULT_ANY */
    uint64_t skip;
    uint64_t count;             /* left; UINT64_MAX: for ever */
    uint64_t chance;            /* 0: always */
    uint64_t status;
    uint64_t delay_ms;
    uint64_t drop;
    uint64_t repeat;
    uint64_t stray_ms;
    uint64_t silent;
    uint64_t value;
    uint64_t add;
    FaultPatch reply;
    FaultPatch entry;
    unsigned refs;
    QSIMPLEQ_ENTRY(FaultRule) next;
} FaultRule;

typedef QSIMPLEQ_HEAD(FaultRules, FaultRule) FaultRules;

extern const char *const fault_kind_names[KIWI_FAULT_KINDS];

/* Adds the rules of @text to @rules, by kind; those before an error too. */
bool fault_parse(const char *text, FaultRules *rules, Error **errp);
void fault_rule_unref(FaultRule *r);
void fault_rules_init(FaultRules *rules);
void fault_rules_free(FaultRules *rules);

/* A key whose value is a number, and where in the structure that goes. */
typedef struct FaultKey {
    const char *name;
    size_t offset;
    uint64_t max;
} FaultKey;

bool fault_parse_key(const FaultKey *keys, const char *name, const char *value,
                     void *into);

/* Calls @item for each KEY=VALUE of a list; false at the first it refuses. */
bool fault_parse_list(const char *text, void *into,
                      bool (*item)(const char *name, const char *value,
                                   void *into), Error **errp);

#endif /* FAULT_RULE_H */
