"""Bound actions of administration: deliveries that are sent again."""
