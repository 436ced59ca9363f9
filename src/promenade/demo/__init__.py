"""A believable retailer, drawn from a seed: shelves, promotions and a week of sales."""
