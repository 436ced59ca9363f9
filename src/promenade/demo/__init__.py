"""A believable retailer, drawn from a seed: shelves, promotions and a week of sales."""

from promenade.demo.seeding import DemoTenant, seed

__all__ = ["DemoTenant", "seed"]
