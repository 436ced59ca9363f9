"""Who may call: tenants, clients, keys, certificates, and the one row of a store."""
