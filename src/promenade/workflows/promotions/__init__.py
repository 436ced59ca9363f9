"""What planners do with promotions and campaigns beyond writing rows."""
