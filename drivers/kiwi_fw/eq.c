// SPDX-License-Identifier: GPL-2.0
/*
 * Event queues. Completion events are handed on in the interrupt as long as they are few,
 * by a worker when they are many; asynchronous events always by a worker. Either stops after
 * a budget and is queued again, so that a device that never stops takes no CPU for itself.
 *
 * An event queue is armed by the worker or interrupt that found it empty, first by the
 * worker that kiwi_fw_enable_events() queues.
 */
#include <linux/bitfield.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>

#include <kiwi/compat.h>

#include "core.h"

#define KIWI_FW_ASYNC_LOG2	8
#define KIWI_FW_COMP_LOG2	10
#define KIWI_FW_IRQ_BUDGET	64	/* entries in an interrupt, or with it disabled */

static size_t kiwi_fw_eq_size(const struct kiwi_fw_eq *eq)
{
	return sizeof(struct kiwi_eqe) << eq->log2;
}

/* The ring -------------------------------------------------------------- */

/* The entry of an index that is at most the size of the ring ahead, or NULL: not yet written. */
static const struct kiwi_eqe *kiwi_fw_eq_entry(const struct kiwi_fw_eq *eq, u32 index)
{
	u32 size = BIT(eq->log2);
	const struct kiwi_eqe *eqe = &eq->ring[index & (size - 1)];
	u8 phase = index & size ? 0 : KIWI_EQE_PHASE;

	lockdep_assert_held(&eq->lock);
	return (READ_ONCE(eqe->flags) & KIWI_EQE_PHASE) == phase ? eqe : NULL;
}

static const struct kiwi_eqe *kiwi_fw_eq_peek(const struct kiwi_fw_eq *eq)
{
	return kiwi_fw_eq_entry(eq, eq->ci);
}

static bool kiwi_fw_eq_pop(struct kiwi_fw_eq *eq, struct kiwi_eqe *copy)
{
	const struct kiwi_eqe *eqe = kiwi_fw_eq_peek(eq);

	if (!eqe)
		return false;
	dma_rmb();	/* the entry is older than its phase */
	*copy = *eqe;
	eq->ci++;
	eq->armed = false;
	kiwi_fw_count(eq->fw, KIWI_FW_EVENTS);
	if (copy->flags & KIWI_EQE_OVERRUN) {
		eq->lost = true;
		kiwi_fw_count(eq->fw, KIWI_FW_LOST_EVENTS);
	}
	return true;
}

/*
 * What finds the ring full is lost, and only the next event says so (E-3). None may ever come, so
 * a ring that was full counts as a loss.
 */
static void kiwi_fw_eq_update(struct kiwi_fw_eq *eq, bool arm)
{
	lockdep_assert_held(&eq->lock);
	if (kiwi_fw_eq_entry(eq, eq->told + BIT(eq->log2) - 1))
		eq->lost = true;
	eq->told = eq->ci;
	kiwi_fw_wr32(eq->fw, KIWI_REG_EQ_DB(eq->number),
		     FIELD_PREP(KIWI_EQ_DB_CI, eq->ci & FIELD_MAX(KIWI_EQ_DB_CI)) |
		     (arm ? KIWI_EQ_DB_ARM : 0));
	eq->armed = arm;
}

/* Asynchronous events ------------------------------------------------------ */

static bool kiwi_fw_async_pop(struct kiwi_fw_eq *eq, struct kiwi_eqe *eqe)
{
	bool popped;

	spin_lock_irq(&eq->lock);
	popped = eq->active && kiwi_fw_eq_pop(eq, eqe);
	spin_unlock_irq(&eq->lock);
	return popped;
}

static bool kiwi_fw_async_known(struct kiwi_fw *fw, u8 type)
{
	return (type > KIWI_EV_COMPLETION && type < KIWI_EV_COUNT) ||
	       (type >= KIWI_EV_PART && type < fw->ops->events_end);
}

static void kiwi_fw_async_event(struct kiwi_fw_eq *eq, const struct kiwi_eqe *eqe)
{
	struct kiwi_fw *fw = eq->fw;
	bool lost;

	if (!kiwi_fw_async_known(fw, eqe->type)) {
		kiwi_fw_count(fw, KIWI_FW_UNKNOWN_EVENTS);
		return;
	}
	if (eqe->type == KIWI_EV_DEVICE_FATAL)
		kiwi_fw_health_look(fw);

	spin_lock_irq(&eq->lock);
	lost = eq->lost;
	eq->lost = false;
	spin_unlock_irq(&eq->lock);
	fw->ops->event(fw->priv, eqe, lost);
}

