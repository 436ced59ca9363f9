"""Bound actions of administration: forecasts."""
