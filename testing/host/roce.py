# SPDX-License-Identifier: GPL-2.0
"""RoCEv2 frames, written a second time, from the IBTA text.

The device models are checked against it, so it shares nothing with them.
"""

import ipaddress
import struct

PORT = 4791

SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM = 0x00, 0x01, 0x02, 0x03
SEND_ONLY, SEND_ONLY_IMM = 0x04, 0x05
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM = 0x06, 0x07, 0x08, 0x09
WRITE_ONLY, WRITE_ONLY_IMM = 0x0a, 0x0b
READ_REQUEST = 0x0c
READ_RESP_FIRST, READ_RESP_MIDDLE, READ_RESP_LAST, READ_RESP_ONLY = 0x0d, 0x0e, 0x0f, 0x10
ACK, ATOMIC_ACK = 0x11, 0x12
CMP_SWAP, FETCH_ADD = 0x13, 0x14
OPCODES = range(0x15)

# Extended headers, in the order in which they stand in the packet.
EXTENDED = {op: () for op in OPCODES}
EXTENDED.update({
    SEND_LAST_IMM: ("imm",), SEND_ONLY_IMM: ("imm",), WRITE_LAST_IMM: ("imm",),
    WRITE_FIRST: ("reth",), WRITE_ONLY: ("reth",), READ_REQUEST: ("reth",),
    WRITE_ONLY_IMM: ("reth", "imm"),
    READ_RESP_FIRST: ("aeth",), READ_RESP_LAST: ("aeth",), READ_RESP_ONLY: ("aeth",),
    ACK: ("aeth",), ATOMIC_ACK: ("aeth", "atomic_ack"),
    CMP_SWAP: ("atomic",), FETCH_ADD: ("atomic",),
})
SIZE = {"imm": 4, "reth": 16, "aeth": 4, "atomic_ack": 8, "atomic": 28}
NO_PAYLOAD = (READ_REQUEST, ACK, ATOMIC_ACK, CMP_SWAP, FETCH_ADD)


def crc32_of_byte(crc):
    """CRC of one byte, bit by bit."""
    for _ in range(8):
        crc = crc >> 1 ^ (0xedb88320 if crc & 1 else 0)
    return crc


CRC32 = [crc32_of_byte(byte) for byte in range(256)]


def crc32(data):
    """CRC-32 of IEEE 802.3: reflected, preset to ones, inverted at the end."""
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRC32[(crc ^ byte) & 0xff]
    return crc ^ 0xffffffff


def icrc(packet):
    """ICRC of a packet from the IP header on, without its last four bytes."""
    masked = bytearray(packet)
    if packet[0] >> 4 == 4:
        ones, udp = (1, 8, 10, 11), 20
    else:
        masked[0] |= 0x0f
        ones, udp = (1, 2, 3, 7), 40
    for i in (*ones, udp + 6, udp + 7, udp + 8 + 4):
        masked[i] = 0xff
    return crc32(b"\xff" * 8 + bytes(masked))


def gid(address):
    """16 bytes of an address in text; IPv4 is mapped into IPv6."""
    ip = ipaddress.ip_address(address)
    return ip.packed if ip.version == 6 else bytes(10) + b"\xff\xff" + ip.packed


def ipv4_checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total ^ 0xffff


def bth(opcode, qpn, psn, *, solicited=0, migrated=1, pad=0, version=0,
        pkey=0xffff, ack_req=0, reserved=0):
    return struct.pack(">BBHII", opcode,
                       solicited << 7 | migrated << 6 | pad << 4 | version, pkey,
                       reserved << 24 | qpn, ack_req << 31 | psn)


def extended(opcode, fields):
    parts = {
        "imm": lambda: fields["imm"],
        "reth": lambda: struct.pack(">QII", fields["va"], fields["rkey"], fields["dma_len"]),
        "aeth": lambda: struct.pack(">I", fields["syndrome"] << 24 | fields["msn"]),
        "atomic_ack": lambda: struct.pack(">Q", fields["orig"]),
        "atomic": lambda: struct.pack(">QIQQ", fields["va"], fields["rkey"],
                                      fields["swap_add"], fields["compare"]),
    }
    return b"".join(parts[name]() for name in EXTENDED[opcode])


def ip_header(sgid, dgid, length, *, traffic_class=2, hop_limit=64, flow_label=0,
              protocol=17):
    if sgid[:12] == bytes(10) + b"\xff\xff":
        head = struct.pack(">BBHHHBBH4s4s", 0x45, traffic_class, 20 + length, 0, 0x4000,
                           hop_limit, protocol, 0, sgid[12:], dgid[12:])
        return head[:10] + struct.pack(">H", ipv4_checksum(head)) + head[12:]
    return struct.pack(">IHBB16s16s", 6 << 28 | traffic_class << 20 | flow_label, length,
                       protocol, hop_limit, sgid, dgid)


