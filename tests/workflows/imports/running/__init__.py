"""Import jobs run by a worker: their outcomes, portions and scheduling."""
