/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BAR 0, and the life of the device: reset, enable, fatal.
 */
#include "kiwi.h"

#include "kiwi-fault.h"

/* Beats in the time that the device promises one in. */
#define BEATS_PER_PERIOD 4
#define SEVERITY_CRITICAL 2

/*
 * Life
 */

bool kiwi_running(KiwiState *k)
{
    return (k->sts & (KIWI_DEV_STS_ENABLED | KIWI_DEV_STS_FATAL)) ==
           KIWI_DEV_STS_ENABLED;
}

void kiwi_lose_all(KiwiState *k)
{
    for (int i = KIWI_DIAG_LIVE_PD; i <= KIWI_DIAG_LIVE_END; i++) {
        k->diag[KIWI_DIAG_LOST_AT_RESET] += k->diag[i];
    }
    qemu_bh_cancel(k->enable_bh);
    kiwi_fault_reset(k);
    kiwi_aq_disable(k);
    KIWI_GET_CLASS(k)->reset_part(k);
    kiwi_eq_drop_all(k);
    kiwi_db_drop_all(k);
    for (int i = KIWI_DIAG_LIVE_PD; i <= KIWI_DIAG_LIVE_END; i++) {
        assert(!k->diag[i]);
    }
    k->sts = 0;
    k->health_syndrome = KIWI_HEALTH_OK;
    k->health_ext = 0;
    k->aq_base = 0;
    k->acq_base = 0;
    k->aq_cfg = 0;
    k->host_caps = 0;
}

static void reset_end(void *opaque)
{
    KiwiState *k = opaque;

    k->generation++;
    k->sts = KIWI_DEV_STS_READY;
}

void kiwi_reset_begin(KiwiState *k, enum kiwi_reset_reason reason)
{
    kiwi_lose_all(k);
    k->sts = KIWI_DEV_STS_RESETTING;
    k->reset_reason = reason;
    timer_mod(k->reset_timer,
              qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL) + k->reset_ms);
}

void kiwi_restart(KiwiState *k)
{
    kiwi_lose_all(k);
    timer_del(k->reset_timer);
    reset_end(k);
}

void kiwi_fatal(KiwiState *k, enum kiwi_health_syndrome syndrome, uint32_t reg)
{
    if (k->sts & KIWI_DEV_STS_FATAL) {
        return;
    }
    if (kiwi_running(k)) {
        kiwi_async_event(k, KIWI_EV_DEVICE_FATAL, 0, 0, syndrome);
    }
    k->health_syndrome = syndrome;
    k->health_ext = reg;
    k->sts |= KIWI_DEV_STS_FATAL;
}

/*
 * Enable: the registers are latched by the write and looked at later.
 */

static uint32_t enable_check(KiwiState *k)
{
    uint8_t log2 = k->aq.log2;
    uint64_t mask = MAKE_64BIT_MASK(0, k->dma_bits);
    uint64_t size = (uint64_t)sizeof(struct kiwi_aq_entry) << (log2 & 31);

    if (log2 < 2 || log2 > k->aq_log2_max || k->aq.vector >= k->vectors ||
        k->aq.cfg_rsvd) {
        return KIWI_REG_AQ_CFG;
    }
    if (k->aq.base % 4096 || k->aq.base > mask ||
        size - 1 > mask - k->aq.base) {
        return KIWI_REG_AQ_BASE;
    }
    if (k->aq.reply_base % 4096 || k->aq.reply_base > mask ||
        size - 1 > mask - k->aq.reply_base) {
        return KIWI_REG_ACQ_BASE;
    }
    return 0;
}

static void enable_bh(void *opaque)
{
    KiwiState *k = opaque;
    uint32_t bad_reg = enable_check(k);

    if (bad_reg) {
        kiwi_fatal(k, KIWI_HEALTH_BAD_CONFIG, bad_reg);
    } else {
        kiwi_aq_enable(k);
        k->sts |= KIWI_DEV_STS_ENABLED;
        k->enabled_ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    }
}

