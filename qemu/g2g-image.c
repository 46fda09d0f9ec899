/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Personality images: two slots, one of them active (F-40 to F-45).
 */
#include "g2g.h"
#include "qemu/bswap.h"
#include "qemu/cutils.h"

#define HEAD_SIZE   sizeof(struct kiwi_g2g_image)
#define HASH_SIZE   sizeof_field(struct kiwi_g2g_image, hash)

static void image_hash(const uint8_t *data, uint32_t len, uint8_t *hash)
{
    static const uint8_t zero[HASH_SIZE];
    const size_t at = offsetof(struct kiwi_g2g_image, hash);
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    gsize size = HASH_SIZE;

    g_checksum_update(sum, data, at);
    g_checksum_update(sum, zero, sizeof(zero));
    g_checksum_update(sum, data + at + HASH_SIZE, len - at - HASH_SIZE);
    g_checksum_get_digest(sum, hash, &size);
    g_checksum_free(sum);
}

static void slot_clear(G2gSlot *slot)
{
    g_free(slot->data);
    *slot = (G2gSlot) { .state = KIWI_G2G_SLOT_EMPTY };
}

void g2g_image_init(G2gState *s)
{
    struct kiwi_g2g_image *image = g_new0(struct kiwi_g2g_image, 1);

    *image = (struct kiwi_g2g_image) {
        .magic = cpu_to_le32(KIWI_G2G_IMAGE_MAGIC),
        .size = cpu_to_le16(HEAD_SIZE),
        .id = cpu_to_le16(KIWI_G2G_SUE),
        .version = cpu_to_le32(1),
        .length = cpu_to_le32(HEAD_SIZE),
        .semantics = KIWI_G2G_SEM_MEMORY | KIWI_G2G_SEM_MESSAGE,
        .header_kind = KIWI_G2G_HDR_SUE,
        .id_bits = 10,
        .addr_bits = 48,
        .mtu = cpu_to_le16(KIWI_G2G_MTU_MAX),
        .vcs = KIWI_G2G_VCS,
        .reliability = KIWI_G2G_REL_GBN | KIWI_G2G_REL_LLR,
        .flow = KIWI_G2G_FLOW_ALL,
        .atomics = KIWI_G2G_ATOMIC_ALL,
        .name = "SUE",
    };
    image_hash((uint8_t *)image, HEAD_SIZE, image->hash);
    s->slot[0] = (G2gSlot) {
        .state = KIWI_G2G_SLOT_VERIFIED,
        .length = HEAD_SIZE,
        .written = HEAD_SIZE,
        .data = (uint8_t *)image,
    };
    s->active_slot = 0;
    s->image = image;
}

void g2g_image_exit(G2gState *s)
{
    for (int i = 0; i < G2G_SLOTS; i++) {
        slot_clear(&s->slot[i]);
    }
}

void g2g_image_reset(G2gState *s)
{
    for (int i = 0; i < G2G_SLOTS; i++) {
        if (s->slot[i].state == KIWI_G2G_SLOT_LOADING) {
            slot_clear(&s->slot[i]);
        }
    }
}

uint32_t g2g_image_accels(const G2gState *s)
{
    return 1U << s->image->id_bits;
}

/*
 * Upload
 */

static enum kiwi_status refuse_slot(KiwiCall *c, enum kiwi_status status,
                                    uint64_t limit)
{
    /* The first field of all these commands is the slot. */
    return kiwi_refuse(c, status, 0, kiwi_le_value(c->in, 4), limit);
}

#define BEGIN_FIELD(member) offsetof(struct kiwi_g2g_begin_image_in, member)

