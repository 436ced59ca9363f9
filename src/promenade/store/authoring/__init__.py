"""Writing authored rows of any entity."""
