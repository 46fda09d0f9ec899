/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands of a part: what each is called, and where its fields stand, so that a refusal names
 * the field. On failure @err says why. With err->refused the device lives and the command had
 * no effect; without, a command that names or makes an object has failed because the device is
 * down and no longer reaches memory.
 */
#ifndef KIWI_CMD_H
#define KIWI_CMD_H

#include <linux/stddef.h>
#include <linux/types.h>

#include <kiwi_abi/admin.h>

struct kiwi_error;
struct kiwi_fw;
struct kiwi_fw_mem;
struct kiwi_fw_pbl;
struct kiwi_fw_pbl_limits;

/**
 * struct kiwi_cmd_field - field of a command's input
 * @name: for people
 * @offset: in the input
 */
struct kiwi_cmd_field {
	const char *name;
	u16 offset;
};

#define KIWI_CMD_FIELD(_type, _member) { #_member, offsetof(struct _type, _member) }

/**
 * struct kiwi_cmd - a command
 * @name: for people
 * @fields: of the input, up to one without a name, or NULL
 * @opcode: in the ABI
 * @in_len: bytes of the input
 * @out_len: bytes of the reply
 */
struct kiwi_cmd {
	const char *name;
	const struct kiwi_cmd_field *fields;
	u16 opcode;
	u16 in_len;
	u16 out_len;
};

#define KIWI_CMD(_opcode, _name, _in_len, _out_len, _fields)	{	\
	.name = (_name),						\
	.fields = (_fields),						\
	.opcode = (_opcode),						\
	.in_len = (_in_len),						\
	.out_len = (_out_len),						\
}

int kiwi_cmd_exec(struct kiwi_fw *fw, const struct kiwi_cmd *cmd, const void *in, void *out,
		  struct kiwi_error *err);
int kiwi_cmd_exec_id(struct kiwi_fw *fw, const struct kiwi_cmd *cmd, u32 id, void *out,
		     struct kiwi_error *err);
int kiwi_cmd_pbl(struct kiwi_fw *fw, const struct kiwi_fw_mem *mem,
		 const struct kiwi_fw_pbl_limits *limits, struct kiwi_fw_pbl *pbl,
		 struct kiwi_error *err);
int kiwi_cmd_bad_reply(const struct kiwi_cmd *cmd, const char *field, u64 value,
		       struct kiwi_error *err);
int kiwi_cmd_bad_number(struct kiwi_fw *fw, const struct kiwi_cmd *cmd, const char *field,
			u32 number, struct kiwi_error *err);

#endif /* KIWI_CMD_H */
