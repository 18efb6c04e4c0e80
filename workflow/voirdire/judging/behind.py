"""What a text says behind its verdict: a reason or a courtesy, or something that casts doubt on it.

Doubt leaves a text without a verdict. To take a wrong response for correct is the worse mistake, so that behind
"correct" any negation, failure or concession is doubt; behind "incorrect" it takes the opposite word. What stands in
quotes is not the judge's, nor is "the correct answer is 18" a word about the response.
"""

import re

DOUBT = (
    r"partly|partially|mostly|maybe|perhaps|possibly|probably|unsure|uncertain|unclear|wait|"
    r"actually|not\s+(?:sure|certain|confident)|or\s+(?:not|(?:in)?correct)|unless|far\s+as|long\s+as"
    r"|verdict(?=\s*[:=-])"
)
_RETRACTS = (
    r"sorry|apolog\w+|meant|retract\w*|revis\w+|reconsider\w*|mistook|misread|change\s+my\s+(?:mind|verdict)"
    r"|(?:take|took)\s+(?:it|that|this)\s+back"
)
_NEGATION = r"no|not|cannot|never|neither|nor|none|nothing|nowhere|without|hardly|barely|lack\w*"
_FAILURE = (
    r"fail\w*|errors?|erroneous\w*|errs?|mistake\w*|wrong\w*|(?:in|un)correct\w*|false\w*|untrue|inaccura\w+|imprecise"
    r"|invalid|flaw\w*|bugs?|buggy|faulty?|faults|miss(?:es|ed|ing)|incomplete\w*|mismatch\w*|differ\w*|contradict\w*"
    r"|disagree\w*|violat\w+|crash\w*|raises?|off\s+by|should|doubt\w*|guess\w*|impossible|implausible"
    r"|un(?:related|supported|justified|likely|proven|finished)|(?:real|true|actual)\s+(?:answer|result|value"
    r"|option|sum)"
)
_CONCESSION = r"but|however|although|though|except|while|whereas|despite|instead|rather\s+than|only\s+if"
# The verdict above was not the judge's, or it has yet to look.
_SHOWN = (
    r"reject\w*|ignor\w+|disregard\w*|inject\w*|manipulat\w+|trick\w*|copied|quot\w+|own\s+claim|says?\s*\Z"
    r"|(?:that|this|the|above)\s+(?:(?:above|last|final)\s+)?(?:line|verdict|attempt)"
    r"|part\s+of\s+the\s+(?:response|submission)"
    r"|(?:what|as)\s+(?:it|they|(?:the|this)\s+\w+)\s+(?:says?|said|claims?|claimed)"
)
_LOOKS = r"(?:check|verify|calculate|compute|compare|look|see|solve|recheck|double)"
_AGAINST = {
    True: re.compile(
        rf"\b(?:{DOUBT}|{_RETRACTS}|{_NEGATION}|{_FAILURE}|{_CONCESSION}|{_SHOWN}"
        rf"|(?:let\s+me|let's|now\s+i|i\s+will\s+now)\s+(?:\w+\s+)?{_LOOKS})\b|n't\b|\?|[❌❎✗✘✖☒🚫👎≠]|!=",
        re.IGNORECASE,
    ),
    False: re.compile(
        rf"\b(?:{DOUBT}|true|correct)\b"
        r"|\b(?:it|this|response|answer|code|solution|program)(?:\s+(?:is|was)|'s)\s+(?:\w{1,10}\s+)?"
        r"(?:right|fine|valid)\b|\?",
        re.IGNORECASE,
    ),
}
_OPPOSITE = {
    True: re.compile(
        rf"\b(?:incorrect\w*|wrong|{_RETRACTS})\b|(?:\bnot|n't)\s+(?:\w{{1,20}}\s+)?correct\b", re.IGNORECASE
    ),
    False: re.compile(
        rf"\b(?:correct|{_RETRACTS})\b"
        r"|\b(?:it|this|response|answer|code|solution|program)(?:\s+(?:is|was)|'s)\s+(?:\w{1,10}\s+)?right\b",
        re.IGNORECASE,
    ),
}
# "No other value is given", "without errors": they speak for the response.
_FAULTLESS = re.compile(
    r"\b(?:no|without(?:\s+any)?)\s+(?:other|further|more|additional|comments?|errors?|mistakes?|issues?"
    r"|problems?|flaws?"
    r"|bugs?|faults?|difference)\b",
    re.IGNORECASE,
)
# "The correct answer is 18", "it is not correct", "the steps are correct": no second thoughts about "incorrect".
_NO_SECOND_THOUGHT = re.compile(
    r"\b(?:the|a|any|its|of)\s+correct\s+\w"
    r"|\bcorrect\s+(?:(?:final|numerical)\s+)?(?:answer|result|value|number|option|choice|output|sum|total|solution)\b"
    r"|\bcorrect(?:\s+(?:would|should)\s+be\b|\s*[:=]\s*\W?\d)|\b(?:would\s+(?:have\s+been|be)|to\s+be)\s+correct\b"
    r"|(?:\bnot|n't|\bnor|\bnever)\s+(?:\w{1,20}\s+)?correct\b"
    r"|\b(?:steps?|reasoning|approach|method|set-?up|logic|idea|start|calculations?"
    r"|arithmetic)\b[^.;]{0,40}\bcorrect\b",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"(?:please\s+)?(?:let\s+me\s+know|feel\s+free|i\s+hope\s+(?:this|that|it)\s+helps?|hope\s+(?:this|that"
    r"|it)\s+helps?)\b",
    re.IGNORECASE,
)
_SECOND_THOUGHTS = re.compile(
    r"(?:(?:(?:but|oh|no|hmm+),?\s+)?(?:wait|actually|hmm+|hold\s+on|correction|on\s+second\s+thoughts?"
    r"|scratch\s+that|no,)"
    rf"|(?:now,?\s+)?let(?:'s|\s+me)\s+{_LOOKS})(?!\w)",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\"[^\"\n]{1,300}\"|`[^`\n]{1,300}`|(?<!\w)'[^'\n]{1,300}'(?!\w)|\\(?:boxed|fbox)\s*\{[^{}\n]{0,200}\}",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n")
_START = re.compile(r"[\W_]*")
# What a reason may open with. Behind "correct" nothing else is one.
_REASON = re.compile(
    r"[\W\d_]*+(?:[A-Za-z]\b(?!\s*\w)|(?:true|yes|right|confidence|score|reasons?|reasoning|explanation|because"
    r"|since|as"
    r"|given|for|the|this|that|it|its|he|she|they|each|both|all|every|everything|response|answers?|options?"
    r"|choices?|code"
    r"|function|output"
    r"|result|solution|program|steps?|sum|matches|matching|agrees|equals|passes|returns|gives|yields|i|thus|so|hence)\b"
    r"|\\|[\d.,$ ]*\d\s*(?:is|are|was|[-+*/=×<>])|\Z)",
    re.IGNORECASE,
)


def is_reason(text: str, right: bool) -> bool:
    """Whether what stands behind the word, on its line, gives a reason for it and doesn't take it back.

    >>> is_reason("the sum is 18", True), is_reason("no", True), is_reason("the sum isn't 18", True)
    (True, False, False)
    """
    if not right:
        return not _AGAINST[False].search(_NO_SECOND_THOUGHT.sub("", text))
    text = _FAULTLESS.sub("", text)
    return bool(_REASON.match(text)) and not _AGAINST[True].search(text)


def casts_doubt(lines: list[str], right: bool) -> bool:
    """Whether the judge's own lines behind a verdict say anything that speaks against it.

    >>> casts_doubt(["", "Sorry, I meant incorrect."], True), casts_doubt(["The correct answer is 18."], False)
    (True, False)
    """
    return any(
        _speaks_against(sentence[_START.match(sentence).end() :], right)  # type: ignore[union-attr]
        for line in lines
        for sentence in _SENTENCE_END.split(_QUOTED.sub("\0", line))
    ) or any(_SECOND_THOUGHTS.match(_START.sub("", line, count=1)) for line in lines)


def _speaks_against(sentence: str, right: bool) -> bool:
    if _COURTESY.match(sentence):
        return False
    if not right:
        return bool(_OPPOSITE[False].search(_NO_SECOND_THOUGHT.sub("", sentence)))
    # A sentence about a quotation may well tell what's wrong with it.
    against = _OPPOSITE[True] if "\0" in sentence else _AGAINST[True]
    return bool(against.search(_FAULTLESS.sub("", sentence)))
