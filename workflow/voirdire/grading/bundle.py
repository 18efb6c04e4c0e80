"""The runner as one text for `python -c`, since nothing of this package can be read inside a sandbox.

It holds the modules compiled, and their source for a Python whose bytecode differs: compiling them anew for each
program would take as long as starting Python.
"""

import base64
import functools
import importlib.util
import marshal
import zlib
from pathlib import Path

_PACKAGE = "voirdire.grading"
# In the order in which each finds those that it imports.
_MODULES = ("wire", "finding", "serving", "tester", "runner")
_START = """\
import sys, marshal, binascii, _frozen_importlib_external as bootstrap
if bootstrap.MAGIC_NUMBER == {magic!r}:
    modules = marshal.loads(binascii.a2b_base64({compiled!r}))
else:
    import zlib
    modules = marshal.loads(zlib.decompress(binascii.a2b_base64({sources!r})))
    modules = [(name, compile(source, '<' + name + '>', 'exec')) for name, source in modules]
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
    # Without docstrings: all of it passes as one argument, of which Linux takes 128 KiB.
    compiled = [(name, compile(source, f"<{name}>", "exec", dont_inherit=True, optimize=2)) for name, source in sources]
    return _START.format(
        magic=importlib.util.MAGIC_NUMBER,
        compiled=base64.b64encode(marshal.dumps(compiled)),
        sources=base64.b64encode(zlib.compress(marshal.dumps(sources, 2))),
    )
