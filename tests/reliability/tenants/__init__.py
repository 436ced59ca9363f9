"""One tenant asks for everything, in every way, and sees nothing of another (reliability S1 to S3)."""
