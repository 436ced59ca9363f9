"""Promotions and what belongs to them: rules, templates, campaigns, pilots, forecasts, approvals."""
