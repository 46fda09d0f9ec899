/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Admin queue: fetches commands, checks them in the order that the ABI gives
 * runs the handler, completes.
 */
#include "msgq.h"
#include "qemu/bswap.h"

#include "kiwi-fault.h"

/* Commands in one run of the bottom half: the guest has to live, too. */
#define COMMANDS_PER_RUN 16

enum kiwi_status kiwi_refuse(KiwiCall *c, enum kiwi_status status,
                             size_t field, uint64_t value, uint64_t limit)
{
    c->err_field = field;
    c->err_value = value;
    c->err_limit = limit;
    return status;
}

/* Refuses something that is no field of the input payload. */
static enum kiwi_status refuse_entry(KiwiCall *c, enum kiwi_status status,
                                     uint64_t value, uint64_t limit)
{
    return kiwi_refuse(c, status, KIWI_ERR_FIELD_NONE, value, limit);
}

uint64_t kiwi_le_value(const void *buf, size_t len)
{
    const uint8_t *p = buf;
    uint64_t value = 0;

    while (len--) {
        value = value << 8 | p[len];
    }
    return value;
}

static uint8_t first_nonzero(const void *buf, size_t len)
{
    const uint8_t *p = buf;

    while (len && !*p) {
        p++;
        len--;
    }
    return len ? *p : 0;
}

enum kiwi_status kiwi_check_zero(KiwiCall *c, size_t field, size_t len)
{
    uint64_t value = len <= 8 ? kiwi_le_value(c->in + field, len)
                              : first_nonzero(c->in + field, len);

    return value ? kiwi_refuse(c, KIWI_ST_BAD_RESERVED, field, value, 0)
                 : KIWI_ST_OK;
}

enum kiwi_status kiwi_check_range(KiwiCall *c, size_t field, uint64_t value,
                                  uint64_t min, uint64_t max)
{
    if (value < min || value > max) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, field, value,
                           value < min ? min : max);
    }
    return KIWI_ST_OK;
}

/*
 * Checks
 */

static const KiwiCommand *find_command(KiwiState *k, uint16_t opcode)
{
    KiwiClass *kc = KIWI_GET_CLASS(k);

    for (size_t i = 0; i < kiwi_num_common_commands; i++) {
        if (kiwi_common_commands[i].opcode == opcode) {
            return &kiwi_common_commands[i];
        }
    }
    for (size_t i = 0; i < kc->num_commands; i++) {
        if (kc->commands[i].opcode == opcode &&
            kiwi_accepted(k, kc->commands[i].cap)) {
            return &kc->commands[i];
        }
    }
    return k->msgq ? msgq_command(k->msgq, opcode) : NULL;
}

static enum kiwi_status check_lengths(KiwiCall *c, const KiwiCommand *cmd,
                                      const struct kiwi_aq_entry *e)
{
    uint16_t in_len = le16_to_cpu(e->in_len);
    uint16_t out_len = le16_to_cpu(e->out_len);

    if (in_len != cmd->in_len) {
        return refuse_entry(c, KIWI_ST_BAD_LENGTH, in_len, cmd->in_len);
    }
    if (out_len != cmd->out_len) {
        return refuse_entry(c, KIWI_ST_BAD_LENGTH, out_len, cmd->out_len);
    }
    return KIWI_ST_OK;
}

static enum kiwi_status check_address(KiwiCall *c, uint64_t addr, uint16_t len)
{
    if (len <= KIWI_AQ_INLINE) {
        return addr ? refuse_entry(c, KIWI_ST_BAD_RESERVED, addr, 0)
                    : KIWI_ST_OK;
    }
    return addr % 8 ? refuse_entry(c, KIWI_ST_BAD_PARAM, addr, 8) : KIWI_ST_OK;
}

static enum kiwi_status check_entry(KiwiCall *c, const struct kiwi_aq_entry *e)
{
    uint16_t in_len = le16_to_cpu(e->in_len);
    uint16_t used = in_len <= KIWI_AQ_INLINE ? in_len : 0;
    uint8_t stray;
    enum kiwi_status st;

