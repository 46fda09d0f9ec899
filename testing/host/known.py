# SPDX-License-Identifier: GPL-2.0
"""RoCEv2 packets that others made, with the ICRC that they gave them."""

# An ACK over IPv4 and a SEND of no bytes over IPv6, as soft-RoCE sent them, and the
# bytes behind the Ethernet addresses that their ICRC does not cover.
SOFT_ROCE = (
    ("5254004bff025254004bff010800"
     "45000030669140004011c0290a0000010a000002" "c12112b7001c0000"
     "1100ffff00000011001cc739" "1f000001" "24340c11", {15, 22, 24, 25, 40, 41, 46}),
    ("5254004bff015254004bff0286dd"
     "6000000000181140fe80000000000000505400fffe4bff02fe80000000000000505400fffe4bff01"
     "c84412b700180000" "0400ffff0000002e80d3ba13" "1d405400", {15, 16, 17, 21, 60, 61, 66}),
)

# From the IP header on: a CNP captured on a ConnectX-4 Lx, and a UC SEND ONLY, both
# published with the tests of scapy.
CONNECTX4_CNP = (
    "45c2003c718c4000401191610a0011010a001201" "000012b700280000"
    "8100ffff4000011800000000" "00000000000000000000000000000000" "82fd002a")
UC_SEND_ONLY = (
    "45010040047840004011b4d5c0a80007c0a80007" "c00012b7002caca2"
    "2460ffff000000d300cf1710" "4630818be28935d90e9a95505401be885e500000" "78f353f3")
