"""Drafts over HTTP, as two users of one tenant and one user of another tenant see them."""
