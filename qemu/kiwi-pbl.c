/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page lists: checked and copied when an object is created, walked by every
 * access to its memory.
 */
#include "kiwi.h"
#include "qemu/bswap.h"

#define PBL_TABLE_ALIGN 4096
#define PBL_ENTRY       sizeof(uint64_t)

#define PBL_FIELD(field, member) \
    ((field) + offsetof(struct kiwi_pbl, member))
#define PBL_ADDR(field, i) (PBL_FIELD(field, addr) + (i) * PBL_ENTRY)

static const struct kiwi_pbl *pbl_in(const KiwiCall *c, size_t field)
{
    return (const struct kiwi_pbl *)(c->in + field);
}

static uint64_t pbl_table_entries(const struct kiwi_pbl *in)
{
    return (1ULL << in->table_shift) / PBL_ENTRY;
}

/* How many pages the levels chosen have room for. */
static uint64_t pbl_capacity(const struct kiwi_pbl *in)
{
    switch (in->levels) {
    case 0:
        return KIWI_PBL_INLINE;
    case 1:
        return pbl_table_entries(in);
    default:
        return pbl_table_entries(in) * pbl_table_entries(in);
    }
}

static enum kiwi_status pbl_check_addr(KiwiCall *c, size_t field,
                                       const struct kiwi_pbl *in)
{
    unsigned used = in->levels ? 1 : le32_to_cpu(in->count);
    uint64_t align = in->levels ? PBL_TABLE_ALIGN : 1ULL << in->page_shift;
    enum kiwi_status st;

    for (unsigned i = 0; i < KIWI_PBL_INLINE; i++) {
        uint64_t addr = le64_to_cpu(in->addr[i]);

        if (i < used && addr % align) {
            return kiwi_refuse(c, KIWI_ST_BAD_PARAM, PBL_ADDR(field, i), addr,
                               align);
        }
        if (i >= used) {
            st = kiwi_check_zero(c, PBL_ADDR(field, i), PBL_ENTRY);
            if (st) {
                return st;
            }
        }
    }
    return KIWI_ST_OK;
}

enum kiwi_status kiwi_pbl_check(KiwiState *k, KiwiCall *c, size_t field)
{
    const struct kiwi_pbl *in = pbl_in(c, field);
    const KiwiPblLimits *limits = &k->pbl_limits;
    enum kiwi_status st;

    st = kiwi_check_range(c, PBL_FIELD(field, count), le32_to_cpu(in->count),
                          1, limits->count);
    if (!st) {
        st = kiwi_check_range(c, PBL_FIELD(field, page_shift), in->page_shift,
                              KIWI_PAGE_SHIFT_MIN, limits->page_shift);
    }
    if (!st) {
        st = kiwi_check_range(c, PBL_FIELD(field, levels), in->levels,
                              0, KIWI_PBL_MAX_LEVELS);
    }
    if (!st) {
        st = kiwi_check_range(c, PBL_FIELD(field, table_shift), in->table_shift,
                              in->levels ? 12 : 0,
                              in->levels ? limits->table_shift : 0);
    }
    if (!st) {
        st = kiwi_check_range(c, PBL_FIELD(field, count),
                              le32_to_cpu(in->count), 1, pbl_capacity(in));
    }
    if (!st) {
        st = kiwi_check_zero(c, PBL_FIELD(field, rsvd), sizeof(in->rsvd));
    }
    if (!st) {
        st = kiwi_check_range(c, PBL_FIELD(field, offset),
                              le64_to_cpu(in->offset), 0,
                              (1ULL << in->page_shift) - 1);
    }
    return st ? st : pbl_check_addr(c, field, in);
}

enum kiwi_status kiwi_pbl_check_length(KiwiState *k, KiwiCall *c, size_t field,
                                       uint64_t length)
{
    const struct kiwi_pbl *in = pbl_in(c, field);
    uint64_t mask = (1ULL << in->page_shift) - 1;
    uint64_t offset = le64_to_cpu(in->offset);
    uint64_t pages = (length >> in->page_shift) +
                     (((length & mask) + offset + mask) >> in->page_shift);

    return kiwi_check_range(c, PBL_FIELD(field, count),
                            le32_to_cpu(in->count), pages, pages);
}

/*
 * Tables
 */

static enum kiwi_status pbl_read_table(KiwiState *k, KiwiCall *c, size_t field,
                                       uint64_t addr, uint64_t *entry,
                                       uint64_t count, uint64_t align)
{
    if (!kiwi_dma_read(k, KIWI_DMA_PBL, addr, entry, count * PBL_ENTRY)) {
        return kiwi_refuse(c, KIWI_ST_DMA_ERROR, PBL_ADDR(field, 0), addr, 0);
    }
    for (uint64_t i = 0; i < count; i++) {
        le64_to_cpus(&entry[i]);
        if (entry[i] % align) {
            return kiwi_refuse(c, KIWI_ST_BAD_PARAM, PBL_ADDR(field, 0),
                               entry[i], align);
        }
    }
    return KIWI_ST_OK;
}

