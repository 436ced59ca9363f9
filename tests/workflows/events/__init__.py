"""What subscribers are told of, and when."""
