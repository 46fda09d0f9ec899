#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Checks the ICRC of every RoCEv2 frame of capture files.

    icrc.py FILE.pcap...

Written from the description of the invariant CRC (IBTA, annex A17, and the
base specification's 7.8.1): the CRC-32 of Ethernet over eight bytes of ones,
in the place of a local route header, and over the packet from its IP header to the
end of the padded payload, with ones in the fields that routers may change. The
complement stands at the end of the packet, least significant byte first.

Shares no code with the device models. Exit status 0: every ICRC is right, and
there was at least one.
"""

import collections
import dataclasses
import struct
import sys
import zlib

ROCE_PORT = 4791
ETH_IPV4, ETH_IPV6 = 0x0800, 0x86dd
UDP = 17
BTH_LEN, ICRC_LEN = 12, 4


class Malformed(Exception):
    """A frame is not what its headers say."""


def pcap_frames(path):
    """The frames of a capture file of Ethernet, as bytes."""
    with open(path, "rb") as capture:
        data = capture.read()
    for order in "<>":
        if data[:4] in (struct.pack(order + "I", 0xa1b2c3d4),
                        struct.pack(order + "I", 0xa1b23c4d)):
            break
    else:
        raise ValueError(f"{path} is no pcap file")
    linktype = struct.unpack_from(order + "I", data, 20)[0]
    if linktype != 1:
        raise ValueError(f"{path} holds no Ethernet frames: link type {linktype}")
    at = 24
    while at + 16 <= len(data):
        kept, length = struct.unpack_from(order + "II", data, at + 8)
        at += 16
        if at + kept > len(data):
            return          # cut off while it was being written
        if kept != length:
            raise ValueError(f"{path} holds frames that are cut short")
        yield data[at:at + kept]
        at += kept


@dataclasses.dataclass
class Roce:
    """One RoCEv2 packet."""
    source: str             # MAC
    target: str
    raw: bytes              # from the IP header on
    version: int            # of IP
    ip_len: int             # bytes of the IP header

    @property
    def udp(self):
        """The UDP header."""
        return self.raw[self.ip_len:self.ip_len + 8]

    @property
    def bth(self):
        """The base transport header."""
        return self.raw[self.ip_len + 8:self.ip_len + 8 + BTH_LEN]

    @property
    def body(self):
        """What stands between the base transport header and the ICRC."""
        return self.raw[self.ip_len + 8 + BTH_LEN:-ICRC_LEN]

    @property
    def opcode(self):
        """Of the base transport header."""
        return self.bth[0]

    def icrc(self):
        """The ICRC that stands in the packet."""
        return struct.unpack("<I", self.raw[-ICRC_LEN:])[0]

    def icrc_computed(self):
        """The ICRC as it should be."""
        masked = bytearray(self.raw[:-ICRC_LEN])
        if self.version == 4:
            masked[1] = 0xff                    # type of service
            masked[8] = 0xff                    # time to live
            masked[10:12] = b"\xff\xff"         # header checksum
        else:
            masked[0] |= 0x0f                   # traffic class and flow label
            masked[1:4] = b"\xff\xff\xff"
            masked[7] = 0xff                    # hop limit
        masked[self.ip_len + 6:self.ip_len + 8] = b"\xff\xff"   # UDP checksum
        masked[self.ip_len + 8 + 4] = 0xff      # FECN, BECN and reserved bits
        return zlib.crc32(b"\xff" * 8 + bytes(masked))


def mac(raw):
    """An Ethernet address as text."""
    return ":".join(f"{byte:02x}" for byte in raw)


def parse(frame):
    """The frame as Roce; None when it is something else."""
    if len(frame) < 14:
        raise Malformed(f"frame of {len(frame)} bytes")
    kind = struct.unpack_from(">H", frame, 12)[0]
    ip = frame[14:]
    if kind == ETH_IPV4:
        if len(ip) < 20:
            raise Malformed(f"IPv4 packet of {len(ip)} bytes")
        version, ip_len, protocol = 4, (ip[0] & 15) * 4, ip[9]
        total = struct.unpack_from(">H", ip, 2)[0]
    elif kind == ETH_IPV6:
        if len(ip) < 40:
            raise Malformed(f"IPv6 packet of {len(ip)} bytes")
        version, ip_len, protocol = 6, 40, ip[6]
        total = 40 + struct.unpack_from(">H", ip, 4)[0]
    else:
        return None
    if protocol != UDP or len(ip) < ip_len + 8:
        return None
    if struct.unpack_from(">H", ip, ip_len + 2)[0] != ROCE_PORT:
        return None
    if version == 4 and struct.unpack_from(">H", ip, 6)[0] & 0x3fff:
        raise Malformed("fragment of a RoCEv2 packet")
    if total > len(ip):
        raise Malformed(f"IP packet of {total} bytes in a frame with room for {len(ip)}")
    if struct.unpack_from(">H", ip, ip_len + 4)[0] != total - ip_len:
        raise Malformed("UDP and IP lengths differ")
    if total < ip_len + 8 + BTH_LEN + ICRC_LEN:
        raise Malformed(f"RoCEv2 packet of {total} bytes")
    return Roce(mac(frame[6:12]), mac(frame[0:6]), ip[:total], version, ip_len)


@dataclasses.dataclass
class Report:
    """What was found in a file."""
    frames: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    faults: list = dataclasses.field(default_factory=list)

    @property
    def total(self):
        """How many RoCEv2 frames there were."""
        return sum(self.frames.values())


def check(path):
    """Reads a capture: frames by (source MAC, IP version), and what is wrong."""
    report = Report()
    for number, frame in enumerate(pcap_frames(path), 1):
        try:
            roce = parse(frame)
        except Malformed as fault:
            report.faults.append(f"frame {number}: {fault}")
            continue
        if roce is None:
            continue
        report.frames[roce.source, roce.version] += 1
        if roce.icrc() != roce.icrc_computed():
            report.faults.append(
                f"frame {number} from {roce.source}, opcode {roce.opcode:#04x}: "
                f"ICRC {roce.icrc():08x}, computed {roce.icrc_computed():08x}")
    return report


def main(paths):
    """Checks all files, and tells."""
    good = bool(paths)
    for path in paths:
        report = check(path)
        for (source, version), count in sorted(report.frames.items()):
            print(f"{path}: {count} frames from {source} over IPv{version}")
        for fault in report.faults[:20]:
            print(f"{path}: {fault}")
        print(f"{path}: {report.total} RoCEv2 frames, {len(report.faults)} faults")
        good &= report.total > 0 and not report.faults
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
