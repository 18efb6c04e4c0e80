"""What a reader sees of what a judge said.

Models and servers leave much in a text that no reader takes for a part of it: thoughts (see `voirdire.said`), control
tokens of chat formats, zero-width characters, terminal colours, markup. All of it is taken out before a verdict is
sought.
"""

import re
import unicodedata

from voirdire.said import without_unseen

_STRAIGHT = {"‘": "'", "’": "'", "“": '"', "”": '"'}
_TOKENS = re.compile(
    r"<[|｜][^<>|｜\s]{1,40}[|｜]>|</?s>|<(?:start|end)_of_turn>|<(?:bos|eos|pad)>|\[/?INST\]"
    r"|<br ?/?>|</?(?:p|div|answer|output|final|final_answer|result|conclusion|judge?ment)>",
    re.IGNORECASE,
)
# Any of the above, or what one of them could be made of once the rest is gone.
TAG = re.compile(r"[<◁]/?[^<>◁▷\n]{0,100}[>▷]|\[/?[A-Z_]{1,20}\]|[<>◁▷]")
_MARKUP = re.compile(
    r"</?(?:b|strong|i|em|u|code|mark|span)(?: [^<>\n]{0,100})?>|(?<!~)~~(?!~)[^~\n]{1,200}~~(?!~)", re.IGNORECASE
)
_LATEX = re.compile(r"\\(?:text(?:bf|it|rm|sf|tt)?|math(?:bf|it|rm|sf|tt))\s{0,5}\{")


def visible(text: str) -> str:
    """The text as it looks: compatibility forms folded, without control, zero-width and half characters.

    Line ends stay. The characters are folded one by one, since putting a long run of accents into Unicode's order
    takes quadratic time.

    >>> visible("V\\u200bER\\x00DICT： ｃｏｒｒｅｃｔ")
    'VERDICT: correct'
    """
    return without_unseen(text, _folded)


def _folded(character: str) -> str:
    if character.isascii():
        return character
    return _STRAIGHT.get(character) or unicodedata.normalize("NFKC", character)


def plain(text: str) -> str:
    """Visible text without markup: control tokens and tags of blocks end a line, emphasis and what is struck out go.

    >>> plain("**VERDICT:** ~~correct~~ <b>incorrect</b></s>")
    '**VERDICT:**  incorrect\\n'
    """
    return _LATEX.sub("{", _MARKUP.sub("", _TOKENS.sub("\n", text)))
