"""The command `promenade`, whose processes wait for the cache as long as a busy machine takes:
`python -m tests.reliability.processes.patient serve ...`.

A process that is not given the processor for 50 ms goes on without the cache, as it should; what it then counts for
itself is not what a test of many processes is about. What is said here is said in every process that they start, too.
"""

from __future__ import annotations

from promenade.cli import main
from promenade.store import cache

usual = cache.open_cache.__kwdefaults__
assert usual is not None
usual["patience"] = 10.0

if __name__ == "__main__":
    main()
