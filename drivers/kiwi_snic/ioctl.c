// SPDX-License-Identifier: GPL-2.0
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/etherdevice.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include <kiwi/fw.h>

#include "file.h"
#include "ioctl.h"
#include "ksnic.h"
#include "port.h"

/* What is read of a structure that is longer than known, to see that the rest is zero. */
#define SIZE_LIMIT	4096U

/* Every structure begins like this. */
struct ioctl_head {
	__u32 size;
	__u32 flags;
};

union ioctl_data {
	struct ioctl_head head;
	struct kiwi_snic_query_device query_device;
	struct kiwi_snic_query_port query_port;
	struct kiwi_snic_set_port set_port;
	struct kiwi_snic_gid gid;
	struct kiwi_snic_last_error last_error;
	struct kiwi_snic_destroy destroy;
	struct kiwi_snic_pd_alloc pd_alloc;
	struct kiwi_snic_mr_reg mr_reg;
	struct kiwi_snic_mr_query mr_query;
	struct kiwi_snic_doorbell_alloc doorbell_alloc;
	struct kiwi_snic_doorbell_export doorbell_export;
	struct kiwi_snic_cq_create cq_create;
	struct kiwi_snic_qp_create qp_create;
	struct kiwi_snic_qp_modify qp_modify;
	struct kiwi_snic_queue_query queue_query;
	struct kiwi_snic_error_page error_page;
	struct kiwi_snic_preflight preflight;
};

int ksnic_reserved_set(struct ksnic_call *call)
{
	return kiwi_fail(&call->err, -EINVAL, 0, 0, "a reserved field is not zero");
}

static int query_device(struct ksnic_call *call, void *data)
{
	const struct kiwi_fw_identity *id = kiwi_fw_identity(call->ks->fw);
	const struct ksnic_caps *caps = &call->ks->caps;
	struct kiwi_snic_query_device *reply = data;

	*reply = (struct kiwi_snic_query_device) {
		.size = reply->size,
		.serial = id->serial,
		.fw_version = id->fw_version,
		.abi = id->abi,
		.generation = id->generation,
		.max_mr_size = caps->max_mr_size,
		.max_mr_pages = caps->max_mr_pages,
		.max_pd = caps->max_pd,
		.max_mr = caps->max_mr,
		.max_cq = caps->max_cq,
		.max_qp = caps->max_qp,
		.max_msg_size = caps->max_msg_size,
		.max_inline = caps->max_inline,
		.link_mbps = caps->link_mbps,
		.max_doorbells = id->db_pages,
		.doorbell_size = BIT(ksnic_db_shift(call->ks)),
		.max_sge = caps->max_sge,
		.max_rd_atomic = caps->max_rd_atomic,
		.ports = caps->ports,
		.gids = caps->gids,
		.sq_log2_max = caps->sq_log2_max,
		.rq_log2_max = caps->rq_log2_max,
		.cq_log2_max = caps->cq_log2_max,
		.page_shift_max = caps->page_shift_max,
		.caps = id->caps,
	};
	return 0;
}

static int query_port(struct ksnic_call *call, void *data)
{
	struct kiwi_snic_query_port *q = data;
	struct ksnic_port_info info;
	int ret;

	if (memchr_inv(q->rsvd, 0, sizeof(q->rsvd)))
		return ksnic_reserved_set(call);
	ret = ksnic_port_query(call->ks, q->port, &info, &call->err);
	if (ret)
		return ret;
	*q = (struct kiwi_snic_query_port) {
		.size = q->size,
		.port = q->port,
		.mbps = info.mbps,
		.state = info.state,
		.enabled = info.enabled,
		.mtu = info.mtu,
		.mtu_max = info.mtu_max,
	};
	ether_addr_copy(q->mac, info.mac);
	return 0;
}

static int set_port(struct ksnic_call *call, void *data)
{
	const struct kiwi_snic_set_port *s = data;

	if (s->rsvd[0] || s->rsvd[1])
		return ksnic_reserved_set(call);
	return ksnic_port_set(call->ks, s->port, s->enabled, s->mtu, &call->err);
}

