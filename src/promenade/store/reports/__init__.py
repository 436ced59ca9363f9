"""The sums behind reports, and the queries over them."""
