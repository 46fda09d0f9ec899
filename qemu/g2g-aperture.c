/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BAR 4: windows and atomic pages (M-29 to M-36).
 *
 * A load waits for its answer. A vCPU gives the BQL up meanwhile, so that the
 * main loop can bring it. Another device that loads does so in the main loop,
 * and may be in the middle of anything: nothing but the dies works then, for
 * none of them is disturbed by what another finds.
 */
#include "g2g.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "block/aio.h"
#include "sysemu/cpus.h"

/* Stores that a peer's queue takes before the next has to wait. */
#define STORES_MAX  1024
#define POLL_US     20

static void unref_bh(void *opaque)
{
    object_unref(OBJECT(opaque));
}

bool g2g_aperture_wait(G2gState *s, bool (*done)(void *opaque), void *opaque)
{
    static unsigned depth;
    bool vcpu = qemu_in_vcpu_thread();
    /* Early enough to be answered when the bound is reached. */
    int64_t end = qemu_clock_get_ns(QEMU_CLOCK_REALTIME) +
                  (int64_t)s->load_us * SCALE_US * 3 / 4;
    int64_t left;

    if (done(opaque)) {
        return true;
    }
    if (!vcpu && depth) {
        return false;           /* it is needed to answer another load */
    }
    /* The device may be torn out. Its memory regions are in use until later. */
    object_ref(OBJECT(s));
    g2g_waiters++;
    depth += !vcpu;
    while (!done(opaque) &&
           (left = end - qemu_clock_get_ns(QEMU_CLOCK_REALTIME)) > 0) {
        if (vcpu) {
            qemu_cond_timedwait_iothread(&s->answered,
                                         MAX(left / SCALE_MS, 1));
            continue;
        }
        g2g_work_all();
        if (!done(opaque)) {
            g_usleep(POLL_US);
        }
    }
    depth -= !vcpu;
    g2g_waiters--;
    aio_bh_schedule_oneshot(qemu_get_aio_context(), unref_bh, s);
    return done(opaque);
}

static bool reachable(G2gState *s)
{
    return kiwi_running(KIWI(s)) && !KIWI(s)->gone &&
           pci_get_word(PCI_DEVICE(s)->config + PCI_COMMAND) &
           PCI_COMMAND_MASTER;
}

static G2gWindow *window_at(G2gState *s, hwaddr addr)
{
    return addr < s->aperture_size ? s->granule[addr >> s->granule_shift]
                                   : NULL;
}

static bool access_done(void *opaque)
{
    return ((G2gAccess *)opaque)->done;
}

static uint64_t load(G2gState *s, G2gWindow *w, uint64_t offset, unsigned size)
{
    G2gAccess a = {
        .window = w,
        .kind = KIWI_G2G_LOG_LOAD,
        .offset = offset,
        .len = size,
    };
    uint8_t status = g2g_access_check(w, offset, size,
                                      KIWI_ACCESS_REMOTE_READ);

    s->count.loads++;
    s->count.load_bytes += size;
    if (!status && !g2g_access_begin(s, &a, NULL)) {
        status = KIWI_G2G_ST_ISOLATED;
    }
    if (status) {
        s->count.poisoned++;
        g2g_log(s, KIWI_G2G_LOG_LOAD, w->number, w->accel, status, offset,
                size);
        return UINT64_MAX;
    }
    if (!g2g_aperture_wait(s, access_done, &a)) {
        g2g_access_end(s, &a, KIWI_G2G_ST_TIMEOUT);
    }
    return ldq_le_p(a.data);
}

static uint64_t aperture_read(void *opaque, hwaddr addr, unsigned size)
{
    G2gState *s = opaque;
    G2gWindow *w;

    if (!reachable(s)) {
        s->count.unmapped++;
        return UINT64_MAX;
    }
    if (addr >= s->atomic_base) {
        return g2g_cell_read(s, addr - s->atomic_base, size);
    }
    w = window_at(s, addr);
    if (!w) {
        s->count.unmapped++;
        return UINT64_MAX;
    }
    return load(s, w, addr - w->offset, size);
}

typedef struct Room {
    G2gState *s;
    hwaddr addr;
} Room;

/* There is room for a store, or no need of any. */
static bool has_room(void *opaque)
{
    const Room *r = opaque;
    const G2gWindow *w = reachable(r->s) ? window_at(r->s, r->addr) : NULL;

    return !w || w->state != KIWI_G2G_WINDOW_MAPPED ||
           r->s->peer[w->accel]->stream[KIWI_G2G_CLASS_REQ].memory_count <
           STORES_MAX;
}

static void aperture_write(void *opaque, hwaddr addr, uint64_t value,
                           unsigned size)
{
    G2gState *s = opaque;
    Room room = { .s = s, .addr = addr };
    uint8_t data[8], status;
    bool taken = true;
    G2gWindow *w;

    if (reachable(s) && addr >= s->atomic_base) {
        g2g_cell_write(s, addr - s->atomic_base, value, size);
        return;
    }
    if (reachable(s)) {
        taken = g2g_aperture_wait(s, has_room, &room);
    }
    w = reachable(s) ? window_at(s, addr) : NULL;
    if (!w) {
        s->count.unmapped++;
        return;
    }
    s->count.stores++;
    s->count.store_bytes += size;
    status = g2g_access_check(w, addr - w->offset, size,
                              KIWI_ACCESS_REMOTE_WRITE);
    if (!status && !taken) {
        status = KIWI_G2G_ST_TIMEOUT;
    }
    if (status) {
        s->count.stores_dropped++;
        g2g_log(s, KIWI_G2G_LOG_STORE, w->number, w->accel, status,
                addr - w->offset, size);
        return;
    }
    stq_le_p(data, value);
    g2g_access_store(s, w, addr - w->offset, data, size);
}

static const MemoryRegionOps aperture_ops = {
    .read = aperture_read,
    .write = aperture_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

void g2g_aperture_init(G2gState *s)
{
    uint64_t page = 1ULL << KIWI(s)->db_page_shift;
    uint64_t size;

    s->atomic_base = ROUND_UP(s->aperture_size, page);
    size = pow2ceil(s->atomic_base + s->max_window * page);
    memory_region_init_io(&s->aperture, OBJECT(s), &aperture_ops, s,
                          "kiwi-aperture", size);
    /* While a load waits others come, from vCPUs and from devices. */
    s->aperture.disable_reentrancy_guard = true;
    pci_register_bar(PCI_DEVICE(s), KIWI_BAR_APERTURE,
                     PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64 |
                     PCI_BASE_ADDRESS_MEM_PREFETCH, &s->aperture);
}
