// SPDX-License-Identifier: GPL-2.0
#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../admin.h"
#include "fake_fw.h"

/* What files look the class of their device up by. */
struct class kiwi_fw_class = {
	.name = "kiwi_test",
};

/* Commands ------------------------------------------------------------------------ */

static void die(struct kiwi_fw *fw, int error)
{
	fw->error = error;
	fw->model->forget(fw);
}

int kiwi_fw_exec(struct kiwi_fw *fw, u16 opcode, const void *in, size_t in_len, void *out,
		 size_t out_len, struct kiwi_fw_err *err)
{
	struct fake_cmd *cmd;

	guard(mutex)(&fw->lock);
	*err = (struct kiwi_fw_err) { .field = KIWI_ERR_FIELD_NONE };
	if (fw->error)
		return fw->error;
	cmd = &fw->cmds[fw->nr_cmds++ % FAKE_CMDS];
	*cmd = (struct fake_cmd) { .opcode = opcode, .in_len = in_len, .out_len = out_len };
	memcpy(cmd->in, in, min(in_len, sizeof(cmd->in)));
	if (opcode == fw->kill) {
		die(fw, fw->kill_error);
		return fw->error;
	}
	if (opcode == fw->refuse)
		*err = fw->refusal;
	else
		err->status = fw->model->execute(fw, opcode, in, out);
	return kiwi_fw_status_errno(err->status);
}

void kiwi_fw_fail(struct kiwi_fw *fw, enum kiwi_reset_reason reason)
{
	guard(mutex)(&fw->lock);
	fw->fails++;
	fw->fail_reason = reason;
	die(fw, -EIO);
}

bool kiwi_fw_is_up(struct kiwi_fw *fw)
{
	return !fw->error;
}

int kiwi_fw_error(struct kiwi_fw *fw)
{
	return fw->error;
}

const struct kiwi_fw_identity *kiwi_fw_identity(struct kiwi_fw *fw)
{
	return &fw->identity;
}

void kiwi_fw_sync_events(struct kiwi_fw *fw)
{
	fw->syncs++;
	if (fw->syncing)
		fw->syncing(fw);
}

/* Life: tests make the device themselves. ---------------------------------------------- */

struct kiwi_fw *kiwi_fw_create(struct pci_dev *pdev, u32 part, const struct kiwi_fw_ops *ops,
			       void *priv)
{
	return ERR_PTR(-ENODEV);
}

void kiwi_fw_destroy(struct kiwi_fw *fw)
{
}

int kiwi_fw_start(struct kiwi_fw *fw)
{
	return -ENODEV;
}

void kiwi_fw_stop(struct kiwi_fw *fw, enum kiwi_reset_reason reason)
{
	die(fw, -ENODEV);
}

void kiwi_fw_enable_events(struct kiwi_fw *fw)
{
}

void kiwi_fw_vanished(struct kiwi_fw *fw)
{
}

/* Memory -------------------------------------------------------------------------------- */

static struct kiwi_fw_mem *mem_new(struct kiwi_fw *fw, int fd, u64 addr, u64 length,
				   bool writable, struct kiwi_fw_err *err)
{
	struct fake_mem *m;

	*err = fw->mem_why;
	if (fw->mem_error)
		return ERR_PTR(fw->mem_error);
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return ERR_PTR(-ENOMEM);
	fw->next_dma += SZ_1M;
	m->run = (struct kiwi_fw_run) { .addr = fw->next_dma, .len = length };
	m->mem.runs = &m->run;
	m->mem.nr_runs = 1;
	m->mem.length = length;
	m->mem.path = (struct kiwi_fw_path) { .path = 1, .reason = 2, .peer = 3, .bridge = 4 };
	m->fw = fw;
	m->fd = fd;
	m->addr = addr;
	m->writable = writable;
	fw->mems++;
	fw->last_mem = m;
	return &m->mem;
}

struct kiwi_fw_mem *kiwi_fw_mem_user(struct kiwi_fw *fw, u64 addr, u64 length, bool writable,
				     struct kiwi_fw_err *err)
{
	return mem_new(fw, -1, addr, length, writable, err);
}

