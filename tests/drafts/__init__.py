"""Edit drafts as two users of one tenant, and one of another, meet them over HTTP."""