/* Return: whether it stopped at its budget, one pass through the ring. */
static bool kiwi_fw_async_deliver(struct kiwi_fw_eq *eq)
{
	static const struct kiwi_eqe none;
	unsigned int budget = BIT(eq->log2);
	struct kiwi_fw *fw = eq->fw;
	struct kiwi_eqe eqe;
	bool lost = false;

	mutex_lock(&eq->deliver);
	while (budget && kiwi_fw_async_pop(eq, &eqe)) {
		kiwi_fw_async_event(eq, &eqe);
		budget--;
	}
	spin_lock_irq(&eq->lock);
	if (eq->active) {
		kiwi_fw_eq_update(eq, budget);
		swap(lost, eq->lost);
	}
	spin_unlock_irq(&eq->lock);
	if (lost)
		fw->ops->event(fw->priv, &none, true);
	mutex_unlock(&eq->deliver);
	return !budget;
}

static void kiwi_fw_async_work(struct work_struct *work)
{
	struct kiwi_fw_eq *eq = container_of(work, struct kiwi_fw_eq, work);

	if (kiwi_fw_async_deliver(eq))
		queue_work(eq->fw->wq, &eq->work);
}

/**
 * kiwi_fw_async_irq() - there may be asynchronous events
 * @eq: of kind async
 *
 * Return: whether there are.
 */
bool kiwi_fw_async_irq(struct kiwi_fw_eq *eq)
{
	unsigned long flags;
	bool any;

	spin_lock_irqsave(&eq->lock, flags);
	any = eq->active && kiwi_fw_eq_peek(eq);
	if (any)
		queue_work(eq->fw->wq, &eq->work);
	spin_unlock_irqrestore(&eq->lock, flags);
	return any;
}

/**
 * kiwi_fw_sync_events() - see that no event written before the call is delivered after it
 * @fw: device
 *
 * To be called after the reply to a command that destroys an object, before its number can
 * name another. Delivers events in the caller's context.
 */
void kiwi_fw_sync_events(struct kiwi_fw *fw)
{
	if (kiwi_fw_async_deliver(&fw->async))
		queue_work(fw->wq, &fw->async.work);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_sync_events, "KIWI_FW");

/* Completion events --------------------------------------------------------- */

static void kiwi_fw_comp_event(struct kiwi_fw *fw, const struct kiwi_eqe *eqe)
{
	struct kiwi_fw_comp *comp;

	if (eqe->type != KIWI_EV_COMPLETION) {
		kiwi_fw_count(fw, KIWI_FW_UNKNOWN_EVENTS);
		return;
	}
	comp = xa_load(&fw->comps, le32_to_cpu(eqe->id));
	if (comp)
		comp->fn(comp);
	else
		kiwi_fw_count(fw, KIWI_FW_UNOWNED_COMPLETIONS);
}

/*
 * Arms only what is not armed: a device that says it has written what is not there would
 * interrupt again at once, without end.
 *
 * @any: set if there was anything. Return: whether there is more to do.
 */
static bool kiwi_fw_comp_poll(struct kiwi_fw_eq *eq, bool *any)
{
	unsigned int budget = KIWI_FW_IRQ_BUDGET;
	unsigned long flags;
	struct kiwi_eqe eqe;
	bool more = false;

	spin_lock_irqsave(&eq->lock, flags);
	if (eq->active) {
		while (budget && kiwi_fw_eq_pop(eq, &eqe)) {
			kiwi_fw_comp_event(eq->fw, &eqe);
			budget--;
		}
		if (!eq->armed)
			kiwi_fw_eq_update(eq, budget);
		/* A loss during a sweep begins the next one: each comes to its end. */
		if (eq->lost && !eq->sweep) {
			eq->lost = false;
			eq->sweep = 1;
		}
		more = !budget || eq->sweep;
	}
	*any = budget < KIWI_FW_IRQ_BUDGET;
	spin_unlock_irqrestore(&eq->lock, flags);
	return more;
}

/*
 * Nobody knows whose events were lost, so all are told, some at a time. A listener can
 * bear an event too many.
 */
static void kiwi_fw_comp_sweep(struct kiwi_fw_eq *eq)
{
	unsigned int budget = KIWI_FW_IRQ_BUDGET;
	struct kiwi_fw_comp *comp;

	spin_lock_irq(&eq->lock);
	while (budget-- && eq->active && eq->sweep) {
		comp = xa_find(&eq->fw->comps, &eq->sweep, ULONG_MAX, XA_PRESENT);
		if (comp)
			comp->fn(comp);
		eq->sweep = comp ? eq->sweep + 1 : 0;
	}
	spin_unlock_irq(&eq->lock);
}

static void kiwi_fw_comp_work(struct work_struct *work)
{
	struct kiwi_fw_eq *eq = container_of(work, struct kiwi_fw_eq, work);
	bool any;

	kiwi_fw_comp_sweep(eq);
	if (kiwi_fw_comp_poll(eq, &any))
		queue_work(eq->fw->wq, &eq->work);
}

