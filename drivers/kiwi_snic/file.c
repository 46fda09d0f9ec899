// SPDX-License-Identifier: GPL-2.0
/* A file's error page, and who waits for completions when the device goes. */
#include <linux/bits.h>
#include <linux/container_of.h>
#include <linux/errno.h>

#include "errpage.h"
#include "file.h"
#include "ksnic.h"
#include "object.h"

static struct ksnic_errpage *errpage_of(struct kiwi_owner *owner)
{
	return container_of(owner, struct ksnic_file, file.owner)->errpage;
}

/* Where the errors of an object are published, 0 for nowhere. */
static u32 place_of(const struct kiwi_obj *obj)
{
	if (obj->ops == &ksnic_cq_ops)
		return container_of(obj, struct ksnic_cq, obj)->place;
	if (obj->ops == &ksnic_qp_ops)
		return container_of(obj, struct ksnic_qp, obj)->place;
	return 0;
}

/**
 * ksnic_file_told() - publish an event that the file is told of
 * @owner: the file's
 * @obj: that it concerns; NULL: the device
 * @event: the event
 */
void ksnic_file_told(struct kiwi_owner *owner, const struct kiwi_obj *obj,
		     const struct kiwi_file_event *event)
{
	struct ksnic_errpage *ep = errpage_of(owner);

	switch (event->type) {
	case KIWI_SNIC_EVENT_CQ_ERROR:
	case KIWI_SNIC_EVENT_QP_ERROR:
	case KIWI_SNIC_EVENT_QP_ACCESS:
		ksnic_errpage_queue(ep, place_of(obj), event->type << 16 | (u16)event->code);
		break;
	case KIWI_SNIC_EVENT_DEVICE_FATAL:
		ksnic_errpage_device(ep, event->type);
		break;
	case KIWI_SNIC_EVENT_LOST:
		ksnic_errpage_lost(ep);
		break;
	}
}

void ksnic_file_disowned(struct kiwi_owner *owner, const struct kiwi_obj *obj)
{
	ksnic_errpage_give(errpage_of(owner), place_of(obj));
}

void ksnic_file_down(struct kiwi_file *file)
{
	ksnic_errpage_device(to_ksnic_file(file)->errpage, KIWI_ERROR_GONE);
}

/* Who waits for a completion that will not come looks at the device then. */
void ksnic_file_clear(struct kiwi_file *file)
{
	struct kiwi_obj *obj;
	unsigned long id;

	xa_for_each(&file->owner.objs, id, obj) {
		if (obj->ops == &ksnic_cq_ops)
			ksnic_cq_signal(container_of(obj, struct ksnic_cq, obj));
	}
}

void ksnic_file_end(struct kiwi_file *file)
{
	struct ksnic_file *ksf = to_ksnic_file(file);

	if (!ksf->errpage)
		return;
	ksnic_errpage_free(ksf->errpage);
	ksf->errpage = NULL;
}

/**
 * ksnic_file_set_errpage() - publish errors in a page from now on
 * @file: the file; the gate is held
 * @ep: the page, the file's on success
 *
 * Return: 0, or -EBUSY when the file has one
 */
int ksnic_file_set_errpage(struct kiwi_file *file, struct ksnic_errpage *ep)
{
	struct ksnic_file *ksf = to_ksnic_file(file);
	struct kiwi_part *part = file->part;
	int ret = -EBUSY;

	spin_lock(&part->files_lock);
	if (!ksf->errpage) {
		ksnic_errpage_ports(ep, to_ksnic(part)->port_down);
		if (file->down)
			ksnic_errpage_device(ep, KIWI_ERROR_GONE);
		/* The page is whole before take_error_word() finds it. */
		smp_store_release(&ksf->errpage, ep);
		ret = 0;
	}
	spin_unlock(&part->files_lock);
	return ret;
}

/**
 * ksnic_files_port() - publish the state of a port
 * @ks: the device
 * @port: from 1
 * @state: enum kiwi_port_state
 */
void ksnic_files_port(struct ksnic *ks, u32 port, u32 state)
{
	u32 bit = BIT(port - 1);
	struct kiwi_file *file;

	spin_lock(&ks->part.files_lock);
	if (state == KIWI_PORT_ACTIVE)
		ks->port_down &= ~bit;
	else
		ks->port_down |= bit;
	list_for_each_entry(file, &ks->part.files, node)
		ksnic_errpage_ports(to_ksnic_file(file)->errpage, ks->port_down);
	spin_unlock(&ks->part.files_lock);
}
