// SPDX-License-Identifier: GPL-2.0
/* A file's error page, and who waits for completions when the device goes. */
#include <linux/bits.h>
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/lockdep.h>

#include <kiwi/compat.h>
#include <kiwi/queues.h>

#include "errpage.h"
#include "object.h"

static struct kiwi_errpage *errpage_of(struct kiwi_owner *owner)
{
	return container_of(owner, struct kiwi_queues_file, file.owner)->errpage;
}

/* Where the errors of an object are published, 0 for nowhere. */
static u32 place_of(const struct kiwi_obj *obj)
{
	if (obj->ops == &kiwi_cq_ops)
		return container_of(obj, struct kiwi_cq, obj)->place;
	if (obj->ops == &kiwi_qp_ops)
		return container_of(obj, struct kiwi_qp, obj)->place;
	return 0;
}

/**
 * kiwi_queues_told() - publish an event that the file is told of
 * @owner: the file's
 * @obj: that it concerns; NULL: the device
 * @event: the event
 */
void kiwi_queues_told(struct kiwi_owner *owner, const struct kiwi_obj *obj,
		      const struct kiwi_file_event *event)
{
	struct kiwi_errpage *ep = errpage_of(owner);

	switch (event->type) {
	case KIWI_EVENT_CQ_ERROR:
	case KIWI_EVENT_QP_ERROR:
	case KIWI_EVENT_QP_ACCESS:
		kiwi_errpage_queue(ep, place_of(obj), event->type << 16 | (u16)event->code);
		break;
	case KIWI_EVENT_DEVICE_FATAL:
		kiwi_errpage_device(ep, event->type);
		break;
	case KIWI_EVENT_LOST:
		kiwi_errpage_lost(ep);
		break;
	}
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_told, "KIWI_FW");

/**
 * kiwi_queues_disowned() - take back an object's word of the error page
 * @owner: the file's
 * @obj: that is the file's no longer
 */
void kiwi_queues_disowned(struct kiwi_owner *owner, const struct kiwi_obj *obj)
{
	kiwi_errpage_give(errpage_of(owner), place_of(obj));
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_disowned, "KIWI_FW");

/**
 * kiwi_queues_down() - publish that nothing of a file works any more
 * @file: the file; files_lock is held
 */
void kiwi_queues_down(struct kiwi_file *file)
{
	kiwi_errpage_device(to_queues_file(file)->errpage, KIWI_ERROR_GONE);
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_down, "KIWI_FW");

/**
 * kiwi_queues_clear() - wake who waits for a completion that will not come: he looks at the device
 * @file: the file, which is down
 */
void kiwi_queues_clear(struct kiwi_file *file)
{
	struct kiwi_obj *obj;
	unsigned long id;

	xa_for_each(&file->owner.objs, id, obj) {
		if (obj->ops == &kiwi_cq_ops)
			kiwi_cq_signal(container_of(obj, struct kiwi_cq, obj));
	}
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_clear, "KIWI_FW");

/**
 * kiwi_queues_end() - give a file's error page back
 * @file: the file, which has no object any more
 */
void kiwi_queues_end(struct kiwi_file *file)
{
	struct kiwi_queues_file *ksf = to_queues_file(file);

	if (!ksf->errpage)
		return;
	kiwi_errpage_free(ksf->errpage);
	ksf->errpage = NULL;
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_end, "KIWI_FW");

/**
 * kiwi_queues_set_errpage() - publish errors in a page from now on
 * @file: the file; the gate is held
 * @ep: the page, the file's on success
 *
 * Return: 0, or -EBUSY when the file has one
 */
int kiwi_queues_set_errpage(struct kiwi_file *file, struct kiwi_errpage *ep)
{
	struct kiwi_queues_file *ksf = to_queues_file(file);
	struct kiwi_part *part = file->part;
	int ret = -EBUSY;

	spin_lock(&part->files_lock);
	if (!ksf->errpage) {
		kiwi_errpage_ports(ep, part->queues->port_down);
		if (file->down)
			kiwi_errpage_device(ep, KIWI_ERROR_GONE);
		/* The page is whole before take_error_word() finds it. */
		smp_store_release(&ksf->errpage, ep);
		ret = 0;
	}
	spin_unlock(&part->files_lock);
	return ret;
}

static void publish_port(struct kiwi_part *part, u32 port, bool active)
{
	u32 bit = BIT(port - 1);
	struct kiwi_file *file;

	lockdep_assert_held(&part->files_lock);
	if (active)
		part->queues->port_down &= ~bit;
	else
		part->queues->port_down |= bit;
	list_for_each_entry(file, &part->files, node)
		kiwi_errpage_ports(to_queues_file(file)->errpage, part->queues->port_down);
}

/**
 * kiwi_queues_port() - publish the state of a port
 * @part: the device
 * @port: from 1, at most 32
 * @active: whether it carries what queues send
 */
void kiwi_queues_port(struct kiwi_part *part, u32 port, bool active)
{
	spin_lock(&part->files_lock);
	part->queues->port_told |= BIT(port - 1);
	publish_port(part, port, active);
	spin_unlock(&part->files_lock);
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_port, "KIWI_FW");

/**
 * kiwi_queues_port_ask() - a port is about to be asked for its state, by one at a time
 * @part: the device
 * @port: from 1, at most 32
 */
void kiwi_queues_port_ask(struct kiwi_part *part, u32 port)
{
	spin_lock(&part->files_lock);
	part->queues->port_told &= ~BIT(port - 1);
	spin_unlock(&part->files_lock);
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_port_ask, "KIWI_FW");

/**
 * kiwi_queues_port_found() - publish what a port replied, unless the device told of it since
 * @part: the device
 * @port: that of kiwi_queues_port_ask()
 * @active: whether it carries what queues send
 *
 * If the reply is the newer one, an event of the change is still to come, or lost: then the port
 * is asked again.
 *
 * Return: whether that is a change
 */
bool kiwi_queues_port_found(struct kiwi_part *part, u32 port, bool active)
{
	u32 bit = BIT(port - 1);
	bool change;

	spin_lock(&part->files_lock);
	change = !(part->queues->port_told & bit) && active == !!(part->queues->port_down & bit);
	if (change)
		publish_port(part, port, active);
	spin_unlock(&part->files_lock);
	return change;
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_port_found, "KIWI_FW");
