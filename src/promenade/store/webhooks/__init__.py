"""Events and their deliveries: outbox, planning, queue, outcomes, replay."""