static int query_gid(struct ksnic_call *call, void *data)
{
	struct kiwi_snic_gid *g = data;
	struct ksnic_gid gid;
	int ret;

	if (g->rsvd[0] || g->rsvd[1])
		return ksnic_reserved_set(call);
	ret = ksnic_gid_query(call->ks, g->port, g->index, &gid, &call->err);
	if (ret)
		return ret;
	g->type = gid.type;
	memcpy(g->gid, gid.raw, sizeof(g->gid));
	return 0;
}

static int set_gid(struct ksnic_call *call, void *data)
{
	const struct kiwi_snic_gid *g = data;
	struct ksnic_gid gid = { .type = g->type };

	if (g->rsvd[0] || g->rsvd[1])
		return ksnic_reserved_set(call);
	memcpy(gid.raw, g->gid, sizeof(gid.raw));
	return ksnic_gid_set(call->ks, g->port, g->index, &gid, &call->err);
}

static int last_error(struct ksnic_call *call, void *data)
{
	struct kiwi_snic_last_error *reply = data;
	struct ksnic_file *file = call->file;
	u32 size = reply->size;

	spin_lock(&file->error_lock);
	*reply = file->error;
	spin_unlock(&file->error_lock);
	reply->size = size;
	return 0;
}

static int destroy(struct ksnic_call *call, void *data)
{
	const struct kiwi_snic_destroy *d = data;

	if (d->rsvd)
		return ksnic_reserved_set(call);
	return ksnic_obj_destroy(&call->file->owner, d->id, &call->err);
}

#define IOCTL_REPLY	0x1	/* the structure goes back to the user */
#define IOCTL_ADMIN	0x2	/* needs CAP_NET_ADMIN */
#define IOCTL_NO_DEVICE	0x4	/* works when the file is down, too */

/**
 * struct ioctl_rules - one ioctl
 * @name: for people
 * @handler: what it does; NULL where no ioctl has the number
 * @cmd: in full
 * @rules: IOCTL_*
 * @flags: that the user may set
 * @size: of the structure now
 * @min_size: of its version 1
 */
struct ioctl_rules {
	const char *name;
	int (*handler)(struct ksnic_call *call, void *data);
	unsigned int cmd;
	unsigned int rules;
	u32 flags;
	u16 size;
	u16 min_size;
};

