"""voirdire: examine LLM judges before their verdicts are trusted, and calibrate a panel of them."""

__version__ = "0.1.0"
