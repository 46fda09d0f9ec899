// SPDX-License-Identifier: GPL-2.0
#include <linux/bitfield.h>
#include <linux/dma-mapping.h>
#include <linux/io.h>

#include <kiwi_abi/queues.h>

#include "fake.h"
#include "fake_io.h"

/* The one that registers belong to: suites run one after the other. */
static struct fake *fake_current;

struct fake *fake_of(struct kiwi_fw *fw)
{
	return container_of(fw, struct fake, fw);
}

static void fake_broken(struct fake *f, const char *rule)
{
	if (!f->broken)
		f->broken = rule;
}

static u32 *fake_reg(struct fake *f, u32 reg)
{
	return &f->regs[reg / sizeof(u32)];
}

static u64 fake_reg64(struct fake *f, u32 reg)
{
	return *fake_reg(f, reg) | (u64)*fake_reg(f, reg + 4) << 32;
}

/* Admin queue ---------------------------------------------------------------- */

static void fake_admin_interrupt(struct fake *f)
{
	if (!f->aq_armed || f->acq_pi == f->acq_ci)
		return;
	f->aq_armed = false;
	fake_raise(f, FIELD_GET(KIWI_AQ_CFG_VECTOR, *fake_reg(f, KIWI_REG_AQ_CFG)));
}

static u32 fake_ring_size(struct fake *f)
{
	return BIT(*fake_reg(f, KIWI_REG_AQ_CFG) & KIWI_AQ_CFG_LOG2);
}

static void fake_post(struct fake *f, const struct kiwi_acq_entry *reply)
{
	u32 size = fake_ring_size(f);
	struct kiwi_acq_entry *entry = &f->acq[f->acq_pi & (size - 1)];
	u8 phase = f->acq_pi & size ? 0 : KIWI_ACQ_PHASE;

	memcpy(entry, reply, offsetof(struct kiwi_acq_entry, flags));
	smp_wmb();	/* flags become visible last */
	WRITE_ONCE(entry->flags, phase);
	f->acq_pi++;
	fake_admin_interrupt(f);
}

/* Return: the status */
static u16 fake_create_eq(struct fake *f, const void *input, u32 *number)
{
	const struct kiwi_cmd_create_eq_in *in = input;
	struct fake_eq *eq;
	unsigned int n;

	for (n = 0; n < FAKE_EQS && f->eqs[n].ring; n++)
		;
	if (n == FAKE_EQS)
		return KIWI_ST_NO_RESOURCE;
	if (in->log2 < KIWI_EQ_LOG2_MIN || in->rsvd || le64_to_cpu(in->base) % SZ_4K)
		return KIWI_ST_BAD_PARAM;
	eq = &f->eqs[n];
	*eq = (struct fake_eq) {
		.ring = phys_to_virt(le64_to_cpu(in->base)),
		.size = BIT(in->log2),
		.kind = in->kind,
		.vector = le16_to_cpu(in->vector),
	};
	if (memchr_inv(eq->ring, 0, eq->size * sizeof(*eq->ring)))
		fake_broken(f, "E-1: the ring is not zero at creation");
	*number = f->eqn_force < 0 ? n : f->eqn_force;
	return KIWI_ST_OK;
}

static u16 fake_db_page(struct fake *f, u32 page, bool open)
{
	if (page >= FAKE_DB_PAGES)
		return KIWI_ST_BAD_PARAM;
	if (test_bit(page, f->db_open) == open)
		return KIWI_ST_BAD_STATE;
	if (open)
		__set_bit(page, f->db_open);
	else
		__clear_bit(page, f->db_open);
	return KIWI_ST_OK;
}

