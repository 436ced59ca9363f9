"""Forecasts and the sales that they replay."""
