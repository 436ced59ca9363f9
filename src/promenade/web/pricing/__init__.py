"""The POS service: evaluate, simulate, confirm; its messages, decoded and encoded."""
