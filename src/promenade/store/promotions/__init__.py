"""What planners look at: campaigns, calendar, templates, checks, conditions in words."""
