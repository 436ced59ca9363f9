"""Services that are put together from rooms: administration, descriptions of POS, the back office, a store."""
