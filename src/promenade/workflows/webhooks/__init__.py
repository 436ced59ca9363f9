"""Delivery of events to subscribers: planning, signing, sending and the outcome."""
