"""How responses word a decision for a letter: the patterns that `voirdire.grading.options.choice` weighs."""

import re

LETTER = (
    r"(?:\\(?:text|mathrm|mathbf|textbf)\{)?[(\[<{\"'“‘]{0,3}(?P<letter>[A-D])(?![\w'’]|\.[A-Za-z])[)\]>\"'”’}]{0,5}"
)
# After a lone "A", which may be the article: anything but a plain word.
_NOT_ARTICLE = (
    r"(?!(?<=A)\s+(?!because|since|as\b|due|for\b|is\b|which|and\b|or\b|not\b|over\b|with\b|based|(?-i:[A-Z(]))\w)"
)
# After "so D": no statement about D.
_NO_STATEMENT = r"(?!\s+(?:is|isn't|was|wasn't|seems|has|does|doesn't|can|can't|cannot|could|would|may|might)\b)"
_NOUN = r"(?:option|choice|letter|answer)"
_LEADS = (
    # The answer is D, Answer: D, "answer": "D", and in a few other languages.
    r"(?<![A-Za-z])(?:answer|ans\.?|option|choice|letter|statement|guess|antwort|r[ée]ponse|respuesta|risposta|resposta"
    r"|ответ|答案|回答|答え|正解)[\"']?"
    r"(?:\s+(?:to|for|here|should|must|would|will|might|may|choice|letter|option|the|this|question|be)){0,6}"
    r"(?:\s+[\"“][^\"”\n]{0,200}[\"”])?"
    r"(?:\s*(?:is|:|=|->|-|–|—|→|>)|\s+be){1,3}[\s:]*+(?:\w{1,20}ly|therefore|thus|indeed|then)?,?"
    rf"\s*+(?:the\s+)?{_NOUN}?\s*+:?\s*+",
    r"(?:(?:答案|答え|正解)\s*[是为は：:]|选(?:择|项)?)\s*+",
    r"\b(?:respuesta|risposta|resposta|antwort|r[ée]ponse)(?:\s+\w{1,12}){0,3}?\s+(?:es|est|ist|è|é|lautet)\s*:?\s*"
    r"(?:(?:la|le|el|die|der|das|a|opci[óo]n|option)\s+)?",
    # At a sentence's end, in brackets: "(option D)."
    r"\((?:option|choice|answer)\s+(?=[A-D]\)[.!]?\s*(?:\n|\Z))",
    # I choose D.
    r"\b(?:choose|chose|pick|picked|select|selected|go(?:ing)?\s+with|went\s+with|settle\s+on|decide\s+on|opt\s+for"
    r"|(?:would|will|i'd|i'll)\s+answer)"
    rf"(?:\s+(?:the\s+)?(?:best|correct|right|final|most\s+likely|most\s+accurate)?\s*{_NOUN})?\s*+:?\s*+",
    # I think D, that leaves D, only D.
    r"\b(?:think|guess|believe|probably|leaves(?:\s+us\s+with)?|leaving|left\s+with|has\s+to\s+be|(?<!not\s)only),?\s+"
    r"(?:that\s+)?(?:it's\s+|it\s+is\s+)?(?:option\s+|choice\s+|the\s+answer\s+is\s+)?",
    # The best fit is D, the statement that fits best is D.
    r"\b(?:best|most\s+\w{1,20})\s+(?:\w{1,20}\s+){0,5}?is\s+(?:option\s+|choice\s+|letter\s+)?",
    # So D, it's D.
    r"\b(?:so|thus|hence|therefore|conclude|must\s+be|it's|it\s+is|is\s+that|but|would\s+say|i'd\s+say)[,:]?"
    r"(?:\s+(?:it\s+is|it's|it\s+must\s+be|the\s+answer\s+is|the\s+answer\s+must\s+be|option|choice))?\s+",
    r"\\(?:boxed|fbox)\{\s*+",
)
DECISIONS = [
    *(re.compile(lead + LETTER + _NOT_ARTICLE + _NO_STATEMENT, re.IGNORECASE) for lead in _LEADS),
    # D is correct.
    re.compile(
        rf"\b(?:option\s+|choice\s+|answer\s+)?{LETTER}\s+(?:is|seems(?:\s+to\s+be)?|appears\s+to\s+be|must\s+be|would\s+be)"
        r"\s+(?:(?:clearly|the|therefore|most)\s+){0,4}"
        r"(?:correct|right|best|better|answer|accurate|true|supported"
        r"|more\s+(?:accurate|complete|precise|specific|plausible|likely|consistent))\b",
        re.IGNORECASE,
    ),
    re.compile(rf"\b{LETTER}\s+(?:clearly\s+)?(?:best\s+(?:fits|matches|answers)|(?:fits|matches)\s+best)\b"),
    # "Only D fits." is a statement about D, and a decision.
    re.compile(rf"(?<!not\s)\b[Oo]nly\s+(?:option\s+)?{LETTER}\s+(?:is|fits|matches|works|has|remains)\b"),
    # The last sentence of a line; not the initial of a name.
    re.compile(
        rf"(?<=[.!?])(?<!Mr\.)(?<!Ms\.)(?<!Dr\.)(?<!St\.)(?<!Mrs\.)[ \t]{{1,9}}{LETTER}[.!]?(?=[ \t]*(?:\n|\Z))"
    ),
]
# "A: wrong", "B is right because": one step of a walk through the options.
WALK = re.compile(
    r"(?:^|[;,.|\n])[ \t>]*+(?:[-•][ \t]+|\|[ \t]*)?(?:[Oo]ption\s+)?\(?(?P<letter>[A-D])\)?[ \t]*+[.:)=|–—-]*+[ \t]*+"
    r"(?:(?:this\s+)?is\s+)?"
    r"(?:(?P<right>correct|right|true|yes|✅|✓|✔|☑)|incorrect|wrong|false|no|not\s+(?:correct|right)|❌|✗|✘|✖)\ufe0f?"
    r"(?=[ \t]*(?:[;:,.!|\n(–—-]|\Z|because\b|since\b|as\b))",
    re.IGNORECASE,
)
# A line of its own, or one that opens with the letter and gives its option or a reason.
LINE = re.compile(
    r"^[ \t>#]*+(?:[-•*→]\s+|\d{1,2}[.)]\s+)?(?:[Oo]ption\s+|[Cc]hoice\s+)?"
    + LETTER
    + r"(?P<behind>[ \t]*$|[ \t]*[.):,;–—-][ \t]*[^\n]*$|[ \t]+\([^\n]*$"
    r"|\s+(?:because|since|as|due|instead|rather|over|it\s+is)\b[^\n]*$)",
    re.MULTILINE,
)
# "It could be either B or D."
WAVERS = re.compile(rf"\b(?:could|might|may)\s+(?:also\s+)?be\s+(?:either\s+)?{LETTER}", re.IGNORECASE)
# Behind the letter at a line's start: a statement about that option, not the option.
STATEMENT = re.compile(
    r"[\s.):,;–—-]*(?:is|isn't|was|wasn't|are|seems|sounds|looks|would|could|can|can't|cannot|may|might|has|does|doesn't)\b"
)
# Right before the letter, before the words that lead to it, and behind it.
DENIED = re.compile(
    r"(?:\bnot(?:\s+(?:option|choice))?|n't|\bnever|\bneither|\bnor|\brather\s+than|\binstead\s+of)\s*[\"'(]*$",
    re.IGNORECASE,
)
DENIED_BEFORE = re.compile(
    r"(?:n't|\bnot|\bnever)[ \t]+"
    r"(?:(?:think|believe|say|feel|necessarily|be|really|conclude)[ \t]+(?:that[ \t]+)?(?:the[ \t]+)?)?$",
    re.IGNORECASE,
)
REFUTED = re.compile(r"\b(?:wrong|incorrect|not|false|no)\b|n't", re.IGNORECASE)
ASKED = re.compile(r"[)\]\"'”’]*\s?\?")
# "A or B"; "A or" where the text breaks off.
BESIDE = re.compile(
    r"[\s.)\]\"']*(?:\bor\W*\Z|(?:\bor\b|\band\b|/|&|,\s*(?:or\s+|and\s+)?)\s*(?:option\s+)?[(\"']?[A-D](?![\w'’]))"
)
# A question that the model asks itself after its answer.
NEXT_QUESTION = re.compile(r"^[ \t>*_#]*(?:Q|Question|Passage|Article|Human|User)[*_]*(?:\s*\d+)?[*_]*:", re.MULTILINE)
WORD_FOLLOWS = re.compile(r"\s*\w")
# Said of no option in particular.
UNDECIDED = re.compile(
    r"\b(?:whether|unclear|unsure|unknown|none|neither|either|or|maybe|perhaps|don't|doesn't|does\s+not|do\s+not|cannot|can't"
    r"|could|might|may)\b|\?",
    re.IGNORECASE,
)
# Behind an option's words that end what is said of it.
ENDS = re.compile(r"\W*\Z|\s*[.,;:!)\]\"'”’\n]|\s+(?:because|since|as|not|so|and\s+not|rather)\b", re.IGNORECASE)
AN_ANSWER = re.compile(r"(?:answer|option|choice)[\"']?\s*(?:is|:)\s*(?:that\s+)?([^\n]*)", re.IGNORECASE)
