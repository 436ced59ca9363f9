"""Cache compiled modules for later starts, even where the environment forbids writing them beside their source.

Compiling them takes as long as running them, and a test run starts hundreds of services.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["keep_bytecode"]


def keep_bytecode(directory: Path) -> None:
    """Make this process and its children cache bytecode in ``directory``, unless they already cache it elsewhere."""
    if sys.dont_write_bytecode:
        sys.dont_write_bytecode = False
        sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(directory)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
