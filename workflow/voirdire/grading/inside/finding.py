"""Which of a response's texts is the program; runs inside the sandbox, since parsing hostile text can hang or crash.

Part of the runner: it imports nothing that isn't there when Python starts.
"""

from __future__ import annotations

import _ast

# `typing` is not imported when it runs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_DEFINITIONS = (
    _ast.Import,
    _ast.ImportFrom,
    _ast.FunctionDef,
    _ast.AsyncFunctionDef,
    _ast.ClassDef,
    _ast.Assign,
    _ast.AnnAssign,
)
_STARTS = ("def ", "class ", "import ", "from ", "async def ", "@")
# More than any answer has; each try costs time, of which a program has little.
_STARTS_TRIED, _LONGEST_RUN = 50, 2000
_NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
# What a page or a word processor makes of code: nothing of it is Python, so nothing is lost by taking it back.
_RENDERED = (
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", '"'),
    ("&#39;", "'"),
    ("&#x27;", "'"),
    ("&nbsp;", " "),
    ("&amp;", "&"),
    ("\u00a0", " "),
    ("\u201c", '"'),
    ("\u201d", '"'),
    ("\u2018", "'"),
    ("\u2019", "'"),
    ("\uff02", '"'),
    ("\uff07", "'"),
    ("\uff08", "("),
    ("\uff09", ")"),
    ("\uff0c", ","),
    ("\uff1a", ":"),
)


def syntax_tree(text: str) -> _ast.Module:
    """The syntax tree of a text, as `ast.parse` gives it."""
    tree = compile(text, "<candidate>", "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, _ast.Module)
    return tree


def parsed(text: str) -> _ast.Module | None:
    """The syntax tree of a text, None if it isn't Python."""
    try:
        return syntax_tree(text)
    except _NOT_PYTHON:
        return None


def dedent(text: str) -> str:
    """The text without the indentation that all its lines have."""
    lines = [line if line.strip() else "" for line in text.split("\n")]
    margin: str | None = None
    for line in lines:
        if not line:
            continue
        indent = line[: len(line) - len(line.lstrip())]
        if margin is None:
            margin = indent
        while not indent.startswith(margin):
            margin = margin[:-1]
    return "\n".join(line[len(margin or "") :] for line in lines) if margin else text


def _statements(body: list[_ast.stmt]) -> Iterator[_ast.stmt]:
    """The statements of a body and those under its `if`, `try`, `with` and loops, which bind names in it too."""
    for node in body:
        yield node
        if not isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
            for part in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from _statements(handler.body)


def names_defined(tree: _ast.Module) -> list[str]:
    """The names that a module's top level binds, functions first."""
    functions: list[str] = []
    others: list[str] = []
    for node in _statements(tree.body):
        if isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef)):
            functions.append(node.name)
        elif isinstance(node, _ast.ClassDef):
            others.append(node.name)
        elif isinstance(node, (_ast.Import, _ast.ImportFrom)):
            others += [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, _ast.Assign):
            others += [target.id for target in node.targets if isinstance(target, _ast.Name)]
        elif isinstance(node, _ast.AnnAssign) and isinstance(node.target, _ast.Name):
            others.append(node.target.id)
    return list(dict.fromkeys(functions + others))


def _only_imports(tree: _ast.Module, name: str) -> bool:
    own = [node for node in _statements(tree.body) if not isinstance(node, (_ast.Import, _ast.ImportFrom))]
    return name not in names_defined(_ast.Module(own, []))


def class_with(tree: _ast.Module, name: str) -> str | None:
    """The class that has a method of this name, None if there is none."""
    for node in tree.body:
        if isinstance(node, _ast.ClassDef):
            for part in node.body:
                if isinstance(part, (_ast.FunctionDef, _ast.AsyncFunctionDef)) and part.name == name:
                    return node.name
    return None


def _only_definitions(tree: _ast.Module) -> bool:
    """Whether a block does nothing but define things, a docstring aside."""
    others = [node for node in tree.body if not isinstance(node, _DEFINITIONS)]
    constants = all(isinstance(node, _ast.Expr) and isinstance(node.value, _ast.Constant) for node in others)
    return constants and len(others) < len(tree.body)


def _may_begin(line: str) -> bool:
    return line.lstrip().startswith(_STARTS) or line.partition("=")[2].lstrip().startswith("lambda")


def _runs_of_code(text: str) -> Iterator[str]:
    """The text's runs of lines that are Python, each the longest from its first line on, one after the other."""
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _may_begin(line)]
    done = 0
    for start in starts[:_STARTS_TRIED]:
        end = min(len(lines), start + _LONGEST_RUN) if start >= done else start
        while end > start:
            run = dedent("\n".join(lines[start:end]))
            try:
                syntax_tree(run)
            except SyntaxError as error:
                end = min(end - 1, start + max(error.lineno or 1, 1) - 1)
            except _NOT_PYTHON:
                break
            else:
                yield run.strip("\n")
                done = end
                break


def _sessions(text: str) -> str:
    """What was typed in an interactive session, where the text is one."""
    lines = [line.strip("\r") for line in text.split("\n")]
    typed = [line.lstrip() for line in lines if line.lstrip().startswith((">>>", "..."))]
    if not typed or not typed[0].startswith(">>>"):
        return text
    return "\n".join(line[4:] if line[3:4] == " " else line[3:] for line in typed)


def readable(text: str) -> str:
    """A block as the program that it means: without indentation, prompts or the marks of a page around it."""
    text = dedent(text)
    if parsed(text):
        return text
    as_typed = _sessions(text)
    if as_typed != text and parsed(as_typed):
        return as_typed
    plain = text
    for rendered, meant in _RENDERED:
        plain = plain.replace(rendered, meant)
    return plain if plain != text and parsed(plain) else text


def choose(blocks: list[str], prose: str, entry_point: str) -> tuple[str | None, str]:
    """The code to run, and where it was found: (code, how), code None where there is none.

    The last fenced block that defines the entry point wins, after those others that only define things; then code
    in the text around; then any code at all, so that a wrong name can be told from no code.
    """
    blocks = [readable(block) for block in blocks]
    trees = [parsed(block) for block in blocks]
    if code := _from_runs([block for block, tree in zip(blocks, trees, strict=True) if tree], entry_point):
        return code, "fenced code"
    for texts, how in ((blocks[::-1], "fenced code"), ([prose, readable(prose)], "unfenced code")):
        for text in texts:
            if code := _from_runs(list(_runs_of_code(text)), entry_point):
                return code, how
    for texts, how in ((blocks[::-1], "fenced code"), ([prose], "unfenced code")):
        for text in texts:
            for run in _runs_of_code(text):
                return run, how
    return (blocks[-1], "fenced code") if blocks else (None, "no code")


def _from_runs(runs: list[str], entry_point: str) -> str | None:
    """The last run that defines the entry point, with those others that only define things."""
    trees = [(run, syntax_tree(run)) for run in runs]
    having = [(run, tree) for run, tree in trees if entry_point in names_defined(tree)]
    # A demonstration imports it from a file that isn't there.
    defining = [run for run, tree in having if not _only_imports(tree, entry_point)] or [run for run, _ in having]
    if not defining:
        return None
    helpers = [run for run, tree in trees if _only_definitions(tree) and entry_point not in names_defined(tree)]
    # Most are needed when the function is defined; one that speaks of the function may need it.
    before = [run for run in helpers if entry_point not in run]
    after = [run for run in helpers if entry_point in run]
    return "\n".join([*before, defining[-1], *after])
