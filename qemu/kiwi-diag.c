/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the diagnostic counters, for reading them without a guest.
 */
#include "kiwi-diag.h"

static const char *const counter_names[KIWI_DIAG_DMA_BASE] = {
    [KIWI_DIAG_LIVE_PD] = "live_pd",
    [KIWI_DIAG_LIVE_MR] = "live_mr",
    [KIWI_DIAG_LIVE_CQ] = "live_cq",
    [KIWI_DIAG_LIVE_QP] = "live_qp",
    [KIWI_DIAG_LIVE_EQ] = "live_eq",
    [KIWI_DIAG_LIVE_DB_PAGE] = "live_db_page",
    [KIWI_DIAG_LIVE_EXPORT] = "live_export",
    [KIWI_DIAG_LIVE_WINDOW] = "live_window",
    [KIWI_DIAG_LIVE_BINDING] = "live_binding",
    [KIWI_DIAG_LOST_AT_RESET] = "lost_at_reset",
    [KIWI_DIAG_DB_ACCEPTED] = "db_accepted",
    [KIWI_DIAG_DB_CLOSED_PAGE] = "db_closed_page",
    [KIWI_DIAG_DB_MALFORMED] = "db_malformed",
    [KIWI_DIAG_DB_NO_QUEUE] = "db_no_queue",
    [KIWI_DIAG_DB_OTHER_PAGE] = "db_other_page",
    [KIWI_DIAG_DB_OLD_EPOCH] = "db_old_epoch",
    [KIWI_DIAG_DB_BAD_INDEX] = "db_bad_index",
    [KIWI_DIAG_MSIX_SENT] = "msix_sent",
    [KIWI_DIAG_EQE_WRITTEN] = "eqe_written",
    [KIWI_DIAG_EQE_LOST] = "eqe_lost",
    [KIWI_DIAG_COMMANDS] = "commands",
    [KIWI_DIAG_MR_HELD] = "mr_held",
    [KIWI_DIAG_HELD_WQE] = "held_wqe",
    [KIWI_DIAG_HELD_REQUEST] = "held_request",
};

static const char *const kind_names[KIWI_DMA_KINDS] = {
    [KIWI_DMA_ADMIN] = "admin",
    [KIWI_DMA_PBL] = "pbl",
    [KIWI_DMA_EQE] = "eqe",
    [KIWI_DMA_WQE] = "wqe",
    [KIWI_DMA_CQE] = "cqe",
    [KIWI_DMA_CQ_CI] = "cq_ci",
    [KIWI_DMA_PAYLOAD_READ] = "payload_read",
    [KIWI_DMA_PAYLOAD_WRITE] = "payload_write",
    [KIWI_DMA_DB_RECORD] = "db_record",
};

static const char *const target_names[KIWI_DMA_TARGETS] = {
    [KIWI_DMA_SYSTEM] = "system",
    [KIWI_DMA_PEER] = "peer",
    [KIWI_DMA_FAULT] = "fault",
};

static const char *const what_names[KIWI_DMA_WHATS] = {
    [KIWI_DMA_TRANSACTIONS] = "transactions",
    [KIWI_DMA_BYTES] = "bytes",
};

void kiwi_json_append(GString *text, uint64_t value, const char *format, ...)
{
    va_list ap;

    if (!value) {
        return;
    }
    g_string_append(text, text->len > 1 ? ", \"" : "\"");
    va_start(ap, format);
    g_string_append_vprintf(text, format, ap);
    va_end(ap);
    g_string_append_printf(text, "\": %" PRIu64, value);
}

static char *diag_get(Object *obj, Error **errp)
{
    KiwiState *k = KIWI(obj);
    GString *text = g_string_new("{");

    for (int i = 0; i < KIWI_DIAG_DMA_BASE; i++) {
        if (counter_names[i]) {
            kiwi_json_append(text, k->diag[i], "%s", counter_names[i]);
        }
    }
    for (int kind = 0; kind < KIWI_DMA_KINDS; kind++) {
        for (int target = 0; target < KIWI_DMA_TARGETS; target++) {
            for (int what = 0; what < KIWI_DMA_WHATS; what++) {
                kiwi_json_append(text,
                                 k->diag[KIWI_DIAG_DMA(kind, target, what)],
                                 "dma_%s_%s_%s", kind_names[kind],
                                 target_names[target], what_names[what]);
            }
        }
    }
    g_string_append_c(text, '}');
    return g_string_free(text, false);
}

void kiwi_diag_class_init(ObjectClass *oc)
{
    object_class_property_add_str(oc, "diag", diag_get, NULL);
}