#define IOCTL(_name, _type, _min_size, _flags, _rules, _handler)	\
	[_IOC_NR(KIWI_SNIC_##_name)] = {				\
		.name = #_name,						\
		.handler = (_handler),					\
		.cmd = KIWI_SNIC_##_name,				\
		.rules = (_rules),					\
		.flags = (_flags),					\
		.size = sizeof(struct _type),				\
		.min_size = (_min_size),				\
	}

static const struct ioctl_rules ioctls[] = {
	IOCTL(QUERY_DEVICE, kiwi_snic_query_device, 88, 0, IOCTL_REPLY, query_device),
	IOCTL(QUERY_PORT, kiwi_snic_query_port, 32, 0, IOCTL_REPLY, query_port),
	IOCTL(SET_PORT, kiwi_snic_set_port, 16, 0, IOCTL_ADMIN, set_port),
	IOCTL(QUERY_GID, kiwi_snic_gid, 32, 0, IOCTL_REPLY, query_gid),
	IOCTL(SET_GID, kiwi_snic_gid, 32, 0, IOCTL_ADMIN, set_gid),
	IOCTL(LAST_ERROR, kiwi_snic_last_error, 160, 0, IOCTL_REPLY | IOCTL_NO_DEVICE,
	      last_error),
	IOCTL(DESTROY, kiwi_snic_destroy, 16, 0, 0, destroy),
	IOCTL(PD_ALLOC, kiwi_snic_pd_alloc, 16, 0, IOCTL_REPLY, ksnic_ioctl_pd_alloc),
	IOCTL(MR_REG, kiwi_snic_mr_reg, 64, 0, IOCTL_REPLY, ksnic_ioctl_mr_reg),
	IOCTL(MR_QUERY, kiwi_snic_mr_query, 56, 0, IOCTL_REPLY, ksnic_ioctl_mr_query),
	IOCTL(DOORBELL_ALLOC, kiwi_snic_doorbell_alloc, 32, KIWI_SNIC_DOORBELL_WC, IOCTL_REPLY,
	      ksnic_ioctl_doorbell_alloc),
	IOCTL(CQ_CREATE, kiwi_snic_cq_create, 80, KIWI_CQ_OVERRUN_IGNORE | KIWI_CQ_COLLAPSED,
	      IOCTL_REPLY, ksnic_ioctl_cq_create),
	IOCTL(QP_CREATE, kiwi_snic_qp_create, 104,
	      KIWI_QP_SQ_SIG_ALL | KIWI_QP_SQ_ONLY | KIWI_QP_DB_RECORD, IOCTL_REPLY,
	      ksnic_ioctl_qp_create),
	IOCTL(QP_MODIFY, kiwi_snic_qp_modify, 76, 0, 0, ksnic_ioctl_qp_modify),
	IOCTL(QP_QUERY, kiwi_snic_qp_modify, 76, 0, IOCTL_REPLY, ksnic_ioctl_qp_query),
	IOCTL(DOORBELL_EXPORT, kiwi_snic_doorbell_export, 32, O_CLOEXEC, IOCTL_REPLY,
	      ksnic_ioctl_doorbell_export),
	IOCTL(QUEUE_QUERY, kiwi_snic_queue_query, 160, 0, IOCTL_REPLY, ksnic_ioctl_queue_query),
	IOCTL(ERROR_PAGE, kiwi_snic_error_page, 32, 0, 0, ksnic_ioctl_error_page),
	IOCTL(PREFLIGHT, kiwi_snic_preflight, 24, 0, IOCTL_REPLY, ksnic_ioctl_preflight),
};

/* A structure may only grow at its end. */
static_assert(sizeof(struct kiwi_snic_query_device) == 96);
static_assert(sizeof(struct kiwi_snic_query_port) == 32);
static_assert(sizeof(struct kiwi_snic_set_port) == 16);
static_assert(sizeof(struct kiwi_snic_gid) == 32);
static_assert(sizeof(struct kiwi_snic_last_error) == 160);
static_assert(sizeof(struct kiwi_snic_destroy) == 16);
static_assert(sizeof(struct kiwi_snic_pd_alloc) == 16);
static_assert(sizeof(struct kiwi_mem) == 24);
static_assert(sizeof(struct kiwi_snic_mr_reg) == 64);
static_assert(sizeof(struct kiwi_snic_mr_query) == 56);
static_assert(sizeof(struct kiwi_snic_doorbell_alloc) == 32);
static_assert(sizeof(struct kiwi_snic_doorbell_export) == 32);
static_assert(sizeof(struct kiwi_snic_cq_create) == 80);
static_assert(sizeof(struct kiwi_snic_qp_create) == 128);
static_assert(sizeof(struct kiwi_snic_qp_modify) == 76);
static_assert(sizeof(struct kiwi_snic_queue_query) == 160);
static_assert(sizeof(struct kiwi_snic_error_page) == 32);
static_assert(sizeof(struct kiwi_check) == 256);
static_assert(sizeof(struct kiwi_snic_preflight) == 24);
static_assert(sizeof(struct kiwi_snic_event) == 24);

static int get_data(struct ksnic_call *call, const struct ioctl_rules *ioctl,
		    struct ioctl_head __user *user, u32 *size, union ioctl_data *data)
{
	int ret;

	if (get_user(*size, &user->size))
		return -EFAULT;
	if (*size < ioctl->min_size)
		return kiwi_fail(&call->err, -EINVAL, *size, ioctl->min_size,
				 "size %u is below %u", *size, ioctl->min_size);
	if (*size > SIZE_LIMIT)
		return kiwi_fail(&call->err, -E2BIG, *size, SIZE_LIMIT, "size %u is above %u",
				 *size, SIZE_LIMIT);
	ret = copy_struct_from_user(data, ioctl->size, user, *size);
	if (ret == -E2BIG)
		return kiwi_fail(&call->err, ret, *size, ioctl->size,
				 "size %u: the kernel knows %u bytes, and the rest is not zero",
				 *size, ioctl->size);
	if (ret)
		return ret;
	if (data->head.flags & ~ioctl->flags)
		return kiwi_fail(&call->err, -EINVAL, data->head.flags, ioctl->flags,
				 "flags %#x, known are %#x", data->head.flags, ioctl->flags);
	return 0;
}

static void undo(struct ksnic_call *call)
{
	if (call->made)
		ksnic_obj_abort(call->made);
	if (call->opened) {
		put_unused_fd(call->fd);
		fput(call->opened);
	}
}

/* The reply has reached the user: what it names is there from now on. */
static void finish(struct ksnic_call *call)
{
	if (call->made)
		ksnic_obj_publish(call->made);
	if (call->opened)
		fd_install(call->fd, call->opened);
}

static int run_inside(struct ksnic_call *call, const struct ioctl_rules *ioctl,
		      struct ioctl_head __user *user, u32 size, union ioctl_data *data)
{
	int ret;

	ret = ioctl->handler(call, data);
	if (!ret && (ioctl->rules & IOCTL_REPLY) &&
	    copy_to_user(user, data, min_t(u32, size, ioctl->size)))
		ret = -EFAULT;
	if (ret)
		undo(call);
	else
		finish(call);
	return ret;
}

static int run(struct ksnic_call *call, const struct ioctl_rules *ioctl,
	       struct ioctl_head __user *user)
{
	union ioctl_data data;
	int ret, idx;
	u32 size;

	ret = get_data(call, ioctl, user, &size, &data);
	if (ret)
		return ret;
	if ((ioctl->rules & IOCTL_ADMIN) && !capable(CAP_NET_ADMIN))
		return kiwi_fail(&call->err, -EPERM, 0, 0, "needs CAP_NET_ADMIN");
	if (ioctl->rules & IOCTL_NO_DEVICE)
		return run_inside(call, ioctl, user, size, &data);

	idx = srcu_read_lock(&call->ks->gate);
	ret = ksnic_file_check_up(call->file);
	if (!ret)
		ret = run_inside(call, ioctl, user, size, &data);
	srcu_read_unlock(&call->ks->gate, idx);
	return ret;
}

static void remember_error(struct ksnic_call *call, const struct ioctl_rules *ioctl, int ret)
{
	struct ksnic_file *file = call->file;
	struct kiwi_snic_last_error last = {
		.nr = _IOC_NR(ioctl->cmd),
		.error = -ret,
	};

	if (!call->err.text[0])
		kiwi_fail_plain(&call->err, ret);
	last.value = call->err.value;
	last.limit = call->err.limit;
	scnprintf(last.text, sizeof(last.text), "%s: %s", ioctl->name, call->err.text);

	spin_lock(&file->error_lock);
	file->error = last;
	spin_unlock(&file->error_lock);
}

long ksnic_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	const struct ioctl_rules *ioctl;
	struct ksnic_call call;
	unsigned int nr = _IOC_NR(cmd);
	int ret;

	if (nr >= ARRAY_SIZE(ioctls))
		return -ENOTTY;
	ioctl = &ioctls[array_index_nospec(nr, ARRAY_SIZE(ioctls))];
	if (!ioctl->handler || ioctl->cmd != cmd)
		return -ENOTTY;

	call.file = filp->private_data;
	call.ks = call.file->ks;
	call.made = NULL;
	call.opened = NULL;
	call.err.text[0] = '\0';
	ret = run(&call, ioctl, (struct ioctl_head __user *)arg);
	if (ret && ioctl->cmd != KIWI_SNIC_LAST_ERROR)
		remember_error(&call, ioctl, ret);
	return ret;
}
