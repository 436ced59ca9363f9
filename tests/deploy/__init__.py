"""Files of deploy/, read like the programs that run them do, and tested as far as possible without containers."""
