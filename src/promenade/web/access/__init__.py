"""Who is asking: tokens, sessions, API keys, certificates, sign-in, the built-in token issuer."""
