# SPDX-License-Identifier: GPL-2.0
"""The firmware ABI for Python, read from the headers in firmware-abi/kiwi_abi, and
the registers and commands of xpu.

    abi.KIWI_REG_MAGIC                      a constant
    abi.KIWI_DIAG_DMA(0, 1, 0)              a macro with arguments
    abi.struct("kiwi_pbl")                  a ctypes structure, packed as in C
    abi.fields("kiwi_cqe")                  what it consists of
    abi.registers()                         the registers that a host reads
    abi.commands()                          the commands, from the tables of the text
"""

import ctypes
import dataclasses
import re
import sys

from machine import TOP

HEADERS = [TOP / "firmware-abi/kiwi_abi" / f"{name}.h" for name in
           ("types", "ids", "regs", "admin", "queues", "snic", "g2g_image", "g2g", "g2g_wire",
            "diag")]
HEADERS += [TOP / "testing/xpu" / name for name in ("xpu_regs.h", "xpu_cmd.h")]

TYPES = {
    "__u8": ctypes.c_uint8, "__le16": ctypes.c_uint16.__ctype_le__,
    "__le32": ctypes.c_uint32.__ctype_le__, "__le64": ctypes.c_uint64.__ctype_le__,
    "__be16": ctypes.c_uint16.__ctype_be__, "__be32": ctypes.c_uint32.__ctype_be__,
}

_values = {}
_structs = {}
_largest = {}       # enum -> its last value; a *_COUNT is none
_remarks = {}       # (structure, field) -> what its comment says


def _evaluate(text, names=None):
    text = re.sub(r"\(__u(32|64)\)", "", text)
    text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
    return eval(text.replace("/", "//"), {"__builtins__": {}}, {**_values, **(names or {})})


def _defines(text):
    for name, arguments, body in re.findall(
            r"^#define[ \t]+(\w+)(\([\w, ]*\))?[ \t]+(\S.*)$", text, re.M):
        if arguments:
            arguments = re.findall(r"\w+", arguments)
            _values[name] = lambda *values, a=arguments, b=body: \
                _evaluate(b, dict(zip(a, values)))
        else:
            try:
                _values[name] = _evaluate(body)
            except (NameError, SyntaxError):
                pass    # not a number


def _enums(text):
    for enum, body in re.findall(r"\benum\s+(\w+)\s*\{(.*?)\}", text, re.S):
        value = -1
        for item in body.split(","):
            if item.strip():
                name, _, given = item.partition("=")
                value = _evaluate(given.strip()) if given else value + 1
                _values[name.strip()] = value
                if not name.strip().endswith("_COUNT"):
                    _largest[enum] = max(value, _largest.get(enum, 0))


def _structures(text):
    for name, body in re.findall(r"^struct\s+(\w+)\s*\{(.*?)^\};", text, re.S | re.M):
        fields = []
        for kind, field, length in re.findall(
                r"(struct \w+|__\w+)\s+(\w+)(?:\[(.*?)\])?;", body):
            kind = _structs[kind.split()[1]] if kind.startswith("struct") else TYPES[kind]
            fields.append((field, kind * _evaluate(length) if length else kind))
        _structs[name] = type(name, (ctypes.LittleEndianStructure,),
                              {"_pack_": 1, "_fields_": fields})


def _comments(text):
    for head, name, body in re.findall(
            r"(?:/\*\*((?:(?!\*/).)*)\*/\n)?^struct\s+(\w+)\s*\{(.*?)^\};", text, re.S | re.M):
        for field, remark in re.findall(r"@(\w+):(.*?)(?=\n \* @|\n \*\n|\Z)", head, re.S):
            _remarks[name, field] = remark
        for field, remark in re.findall(r"(\w+)(?:\[.*?\])?;\s*/\*(.*?)\*/", body, re.S):
            _remarks[name, field] = remark


def _check(text):
    for name, size in re.findall(r"^KIWI_ABI_SIZE\(struct (\w+), (\d+)\)", text, re.M):
        assert ctypes.sizeof(_structs[name]) == int(size), name


def _load():
    for path in HEADERS:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        _comments(text)
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        _defines(text)
        _enums(text)
        _defines(text)      # those that use an enumerator
        _structures(text)
        _check(text)


def struct(name):
    """A structure of the ABI."""
    return _structs[name]


def offset(name, path):
    """The offset of a field, which may stand inside of another: "sq.count"."""
    kind, at = struct(name), 0
    for part in path.split("."):
        at += getattr(kind, part).offset
        kind = dict(kind._fields_)[part]
    return at


@dataclasses.dataclass
class Field:
    """A field of a structure; max: the largest value that the ABI allows, None for an array."""
    name: str
    offset: int
    size: int
    max: int = None

    def values(self):
        """Bytes for it that say 0, the largest allowed, one more, and all ones."""
        ones = (1 << 8 * self.size) - 1
        numbers = {0, ones} if self.max is None else {0, self.max, self.max + 1 & ones, ones}
        return [n.to_bytes(self.size, "little") for n in sorted(numbers)]


def _max(remark, size):
    enum = re.search(r"enum (\w+)", remark)
    bound = re.search(r"\.\.\s*(\w+)", remark) or re.search(r"at most (\w+)", remark)
    bits = re.search(r"\b(\d+) bits", remark)
    if enum:
        return _largest[enum[1]]
    if bound and (bound[1].isdecimal() or bound[1].startswith("0x") or bound[1] in _values):
        return _evaluate(bound[1])
    if bits:
        return (1 << int(bits[1])) - 1
    return 1 if "0 or 1" in remark else (1 << 8 * size) - 1


def fields(name):
    """The fields of a structure, in order. An array is one field."""
    found = []
    for field, kind in struct(name)._fields_:
        size = ctypes.sizeof(kind)
        remark = _remarks.get((name, field), "")
        largest = _max(remark, size) if issubclass(kind, ctypes._SimpleCData) else None
        found.append(Field(field, getattr(struct(name), field).offset, size, largest))
    return found


def registers():
    """The registers that a host reads, but for the diagnostic counters."""
    text = (TOP / "firmware-abi/kiwi_abi/regs.h").read_text(encoding="utf-8")
    return [Field(name, _evaluate(at), int(bits) // 8, _max(remark, int(bits) // 8))
            for name, at, bits, remark in re.findall(
                r"^#define KIWI_REG_(\w+)\s+(0x\w+)\s+/\* u(32|64)(.*?)\*/", text, re.M)
            if ", write" not in remark]


@dataclasses.dataclass
class Command:
    """A command: its opcode, and the names of the structures of input and reply, "" if none."""
    name: str
    opcode: int
    input: str
    reply: str


def commands(part="snic"):
    """The commands of a part, those of all parts first."""
    found = {}
    for file in ("common", part):
        text = (TOP / f"firmware-abi/spec/{file}.md").read_text(encoding="utf-8")
        table = text.split("\n## Commands\n")[1].split("\n## ")[0]
        for name, taken, given in re.findall(r"^\| ([A-Z_]+) \| *(.*?) *\| *(.*?) *\|$", table,
                                             re.M):
            opcode = _values.get(f"KIWI_OP_{name}", _values.get(f"KIWI_{part.upper()}_OP_{name}"))
            found[name] = Command(name, opcode, taken, given)
    return list(found.values())


_load()
sys.modules[__name__].__dict__.update(_values)
