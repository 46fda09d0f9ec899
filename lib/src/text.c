// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Words for values. */
#include "priv.h"

const char *text_word(const char *const *words, size_t count, unsigned int value)
{
	return value < count && words[value] ? words[value] : "?";
}

const char *kiwi_status_text(unsigned int cqe_status)
{
	static const char *const words[] = {
		[KIWI_CQE_ST_OK] = "ok",
		[KIWI_CQE_ST_LOC_LEN_ERR] = "local length error",
		[KIWI_CQE_ST_LOC_QP_OP_ERR] = "local QP operation error",
		[KIWI_CQE_ST_LOC_PROT_ERR] = "local protection error",
		[KIWI_CQE_ST_WR_FLUSH_ERR] = "work flushed",
		[KIWI_CQE_ST_BAD_RESP_ERR] = "bad response",
		[KIWI_CQE_ST_LOC_ACCESS_ERR] = "local access error",
		[KIWI_CQE_ST_REM_INV_REQ_ERR] = "remote invalid request",
		[KIWI_CQE_ST_REM_ACCESS_ERR] = "remote access error",
		[KIWI_CQE_ST_REM_OP_ERR] = "remote operation error",
		[KIWI_CQE_ST_RETRY_EXC_ERR] = "transport retries exceeded",
		[KIWI_CQE_ST_RNR_RETRY_EXC_ERR] = "RNR retries exceeded",
		[KIWI_CQE_ST_FATAL_ERR] = "fatal error",
		[KIWI_CQE_ST_GENERAL_ERR] = "general error",
	};

	return WORD(words, cqe_status);
}

const char *kiwi_opcode_text(unsigned int cqe_opcode)
{
	static const char *const words[] = {
		[KIWI_CQE_SEND] = "send",
		[KIWI_CQE_WRITE] = "write",
		[KIWI_CQE_READ] = "read",
		[KIWI_CQE_CMP_SWAP] = "cmp_swap",
		[KIWI_CQE_FETCH_ADD] = "fetch_add",
		[KIWI_CQE_NOP] = "nop",
		[KIWI_CQE_RECV] = "recv",
		[KIWI_CQE_RECV_WRITE_IMM] = "recv_write_imm",
	};

	return WORD(words, cqe_opcode);
}

const char *kiwi_event_text(unsigned int event_type)
{
	static const char *const words[] = {
		[KIWI_SNIC_EVENT_CQ_ERROR] = "CQ error",
		[KIWI_SNIC_EVENT_QP_ERROR] = "QP error",
		[KIWI_SNIC_EVENT_QP_ACCESS] = "request of the peer refused",
		[KIWI_SNIC_EVENT_QP_ESTABLISHED] = "QP established",
		[KIWI_SNIC_EVENT_QP_DRAINED] = "QP drained",
		[KIWI_SNIC_EVENT_PORT_CHANGE] = "port state changed",
		[KIWI_SNIC_EVENT_MR_REVOKED] = "MR revoked",
		[KIWI_SNIC_EVENT_DEVICE_FATAL] = "device fatal",
		[KIWI_SNIC_EVENT_LOST] = "events lost",
	};

	return WORD(words, event_type);
}

const char *kiwi_qp_state_text(unsigned int state)
{
	static const char *const words[] = {
		[KIWI_QPS_RESET] = "RESET",
		[KIWI_QPS_INIT] = "INIT",
		[KIWI_QPS_RTR] = "RTR",
		[KIWI_QPS_RTS] = "RTS",
		[KIWI_QPS_SQD] = "SQD",
		[KIWI_QPS_SQE] = "SQE",
		[KIWI_QPS_ERR] = "ERR",
	};

	return WORD(words, state);
}

const char *kiwi_port_state_text(unsigned int state)
{
	static const char *const words[] = {
		[KIWI_PORT_DOWN] = "DOWN",
		[KIWI_PORT_ACTIVE] = "ACTIVE",
	};

	return WORD(words, state);
}

const char *kiwi_mr_state_text(unsigned int state)
{
	static const char *const words[] = {
		[KIWI_MR_PINNED] = "pinned",
		[KIWI_MR_DYNAMIC] = "dynamic",
		[KIWI_MR_REVOKED] = "revoked",
	};

	return WORD(words, state);
}

const char *kiwi_path_text(unsigned int path)
{
	static const char *const words[] = {
		[KIWI_PATH_SYSTEM] = "system",
		[KIWI_PATH_P2P_SWITCH] = "p2p-switch",
		[KIWI_PATH_P2P_ROOT] = "p2p-root",
		[KIWI_PATH_MIXED] = "mixed",
	};

	return WORD(words, path);
}

const char *kiwi_path_reason_text(unsigned int reason)
{
	static const char *const words[] = {
		[KIWI_PATH_DIRECT] = "direct",
		[KIWI_PATH_USER_MEMORY] = "memory of the process",
		[KIWI_PATH_EXPORTER] = "the exporter placed the buffer in system memory",
		[KIWI_PATH_NO_SWITCH] = "no switch above both functions",
		[KIWI_PATH_ACS] = "ACS redirects requests upwards",
		[KIWI_PATH_IOMMU] = "the IOMMU translates",
	};

	return WORD(words, reason);
}

const char *kiwi_check_text(unsigned int id)
{
	static const char *const words[] = {
		[KIWI_CHECK_FIRMWARE] = "firmware",
		[KIWI_CHECK_MR_HOLD] = "mr-hold",
		[KIWI_CHECK_P2PDMA] = "p2pdma",
		[KIWI_CHECK_MOVE_NOTIFY] = "move-notify",
		[KIWI_CHECK_IOMMU] = "iommu",
		[KIWI_CHECK_ACS] = "acs",
		[KIWI_CHECK_DISTANCE] = "distance",
		[KIWI_CHECK_EXPORTER] = "exporter",
		[KIWI_CHECK_VECTORS] = "vectors",
		[KIWI_CHECK_DOORBELLS] = "doorbells",
		[KIWI_CHECK_MEMLOCK] = "memlock",
		[KIWI_CHECK_BAR] = "bar",
		[KIWI_CHECK_LINK] = "link",
		[KIWI_CHECK_PORT] = "port",
		[KIWI_CHECK_BUS_MASTER] = "bus-master",
	};

	return WORD(words, id);
}

const char *kiwi_check_state_text(unsigned int state)
{
	static const char *const words[] = {
		[KIWI_CHECK_OK] = "OK",
		[KIWI_CHECK_WARN] = "WARN",
		[KIWI_CHECK_FAIL] = "FAIL",
		[KIWI_CHECK_SKIP] = "SKIP",
	};

	return WORD(words, state);
}
