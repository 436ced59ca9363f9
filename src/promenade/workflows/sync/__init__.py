"""The cloud's side of the sync with stores that price on their own: registration, download, and upload of sales."""
