// SPDX-License-Identifier: GPL-2.0
/* In place of irq.c: the interrupts of the fake device. */
#include "fake.h"

static void fake_irq_work(struct work_struct *work)
{
	struct fake_irq *irq = container_of(work, struct fake_irq, work);
	struct fake *f = container_of(irq - irq->vector, struct fake, irqs[0]);
	unsigned long flags;

	if (!READ_ONCE(irq->requested))
		return;
	atomic_inc(&irq->raised);
	local_irq_save(flags);
	if (irq->vector) {
		kiwi_fw_comp_irq(&f->fw.comp_eqs[irq->vector - 1]);
	} else {
		kiwi_fw_admin_irq(&f->fw);
		kiwi_fw_async_irq(&f->fw.async);
	}
	local_irq_restore(flags);
}

void fake_irqs_init(struct fake *f)
{
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(f->irqs); n++) {
		INIT_WORK(&f->irqs[n].work, fake_irq_work);
		f->irqs[n].vector = n;
	}
}

void fake_raise(struct fake *f, unsigned int vector)
{
	lockdep_assert_held(&f->lock);
	if (!f->no_interrupts)
		queue_work(system_highpri_wq, &f->irqs[vector].work);
}

int kiwi_fw_irq_alloc(struct kiwi_fw *fw)
{
	unsigned int n;

	fw->nr_comp_eqs = FAKE_COMP_EQS;
	fw->comp_eqs = fake_of(fw)->comp_eqs;
	kiwi_fw_eq_init(fw, &fw->async, 0);
	for (n = 0; n < FAKE_COMP_EQS; n++)
		kiwi_fw_eq_init(fw, &fw->comp_eqs[n], 1 + n);
	return 0;
}

void kiwi_fw_irq_free(struct kiwi_fw *fw)
{
}

static int fake_irq_request(struct kiwi_fw *fw, unsigned int vector)
{
	struct fake *f = fake_of(fw);

	if (!f->irq_error)
		WRITE_ONCE(f->irqs[vector].requested, true);
	return f->irq_error;
}

static void fake_irq_release(struct kiwi_fw *fw, unsigned int vector)
{
	struct fake_irq *irq = &fake_of(fw)->irqs[vector];

	WRITE_ONCE(irq->requested, false);
	cancel_work_sync(&irq->work);
}

int kiwi_fw_irq_request_admin(struct kiwi_fw *fw)
{
	int ret = fake_irq_request(fw, 0);

	fw->admin_irq = !ret;
	return ret;
}

void kiwi_fw_irq_release_admin(struct kiwi_fw *fw)
{
	if (fw->admin_irq)
		fake_irq_release(fw, 0);
	fw->admin_irq = false;
}

int kiwi_fw_irq_request_comp(struct kiwi_fw *fw, struct kiwi_fw_eq *eq)
{
	return fake_irq_request(fw, eq->vector);
}

void kiwi_fw_irq_release_comp(struct kiwi_fw *fw, struct kiwi_fw_eq *eq)
{
	fake_irq_release(fw, eq->vector);
}
