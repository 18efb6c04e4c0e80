"""Benchmarks: load and validate questions, and say what a prompt may tell about them."""

from voirdire.benchmarks.items import LETTERS, Item, frame_from_items, items_from_frame
from voirdire.benchmarks.loading import LeftOut, Loaded, check, load
from voirdire.benchmarks.prompts import fill, function_name, placeholders, prompt_fields
from voirdire.benchmarks.registry import BENCHMARKS, Benchmark
from voirdire.benchmarks.source import Source

__all__ = [
    "BENCHMARKS",
    "LETTERS",
    "Benchmark",
    "Item",
    "LeftOut",
    "Loaded",
    "Source",
    "check",
    "fill",
    "frame_from_items",
    "function_name",
    "items_from_frame",
    "load",
    "placeholders",
    "prompt_fields",
]
