"""The test infrastructure: real servers, databases copied from a migrated template, the service as a process."""
