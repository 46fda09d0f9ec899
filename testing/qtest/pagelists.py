# SPDX-License-Identifier: GPL-2.0
"""Page lists: P-1 to P-3, at every level and page size, proved by where bytes land."""

import random
import struct

import abi
from scenario import hosttest
from snicdev import (Snic, Node, connected, fields, machine, pair, pbl, raddr, sge, unpack, wqe)

NOWHERE = 1 << 50
NAME = "kiwi_snic_reg_mr_in"


def table(q, entries, shift=12):
    """Writes a table or directory; its address."""
    addr = q.alloc(max(1 << shift, 4096))
    q.write(addr, struct.pack(f"<{len(entries)}Q", *entries))
    return addr


def indirect(q, pages, levels, table_shift, page_shift=12, offset=0):
    """A page list whose addresses stand in tables."""
    if levels == 1:
        first = table(q, pages, table_shift)
    else:
        each = (1 << table_shift) // 8
        first = table(q, [table(q, pages[at:at + each], table_shift)
                          for at in range(0, len(pages), each)], table_shift)
    return unpack("kiwi_pbl", fields(
        "kiwi_pbl", count=len(pages), page_shift=page_shift, offset=offset, levels=levels,
        table_shift=table_shift, addr=[first]))


@hosttest("model.pagelists.refused", covers=[33, 40])
def refused(log):
    """Malformed lists of each level."""
    with machine("max-mr-pages=65536,page-shift-max=20,table-shift-max=13", log=log) as q:
        dev = Snic(q)
        dev.start()
        pd = dev.alloc_pd()
        pages = [q.alloc(4096) for _ in range(600)]

        def reg(mem, length):
            reply = dev.command(abi.KIWI_SNIC_OP_REG_MR, dev.reg_mr_in(pd, mem, length), 8)
            field = reply.err_field
            if field != abi.KIWI_ERR_FIELD_NONE:
                field -= abi.offset(NAME, "pbl")
            return reply.status, field, reply.err_value, reply.err_limit

        def at(name, item=0):
            return abi.offset("kiwi_pbl", name) + 8 * item
        bad, rsvd, dma = abi.KIWI_ST_BAD_PARAM, abi.KIWI_ST_BAD_RESERVED, abi.KIWI_ST_DMA_ERROR

        # Level 0: alignment, unused addresses, offset
        good = pbl(pages[:3])
        assert reg(good, 3 * 4096)[0] == abi.KIWI_ST_OK
        for item in range(3):
            mem = pbl(pages[:3])
            mem.addr[item] += 8
            assert reg(mem, 3 * 4096) == (bad, at("addr", item), pages[item] + 8, 4096)
        mem = pbl(pages[:3])
        mem.addr[3] = 4096
        assert reg(mem, 3 * 4096) == (rsvd, at("addr", 3), 4096, 0)
        assert reg(pbl([0x1003000], 13), 8192) == (bad, at("addr"), 0x1003000, 8192)
        assert reg(pbl(pages[:3], offset=4096), 2 * 4096) == (bad, at("offset"), 4096, 4095)
        assert reg(pbl(pages[:3], offset=1), 3 * 4096) == (bad, at("count"), 3, 4)
        assert reg(pbl(pages[:3], offset=1), 3 * 4096 - 1)[0] == abi.KIWI_ST_OK
        assert reg(pbl(pages[:3], offset=4095), 1) == (bad, at("count"), 3, 1)
        assert reg(pbl(pages[:2], offset=4095), 2)[0] == abi.KIWI_ST_OK

        # Level 1
        good = indirect(q, pages[:512], 1, 12)
        assert reg(good, 512 * 4096)[0] == abi.KIWI_ST_OK
        for change, field, value, limit in (
                (dict(table_shift=11), "table_shift", 11, 12),
                (dict(table_shift=0), "table_shift", 0, 12),
                (dict(table_shift=14), "table_shift", 14, 13),
                (dict(count=513), "count", 513, 512)):
            mem = indirect(q, pages[:512], 1, 12)
            for name, new in change.items():
                setattr(mem, name, new)
            assert reg(mem, mem.count * 4096) == (bad, at(field), value, limit)
        for item in (1, 3):
            mem = indirect(q, pages[:5], 1, 12)
            mem.addr[item] = 4096
            assert reg(mem, 5 * 4096) == (rsvd, at("addr", item), 4096, 0)
        mem = indirect(q, pages[:5], 1, 12)
        mem.addr[0] += 64
        assert reg(mem, 5 * 4096) == (bad, at("addr"), mem.addr[0], 4096)
        mem.addr[0] = NOWHERE
        assert reg(mem, 5 * 4096) == (dma, at("addr"), NOWHERE, 0)
        mem = indirect(q, pages[:4] + [pages[4] + 2048], 1, 12)
        assert reg(mem, 5 * 4096) == (bad, at("addr"), pages[4] + 2048, 4096)

        # Level 2
        good = indirect(q, pages[:600], 2, 12)
        assert reg(good, 600 * 4096)[0] == abi.KIWI_ST_OK
        directory = good.addr[0]
        second = q.readq(directory + 8)
        for entry, expect in ((NOWHERE, (dma, at("addr"), NOWHERE, 0)),
                              (second + 8, (bad, at("addr"), second + 8, 4096))):
            q.writeq(directory + 8, entry)
            assert reg(good, 600 * 4096) == expect
        q.writeq(directory + 8, second)
        last = q.readq(second + 8 * 87)
        q.writeq(second + 8 * 87, last + 1)
        assert reg(good, 600 * 4096) == (bad, at("addr"), last + 1, 4096)
        q.writeq(second + 8 * 87, last)
        q.writeq(second + 8 * 88, 0xdead)      # behind the last entry: not looked at
        assert reg(good, 600 * 4096)[0] == abi.KIWI_ST_OK
        assert dev.diag(abi.KIWI_DIAG_LIVE_MR) == 6


