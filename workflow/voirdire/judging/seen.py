"""What a reader sees of a text, and what of it a model has said rather than thought.

Models and servers leave much in a text that no reader takes for a part of it: thoughts between tags, control tokens
of chat formats, zero-width characters, terminal colours, markup. All of it is taken out before a verdict is sought.
"""

import re
import unicodedata

# Every kind of line end that a reader, human or model, may see; a verdict must not hide behind one of them.
LINE_ENDS = r"\n\r\v\f\x1c-\x1e\x85\u2028\u2029"
LINE_END = re.compile(rf"\r\n|[{LINE_ENDS}]")
_KEPT = frozenset("\t\n\r\v\f\x1c\x1d\x1e\x85")
# Controls, format characters (zero-width, direction, tags) and half characters; besides them what Unicode calls
# default-ignorable: joiners, fillers and variation selectors that count as marks or letters.
_UNSEEN = frozenset({"Cc", "Cf", "Cs"})
_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_STRAIGHT = {"‘": "'", "’": "'", "“": '"', "”": '"'}
_TERMINAL = re.compile(r"\x1b\[[0-?]{0,30}[ -/]{0,5}[@-~]")

_NAMES = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|analysis)"
_THOUGHT = re.compile(
    rf"(?P<opens><{_NAMES}>|\[THINK\]|◁think▷|<\|(?:begin_of_thought|start_thinking)\|>"
    r"|<\|channel\|>(?:analysis|commentary)[^<]{0,100}<\|message\|>)"
    rf"|</{_NAMES}>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|end_thinking)\|>|<\|channel\|>final[^<]{{0,100}}<\|message\|>",
    re.IGNORECASE,
)
# "The response's <think> block": of a tag in quotes, or with such a noun behind it, the text only speaks.
_SPOKEN_OF = re.compile(r"[\"'`]|\s+(?:blocks?|tags?|sections?|parts?|tokens?|markers?)\b", re.IGNORECASE)

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

    Line ends stay. Each different character is looked up once, whatever the text's length; they are folded one by
    one, since putting a long run of accents into Unicode's order takes quadratic time.

    >>> visible("V\\u200bER\\x00DICT： ｃｏｒｒｅｃｔ")
    'VERDICT: correct'
    """
    if "\x1b" in text:
        text = _TERMINAL.sub("", text)
    folded = {}
    for character in set(text):
        seen = _seen(character)
        if seen != character:
            folded[ord(character)] = seen
    return text.translate(folded) if folded else text


def _seen(character: str) -> str:
    if character.isascii():
        return "" if not character.isprintable() and character not in _KEPT else character
    if character in _KEPT:
        return character
    if unicodedata.category(character) in _UNSEEN or _IGNORABLE.match(character):
        return ""
    return _STRAIGHT.get(character) or _IGNORABLE.sub("", unicodedata.normalize("NFKC", character))


def spoken(text: str) -> tuple[str, bool]:
    """What was said outside of thoughts, and whether thoughts were begun that never ended.

    Some servers keep only the tag that closes the thoughts: then what stands before it was thought too.

    >>> spoken("<think>VERDICT: incorrect</think>VERDICT: correct")
    ('VERDICT: correct', False)
    """
    if text.startswith("analysis") and "assistantfinal" in text:
        # Harmony's channels (gpt-oss) as they look where the server drops its special tokens.
        return text.rpartition("assistantfinal")[2], False
    said: list[str] = []
    at, inside, mentioned = 0, False, False
    for tag in _THOUGHT.finditer(text):
        if not tag["opens"]:
            if not inside:
                said.clear()
            at, inside = tag.end(), False
        elif not inside:
            said.append(text[at : tag.start()])
            at, inside, mentioned = tag.start(), True, _is_mention(text, tag)
    if inside and not mentioned:
        return "".join(said), True
    return "".join([*said, text[at:]]), False


def _is_mention(text: str, tag: "re.Match[str]") -> bool:
    return text[max(0, tag.start() - 1) : tag.start()] in ('"', "'", "`") or bool(_SPOKEN_OF.match(text, tag.end()))


def plain(text: str) -> str:
    """Visible text without markup: control tokens and tags of blocks end a line, emphasis and what is struck out go.

    >>> plain("**VERDICT:** ~~correct~~ <b>incorrect</b></s>")
    '**VERDICT:**  incorrect\\n'
    """
    return _LATEX.sub("{", _MARKUP.sub("", _TOKENS.sub("\n", text)))
