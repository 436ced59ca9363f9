"""What is archived: the rows of logs and ledgers by month."""