def seal(packet):
    """Appends the ICRC to a packet from the IP header on."""
    return packet + struct.pack("<I", icrc(packet))


def frame(opcode, qpn, psn, *, sgid, dgid, smac, dmac, payload=b"", sport=0xc000,
          traffic_class=2, hop_limit=64, flow_label=0, solicited=0, ack_req=0,
          pkey=0xffff, **fields):
    """A frame as a conforming sender makes it."""
    pad = -len(payload) % 4
    body = (bth(opcode, qpn, psn, solicited=solicited, pad=pad, pkey=pkey, ack_req=ack_req) +
            extended(opcode, fields) + payload + bytes(pad))
    length = 8 + len(body) + 4
    packet = (ip_header(sgid, dgid, length, traffic_class=traffic_class,
                        hop_limit=hop_limit, flow_label=flow_label) +
              struct.pack(">HHHH", sport, PORT, length, 0) + body)
    ethertype = b"\x08\x00" if packet[0] >> 4 == 4 else b"\x86\xdd"
    return (dmac + smac + ethertype + seal(packet)).ljust(60, b"\0")


def reseal(raw):
    """The frame with an ICRC that fits what its lengths say."""
    ip = raw[14:]
    if ip[0] >> 4 == 4:
        total = int.from_bytes(ip[2:4], "big")
    else:
        total = 40 + int.from_bytes(ip[4:6], "big")
    return raw[:14] + seal(ip[:total - 4]) + ip[total:]


def parse(raw):
    """Fields of a frame that a conforming sender made; anything else raises ValueError."""
    def need(condition, what):
        if not condition:
            raise ValueError(f"{what}: {raw.hex()}")

    ip = raw[14:]
    if raw[12:14] == b"\x08\x00":
        size, total = 20, int.from_bytes(ip[2:4], "big")
        need(ip[0] == 0x45 and ipv4_checksum(ip[:20]) == 0, "IPv4 header")
        need(ip[4:8] == b"\0\0\x40\0", "identification or fragment")
        fields = {"sgid": bytes(10) + b"\xff\xff" + ip[12:16],
                  "dgid": bytes(10) + b"\xff\xff" + ip[16:20],
                  "traffic_class": ip[1], "hop_limit": ip[8], "flow_label": 0}
        protocol = ip[9]
    else:
        need(raw[12:14] == b"\x86\xdd" and ip[0] >> 4 == 6, "ethertype")
        size, total = 40, 40 + int.from_bytes(ip[4:6], "big")
        word = int.from_bytes(ip[:4], "big")
        fields = {"sgid": ip[8:24], "dgid": ip[24:40], "traffic_class": word >> 20 & 0xff,
                  "flow_label": word & 0xfffff, "hop_limit": ip[7]}
        protocol = ip[6]
    need(total <= len(ip) and len(raw) == max(60, 14 + total), "length")
    sport, dport, udp_len, udp_sum = struct.unpack(">HHHH", ip[size:size + 8])
    need(protocol == 17 and dport == PORT and udp_len == total - size and udp_sum == 0, "UDP")
    need(struct.unpack("<I", ip[total - 4:total])[0] == icrc(ip[:total - 4]), "ICRC")

    body = ip[size + 8:total - 4]
    opcode, flags, pkey, qpn, psn = struct.unpack(">BBHII", body[:12])
    need(flags & 0x4f == 0x40 and opcode in OPCODES, "BTH")
    need(qpn >> 24 == 0 and psn >> 24 & 0x7f == 0, "BTH reserved")
    pad = flags >> 4 & 3
    fields.update(smac=raw[6:12], dmac=raw[:6], sport=sport, opcode=opcode, pkey=pkey, qpn=qpn,
                  psn=psn & 0xffffff, solicited=flags >> 7, ack_req=psn >> 31)
    at = 12
    for name in EXTENDED[opcode]:
        part = body[at:at + SIZE[name]]
        at += SIZE[name]
        if name == "imm":
            fields["imm"] = part
        elif name == "reth":
            fields["va"], fields["rkey"], fields["dma_len"] = struct.unpack(">QII", part)
        elif name == "aeth":
            fields["syndrome"], fields["msn"] = part[0], int.from_bytes(part[1:], "big")
        elif name == "atomic_ack":
            fields["orig"] = int.from_bytes(part, "big")
        else:
            fields["va"], fields["rkey"], fields["swap_add"], fields["compare"] = \
                struct.unpack(">QIQQ", part)
    need(at + pad <= len(body) and len(body) % 4 == 0 and not any(body[len(body) - pad:]), "pad")
    fields["payload"] = body[at:len(body) - pad]
    return fields
