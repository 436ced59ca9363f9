"""Reports as those who work with them meet them."""
