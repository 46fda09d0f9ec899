/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BAR 2: doorbell pages.
 */
#include "kiwi.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"

#define VALUE_RSVD_SHIFT 60

static enum kiwi_diag db_value(KiwiState *k, uint32_t page, uint64_t value)
{
    uint8_t type = extract64(value, KIWI_DB_TYPE_SHIFT, 4);
    uint32_t queue;
    uint16_t epoch, index;

    if (value >> VALUE_RSVD_SHIFT || type < KIWI_DB_SQ ||
        type > KIWI_DB_CQ_ARM_SOLICITED) {
        return KIWI_DIAG_DB_MALFORMED;
    }
    queue = extract64(value, KIWI_DB_QUEUE_SHIFT, 24);
    epoch = extract64(value, KIWI_DB_EPOCH_SHIFT, 16);
    index = extract64(value, KIWI_DB_INDEX_SHIFT, 16);
    return KIWI_GET_CLASS(k)->doorbell(k, page, type, queue, epoch, index);
}

typedef struct DbStore {
    hwaddr addr;
    uint64_t value;
    unsigned size;
} DbStore;

static void db_arrived(void *opaque, const void *action, size_t len)
{
    KiwiState *k = opaque;
    const DbStore *store = action;
    uint32_t page = store->addr >> k->db_page_shift;
    uint64_t offset = extract64(store->addr, 0, k->db_page_shift);
    enum kiwi_diag outcome;

    if (k->gone || (k->sts & KIWI_DEV_STS_FATAL)) {
        return;
    }
    if (!kiwi_db_page(k, page)) {
        outcome = KIWI_DIAG_DB_CLOSED_PAGE;
    } else if (store->size != 8 || offset != KIWI_DB_REG) {
        outcome = KIWI_DIAG_DB_MALFORMED;
    } else {
        outcome = db_value(k, page, store->value);
    }
    k->diag[outcome]++;
}

/* A store that names its requester comes from a device that counts its way itself. */
static MemTxResult db_write(void *opaque, hwaddr addr, uint64_t value,
                            unsigned size, MemTxAttrs attrs)
{
    KiwiState *k = opaque;
    const DbStore store = { .addr = addr, .value = value, .size = size };
    int64_t way = attrs.requester_id ? 0 : k->doorbell_ns;

    if (way) {
        delay_add(k->db_path, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + way,
                  &store, sizeof(store));
    } else {
        db_arrived(k, &store, sizeof(store));
    }
    return MEMTX_OK;
}

void kiwi_db_push(KiwiState *k)
{
    delay_flush(k->db_path);
}

static uint64_t db_read(void *opaque, hwaddr addr, unsigned size)
{
    kiwi_db_push(opaque);
    return 0;
}

static const MemoryRegionOps db_ops = {
    .read = db_read,
    .write_with_attrs = db_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

KiwiDbPage *kiwi_db_page(KiwiState *k, uint32_t page)
{
    return page < k->db_pages && k->pages[page].open ? &k->pages[page] : NULL;
}

/*
 * Commands
 */

static enum kiwi_status check_page(KiwiState *k, KiwiCall *c, KiwiDbPage **page)
{
    const struct kiwi_cmd_id *in = (void *)c->in;
    uint32_t id = le32_to_cpu(in->id);
    enum kiwi_status st;

    st = kiwi_check_range(c, offsetof(typeof(*in), id), id, 0, k->db_pages - 1);
    if (!st) {
        st = kiwi_check_zero(c, offsetof(typeof(*in), rsvd), sizeof(in->rsvd));
    }
    if (!st) {
        *page = &k->pages[id];
    }
    return st;
}

static enum kiwi_status refuse_page(KiwiCall *c, enum kiwi_status status,
                                    uint64_t limit)
{
    const struct kiwi_cmd_id *in = (void *)c->in;

    return kiwi_refuse(c, status, offsetof(typeof(*in), id),
                       le32_to_cpu(in->id), limit);
}

enum kiwi_status kiwi_db_open_cmd(KiwiState *k, KiwiCall *c)
{
    KiwiDbPage *page;
    enum kiwi_status st = check_page(k, c, &page);

    if (st) {
        return st;
    }
    if (page->open) {
        return refuse_page(c, KIWI_ST_BAD_STATE, 0);
    }
    page->open = true;
    k->diag[KIWI_DIAG_LIVE_DB_PAGE]++;
    return KIWI_ST_OK;
}

static void page_close(KiwiState *k, KiwiDbPage *page)
{
    page->open = false;
    k->diag[KIWI_DIAG_LIVE_DB_PAGE]--;
}

enum kiwi_status kiwi_db_close_cmd(KiwiState *k, KiwiCall *c)
{
    KiwiDbPage *page;
    enum kiwi_status st = check_page(k, c, &page);

    if (st) {
        return st;
    }
    if (!page->open) {
        return refuse_page(c, KIWI_ST_BAD_STATE, 0);
    }
    if (page->users) {
        return refuse_page(c, KIWI_ST_BUSY, page->users);
    }
    page_close(k, page);
    return KIWI_ST_OK;
}

void kiwi_db_drop_all(KiwiState *k)
{
    delay_drop(k->db_path);
    for (uint32_t i = 0; i < k->db_pages; i++) {
        if (k->pages[i].open) {
            page_close(k, &k->pages[i]);
        }
    }
}

void kiwi_db_init(KiwiState *k)
{
    uint64_t size = pow2ceil((uint64_t)k->db_pages << k->db_page_shift);

    k->pages = g_new0(KiwiDbPage, k->db_pages);
    k->db_path = delay_new(db_arrived, k);
    memory_region_init_io(&k->db, OBJECT(k), &db_ops, k, "kiwi-db", size);
    pci_register_bar(PCI_DEVICE(k), KIWI_BAR_DOORBELL,
                     PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64 |
                     PCI_BASE_ADDRESS_MEM_PREFETCH, &k->db);
}

void kiwi_db_exit(KiwiState *k)
{
    delay_free(k->db_path);
    g_free(k->pages);
}
