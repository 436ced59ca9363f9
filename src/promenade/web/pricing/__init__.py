"""The POS service: evaluate, simulate, prices, confirm; its messages, decoded and encoded."""
