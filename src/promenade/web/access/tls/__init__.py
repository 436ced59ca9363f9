"""Certificates: of the service, of the stores and programs that show one, and which of them are trusted."""
