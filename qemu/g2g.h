/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kiwi-g2g: an IO die of a scale-up fabric. Loads and stores through BAR 4
 * become transactions to another die, and those of others become DMA here.
 *
 * All code runs under the BQL: in the main loop, or in an access to BAR 4. An
 * access that waits (g2g-aperture.c) lets the main loop run, so whatever it
 * looks at afterwards may have changed.
 */
#ifndef G2G_H
#define G2G_H

#include "msgq.h"
#include "net/net.h"
#include "qemu/thread.h"

#include "kiwi_abi/g2g.h"
#include "kiwi_abi/g2g_image.h"
#include "kiwi_abi/g2g_wire.h"

#define TYPE_KIWI_G2G "kiwi-g2g"
OBJECT_DECLARE_SIMPLE_TYPE(G2gState, KIWI_G2G)

#define G2G_FRAME_MAX   (18 + KIWI_G2G_MTU_MAX)
#define G2G_SLOTS       2
#define G2G_LAYERS      2
#define G2G_CLASSES     2
#define G2G_TAGS        256     /* W-31 */
#define G2G_WINDOW      128     /* W-40 */
#define G2G_LOG_SIZE    64      /* F-61 */
#define G2G_NEVER       INT64_MAX

typedef struct G2gPeer G2gPeer;
typedef struct G2gWindow G2gWindow;
typedef struct G2gHop G2gHop;

/* Free-running counters, in the order of struct kiwi_g2g_port_counters */
typedef struct G2gPortCounters {
    uint64_t tx_frames, tx_bytes;
    uint64_t rx_frames, rx_bytes;
    uint64_t rx_crc, rx_malformed, rx_other, rx_image, rx_stale, rx_overrun;
    uint64_t forwarded, hop_limit, unroutable;
    uint64_t llr_replayed, llr_nack, llr_exhausted;
    uint64_t credit_stall, pfc_rx, pfc_tx;
    uint64_t link_down, fec_corrected, fec_uncorrected;
} G2gPortCounters;

/* Likewise, of struct kiwi_g2g_counters */
typedef struct G2gCounters {
    uint64_t memory_pdus, message_pdus, control_pdus;
    uint64_t acks, retransmitted, out_of_sequence, duplicate;
    uint64_t loads, load_bytes, stores, store_bytes, atomics;
    uint64_t poisoned, stores_dropped, unmapped, timeouts;
    uint64_t served_reads, served_read_bytes;
    uint64_t served_writes, served_write_bytes, served_atomics;
    uint64_t refused_key, refused_bounds, refused_right, refused_revoked;
    uint64_t refused_bind, shootdowns, isolations, peers_lost;
    uint64_t mail_sent, mail_received, protocol, messages_dropped;
    MsgqCounters qp;
} G2gCounters;

typedef struct G2gConfig {      /* struct kiwi_g2g_port_config in host order */
    uint8_t flags;
    uint8_t mode;
    uint8_t lanes;
    uint8_t fec;
    uint8_t flow;
    uint16_t mtu;
} G2gConfig;

/* What training frames of the other end say, as far as it is remembered. */
typedef struct G2gNeighbour {
    uint32_t nonce;             /* 0: nothing was heard */
    uint8_t mac[6];
    int64_t at;
    struct kiwi_g2g_link_train train;
} G2gNeighbour;

typedef struct G2gFrame {
    QSIMPLEQ_ENTRY(G2gFrame) next;
    size_t len;
    uint8_t data[];
} G2gFrame;

typedef struct G2gPort {
    G2gState *s;
    unsigned number;            /* from 0 */
    NICConf conf;
    NICState *nic;
    G2gConfig config;
    uint8_t state;              /* enum kiwi_g2g_port_state */
    uint8_t reason;             /* enum kiwi_g2g_reason */
    uint32_t ups;
    uint32_t nonce;
    G2gNeighbour now;
    G2gNeighbour before;        /* another that was heard before this one */
    int64_t turns_until;        /* two are heard in turn */
    int64_t silent_since;       /* training or up, and nothing heard since */
    int64_t train_at;           /* when TRAIN is due */
    QSIMPLEQ_HEAD(, G2gFrame) rx;
    unsigned rx_count;
    bool refused;               /* the backend has frames for us */
    G2gHop *hop;
    int64_t exhausted_until;    /* replays did not help: FAULT until then */
    int64_t flap_until;         /* fault: no carrier until then */
    G2gPortCounters count;
} G2gPort;

