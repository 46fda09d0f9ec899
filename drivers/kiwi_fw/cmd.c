// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>

#include <kiwi/cmd.h>
#include <kiwi/compat.h>
#include <kiwi/error.h>
#include <kiwi/fw.h>

static void cmd_refused(const struct kiwi_cmd *cmd, int ret, const struct kiwi_fw_err *why,
			struct kiwi_error *err)
{
	const char *status = kiwi_fw_status_str(why->status);
	const struct kiwi_cmd_field *f = cmd->fields;

	while (f && f->name && f->offset != why->field)
		f++;
	if (!f || !f->name)
		kiwi_fail(err, ret, why->value, why->limit, "%s refused: %s", cmd->name, status);
	else if (!why->limit)
		kiwi_fail(err, ret, why->value, 0, "%s refused: %s: %s %llu", cmd->name, status,
			  f->name, why->value);
	else
		kiwi_fail(err, ret, why->value, why->limit,
			  "%s refused: %s: %s %llu, limit %llu", cmd->name, status, f->name,
			  why->value, why->limit);
}

/* What kiwi_fw_exec() returns when the device is down and no longer reaches memory. */
static bool device_is_down(int ret)
{
	return ret == -EPROTO || ret == -ETIMEDOUT || ret == -EIO || ret == -ENODEV;
}

static int cmd_failed(const struct kiwi_cmd *cmd, int ret, const struct kiwi_fw_err *why,
		      struct kiwi_error *err)
{
	if (why->status != KIWI_ST_OK)
		cmd_refused(cmd, ret, why, err);
	else
		kiwi_fail(err, ret, 0, 0, "%s: %s", cmd->name, kiwi_errno_text(ret));
	err->refused = !device_is_down(ret);
	return ret;
}

/**
 * kiwi_cmd_exec() - carry out a command
 * @fw: device
 * @cmd: the command
 * @in: its input
 * @out: room for its reply
 * @err: filled on failure
 *
 * Return: 0 or as kiwi_fw_exec()
 */
int kiwi_cmd_exec(struct kiwi_fw *fw, const struct kiwi_cmd *cmd, const void *in, void *out,
		  struct kiwi_error *err)
{
	struct kiwi_fw_err why;
	int ret;

	ret = kiwi_fw_exec(fw, cmd->opcode, in, cmd->in_len, out, cmd->out_len, &why);
	return ret ? cmd_failed(cmd, ret, &why, err) : 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_cmd_exec, "KIWI_FW");

/**
 * kiwi_cmd_exec_id() - carry out a command whose input is a number
 * @fw: device
 * @cmd: the command
 * @id: the number
 * @out: room for its reply
 * @err: filled on failure
 *
 * Return: 0 or as kiwi_fw_exec()
 */
int kiwi_cmd_exec_id(struct kiwi_fw *fw, const struct kiwi_cmd *cmd, u32 id, void *out,
		     struct kiwi_error *err)
{
	struct kiwi_cmd_id in = { .id = cpu_to_le32(id) };

	return kiwi_cmd_exec(fw, cmd, &in, out, err);
}
EXPORT_SYMBOL_NS_GPL(kiwi_cmd_exec_id, "KIWI_FW");

/**
 * kiwi_cmd_pbl() - page list of some memory, for the input of a command
 * @fw: device
 * @mem: the memory
 * @limits: of the device
 * @pbl: to be filled; kiwi_fw_pbl_release() it after the command
 * @err: filled on failure
 *
 * Return: 0 or as kiwi_fw_pbl_build()
 */
int kiwi_cmd_pbl(struct kiwi_fw *fw, const struct kiwi_fw_mem *mem,
		 const struct kiwi_fw_pbl_limits *limits, struct kiwi_fw_pbl *pbl,
		 struct kiwi_error *err)
{
	struct kiwi_fw_err why = { };
	int ret;

	ret = kiwi_fw_pbl_build(fw, mem, limits, pbl, &why);
	if (!ret)
		return 0;
	if (why.limit)
		return kiwi_fail(err, ret, why.value, why.limit,
				 "page list of %llu bytes in %u runs: %llu entries, limit %llu",
				 mem->length, mem->nr_runs, why.value, why.limit);
	return kiwi_fail(err, ret, 0, 0, "page list: %s", kiwi_errno_text(ret));
}
EXPORT_SYMBOL_NS_GPL(kiwi_cmd_pbl, "KIWI_FW");

/**
 * kiwi_cmd_bad_reply() - a reply is not what the ABI allows, but does no harm
 * @cmd: the command
 * @field: of the reply
 * @value: of the field
 * @err: to be filled
 *
 * Return: -EPROTO
 */
int kiwi_cmd_bad_reply(const struct kiwi_cmd *cmd, const char *field, u64 value,
		       struct kiwi_error *err)
{
	return kiwi_fail(err, -EPROTO, value, 0, "%s: the firmware replied with %s %llu",
			 cmd->name, field, value);
}
EXPORT_SYMBOL_NS_GPL(kiwi_cmd_bad_reply, "KIWI_FW");

/**
 * kiwi_cmd_bad_number() - an object was made, and nobody knows how to name it
 * @fw: device
 * @cmd: the command
 * @field: of the reply
 * @number: that was replied
 * @err: to be filled
 *
 * The device may reach the memory that came with the object, and only a reset ends that.
 *
 * Return: -EPROTO
 */
int kiwi_cmd_bad_number(struct kiwi_fw *fw, const struct kiwi_cmd *cmd, const char *field,
			u32 number, struct kiwi_error *err)
{
	kiwi_fw_fail(fw, KIWI_RESET_PROTOCOL);
	return kiwi_cmd_bad_reply(cmd, field, number, err);
}
EXPORT_SYMBOL_NS_GPL(kiwi_cmd_bad_number, "KIWI_FW");
