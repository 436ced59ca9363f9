"""Edit drafts: who holds them, and their rows."""
