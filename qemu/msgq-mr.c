/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protection domains and memory regions.
 */
#include "msgq.h"
#include "qemu/bswap.h"

/*
 * Protection domains
 */

enum kiwi_status msgq_alloc_pd_cmd(KiwiState *k, KiwiCall *c)
{
    Msgq *s = k->msgq;
    struct kiwi_cmd_id *out = (void *)c->out;
    MsgqPd *pd;

    if (kiwi_table_full(&s->pds)) {
        return kiwi_refuse_full(c, &s->pds);
    }
    pd = g_new0(MsgqPd, 1);
    pd->number = kiwi_table_add(s->k, &s->pds, pd);
    out->id = cpu_to_le32(pd->number);
    return KIWI_ST_OK;
}

void msgq_pd_free(Msgq *s, MsgqPd *pd)
{
    kiwi_table_del(s->k, &s->pds, pd->number);
    g_free(pd);
}

enum kiwi_status msgq_dealloc_pd_cmd(KiwiState *k, KiwiCall *c)
{
    Msgq *s = k->msgq;
    void *pd;
    enum kiwi_status st = kiwi_id_in(c, &s->pds, &pd);

    if (st) {
        return st;
    }
    if (((MsgqPd *)pd)->users) {
        return kiwi_refuse_id(c, KIWI_ST_BUSY, ((MsgqPd *)pd)->users);
    }
    msgq_pd_free(s, pd);
    return KIWI_ST_OK;
}

/*
 * Memory regions
 */

#define IN_FIELD(member) offsetof(struct kiwi_snic_reg_mr_in, member)

static enum kiwi_status check_access(Msgq *s, KiwiCall *c, uint32_t access)
{
    const uint32_t writes = KIWI_ACCESS_REMOTE_WRITE |
                            KIWI_ACCESS_REMOTE_ATOMIC;
    uint32_t known = KIWI_ACCESS_ALL;

    if (kiwi_accepted(s->k, KIWI_SNIC_CAP_GPU_QUEUES)) {
        known |= KIWI_ACCESS_RELAXED;
    }
    if (access & ~known) {
        return kiwi_refuse(c, KIWI_ST_BAD_RESERVED, IN_FIELD(access), access,
                           known);
    }
    if ((access & writes) && !(access & KIWI_ACCESS_LOCAL_WRITE)) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(access), access,
                           access | KIWI_ACCESS_LOCAL_WRITE);
    }
    return KIWI_ST_OK;
}

static enum kiwi_status check_reg_mr(Msgq *s, KiwiCall *c,
                                     const struct kiwi_snic_reg_mr_in *in)
{
    uint64_t iova = le64_to_cpu(in->iova);
    uint64_t length = le64_to_cpu(in->length);
    enum kiwi_status st = check_access(s, c, le32_to_cpu(in->access));

    if (!st) {
        st = kiwi_check_range(c, IN_FIELD(length), length, 1, s->max_mr_size);
    }
    if (!st && length - 1 > UINT64_MAX - iova) {
        st = kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(length), length,
                         -iova);
    }
    if (!st) {
        st = kiwi_pbl_check(s->k, c, IN_FIELD(pbl));
    }
    if (!st) {
        st = kiwi_pbl_check_length(s->k, c, IN_FIELD(pbl), length);
    }
    return st;
}

enum kiwi_status msgq_reg_mr_cmd(KiwiState *k, KiwiCall *c)
{
    Msgq *s = k->msgq;
    const struct kiwi_snic_reg_mr_in *in = (void *)c->in;
    struct kiwi_cmd_id *out = (void *)c->out;
    MsgqPd *pd = kiwi_table_get(&s->pds, le32_to_cpu(in->pdn));
    enum kiwi_status st = check_reg_mr(s, c, in);
    KiwiPbl *mem;
    MsgqMr *mr;