    if (e->flags) {
        return refuse_entry(c, KIWI_ST_BAD_RESERVED, le16_to_cpu(e->flags), 0);
    }
    st = check_address(c, le64_to_cpu(e->in_addr), in_len);
    if (!st) {
        st = check_address(c, le64_to_cpu(e->out_addr),
                           le16_to_cpu(e->out_len));
    }
    if (st) {
        return st;
    }
    stray = first_nonzero(e->rsvd, sizeof(e->rsvd));
    if (!stray) {
        stray = first_nonzero(e->in + used, sizeof(e->in) - used);
    }
    return stray ? refuse_entry(c, KIWI_ST_BAD_RESERVED, stray, 0) : KIWI_ST_OK;
}

static enum kiwi_status fetch_input(KiwiState *k, KiwiCall *c,
                                    const struct kiwi_aq_entry *e)
{
    uint16_t len = le16_to_cpu(e->in_len);
    uint64_t addr = le64_to_cpu(e->in_addr);

    if (len <= KIWI_AQ_INLINE) {
        memcpy(c->in, e->in, len);
        return KIWI_ST_OK;
    }
    if (!kiwi_dma_read(k, KIWI_DMA_ADMIN, addr, c->in, len)) {
        return refuse_entry(c, KIWI_ST_DMA_ERROR, addr, 0);
    }
    return KIWI_ST_OK;
}

static enum kiwi_status store_reply(KiwiState *k, KiwiCall *c,
                                    const struct kiwi_aq_entry *e)
{
    uint16_t len = le16_to_cpu(e->out_len);
    uint64_t addr = le64_to_cpu(e->out_addr);

    if (len > KIWI_AQ_INLINE &&
        !kiwi_dma_write(k, KIWI_DMA_ADMIN, addr, c->out, len)) {
        return refuse_entry(c, KIWI_ST_DMA_ERROR, addr, 0);
    }
    return KIWI_ST_OK;
}

static enum kiwi_status execute(KiwiState *k, KiwiCall *c,
                                const struct kiwi_aq_entry *e)
{
    const KiwiCommand *cmd = find_command(k, c->opcode);
    enum kiwi_status st;

    if (!cmd) {
        return refuse_entry(c, KIWI_ST_BAD_OPCODE, c->opcode, 0);
    }
    st = check_lengths(c, cmd, e);
    if (!st) {
        st = check_entry(c, e);
    }
    if (!st && !k->aq.ready && c->opcode != KIWI_OP_SET_HOST_CAPS) {
        st = refuse_entry(c, KIWI_ST_NOT_READY, 0, 0);
    }
    if (!st) {
        st = kiwi_fault_status(k);
    }
    if (!st) {
        st = fetch_input(k, c, e);
    }
    if (!st) {
        memset(c->out, 0, cmd->out_len);
        st = cmd->handler(k, c);
    }
    if (!st) {
        kiwi_fault_reply(k, c->out, cmd->out_len);
        st = store_reply(k, c, e);
    }
    return st;
}

/*
 * Completion
 */

static void notify(KiwiState *k)
{
    if (k->aq.armed && (int32_t)(k->aq.reply_pi - k->aq.reply_ci) > 0) {
        k->aq.armed = false;
        kiwi_msix_send(k, k->aq.vector);
    }
}

static void complete(KiwiState *k, uint32_t queue, void *entry)
{
    struct kiwi_acq_entry *done = entry;
    uint32_t index = k->aq.reply_pi & ((1U << k->aq.log2) - 1);
    uint64_t addr = k->aq.reply_base + index * sizeof(*done);
    bool odd_pass = (k->aq.reply_pi >> k->aq.log2) & 1;

    if (!odd_pass) {
        done->flags |= KIWI_ACQ_PHASE;
    }
    kiwi_fault_entry(k, KIWI_FAULT_COMMAND, queue, k->aq.reply_pi, addr, done,
                     sizeof(*done));
    if (!kiwi_dma_publish(k, KIWI_DMA_ADMIN, addr, done, sizeof(*done))) {
        kiwi_fatal(k, KIWI_HEALTH_AQ_DMA, KIWI_REG_ACQ_BASE);
        return;
    }
    k->aq.reply_pi++;
    k->diag[KIWI_DIAG_COMMANDS]++;
    notify(k);
}

