"""What a sale comes to, by rules without a database: settled lines, returns, effects."""
