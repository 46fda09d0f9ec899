# SPDX-License-Identifier: GPL-2.0
"""Fabrics of G2G dies: personality images, and what g2g-test and tools are told of the wires.

    VM(**g2gfabric.host("g2g-mesh", g2gfabric.TIMES))
"""

import hashlib

import abi
from machine import TOPOLOGIES, WIRES

# Personality, and its header.
PERSONALITIES = {
    abi.KIWI_G2G_SUE: abi.KIWI_G2G_HDR_SUE,
    abi.KIWI_G2G_OISA: abi.KIWI_G2G_HDR_OISA,
    abi.KIWI_G2G_ETHX: abi.KIWI_G2G_HDR_ETHX,
}
IMAGES = {"SUE": abi.KIWI_G2G_SUE, "OISA": abi.KIWI_G2G_OISA, "ETH-X": abi.KIWI_G2G_ETHX}
# Bounds of dies. Short, so that an end is noticed soon, but longer than a busy machine may stand
# still; and where nothing is to end, so long that it does not matter how busy it is.
TIMES = {"link-ms": 1500, "peer-ms": 3000, "load-us": 2000000, "pause-ms": 400,
         "bind-ms": 3000, "revoke-ms": 3000}
PATIENT = {"link-ms": 8000, "peer-ms": 8000, "load-us": 10000000, "pause-ms": 4000,
           "bind-ms": 20000, "revoke-ms": 20000}
FIRMWARE = "/usr/lib/firmware/kiwi/g2g"     # /lib is a link


def image(personality, version=1, size=512, **change):
    """A personality image; keywords change fields before the hash is made."""
    flags = 0 if personality == abi.KIWI_G2G_SUE else abi.KIWI_G2G_IMAGE_PROVISIONAL
    head = dict(magic=abi.KIWI_G2G_IMAGE_MAGIC, size=128, id=personality, version=version,
                flags=flags, length=size, semantics=3, header_kind=PERSONALITIES.get(personality, 0),
                id_bits=10, addr_bits=40, mtu=4096, vcs=4, reliability=3, flow=7, atomics=0xe)
    head.update(change)
    record = abi.struct("kiwi_g2g_image")()
    for name, value in head.items():
        setattr(record, name, value)
    data = bytearray(bytes(record) + bytes(n % 251 for n in range(size - 128)))
    data[32:36] = b"test"
    data[64:96] = hashlib.sha256(data).digest()
    return bytes(data)


def describe(topology):
    """Nodes and links of a topology, as g2g-test reads them."""
    dies = [d for group in TOPOLOGIES[topology] for d in group if d.startswith("g2g")]
    ports = {n: 0 for n in range(len(dies))}
    links, switches = [], []
    for wire in WIRES[topology]:
        for die, port in wire:
            ports[die] = max(ports[die], port + 1)
        if len(wire) == 2:
            links.append((*wire[0], *wire[1]))
            continue
        switch = len(dies) + len(switches)
        switches.append(f"switch {len(wire)}")
        links += [(*end, switch, n) for n, end in enumerate(wire)]
    return "\n".join([f"die {count}" for count in ports.values()] + switches +
                     ["link {} {} {} {}".format(*link) for link in links]) + "\n"


def files(topology):
    """What the guest needs: the fabric, and images."""
    found = {f"{FIRMWARE}/{name}": image(number, version=2, size=70000)
             for name, number in IMAGES.items()}
    found["/etc/fabric"] = describe(topology).encode()
    return found


def host(topology, times):
    """Keywords of a VM with the fabric, and dies with these bounds."""
    dies = [d for group in TOPOLOGIES[topology] for d in group if d.startswith("g2g")]
    return {"topology": topology, "files": files(topology), "props": {d: times for d in dies}}
