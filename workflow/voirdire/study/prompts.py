"""Prompt templates from their files."""

from pathlib import Path

from voirdire.errors import UserError


def read_prompt(path: str) -> str:
    """The text of a prompt template. Raises UserError where it isn't UTF-8."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 (byte {error.start + 1}); save the file as UTF-8") from error
