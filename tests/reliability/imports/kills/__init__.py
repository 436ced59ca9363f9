"""Workers that die in the middle of an import (reliability.md, I1 and T4)."""
