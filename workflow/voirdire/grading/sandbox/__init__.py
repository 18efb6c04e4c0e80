"""Sandboxes for untrusted programs: the ways to isolate, and the limits."""
