/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A device that is memory: registers, admin queue and event queues behave as the ABI says,
 * unless a test has it misbehave. It finds the driver's rings by their DMA addresses, and
 * notes when the driver breaks the ABI; interrupts come from a workqueue.
 */
#ifndef KIWI_FW_FAKE_H
#define KIWI_FW_FAKE_H

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "../core.h"

#define FAKE_COMP_EQS	2
#define FAKE_EQS	4
#define FAKE_DB_PAGES	8
#define FAKE_CMDS	64
#define FAKE_ECHO	0x7000	/* command that gives back its input, then zeros */
#define FAKE_DB_BASE	0x4000000000ULL

/**
 * struct fake_cmd - a command as the device fetched it
 * @entry: as it stood in the ring
 * @in: its input
 */
struct fake_cmd {
	struct kiwi_aq_entry entry;
	u8 in[KIWI_AQ_PAYLOAD_MAX];
};

/**
 * struct fake_eq - an event queue, as the device knows it
 * @ring: entries, NULL when there is no such queue
 * @size: of @ring
 * @kind: enum kiwi_eq_kind
 * @vector: of its interrupt
 * @pi: next entry to be written
 * @ci: as told last, modulo 2^24
 * @armed: an interrupt is wanted
 * @overrun: events were lost since the last one written
 * @arms: doorbells that armed
 * @updates: doorbells that told the index only
 */
struct fake_eq {
	struct kiwi_eqe *ring;
	u32 size;
	u8 kind;
	u16 vector;
	u32 pi;
	u32 ci;
	bool armed;
	bool overrun;
	unsigned int arms;
	unsigned int updates;
};

/**
 * struct fake_irq - an interrupt
 * @work: raises it
 * @vector: which
 * @requested: by the driver
 * @raised: times
 */
struct fake_irq {
	struct work_struct work;
	unsigned int vector;
	bool requested;
	atomic_t raised;
};

/**
 * struct fake - the device, and the driver's structures for it
 * @test: that it serves
 * @fw: the driver's
 * @pdev: likewise
 * @bus: of @pdev
 * @config: configuration space
 * @comp_eqs: for @fw
 * @callers: threads that run commands
 * @events: asynchronous events that the driver has delivered
 * @nr_events: of @events
 * @nr_lost: of them told of a loss
 * @downs: calls of ops->down
 * @down_reason: of the last
 * @lock: protects the device
 * @regs: registers below the event queues' doorbells
 * @gone: reads all-ones, ignores writes
 * @gone_accesses: accesses while gone
 * @broken: rule of the ABI that the driver broke
 * @stays_disabled: ENABLE has no effect
 * @resets: counts
 * @reset_reason: of the last
 * @reset_sticks: RESETTING stays
 * @reset_fatal: a reset ends in fatal state
 * @same_generation: a reset leaves GENERATION as it is
 * @heart_stopped: HEARTBEAT stands still
 * @aq: commands
 * @acq: completions
 * @aq_ci: next command to be fetched
 * @acq_pi: next completion to be written
 * @acq_ci: as told last
 * @aq_armed: an interrupt is wanted for completions
 * @cmds: commands fetched, the last FAKE_CMDS of them
 * @nr_cmds: how many ever
 * @in_flight: not completed
 * @max_in_flight: highest of these
 * @hold: completes nothing by itself
 * @no_interrupts: raises none
 * @reply: changes a reply that is about to be written
 * @eqs: event queues
 * @eqn_force: number that CREATE_EQ gives, -1: the next
 * @db_open: pages
 * @irqs: interrupts by vector
 * @irq_error: what requesting an interrupt fails with
 */
struct fake {
	struct kunit *test;
	struct kiwi_fw fw;
	struct pci_dev pdev;
	struct pci_bus bus;
	u8 config[256];
	struct kiwi_fw_eq comp_eqs[FAKE_COMP_EQS];

	struct workqueue_struct *callers;