typedef struct G2gTable {       /* of routes */
    bool valid;
    uint32_t generation;
    struct {
        uint32_t ports;
        uint8_t layer;
    } *route;                   /* by accelerator */
} G2gTable;

typedef struct G2gSlot {
    uint8_t state;              /* enum kiwi_g2g_slot_state */
    uint8_t error;              /* enum kiwi_g2g_image_error */
    uint32_t length;
    uint32_t written;
    uint8_t *data;
} G2gSlot;

/* What a personality header says. */
typedef struct G2gHead {
    uint8_t op;                 /* enum kiwi_g2g_pdu */
    uint8_t vc;
    uint16_t dst;               /* not in the header of SUE */
    uint16_t src;
    uint32_t partition;
    uint16_t psn;
    uint16_t rpsn;
} G2gHead;

/* Transactions that wait to be sent, or to be acknowledged. */
typedef struct G2gPdu {
    QSIMPLEQ_ENTRY(G2gPdu) next;
    G2gWindow *window;          /* WRITE: for which; it may be gone once sent */
    uint64_t offset;            /* likewise: in its range of BAR 4 */
    uint16_t len;
    uint8_t tx[];               /* struct kiwi_g2g_tx and its payload */
} G2gPdu;

typedef QSIMPLEQ_HEAD(G2gPdus, G2gPdu) G2gPdus;

/* One class of a session: W-40 to W-42. */
typedef struct G2gStream {
    G2gPdus unacked;
    G2gPdus control;            /* goes on during a pause */
    G2gPdus memory;             /* READ, WRITE and ATOMIC of our own */
    G2gPdus message[MSGQ_PATHS];
    uint32_t control_count;
    uint32_t memory_count;
    uint32_t message_count[MSGQ_PATHS];
    uint8_t turn;               /* of memory and messages, which was last */
    uint16_t una;               /* PSN of the first of unacked */
    uint16_t next;              /* PSN */
    int64_t progress_at;        /* last progress, meaningful with unacked */
    int64_t resend_at;
    uint16_t expected;
    bool nacked;
    uint8_t owed;               /* PDUs taken and not acknowledged */
    int64_t ack_at;
} G2gStream;

typedef enum G2gTagUse {
    G2G_TAG_FREE,
    G2G_TAG_ACCESS,
    G2G_TAG_BIND,
    G2G_TAG_ORPHAN,             /* nobody waits for the answer any more */
} G2gTagUse;

/* A load or atomic under way. It belongs to whoever waits for it. */
typedef struct G2gAccess {
    QTAILQ_ENTRY(G2gAccess) next;
    G2gWindow *window;
    uint8_t kind;               /* KIWI_G2G_LOG_LOAD or KIWI_G2G_LOG_ATOMIC */
    uint8_t status;             /* enum kiwi_g2g_status, once done */
    bool done;
    uint16_t tag;
    uint16_t len;
    uint64_t offset;            /* in the window's range of BAR 4 */
    int64_t deadline;           /* virtual time */
    uint8_t data[8];
} G2gAccess;

struct G2gPeer {
    G2gState *s;
    uint16_t accel;
    uint8_t state;              /* enum kiwi_g2g_peer_state */
    uint8_t reason;             /* enum kiwi_g2g_reason */
    uint32_t generation;
    uint32_t heard;             /* its session with us, 0: not known */
    uint64_t serial;            /* as last heard, here and below */
    uint16_t image_id;
    uint16_t partition;
    uint32_t image_version;
    uint32_t epoch;
    int64_t hello_at;
    int64_t answer_at;          /* no other answer before */
    int64_t silent_since;
    G2gStream stream[G2G_CLASSES];
    struct {
        G2gTagUse use;
        void *who;              /* G2gAccess or G2gWindow */
    } tag[G2G_TAGS];
    uint16_t next_tag;
    GHashTable *shot;           /* keys shot down that no window had */
    uint32_t mail_limit;        /* that it keeps for us */
    uint32_t mail_sent;         /* in the session, here and below */
    uint32_t mail_taken;        /* of these, by its host */
    uint32_t mail_got;
    uint32_t mail_read;         /* of these, by our host */
    bool want_room;
};