static void run_command(KiwiState *k, const struct kiwi_aq_entry *e)
{
    KiwiCall *c = &k->aq.call;
    struct kiwi_acq_entry done = {
        .cmd_id = e->cmd_id,
        .opcode = e->opcode,
    };
    enum kiwi_status st;

    c->opcode = le16_to_cpu(e->opcode);
    kiwi_refuse(c, KIWI_ST_OK, KIWI_ERR_FIELD_NONE, 0, 0);
    kiwi_fault_begin(k, KIWI_FAULT_COMMAND, c->opcode);
    st = execute(k, c, e);

    done.status = cpu_to_le16(st);
    done.err_field = cpu_to_le16(c->err_field);
    done.err_value = cpu_to_le64(c->err_value);
    done.err_limit = cpu_to_le64(c->err_limit);
    if (st == KIWI_ST_OK) {
        done.out_len = e->out_len;
        if (le16_to_cpu(e->out_len) <= KIWI_AQ_INLINE) {
            memcpy(done.out, c->out, le16_to_cpu(e->out_len));
        }
    }
    kiwi_fault_write(k, KIWI_FAULT_COMMAND, 0, &done, sizeof(done), complete);
}

/*
 * In virtual time: nothing is executed while the machine stands still, and when
 * instructions are counted a command ends at the same one each time.
 */
static void aq_schedule(KiwiState *k)
{
    timer_mod(k->aq.timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
}

static void aq_run(void *opaque)
{
    KiwiState *k = opaque;
    struct kiwi_aq_entry e;
    uint32_t index;

    for (int i = 0; i < COMMANDS_PER_RUN; i++) {
        if (!kiwi_running(k) || k->aq.ci == k->aq.pi) {
            return;
        }
        if (k->aq.pi - k->aq.ci > 1U << k->aq.log2) {
            kiwi_fatal(k, KIWI_HEALTH_ASSERT, KIWI_REG_AQ_PI);
            return;
        }
        index = k->aq.ci & ((1U << k->aq.log2) - 1);
        if (!kiwi_dma_read(k, KIWI_DMA_ADMIN, k->aq.base + index * sizeof(e),
                           &e, sizeof(e))) {
            kiwi_fatal(k, KIWI_HEALTH_AQ_DMA, KIWI_REG_AQ_BASE);
            return;
        }
        k->aq.ci++;
        run_command(k, &e);
    }
    aq_schedule(k);
}

/*
 * Registers
 */

void kiwi_aq_produce(KiwiState *k, uint32_t pi)
{
    if (kiwi_running(k)) {
        k->aq.pi = pi;
        aq_schedule(k);
    }
}

void kiwi_aq_consume(KiwiState *k, uint32_t ci)
{
    if (kiwi_running(k)) {
        k->aq.reply_ci = ci;
        kiwi_fault_taken(k, KIWI_FAULT_COMMAND, 0, ci);
        k->aq.armed = true;
        notify(k);
    }
}

void kiwi_aq_enable(KiwiState *k)
{
    k->aq.armed = true;
    k->aq.ready = false;
    k->aq.pi = 0;
    k->aq.ci = 0;
    k->aq.reply_pi = 0;
    k->aq.reply_ci = 0;
}

void kiwi_aq_disable(KiwiState *k)
{
    timer_del(k->aq.timer);
    k->aq.ready = false;
}

void kiwi_aq_init(KiwiState *k)
{
    k->aq.timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, aq_run, k);
}

void kiwi_aq_exit(KiwiState *k)
{
    timer_free(k->aq.timer);
}
