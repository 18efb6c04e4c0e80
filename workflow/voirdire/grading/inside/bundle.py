"""The runner as one text for `python -c`, since nothing of this package can be read inside a sandbox.

It holds the modules compiled, and their source for a Python whose bytecode differs: compiling them anew for each
program would take as long as starting Python, and so would a text three times as long.
"""

import base64
import functools
import importlib.util
import marshal
import zlib
from pathlib import Path
from types import CodeType
from typing import Any

_PACKAGE = "voirdire.grading.inside"
# In the order in which each finds those that it imports.
_MODULES = ("wire", "finding", "serving", "tester", "runner")
_START = """\
import sys, marshal, zlib, binascii, _frozen_importlib_external as bootstrap
def unpacked(text):
    return marshal.loads(zlib.decompress(binascii.a2b_base64(text)))
if bootstrap.MAGIC_NUMBER == {magic!r}:
    modules = unpacked({compiled!r})
else:
    modules = [(name, compile(source, '<' + name + '>', 'exec')) for name, source in unpacked({sources!r})]
for name, code in modules:
    module = sys.modules[name] = type(sys)(name)
    exec(code, module.__dict__)
for name, code in modules:
    del sys.modules[name]
module.main()
"""


@functools.cache
def runner_source() -> str:
    """What to hand to `python -s -S -c`; it reads its job from standard input."""
    sources = [(f"{_PACKAGE}.{name}", Path(__file__).with_name(f"{name}.py").read_text("utf-8")) for name in _MODULES]
    compiled = [
        (name, _stripped(compile(source, f"<{name}>", "exec", dont_inherit=True, optimize=2)))
        for name, source in sources
    ]
    return _START.format(magic=importlib.util.MAGIC_NUMBER, compiled=_packed(compiled), sources=_packed(sources))


def _packed(value: list[Any]) -> bytes:
    # Version 2 of the format: every Python reads it.
    return base64.b64encode(zlib.compress(marshal.dumps(value, 2), 9))


def _stripped(code: CodeType) -> CodeType:
    """The code with its first line's number for all of it: programs may look at their callers' lines, which must exist.

    An entry of the table says how many units of code it covers (in three bits), that it has no columns, and that its
    line is that of the entry before (CPython's Objects/locations.md).
    """
    full, rest = divmod(len(code.co_code) // 2, 8)
    lines = b"\xef\0" * full + (bytes([0xE8 | (rest - 1), 0]) if rest else b"")
    constants = tuple(_stripped(part) if isinstance(part, CodeType) else part for part in code.co_consts)
    return code.replace(co_linetable=lines, co_consts=constants)
