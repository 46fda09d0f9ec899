/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xpu: what the parts of the model share.
 */
#ifndef XPU_MODEL_H
#define XPU_MODEL_H

#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "exec/memory.h"
#include "hw/pci/pci.h"
#if __has_include("hw/pci/pci_device.h")
#include "hw/pci/pci_device.h"
#endif
#include "hw/qdev-properties.h"
#include "qom/object.h"

#include "xpu_cmd.h"
#include "xpu_regs.h"

#define TYPE_XPU "xpu"
OBJECT_DECLARE_SIMPLE_TYPE(XpuState, XPU)

typedef struct XpuCopy {
    uint64_t src;
    uint64_t dst;
    uint64_t len;
    uint32_t ctrl;
} XpuCopy;

typedef struct XpuTrap {
    bool on;
    uint64_t start;             /* as the registers say */
    uint64_t length;
    uint64_t last;
    unsigned long *freed;       /* a bit for each page of VRAM */
    MemoryRegion range[XPU_TRAP_RANGES];
} XpuTrap;

/* A command, in the byte order of the host. */
typedef struct XpuCmd {
    uint8_t op;
    uint8_t flags;
    uint16_t buffer;
    uint32_t queue;
    uint64_t laddr;
    uint32_t lkey;
    uint32_t length;
    uint64_t raddr;
    uint32_t rkey;
    uint32_t sig_rkey;
    uint64_t sig_raddr;
    uint64_t sig_laddr;
    uint64_t value;             /* with the steps of the loop added */
    uint64_t offset;
    uint32_t count;
} XpuCmd;

typedef struct XpuMoe {
    uint32_t tokens, topk, row, experts, peers, capacity, rank, lkey;
    uint64_t laddr, table, routing, counts, rows;
} XpuMoe;

typedef struct XpuLoop {
    uint32_t start;             /* the command behind REPEAT */
    uint32_t passes;            /* done */
    uint32_t count;
} XpuLoop;

typedef struct XpuKernel XpuKernel;

/* Waits at @ready for its next step; @cost is what the step takes. */
typedef struct XpuThread {
    XpuKernel *kernel;
    uint32_t index;
    bool live;
    bool begun;                 /* @cmd is loaded */
    bool ended;                 /* the list is done, its doorbells are on the way */
    int64_t ready;
    int64_t cost;
    int64_t bound;              /* of the command */
    uint32_t poll_ns;
    uint32_t pc;
    uint32_t depth;
    XpuLoop loop[XPU_CMD_LOOPS];
    XpuCmd cmd;
    XpuMoe moe;
    uint64_t at, sub;           /* where a command of many steps is */
} XpuThread;

struct XpuKernel {
    uint32_t number;
    uint32_t image[sizeof(struct xpu_ex_kernel) / 4];
    struct xpu_ex_kernel run;   /* as latched by START */
    uint32_t state;
    uint32_t fault;
    uint32_t tag;
    uint32_t fault_command, fault_thread, fault_detail;
    uint64_t done;
    int64_t started, ended;
    int64_t posted;             /* when its last doorbell reaches the bus */
    XpuThread thread[XPU_EX_THREADS];
};

typedef struct XpuQueue {
    uint32_t number;
    uint32_t image[sizeof(struct xpu_ex_queue) / 4];
    struct xpu_ex_queue d;      /* as latched by ENABLE */
    bool enabled;
    bool fence;                 /* the next entry gets it */
    /* Running counts of ring entries, */
    uint64_t producer, rung, consumer;
    uint64_t last;              /* and where the last request begins */
    uint64_t cqes;              /* completions consumed */
    uint32_t cqes_due;          /* asked for and not yet seen */
} XpuQueue;

typedef struct XpuDoorbell {
    uint64_t addr;
    uint32_t length;
} XpuDoorbell;

/* A doorbell on its way to the bus. */
typedef struct XpuPosted {
    int64_t due;
    uint64_t value;
    uint32_t doorbell;
    uint32_t offset;
} XpuPosted;

#define XPU_POSTED 64

typedef struct XpuExec {
    QEMUTimer timer;
    uint32_t ended;
    XpuDoorbell doorbell[XPU_EX_DOORBELLS];
    XpuKernel kernel[XPU_EX_KERNELS];
    XpuQueue queue[XPU_EX_QUEUES];
    XpuPosted posted[XPU_POSTED];   /* a ring; they leave in order */
    uint32_t posted_head, posted_count;
    uint32_t command_ns, wqe_ns, mem_ns, fence_ns, bus_ns;
    uint32_t poll_ns, poll_max_ns;
} XpuExec;

