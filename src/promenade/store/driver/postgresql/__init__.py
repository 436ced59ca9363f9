"""PostgreSQL: connections to the server, and the roles that they have there."""