    if (st) {
        return st;
    }
    if (!pd) {
        return kiwi_refuse(c, KIWI_ST_BAD_HANDLE, IN_FIELD(pdn),
                           le32_to_cpu(in->pdn), 0);
    }
    if (kiwi_table_full(&s->mrs)) {
        return kiwi_refuse_full(c, &s->mrs);
    }
    st = kiwi_pbl_load(k, c, IN_FIELD(pbl), le64_to_cpu(in->length), &mem);
    if (st) {
        return st;
    }
    mr = g_new0(MsgqMr, 1);
    mr->pd = pd;
    mr->access = le32_to_cpu(in->access);
    mr->iova = le64_to_cpu(in->iova);
    mr->length = le64_to_cpu(in->length);
    mr->mem = mem;
    mr->number = kiwi_table_add(s->k, &s->mrs, mr);
    mr->key = mr->number << 8 | (kiwi_table_epoch(&s->mrs, mr->number) & 0xff);
    pd->users++;
    out->id = cpu_to_le32(mr->key);
    return KIWI_ST_OK;
}

static MsgqMr *mr_find(Msgq *s, uint32_t key)
{
    MsgqMr *mr = kiwi_table_get(&s->mrs, key >> 8);

    return mr && mr->key == key ? mr : NULL;
}

static void mr_set_mem(Msgq *s, MsgqMr *mr, KiwiPbl *mem)
{
    s->k->diag[KIWI_DIAG_MR_HELD] += !mem - !mr->mem;
    kiwi_pbl_free(mr->mem);
    mr->mem = mem;
}

void msgq_mr_free(Msgq *s, MsgqMr *mr)
{
    s->k->diag[KIWI_DIAG_MR_HELD] -= !mr->mem;
    kiwi_table_del(s->k, &s->mrs, mr->number);
    mr->pd->users--;
    kiwi_pbl_free(mr->mem);
    g_free(mr);
}

static enum kiwi_status mr_in(Msgq *s, KiwiCall *c, MsgqMr **mr)
{
    const struct kiwi_cmd_id *in = (void *)c->in;
    enum kiwi_status st = kiwi_id_check(c);

    if (st) {
        return st;
    }
    *mr = mr_find(s, le32_to_cpu(in->id));
    return *mr ? KIWI_ST_OK : kiwi_refuse_id(c, KIWI_ST_BAD_HANDLE, 0);
}

enum kiwi_status msgq_dereg_mr_cmd(KiwiState *k, KiwiCall *c)
{
    Msgq *s = k->msgq;
    MsgqMr *mr;
    enum kiwi_status st = mr_in(s, c, &mr);
    bool held;

    if (st) {
        return st;
    }
    held = !mr->mem;
    msgq_mr_free(s, mr);
    if (held) {
        msgq_rc_resume(s);
    }
    return KIWI_ST_OK;
}

/*
 * Hold (S-40)
 */

enum kiwi_status msgq_hold_mr_cmd(KiwiState *k, KiwiCall *c)
{
    Msgq *s = k->msgq;
    MsgqMr *mr;
    enum kiwi_status st = mr_in(s, c, &mr);

    if (st) {
        return st;
    }
    if (!mr->mem) {
        return kiwi_refuse_id(c, KIWI_ST_BAD_STATE, 0);
    }
    mr_set_mem(s, mr, NULL);
    return KIWI_ST_OK;
}

#define RESUME_FIELD(member) offsetof(struct kiwi_snic_resume_mr_in, member)

static enum kiwi_status find_held(Msgq *s, KiwiCall *c, MsgqMr **mr)
{
    const struct kiwi_snic_resume_mr_in *in = (void *)c->in;
    uint32_t key = le32_to_cpu(in->key);

    *mr = mr_find(s, key);
    if (!*mr) {
        return kiwi_refuse(c, KIWI_ST_BAD_HANDLE, RESUME_FIELD(key), key, 0);
    }
    return (*mr)->mem ? kiwi_refuse(c, KIWI_ST_BAD_STATE, RESUME_FIELD(key),
                                    key, 0)
                      : KIWI_ST_OK;
}