/**
 * kiwi_fw_comp_irq() - there may be completion events
 * @eq: of kind completion
 *
 * Return: whether there were.
 */
bool kiwi_fw_comp_irq(struct kiwi_fw_eq *eq)
{
	bool any;

	if (kiwi_fw_comp_poll(eq, &any))
		queue_work(eq->fw->wq, &eq->work);
	return any;
}

/**
 * kiwi_fw_comp_eqn() - the event queue to create a completion queue with
 * @fw: device
 * @vector: any number, taken modulo identity.comp_vectors
 *
 * Return: its number.
 */
u32 kiwi_fw_comp_eqn(struct kiwi_fw *fw, u32 vector)
{
	return fw->comp_eqs[vector % fw->identity.comp_vectors].number;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_comp_eqn, "KIWI_FW");

/**
 * kiwi_fw_comp_add() - listen to the completion events of a queue
 * @fw: device
 * @cqn: number of the completion queue
 * @comp: listener, with @fn set
 *
 * Return: 0, -ENOMEM, or -EPROTO if @cqn is 0 or has a listener: the device then gave a
 * number that it must not.
 */
int kiwi_fw_comp_add(struct kiwi_fw *fw, u32 cqn, struct kiwi_fw_comp *comp)
{
	int ret;

	if (!cqn)
		return -EPROTO;
	comp->cqn = cqn;
	ret = xa_insert(&fw->comps, cqn, comp, GFP_KERNEL);
	return ret == -EBUSY ? -EPROTO : ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_comp_add, "KIWI_FW");

/**
 * kiwi_fw_comp_del() - stop listening
 * @fw: device
 * @comp: listener; its @fn is neither running nor called once this has returned
 */
void kiwi_fw_comp_del(struct kiwi_fw *fw, struct kiwi_fw_comp *comp)
{
	unsigned int n;

	xa_erase(&fw->comps, comp->cqn);
	/* Whoever found it before that still holds the lock below which it is called. */
	for (n = 0; n < fw->nr_comp_eqs; n++) {
		spin_lock_irq(&fw->comp_eqs[n].lock);
		spin_unlock_irq(&fw->comp_eqs[n].lock);
	}
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_comp_del, "KIWI_FW");

/* Life ----------------------------------------------------------------------- */

/**
 * kiwi_fw_eq_init() - prepare an event queue of a new device
 * @fw: device
 * @eq: event queue
 * @vector: MSI-X vector; 0 is that of the asynchronous one
 */
void kiwi_fw_eq_init(struct kiwi_fw *fw, struct kiwi_fw_eq *eq, u16 vector)
{
	eq->fw = fw;
	eq->vector = vector;
	spin_lock_init(&eq->lock);
	mutex_init(&eq->deliver);
	if (vector) {
		INIT_WORK(&eq->work, kiwi_fw_comp_work);
		snprintf(eq->name, sizeof(eq->name), "kiwi-comp%u@%s", vector - 1,
			 pci_name(fw->pdev));
	} else {
		INIT_WORK(&eq->work, kiwi_fw_async_work);
		snprintf(eq->name, sizeof(eq->name), "kiwi-mgmt@%s", pci_name(fw->pdev));
	}
}

static bool kiwi_fw_eq_number_ok(struct kiwi_fw *fw, u32 number)
{
	unsigned int n;

	for (n = 0; n < fw->nr_comp_eqs; n++) {
		if (fw->comp_eqs[n].created && fw->comp_eqs[n].number == number)
			return false;
	}
	return number < fw->limits[KIWI_FW_EQ_COUNT] &&
	       !(fw->async.created && fw->async.number == number);
}

static int kiwi_fw_eq_create(struct kiwi_fw_eq *eq, enum kiwi_eq_kind kind, u8 log2)
{
	struct kiwi_cmd_create_eq_in in = { .kind = kind, .vector = cpu_to_le16(eq->vector) };
	struct kiwi_fw *fw = eq->fw;
	struct kiwi_cmd_id out;
	int ret;

	eq->log2 = min_t(u32, log2, fw->limits[KIWI_FW_EQ_LOG2]);
	eq->ci = 0;
	eq->told = 0;
	eq->lost = false;
	eq->armed = false;
	eq->sweep = 0;
	eq->ring = dma_alloc_coherent(&fw->pdev->dev, kiwi_fw_eq_size(eq), &eq->dma, GFP_KERNEL);
	if (!eq->ring)
		return -ENOMEM;

	in.base = cpu_to_le64(eq->dma);
	in.log2 = eq->log2;
	ret = kiwi_fw_exec(fw, KIWI_OP_CREATE_EQ, &in, sizeof(in), &out, sizeof(out), NULL);
	if (ret)
		return ret;
	if (!kiwi_fw_eq_number_ok(fw, le32_to_cpu(out.id))) {
		dev_err(&fw->pdev->dev, "event queue number %u is taken or not below %u\n",
			le32_to_cpu(out.id), fw->limits[KIWI_FW_EQ_COUNT]);
		return -EPROTO;
	}
	eq->number = le32_to_cpu(out.id);
	eq->created = true;
	return 0;
}

