"""Ways to isolate untrusted programs, and the proof that one of them works here."""