typedef struct G2gExport {
    uint32_t number;
    uint8_t state;              /* enum kiwi_g2g_export_state */
    uint8_t handle[16];
    uint64_t length;
    uint32_t rights;
    uint8_t grantees[KIWI_G2G_ACCELS_MAX / 8];
    uint32_t bindings;
    uint32_t isolated;          /* peers, for this revocation */
    int64_t deadline;
    KiwiPbl *mem;               /* NULL unless LIVE */
} G2gExport;

typedef struct G2gBinding {
    uint32_t key;
    G2gExport *export;
    uint16_t accel;
    uint32_t rights;
} G2gBinding;

typedef struct G2gCell {
    uint64_t operand;
    uint64_t compare;
    uint64_t result;
    uint64_t status;
    bool busy;
    G2gAccess access;
} G2gCell;

struct G2gWindow {
    uint32_t number;
    uint8_t state;              /* enum kiwi_g2g_window_state */
    uint8_t reason;             /* enum kiwi_g2g_reason */
    uint16_t accel;
    uint32_t rights;
    uint32_t key;               /* 0: none */
    uint16_t tag;               /* while BINDING */
    int64_t deadline;           /* of BINDING */
    uint64_t export_length;
    bool placed;                /* it was mapped, and has granules */
    uint64_t offset;
    uint64_t export_offset;
    uint64_t length;
    QTAILQ_HEAD(, G2gAccess) accesses;
    G2gCell *cell;              /* with the right ATOMIC, once mapped */
};

struct G2gState {
    KiwiState parent_obj;

    MemoryRegion aperture;
    Msgq msgq;
    QTAILQ_ENTRY(G2gState) next;

    /* Properties */
    uint16_t accels;
    uint8_t stations;
    uint8_t ports;
    uint8_t lanes;
    uint8_t granule_shift;
    uint8_t mail_max;
    uint8_t page_shift_max;
    uint8_t table_shift_max;
    uint64_t aperture_size;
    uint64_t max_export_size;
    uint32_t max_export_pages;
    uint32_t max_export;
    uint32_t max_window;
    uint32_t max_binding;
    uint32_t image_max;
    uint32_t lane_mbps;
    uint32_t load_us;
    uint32_t bind_ms;
    uint32_t revoke_ms;
    uint32_t pause_ms;
    uint32_t peer_ms;
    uint32_t link_ms;
    uint32_t resend_ms;         /* of DATA that is not acknowledged */
    uint32_t replay_ms;         /* of frames that a link does not acknowledge */
    uint64_t seed;              /* of the faults: g2g-fault.c */
    uint32_t drop;
    uint32_t corrupt;
    uint32_t flap;
    uint32_t flap_ms;
    bool silent;
    uint32_t silent_after;

    G2gPort port[KIWI_G2G_PORTS_MAX];

    /* Fabric */
    uint8_t state;              /* enum kiwi_g2g_fabric_state */
    uint8_t pod[16];
    uint16_t accel;
    uint16_t partition;
    uint32_t epoch;
    bool paused;
    bool drained;               /* and that was told */
    int64_t pause_until;

    G2gTable active;
    G2gTable staged;
    G2gTable previous;

    G2gSlot slot[G2G_SLOTS];
    unsigned active_slot;
    const struct kiwi_g2g_image *image;     /* the active one */

    G2gPeer **peer;             /* by accelerator; NULL: never dealt with */
    uint32_t *session;          /* ours with each, likewise */

    KiwiTable exports;
    KiwiTable windows;
    GHashTable *bindings;       /* key: G2gBinding */
    uint32_t next_key;
    G2gWindow **granule;        /* of BAR 4: the window placed there */
    uint64_t atomic_base;

    GQueue *mail;               /* struct kiwi_g2g_mail, for the host */
    bool mail_told;

    struct kiwi_g2g_log_entry log[G2G_LOG_SIZE];
    uint32_t log_head;
    uint32_t log_count;
    uint64_t log_sequence;
    uint64_t log_lost;
    bool log_told;

    G2gCounters count;

    QEMUTimer *timer;
    int64_t wake_at;
    QemuCond answered;          /* an access is done, or a queue has room */

    uint64_t random;            /* of the faults */
    uint64_t dropped, corrupted, flaps;
    uint32_t served;            /* requests, for silent_after */
};

