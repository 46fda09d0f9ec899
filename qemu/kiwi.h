/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all Kiwi parts share: PCIe endpoint, registers, admin queue, event
 * queues, doorbell pages, page lists, DMA with its accounting. A part derives
 * its type from TYPE_KIWI and fills in KiwiClass. All code runs under the BQL.
 */
#ifndef KIWI_H
#define KIWI_H

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "hw/pci/pci.h"
#if __has_include("hw/pci/pci_device.h")
#include "hw/pci/pci_device.h"
#endif
#include "qom/object.h"

#include "kiwi_abi/admin.h"
#include "kiwi_abi/diag.h"
#include "kiwi_abi/ids.h"
#include "kiwi_abi/queues.h"
#include "kiwi_abi/regs.h"

#include "delay.h"
#include "memory-core.h"

/* The field of @val that @mask selects, and a value put into such a field. */
#define KIWI_GET(val, mask) (((val) & (mask)) / ((mask) & -(mask)))
#define KIWI_PUT(mask, val) (((val) * ((mask) & -(mask))) & (mask))

#define TYPE_KIWI "kiwi"
OBJECT_DECLARE_TYPE(KiwiState, KiwiClass, KIWI)

typedef struct KiwiCommand KiwiCommand;
typedef struct KiwiFault KiwiFault;
typedef struct Msgq Msgq;

/* An admin command being executed: its payloads, and why it was refused. */
typedef struct KiwiCall {
    uint16_t opcode;
    uint8_t in[KIWI_AQ_PAYLOAD_MAX];
    uint8_t out[KIWI_AQ_PAYLOAD_MAX];
    uint16_t err_field;
    uint64_t err_value;
    uint64_t err_limit;
} KiwiCall;

struct KiwiCommand {
    uint16_t opcode;
    uint16_t in_len;
    uint16_t out_len;
    enum kiwi_status (*handler)(KiwiState *k, KiwiCall *c);
    uint64_t cap;               /* unknown unless this one was accepted */
};

typedef struct KiwiEq {
    bool live;
    bool armed;
    bool lost;              /* the next event written carries OVERRUN */
    uint8_t kind;
    uint8_t log2;
    uint16_t vector;
    uint64_t base;
    uint32_t pi;            /* events written */
    uint32_t ci;            /* events consumed, as EQ_DB told, modulo 2^24 */
    uint32_t users;         /* objects that report through it */
} KiwiEq;

typedef struct KiwiDbPage {
    bool open;
    uint32_t users;         /* queues that name it */
} KiwiDbPage;

/* Memory of the host as a list of pages; made by kiwi_pbl_load(). */
typedef struct KiwiPbl {
    uint64_t length;        /* bytes described */
    uint64_t offset;        /* of the first byte into the first page */
    uint32_t count;
    uint8_t page_shift;
    uint64_t page[];
} KiwiPbl;

/* How requests reach a peer. */
enum kiwi_way {
    KIWI_WAY_SWITCH,        /* a switch turns them */
    KIWI_WAY_ROOT,          /* they pass the root complex, or their answers do */
    KIWI_WAYS
};

/*
 * Numbers from first on and the objects they name. Freed numbers are used again in the
 * order they were freed, after all that were never used; reuse counts how often
 * a number was given out, so that epochs and tags differ.
 */
typedef struct KiwiTable {
    uint32_t first;
    uint32_t max;               /* objects */
    uint32_t live;
    uint32_t fresh;             /* lowest number never used */
    void **object;
    uint32_t *reuse;
    uint32_t *freed;            /* ring of freed numbers */
    uint32_t freed_head;
    uint32_t freed_count;
    uint16_t diag;              /* KIWI_DIAG_LIVE_* */
} KiwiTable;

/* What a part admits in page lists. */
typedef struct KiwiPblLimits {
    uint32_t count;         /* pages */
    uint8_t page_shift;
    uint8_t table_shift;
} KiwiPblLimits;

struct KiwiState {
    PCIDevice parent_obj;

    MemoryRegion regs;
    MemoryRegion db;

    /* Properties */
    uint64_t caps;              /* those of the part that are offered */
    uint64_t fw_version;
    uint64_t serial;
    uint32_t revision;
    uint32_t vectors;
    uint32_t cmd_timeout_ms;
    uint32_t reset_timeout_ms;
    uint32_t reset_ms;          /* how long a reset takes */
    uint32_t heartbeat_ms;
    uint32_t dma_bits;
    uint32_t eq_count;
    uint32_t db_pages;
    uint8_t aq_log2_max;
    uint8_t eq_log2_max;
    uint8_t db_page_shift;
    uint8_t link_width;         /* lanes that the PCIe link was trained to */
    uint32_t doorbell_ns;       /* the way of a CPU's store to a doorbell */
    uint32_t read_ns;           /* from a read of memory to its answer */