static bool configurable(KiwiState *k)
{
    return k->sts == KIWI_DEV_STS_READY;
}

static void enable_begin(KiwiState *k)
{
    if (!configurable(k)) {
        return;
    }
    k->aq.base = k->aq_base;
    k->aq.reply_base = k->acq_base;
    k->aq.log2 = KIWI_GET(k->aq_cfg, KIWI_AQ_CFG_LOG2);
    k->aq.vector = KIWI_GET(k->aq_cfg, KIWI_AQ_CFG_VECTOR);
    k->aq.cfg_rsvd = k->aq_cfg & ~(KIWI_AQ_CFG_LOG2 | KIWI_AQ_CFG_VECTOR);
    qemu_bh_schedule(k->enable_bh);
}

static void dev_ctl(KiwiState *k, uint32_t val)
{
    if (val & KIWI_DEV_CTL_RESET) {
        kiwi_reset_begin(k, KIWI_GET(val, KIWI_DEV_CTL_REASON));
    } else if (val & KIWI_DEV_CTL_ENABLE) {
        enable_begin(k);
    }
}

/*
 * Registers
 */

static uint32_t heartbeat(KiwiState *k)
{
    int64_t ms = qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL);

    if ((k->sts & KIWI_DEV_STS_READY) && !k->frozen) {
        k->heartbeat = ms * BEATS_PER_PERIOD / k->heartbeat_ms;
    }
    return k->heartbeat;
}

uint64_t kiwi_caps(KiwiState *k)
{
    return k->caps & (KIWI_CAP_DIAG | KIWI_GET_CLASS(k)->caps);
}

static uint32_t read32(KiwiState *k, hwaddr reg)
{
    bool fatal = k->sts & KIWI_DEV_STS_FATAL;

    switch (reg) {
    case KIWI_REG_MAGIC:
        return KIWI_MAGIC;
    case KIWI_REG_ABI:
        return KIWI_ABI_MAJOR << 16 | KIWI_ABI_MINOR;
    case KIWI_REG_PART:
        return KIWI_GET_CLASS(k)->part;
    case KIWI_REG_REVISION:
        return k->revision;
    case KIWI_REG_LIMITS:
        return KIWI_PUT(KIWI_LIMITS_AQ_LOG2_MAX, k->aq_log2_max) |
               KIWI_PUT(KIWI_LIMITS_EQ_LOG2_MAX, k->eq_log2_max) |
               KIWI_PUT(KIWI_LIMITS_DB_PAGE_SHIFT, k->db_page_shift);
    case KIWI_REG_CMD_TIMEOUT_MS:
        return k->cmd_timeout_ms;
    case KIWI_REG_RESET_TIMEOUT_MS:
        return k->reset_timeout_ms;
    case KIWI_REG_HEARTBEAT_MS:
        return k->heartbeat_ms;
    case KIWI_REG_DMA_BITS:
        return k->dma_bits;
    case KIWI_REG_EQ_COUNT:
        return k->eq_count;
    case KIWI_REG_DB_PAGES:
        return k->db_pages;
    case KIWI_REG_DEV_STS:
        return k->sts;
    case KIWI_REG_AQ_CFG:
        return k->aq_cfg;
    case KIWI_REG_GENERATION:
        return k->generation;
    case KIWI_REG_HEARTBEAT:
        return heartbeat(k);
    case KIWI_REG_RESET_REASON:
        return k->reset_reason;
    case KIWI_REG_HEALTH_SEVERITY:
        return fatal ? SEVERITY_CRITICAL : 0;
    case KIWI_REG_HEALTH_SYNDROME:
        return k->health_syndrome;
    case KIWI_REG_HEALTH_EXT_SYNDROME:
        return k->health_ext;
    default:
        return 0;
    }
}

