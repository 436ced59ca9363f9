"""Coupons at the till: validate, reserve, redeem, cancel, activate (specification, POS Service).

Each transition is one durable unit of work around one conditional update. It stays correct without a confirm or a
sweeper, and with either of them running concurrently.
"""