static enum kiwi_status pbl_read_directory(KiwiState *k, KiwiCall *c,
                                           size_t field, KiwiPbl *pbl)
{
    const struct kiwi_pbl *in = pbl_in(c, field);
    uint64_t per_table = pbl_table_entries(in);
    uint64_t tables = DIV_ROUND_UP(pbl->count, per_table);
    g_autofree uint64_t *table = g_new(uint64_t, tables);
    enum kiwi_status st;

    st = pbl_read_table(k, c, field, le64_to_cpu(in->addr[0]), table, tables,
                        PBL_TABLE_ALIGN);
    for (uint64_t i = 0; !st && i < tables; i++) {
        st = pbl_read_table(k, c, field, table[i], pbl->page + i * per_table,
                            MIN(per_table, pbl->count - i * per_table),
                            1ULL << pbl->page_shift);
    }
    return st;
}

static enum kiwi_status pbl_read(KiwiState *k, KiwiCall *c, size_t field,
                                 KiwiPbl *pbl)
{
    const struct kiwi_pbl *in = pbl_in(c, field);

    switch (in->levels) {
    case 0:
        for (unsigned i = 0; i < pbl->count; i++) {
            pbl->page[i] = le64_to_cpu(in->addr[i]);
        }
        return KIWI_ST_OK;
    case 1:
        return pbl_read_table(k, c, field, le64_to_cpu(in->addr[0]), pbl->page,
                              pbl->count, 1ULL << pbl->page_shift);
    default:
        return pbl_read_directory(k, c, field, pbl);
    }
}

enum kiwi_status kiwi_pbl_load(KiwiState *k, KiwiCall *c, size_t field,
                               uint64_t length, KiwiPbl **out)
{
    const struct kiwi_pbl *in = pbl_in(c, field);
    uint32_t count = le32_to_cpu(in->count);
    KiwiPbl *pbl = g_try_malloc(sizeof(*pbl) + count * PBL_ENTRY);
    enum kiwi_status st;

    if (!pbl) {
        return kiwi_refuse(c, KIWI_ST_NO_RESOURCE, PBL_FIELD(field, count),
                           count, 0);
    }
    pbl->length = length;
    pbl->offset = le64_to_cpu(in->offset);
    pbl->count = count;
    pbl->page_shift = in->page_shift;
    st = pbl_read(k, c, field, pbl);
    if (st) {
        kiwi_pbl_free(pbl);
        pbl = NULL;
    }
    *out = pbl;
    return st;
}

void kiwi_pbl_free(KiwiPbl *pbl)
{
    g_free(pbl);
}

/*
 * Access
 */

/*
 * The address of byte @off, and in @len how much of the range from there is
 * contiguous: neighbouring pages make one access.
 */
static uint64_t pbl_addr(const KiwiPbl *pbl, uint64_t off, uint64_t *len)
{
    uint64_t size = 1ULL << pbl->page_shift;
    uint64_t at = pbl->offset + off;
    uint64_t i = at >> pbl->page_shift;
    uint64_t addr = pbl->page[i] + (at & (size - 1));
    uint64_t room = size - (at & (size - 1));

    while (room < *len && pbl->page[i + 1] == pbl->page[i] + size) {
        room += size;
        i++;
    }
    *len = MIN(*len, room);
    return addr;
}

static bool pbl_covers(const KiwiPbl *pbl, uint64_t off, uint64_t len)
{
    return len <= pbl->length && off <= pbl->length - len;
}

bool kiwi_pbl_read(KiwiState *k, enum kiwi_diag_dma_kind kind,
                   const KiwiPbl *pbl, uint64_t off, void *buf, uint64_t len)
{
    uint64_t addr, n;

    assert(pbl_covers(pbl, off, len));
    for (; len; off += n, buf += n, len -= n) {
        n = len;
        addr = pbl_addr(pbl, off, &n);
        if (!kiwi_dma_read(k, kind, addr, buf, n)) {
            return false;
        }
    }
    return true;
}

bool kiwi_pbl_write(KiwiState *k, enum kiwi_diag_dma_kind kind,
                    const KiwiPbl *pbl, uint64_t off, const void *buf,
                    uint64_t len)
{
    uint64_t addr, n;

    assert(pbl_covers(pbl, off, len));
    for (; len; off += n, buf += n, len -= n) {
        n = len;
        addr = pbl_addr(pbl, off, &n);
        if (!kiwi_dma_write(k, kind, addr, buf, n)) {
            return false;
        }
    }
    return true;
}

uint64_t kiwi_pbl_entry_addr(const KiwiPbl *pbl, uint64_t off, uint64_t len)
{
    uint64_t n = len;
    uint64_t addr = pbl_addr(pbl, off, &n);

    /* It lies in one page. */
    assert(pbl_covers(pbl, off, len) && n == len);
    return addr;
}

bool kiwi_pbl_publish(KiwiState *k, enum kiwi_diag_dma_kind kind,
                      const KiwiPbl *pbl, uint64_t off, const void *buf,
                      uint64_t len)
{
    return kiwi_dma_publish(k, kind, kiwi_pbl_entry_addr(pbl, off, len), buf,
                            len);
}

bool kiwi_pbl_publish_word(KiwiState *k, enum kiwi_diag_dma_kind kind,
                           const KiwiPbl *pbl, uint64_t off, const void *buf,
                           uint64_t len, uint64_t word)
{
    return kiwi_dma_publish_word(k, kind, kiwi_pbl_entry_addr(pbl, off, len),
                                 buf, len, word);
}
