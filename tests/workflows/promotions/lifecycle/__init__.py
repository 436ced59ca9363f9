"""Moving, copying and numbering promotions and coupons."""
