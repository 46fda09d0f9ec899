/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event queues, and the MSI-X messages that they and the admin queue send.
 */
#include "kiwi.h"
#include "qemu/bswap.h"
#include "hw/pci/msix.h"

#include "kiwi-fault.h"

static void msix_send(KiwiState *k, uint32_t vector, void *unused)
{
    PCIDevice *pci = PCI_DEVICE(k);

    if (msix_enabled(pci)) {
        msix_notify(pci, vector);
        k->diag[KIWI_DIAG_MSIX_SENT]++;
    }
}

void kiwi_msix_send(KiwiState *k, uint16_t vector)
{
    kiwi_fault_begin(k, KIWI_FAULT_VECTOR, vector);
    kiwi_fault_write(k, KIWI_FAULT_VECTOR, vector, NULL, 0, msix_send);
}

static uint32_t eq_pending(const KiwiEq *eq)
{
    return (eq->pi - eq->ci) & KIWI_EQ_DB_CI;
}

static void eq_notify(KiwiState *k, KiwiEq *eq)
{
    if (eq->armed && eq_pending(eq)) {
        eq->armed = false;
        kiwi_msix_send(k, eq->vector);
    }
}

KiwiEq *kiwi_eq_find(KiwiState *k, uint32_t eqn)
{
    return eqn < k->eq_count && k->eqs[eqn].live ? &k->eqs[eqn] : NULL;
}

void kiwi_eq_doorbell(KiwiState *k, uint32_t eqn, uint32_t value)
{
    KiwiEq *eq = kiwi_eq_find(k, eqn);
    uint32_t ci = value & KIWI_EQ_DB_CI;

    /* An index that was not yet reached, or was passed, tells nothing. */
    if (!kiwi_running(k) || !eq ||
        ((eq->pi - ci) & KIWI_EQ_DB_CI) > eq_pending(eq)) {
        return;
    }
    eq->ci = ci;
    kiwi_fault_taken(k, KIWI_FAULT_EVENT, eqn, eq->pi - eq_pending(eq));
    if (value & KIWI_EQ_DB_ARM) {
        eq->armed = true;
        eq_notify(k, eq);
    }
}

static void eq_lose(KiwiState *k, KiwiEq *eq)
{
    eq->lost = true;
    k->diag[KIWI_DIAG_EQE_LOST]++;
}

static void eq_write(KiwiState *k, uint32_t eqn, void *entry)
{
    KiwiEq *eq = kiwi_eq_find(k, eqn);
    struct kiwi_eqe *e = entry;
    uint64_t addr;

    if (!eq) {
        return;                 /* it was written late */
    }
    if (eq_pending(eq) >> eq->log2) {
        eq_lose(k, eq);
        return;
    }
    if (!((eq->pi >> eq->log2) & 1)) {
        e->flags |= KIWI_EQE_PHASE;
    }
    if (eq->lost) {
        e->flags |= KIWI_EQE_OVERRUN;
    }
    addr = eq->base + (eq->pi & ((1U << eq->log2) - 1)) * sizeof(*e);
    kiwi_fault_entry(k, KIWI_FAULT_EVENT, eqn, eq->pi, addr, e, sizeof(*e));
    if (!kiwi_dma_publish(k, KIWI_DMA_EQE, addr, e, sizeof(*e))) {
        eq_lose(k, eq);
        return;
    }
    eq->lost = false;
    eq->pi++;
    k->diag[KIWI_DIAG_EQE_WRITTEN]++;
    eq_notify(k, eq);
}

void kiwi_eq_event(KiwiState *k, KiwiEq *eq, enum kiwi_event type, uint8_t code,
                   uint32_t id, uint32_t info)
{
    struct kiwi_eqe e = {
        .type = type,
        .code = code,
        .id = cpu_to_le32(id),
        .info = cpu_to_le32(info),
    };

    kiwi_fault_begin(k, KIWI_FAULT_EVENT, type);
    kiwi_fault_write(k, KIWI_FAULT_EVENT, eq - k->eqs, &e, sizeof(e), eq_write);
}

void kiwi_async_event(KiwiState *k, enum kiwi_event type, uint8_t code,
                      uint32_t id, uint32_t info)
{
    if (k->async_eq) {
        kiwi_eq_event(k, k->async_eq, type, code, id, info);
    }
}

/*
 * Commands
 */

