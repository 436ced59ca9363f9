"""What tests stand on: real servers, databases made from a migrated template, the service as a process."""
