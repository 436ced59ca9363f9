"""Coupon codes: made, reserved, spent, issued, expired."""
