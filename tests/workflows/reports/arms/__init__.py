"""Tests of the reports about pilots, experiments and uplift."""
