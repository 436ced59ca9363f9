"""Reports as their users see them."""
