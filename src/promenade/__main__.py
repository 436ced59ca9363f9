"""`python -m promenade`."""

from promenade.cli import main

main()