enum kiwi_status g2g_begin_image_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    const struct kiwi_g2g_begin_image_in *in = (void *)c->in;
    uint32_t number = le32_to_cpu(in->slot), length = le32_to_cpu(in->length);
    enum kiwi_status st;
    G2gSlot *slot;

    st = kiwi_check_range(c, BEGIN_FIELD(slot), number, 0, G2G_SLOTS - 1);
    if (!st) {
        st = kiwi_check_range(c, BEGIN_FIELD(length), length, HEAD_SIZE,
                              s->image_max);
    }
    if (st) {
        return st;
    }
    if (number == s->active_slot) {
        return refuse_slot(c, KIWI_ST_BUSY, 0);
    }
    slot = &s->slot[number];
    slot_clear(slot);
    slot->state = KIWI_G2G_SLOT_LOADING;
    slot->length = length;
    slot->data = g_malloc0(length);
    return KIWI_ST_OK;
}

#define WRITE_FIELD(member) offsetof(struct kiwi_g2g_write_image_in, member)

enum kiwi_status g2g_write_image_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    const struct kiwi_g2g_write_image_in *in = (void *)c->in;
    uint32_t offset = le32_to_cpu(in->offset), len = le32_to_cpu(in->len);
    g_autofree uint8_t *chunk = NULL;
    enum kiwi_status st;
    G2gSlot *slot;

    st = kiwi_check_range(c, WRITE_FIELD(slot), le32_to_cpu(in->slot), 0,
                          G2G_SLOTS - 1);
    if (!st) {
        st = kiwi_check_range(c, WRITE_FIELD(len), len, 1,
                              KIWI_G2G_IMAGE_CHUNK);
    }
    if (!st) {
        st = kiwi_check_zero(c, WRITE_FIELD(rsvd), sizeof(in->rsvd));
    }
    if (st) {
        return st;
    }
    slot = &s->slot[le32_to_cpu(in->slot)];
    if (slot->state != KIWI_G2G_SLOT_LOADING) {
        return refuse_slot(c, KIWI_ST_BAD_STATE, slot->state);
    }
    st = kiwi_check_range(c, WRITE_FIELD(offset), offset, slot->written,
                          slot->written);
    if (!st) {
        st = kiwi_check_range(c, WRITE_FIELD(len), len, 1,
                              slot->length - slot->written);
    }
    if (st) {
        return st;
    }
    chunk = g_malloc(len);
    if (!kiwi_dma_read(k, KIWI_DMA_ADMIN, le64_to_cpu(in->addr), chunk, len)) {
        return kiwi_refuse(c, KIWI_ST_DMA_ERROR, WRITE_FIELD(addr),
                           le64_to_cpu(in->addr), 0);
    }
    memcpy(slot->data + offset, chunk, len);
    slot->written += len;
    if (slot->written == slot->length) {
        slot->state = KIWI_G2G_SLOT_LOADED;
    }
    return KIWI_ST_OK;
}

/*
 * Verification
 */

static bool name_good(const uint8_t *name, size_t size)
{
    size_t len = strnlen((const char *)name, size);

    for (size_t i = 0; i < size; i++) {
        if (i < len ? name[i] < 0x20 || name[i] > 0x7e : name[i]) {
            return false;
        }
    }
    return len < size;
}

static bool image_well_formed(const G2gSlot *slot,
                              const struct kiwi_g2g_image *i)
{
    uint16_t mtu = le16_to_cpu(i->mtu);

    return le32_to_cpu(i->magic) == KIWI_G2G_IMAGE_MAGIC &&
           le16_to_cpu(i->size) == HEAD_SIZE &&
           !(le32_to_cpu(i->flags) & ~KIWI_G2G_IMAGE_PROVISIONAL) &&
           le32_to_cpu(i->length) == slot->written &&
           !(i->semantics & ~(KIWI_G2G_SEM_MEMORY | KIWI_G2G_SEM_MESSAGE)) &&
           i->id_bits >= 1 && i->id_bits <= 10 &&
           i->addr_bits >= 12 && i->addr_bits <= 63 &&
           mtu >= KIWI_G2G_MTU_MIN && mtu <= KIWI_G2G_MTU_MAX &&
           i->vcs == KIWI_G2G_VCS &&
           (i->reliability & KIWI_G2G_REL_GBN) &&
           !(i->reliability & ~(KIWI_G2G_REL_GBN | KIWI_G2G_REL_LLR)) &&
           i->flow && !(i->flow & ~KIWI_G2G_FLOW_ALL) &&
           !(i->atomics & ~KIWI_G2G_ATOMIC_ALL) &&
           !kiwi_le_value(i->rsvd0, sizeof(i->rsvd0)) &&
           name_good(i->name, sizeof(i->name)) &&
           buffer_is_zero(i->rsvd1, sizeof(i->rsvd1));
}

