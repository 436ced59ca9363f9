"""What moves, copies and numbers promotions and coupons."""
