// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lets test_roce.py call qemu/roce.c: one request a line on stdin, one answer a
 * line on stdout.
 *
 *   icrc HEX                 packet from the IP header on, without ICRC
 *   parse HEX                a frame
 *   build NAME=VALUE...      numbers in C notation, addresses and bytes in hex
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roce.h"

#define LINE_MAX_BYTES (4 * ROCE_FRAME_MAX)

static size_t from_hex(const char *hex, uint8_t *out, size_t room)
{
    size_t n = 0;
    unsigned byte;

    while (hex[0] && hex[1]) {
        if (n == room || sscanf(hex, "%2x", &byte) != 1) {
            fprintf(stderr, "bad hex: %s\n", hex);
            exit(2);
        }
        out[n++] = byte;
        hex += 2;
    }
    return n;
}

static void print_hex(const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        printf("%02x", p[i]);
    }
}

/* A block of exactly the size, so that a sanitizer sees reads beyond it. */
static uint8_t *exact(const uint8_t *p, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);

    memcpy(copy, p, len);
    return copy;
}

static void do_icrc(const char *hex)
{
    uint8_t buf[ROCE_FRAME_MAX];
    size_t len = from_hex(hex, buf, sizeof(buf));

    printf("%08x\n", roce_icrc(buf, len));
}

static void do_parse(const char *hex)
{
    static const char *const verdicts[] = {
        [ROCE_OK] = "ok", [ROCE_NOT_ROCE] = "not_roce",
        [ROCE_MALFORMED] = "malformed", [ROCE_BAD_ICRC] = "bad_icrc",
    };
    uint8_t buf[2 * ROCE_FRAME_MAX];
    size_t len = from_hex(hex, buf, sizeof(buf));
    uint8_t *frame = exact(buf, len);
    RocePacket p;
    RoceVerdict verdict = roce_parse(frame, len, &p);

    printf("verdict=%s", verdicts[verdict]);
    if (verdict == ROCE_OK) {
        printf(" opcode=%u solicited=%u ack_req=%u pkey=%u dest_qpn=%u psn=%u "
               "va=%llu rkey=%u dma_len=%u swap_add=%llu compare=%llu "
               "syndrome=%u msn=%u orig=%llu imm=", p.opcode, p.solicited,
               p.ack_req, p.pkey, p.dest_qpn, p.psn, (unsigned long long)p.va,
               p.rkey, p.dma_len, (unsigned long long)p.swap_add,
               (unsigned long long)p.compare, p.syndrome, p.msn,
               (unsigned long long)p.orig);
        print_hex(p.imm, sizeof(p.imm));
        printf(" sgid=");
        print_hex(p.sgid, sizeof(p.sgid));
        printf(" dgid=");
        print_hex(p.dgid, sizeof(p.dgid));
        printf(" payload=");
        print_hex(p.payload, p.payload_len);
    }
    printf("\n");
    free(frame);
}

static void do_build(char *args)
{
    uint8_t frame[ROCE_FRAME_MAX], payload[ROCE_MTU_MAX];
    RocePath path = { 0 };
    RocePacket p = { 0 };
    uint8_t *at;

    for (char *name = strtok(args, " "); name; name = strtok(NULL, " ")) {
        char *value = strchr(name, '=');
        unsigned long long n;

        if (!value) {
            fprintf(stderr, "no value: %s\n", name);
            exit(2);
        }
        *value++ = 0;
        n = strtoull(value, NULL, 0);
#define BYTES(field, to) \
    do { \
        if (!strcmp(name, #field)) { \
            from_hex(value, to, sizeof(to)); \
        } \
    } while (0)
#define NUMBER(field, to) \
    do { \
        if (!strcmp(name, #field)) { \
            (to) = n; \
        } \
    } while (0)
        BYTES(smac, path.smac);
        BYTES(dmac, path.dmac);
        BYTES(sgid, path.sgid);
        BYTES(dgid, path.dgid);
        NUMBER(flow_label, path.flow_label);
        NUMBER(udp_sport, path.udp_sport);
        NUMBER(traffic_class, path.traffic_class);
        NUMBER(hop_limit, path.hop_limit);
        NUMBER(opcode, p.opcode);
        NUMBER(solicited, p.solicited);
        NUMBER(ack_req, p.ack_req);
        NUMBER(pkey, p.pkey);
        NUMBER(dest_qpn, p.dest_qpn);
        NUMBER(psn, p.psn);
        NUMBER(va, p.va);
        NUMBER(rkey, p.rkey);
        NUMBER(dma_len, p.dma_len);
        NUMBER(swap_add, p.swap_add);
        NUMBER(compare, p.compare);
        NUMBER(syndrome, p.syndrome);
        NUMBER(msn, p.msn);
        NUMBER(orig, p.orig);
        BYTES(imm, p.imm);
        if (!strcmp(name, "payload")) {
            p.payload_len = from_hex(value, payload, sizeof(payload));
        }
    }
    memset(frame, 0xee, sizeof(frame));
    at = roce_build(frame, &path, &p);
    memcpy(at, payload, p.payload_len);
    print_hex(frame, roce_finish(frame, at, p.payload_len));
    printf("\n");
}

int main(void)
{
    static char line[LINE_MAX_BYTES];

    while (fgets(line, sizeof(line), stdin)) {
        char *args = strchr(line, ' ');

        line[strcspn(line, "\n")] = 0;
        if (!args) {
            fprintf(stderr, "no request: %s\n", line);
            return 2;
        }
        *args++ = 0;
        if (!strcmp(line, "icrc")) {
            do_icrc(args);
        } else if (!strcmp(line, "parse")) {
            do_parse(args);
        } else if (!strcmp(line, "build")) {
            do_build(args);
        } else {
            fprintf(stderr, "unknown request: %s\n", line);
            return 2;
        }
        fflush(stdout);
    }
    return 0;
}