static u16 fake_execute(struct fake *f, const struct fake_cmd *cmd, void *out, size_t out_len)
{
	const struct kiwi_cmd_id *id = (const void *)cmd->in;
	u32 number = 0;
	u16 status;

	switch (le16_to_cpu(cmd->entry.opcode)) {
	case KIWI_OP_SET_HOST_CAPS:
		return KIWI_ST_OK;
	case KIWI_OP_CREATE_EQ:
		status = fake_create_eq(f, cmd->in, &number);
		*(struct kiwi_cmd_id *)out = (struct kiwi_cmd_id) { .id = cpu_to_le32(number) };
		return status;
	case KIWI_OP_DESTROY_EQ:
		number = le32_to_cpu(id->id);
		if (number >= FAKE_EQS || !f->eqs[number].ring)
			return KIWI_ST_BAD_HANDLE;
		f->eqs[number].ring = NULL;
		return KIWI_ST_OK;
	case KIWI_OP_OPEN_DB_PAGE:
		return fake_db_page(f, le32_to_cpu(id->id), true);
	case KIWI_OP_CLOSE_DB_PAGE:
		return fake_db_page(f, le32_to_cpu(id->id), false);
	case FAKE_ECHO:
		memcpy(out, cmd->in, min_t(size_t, out_len, le16_to_cpu(cmd->entry.in_len)));
		return KIWI_ST_OK;
	default:
		return KIWI_ST_BAD_OPCODE;
	}
}

static void fake_complete_locked(struct fake *f, const struct fake_cmd *cmd)
{
	const struct kiwi_aq_entry *entry = &cmd->entry;
	size_t out_len = le16_to_cpu(entry->out_len);
	struct kiwi_acq_entry reply = {
		.cmd_id = entry->cmd_id,
		.opcode = entry->opcode,
		.err_field = cpu_to_le16(KIWI_ERR_FIELD_NONE),
	};
	void *out = out_len > KIWI_AQ_INLINE ? phys_to_virt(le64_to_cpu(entry->out_addr)) :
					       reply.out;
	u16 status = fake_execute(f, cmd, out, out_len);

	reply.status = cpu_to_le16(status);
	reply.out_len = status == KIWI_ST_OK ? entry->out_len : 0;
	if (f->reply)
		f->reply(f, cmd, &reply);
	f->in_flight--;
	fake_post(f, &reply);
}

static void fake_check_entry(struct fake *f, const struct kiwi_aq_entry *entry)
{
	size_t in_len = le16_to_cpu(entry->in_len), out_len = le16_to_cpu(entry->out_len);
	bool in_there = in_len > KIWI_AQ_INLINE, out_there = out_len > KIWI_AQ_INLINE;
	size_t inl = in_there ? 0 : in_len;

	if (entry->flags || memchr_inv(entry->rsvd, 0, sizeof(entry->rsvd)))
		fake_broken(f, "a reserved field of a command is set");
	if (memchr_inv(entry->in + inl, 0, KIWI_AQ_INLINE - inl))
		fake_broken(f, "A-6: unused inline bytes of a command are set");
	if (in_there == !entry->in_addr || le64_to_cpu(entry->in_addr) % 8)
		fake_broken(f, "A-6: in_addr does not fit in_len");
	if (out_there == !entry->out_addr || le64_to_cpu(entry->out_addr) % 8)
		fake_broken(f, "A-6: out_addr does not fit out_len");
	if (in_len > KIWI_AQ_PAYLOAD_MAX || out_len > KIWI_AQ_PAYLOAD_MAX)
		fake_broken(f, "A-6: a payload is too long");
	if (f->in_flight > fake_ring_size(f))
		fake_broken(f, "A-1: more commands in flight than the ring holds");
}

static void fake_fetch(struct fake *f)
{
	struct fake_cmd *cmd = &f->cmds[f->nr_cmds++ % FAKE_CMDS];

	cmd->entry = f->aq[f->aq_ci++ & (fake_ring_size(f) - 1)];
	f->in_flight++;
	f->max_in_flight = max(f->max_in_flight, f->in_flight);
	fake_check_entry(f, &cmd->entry);
	if (cmd->entry.in_addr)
		memcpy(cmd->in, phys_to_virt(le64_to_cpu(cmd->entry.in_addr)),
		       min_t(size_t, le16_to_cpu(cmd->entry.in_len), KIWI_AQ_PAYLOAD_MAX));
	else
		memcpy(cmd->in, cmd->entry.in, KIWI_AQ_INLINE);
	if (!f->hold)
		fake_complete_locked(f, cmd);
}

static void fake_producer(struct fake *f, u32 pi)
{
	if (!f->aq || !(*fake_reg(f, KIWI_REG_DEV_STS) & KIWI_DEV_STS_ENABLED)) {
		fake_broken(f, "AQ_PI was written while the device is disabled");
		return;
	}
	if (pi - f->aq_ci > fake_ring_size(f)) {
		fake_broken(f, "A-1: AQ_PI is more than the ring ahead");
		return;
	}
	while (f->aq_ci != pi)
		fake_fetch(f);
}

