"""Coupons at the till: shown, reserved, redeemed, given back, activated (specification, POS Service).

Each edge is one durable unit of work around one conditional update. Neither confirm nor a sweeper is needed for any of
them to be right, and both may come in between at any moment.
"""