    /* Registers */
    uint32_t sts;               /* KIWI_DEV_STS_* */
    uint32_t generation;
    uint32_t reset_reason;
    uint32_t health_syndrome;
    uint32_t health_ext;
    uint64_t aq_base;
    uint64_t acq_base;
    uint32_t aq_cfg;
    uint32_t heartbeat;
    int64_t enabled_ns;         /* when, in virtual time */
    bool in_flr;
    bool frozen;                /* fault: the heartbeat stands still */
    bool gone;                  /* unplugged; a vCPU may still be on its way */
    QEMUTimer *reset_timer;
    QEMUBH *enable_bh;

    /* Admin queue, as latched by ENABLE */
    struct {
        uint64_t base;
        uint64_t reply_base;
        uint32_t cfg_rsvd;
        uint16_t vector;
        uint8_t log2;
        bool armed;
        bool ready;             /* SET_HOST_CAPS was accepted */
        uint32_t pi;            /* written by the host */
        uint32_t ci;            /* commands taken */
        uint32_t reply_pi;      /* completions written */
        uint32_t reply_ci;      /* consumed, as ACQ_CI told */
        QEMUTimer *timer;
        KiwiCall call;
    } aq;
    uint64_t host_caps;

    KiwiPblLimits pbl_limits;   /* filled in by the part */

    KiwiEq *eqs;
    KiwiEq *async_eq;
    uint32_t next_eq;           /* where the search for a free number begins */
    KiwiDbPage *pages;
    Delay *db_path;             /* stores of CPUs on their way */
    bool read_made;             /* kiwi_dma_waited() has not been told yet */

    uint64_t diag[KIWI_DIAG_COUNT];
    uint64_t ways[KIWI_WAYS];   /* bytes to and from peers */
    KiwiFault *fault;
    Msgq *msgq;                 /* the part's queue pairs; NULL: none */
};

struct KiwiClass {
    PCIDeviceClass parent_class;

    uint32_t part;              /* KIWI_PART_* */
    uint64_t caps;              /* that the part has beside those of all */
    const KiwiCommand *commands;
    size_t num_commands;

    /* Destroys every object, silently, and takes back all configuration. */
    void (*reset_part)(KiwiState *k);
    /* Acts on a well-formed doorbell value; says which counter it is. */
    enum kiwi_diag (*doorbell)(KiwiState *k, uint32_t page, uint8_t type,
                               uint32_t queue, uint16_t epoch, uint16_t index);
};

/*
 * kiwi.c: a part calls the first at the start of its realize, the second at the
 * start of its exit: reset_part is not called again after that.
 */
bool kiwi_realize(KiwiState *k, Error **errp);
void kiwi_unrealize(KiwiState *k);
bool kiwi_check_property(const char *name, uint64_t value, uint64_t min,
                         uint64_t max, Error **errp);

/* kiwi-regs.c */
void kiwi_regs_init(KiwiState *k);
void kiwi_regs_exit(KiwiState *k);
/* Every object and setting is lost; the device is dead until READY is set. */
void kiwi_lose_all(KiwiState *k);
bool kiwi_running(KiwiState *k);    /* ENABLED and not FATAL */
uint64_t kiwi_caps(KiwiState *k);   /* as the register CAPS tells them */
/* The host has named the capability in SET_HOST_CAPS. */
static inline bool kiwi_accepted(const KiwiState *k, uint64_t cap)
{
    return !(cap & ~k->host_caps);
}
void kiwi_reset_begin(KiwiState *k, enum kiwi_reset_reason reason);
/* The firmware starts anew, unasked. */
void kiwi_restart(KiwiState *k);
void kiwi_fatal(KiwiState *k, enum kiwi_health_syndrome syndrome, uint32_t reg);

/* kiwi-admin.c */
void kiwi_aq_init(KiwiState *k);
void kiwi_aq_exit(KiwiState *k);
void kiwi_aq_enable(KiwiState *k);
void kiwi_aq_disable(KiwiState *k);
void kiwi_aq_produce(KiwiState *k, uint32_t pi);
void kiwi_aq_consume(KiwiState *k, uint32_t ci);
uint64_t kiwi_le_value(const void *buf, size_t len);    /* of 0 to 8 bytes */
enum kiwi_status kiwi_refuse(KiwiCall *c, enum kiwi_status status,
                             size_t field, uint64_t value, uint64_t limit);
enum kiwi_status kiwi_check_zero(KiwiCall *c, size_t field, size_t len);
enum kiwi_status kiwi_check_range(KiwiCall *c, size_t field, uint64_t value,
                                  uint64_t min, uint64_t max);

/* kiwi-cmd.c: the commands of all parts */
extern const KiwiCommand kiwi_common_commands[];
extern const size_t kiwi_num_common_commands;
/* What commands with a struct kiwi_cmd_id share */
enum kiwi_status kiwi_id_check(KiwiCall *c);
enum kiwi_status kiwi_id_in(KiwiCall *c, const KiwiTable *t, void **object);
enum kiwi_status kiwi_refuse_id(KiwiCall *c, enum kiwi_status status,
                                uint64_t limit);
enum kiwi_status kiwi_refuse_full(KiwiCall *c, const KiwiTable *t);

