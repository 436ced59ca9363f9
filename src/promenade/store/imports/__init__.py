"""Import jobs, their rows and their outcomes."""
