"""A believable retailer, drawn from a seed: shelves, promotions and five weeks of sales."""

from promenade.demo.keeping import seed_once
from promenade.demo.seeding import DemoTenant, seed

__all__ = ["DemoTenant", "seed", "seed_once"]
