"""Rules for who gets access: clients, people and the groups of an outside issuer."""
