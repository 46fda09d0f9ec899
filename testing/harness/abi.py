# SPDX-License-Identifier: GPL-2.0
"""The firmware ABI for Python, read from the headers in firmware-abi/kiwi_abi, and
the registers and commands of xpu.

    abi.KIWI_REG_MAGIC                      a constant
    abi.KIWI_DIAG_DMA(0, 1, 0)              a macro with arguments
    abi.struct("kiwi_pbl")                  a ctypes structure, packed as in C
"""

import ctypes
import re
import sys

from machine import TOP

HEADERS = [TOP / "firmware-abi/kiwi_abi" / f"{name}.h" for name in
           ("types", "ids", "regs", "admin", "queues", "snic", "diag")]
HEADERS += [TOP / "testing/xpu" / name for name in ("xpu_regs.h", "xpu_cmd.h")]

TYPES = {
    "__u8": ctypes.c_uint8, "__le16": ctypes.c_uint16.__ctype_le__,
    "__le32": ctypes.c_uint32.__ctype_le__, "__le64": ctypes.c_uint64.__ctype_le__,
    "__be16": ctypes.c_uint16.__ctype_be__, "__be32": ctypes.c_uint32.__ctype_be__,
}

_values = {}
_structs = {}


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
    for body in re.findall(r"\benum\s+\w+\s*\{(.*?)\}", text, re.S):
        value = -1
        for item in body.split(","):
            if item.strip():
                name, _, given = item.partition("=")
                value = _evaluate(given.strip()) if given else value + 1
                _values[name.strip()] = value


def _structures(text):
    for name, body in re.findall(r"^struct\s+(\w+)\s*\{(.*?)^\};", text, re.S | re.M):
        fields = []
        for kind, field, length in re.findall(
                r"(struct \w+|__\w+)\s+(\w+)(?:\[(.*?)\])?;", body):
            kind = _structs[kind.split()[1]] if kind.startswith("struct") else TYPES[kind]
            fields.append((field, kind * _evaluate(length) if length else kind))
        _structs[name] = type(name, (ctypes.LittleEndianStructure,),
                              {"_pack_": 1, "_fields_": fields})


def _check(text):
    for name, size in re.findall(r"^KIWI_ABI_SIZE\(struct (\w+), (\d+)\)", text, re.M):
        assert ctypes.sizeof(_structs[name]) == int(size), name


def _load():
    for path in HEADERS:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
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


_load()
sys.modules[__name__].__dict__.update(_values)