struct XpuState {
    PCIDevice parent_obj;

    MemoryRegion regs;
    MemoryRegion bar;           /* VRAM, and over it what is trapped */
    MemoryRegion vram;
    uint64_t vram_size;
    uint32_t timeout_ms;
    uint32_t resets;

    QEMUTimer copy_timer;
    XpuCopy next;           /* as the registers say */
    XpuCopy run;            /* as latched by the last START */
    uint64_t run_count;     /* tells one command from the next */
    uint64_t done;
    uint64_t fault;
    uint32_t state;
    uint32_t error;

    XpuExec exec;
    XpuTrap trap;
    uint64_t counter[XPU_CNT_COUNT];
};

/* xpu.c */
uint8_t *xpu_vram(XpuState *s, uint64_t offset);
bool xpu_in_vram(XpuState *s, uint64_t offset, uint64_t len);
void xpu_store(XpuState *s, uint64_t offset, const void *buf, uint64_t len);
/* Whether anybody would answer at the bus address. */
bool xpu_dma_answered(XpuState *s, uint64_t addr, uint64_t len,
                      DMADirection dir);

/* xpu-trap.c */
void xpu_trap_init(XpuState *s);
void xpu_trap_exit(XpuState *s);
void xpu_trap_ctrl(XpuState *s, uint32_t ctrl);

/* xpu-exec.c */
void xpu_exec_init(XpuState *s);
void xpu_exec_exit(XpuState *s);
void xpu_exec_reset(XpuState *s);
bool xpu_exec_owns(hwaddr addr);
uint32_t xpu_exec_read(XpuState *s, hwaddr addr);
void xpu_exec_write(XpuState *s, hwaddr addr, uint32_t val);
/* Sends a doorbell on its way; false when there are too many. */
bool xpu_exec_post(XpuState *s, XpuThread *t, const XpuQueue *q,
                   uint64_t value);
bool xpu_exec_can_post(XpuState *s);

/* What a step has come to. */
typedef enum XpuStep {
    XPU_STEP_DONE,      /* the command, or the part that was asked for */
    XPU_STEP_MORE,      /* there is more of it to do */
    XPU_STEP_POLL,      /* it waits for something */
    XPU_STEP_FAULT,
} XpuStep;

/* Ends the kernel. */
XpuStep xpu_fault(XpuThread *t, enum xpu_ex_fault fault, uint32_t detail);

/* xpu-cmd.c */
XpuStep xpu_cmd_load(XpuState *s, XpuThread *t, const struct xpu_cmd *cmd);
XpuStep xpu_cmd_step(XpuState *s, XpuThread *t);
/* Bytes of a buffer of the kernel, at @offset; NULL after a fault. */
void *xpu_cmd_buffer(XpuState *s, XpuThread *t, uint64_t offset, uint64_t len);

/* xpu-moe.c */
XpuStep xpu_moe_load(XpuState *s, XpuThread *t);
XpuStep xpu_moe_dispatch(XpuState *s, XpuThread *t);
XpuStep xpu_moe_combine(XpuState *s, XpuThread *t);

/* xpu-peers.c */
bool xpu_peer_load(XpuState *s, XpuThread *t, uint64_t table, uint64_t index,
                   struct xpu_peer *peer);
XpuStep xpu_peers_ring(XpuState *s, XpuThread *t, uint64_t table, uint64_t index);

/* xpu-queue.c: a request, as commands know it */
typedef struct XpuWork {
    uint8_t opcode;     /* KIWI_WQE_* */
    bool immediate;     /* the data are those of @value */
    uint64_t laddr;
    uint32_t lkey;
    uint32_t length;
    uint64_t raddr;
    uint32_t rkey;
    uint64_t value;
} XpuWork;

void xpu_queue_enable(XpuState *s, XpuQueue *q);
/* DONE: all @n are in the ring, and @ring came after them. */
XpuStep xpu_queue_post(XpuState *s, XpuThread *t, uint32_t queue,
                       const XpuWork *work, unsigned n, bool ring);
XpuStep xpu_queue_fence(XpuState *s, XpuThread *t, uint32_t queue);
/* DONE: a doorbell covers all that was posted. */
XpuStep xpu_queue_ring(XpuState *s, XpuThread *t, uint32_t queue);
/* DONE: all that was posted is completed. */
XpuStep xpu_queue_quiet(XpuState *s, XpuThread *t, uint32_t queue);

#endif /* XPU_MODEL_H */
