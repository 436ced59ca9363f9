"""Fights: many clients compete for the same resource over HTTP; the answers are checked against the database."""
