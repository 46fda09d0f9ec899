/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Atomic pages (M-40, M-41).
 */
#include "g2g.h"
#include "qemu/bswap.h"

/* A register of a cell; looked up anew after each wait. */
typedef struct CellAddr {
    G2gState *s;
    uint32_t window;
    unsigned cell;
    unsigned reg;
} CellAddr;

static G2gWindow *cell_window(const CellAddr *at)
{
    G2gWindow *w = kiwi_table_get(&at->s->windows, at->window);

    return w && w->cell ? w : NULL;
}

static G2gCell *find_cell(const CellAddr *at)
{
    G2gWindow *w = cell_window(at);

    return w && at->cell < KIWI_G2G_CELLS ? &w->cell[at->cell] : NULL;
}

static CellAddr cell_addr(G2gState *s, hwaddr addr)
{
    unsigned shift = KIWI(s)->db_page_shift;
    uint64_t offset = addr & MAKE_64BIT_MASK(0, shift);

    return (CellAddr) {
        .s = s,
        .window = g2g_atomic_ops(s) ? (addr >> shift) + 1 : 0,
        .cell = offset / KIWI_G2G_CELL_SIZE,
        .reg = offset % KIWI_G2G_CELL_SIZE,
    };
}

static bool cell_idle(void *opaque)
{
    G2gCell *cell = find_cell(opaque);

    return !cell || !cell->busy;
}

uint64_t g2g_cell_read(G2gState *s, hwaddr addr, unsigned size)
{
    CellAddr at = cell_addr(s, addr);
    G2gCell *cell = find_cell(&at);

    if (!cell_window(&at)) {
        s->count.unmapped++;
        return UINT64_MAX;
    }
    if (!cell || size != 8) {
        return 0;
    }
    switch (at.reg) {
    case KIWI_G2G_CELL_OPERAND:
        return cell->operand;
    case KIWI_G2G_CELL_COMPARE:
        return cell->compare;
    case KIWI_G2G_CELL_RESULT:
    case KIWI_G2G_CELL_STATUS:
        break;
    default:
        return 0;
    }
    if (!g2g_aperture_wait(s, cell_idle, &at)) {
        g2g_access_end(s, &find_cell(&at)->access, KIWI_G2G_ST_TIMEOUT);
    }
    cell = find_cell(&at);
    if (!cell) {
        return UINT64_MAX;
    }
    return at.reg == KIWI_G2G_CELL_RESULT ? cell->result : cell->status;
}

void g2g_cell_done(G2gState *s, G2gAccess *a)
{
    G2gCell *cell = container_of(a, G2gCell, access);

    cell->busy = false;
    cell->status = a->status;
    cell->result = ldq_le_p(a->data);
}

static uint8_t check(G2gState *s, G2gWindow *w, uint64_t offset, uint8_t op)
{
    uint8_t ops = g2g_atomic_ops(s) & s->image->atomics;

    if (w->state == KIWI_G2G_WINDOW_DEAD) {
        return g2g_window_dead_status(w);
    }
    if (op > KIWI_G2G_CMP_SWAP || !(ops & 1 << op) || offset % 8) {
        return KIWI_G2G_ST_DECODE_ERROR;
    }
    return g2g_access_check(w, offset, 8, KIWI_ACCESS_REMOTE_ATOMIC);
}

static void go(G2gState *s, G2gWindow *w, G2gCell *cell, uint64_t value)
{
    uint8_t op = value >> KIWI_G2G_CELL_OP_SHIFT;
    uint64_t offset = value & MAKE_64BIT_MASK(0, KIWI_G2G_CELL_OP_SHIFT);
    struct kiwi_g2g_tx_atomic atomic = {
        .operand = cpu_to_le64(cell->operand),
        .compare = cpu_to_le64(op == KIWI_G2G_CMP_SWAP ? cell->compare : 0),
    };
    uint8_t status;

    if (cell->busy) {
        s->count.unmapped++;
        return;
    }
    s->count.atomics++;
    cell->access = (G2gAccess) {
        .window = w,
        .kind = KIWI_G2G_LOG_ATOMIC,
        .status = op,
        .offset = offset,
        .len = 8,
        .deadline = g2g_now() + (int64_t)s->load_us * SCALE_US * 3 / 4,
    };
    status = check(s, w, offset, op);
    if (!status && g2g_access_begin(s, &cell->access, &atomic)) {
        cell->busy = true;
        g2g_wake_at(s, cell->access.deadline);
        return;
    }
    cell->status = status ? status : KIWI_G2G_ST_ISOLATED;
    cell->result = UINT64_MAX;
    s->count.poisoned++;
    g2g_log(s, KIWI_G2G_LOG_ATOMIC, w->number, w->accel, cell->status, offset,
            8);
}

void g2g_cell_write(G2gState *s, hwaddr addr, uint64_t value, unsigned size)
{
    CellAddr at = cell_addr(s, addr);
    G2gCell *cell = find_cell(&at);

    if (!cell_window(&at)) {
        s->count.unmapped++;
        return;
    }
    if (!cell || size != 8) {
        return;
    }
    switch (at.reg) {
    case KIWI_G2G_CELL_OPERAND:
        cell->operand = value;
        break;
    case KIWI_G2G_CELL_COMPARE:
        cell->compare = value;
        break;
    case KIWI_G2G_CELL_GO:
        go(s, cell_window(&at), cell, value);
        break;
    }
}

int64_t g2g_cell_tick(G2gState *s, G2gWindow *w, int64_t now)
{
    int64_t next = G2G_NEVER;

    for (int i = 0; w->cell && i < KIWI_G2G_CELLS; i++) {
        G2gCell *cell = &w->cell[i];

        if (cell->busy && now >= cell->access.deadline) {
            g2g_access_end(s, &cell->access, KIWI_G2G_ST_TIMEOUT);
        } else if (cell->busy) {
            next = MIN(next, cell->access.deadline);
        }
    }
    return next;
}
