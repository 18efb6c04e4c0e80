"""Prompts for examinees and judges, and reading what judges say."""

from voirdire.judging.injection import marker, neutralise
from voirdire.judging.prompts import examinee_prompt, identity_line, judge_prompt
from voirdire.judging.verdicts import ParsedVerdict, parse_verdict

__all__ = [
    "ParsedVerdict",
    "examinee_prompt",
    "identity_line",
    "judge_prompt",
    "marker",
    "neutralise",
    "parse_verdict",
]
