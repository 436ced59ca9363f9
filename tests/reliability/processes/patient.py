"""The command `promenade` with processes that wait longer for the cache, for busy machines:
`python -m tests.reliability.processes.patient serve ...`.

A process that gets no processor time for 50 ms continues without the cache, as it should, but then counts on its own,
which is not what a test of several processes is about. The setting also applies to all processes that it starts.
"""

from __future__ import annotations

from promenade.cli import main
from promenade.store.driver import cache

usual = cache.open_cache.__kwdefaults__
assert usual is not None
usual["patience"] = 10.0

if __name__ == "__main__":
    main()
