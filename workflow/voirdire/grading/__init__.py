"""Is a response right: answers read from text, programs run in a sandbox."""

from voirdire.grading.grade import grade, grade_many
from voirdire.grading.outcome import Grade

__all__ = ["Grade", "grade", "grade_many"]
