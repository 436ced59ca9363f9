"""One tenant sends every possible request and sees nothing of another tenant (reliability S1 to S3)."""
