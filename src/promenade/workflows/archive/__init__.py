"""Old logs as Parquet files. Only the commands of `promenade archive` import this: it needs the extra `archive`."""