/* A 64-bit register, or 0 where there is none. */
static uint64_t read64(KiwiState *k, hwaddr reg)
{
    if (reg >= KIWI_REG_DIAG(0) && reg < KIWI_REG_DIAG(KIWI_DIAG_COUNT)) {
        return kiwi_caps(k) & KIWI_CAP_DIAG ?
               k->diag[(reg - KIWI_REG_DIAG(0)) / 8] : 0;
    }
    switch (reg) {
    case KIWI_REG_FW_VERSION:
        return k->fw_version;
    case KIWI_REG_SERIAL:
        return k->serial;
    case KIWI_REG_CAPS:
        return kiwi_caps(k);
    case KIWI_REG_AQ_BASE:
        return k->aq_base;
    case KIWI_REG_ACQ_BASE:
        return k->acq_base;
    default:
        return 0;
    }
}

static uint64_t regs_read(void *opaque, hwaddr addr, unsigned size)
{
    KiwiState *k = opaque;
    uint64_t val;

    if (k->gone) {
        return UINT64_MAX;
    }
    kiwi_db_push(k);
    if (addr % size) {
        return 0;
    }
    switch (size) {
    case 8:
        val = read64(k, addr);
        break;
    case 4:
        /* The two kinds share no offset, so one of them is 0. */
        val = read32(k, addr) |
              extract64(read64(k, addr & ~7ULL), addr % 8 * 8, 32);
        break;
    default:
        return 0;
    }
    return kiwi_fault_reg(k, addr, size, val);
}

static uint64_t *writable64(KiwiState *k, hwaddr reg)
{
    if (!configurable(k)) {
        return NULL;
    }
    switch (reg) {
    case KIWI_REG_AQ_BASE:
        return &k->aq_base;
    case KIWI_REG_ACQ_BASE:
        return &k->acq_base;
    default:
        return NULL;
    }
}

static void write32(KiwiState *k, hwaddr addr, uint32_t val)
{
    uint64_t *reg = writable64(k, addr & ~7ULL);

    if (reg) {
        *reg = deposit64(*reg, addr % 8 * 8, 32, val);
        return;
    }
    if (addr >= KIWI_REG_EQ_DB(0) && addr < KIWI_REG_EQ_DB(k->eq_count)) {
        if (addr % 8 == 0) {
            kiwi_eq_doorbell(k, (addr - KIWI_REG_EQ_DB(0)) / 8, val);
        }
        return;
    }
    switch (addr) {
    case KIWI_REG_DEV_CTL:
        dev_ctl(k, val);
        break;
    case KIWI_REG_AQ_CFG:
        if (configurable(k)) {
            k->aq_cfg = val;
        }
        break;
    case KIWI_REG_AQ_PI:
        kiwi_aq_produce(k, val);
        break;
    case KIWI_REG_ACQ_CI:
        kiwi_aq_consume(k, val);
        break;
    }
}

static void regs_write(void *opaque, hwaddr addr, uint64_t val, unsigned size)
{
    KiwiState *k = opaque;
    uint64_t *reg;

    if (k->gone || addr % size) {
        return;
    }
    kiwi_db_push(k);
    if (size == 4) {
        write32(k, addr, val);
    } else if (size == 8) {
        reg = writable64(k, addr);
        if (reg) {
            *reg = val;
        }
    }
}

static const MemoryRegionOps regs_ops = {
    .read = regs_read,
    .write = regs_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

void kiwi_regs_init(KiwiState *k)
{
    k->reset_timer = timer_new_ms(QEMU_CLOCK_VIRTUAL, reset_end, k);
    k->enable_bh = qemu_bh_new(enable_bh, k);
    memory_region_init_io(&k->regs, OBJECT(k), &regs_ops, k, "kiwi-regs",
                          KIWI_BAR_REGS_SIZE);
    pci_register_bar(PCI_DEVICE(k), KIWI_BAR_REGS,
                     PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64, &k->regs);
}

void kiwi_regs_exit(KiwiState *k)
{
    timer_free(k->reset_timer);
    qemu_bh_delete(k->enable_bh);
}
