"""What surrounds a number, made plain: Markdown, LaTeX, currency, separators of thousands, digits of other scripts."""

import re
import unicodedata
from functools import lru_cache

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_CHARACTERS = {
    **{0xFF01 + n: chr(0x21 + n) for n in range(0x5E)},  # full width
    **dict.fromkeys(map(ord, "−‒–﹣"), "-"),
    **dict.fromkeys(map(ord, "⁄∕"), "/"),
    **dict.fromkeys(map(ord, "×·⋅∗"), "*"),
    **dict.fromkeys(map(ord, "≈≡≅"), "="),
    **dict.fromkeys(map(ord, "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u202f\u3000"), " "),
    **dict.fromkeys(map(ord, "“”„"), '"'),
    **dict.fromkeys(map(ord, "‘’"), "'"),
    ord("÷"): "/",
    ord("٫"): ".",
    ord("٬"): ",",
    ord("。"): ". ",
    ord("，"): ", ",
}
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def plain_characters(text: str) -> str:
    """The text with digits, minus signs, spaces, quotation marks and operators of any script as ASCII.

    >>> plain_characters("−１８½ m²")
    '-18 1/2  m^{2}'
    """
    if text.isascii():
        return text
    text = re.sub(r"[⁰¹²³⁴-⁹⁻⁺]+", lambda match: "^{" + match[0].translate(_SUPERSCRIPTS) + "}", text)
    return _NOT_ASCII.sub(lambda match: _plain_character(match[0]), text)


@lru_cache(maxsize=1000)
def _plain_character(character: str) -> str:
    if ord(character) in _CHARACTERS:
        return _CHARACTERS[ord(character)]
    if unicodedata.category(character) == "Nd":
        return str(unicodedata.decimal(character))
    spelled = unicodedata.decomposition(character)
    if spelled.startswith("<fraction>"):
        parts = "".join(chr(int(code, 16)) for code in spelled.split()[1:])
        return f" {parts.replace('⁄', '/')} "
    return character


_WRAPPERS = (
    "text|textbf|textit|textrm|textsf|texttt|textnormal|mathrm|mathbf|mathit|mathsf|mathtt|mathnormal|mbox|hbox|"
    "boldsymbol|bm|operatorname|emph|underline|fbox|boxed|ensuremath"
)
_UNITS_OF_AREA = (
    "cm|mm|km|dm|m|s|sec|hr?|ft|in|yd|mi|units?|inch(?:es)?|feet|foot|yards?|miles?|(?:centi|milli|kilo)?met(?:er|re)s?"
)
_ABBREVIATIONS = "approx|Rs"


