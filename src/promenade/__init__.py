"""Promotion and coupon engine for retail: exact prices line by line, online and offline."""

__version__ = "0.1.0"
