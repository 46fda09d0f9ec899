/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Kiwi firmware ABI: admin queue, event queues and the commands common to all
 * parts. Text: ../spec/common.md
 */
#ifndef KIWI_ABI_ADMIN_H
#define KIWI_ABI_ADMIN_H

#include "types.h"

#define KIWI_AQ_INLINE		32	/* bytes of payload inside an entry */
#define KIWI_AQ_PAYLOAD_MAX	4096	/* bytes of an indirect payload */

/**
 * struct kiwi_aq_entry - one command, host to device
 * @cmd_id: chosen by the host, unique among commands in flight, echoed
 * @opcode: enum kiwi_opcode or a part's own
 * @flags: 0
 * @in_len: bytes of input payload: exactly the command's input size
 * @in_addr: DMA address of the input when @in_len > KIWI_AQ_INLINE, else 0
 * @out_addr: DMA address for the reply when @out_len > KIWI_AQ_INLINE, else 0
 * @out_len: bytes of room for the reply: exactly the command's reply size
 * @rsvd: 0
 * @in: input when @in_len <= KIWI_AQ_INLINE; unused bytes 0
 */
struct kiwi_aq_entry {
	__le16 cmd_id;
	__le16 opcode;
	__le16 flags;
	__le16 in_len;
	__le64 in_addr;
	__le64 out_addr;
	__le16 out_len;
	__u8 rsvd[6];
	__u8 in[KIWI_AQ_INLINE];
};
KIWI_ABI_SIZE(struct kiwi_aq_entry, 64);
KIWI_ABI_OFFSET(struct kiwi_aq_entry, in, 32);

#define KIWI_ACQ_PHASE		0x01	/* kiwi_acq_entry.flags */

/**
 * struct kiwi_acq_entry - one completion, device to host
 * @cmd_id: of the command
 * @opcode: of the command
 * @status: enum kiwi_status
 * @out_len: bytes of reply written, 0..KIWI_AQ_PAYLOAD_MAX; 0 unless @status is OK
 * @err_value: on error: the value refused, 0 if none applies
 * @err_limit: on error: the limit it broke, 0 if none applies
 * @out: reply when it fits, else 0
 * @err_field: on error: byte offset in the input payload of the field refused,
 *	or KIWI_ERR_FIELD_NONE
 * @rsvd: 0
 * @flags: KIWI_ACQ_PHASE; written last
 */
struct kiwi_acq_entry {
	__le16 cmd_id;
	__le16 opcode;
	__le16 status;
	__le16 out_len;
	__le64 err_value;
	__le64 err_limit;
	__u8 out[KIWI_AQ_INLINE];
	__le16 err_field;
	__u8 rsvd[5];
	__u8 flags;
};
KIWI_ABI_SIZE(struct kiwi_acq_entry, 64);
KIWI_ABI_OFFSET(struct kiwi_acq_entry, flags, 63);

#define KIWI_ERR_FIELD_NONE	0xffff

enum kiwi_status {	/* [ours] */
	KIWI_ST_OK		= 0,
	KIWI_ST_BAD_OPCODE	= 1,	/* not known, or not for this part */
	KIWI_ST_BAD_LENGTH	= 2,	/* in_len or out_len is not the command's */
	KIWI_ST_BAD_RESERVED	= 3,	/* a reserved field or unknown flag is set */
	KIWI_ST_BAD_PARAM	= 4,	/* a field is out of range */
	KIWI_ST_BAD_HANDLE	= 5,	/* names no live object of the kind */
	KIWI_ST_BAD_STATE	= 6,	/* not allowed in the object's state */
	KIWI_ST_NO_RESOURCE	= 7,	/* a limit of the device is reached */
	KIWI_ST_BUSY		= 8,	/* other objects still use it */
	KIWI_ST_UNSUPPORTED	= 9,	/* well formed, but not by this device */
	KIWI_ST_DMA_ERROR	= 10,	/* payload or page table could not be read */
	KIWI_ST_NOT_READY	= 11,	/* SET_HOST_CAPS has not been accepted yet */
	KIWI_ST_INTERNAL	= 12,
	KIWI_ST_COUNT
};

/* Commands of all parts: 0x0000..0x00ff. A part's own start at 0x0100. */
enum kiwi_opcode {
	KIWI_OP_SET_HOST_CAPS	= 0x0001,
	KIWI_OP_QUERY_CAPS	= 0x0002,
	KIWI_OP_CREATE_EQ	= 0x0010,
	KIWI_OP_DESTROY_EQ	= 0x0011,
	KIWI_OP_OPEN_DB_PAGE	= 0x0020,
	KIWI_OP_CLOSE_DB_PAGE	= 0x0021,
};

/* For commands whose input or reply is one object number, or empty. */
struct kiwi_cmd_id {
	__le32 id;		/* 24 bits; the key of an MR has 32 */
	__le32 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_cmd_id, 8);

/**
 * struct kiwi_cmd_set_host_caps_in - first command after ENABLE; no reply
 * @caps: subset of KIWI_REG_CAPS that the driver understands
 * @abi: KIWI_ABI_MAJOR << 16 | KIWI_ABI_MINOR that the driver was written to
 * @rsvd: 0
 */
