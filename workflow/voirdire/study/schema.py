"""The configuration's JSON schema and its description for people, both made from the pydantic models.

`python -m voirdire.study.schema` writes workflow/schemas/config.schema.yaml and config/README.md.
"""

import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from voirdire.simulated import Persona
from voirdire.study.config import Config
from voirdire.study.sections import Section

SCHEMA = "workflow/schemas/config.schema.yaml"
README = "config/README.md"

_INTRODUCTION = """\
# Configuration

`config.yaml` is the default study: a simulated panel on bundled questions, no key needed. `paper.yaml` is the study of
the paper. `prompts/` holds the prompt templates: `examinee/TASK.md` for examinees, `judge/TEMPLATE/TASK.md` for judges.

A file that has `benchmarks` stands alone; one that hasn't is laid over the default study:
`snakemake --cores 8 all --configfile mine.yaml`. Unknown keys are refused, and all faults are named at once.

Keys of real models live in the environment or in a file `.env`, never in a configuration.

This page is made from the code (`make schema`): change `workflow/voirdire/study/sections.py` or `config.py` instead.
"""


def schema_text() -> str:
    """The JSON schema of a configuration file, as YAML."""
    schema = Config.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return yaml.safe_dump(schema, sort_keys=False, allow_unicode=True, width=120)


def readme_text() -> str:
    """A table of the keys of every section, in Markdown."""
    sections: dict[str, type[BaseModel]] = {"": Config}
    parts = [_INTRODUCTION]
    while sections:
        path, section = next(iter(sections.items()))
        del sections[path]
        doc = " ".join((section.__doc__ or "").split("\n\n")[0].split())
        parts.append(f"## {f'`{path}`' if path else 'Top level'}\n\n{doc}\n\n{_table(section)}\n")
        sections = {**{f"{path}.{name}".strip("."): inner for name, inner in _inner(section)}, **sections}
    return "\n".join(parts)


def _table(section: type[BaseModel]) -> str:
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for name, field in section.model_fields.items():
        rows.append(f"| `{name}` | {_kind(field.annotation)} | {_default(field)} | {field.description or ''} |")
    return "\n".join(rows)


def _default(field: Any) -> str:
    if field.is_required():
        return "*needed*"
    value = field.default_factory() if field.default is PydanticUndefined else field.default
    if isinstance(value, Section) or value is None or value in ([], {}):
        return ""
    if hasattr(value, "model_dump"):
        value = value.model_dump()
    text = yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("...\n").strip()
    return f"`{text}`"


def _kind(annotation: Any) -> str:
    """A type as a reader of YAML would name it."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _kind(arguments[0])
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(_kind(part) for part in arguments if part is not type(None))
    if origin is list:
        return f"list of {_kind(arguments[0])}"
    if origin is dict:
        return f"for each name: {_kind(arguments[1])}"
    names = {str: "text", int: "whole number", float: "number", bool: "true, false", Any: "any value"}
    return names.get(annotation, "section")


def _inner(section: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """The sections inside a section, with the path by which a reader finds them."""
    for name, field in section.model_fields.items():
        if section is Config and name == "personas":
            yield "personas.NAME", Persona
            continue
        origin, arguments = typing.get_origin(field.annotation), typing.get_args(field.annotation)
        if origin is dict and isinstance(arguments[1], type) and issubclass(arguments[1], Section):
            yield f"{name}.NAME", arguments[1]
        elif isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield name, field.annotation


def main() -> None:
    root = Path(__file__).resolve().parents[3]
    (root / SCHEMA).write_text(schema_text(), encoding="utf-8")
    (root / README).write_text(readme_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
