// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts. Vector 0 serves management: command completions and asynchronous events.
 * Each other vector serves one event queue of completions. The kernel turns off an interrupt
 * that comes without end and without reason; the regular looks at the queues then go on.
 */
#include <linux/cpumask.h>
#include <linux/interrupt.h>

#include "core.h"

static irqreturn_t kiwi_fw_management_handler(int irq, void *data)
{
	struct kiwi_fw *fw = data;

	bool any = kiwi_fw_admin_irq(fw);

	return IRQ_RETVAL(kiwi_fw_async_irq(&fw->async) || any);
}

static irqreturn_t kiwi_fw_comp_handler(int irq, void *data)
{
	return IRQ_RETVAL(kiwi_fw_comp_irq(data));
}

/**
 * kiwi_fw_irq_alloc() - get vectors, and an event queue structure for each but the first
 * @fw: device whose limits are known
 *
 * Return: 0 or an errno.
 */
int kiwi_fw_irq_alloc(struct kiwi_fw *fw)
{
	unsigned int comp = min(num_online_cpus(), fw->limits[KIWI_FW_EQ_COUNT] - 1);
	struct pci_dev *pdev = fw->pdev;
	unsigned int n;
	int vectors;

	vectors = pci_alloc_irq_vectors(pdev, 2, 1 + comp, PCI_IRQ_MSIX);
	if (vectors < 0) {
		dev_err(&pdev->dev, "no 2 MSI-X vectors to be had (%d)\n", vectors);
		return vectors;
	}
	fw->nr_comp_eqs = vectors - 1;
	fw->comp_eqs = kcalloc(fw->nr_comp_eqs, sizeof(*fw->comp_eqs), GFP_KERNEL);
	if (!fw->comp_eqs) {
		pci_free_irq_vectors(pdev);
		return -ENOMEM;
	}
	kiwi_fw_eq_init(fw, &fw->async, 0);
	for (n = 0; n < fw->nr_comp_eqs; n++)
		kiwi_fw_eq_init(fw, &fw->comp_eqs[n], 1 + n);
	return 0;
}

/**
 * kiwi_fw_irq_free() - undo kiwi_fw_irq_alloc()
 * @fw: device
 */
void kiwi_fw_irq_free(struct kiwi_fw *fw)
{
	kfree(fw->comp_eqs);
	pci_free_irq_vectors(fw->pdev);
}

static int kiwi_fw_irq_request(struct kiwi_fw *fw, struct kiwi_fw_eq *eq, irq_handler_t handler,
			       void *data)
{
	return request_irq(pci_irq_vector(fw->pdev, eq->vector), handler, 0, eq->name, data);
}

/**
 * kiwi_fw_irq_request_admin() - have completions of commands handled
 * @fw: device
 *
 * Return: 0 or an errno.
 */
int kiwi_fw_irq_request_admin(struct kiwi_fw *fw)
{
	int ret = kiwi_fw_irq_request(fw, &fw->async, kiwi_fw_management_handler, fw);

	fw->admin_irq = !ret;
	return ret;
}

/**
 * kiwi_fw_irq_release_admin() - undo kiwi_fw_irq_request_admin(), if it was done
 * @fw: device
 */
void kiwi_fw_irq_release_admin(struct kiwi_fw *fw)
{
	if (fw->admin_irq)
		free_irq(pci_irq_vector(fw->pdev, 0), fw);
	fw->admin_irq = false;
}

/**
 * kiwi_fw_irq_request_comp() - have an event queue's interrupt handled, on a CPU near the device
 * @fw: device
 * @eq: of kind completion
 *
 * Return: 0 or an errno.
 */
int kiwi_fw_irq_request_comp(struct kiwi_fw *fw, struct kiwi_fw_eq *eq)
{
	unsigned int cpu = cpumask_local_spread(eq->vector - 1, dev_to_node(&fw->pdev->dev));
	int ret = kiwi_fw_irq_request(fw, eq, kiwi_fw_comp_handler, eq);

	if (!ret)
		irq_set_affinity_and_hint(pci_irq_vector(fw->pdev, eq->vector), cpumask_of(cpu));
	return ret;
}

/**
 * kiwi_fw_irq_release_comp() - undo kiwi_fw_irq_request_comp()
 * @fw: device
 * @eq: of kind completion
 */
void kiwi_fw_irq_release_comp(struct kiwi_fw *fw, struct kiwi_fw_eq *eq)
{
	int irq = pci_irq_vector(fw->pdev, eq->vector);

	irq_update_affinity_hint(irq, NULL);
	free_irq(irq, eq);
}
