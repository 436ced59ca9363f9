"""Who may use the service: tenants, clients of programs, and people."""