/* Life ------------------------------------------------------------------------- */

static void fake_enable(struct fake *f)
{
	u32 *sts = fake_reg(f, KIWI_REG_DEV_STS);

	if (*sts != KIWI_DEV_STS_READY)
		fake_broken(f, "L-4: ENABLE while not ready, or enabled");
	if (f->stays_disabled)
		return;
	if (fake_reg64(f, KIWI_REG_AQ_BASE) % SZ_4K || fake_reg64(f, KIWI_REG_ACQ_BASE) % SZ_4K)
		fake_broken(f, "a ring is not aligned to 4 KiB");
	f->aq = phys_to_virt(fake_reg64(f, KIWI_REG_AQ_BASE));
	f->acq = phys_to_virt(fake_reg64(f, KIWI_REG_ACQ_BASE));
	f->aq_ci = 0;
	f->acq_pi = 0;
	f->acq_ci = 0;
	f->aq_armed = true;
	f->in_flight = 0;
	if (memchr_inv(f->acq, 0, fake_ring_size(f) * sizeof(*f->acq)))
		fake_broken(f, "A-3: the completion ring is not clear");
	*sts |= KIWI_DEV_STS_ENABLED;
}

static void fake_reset(struct fake *f, u32 reason)
{
	f->resets++;
	f->reset_reason = reason;
	f->aq = NULL;
	f->acq = NULL;
	memset(f->eqs, 0, sizeof(f->eqs));
	bitmap_zero(f->db_open, FAKE_DB_PAGES);
	if (!f->same_generation)
		++*fake_reg(f, KIWI_REG_GENERATION);
	*fake_reg(f, KIWI_REG_DEV_STS) = f->reset_sticks ? KIWI_DEV_STS_RESETTING :
					 f->reset_fatal ? KIWI_DEV_STS_READY | KIWI_DEV_STS_FATAL :
					 KIWI_DEV_STS_READY;
}

static void fake_control(struct fake *f, u32 value)
{
	if (value & KIWI_DEV_CTL_RESET)
		fake_reset(f, FIELD_GET(KIWI_DEV_CTL_REASON, value));
	else if (value == KIWI_DEV_CTL_ENABLE)
		fake_enable(f);
	else
		fake_broken(f, "DEV_CTL has unknown bits");
}

/* Event queues -------------------------------------------------------------------- */

static u32 fake_eq_used(const struct fake_eq *eq)
{
	return (eq->pi - eq->ci) & KIWI_EQ_DB_CI;
}

static void fake_eq_interrupt(struct fake *f, struct fake_eq *eq)
{
	if (!eq->armed || !fake_eq_used(eq))
		return;
	eq->armed = false;
	fake_raise(f, eq->vector);
}

static void fake_eq_doorbell(struct fake *f, unsigned int n, u32 value)
{
	struct fake_eq *eq = &f->eqs[n];

	if (n >= FAKE_EQS || !eq->ring)
		return;
	if (value & ~(KIWI_EQ_DB_CI | KIWI_EQ_DB_ARM) ||
	    ((value - eq->ci) & KIWI_EQ_DB_CI) > fake_eq_used(eq))
		fake_broken(f, "E-2: consumer index of an event queue is beyond its entries");
	eq->ci = value & KIWI_EQ_DB_CI;
	if (value & KIWI_EQ_DB_ARM) {
		eq->armed = true;
		eq->arms++;
		fake_eq_interrupt(f, eq);
	} else {
		eq->updates++;
	}
}

/**
 * fake_event() - the device raises an event
 * @f: device
 * @eqn: queue
 * @type: enum kiwi_event
 * @code: by type
 * @id: by type
 */