static int kiwi_fw_comp_eq_create(struct kiwi_fw *fw, struct kiwi_fw_eq *eq)
{
	int ret;

	ret = kiwi_fw_eq_create(eq, KIWI_EQ_COMPLETION, KIWI_FW_COMP_LOG2);
	if (ret)
		return ret;
	ret = kiwi_fw_irq_request_comp(fw, eq);
	eq->irq = !ret;
	return ret;
}

/**
 * kiwi_fw_eqs_create() - create the event queues, which deliver nothing yet
 * @fw: device that takes commands
 *
 * Return: 0 or an errno; kiwi_fw_eqs_destroy() and kiwi_fw_eqs_free() undo it in either case.
 */
int kiwi_fw_eqs_create(struct kiwi_fw *fw)
{
	unsigned int n;
	int ret;

	ret = kiwi_fw_eq_create(&fw->async, KIWI_EQ_ASYNC, KIWI_FW_ASYNC_LOG2);
	for (n = 0; !ret && n < fw->identity.comp_vectors; n++)
		ret = kiwi_fw_comp_eq_create(fw, &fw->comp_eqs[n]);
	if (ret)
		dev_err(&fw->pdev->dev, "event queues could not be created (%d)\n", ret);
	return ret;
}

static void kiwi_fw_eq_destroy(struct kiwi_fw_eq *eq)
{
	struct kiwi_cmd_id in = { .id = cpu_to_le32(eq->number) };
	struct kiwi_fw *fw = eq->fw;

	/* If the device refuses, the reset that follows does it. */
	if (eq->created)
		kiwi_fw_exec(fw, KIWI_OP_DESTROY_EQ, &in, sizeof(in), NULL, 0, NULL);
	spin_lock_irq(&eq->lock);
	eq->active = false;
	spin_unlock_irq(&eq->lock);
	if (eq->irq)
		kiwi_fw_irq_release_comp(fw, eq);
	eq->irq = false;
	cancel_work_sync(&eq->work);
}

/**
 * kiwi_fw_eqs_destroy() - end event delivery
 * @fw: device
 *
 * Callbacks are neither running nor called once this has returned.
 */
void kiwi_fw_eqs_destroy(struct kiwi_fw *fw)
{
	unsigned int n;

	for (n = fw->nr_comp_eqs; n--;)
		kiwi_fw_eq_destroy(&fw->comp_eqs[n]);
	kiwi_fw_eq_destroy(&fw->async);
	/* A caller of kiwi_fw_sync_events() may still deliver. */
	mutex_lock(&fw->async.deliver);
	mutex_unlock(&fw->async.deliver);
}

static void kiwi_fw_eq_free(struct kiwi_fw_eq *eq)
{
	if (eq->ring)
		dma_free_coherent(&eq->fw->pdev->dev, kiwi_fw_eq_size(eq), eq->ring, eq->dma);
	eq->ring = NULL;
	eq->created = false;
}

/**
 * kiwi_fw_eqs_free() - take back the rings
 * @fw: device that no longer reaches memory
 */
void kiwi_fw_eqs_free(struct kiwi_fw *fw)
{
	unsigned int n;

	for (n = 0; n < fw->nr_comp_eqs; n++)
		kiwi_fw_eq_free(&fw->comp_eqs[n]);
	kiwi_fw_eq_free(&fw->async);
}

static void kiwi_fw_eq_enable(struct kiwi_fw_eq *eq)
{
	spin_lock_irq(&eq->lock);
	eq->active = eq->created;
	spin_unlock_irq(&eq->lock);
	queue_work(eq->fw->wq, &eq->work);
}

/**
 * kiwi_fw_enable_events() - deliver events, those first that the device has raised already
 * @fw: device that was started
 */
void kiwi_fw_enable_events(struct kiwi_fw *fw)
{
	unsigned int n;

	for (n = 0; n < fw->nr_comp_eqs; n++)
		kiwi_fw_eq_enable(&fw->comp_eqs[n]);
	kiwi_fw_eq_enable(&fw->async);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_enable_events, "KIWI_FW");

/**
 * kiwi_fw_eqs_kick() - look at all event queues, in case an interrupt was lost
 * @fw: device
 */
void kiwi_fw_eqs_kick(struct kiwi_fw *fw)
{
	unsigned int n;

	for (n = 0; n < fw->nr_comp_eqs; n++)
		queue_work(fw->wq, &fw->comp_eqs[n].work);
	queue_work(fw->wq, &fw->async.work);
}