	struct kiwi_eqe events[512];
	unsigned int nr_events;
	unsigned int nr_lost;
	unsigned int downs;
	enum kiwi_reset_reason down_reason;

	spinlock_t lock;	/* all that follows */
	u32 regs[0x400];
	bool gone;
	unsigned int gone_accesses;
	const char *broken;
	bool stays_disabled;
	unsigned int resets;
	u32 reset_reason;
	bool reset_sticks;
	bool reset_fatal;
	bool same_generation;
	bool heart_stopped;

	struct kiwi_aq_entry *aq;
	struct kiwi_acq_entry *acq;
	u32 aq_ci;
	u32 acq_pi;
	u32 acq_ci;
	bool aq_armed;
	struct fake_cmd *cmds;
	unsigned int nr_cmds;
	unsigned int in_flight;
	unsigned int max_in_flight;
	bool hold;
	bool no_interrupts;
	void (*reply)(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply);

	struct fake_eq eqs[FAKE_EQS];
	int eqn_force;
	DECLARE_BITMAP(db_open, FAKE_DB_PAGES);

	struct fake_irq irqs[1 + FAKE_COMP_EQS];
	int irq_error;
};

/* fake.c */
int fake_init(struct kunit *test);
int fake_init_started(struct kunit *test);
void fake_exit(struct kunit *test);
void fake_set(struct fake *f, u32 reg, u32 value);
u32 fake_get(struct fake *f, u32 reg);
const struct fake_cmd *fake_cmd(struct fake *f, unsigned int n);
const struct fake_cmd *fake_last_cmd(struct fake *f);
void fake_write_reply(struct fake *f, const struct kiwi_acq_entry *reply);
void fake_complete(struct fake *f, const struct fake_cmd *cmd);
void fake_event(struct fake *f, unsigned int eqn, u8 type, u8 code, u32 id);
bool fake_is_master(struct fake *f);
struct fake *fake_of(struct kiwi_fw *fw);

/* fake_irq.c */
void fake_irqs_init(struct fake *f);
void fake_raise(struct fake *f, unsigned int vector);

/**
 * struct fake_call - a call of kiwi_fw_exec() in another thread
 * @work: that makes it
 * @fw: device
 * @opcode: in the ABI
 * @in: input
 * @in_len: of it
 * @out: for the reply
 * @out_len: of it
 * @err: likewise
 * @ret: what it returned
 * @done: it has returned
 */
struct fake_call {
	struct work_struct work;
	struct kiwi_fw *fw;
	u16 opcode;
	u8 in[64];
	size_t in_len;
	u8 out[64];
	size_t out_len;
	struct kiwi_fw_err err;
	int ret;
	bool done;
};

struct fake_call *fake_call(struct fake *f, u16 opcode, const void *in, size_t in_len,
			    size_t out_len);
int fake_wait(struct fake_call *call);

static inline int fake_echo(struct fake *f, void *in, size_t in_len, void *out, size_t out_len,
			    struct kiwi_fw_err *err)
{
	return kiwi_fw_exec(&f->fw, FAKE_ECHO, in, in_len, out, out_len, err);
}

/* A command of which only the result matters. */
static inline int fake_ping(struct fake *f)
{
	return fake_echo(f, NULL, 0, NULL, 0, NULL);
}

static inline int fake_count(struct fake *f, enum kiwi_fw_counter counter)
{
	return atomic_read(&f->fw.counters[counter]);
}

/* Waits for what another thread brings about; long, as emulated machines are slow. */
#define FAKE_UNTIL(cond) ({						\
	unsigned long __end = jiffies + 60 * HZ;			\
	bool __met;							\
									\
	while (!(__met = (cond)) && time_before(jiffies, __end))	\
		usleep_range(200, 500);					\
	__met;								\
})

#define FAKE_EXPECT_SOON(test, cond) KUNIT_EXPECT_TRUE(test, FAKE_UNTIL(cond))

#endif /* KIWI_FW_FAKE_H */
