"""What a prompt template may say about an item, and filling it in."""

import ast
import builtins
import re
from collections.abc import Iterable, Mapping

from voirdire.benchmarks.items import LETTERS, Item
from voirdire.errors import UserError

# $$ is a dollar sign; $name and ${name} are placeholders; any other dollar sign ("$5") stands for itself.
_PLACEHOLDER = re.compile(
    r"\$(?:(?P<dollar>\$)|(?P<bare>[A-Za-z_][A-Za-z0-9_]*)|\{(?P<braced>[A-Za-z_][A-Za-z0-9_]*)\})"
)


def prompt_fields(item: Item) -> dict[str, str]:
    """The placeholders that a template may use for this item, with their values.

    Always `question`; `article` and `options` for reading comprehension; `tests`, `setup_code` and
    `function_name` for code. Never the right answer and never the reference solution.

    >>> prompt_fields(Item("quality", "q1", "Who?", answer="B", options=("Ann", "Bo", "Cy", "Di")))
    {'question': 'Who?', 'options': 'A. Ann\\nB. Bo\\nC. Cy\\nD. Di'}
    """
    fields = {"question": item.question}
    if item.article is not None:
        fields["article"] = item.article
    if item.options:
        fields["options"] = "\n".join(
            f"{letter}. {option}" for letter, option in zip(LETTERS, item.options, strict=True)
        )
    if item.tests:
        fields["tests"] = "\n".join(item.tests)
        fields["setup_code"] = item.setup_code
        fields["function_name"] = function_name(item.tests)
    return fields


def function_name(tests: Iterable[str]) -> str:
    """The function that asserts call: the outermost call that is not Python's own; empty if there is none.

    >>> function_name(["assert sorted(common([1, 2], [2])) == [2]"])
    'common'
    """
    for test in tests:
        try:
            tree = ast.parse(test)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not hasattr(builtins, node.func.id):
                return node.func.id
    return ""


def placeholders(template: str) -> set[str]:
    """The names of a template's placeholders.

    >>> sorted(placeholders("$question costs $5 or $$6: ${options}"))
    ['options', 'question']
    """
    found = (match["bare"] or match["braced"] for match in _PLACEHOLDER.finditer(template))
    return {name for name in found if name}


def fill(template: str, fields: Mapping[str, str], where: str = "the template") -> str:
    """Put the fields' values in the place of $name or ${name}; values are not searched for placeholders again.

    Raises UserError naming every placeholder that has no field, and the template by `where`.

    >>> fill("$question ($$5)", {"question": "How much is $tea?"})
    'How much is $tea? ($5)'
    """
    unknown = placeholders(template) - set(fields)
    if unknown:
        names = ", ".join(f"${name}" for name in sorted(unknown))
        known = ", ".join(f"${name}" for name in fields)
        raise UserError(f"{where}: unknown placeholder {names}; known here are {known} ($$ writes a dollar sign)")
    return _PLACEHOLDER.sub(
        lambda match: "$" if match["dollar"] else fields[match["bare"] or match["braced"]], template
    )