struct kiwi_cmd_set_host_caps_in {
	__le64 caps;
	__le32 abi;
	__le32 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_cmd_set_host_caps_in, 16);

/* QUERY_CAPS: no input; the reply is the part's capability structure. */

/* Page list ------------------------------------------------------------ */

#define KIWI_PBL_INLINE		4	/* entries in the structure itself */
#define KIWI_PBL_MAX_LEVELS	2

/**
 * struct kiwi_pbl - memory as a list of pages of one size
 * @count: pages, 1 or more
 * @page_shift: page size 2^n bytes, KIWI_PAGE_SHIFT_MIN..the reported maximum
 * @levels: 0: @addr holds the pages (@count <= KIWI_PBL_INLINE), the rest 0.
 *	1: @addr[0] is a table of @count entries (@count * 8 <= 2^@table_shift).
 *	2: @addr[0] is a directory (at most 2^@table_shift bytes) of tables of
 *	2^@table_shift / 8 entries each; only the last may be partly used.
 *	Tables and directories hold __le64 DMA addresses.
 * @table_shift: size of a table 2^n bytes, 12..the reported maximum; 0 when
 *	@levels is 0. Tables are aligned to 4 KiB.
 * @rsvd: 0
 * @offset: the described memory begins this many bytes into the first page;
 *	less than the page size
 * @addr: DMA addresses; page addresses are multiples of the page size
 *
 * The device copies what it needs before it replies; tables belong to the host
 * again with the reply. The pages themselves belong to the object's life.
 */
struct kiwi_pbl {
	__le32 count;
	__u8 page_shift;
	__u8 levels;
	__u8 table_shift;
	__u8 rsvd;
	__le64 offset;
	__le64 addr[KIWI_PBL_INLINE];
};
KIWI_ABI_SIZE(struct kiwi_pbl, 48);

#define KIWI_PAGE_SHIFT_MIN	12

/* Event queues ---------------------------------------------------------- */

enum kiwi_eq_kind {
	KIWI_EQ_ASYNC		= 1,	/* at most one: errors, ports, device */
	KIWI_EQ_COMPLETION	= 2,	/* KIWI_EV_COMPLETION only */
};

#define KIWI_EQ_LOG2_MIN	6

/**
 * struct kiwi_cmd_create_eq_in - reply: struct kiwi_cmd_id (the EQ number)
 * @base: DMA address of 2^@log2 entries, contiguous, 4 KiB aligned, all zero
 * @log2: entries, KIWI_EQ_LOG2_MIN..KIWI_LIMITS_EQ_LOG2_MAX
 * @kind: enum kiwi_eq_kind
 * @vector: MSI-X vector, below the size of the MSI-X table
 * @rsvd: 0
 */
struct kiwi_cmd_create_eq_in {
	__le64 base;
	__u8 log2;
	__u8 kind;
	__le16 vector;
	__le32 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_cmd_create_eq_in, 16);

/* DESTROY_EQ: input struct kiwi_cmd_id, no reply payload. */

enum kiwi_event {	/* kiwi_eqe.type; @id and @info by type */
	KIWI_EV_COMPLETION	= 1,	/* id: CQ number */
	KIWI_EV_CQ_ERROR	= 2,	/* id: CQ number; code: enum kiwi_cq_error */
	KIWI_EV_QP_ERROR	= 3,	/* id: QP number; code: enum kiwi_cqe_status */
	KIWI_EV_QP_ACCESS	= 4,	/* id: QP number; code: as above; a request was refused */
	KIWI_EV_QP_ESTABLISHED	= 5,	/* id: QP number: first packet received in RTR */
	KIWI_EV_QP_DRAINED	= 6,	/* id: QP number: SQD reached, nothing in flight */
	KIWI_EV_PORT_CHANGE	= 7,	/* id: port; code: enum kiwi_port_state */
	KIWI_EV_DEVICE_FATAL	= 8,	/* info: enum kiwi_health_syndrome */
	KIWI_EV_COUNT
};

#define KIWI_EV_PART	0x40	/* a part's own events have this type or a higher one */

enum kiwi_cq_error {
	KIWI_CQ_ERR_OVERRUN	= 1,	/* no room for a CQE */
	KIWI_CQ_ERR_DMA		= 2,	/* the ring could not be written */
};

#define KIWI_EQE_PHASE		0x01	/* kiwi_eqe.flags */
#define KIWI_EQE_OVERRUN	0x02	/* events were lost before this one */

struct kiwi_eqe {
	__u8 type;		/* enum kiwi_event */
	__u8 code;
	__le16 rsvd0;
	__le32 id;
	__le32 info;
	__u8 rsvd1[3];
	__u8 flags;		/* written last */
};
KIWI_ABI_SIZE(struct kiwi_eqe, 16);
KIWI_ABI_OFFSET(struct kiwi_eqe, flags, 15);

/* Doorbell pages -------------------------------------------------------- */

/* OPEN_DB_PAGE, CLOSE_DB_PAGE: input struct kiwi_cmd_id (page index), no reply payload. */

#endif /* KIWI_ABI_ADMIN_H */
