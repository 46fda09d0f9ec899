/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DMA of a Kiwi part, and what the diagnostic block says about it: how often
 * and how much, by the kind of access and by what the address led to.
 */
#include "kiwi.h"
#include "qemu/rcu.h"
#include "exec/memory.h"

#include "pci-gone.h"

/* One access as the device makes it: it may fall apart into several targets. */
typedef struct KiwiDma {
    KiwiState *k;
    enum kiwi_diag_dma_kind kind;
    int target;                 /* of the stretch before, -1 at the start */
} KiwiDma;

static void dma_count(KiwiDma *dma, int target, uint64_t bytes)
{
    uint64_t *diag = dma->k->diag;

    if (target != dma->target) {
        diag[KIWI_DIAG_DMA(dma->kind, target, KIWI_DMA_TRANSACTIONS)]++;
        dma->target = target;
    }
    diag[KIWI_DIAG_DMA(dma->kind, target, KIWI_DMA_BYTES)] += bytes;
}

static int dma_target(KiwiState *k, MemoryRegion *mr, PCIDevice **peer)
{
    /* RAM has these operations, too. */
    if ((mr->ops == &unassigned_mem_ops && !memory_region_is_ram(mr)) ||
        pci_gone_region(mr)) {
        return KIWI_DMA_FAULT;
    }
    for (; mr; mr = mr->container) {
        Object *owner = memory_region_owner(mr);

        if (owner == OBJECT(k)) {
            /* A function does not answer its own requests. */
            return KIWI_DMA_FAULT;
        }
        if (owner && object_dynamic_cast(owner, TYPE_PCI_DEVICE)) {
            *peer = PCI_DEVICE(owner);
            return KIWI_DMA_PEER;
        }
    }
    return KIWI_DMA_SYSTEM;
}

static bool dma_in_range(KiwiState *k, uint64_t addr, uint64_t len)
{
    uint64_t last = MAKE_64BIT_MASK(0, k->dma_bits);

    return addr <= last && len - 1 <= last - addr;
}

static bool dma_rw(KiwiDma *dma, uint64_t addr, void *buf, uint64_t len,
                   bool is_write)
{
    AddressSpace *as = pci_get_address_space(PCI_DEVICE(dma->k));
    const MemTxAttrs attrs = MEMTXATTRS_UNSPECIFIED;
    PCIDevice *peer = NULL;
    hwaddr xlat, n;
    int target;

    if (!len) {
        return true;
    }
    if (!dma_in_range(dma->k, addr, len)) {
        dma_count(dma, KIWI_DMA_FAULT, len);
        return false;
    }

    RCU_READ_LOCK_GUARD();
    for (; len; addr += n, buf += n, len -= n) {
        n = len;
        target = dma_target(dma->k, address_space_translate(as, addr, &xlat, &n,
                                                            is_write, attrs),
                            &peer);
        if (target != KIWI_DMA_FAULT &&
            address_space_rw(as, addr, attrs, buf, n, is_write) != MEMTX_OK) {
            target = KIWI_DMA_FAULT;
        }
        dma_count(dma, target, n);
        if (target == KIWI_DMA_FAULT) {
            return false;
        }
        if (target == KIWI_DMA_PEER) {
            kiwi_way_count(dma->k, peer, addr, n, is_write);
        }
    }
    return true;
}

bool kiwi_dma_read(KiwiState *k, enum kiwi_diag_dma_kind kind, uint64_t addr,
                   void *buf, uint64_t len)
{
    KiwiDma dma = { .k = k, .kind = kind, .target = -1 };

    k->read_made = true;
    return dma_rw(&dma, addr, buf, len, false);
}

int64_t kiwi_dma_waited(KiwiState *k)
{
    bool made = k->read_made;

    k->read_made = false;
    return made ? k->read_ns : 0;
}

bool kiwi_dma_write(KiwiState *k, enum kiwi_diag_dma_kind kind, uint64_t addr,
                    const void *buf, uint64_t len)
{
    KiwiDma dma = { .k = k, .kind = kind, .target = -1 };

    return dma_rw(&dma, addr, (void *)buf, len, true);
}

/* Bytes @from to @to - 1 of @buf, seen after all that was written before. */
static bool dma_part(KiwiDma *dma, uint64_t addr, const void *buf,
                     uint64_t from, uint64_t to)
{
    /* Pairs with the read barriers of whoever looks for the last byte. */
    smp_wmb();
    return dma_rw(dma, addr + from, (void *)buf + from, to - from, true);
}

bool kiwi_dma_publish(KiwiState *k, enum kiwi_diag_dma_kind kind, uint64_t addr,
                      const void *buf, uint64_t len)
{
    KiwiDma dma = { .k = k, .kind = kind, .target = -1 };

    return dma_part(&dma, addr, buf, 0, len - 1) &&
           dma_part(&dma, addr, buf, len - 1, len);
}

bool kiwi_dma_publish_word(KiwiState *k, enum kiwi_diag_dma_kind kind,
                           uint64_t addr, const void *buf, uint64_t len,
                           uint64_t word)
{
    KiwiDma dma = { .k = k, .kind = kind, .target = -1 };
    uint64_t behind = word + sizeof(uint64_t);

    return dma_part(&dma, addr, buf, 0, word) &&
           dma_part(&dma, addr, buf, behind, len - 1) &&
           dma_part(&dma, addr, buf, word, behind) &&
           dma_part(&dma, addr, buf, len - 1, len);
}
