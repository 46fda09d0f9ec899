/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between the hosts of two dies (F-55).
 */
#include "g2g.h"
#include "qemu/bswap.h"

uint16_t g2g_mail_kept(G2gState *s)
{
    return kiwi_accepted(KIWI(s), KIWI_G2G_CAP_MAIL) ? s->mail_max : 0;
}

uint16_t g2g_mail_room(const G2gPeer *p)
{
    return g2g_peer_up(p) ? p->mail_limit - (p->mail_sent - p->mail_taken) : 0;
}

void g2g_mail_peer_gone(G2gPeer *p)
{
    GList *next;

    for (GList *i = p->s->mail->head; i; i = next) {
        struct kiwi_g2g_mail *m = i->data;

        next = i->next;
        if (le16_to_cpu(m->accel) == p->accel) {
            g_queue_delete_link(p->s->mail, i);
            g_free(m);
        }
    }
}

void g2g_mail_reset(G2gState *s)
{
    struct kiwi_g2g_mail *m;

    while ((m = g_queue_pop_head(s->mail))) {
        g_free(m);
    }
    s->mail_told = false;
}

bool g2g_mail_rx(G2gPeer *p, const void *data, uint16_t len)
{
    G2gState *s = p->s;
    struct kiwi_g2g_mail *m;

    if (p->mail_got - p->mail_read >= g2g_mail_kept(s)) {
        return false;
    }
    m = g_new0(struct kiwi_g2g_mail, 1);
    m->accel = cpu_to_le16(p->accel);
    m->len = cpu_to_le16(len);
    m->generation = cpu_to_le32(p->generation);
    memcpy(m->data, data, len);
    g_queue_push_tail(s->mail, m);
    p->mail_got++;
    s->count.mail_received++;
    if (!s->mail_told) {
        s->mail_told = true;
        g2g_event(s, KIWI_G2G_EV_MAIL, 0, 0, 0);
    }
    return true;
}

void g2g_mail_room_rx(G2gPeer *p, uint64_t taken)
{
    if (taken - p->mail_taken > p->mail_sent - p->mail_taken) {
        return;                 /* more than were sent, or fewer than before */
    }
    p->mail_taken = taken;
    if (p->want_room && g2g_mail_room(p)) {
        p->want_room = false;
        g2g_event(p->s, KIWI_G2G_EV_MAIL_ROOM, 0, p->accel, 0);
    }
}

/*
 * Commands
 */

#define IN_FIELD(member) offsetof(struct kiwi_g2g_mail, member)

enum kiwi_status g2g_send_mail_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    const struct kiwi_g2g_mail *in = (void *)c->in;
    uint16_t accel = le16_to_cpu(in->accel), len = le16_to_cpu(in->len);
    uint32_t generation = le32_to_cpu(in->generation);
    enum kiwi_status st;
    G2gPeer *p;
    G2gPdu *pdu;

    st = g2g_peer_check(s, c, IN_FIELD(accel), accel);
    if (!st) {
        st = kiwi_check_range(c, IN_FIELD(len), len, 1, KIWI_G2G_MAIL_MAX);
    }
    if (!st) {
        st = kiwi_check_zero(c, IN_FIELD(data[len]), KIWI_G2G_MAIL_MAX - len);
    }
    if (st) {
        return st;
    }
    p = s->peer[accel];
    if (!g2g_peer_up(p) || p->generation != generation) {
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, IN_FIELD(generation),
                           generation, p ? p->generation : 0);
    }
    if (!g2g_mail_room(p)) {
        p->want_room = true;
        return kiwi_refuse(c, KIWI_ST_NO_RESOURCE, KIWI_ERR_FIELD_NONE,
                           p->mail_limit, p->mail_limit);
    }
    pdu = g2g_pdu_new(KIWI_G2G_TX_MAIL, len);
    g2g_pdu_tx(pdu)->len = cpu_to_le16(len);
    memcpy(g2g_pdu_payload(pdu), in->data, len);
    p->mail_sent++;
    s->count.mail_sent++;
    g2g_stream_send(p, pdu);
    return KIWI_ST_OK;
}

enum kiwi_status g2g_read_mail_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    struct kiwi_g2g_mail *m = g_queue_pop_head(s->mail);
    G2gPeer *p;
    G2gPdu *pdu;

    if (!m) {
        s->mail_told = false;
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, KIWI_ERR_FIELD_NONE, 0, 0);
    }
    memcpy(c->out, m, sizeof(*m));
    p = s->peer[le16_to_cpu(m->accel)];
    g_free(m);
    pdu = g2g_pdu_new(KIWI_G2G_TX_MAIL_ROOM, 0);
    g2g_pdu_tx(pdu)->addr = cpu_to_le64(++p->mail_read);
    g2g_stream_send(p, pdu);
    return KIWI_ST_OK;
}
