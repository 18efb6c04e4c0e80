"""MBPP: programs taken from responses and tested."""