static inline int64_t g2g_now(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static inline void g2g_event(G2gState *s, enum kiwi_g2g_event type,
                             uint8_t code, uint32_t id, uint32_t info)
{
    kiwi_async_event(KIWI(s), (enum kiwi_event)type, code, id, info);
}

/* g2g-work.c: receiving, and what is due at some time */
void g2g_work_init(G2gState *s);
void g2g_work_exit(G2gState *s);
/* Does what can be done now. */
void g2g_work(G2gState *s);
void g2g_kick(G2gState *s);
/* No later than @at (virtual time) there is something to do. */
void g2g_wake_at(G2gState *s, int64_t at);
/* Lets all dies of this QEMU work, and takes frames from the outside. */
void g2g_work_all(void);
/* Somebody waits for answers: the guest is not given a turn of its own. */
extern unsigned g2g_waiters;

/* g2g-cmd.c */
extern const KiwiCommand g2g_commands[];
extern const size_t g2g_num_commands;
uint8_t g2g_flows(G2gState *s);             /* caps.flow */
uint8_t g2g_atomic_ops(G2gState *s);        /* caps.atomics */
enum kiwi_status g2g_check_rights(G2gState *s, KiwiCall *c, size_t field,
                                  uint32_t rights);
/* A command's struct kiwi_cmd_id as a number from 0 to @count - 1 */
enum kiwi_status g2g_number_in(KiwiCall *c, uint32_t count, uint32_t *number);

/* g2g-fabric.c */
bool g2g_configured(const G2gState *s);
bool g2g_active(const G2gState *s);
/* A port or table has changed. */
void g2g_fabric_update(G2gState *s);
/* All tables and links are lost; the configuration is as it says. */
void g2g_fabric_restart(G2gState *s);
void g2g_fabric_reset(G2gState *s);
void g2g_fabric_conflict(G2gState *s);
enum kiwi_status g2g_fabric_unused(G2gState *s, KiwiCall *c);
int64_t g2g_fabric_tick(G2gState *s, int64_t now);
enum kiwi_status g2g_set_fabric_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_query_fabric_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_activate_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_deactivate_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_pause_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_resume_cmd(KiwiState *k, KiwiCall *c);

/* g2g-port.c */
void g2g_port_reset(G2gPort *port);
void g2g_port_set(G2gPort *port, uint8_t state, uint8_t reason);
/* Goes down, and begins anew with what it is told. */
void g2g_port_restart(G2gPort *port);
/* What it cannot be, however the other end is; NONE: it may try. */
uint8_t g2g_port_unfit(const G2gPort *port);
/* The carrier has changed. */
void g2g_port_carrier(G2gPort *port);
bool g2g_port_routable(const G2gPort *port);
uint16_t g2g_port_limit(const G2gPort *port);
void g2g_port_mac(const G2gPort *port, uint16_t accel, uint8_t *mac);
uint32_t g2g_ports_routable(G2gState *s);
enum kiwi_status g2g_set_port_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_query_port_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_query_port_counters_cmd(KiwiState *k, KiwiCall *c);

/* g2g-link.c: training */
void g2g_link_begin(G2gPort *port, uint8_t reason);
/* A link frame: source address, and what is behind the Ethernet header */
void g2g_link_rx(G2gPort *port, const uint8_t *mac, const uint8_t *body,
                 size_t size);
int64_t g2g_link_tick(G2gPort *port, int64_t now);

/* Sends a structure that begins with a struct kiwi_g2g_link_head, filled in here. */
void g2g_link_send(G2gPort *port, enum kiwi_g2g_link_type type, void *body,
                   size_t size);

/* g2g-hop.c: PDU frames of ports with link-level replay */
void g2g_hop_init(G2gPort *port);
void g2g_hop_exit(G2gPort *port);
/* Forgets all frames and numbers: the port comes up, or is no longer. */
void g2g_hop_reset(G2gPort *port);
bool g2g_hop_replays(const G2gPort *port);
uint16_t g2g_hop_window(const G2gPort *port);       /* as TRAIN tells, here */
uint16_t g2g_hop_credits(const G2gPort *port);      /* and here */
/*
 * Sends a frame without trailer when it may be. One that is forwarded keeps the
 * buffer that it has at the port that it came by, on channel @from_vc.
 */
void g2g_hop_send(G2gPort *port, uint8_t vc, const uint8_t *frame, size_t len,
                  G2gPort *from, uint8_t from_vc);
/* A frame that came; false: it is dropped. If not, it is given back by ... */
bool g2g_hop_rx(G2gPort *port, uint16_t seq, uint8_t vc);
/* ... this, unless it was handed to g2g_hop_send(). */
void g2g_hop_rx_done(G2gPort *port, uint8_t vc);
void g2g_hop_rx_bad(G2gPort *port);                 /* its CRC is wrong */
/* What the other end says. */
void g2g_hop_rx_ack(G2gPort *port, uint16_t next, bool nack);
void g2g_hop_rx_credit(G2gPort *port, const __le32 *freed);
/* Tells the other end what is free. */
void g2g_hop_credit(G2gPort *port);
int64_t g2g_hop_tick(G2gPort *port, int64_t now);

/* g2g-net.c */
void g2g_net_init(G2gPort *port);
void g2g_net_exit(G2gPort *port);
void g2g_net_reset(G2gPort *port);
bool g2g_net_carrier(const G2gPort *port);
void g2g_net_carrier_changed(G2gPort *port);
/* A whole frame, padded here. */
void g2g_net_send(G2gPort *port, const uint8_t *frame, size_t len);
/* Takes frames that have come; false: there are none. */
bool g2g_net_run(G2gPort *port);

/* g2g-fault.c */
typedef enum G2gFate { G2G_FRAME_GOES, G2G_FRAME_LOST } G2gFate;
void g2g_fault_init(G2gState *s);
/* May change the frame. */
G2gFate g2g_fault_frame(G2gPort *port, uint8_t *frame, size_t len);
void g2g_fault_served(G2gState *s);
int64_t g2g_fault_tick(G2gPort *port, int64_t now);
void g2g_fault_class_init(ObjectClass *oc);

/* g2g-head.c: personality headers */
extern const uint8_t g2g_head_size[];       /* by enum kiwi_g2g_header */
/* Whether a PDU that begins with @first may have this header. */
bool g2g_head_may_be(uint8_t kind, uint8_t first);
void g2g_head_put(uint8_t kind, uint8_t *out, const G2gHead *head);
/* False: unknown version, operation or reserved bits. */
bool g2g_head_get(uint8_t kind, const uint8_t *in, G2gHead *head);

/* g2g-frame.c: PDU and control frames */
/* Puts the trailer behind @len bytes of a frame; returns the length with it. */
size_t g2g_frame_seal(uint8_t *frame, size_t len, uint16_t flags, uint16_t seq);
void g2g_frame_rx(G2gPort *port, const uint8_t *frame, size_t len);
void g2g_frame_send_pdu(G2gPeer *p, enum kiwi_g2g_pdu op, uint8_t class,
                        uint16_t psn, uint16_t rpsn, const void *tx,
                        uint16_t len);
void g2g_frame_send_control(G2gState *s, uint16_t accel,
                            const struct kiwi_g2g_hello *hello);

/* g2g-route.c */
void g2g_route_init(G2gState *s);
void g2g_route_exit(G2gState *s);
void g2g_route_forget(G2gState *s);
bool g2g_route_known(const G2gState *s, uint16_t accel);
bool g2g_route_any(const G2gState *s);
/* F-25; NULL: none */
G2gPort *g2g_route_port(G2gState *s, uint16_t src, uint16_t dst,
                        uint8_t *layer);
/* Counts a PDU to @accel that had no port. */
void g2g_route_lost(G2gState *s, uint16_t accel);
enum kiwi_status g2g_stage_routes_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_commit_routes_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_rollback_routes_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_query_routes_cmd(KiwiState *k, KiwiCall *c);

/* g2g-image.c */
void g2g_image_init(G2gState *s);
void g2g_image_exit(G2gState *s);
void g2g_image_reset(G2gState *s);
uint32_t g2g_image_accels(const G2gState *s);   /* ids are less than this */
enum kiwi_status g2g_begin_image_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_write_image_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_verify_image_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_activate_image_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_query_image_cmd(KiwiState *k, KiwiCall *c);

/* g2g-peer.c: peers and their sessions */
void g2g_peer_init(G2gState *s);
void g2g_peer_exit(G2gState *s);
void g2g_peer_reset(G2gState *s);
/* NULL unless there was anything to remember about it */
G2gPeer *g2g_peer_find(G2gState *s, uint32_t accel);
G2gPeer *g2g_peer_need(G2gState *s, uint16_t accel);
bool g2g_peer_up(const G2gPeer *p);         /* ESTABLISHED; @p may be NULL */
/* What the host may mean by a peer. */
enum kiwi_status g2g_peer_check(G2gState *s, KiwiCall *c, size_t field,
                                uint32_t accel);
void g2g_peer_seek(G2gPeer *p, uint8_t reason);
/* Says BYE, and ends the session. */
void g2g_peer_leave(G2gPeer *p, uint8_t bye, uint8_t state, uint8_t reason);
void g2g_peer_isolate(G2gPeer *p, uint8_t reason);
void g2g_peer_protocol(G2gPeer *p, uint8_t op);
void g2g_peer_control(G2gPort *port, uint16_t src,
                      const struct kiwi_g2g_hello *hello);
int64_t g2g_peer_tick(G2gPeer *p, int64_t now);
enum kiwi_status g2g_query_peer_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_isolate_peer_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_recover_peer_cmd(KiwiState *k, KiwiCall *c);

/* g2g-stream.c: go-back-N */
void g2g_stream_reset(G2gPeer *p);
/* A transaction of @len bytes of payload; the caller fills both in, then sends. */
G2gPdu *g2g_pdu_new(enum kiwi_g2g_tx_op op, uint16_t len);
static inline struct kiwi_g2g_tx *g2g_pdu_tx(G2gPdu *pdu)
{
    return (struct kiwi_g2g_tx *)pdu->tx;
}
static inline void *g2g_pdu_payload(G2gPdu *pdu)
{
    return pdu->tx + sizeof(struct kiwi_g2g_tx);
}
void g2g_stream_send(G2gPeer *p, G2gPdu *pdu);
void g2g_stream_send_message(G2gPeer *p, G2gPdu *pdu, MsgqPath path);
void g2g_stream_run(G2gPeer *p);
void g2g_stream_rx(G2gPeer *p, G2gPort *port, const G2gHead *head,
                   const uint8_t *tx, uint16_t len);
/* Drops what was never sent; @found decides. */
void g2g_stream_withdraw(G2gPeer *p, bool (*found)(G2gPdu *pdu, void *opaque),
                         void *opaque);
bool g2g_stream_idle(const G2gPeer *p);
int64_t g2g_stream_tick(G2gPeer *p, int64_t now);

/* g2g-tx.c: transactions received */
/* False: it broke the text. */
bool g2g_tx_run(G2gPeer *p, uint8_t class, const uint8_t *tx, uint16_t len);
/* A tag for a request, or -1: the session has ended for want of one */
int g2g_tag_new(G2gPeer *p, G2gTagUse use, void *who);
void g2g_tag_orphan(G2gPeer *p, uint16_t tag);

/* g2g-message.c: queue pairs */
void g2g_message_init(G2gState *s);
uint8_t g2g_message_mtu(const G2gState *s);     /* enum kiwi_mtu */
/* What a PDU must have room for, so that every QP can send; 0: no QP */
uint32_t g2g_message_pdu_min(G2gState *s);
/* A packet of @p, from BTH to pad */
void g2g_message_rx(G2gPeer *p, const uint8_t *packet, uint16_t len);
/* QPs of its session end: numbers of those that are in ERR since are appended. */
void g2g_message_peer_gone(G2gPeer *p, GArray *lost);
/* A QP of ours has a request under way (M-54). */
bool g2g_message_in_flight(G2gState *s);

/* g2g-export.c: exports and bindings */
void g2g_export_init(G2gState *s);
void g2g_export_exit(G2gState *s);
void g2g_export_reset(G2gState *s);
void g2g_export_peer_gone(G2gState *s, uint16_t accel);
uint32_t g2g_export_bindings(G2gState *s, uint16_t accel);
void g2g_export_bind(G2gPeer *p, const struct kiwi_g2g_tx *tx,
                     const struct kiwi_g2g_tx_bind *bind);
/* RELEASE or SHOOTDOWN_ACK */
void g2g_export_unbind(G2gPeer *p, uint32_t key);
int64_t g2g_export_tick(G2gState *s, int64_t now);
enum kiwi_status g2g_create_export_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_revoke_export_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_destroy_export_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_query_export_cmd(KiwiState *k, KiwiCall *c);

/* g2g-target.c: requests of peers carried out */
void g2g_target_read(G2gPeer *p, const struct kiwi_g2g_tx *tx);
void g2g_target_write(G2gPeer *p, const struct kiwi_g2g_tx *tx,
                      const void *data);
void g2g_target_atomic(G2gPeer *p, const struct kiwi_g2g_tx *tx,
                       const struct kiwi_g2g_tx_atomic *atomic);

/* g2g-window.c */
void g2g_window_init(G2gState *s);
void g2g_window_exit(G2gState *s);
void g2g_window_reset(G2gState *s);
G2gWindow *g2g_window_by_key(G2gPeer *p, uint32_t key);
uint32_t g2g_window_count(G2gState *s, uint16_t accel);
/* Accesses end; the event is the caller's to raise. */
void g2g_window_kill(G2gState *s, G2gWindow *w, uint8_t reason);
void g2g_window_event(G2gState *s, G2gWindow *w);
uint8_t g2g_window_dead_status(const G2gWindow *w);
void g2g_window_bound(G2gPeer *p, G2gWindow *w, uint8_t status,
                      const struct kiwi_g2g_tx_bound *bound);
void g2g_window_shot_down(G2gPeer *p, uint32_t key);
void g2g_window_write_err(G2gPeer *p, const struct kiwi_g2g_tx *tx);
int64_t g2g_window_tick(G2gState *s, int64_t now);
enum kiwi_status g2g_bind_window_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_map_window_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_unbind_window_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_query_window_cmd(KiwiState *k, KiwiCall *c);

/* g2g-access.c: loads, stores and atomics of the host */
bool g2g_access_begin(G2gState *s, G2gAccess *a, const void *atomic);
/* The answer, or why there is none: logged before anybody sees it. */
void g2g_access_end(G2gState *s, G2gAccess *a, uint8_t status);
void g2g_access_answered(G2gPeer *p, G2gAccess *a,
                         const struct kiwi_g2g_tx *tx, const void *data);
/* Refuses, or takes, a store. */
void g2g_access_store(G2gState *s, G2gWindow *w, uint64_t offset,
                      const void *data, unsigned size);
/* OK, or why an access to a window cannot be. */
uint8_t g2g_access_check(const G2gWindow *w, uint64_t offset, unsigned len,
                         uint32_t right);
void g2g_access_drop_stores(G2gState *s, G2gWindow *w, uint8_t status);

/* g2g-aperture.c: BAR 4 */
void g2g_aperture_init(G2gState *s);
/* Waits until @done; false: caps.load_us are over. */
bool g2g_aperture_wait(G2gState *s, bool (*done)(void *opaque), void *opaque);

/* g2g-cell.c: atomic pages */
uint64_t g2g_cell_read(G2gState *s, hwaddr addr, unsigned size);
void g2g_cell_write(G2gState *s, hwaddr addr, uint64_t value, unsigned size);
void g2g_cell_done(G2gState *s, G2gAccess *a);
int64_t g2g_cell_tick(G2gState *s, G2gWindow *w, int64_t now);

/* g2g-mail.c */
void g2g_mail_reset(G2gState *s);
void g2g_mail_peer_gone(G2gPeer *p);
/* False: more than was allowed */
bool g2g_mail_rx(G2gPeer *p, const void *data, uint16_t len);
void g2g_mail_room_rx(G2gPeer *p, uint64_t taken);
uint16_t g2g_mail_room(const G2gPeer *p);
uint16_t g2g_mail_kept(G2gState *s);        /* for each peer */
enum kiwi_status g2g_send_mail_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_read_mail_cmd(KiwiState *k, KiwiCall *c);

/* g2g-log.c: counters and log */
void g2g_log_reset(G2gState *s);
void g2g_log(G2gState *s, enum kiwi_g2g_log_kind kind, uint32_t id,
             uint16_t accel, enum kiwi_g2g_status status, uint64_t addr,
             uint32_t len);
enum kiwi_status g2g_read_log_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status g2g_query_counters_cmd(KiwiState *k, KiwiCall *c);
/* Counters to a command's reply */
void g2g_put_counters(KiwiCall *c, const void *counters, size_t size);

#endif /* G2G_H */
