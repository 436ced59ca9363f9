"""The tests. Their infrastructure is in `tests.kit`."""

from pathlib import Path

from tests.kit.bytecode import keep_bytecode

keep_bytecode(Path(__file__).parent.parent / "build" / "bytecode")