enum kiwi_status msgq_resume_mr_cmd(KiwiState *k, KiwiCall *c)
{
    Msgq *s = k->msgq;
    enum kiwi_status st;
    KiwiPbl *mem;
    MsgqMr *mr;

    st = kiwi_check_zero(c, RESUME_FIELD(rsvd),
                         sizeof_field(struct kiwi_snic_resume_mr_in, rsvd));
    if (!st) {
        st = kiwi_pbl_check(k, c, RESUME_FIELD(pbl));
    }
    if (!st) {
        st = find_held(s, c, &mr);
    }
    if (!st) {
        st = kiwi_pbl_check_length(k, c, RESUME_FIELD(pbl), mr->length);
    }
    if (!st) {
        st = kiwi_pbl_load(k, c, RESUME_FIELD(pbl), mr->length, &mem);
    }
    if (st) {
        return st;
    }
    mr_set_mem(s, mr, mem);
    msgq_rc_resume(s);
    return KIWI_ST_OK;
}

/*
 * Access by key
 */

static MsgqVendorErr mr_locate(Msgq *s, MsgqPd *pd, uint32_t key,
                               uint64_t addr, uint64_t len, uint32_t need,
                               MsgqMr **out)
{
    MsgqMr *mr = mr_find(s, key);

    if (!mr || mr->pd != pd) {
        return MSGQ_ERR_KEY;
    }
    if (need & ~mr->access) {
        return MSGQ_ERR_RIGHT;
    }
    if (addr < mr->iova || addr - mr->iova > mr->length ||
        len > mr->length - (addr - mr->iova)) {
        return MSGQ_ERR_BOUNDS;
    }
    *out = mr;
    return mr->mem ? MSGQ_OK : MSGQ_HELD;
}

MsgqVendorErr msgq_mr_check(Msgq *s, MsgqPd *pd, uint32_t key,
                            uint64_t addr, uint64_t len, uint32_t need)
{
    MsgqMr *mr;

    return mr_locate(s, pd, key, addr, len, need, &mr);
}

MsgqVendorErr msgq_mr_read(Msgq *s, MsgqPd *pd, uint32_t key,
                           uint64_t addr, void *buf, uint64_t len,
                           uint32_t need)
{
    MsgqMr *mr;
    MsgqVendorErr err = mr_locate(s, pd, key, addr, len, need, &mr);

    if (!err && !kiwi_pbl_read(s->k, KIWI_DMA_PAYLOAD_READ, mr->mem,
                               addr - mr->iova, buf, len)) {
        err = MSGQ_ERR_DMA;
    }
    return err;
}

MsgqVendorErr msgq_mr_write(Msgq *s, MsgqPd *pd, uint32_t key,
                            uint64_t addr, const void *buf, uint64_t len,
                            uint32_t need)
{
    MsgqMr *mr;
    MsgqVendorErr err = mr_locate(s, pd, key, addr, len, need, &mr);

    if (!err && !kiwi_pbl_write(s->k, KIWI_DMA_PAYLOAD_WRITE, mr->mem,
                                addr - mr->iova, buf, len)) {
        err = MSGQ_ERR_DMA;
    }
    return err;
}

MsgqVendorErr msgq_mr_atomic(Msgq *s, MsgqPd *pd, uint32_t key,
                             uint64_t addr, uint64_t swap_add,
                             const uint64_t *compare, uint64_t *old)
{
    MsgqVendorErr err = msgq_mr_read(s, pd, key, addr, old, sizeof(*old),
                                     KIWI_ACCESS_REMOTE_ATOMIC);
    uint64_t value;

    if (err) {
        return err;
    }
    le64_to_cpus(old);
    if (compare && *old != *compare) {
        return MSGQ_OK;
    }
    value = cpu_to_le64(compare ? swap_add : *old + swap_add);
    return msgq_mr_write(s, pd, key, addr, &value, sizeof(value),
                         KIWI_ACCESS_REMOTE_ATOMIC);
}
