/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel side of /dev/kiwi/snic7 and /dev/kiwi/g2g3, played in the process: it holds the
 * library to the contract of kiwi/snic.h and kiwi/g2g.h, and lets a test play the device on the
 * rings of the SNIC.
 */
#ifndef FAKE_H
#define FAKE_H

#include <kiwi/fabric.h>
#include <kiwi/kiwi.h>
#include <stdbool.h>

#define FAKE_NAME	"snic7"
#define FAKE_CQ_LOG2	12
#define FAKE_SQ_LOG2	12
#define FAKE_RQ_LOG2	12
#define FAKE_INLINE	220
#define FAKE_SGE	30
#define FAKE_CHECKS	15

/* Make the ioctl with this number fail: the @nth from now, once. @text: its last error, or NULL. */
void fake_fail(unsigned int nr, unsigned int nth, int err, const char *text);

/* Make the @nth system call of the library from now fail, whichever it is; 0: none. */
void fake_fail_nth(unsigned int nth);

/* Whether the failure asked for has happened. */
bool fake_failed(void);

/* How often the library broke the contract; each is told on stdout. */
unsigned int fake_breaches(void);

/* Kernel objects alive, and files open. */
unsigned int fake_objects(void);

/* System calls that the library has made so far. */
unsigned long fake_calls(void);

/* Answer every ioctl so until the next open: ENODEV after removal, EIO after a failure. */
void fake_down(int err);

/* Number given to the next QP; 0: one not used yet. */
void fake_next_qpn(uint32_t qpn);

/* What the library asked for when it made the object with this id. */
const struct kiwi_snic_qp_create *fake_qp(uint32_t id);
const struct kiwi_snic_cq_create *fake_cq(uint32_t id);
const struct kiwi_snic_qp_modify *fake_modify(unsigned int n);	/* the nth so far */

/* Have an event of either part ready to be read. */
void fake_event(const void *event);

/* The device writes a completion. False when the CQ has no room. */
bool fake_complete(const struct kiwi_cq *cq, const struct kiwi_cqe *cqe);

/* The value in the register of the doorbell page made last, and in all of it. */
uint64_t fake_doorbell(void);
bool fake_doorbell_page_clean(void);

/*
 * Count stores to doorbell pages from now on; the end returns how many there were,
 * with the last value. A store is caught by its page fault, and done by stepping
 * over the instruction. @sizes_ok: whether all were 8 bytes at the register.
 */
void fake_count_begin(void);
unsigned int fake_count_end(bool *sizes_ok);

/* The G2G IO die ---------------------------------------------------------- */

#define FAKE_G2G_NAME	"g2g3"
#define FAKE_ACCELS	16
#define FAKE_IMAGE_MAX	200000
#define FAKE_MAP_SIZE	65536

/* Queries that are answered with the state before, from now on, before each change. */
void fake_g2g_lag(unsigned int queries);

/* What the library asked for in the latest call of the kind. */
const struct kiwi_g2g_export_create *fake_g2g_export(void);
const struct kiwi_g2g_routes_stage *fake_g2g_staged(void);

/* What is in the slot: the bytes written so far. */
const uint8_t *fake_g2g_image(uint32_t *written);

/* The atomic page mapped last. */
volatile uint64_t *fake_g2g_atomics(void);

#endif /* FAKE_H */
