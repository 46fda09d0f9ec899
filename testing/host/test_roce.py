#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Host tests of qemu/roce.c: frames of the device model against testing/host/roce.py."""

import os
import random
import struct
import subprocess
import unittest

import known
import roce

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
OUT = os.path.join(TOP, "build", "host")

SMAC, DMAC = bytes.fromhex("024b57000001"), bytes.fromhex("024b57000002")
PAIRS = {
    "ipv4": (roce.gid("192.0.2.1"), roce.gid("192.0.2.2")),
    "ipv6": (roce.gid("2001:db8::1"), roce.gid("2001:db8::2")),
}


def build_cli():
    os.makedirs(OUT, exist_ok=True)
    cli = os.path.join(OUT, "roce-cli")
    subprocess.run(
        [os.environ.get("CC", "cc"), "-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror",
         "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
         "-I", os.path.join(TOP, "qemu"), "-o", cli, os.path.join(HERE, "roce-cli.c"),
         os.path.join(TOP, "qemu", "roce.c"), "-lz"],
        check=True, timeout=120)
    return cli


class Cli:
    def __init__(self):
        self.proc = subprocess.Popen([build_cli()], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.proc.stdin.write(line + "\n")
        self.proc.stdin.flush()
        answer = self.proc.stdout.readline()
        if not answer:
            raise AssertionError(f"roce-cli ended on: {line[:200]}")
        return answer.strip()

    def icrc(self, packet):
        return int(self.ask("icrc " + packet.hex()), 16)

    def parse(self, raw):
        return dict(field.split("=", 1) for field in self.ask("parse " + raw.hex()).split())

    def verdict(self, raw):
        return self.parse(raw)["verdict"]

    def build(self, **fields):
        words = (f"{k}={v.hex() if isinstance(v, bytes) else int(v)}" for k, v in fields.items())
        return bytes.fromhex(self.ask("build " + " ".join(words)))

    def close(self):
        self.proc.stdin.close()
        self.proc.stdout.close()
        return self.proc.wait(timeout=10)


def fields_of(opcode, rng):
    """Random values for all that a packet of the opcode carries."""
    values = {
        "imm": {"imm": rng.randbytes(4)},
        "reth": {"va": rng.getrandbits(64), "rkey": rng.getrandbits(32),
                 "dma_len": rng.getrandbits(32)},
        "aeth": {"syndrome": rng.getrandbits(8), "msn": rng.getrandbits(24)},
        "atomic_ack": {"orig": rng.getrandbits(64)},
        "atomic": {"va": rng.getrandbits(64), "rkey": rng.getrandbits(32),
                   "swap_add": rng.getrandbits(64), "compare": rng.getrandbits(64)},
    }
    fields = {"solicited": rng.getrandbits(1), "ack_req": rng.getrandbits(1)}
    for name in roce.EXTENDED[opcode]:
        fields.update(values[name])
    return fields


class RoceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cli = Cli()

    @classmethod
    def tearDownClass(cls):
        assert cls.cli.close() == 0

    def sample(self, opcode=roce.WRITE_ONLY, pair="ipv4", payload=b"0123456789", **more):
        sgid, dgid = PAIRS[pair]
        if opcode in roce.NO_PAYLOAD:
            payload = b""
        fields = fields_of(opcode, random.Random(opcode))
        fields.update(more)
        return roce.frame(opcode, 0x123456, 0xabcdef, sgid=sgid, dgid=dgid, smac=SMAC,
                          dmac=DMAC, payload=payload, **fields)

    # Frames that others made -------------------------------------------------

    def test_icrc_of_what_others_sent(self):
        packets = [known.CONNECTX4_CNP, known.UC_SEND_ONLY]
        packets += [text[28:] for text, _ in known.SOFT_ROCE]
        for packet in map(bytes.fromhex, packets):
            for icrc in (self.cli.icrc, roce.icrc):
                self.assertEqual(struct.pack("<I", icrc(packet[:-4])), packet[-4:])

    def test_parse_what_soft_roce_sent(self):
        ack, send = (self.cli.parse(bytes.fromhex(text)) for text, _ in known.SOFT_ROCE)
        self.assertEqual((ack["verdict"], ack["opcode"], ack["dest_qpn"], ack["psn"],
                          ack["syndrome"], ack["msn"], ack["payload"]),
                         ("ok", str(roce.ACK), "17", str(0x1cc739), str(0x1f), "1", ""))
        self.assertEqual((send["verdict"], send["opcode"], send["dest_qpn"], send["psn"],
                          send["ack_req"], send["payload"]),
                         ("ok", str(roce.SEND_ONLY), "46", str(0xd3ba13), "1", ""))

    # Two implementations agree ---------------------------------------------

    def test_build_is_what_the_standard_says(self):
        rng = random.Random(1)
        for pair, (sgid, dgid) in PAIRS.items():
            for opcode in roce.OPCODES:
                sizes = (0,) if opcode in roce.NO_PAYLOAD else (0, 1, 2, 3, 4, 255, 1024, 4096)
                for size in sizes:
                    fields = fields_of(opcode, rng)
                    payload = rng.randbytes(size)
                    qpn, psn = rng.getrandbits(24), rng.getrandbits(24)
                    common = dict(sgid=sgid, dgid=dgid, smac=SMAC, dmac=DMAC, payload=payload,
                                  flow_label=rng.getrandbits(20) if pair == "ipv6" else 0,
                                  hop_limit=rng.randint(1, 255), **fields)
                    tos = rng.getrandbits(8)
                    sport = rng.randint(0xc000, 0xffff)
                    want = roce.frame(opcode, qpn, psn, sport=sport,
                                      traffic_class=tos & ~3 | 2, **common)
                    got = self.cli.build(opcode=opcode, dest_qpn=qpn, psn=psn, pkey=0xffff,
                                         udp_sport=sport, traffic_class=tos, **common)
                    self.assertEqual(got.hex(), want.hex(), f"{pair} opcode {opcode} size {size}")

    def test_parse_gives_back_every_field(self):
        rng = random.Random(2)
        for sgid, dgid in PAIRS.values():
            for opcode in roce.OPCODES:
                sizes = (0,) if opcode in roce.NO_PAYLOAD else (0, 1, 2, 3, 4, 4095, 4096)
                for size in sizes:
                    fields = fields_of(opcode, rng)
                    payload = rng.randbytes(size)
                    qpn, psn, pkey = rng.getrandbits(24), rng.getrandbits(24), rng.getrandbits(16)
                    raw = roce.frame(opcode, qpn, psn, sgid=sgid, dgid=dgid, smac=SMAC, dmac=DMAC,
                                     payload=payload, pkey=pkey, **fields)
                    want = {"verdict": "ok", "opcode": opcode, "dest_qpn": qpn, "psn": psn,
                            "pkey": pkey, "sgid": sgid, "dgid": dgid, "payload": payload,
                            "va": 0, "rkey": 0, "dma_len": 0, "swap_add": 0, "compare": 0,
                            "syndrome": 0, "msn": 0, "orig": 0, "imm": bytes(4)}
                    want.update(fields)
                    want = {k: v.hex() if isinstance(v, bytes) else str(v)
                            for k, v in want.items()}
                    self.assertEqual(self.cli.parse(raw), want)

    def test_routers_may_change_what_is_masked(self):
        for pair in PAIRS:
            raw = bytearray(self.sample(pair=pair))
            udp = 14 + (20 if pair == "ipv4" else 40)
            if pair == "ipv4":
                raw[15], raw[22] = 0xaf, 3
                raw[24:26] = bytes(2)
                raw[24:26] = struct.pack(">H", roce.ipv4_checksum(raw[14:34]))
            else:
                raw[14:18], raw[21] = b"\x6a\xbc\xde\xf1", 3
            raw[udp + 6:udp + 8] = b"\x12\x34"
            raw[udp + 8 + 4] = 0xc0
            self.assertEqual(self.cli.verdict(bytes(raw)), "ok", pair)

    def test_trailing_bytes_are_padding(self):
        for pair in PAIRS:
            self.assertEqual(self.cli.verdict(self.sample(pair=pair) + b"\x55" * 40), "ok")

    # Refusals ----------------------------------------------------------------

    def test_every_truncation_is_refused(self):
        for pair in PAIRS:
            for opcode in roce.OPCODES:
                raw = self.sample(opcode, pair)
                ip = raw[14:]
                size = 14 + (int.from_bytes(ip[2:4], "big") if pair == "ipv4"
                             else 40 + int.from_bytes(ip[4:6], "big"))
                self.assertEqual(self.cli.verdict(raw[:size]), "ok")
                for n in range(size):
                    self.assertIn(self.cli.verdict(raw[:n]), ("not_roce", "malformed"),
                                  f"{pair} opcode {opcode} cut to {n}")

    def test_every_shorter_datagram_is_refused_or_shorter(self):
        """Lengths and ICRC agree, but the headers of the opcode do not fit."""
        for pair, (sgid, dgid) in PAIRS.items():
            for opcode in roce.OPCODES:
                need = 12 + sum(roce.SIZE[name] for name in roce.EXTENDED[opcode])
                for size in range(need + 9):
                    body = roce.bth(opcode, 1, 1)[:size].ljust(size, b"\0")
                    length = 8 + size + 4
                    packet = (roce.ip_header(sgid, dgid, length) +
                              struct.pack(">HHHH", 0xc000, roce.PORT, length, 0) + body)
                    if size < 12:
                        raw = packet + bytes(4)
                    else:
                        raw = roce.seal(packet)
                    ethertype = b"\x08\x00" if pair == "ipv4" else b"\x86\xdd"
                    verdict = self.cli.verdict(DMAC + SMAC + ethertype + raw)
                    fits = size >= need and (size - need) % 4 == 0
                    if opcode in roce.NO_PAYLOAD:
                        fits = size == need
                    self.assertEqual(verdict, "ok" if fits else "malformed",
                                     f"{pair} opcode {opcode} body {size}")

    def test_every_flipped_bit_is_noticed(self):
        """Only bits that the ICRC masks and nothing checks may change unseen."""
        for pair in PAIRS:
            raw = self.sample(pair=pair)
            udp = 14 + (20 if pair == "ipv4" else 40)
            unseen = set(range(12))                     # MAC addresses
            unseen |= {udp + 6, udp + 7, udp + 12}      # UDP checksum, FECN/BECN byte
            if pair == "ipv6":
                unseen |= {15, 16, 17, 21}              # class, flow label, hop limit
            for i in range(len(raw)):
                for bit in range(8):
                    bad = bytearray(raw)
                    bad[i] ^= 1 << bit
                    ok = self.cli.verdict(bytes(bad)) == "ok"
                    want = i in unseen or (pair == "ipv6" and i == 14 and bit < 4)
                    self.assertEqual(ok, want, f"{pair} byte {i} bit {bit}")

    def test_pad(self):
        for size in range(9):
            payload = b"x" * size
            for pad in range(4):
                raw = bytearray(self.sample(roce.SEND_ONLY, payload=payload))
                raw[14 + 20 + 8 + 1] = 0x40 | pad << 4
                verdict = self.cli.parse(roce.reseal(bytes(raw)))
                room = size + -size % 4
                if pad <= room:
                    self.assertEqual(verdict["verdict"], "ok")
                    self.assertEqual(len(verdict["payload"]) // 2, room - pad)
                else:
                    self.assertEqual(verdict["verdict"], "malformed")
        for opcode in roce.NO_PAYLOAD:
            raw = bytearray(self.sample(opcode))
            raw[14 + 20 + 8 + 1] |= 0x10
            self.assertEqual(self.cli.verdict(roce.reseal(bytes(raw))), "malformed")

    def test_version_and_opcode(self):
        at = 14 + 20 + 8
        for version in range(1, 16):
            raw = bytearray(self.sample())
            raw[at + 1] |= version
            self.assertEqual(self.cli.verdict(roce.reseal(bytes(raw))), "malformed")
        for opcode in range(256):
            raw = bytearray(self.sample(roce.SEND_ONLY, payload=bytes(64)))
            raw[at] = opcode
            verdict = self.cli.verdict(roce.reseal(bytes(raw)))
            if opcode not in roce.OPCODES:
                self.assertEqual(verdict, "malformed", f"opcode {opcode:#x}")

    def test_length_fields(self):
        for pair in PAIRS:
            raw = self.sample(pair=pair, payload=bytes(32))
            udp = 14 + (20 if pair == "ipv4" else 40)
            right_ip = int.from_bytes(raw[16:18] if pair == "ipv4" else raw[18:20], "big")
            right_udp = int.from_bytes(raw[udp + 4:udp + 6], "big")
            for length in [*range(0, 200), 0x7fff, 0xfff0, 0xffff]:
                for wrong_ip, wrong_udp in ((length, right_udp), (right_ip, length)):
                    if (wrong_ip, wrong_udp) == (right_ip, right_udp):
                        continue
                    bad = bytearray(raw)
                    at = 16 if pair == "ipv4" else 18
                    bad[at:at + 2] = struct.pack(">H", wrong_ip)
                    bad[udp + 4:udp + 6] = struct.pack(">H", wrong_udp)
                    if pair == "ipv4":
                        bad[24:26] = bytes(2)
                        bad[24:26] = struct.pack(">H", roce.ipv4_checksum(bad[14:34]))
                    self.assertEqual(self.cli.verdict(bytes(bad)), "malformed",
                                     f"{pair} ip {wrong_ip} udp {wrong_udp}")

    def test_ip_options(self):
        raw = self.sample()
        ip = bytearray(raw[14:34] + b"\x01\x01\x01\x00" + raw[34:])
        ip[0] = 0x46
        ip[2:4] = struct.pack(">H", len(ip))
        ip[10:12] = bytes(2)
        ip[10:12] = struct.pack(">H", roce.ipv4_checksum(ip[:24]))
        self.assertEqual(self.cli.verdict(raw[:14] + bytes(ip)), "malformed")
        raw = self.sample(pair="ipv6")
        hop_by_hop = b"\x11\x00" + b"\x01\x04" + bytes(4)
        ip = bytearray(raw[14:54] + hop_by_hop + raw[54:])
        ip[4:6] = struct.pack(">H", len(ip) - 40)
        ip[6] = 0
        self.assertEqual(self.cli.verdict(raw[:14] + bytes(ip)), "not_roce")

    def test_short_ihl(self):
        for ihl in range(5):
            raw = bytearray(self.sample())
            raw[14] = 0x40 | ihl
            self.assertIn(self.cli.verdict(bytes(raw)), ("not_roce", "malformed"))

    def test_fragments(self):
        for flags in (0x2000, 0x0001, 0x2001, 0x1fff):
            raw = bytearray(self.sample())
            raw[20:22] = struct.pack(">H", flags)
            raw[24:26] = bytes(2)
            raw[24:26] = struct.pack(">H", roce.ipv4_checksum(raw[14:34]))
            self.assertEqual(self.cli.verdict(roce.reseal(bytes(raw))), "not_roce")
        raw = self.sample(pair="ipv6")
        ip = bytearray(raw[14:54] + struct.pack(">BBHI", 17, 0, 1, 1) + raw[54:])
        ip[4:6] = struct.pack(">H", len(ip) - 40)
        ip[6] = 44
        self.assertEqual(self.cli.verdict(raw[:14] + bytes(ip)), "not_roce")

    def test_other_traffic(self):
        raw = self.sample()
        vlan = raw[:12] + b"\x81\x00\x00\x05" + raw[12:]
        arp = DMAC + SMAC + b"\x08\x06" + bytes(46)
        tcp = bytearray(raw)
        tcp[23] = 6
        port = bytearray(raw)
        port[36:38] = struct.pack(">H", 4790)
        v6_in_v4 = bytearray(raw)
        v6_in_v4[12:14] = b"\x86\xdd"
        for other in (vlan, arp, bytes(tcp), bytes(port), bytes(v6_in_v4), b"", bytes(60)):
            self.assertEqual(self.cli.verdict(other), "not_roce", other.hex())

    def test_random_damage_is_survived(self):
        rng = random.Random(3)
        seen = set()
        for _ in range(3000):
            raw = bytearray(self.sample(rng.choice(roce.OPCODES), rng.choice(list(PAIRS)),
                                        payload=rng.randbytes(rng.randint(0, 40))))
            for _ in range(rng.randint(1, 6)):
                raw[rng.randrange(12, len(raw))] = rng.getrandbits(8)
            seen.add(self.cli.verdict(bytes(raw[:rng.randint(0, len(raw))])))
        self.assertLessEqual({"not_roce", "malformed"}, seen)


if __name__ == "__main__":
    unittest.main()