void fake_event(struct fake *f, unsigned int eqn, u8 type, u8 code, u32 id)
{
	struct fake_eq *eq = &f->eqs[eqn];
	struct kiwi_eqe *entry;
	unsigned long flags;
	u8 bits;

	spin_lock_irqsave(&f->lock, flags);
	if (fake_eq_used(eq) == eq->size) {
		eq->overrun = true;
	} else if (eq->ring) {
		entry = &eq->ring[eq->pi & (eq->size - 1)];
		bits = (eq->pi & eq->size ? 0 : KIWI_EQE_PHASE) |
		       (eq->overrun ? KIWI_EQE_OVERRUN : 0);
		entry->type = type;
		entry->code = code;
		entry->id = cpu_to_le32(id);
		smp_wmb();	/* flags become visible last */
		WRITE_ONCE(entry->flags, bits);
		eq->overrun = false;
		eq->pi++;
		fake_eq_interrupt(f, eq);
	}
	spin_unlock_irqrestore(&f->lock, flags);
}

/* Registers -------------------------------------------------------------------------- */

static u32 fake_offset(struct fake *f, const void __iomem *addr)
{
	return addr - f->fw.bar;
}

static u32 fake_read(struct fake *f, u32 reg)
{
	if (f->gone) {
		f->gone_accesses++;
		return U32_MAX;
	}
	if (reg == KIWI_REG_HEARTBEAT && !f->heart_stopped)
		++*fake_reg(f, reg);
	return reg < sizeof(f->regs) ? *fake_reg(f, reg) : 0;
}

u32 kiwi_fake_readl(const void __iomem *addr)
{
	struct fake *f = fake_current;
	unsigned long flags;
	u32 value;

	spin_lock_irqsave(&f->lock, flags);
	value = fake_read(f, fake_offset(f, addr));
	spin_unlock_irqrestore(&f->lock, flags);
	return value;
}

u64 kiwi_fake_readq(const void __iomem *addr)
{
	return kiwi_fake_readl(addr) | (u64)kiwi_fake_readl(addr + 4) << 32;
}

static void fake_write(struct fake *f, u32 reg, u32 value)
{
	if (f->gone) {
		f->gone_accesses++;
		return;
	}
	if (reg >= KIWI_REG_EQ_DB(0)) {
		fake_eq_doorbell(f, (reg - KIWI_REG_EQ_DB(0)) / 8, value);
		return;
	}
	*fake_reg(f, reg) = value;
	switch (reg) {
	case KIWI_REG_DEV_CTL:
		fake_control(f, value);
		break;
	case KIWI_REG_AQ_PI:
		fake_producer(f, value);
		break;
	case KIWI_REG_ACQ_CI:
		if (value - f->acq_ci > f->acq_pi - f->acq_ci)
			fake_broken(f, "A-4: ACQ_CI is beyond what was written");
		f->acq_ci = value;
		f->aq_armed = true;
		fake_admin_interrupt(f);
		break;
	}
}

void kiwi_fake_writel(u32 value, void __iomem *addr)
{
	struct fake *f = fake_current;
	unsigned long flags;

	spin_lock_irqsave(&f->lock, flags);
	fake_write(f, fake_offset(f, addr), value);
	spin_unlock_irqrestore(&f->lock, flags);
}

void kiwi_fake_writeq(u64 value, void __iomem *addr)
{
	kiwi_fake_writel(lower_32_bits(value), addr);
	kiwi_fake_writel(upper_32_bits(value), addr + 4);
}

/* For tests ----------------------------------------------------------------------------- */

void fake_set(struct fake *f, u32 reg, u32 value)
{
	unsigned long flags;

	spin_lock_irqsave(&f->lock, flags);
	*fake_reg(f, reg) = value;
	spin_unlock_irqrestore(&f->lock, flags);
}

u32 fake_get(struct fake *f, u32 reg)
{
	return READ_ONCE(*fake_reg(f, reg));
}

/* The command fetched as the @n-th ever, which must be among the last FAKE_CMDS. */
const struct fake_cmd *fake_cmd(struct fake *f, unsigned int n)
{
	return &f->cmds[n % FAKE_CMDS];
}

const struct fake_cmd *fake_last_cmd(struct fake *f)
{
	return fake_cmd(f, f->nr_cmds - 1);
}

/* A completion that the device makes up. */
void fake_write_reply(struct fake *f, const struct kiwi_acq_entry *reply)
{
	unsigned long flags;

	spin_lock_irqsave(&f->lock, flags);
	fake_post(f, reply);
	spin_unlock_irqrestore(&f->lock, flags);
}

