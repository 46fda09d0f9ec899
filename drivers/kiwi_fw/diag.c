// SPDX-License-Identifier: GPL-2.0
/* Diagnostic counters of a device in sysfs. */
#include <kiwi/compat.h>
#include <kiwi/fw.h>
#include <kiwi/part.h>
#include <kiwi/sysfs.h>
#include <kiwi_abi/diag.h>

static ssize_t diag_emit(struct kiwi_part *part, unsigned long index, char *buf)
{
	u64 value = kiwi_fw_diag(part->fw, index);

	return value == U64_MAX ? -ENODEV : sysfs_emit(buf, "%llu\n", value);
}

/* Also of a device that failed: the counters are for finding out why. */
#define DIAG_ATTR(_name, _index)	\
	KIWI_DEV_ATTR_WHEN_DOWN(__stringify(_name), diag_emit, KIWI_DIAG_##_index)

#define DMA_ATTR(_name, _kind, _target, _what)		\
	DIAG_ATTR(dma_##_name, DMA(KIWI_DMA_##_kind, KIWI_DMA_##_target, KIWI_DMA_##_what))

static struct attribute *diag_attrs[] = {
	DIAG_ATTR(live_pd, LIVE_PD),
	DIAG_ATTR(live_mr, LIVE_MR),
	DIAG_ATTR(live_cq, LIVE_CQ),
	DIAG_ATTR(live_qp, LIVE_QP),
	DIAG_ATTR(live_eq, LIVE_EQ),
	DIAG_ATTR(live_db_page, LIVE_DB_PAGE),
	DIAG_ATTR(live_export, LIVE_EXPORT),
	DIAG_ATTR(live_window, LIVE_WINDOW),
	DIAG_ATTR(live_binding, LIVE_BINDING),
	DIAG_ATTR(lost_at_reset, LOST_AT_RESET),
	DIAG_ATTR(db_accepted, DB_ACCEPTED),
	DIAG_ATTR(db_closed_page, DB_CLOSED_PAGE),
	DIAG_ATTR(db_malformed, DB_MALFORMED),
	DIAG_ATTR(db_no_queue, DB_NO_QUEUE),
	DIAG_ATTR(db_other_page, DB_OTHER_PAGE),
	DIAG_ATTR(db_old_epoch, DB_OLD_EPOCH),
	DIAG_ATTR(db_bad_index, DB_BAD_INDEX),
	DIAG_ATTR(msix_sent, MSIX_SENT),
	DIAG_ATTR(eqe_written, EQE_WRITTEN),
	DIAG_ATTR(eqe_lost, EQE_LOST),
	DIAG_ATTR(commands, COMMANDS),
	DMA_ATTR(admin_system_transactions, ADMIN, SYSTEM, TRANSACTIONS),
	DMA_ATTR(admin_system_bytes, ADMIN, SYSTEM, BYTES),
	DMA_ATTR(admin_peer_transactions, ADMIN, PEER, TRANSACTIONS),
	DMA_ATTR(admin_peer_bytes, ADMIN, PEER, BYTES),
	DMA_ATTR(admin_fault_transactions, ADMIN, FAULT, TRANSACTIONS),
	DMA_ATTR(admin_fault_bytes, ADMIN, FAULT, BYTES),
	DMA_ATTR(pbl_system_transactions, PBL, SYSTEM, TRANSACTIONS),
	DMA_ATTR(pbl_system_bytes, PBL, SYSTEM, BYTES),
	DMA_ATTR(pbl_peer_transactions, PBL, PEER, TRANSACTIONS),
	DMA_ATTR(pbl_peer_bytes, PBL, PEER, BYTES),
	DMA_ATTR(pbl_fault_transactions, PBL, FAULT, TRANSACTIONS),
	DMA_ATTR(pbl_fault_bytes, PBL, FAULT, BYTES),
	DMA_ATTR(eqe_system_transactions, EQE, SYSTEM, TRANSACTIONS),
	DMA_ATTR(eqe_system_bytes, EQE, SYSTEM, BYTES),
	DMA_ATTR(eqe_peer_transactions, EQE, PEER, TRANSACTIONS),
	DMA_ATTR(eqe_peer_bytes, EQE, PEER, BYTES),
	DMA_ATTR(eqe_fault_transactions, EQE, FAULT, TRANSACTIONS),
	DMA_ATTR(eqe_fault_bytes, EQE, FAULT, BYTES),
	DMA_ATTR(wqe_system_transactions, WQE, SYSTEM, TRANSACTIONS),
	DMA_ATTR(wqe_system_bytes, WQE, SYSTEM, BYTES),
	DMA_ATTR(wqe_peer_transactions, WQE, PEER, TRANSACTIONS),
	DMA_ATTR(wqe_peer_bytes, WQE, PEER, BYTES),
	DMA_ATTR(wqe_fault_transactions, WQE, FAULT, TRANSACTIONS),
	DMA_ATTR(wqe_fault_bytes, WQE, FAULT, BYTES),
	DMA_ATTR(cqe_system_transactions, CQE, SYSTEM, TRANSACTIONS),
	DMA_ATTR(cqe_system_bytes, CQE, SYSTEM, BYTES),
	DMA_ATTR(cqe_peer_transactions, CQE, PEER, TRANSACTIONS),
	DMA_ATTR(cqe_peer_bytes, CQE, PEER, BYTES),
	DMA_ATTR(cqe_fault_transactions, CQE, FAULT, TRANSACTIONS),
	DMA_ATTR(cqe_fault_bytes, CQE, FAULT, BYTES),
	DMA_ATTR(cq_ci_system_transactions, CQ_CI, SYSTEM, TRANSACTIONS),
	DMA_ATTR(cq_ci_system_bytes, CQ_CI, SYSTEM, BYTES),
	DMA_ATTR(cq_ci_peer_transactions, CQ_CI, PEER, TRANSACTIONS),
	DMA_ATTR(cq_ci_peer_bytes, CQ_CI, PEER, BYTES),
	DMA_ATTR(cq_ci_fault_transactions, CQ_CI, FAULT, TRANSACTIONS),
	DMA_ATTR(cq_ci_fault_bytes, CQ_CI, FAULT, BYTES),
	DMA_ATTR(db_record_system_transactions, DB_RECORD, SYSTEM, TRANSACTIONS),
	DMA_ATTR(db_record_system_bytes, DB_RECORD, SYSTEM, BYTES),
	DMA_ATTR(db_record_peer_transactions, DB_RECORD, PEER, TRANSACTIONS),
	DMA_ATTR(db_record_peer_bytes, DB_RECORD, PEER, BYTES),
	DMA_ATTR(db_record_fault_transactions, DB_RECORD, FAULT, TRANSACTIONS),
	DMA_ATTR(db_record_fault_bytes, DB_RECORD, FAULT, BYTES),
	DMA_ATTR(payload_read_system_transactions, PAYLOAD_READ, SYSTEM, TRANSACTIONS),
	DMA_ATTR(payload_read_system_bytes, PAYLOAD_READ, SYSTEM, BYTES),
	DMA_ATTR(payload_read_peer_transactions, PAYLOAD_READ, PEER, TRANSACTIONS),
	DMA_ATTR(payload_read_peer_bytes, PAYLOAD_READ, PEER, BYTES),
	DMA_ATTR(payload_read_fault_transactions, PAYLOAD_READ, FAULT, TRANSACTIONS),
	DMA_ATTR(payload_read_fault_bytes, PAYLOAD_READ, FAULT, BYTES),
	DMA_ATTR(payload_write_system_transactions, PAYLOAD_WRITE, SYSTEM, TRANSACTIONS),
	DMA_ATTR(payload_write_system_bytes, PAYLOAD_WRITE, SYSTEM, BYTES),
	DMA_ATTR(payload_write_peer_transactions, PAYLOAD_WRITE, PEER, TRANSACTIONS),
	DMA_ATTR(payload_write_peer_bytes, PAYLOAD_WRITE, PEER, BYTES),
	DMA_ATTR(payload_write_fault_transactions, PAYLOAD_WRITE, FAULT, TRANSACTIONS),
	DMA_ATTR(payload_write_fault_bytes, PAYLOAD_WRITE, FAULT, BYTES),
	NULL
};

/* Exports, windows and bindings are of G2G dies alone. */
static bool is_of_part(const struct kiwi_part *part, unsigned long index)
{
	return index < KIWI_DIAG_LIVE_EXPORT || index > KIWI_DIAG_LIVE_BINDING ||
	       part->ops->number == KIWI_PART_G2G;
}

static umode_t diag_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	const struct kiwi_dev_attr *dev_attr = container_of(attr, struct kiwi_dev_attr, attr.attr);
	const struct kiwi_part *part = dev_get_drvdata(kobj_to_dev(kobj));

	if (!(kiwi_fw_identity(part->fw)->caps & KIWI_CAP_DIAG))
		return 0;
	return is_of_part(part, dev_attr->arg) ? attr->mode : 0;
}

/* For device.groups: folder diag, which is there with KIWI_CAP_DIAG. */
const struct attribute_group kiwi_diag_group = {
	.name = "diag",
	.attrs = diag_attrs,
	.is_visible = diag_visible,
};
EXPORT_SYMBOL_NS_GPL(kiwi_diag_group, "KIWI_FW");