struct kiwi_fw_mem *kiwi_fw_mem_dmabuf(struct kiwi_fw *fw, int fd, u64 offset, u64 length,
				       bool writable, const struct kiwi_fw_dmabuf_ops *ops,
				       void *arg, struct kiwi_fw_err *err)
{
	struct kiwi_fw_mem *mem = mem_new(fw, fd, offset, length, writable, err);

	if (!IS_ERR(mem)) {
		fw->last_mem->ops = ops;
		fw->last_mem->arg = arg;
	}
	return mem;
}

/* There is nothing behind the addresses. */
int kiwi_fw_mem_vmap(struct kiwi_fw_mem *mem, struct iosys_map *map)
{
	return -EOPNOTSUPP;
}

/* A fake's memory stays where it is, until a test has it move. */
int kiwi_fw_mem_lock(struct kiwi_fw_mem *mem)
{
	return 0;
}

void kiwi_fw_mem_unlock(struct kiwi_fw_mem *mem)
{
}

void kiwi_fw_mem_release(struct kiwi_fw_mem *mem)
{
	struct fake_mem *m = container_of(mem, struct fake_mem, mem);
	struct kiwi_fw *fw = m->fw;

	if (fw->model->reaches(fw, m->run.addr))
		fake_fw_broken(fw, "memory is given back while the device may reach it");
	fw->mems--;
	kfree(m);
}

int kiwi_fw_pbl_build(struct kiwi_fw *fw, const struct kiwi_fw_mem *mem,
		      const struct kiwi_fw_pbl_limits *limits, struct kiwi_fw_pbl *pbl,
		      struct kiwi_fw_err *err)
{
	fw->pbl_limits = *limits;
	*err = fw->pbl_why;
	if (fw->pbl_error)
		return fw->pbl_error;
	*pbl = (struct kiwi_fw_pbl) {
		.wire.count = cpu_to_le32(1),
		.wire.page_shift = 20,
		.wire.addr = { cpu_to_le64(mem->runs[0].addr) },
	};
	fw->pbls++;
	return 0;
}

void kiwi_fw_pbl_release(struct kiwi_fw *fw, struct kiwi_fw_pbl *pbl)
{
	fw->pbls--;
	if (fw->releasing)
		fw->releasing(fw);
}

/* For models ------------------------------------------------------------------------------- */

void fake_fw_init(struct kiwi_fw *fw, const struct fake_model *model)
{
	fw->model = model;
	mutex_init(&fw->lock);
	fw->identity = (struct kiwi_fw_identity) {
		.serial = 0x1122334455667788ULL,
		.fw_version = 0x0001000200000003ULL,
		.abi = 0x10001,
		.generation = 7,
		.db_page_shift = 12,
	};
	fw->next_dma = SZ_1G;
	fw->number = -1;
	fw->last = 0x1000;
}

void fake_fw_broken(struct kiwi_fw *fw, const char *rule)
{
	if (!fw->broken)
		fw->broken = rule;
}

u32 fake_fw_number(struct kiwi_fw *fw)
{
	fw->last = fw->number < 0 ? fw->last + 1 : fw->number;
	return fw->last;
}

/* For tests -------------------------------------------------------------------------------- */

/* As after kiwi_fw_stop(): the device knows nothing. */
void fake_fw_reset(struct kiwi_fw *fw)
{
	die(fw, -ENODEV);
}

void fake_fw_refuse(struct kiwi_fw *fw, u16 opcode, u16 status)
{
	fw->refuse = opcode;
	fw->refusal = (struct kiwi_fw_err) { .status = status, .field = KIWI_ERR_FIELD_NONE };
}

void fake_fw_event(struct kiwi_fw *fw, u8 type, u32 id, u8 code, u32 info)
{
	const struct kiwi_eqe eqe = {
		.type = type,
		.code = code,
		.id = cpu_to_le32(id),
		.info = cpu_to_le32(info),
	};

	fw->ops->event(fw->priv, &eqe, false);
}

unsigned int fake_fw_live(struct kiwi_fw *fw)
{
	return fw->model->live(fw);
}

unsigned int fake_fw_count(struct kiwi_fw *fw, u16 opcode)
{
	unsigned int n, count = 0;

	for (n = 0; n < min(fw->nr_cmds, FAKE_CMDS); n++)
		count += fw->cmds[n].opcode == opcode;
	return count;
}

const struct fake_cmd *fake_fw_last(struct kiwi_fw *fw)
{
	return &fw->cmds[(fw->nr_cmds - 1) % FAKE_CMDS];
}
