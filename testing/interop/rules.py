#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Checks that RoCEv2 frames of a sender keep the rules of firmware-abi/spec/snic.md.

    rules.py MTU MAC FILE.pcap...

The rules are S-30, S-31 and S-33. Exit status 0: there were frames from MAC and
all keep them, with paths of that MTU.
"""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "host"))

import icrc                                                 # noqa: E402
import roce                                                 # noqa: E402

HEADERS = {op: sum(roce.SIZE[name] for name in names) for op, names in roce.EXTENDED.items()}
FULL = {roce.SEND_FIRST, roce.SEND_MIDDLE, roce.WRITE_FIRST, roce.WRITE_MIDDLE,
        roce.READ_RESP_FIRST, roce.READ_RESP_MIDDLE}
LAST = {roce.SEND_LAST, roce.SEND_LAST_IMM, roce.WRITE_LAST, roce.WRITE_LAST_IMM,
        roce.READ_RESP_LAST}
RESPONSES = {roce.READ_RESP_FIRST, roce.READ_RESP_MIDDLE, roce.READ_RESP_LAST,
             roce.READ_RESP_ONLY, roce.ACK, roce.ATOMIC_ACK}
ACK_PERIOD = 64


def ip_faults(packet):
    """What is wrong with the IP and UDP headers."""
    ip, udp = packet.raw[:packet.ip_len], packet.udp
    if packet.version == 4:
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


def bth_faults(packet, mtu):
    """What is wrong with the transport headers and the payload."""
    bth, opcode = packet.bth, packet.opcode
    if opcode not in HEADERS:
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
    payload = len(packet.body) - HEADERS[opcode] - pad
    if payload < 0 or (payload + pad) % 4:
        yield f"{len(packet.body)} bytes with pad {pad}"
        return
    if pad and any(packet.body[-pad:]):
        yield "pad bytes are not zero"
    if opcode in FULL and payload != mtu:
        yield f"payload {payload} in the middle of a message"
    if opcode in LAST and not 0 < payload <= mtu:
        yield f"payload {payload} at the end of a message"
    if payload > mtu or (opcode in roce.NO_PAYLOAD and payload):
        yield f"payload {payload}"
    if opcode not in RESPONSES | FULL and not bth[8] & 0x80:
        yield "the last packet of a message does not ask for an ACK"


def check(path, source, mtu):
    """(frames of the sender, what is wrong with them)."""
    count, faults, silent = 0, [], {}
    for number, frame in enumerate(icrc.pcap_frames(path), 1):
        packet = icrc.parse(frame)
        if packet is None or packet.source != source:
            continue
        count += 1
        found = list(ip_faults(packet)) + list(bth_faults(packet, mtu))
        if packet.opcode not in RESPONSES:
            key = packet.target, packet.bth[5:8]
            silent[key] = 0 if packet.bth[8] & 0x80 else silent.get(key, 0) + 1
            if silent[key] >= ACK_PERIOD:
                found.append(f"{silent[key]} packets in a row ask for no ACK")
        faults += [f"frame {number}, opcode {packet.opcode:#04x}: {fault}" for fault in found]
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