/* Completes a command that was held. */
void fake_complete(struct fake *f, const struct fake_cmd *cmd)
{
	unsigned long flags;

	spin_lock_irqsave(&f->lock, flags);
	fake_complete_locked(f, cmd);
	spin_unlock_irqrestore(&f->lock, flags);
}

static void fake_call_work(struct work_struct *work)
{
	struct fake_call *call = container_of(work, struct fake_call, work);

	call->ret = kiwi_fw_exec(call->fw, call->opcode, call->in, call->in_len, call->out,
				 call->out_len, &call->err);
	/* The result is there when its reader sees this. */
	smp_store_release(&call->done, true);
}

/**
 * fake_call() - begin a command in another thread
 * @f: device
 * @opcode: in the ABI
 * @in: input
 * @in_len: of it, at most 64
 * @out_len: of the reply, likewise
 *
 * Return: the call, to be waited for with fake_wait()
 */
struct fake_call *fake_call(struct fake *f, u16 opcode, const void *in, size_t in_len,
			    size_t out_len)
{
	struct fake_call *call = kunit_kzalloc(f->test, sizeof(*call), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(f->test, call);
	INIT_WORK(&call->work, fake_call_work);
	call->fw = &f->fw;
	call->opcode = opcode;
	call->in_len = in_len;
	call->out_len = out_len;
	memcpy(call->in, in, in_len);
	queue_work(f->callers, &call->work);
	return call;
}

int fake_wait(struct fake_call *call)
{
	flush_work(&call->work);
	return call->ret;
}

/* The PCI function ------------------------------------------------------------------------ */

static int fake_config_read(struct pci_bus *bus, unsigned int devfn, int where, int size,
			    u32 *value)
{
	struct fake *f = container_of(bus, struct fake, bus);

	*value = 0;
	memcpy(value, &f->config[where], size);
	return PCIBIOS_SUCCESSFUL;
}

static int fake_config_write(struct pci_bus *bus, unsigned int devfn, int where, int size,
			     u32 value)
{
	struct fake *f = container_of(bus, struct fake, bus);

	memcpy(&f->config[where], &value, size);
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops fake_pci_ops = {
	.read = fake_config_read,
	.write = fake_config_write,
};

bool fake_is_master(struct fake *f)
{
	return f->config[PCI_COMMAND] & PCI_COMMAND_MASTER;
}

static void fake_pdev_init(struct fake *f)
{
	struct pci_dev *pdev = &f->pdev;

	f->bus.ops = &fake_pci_ops;
	pdev->bus = &f->bus;
	pdev->error_state = pci_channel_io_normal;
	pdev->dev.init_name = "kiwi-fake";
	set_dev_node(&pdev->dev, NUMA_NO_NODE);
	pdev->dma_mask = DMA_BIT_MASK(32);
	pdev->dev.dma_mask = &pdev->dma_mask;
	pdev->dev.coherent_dma_mask = DMA_BIT_MASK(32);
	pdev->dev.dma_parms = &pdev->dma_parms;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	pdev->resource[KIWI_BAR_DOORBELL].start = FAKE_DB_BASE;
	pdev->resource[KIWI_BAR_DOORBELL].end = FAKE_DB_BASE + FAKE_DB_PAGES * SZ_4K - 1;
	pdev->resource[KIWI_BAR_DOORBELL].flags = IORESOURCE_MEM;
}

static void fake_on_event(void *priv, const struct kiwi_eqe *eqe, bool lost)
{
	struct fake *f = priv;
	unsigned int n = f->nr_events;

	f->events[n % ARRAY_SIZE(f->events)] = *eqe;
	f->nr_lost += lost;
	/* Pairs with the acquire of who waits for it. */
	smp_store_release(&f->nr_events, n + 1);
}

static void fake_on_down(void *priv, enum kiwi_reset_reason reason)
{
	struct fake *f = priv;

	f->down_reason = reason;
	/* The reason is there when its reader sees this. */
	smp_store_release(&f->downs, f->downs + 1);
}

static const struct kiwi_fw_ops fake_ops = {
	.event = fake_on_event,
	.down = fake_on_down,
};

static void fake_registers_init(struct fake *f)
{
	fake_set(f, KIWI_REG_MAGIC, KIWI_MAGIC);
	fake_set(f, KIWI_REG_ABI, KIWI_ABI_MAJOR << 16 | KIWI_ABI_MINOR);
	fake_set(f, KIWI_REG_PART, KIWI_PART_SNIC);
	fake_set(f, KIWI_REG_LIMITS, FIELD_PREP(KIWI_LIMITS_AQ_LOG2_MAX, 3) |
				     FIELD_PREP(KIWI_LIMITS_EQ_LOG2_MAX, KIWI_EQ_LOG2_MIN) |
				     FIELD_PREP(KIWI_LIMITS_DB_PAGE_SHIFT, 12));
	fake_set(f, KIWI_REG_CMD_TIMEOUT_MS, 10000);
	fake_set(f, KIWI_REG_RESET_TIMEOUT_MS, 50);
	fake_set(f, KIWI_REG_HEARTBEAT_MS, 60000);
	fake_set(f, KIWI_REG_DMA_BITS, 48);
	fake_set(f, KIWI_REG_EQ_COUNT, FAKE_EQS);
	fake_set(f, KIWI_REG_DB_PAGES, FAKE_DB_PAGES);
	fake_set(f, KIWI_REG_DEV_STS, KIWI_DEV_STS_READY);
}

/* As kiwi_fw_create() does with a function that is really there. */
static int fake_fw_init(struct fake *f)
{
	struct kiwi_fw *fw = &f->fw;

	fw->pdev = &f->pdev;
	fw->part = KIWI_PART_SNIC;
	fw->ops = &fake_ops;
	fw->priv = f;
	/* Memory poses as the BAR: here, and only here, does the address space change. */
	fw->bar = (__force void __iomem *)f->regs;
	fw->regs = fw->bar;
	xa_init(&fw->comps);
	kiwi_fw_state_init(fw);
	kiwi_fw_health_init(fw);
	kiwi_fw_admin_init(fw);
	kiwi_fw_db_init(fw);
	f->callers = alloc_workqueue("kiwi_fw_test_callers", WQ_UNBOUND, 0);
	if (!f->callers)
		return -ENOMEM;
	fw->wq = alloc_workqueue("kiwi_fw_test", WQ_UNBOUND, 0);
	if (!fw->wq)
		return -ENOMEM;
	fw->limits[KIWI_FW_RESET_TIMEOUT_MS] = fake_get(f, KIWI_REG_RESET_TIMEOUT_MS);
	return kiwi_fw_irq_alloc(fw);
}

/**
 * fake_init() - for a suite: a device that is stopped, test->priv
 * @test: test
 *
 * Return: 0 or an errno
 */
int fake_init(struct kunit *test)
{
	struct fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	if (!f)
		return -ENOMEM;
	f->cmds = kunit_kcalloc(test, FAKE_CMDS, sizeof(*f->cmds), GFP_KERNEL);
	if (!f->cmds)
		return -ENOMEM;
	f->test = test;
	f->eqn_force = -1;
	spin_lock_init(&f->lock);
	fake_irqs_init(f);
	fake_pdev_init(f);
	fake_registers_init(f);
	fake_current = f;
	test->priv = f;
	return fake_fw_init(f);
}

/**
 * fake_init_started() - for a suite: a device that is up and delivers events
 * @test: test
 *
 * Return: 0 or an errno
 */
int fake_init_started(struct kunit *test)
{
	struct fake *f;
	int ret;

	ret = fake_init(test);
	if (ret)
		return ret;
	f = test->priv;
	ret = kiwi_fw_start(&f->fw);
	if (!ret)
		kiwi_fw_enable_events(&f->fw);
	return ret;
}

/**
 * fake_exit() - for a suite: stops the device; the driver has kept to the ABI
 * @test: test
 */
void fake_exit(struct kunit *test)
{
	struct fake *f = test->priv;

	if (!f)
		return;
	f->hold = false;
	f->reply = NULL;
	if (f->fw.wq) {
		kiwi_fw_stop(&f->fw, KIWI_RESET_REMOVE);
		destroy_workqueue(f->fw.wq);
	}
	if (f->callers)
		destroy_workqueue(f->callers);
	KUNIT_EXPECT_STREQ(test, f->broken ?: "", "");
	KUNIT_EXPECT_FALSE(test, fake_is_master(f));
	KUNIT_EXPECT_TRUE(test, xa_empty(&f->fw.db_pages));
}
