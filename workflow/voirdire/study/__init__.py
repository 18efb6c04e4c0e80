"""Configuration into typed objects, the matrix of jobs and their paths; the paper's claims.

Nothing is re-exported here: each of a study's many small jobs imports one module, and would wait for all of them.
"""