/* kiwi-table.c */
void kiwi_table_init(KiwiTable *t, uint32_t first, uint32_t max, uint16_t diag);
void kiwi_table_free(KiwiTable *t);
bool kiwi_table_full(const KiwiTable *t);
/* The number, or 0: full */
uint32_t kiwi_table_add(KiwiState *k, KiwiTable *t, void *object);
void kiwi_table_del(KiwiState *k, KiwiTable *t, uint32_t number);
void *kiwi_table_get(const KiwiTable *t, uint32_t number);
uint16_t kiwi_table_epoch(const KiwiTable *t, uint32_t number);

/* kiwi-eq.c */
void kiwi_eq_init(KiwiState *k);
void kiwi_eq_exit(KiwiState *k);
void kiwi_eq_drop_all(KiwiState *k);
void kiwi_eq_doorbell(KiwiState *k, uint32_t eqn, uint32_t value);
KiwiEq *kiwi_eq_find(KiwiState *k, uint32_t eqn);
void kiwi_eq_event(KiwiState *k, KiwiEq *eq, enum kiwi_event type, uint8_t code,
                   uint32_t id, uint32_t info);
/* To the asynchronous event queue, if there is one. */
void kiwi_async_event(KiwiState *k, enum kiwi_event type, uint8_t code,
                      uint32_t id, uint32_t info);
void kiwi_msix_send(KiwiState *k, uint16_t vector);
enum kiwi_status kiwi_eq_create_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status kiwi_eq_destroy_cmd(KiwiState *k, KiwiCall *c);

/* kiwi-db.c */
void kiwi_db_init(KiwiState *k);
void kiwi_db_exit(KiwiState *k);
void kiwi_db_drop_all(KiwiState *k);
/* Another access of a CPU: doorbells that it rang before have arrived. */
void kiwi_db_push(KiwiState *k);
/* NULL unless open */
KiwiDbPage *kiwi_db_page(KiwiState *k, uint32_t page);
enum kiwi_status kiwi_db_open_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status kiwi_db_close_cmd(KiwiState *k, KiwiCall *c);

/*
 * kiwi-dma.c: false when the memory could not be reached. Each call counts one
 * transaction for each stretch of the range that lies in one target.
 */
bool kiwi_dma_read(KiwiState *k, enum kiwi_diag_dma_kind kind, uint64_t addr,
                   void *buf, uint64_t len);
bool kiwi_dma_write(KiwiState *k, enum kiwi_diag_dma_kind kind, uint64_t addr,
                    const void *buf, uint64_t len);
/*
 * How long what was read since this was last asked takes to come. The bytes are
 * those of now: reads are under way at the same time, and what depends on them is
 * to happen so much later.
 */
int64_t kiwi_dma_waited(KiwiState *k);
/* The last byte becomes visible after the rest and after all earlier writes. */
bool kiwi_dma_publish(KiwiState *k, enum kiwi_diag_dma_kind kind, uint64_t addr,
                      const void *buf, uint64_t len);
/* Likewise; the 8 bytes at @word are one access, between the rest and the last. */
bool kiwi_dma_publish_word(KiwiState *k, enum kiwi_diag_dma_kind kind,
                           uint64_t addr, const void *buf, uint64_t len,
                           uint64_t word);

/*
 * kiwi-way.c: bytes at @addr, as the function sent it, went to @peer or came from there.
 * The property "ways" is a JSON object of what took which way.
 */
void kiwi_way_count(KiwiState *k, PCIDevice *peer, uint64_t addr,
                    uint64_t bytes, bool is_write);
void kiwi_way_class_init(ObjectClass *oc);

/*
 * kiwi-pbl.c: a struct kiwi_pbl at offset @field of the call's input. First its
 * fields alone, then against the length it describes, then its tables.
 */
enum kiwi_status kiwi_pbl_check(KiwiState *k, KiwiCall *c, size_t field);
enum kiwi_status kiwi_pbl_check_length(KiwiState *k, KiwiCall *c, size_t field,
                                       uint64_t length);
enum kiwi_status kiwi_pbl_load(KiwiState *k, KiwiCall *c, size_t field,
                               uint64_t length, KiwiPbl **pbl);
bool kiwi_pbl_read(KiwiState *k, enum kiwi_diag_dma_kind kind,
                   const KiwiPbl *pbl, uint64_t off, void *buf, uint64_t len);
bool kiwi_pbl_write(KiwiState *k, enum kiwi_diag_dma_kind kind,
                    const KiwiPbl *pbl, uint64_t off, const void *buf,
                    uint64_t len);
/* Where an entry of @len bytes at @off, aligned to its size, stands. */
uint64_t kiwi_pbl_entry_addr(const KiwiPbl *pbl, uint64_t off, uint64_t len);
bool kiwi_pbl_publish(KiwiState *k, enum kiwi_diag_dma_kind kind,
                      const KiwiPbl *pbl, uint64_t off, const void *buf,
                      uint64_t len);
bool kiwi_pbl_publish_word(KiwiState *k, enum kiwi_diag_dma_kind kind,
                           const KiwiPbl *pbl, uint64_t off, const void *buf,
                           uint64_t len, uint64_t word);
void kiwi_pbl_free(KiwiPbl *pbl);

#endif /* KIWI_H */