# In this order. Each is linear in the text's length.
_REPLACED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"<<[^<>\n]*>>", ""),  # GSM8K's calculator notes
        (r"</?[A-Za-z][^<>\n]{0,60}>", " "),
        (rf"\b({_ABBREVIATIONS})\.", r"\1 "),
        (r"\*\*|__|`", ""),
        (r"(?<![\w)}*])\*(?=[^\s*])([^*\n]{1,60}?)(?<!\s)\*(?![\w(\\*])", r"\1"),
        (r"(?<!\w)_(?=[^\s_])([^_\n]{1,60}?)(?<!\s)_(?!\w)", r"\1"),
        (r"\\(?:text|mathrm)?\s*\{\s*\\?[,!]\s*\}|\{\\?[,!]\}", ","),
        (r"\\(?:displaystyle|textstyle|large|Large|LARGE|huge|Huge|bf|rm|it|left|right|limits)(?![A-Za-z])", " "),
        (r"\\(?:text)?color\s*\{[^{}\n]{0,30}\}", " "),
        *((rf"\\(?:{_WRAPPERS})\*?\s*\{{([^{{}}]*)\}}", r" \1 "),) * 3,
        (r"\\[dtc]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r" (\1)/(\2) "),
        (r"\\[dtc]?frac\s*\{([^{}]*)\}\s*(\d)", r" (\1)/\2 "),
        (r"\\[dtc]?frac\s*(\d)\s*\{([^{}]*)\}", r" \1/(\2) "),
        (r"\\[dtc]?frac\s*(\d)\s*(\d)", r" \1/\2 "),
        (r"\{\s*(-?\d+)\s*\\over\s*(\d+)\s*\}", r" \1/\2 "),
        (r"\^\s*\{?\s*(?:\\circ|°|º|o\b)\s*\}?|\\(?:text)?degree|[°º]", " degrees "),
        (r"(\d)\s*\^\s*\{?\s*(st|nd|rd|th)\b\s*\}?", r"\1\2"),
        (r"_\s*\{?\s*(?:10|ten)\s*\}?(?!\w)", " "),  # the base
        (r"\\!", ""),
        (r"\\#", " "),
        (r"(?<=\d)\\[,;: ](?=\d{3}(?!\d))|(?<=\d)~(?=\d{3}(?!\d))", ","),
        (r"\\[()\[\]]|\\[,;: ]|\\q?quad|\\hspace\{[^{}]{0,20}\}|~", " "),
        (r"\\(?:times|cdot|ast)(?![A-Za-z])", "*"),
        (r"\\div(?![A-Za-z])", "/"),
        (r"\\pmod\s*\{[^{}]*\}|\((?:\\?b?mod|modulo)\s+\d+\)", ""),
        (r"\\bmod(?![A-Za-z])", " mod "),
        (r"\\(?:approx|equiv|simeq)(?![A-Za-z])|\bequals\b", "="),
        (r"\\%|(?<=\d)\s?(?:percent|per cent|pct)\b", "%"),
        (r"\b(?:US|AU|CA|NZ|HK|A|C|S|R)(?=\\?\$)", " "),
        (r"\$\s?(\d[\d,.]*)\s?M\b", r"\1 million"),
        (r"\$\s?(\d[\d,.]*)\s?B\b", r"\1 billion"),
        (r"\\?\$|\\textdollar|\\(?:pounds|euro)\b|[€£¥₹₽₩₺₫₱]", " "),
        (r"\b(?:USD|EUR|GBP|INR|JPY|CNY|RMB|CAD|AUD|CHF|Rs|BRL|MXN)\s?(?=-?\d)", " "),
        (r"(?<=\d)\s*[xX]\s*(?=\$?\s?\d)", " * "),
        (r"(?<![\w\s])—(?=\s*\d)|(?<=\s)—(?=\d)|^—(?=\d)", "-"),
        (r"—", " - "),
        (rf"\b({_UNITS_OF_AREA})\s*\^\s*\{{?\s*[23]\s*\}}?", r"\1"),
        (r"\b(km|m|mi|g|mg|kg|[A-Za-z]{2,20})\s*/\s*(h|s|L|[A-Za-z]{2,20})\b", r"\1 per \2"),
        (r"(?<=\d)\s*/\s*(?=[A-Za-z]{2})", " per "),
        (r"\band (?:a|one) half\b|\band 1/2\b", " 1/2"),
        (r"\band (?:a|one) quarter\b|\band 1/4\b", " 1/4"),
        (r"\band three quarters\b|\band 3/4\b", " 3/4"),
        (r"(?<![\d.,])(\d[\d,]*) ?(?:dollars?|bucks?)?,? ?(?:and )(\d\d) cents?\b", r"\1.\2"),
        (r"(?<![\d.,])(\d[\d,]*) ?(?:dollars?|bucks?)?,? ?(?:and )(\d) cents?\b", r"\1.0\2"),
        (r"(?<![\w.,)}^\\])[(\[{]\s*(-?\d[\d.,]*%?)\s*[)\]}]", r"\1"),
        (r"\\\{\s*(-?\d[\d.,]*)\s*\\\}", r"\1"),
    )
)
_GROUPS = re.compile(r"(?<![\w.,])\d{1,3}(?:(?: \d{3})+|(?:'\d{3})+|(?:_\d{3})+)(?![\d,])")
# Unmistakable: three digits behind each of several full stops, or a decimal comma behind a full stop.
_CONTINENTAL = re.compile(r"(?<![\w.,])(\d{1,3}(?:\.\d{3})+)(?:,(\d{1,2})|(?<=\.\d{3}\.\d{3}))(?![\d.,]?\d)")
_INDIAN = re.compile(r"(?<![\w.,])\d{1,2}(?:,\d{2})+,\d{3}(?![\d,])")


def plain(text: str) -> str:
    r"""A text without currency signs, bold and LaTeX's marks; minus signs and separators made plain.

    >>> plain(r"**\$5{,}000**").strip()
    '5,000'
    """
    text = plain_characters(text)
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    text = _GROUPS.sub(lambda match: re.sub(r"[ '_]", ",", match[0]), text)
    text = _CONTINENTAL.sub(lambda match: match[1].replace(".", "") + (f".{match[2]}" if match[2] else ""), text)
    return _INDIAN.sub(lambda match: match[0].replace(",", ""), text)


def decimal_comma(text: str) -> str:
    """The text's numbers as most of Europe and Latin America writes them, in English form.

    >>> decimal_comma("1.250 euros"), decimal_comma("18,5")
    ('1250 euros', '18.5')
    """
    text = re.sub(r"(?<![\w.,])\d{1,3}(?:\.\d{3})+(?!\.?\d)", lambda match: match[0].replace(".", ""), text)
    return re.sub(r"(?<![\d.,])(\d+),(\d{1,2}|\d{4,})(?![\d,.]*\d)", r"\1.\2", text)
