"""Coupons at the till."""
