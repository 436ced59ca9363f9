"""Binding approval: who decides, about which content, and every way that must not lead past it."""