#define IN_FIELD(member) offsetof(struct kiwi_cmd_create_eq_in, member)

static enum kiwi_status check_create(KiwiState *k, KiwiCall *c,
                                     const struct kiwi_cmd_create_eq_in *in)
{
    uint64_t base = le64_to_cpu(in->base);
    enum kiwi_status st;

    if (base % 4096) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(base), base, 4096);
    }
    st = kiwi_check_range(c, IN_FIELD(log2), in->log2, KIWI_EQ_LOG2_MIN,
                          k->eq_log2_max);
    if (!st) {
        st = kiwi_check_range(c, IN_FIELD(kind), in->kind, KIWI_EQ_ASYNC,
                              KIWI_EQ_COMPLETION);
    }
    if (!st) {
        st = kiwi_check_range(c, IN_FIELD(vector), le16_to_cpu(in->vector), 0,
                              k->vectors - 1);
    }
    return st ? st : kiwi_check_zero(c, IN_FIELD(rsvd), sizeof(in->rsvd));
}

/* Numbers go round, so that one just freed is not met again at once. */
static uint32_t find_free(KiwiState *k)
{
    for (uint32_t i = 0; i < k->eq_count; i++) {
        uint32_t eqn = (k->next_eq + i) % k->eq_count;

        if (!k->eqs[eqn].live) {
            return eqn;
        }
    }
    return k->eq_count;
}

enum kiwi_status kiwi_eq_create_cmd(KiwiState *k, KiwiCall *c)
{
    const struct kiwi_cmd_create_eq_in *in = (void *)c->in;
    struct kiwi_cmd_id *out = (void *)c->out;
    enum kiwi_status st = check_create(k, c, in);
    uint32_t eqn;

    if (st) {
        return st;
    }
    if (in->kind == KIWI_EQ_ASYNC && k->async_eq) {
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, IN_FIELD(kind), in->kind, 1);
    }
    eqn = find_free(k);
    if (eqn == k->eq_count) {
        return kiwi_refuse(c, KIWI_ST_NO_RESOURCE, KIWI_ERR_FIELD_NONE,
                           k->eq_count, k->eq_count);
    }
    k->next_eq = eqn + 1;
    k->eqs[eqn] = (KiwiEq) {
        .live = true,
        .kind = in->kind,
        .log2 = in->log2,
        .vector = le16_to_cpu(in->vector),
        .base = le64_to_cpu(in->base),
    };
    if (in->kind == KIWI_EQ_ASYNC) {
        k->async_eq = &k->eqs[eqn];
    }
    k->diag[KIWI_DIAG_LIVE_EQ]++;
    out->id = cpu_to_le32(eqn);
    return KIWI_ST_OK;
}

static void eq_drop(KiwiState *k, KiwiEq *eq)
{
    if (eq == k->async_eq) {
        k->async_eq = NULL;
    }
    eq->live = false;
    kiwi_fault_forget(k, KIWI_FAULT_EVENT, eq - k->eqs);
    k->diag[KIWI_DIAG_LIVE_EQ]--;
}

enum kiwi_status kiwi_eq_destroy_cmd(KiwiState *k, KiwiCall *c)
{
    const struct kiwi_cmd_id *in = (void *)c->in;
    uint32_t eqn = le32_to_cpu(in->id);
    enum kiwi_status st;
    KiwiEq *eq;

    st = kiwi_check_zero(c, offsetof(typeof(*in), rsvd), sizeof(in->rsvd));
    if (st) {
        return st;
    }
    eq = kiwi_eq_find(k, eqn);
    if (!eq) {
        return kiwi_refuse(c, KIWI_ST_BAD_HANDLE, offsetof(typeof(*in), id),
                           eqn, 0);
    }
    if (eq->users) {
        return kiwi_refuse(c, KIWI_ST_BUSY, offsetof(typeof(*in), id), eqn,
                           eq->users);
    }
    eq_drop(k, eq);
    return KIWI_ST_OK;
}

void kiwi_eq_drop_all(KiwiState *k)
{
    for (uint32_t i = 0; i < k->eq_count; i++) {
        if (k->eqs[i].live) {
            eq_drop(k, &k->eqs[i]);
        }
    }
}

void kiwi_eq_init(KiwiState *k)
{
    k->eqs = g_new0(KiwiEq, k->eq_count);
}

void kiwi_eq_exit(KiwiState *k)
{
    g_free(k->eqs);
}
