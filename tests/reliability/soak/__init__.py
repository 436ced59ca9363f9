"""A mixed load on several processes, and every invariant of docs/reliability.md checked in the database afterwards."""
