/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands that every part has.
 */
#include "kiwi.h"
#include "qemu/bswap.h"

#define ID_FIELD(member) offsetof(struct kiwi_cmd_id, member)

enum kiwi_status kiwi_id_check(KiwiCall *c)
{
    return kiwi_check_zero(c, ID_FIELD(rsvd),
                           sizeof_field(struct kiwi_cmd_id, rsvd));
}

enum kiwi_status kiwi_refuse_id(KiwiCall *c, enum kiwi_status status,
                                uint64_t limit)
{
    const struct kiwi_cmd_id *in = (void *)c->in;

    return kiwi_refuse(c, status, ID_FIELD(id), le32_to_cpu(in->id), limit);
}

enum kiwi_status kiwi_id_in(KiwiCall *c, const KiwiTable *t, void **object)
{
    const struct kiwi_cmd_id *in = (void *)c->in;
    enum kiwi_status st = kiwi_id_check(c);

    if (st) {
        return st;
    }
    *object = kiwi_table_get(t, le32_to_cpu(in->id));
    return *object ? KIWI_ST_OK : kiwi_refuse_id(c, KIWI_ST_BAD_HANDLE, 0);
}

enum kiwi_status kiwi_refuse_full(KiwiCall *c, const KiwiTable *t)
{
    return kiwi_refuse(c, KIWI_ST_NO_RESOURCE, KIWI_ERR_FIELD_NONE, t->max,
                       t->max);
}

static enum kiwi_status set_host_caps(KiwiState *k, KiwiCall *c)
{
    const struct kiwi_cmd_set_host_caps_in *in = (void *)c->in;
    uint64_t caps = le64_to_cpu(in->caps);
    uint32_t abi = le32_to_cpu(in->abi);
    enum kiwi_status st;

    if (caps & ~kiwi_caps(k)) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, offsetof(typeof(*in), caps),
                           caps, kiwi_caps(k));
    }
    if (abi >> 16 != KIWI_ABI_MAJOR) {
        return kiwi_refuse(c, KIWI_ST_UNSUPPORTED, offsetof(typeof(*in), abi),
                           abi, KIWI_ABI_MAJOR << 16 | KIWI_ABI_MINOR);
    }
    st = kiwi_check_zero(c, offsetof(typeof(*in), rsvd), sizeof(in->rsvd));
    if (st) {
        return st;
    }
    if (k->aq.ready) {
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, KIWI_ERR_FIELD_NONE, 0, 0);
    }
    k->host_caps = caps;
    k->aq.ready = true;
    return KIWI_ST_OK;
}

const KiwiCommand kiwi_common_commands[] = {
    { KIWI_OP_SET_HOST_CAPS, sizeof(struct kiwi_cmd_set_host_caps_in), 0,
      set_host_caps },
    { KIWI_OP_CREATE_EQ, sizeof(struct kiwi_cmd_create_eq_in),
      sizeof(struct kiwi_cmd_id), kiwi_eq_create_cmd },
    { KIWI_OP_DESTROY_EQ, sizeof(struct kiwi_cmd_id), 0, kiwi_eq_destroy_cmd },
    { KIWI_OP_OPEN_DB_PAGE, sizeof(struct kiwi_cmd_id), 0, kiwi_db_open_cmd },
    { KIWI_OP_CLOSE_DB_PAGE, sizeof(struct kiwi_cmd_id), 0,
      kiwi_db_close_cmd },
};

const size_t kiwi_num_common_commands = ARRAY_SIZE(kiwi_common_commands);
