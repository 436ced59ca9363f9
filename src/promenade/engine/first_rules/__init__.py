"""Rules of pricing that are no longer in force, kept so that what was priced by them is replayed to the same bytes."""
