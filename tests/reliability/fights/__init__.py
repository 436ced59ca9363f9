"""Fights: many clients want the same thing at once, over HTTP; what they were told is held against the database."""
