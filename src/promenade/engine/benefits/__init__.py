"""Action types: one family per module; importing the module registers them."""

from promenade.engine.benefits import article, bundle, coupon, free_item, loyalty, receipt, tiers

__all__ = ["article", "bundle", "coupon", "free_item", "loyalty", "receipt", "tiers"]
