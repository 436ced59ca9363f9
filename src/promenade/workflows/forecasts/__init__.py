"""Forecasts: what a promotion would have done to the sales of a period."""
