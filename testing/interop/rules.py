#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Checks that RoCEv2 frames of a sender keep the rules of firmware-abi/spec/snic.md.

    rules.py MTU MAC FILE.pcap...

The rules are S-30, S-31 and S-33. Exit status 0: there were frames from MAC and
all keep them, with paths of that MTU.
"""

import struct
import sys

import icrc

# Extended headers of the RC opcodes, in bytes. [IBTA: 9.2]
RETH, ATOMIC, AETH, ATOMIC_ACK, IMM = 16, 28, 4, 8, 4
SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, SEND_ONLY, SEND_ONLY_IMM = range(0x00, 0x06)
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM, WRITE_ONLY, WRITE_ONLY_IMM = \
    range(0x06, 0x0c)
READ, RESP_FIRST, RESP_MIDDLE, RESP_LAST, RESP_ONLY, ACK, ATOMIC_RESP, CMP_SWAP, FETCH_ADD = \
    range(0x0c, 0x15)
EXTENDED = {
    SEND_FIRST: 0, SEND_MIDDLE: 0, SEND_LAST: 0, SEND_LAST_IMM: IMM, SEND_ONLY: 0,
    SEND_ONLY_IMM: IMM, WRITE_FIRST: RETH, WRITE_MIDDLE: 0, WRITE_LAST: 0, WRITE_LAST_IMM: IMM,
    WRITE_ONLY: RETH, WRITE_ONLY_IMM: RETH + IMM, READ: RETH, RESP_FIRST: AETH, RESP_MIDDLE: 0,
    RESP_LAST: AETH, RESP_ONLY: AETH, ACK: AETH, ATOMIC_RESP: AETH + ATOMIC_ACK,
    CMP_SWAP: ATOMIC, FETCH_ADD: ATOMIC,
}
FULL = {SEND_FIRST, SEND_MIDDLE, WRITE_FIRST, WRITE_MIDDLE, RESP_FIRST, RESP_MIDDLE}
LAST = {SEND_LAST, SEND_LAST_IMM, WRITE_LAST, WRITE_LAST_IMM, RESP_LAST}
EMPTY = {READ, ACK, ATOMIC_RESP, CMP_SWAP, FETCH_ADD}
RESPONSES = {RESP_FIRST, RESP_MIDDLE, RESP_LAST, RESP_ONLY, ACK, ATOMIC_RESP}
ACK_PERIOD = 64


def ip_faults(roce):
    """What is wrong with the IP and UDP headers."""
    ip, udp = roce.packet[:roce.ip_len], roce.udp
    if roce.version == 4:
        if ip[0] != 0x45:
            yield "IPv4 options"
        if ip[4:6] != b"\0\0":
            yield f"identification {ip[4:6].hex()}"
        if ip[6:8] != b"\x40\0":
            yield f"fragment field {ip[6:8].hex()}"
        if sum(struct.unpack(">10H", ip)) % 0xffff:
            yield "IPv4 checksum"
        ecn = ip[1] & 3
    else:
        ecn = ip[1] >> 4 & 3
    if ecn != 2:
        yield f"ECN bits {ecn}"
    if udp[6:8] != b"\0\0":
        yield f"UDP checksum {udp[6:8].hex()}"
    if udp[0] < 0xc0:
        yield f"UDP source port {udp[:2].hex()}"


def bth_faults(roce, mtu):
    """What is wrong with the transport headers and the payload."""
    bth, opcode = roce.bth, roce.opcode
    if opcode not in EXTENDED:
        yield "unknown opcode"
        return
    pad = bth[1] >> 4 & 3
    if bth[1] & 0x0f:
        yield f"transport header version {bth[1] & 15}"
    if not bth[1] & 0x40:
        yield "migration bit clear"
    if bth[2:4] != b"\xff\xff":
        yield f"P_Key {bth[2:4].hex()}"
    if bth[4] or bth[8] & 0x7f:
        yield "reserved bits"
    payload = len(roce.body) - EXTENDED[opcode] - pad
    if payload < 0 or (payload + pad) % 4:
        yield f"{len(roce.body)} bytes with pad {pad}"
        return
    if pad and any(roce.body[-pad:]):
        yield "pad bytes are not zero"
    if opcode in FULL and payload != mtu:
        yield f"payload {payload} in the middle of a message"
    if opcode in LAST and not 0 < payload <= mtu:
        yield f"payload {payload} at the end of a message"
    if payload > mtu or (opcode in EMPTY and payload):
        yield f"payload {payload}"
    if opcode not in RESPONSES | FULL and not bth[8] & 0x80:
        yield "the last packet of a message does not ask for an ACK"


def check(path, source, mtu):
    """(frames of the sender, what is wrong with them)."""
    count, faults, silent = 0, [], {}
    for number, frame in enumerate(icrc.pcap_frames(path), 1):
        roce = icrc.parse(frame)
        if roce is None or roce.source != source:
            continue
        count += 1
        found = list(ip_faults(roce)) + list(bth_faults(roce, mtu))
        if roce.opcode not in RESPONSES:
            key = roce.target, roce.bth[5:8]
            silent[key] = 0 if roce.bth[8] & 0x80 else silent.get(key, 0) + 1
            if silent[key] >= ACK_PERIOD:
                found.append(f"{silent[key]} packets in a row ask for no ACK")
        faults += [f"frame {number}, opcode {roce.opcode:#04x}: {fault}" for fault in found]
    return count, faults


def main(mtu, source, *paths):
    """Checks all files, and tells."""
    good = bool(paths)
    for path in paths:
        count, faults = check(path, source, int(mtu))
        for fault in faults[:20]:
            print(f"{path}: {fault}")
        print(f"{path}: {count} frames from {source}, {len(faults)} faults")
        good &= count > 0 and not faults
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
