"""Who may call: tenants, clients, codes, certificates, and the administrator of a store."""
