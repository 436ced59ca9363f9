"""The delivery of events to subscribers: what is planned, how it is signed and sent, and what comes of it."""