/* Which engine runs it: each has its own header. */
static bool image_known(const struct kiwi_g2g_image *i)
{
    static const struct {
        uint16_t id;
        uint8_t header_kind;
    } engines[] = {
        { KIWI_G2G_SUE, KIWI_G2G_HDR_SUE },
        { KIWI_G2G_OISA, KIWI_G2G_HDR_OISA },
        { KIWI_G2G_ETHX, KIWI_G2G_HDR_ETHX },
    };

    for (int n = 0; n < ARRAY_SIZE(engines); n++) {
        if (le16_to_cpu(i->id) == engines[n].id) {
            return i->header_kind == engines[n].header_kind;
        }
    }
    return false;
}

static uint8_t verify(const G2gSlot *slot)
{
    const struct kiwi_g2g_image *image = (void *)slot->data;
    uint8_t hash[HASH_SIZE];

    if (!image_well_formed(slot, image)) {
        return KIWI_G2G_IMAGE_MALFORMED;
    }
    image_hash(slot->data, slot->written, hash);
    if (memcmp(hash, image->hash, sizeof(hash))) {
        return KIWI_G2G_IMAGE_HASH;
    }
    return image_known(image) ? KIWI_G2G_IMAGE_OK : KIWI_G2G_IMAGE_FOREIGN;
}

enum kiwi_status g2g_verify_image_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    uint32_t number;
    enum kiwi_status st = g2g_number_in(c, G2G_SLOTS, &number);
    G2gSlot *slot;

    if (st) {
        return st;
    }
    slot = &s->slot[number];
    if (number == s->active_slot) {
        return refuse_slot(c, KIWI_ST_BUSY, 0);
    }
    if (slot->state < KIWI_G2G_SLOT_LOADED) {
        return refuse_slot(c, KIWI_ST_BAD_STATE, slot->state);
    }
    slot->error = verify(slot);
    slot->state = slot->error ? KIWI_G2G_SLOT_BAD : KIWI_G2G_SLOT_VERIFIED;
    return slot->error ? refuse_slot(c, KIWI_ST_UNSUPPORTED, slot->error)
                       : KIWI_ST_OK;
}

enum kiwi_status g2g_activate_image_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    uint32_t number;
    enum kiwi_status st = g2g_number_in(c, G2G_SLOTS, &number);

    if (st) {
        return st;
    }
    if (s->slot[number].state != KIWI_G2G_SLOT_VERIFIED) {
        return refuse_slot(c, KIWI_ST_BAD_STATE, s->slot[number].state);
    }
    if (g2g_active(s) || s->state == KIWI_G2G_FABRIC_ERROR) {
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, KIWI_ERR_FIELD_NONE, s->state,
                           0);
    }
    st = g2g_fabric_unused(s, c);
    if (st || number == s->active_slot) {
        return st;
    }
    s->active_slot = number;
    s->image = (const struct kiwi_g2g_image *)s->slot[number].data;
    if (g2g_configured(s)) {
        g2g_fabric_restart(s);
    }
    return KIWI_ST_OK;
}

enum kiwi_status g2g_query_image_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    struct kiwi_g2g_slot *out = (void *)c->out;
    uint32_t number;
    enum kiwi_status st = g2g_number_in(c, G2G_SLOTS, &number);
    const G2gSlot *slot;

    if (st) {
        return st;
    }
    slot = &s->slot[number];
    out->state = slot->state;
    out->error = slot->error;
    out->active = number == s->active_slot;
    out->written = cpu_to_le32(slot->written);
    if (slot->state == KIWI_G2G_SLOT_VERIFIED) {
        memcpy(&out->image, slot->data, sizeof(out->image));
    }
    return KIWI_ST_OK;
}