@hosttest("model.pagelists.unprobed")
def unprobed(log):
    """P-3: pages need not be reachable to be registered."""
    with machine(log=log) as q:
        dev = Snic(q)
        dev.start()
        dev.reg_mr(dev.alloc_pd(), pbl([NOWHERE, 0, (1 << 64) - 4096]), 3 * 4096)


@hosttest("model.pagelists.copied")
def copied(log):
    """P-2: tables belong to the host again with the reply; reads of them are counted."""
    with pair(log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        qa, _ = connected(a, b)
        pages = [q.alloc(4096) for _ in range(700)]
        mem = indirect(q, pages, 2, 12)
        kind = abi.KIWI_DMA_PBL, abi.KIWI_DMA_SYSTEM
        before = [b.dev.diag(abi.KIWI_DIAG_DMA(*kind, what)) for what in (0, 1)]
        key = b.dev.reg_mr(b.pd, mem, 700 * 4096)
        after = [b.dev.diag(abi.KIWI_DIAG_DMA(*kind, what)) for what in (0, 1)]
        assert [y - x for x, y in zip(before, after)] == [3, 8 * (2 + 700)]
        q.fill(mem.addr[0], 4096, 0xff)
        source = q.alloc(4096)
        q.fill(source, 4096, 0x77)
        local = a.dev.reg_mr(a.pd, source, 4096)
        qa.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(699 * 4096, key), sge(0, local, 4096)))
        qa.ring_sq()
        assert a.cq.take().status == abi.KIWI_CQE_ST_OK
        assert q.read(pages[699], 4096) == b"\x77" * 4096


SHAPES = [  # levels, page shift, table shift, pages
    (0, 12, 0, 4), (0, 16, 0, 3), (1, 12, 12, 512), (1, 13, 14, 9), (2, 12, 12, 1100),
    (2, 12, 13, 1025), (2, 14, 12, 2), (1, 12, 16, 700),
]


@hosttest("model.pagelists.bytes", covers=[34])
def placed(log):
    """Bytes written through scattered pages land where the list says, and nowhere else."""
    chance = random.Random(1)
    with pair(log=log, memory="1G") as q:
        a, b = Node(q, 0), Node(q, 1)
        qa, _ = connected(a, b)
        source = q.alloc(1 << 20)
        data = chance.randbytes(1 << 20)
        q.write(source, data)
        local = a.dev.reg_mr(a.pd, source, 1 << 20)
        for levels, page_shift, table_shift, count in SHAPES:
            size = 1 << page_shift
            pages = [q.alloc(size, size) for _ in range(count)]
            chance.shuffle(pages)
            offset = chance.randrange(size)
            length = (count - 1) * size + chance.randrange(1, size) - offset
            if length + offset <= (count - 1) * size:
                length = count * size - offset
            iova = chance.randrange(1 << 60)
            mem = pbl(pages, page_shift, offset) if levels == 0 else \
                indirect(q, pages, levels, table_shift, page_shift, offset)
            key = b.dev.reg_mr(b.pd, mem, length, iova)
            shadow = {page: bytearray(size) for page in pages}
            for _ in range(6):
                n = chance.randrange(1, min(length, 1 << 18) + 1)
                at = chance.randrange(length - n + 1)
                begin = chance.randrange((1 << 20) - n + 1)
                qa.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(iova + at, key),
                               sge(begin, local, n)))
                qa.ring_sq()
                assert a.cq.take().status == abi.KIWI_CQE_ST_OK
                for i in range(n):
                    page, byte = divmod(offset + at + i, size)
                    shadow[pages[page]][byte] = data[begin + i]
            for page, expect in shadow.items():
                assert q.read(page, size) == expect, (levels, page_shift, hex(page))
            # One byte beyond either end is out of bounds.
            for addr in (iova - 1, iova + length):
                qx, _ = connected(a, b)
                qx.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(addr, key), sge(0, local, 1)))
                qx.ring_sq()
                assert a.cq.take().status == abi.KIWI_CQE_ST_REM_ACCESS_ERR
            b.dev.destroy(abi.KIWI_SNIC_OP_DEREG_MR, key)


@hosttest("model.pagelists.neighbours")
def neighbours(log):
    """Pages that lie side by side make one transaction."""
    with pair(log=log) as q:
        a, b = Node(q, 0), Node(q, 1)
        qa, _ = connected(a, b)
        source = q.alloc(4 * 4096)
        local = a.dev.reg_mr(a.pd, pbl([source + 4096 * n for n in range(4)]), 4 * 4096)
        target = b.dev.reg_mr(b.pd, pbl([source + 4096 * n for n in (0, 2, 1, 3)]), 4 * 4096)
        read = abi.KIWI_DIAG_DMA(abi.KIWI_DMA_PAYLOAD_READ, abi.KIWI_DMA_SYSTEM,
                                 abi.KIWI_DMA_TRANSACTIONS)
        write = abi.KIWI_DIAG_DMA(abi.KIWI_DMA_PAYLOAD_WRITE, abi.KIWI_DMA_SYSTEM,
                                  abi.KIWI_DMA_TRANSACTIONS)
        qa.put_wqe(wqe(abi.KIWI_WQE_WRITE, raddr(2048, target), sge(2048, local, 4096)))
        qa.ring_sq()
        assert a.cq.take().status == abi.KIWI_CQE_ST_OK
        assert (a.dev.diag(read), b.dev.diag(write)) == (1, 2)
