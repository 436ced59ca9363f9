"""A mixed load on several processes, after which every invariant of docs/reliability.md is checked in the database."""
