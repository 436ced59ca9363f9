-- Makes a partitioned table of one that grows with time, in one transaction, as the owner of the tables:
--
--   psql promenade --set=table=iterations --set=column=created_at --set=from=2027-01-01 --file=partition-by-month.sql
--
-- What is there becomes the first partition, as it is; rows from the first day of the month `from` on, which must be in
-- the future, go into one partition a month, for two years, and later ones into another. The table is locked while its
-- rows are looked through once. Of a table that is partitioned already, it makes the months of these two years that are
-- missing. docs/how-to/scaling-out.md says for which tables, and what it costs.

\set ON_ERROR_STOP on
BEGIN;
SET LOCAL lock_timeout = '5s';
SET LOCAL client_min_messages = 'warning'; -- not that a month is there
SELECT format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', :'table') \gexec

SELECT relkind = 'p' AS is_partitioned FROM pg_class WHERE oid = CAST(:'table' AS regclass) \gset
\if :is_partitioned
\else
CREATE TEMPORARY TABLE plan ON COMMIT DROP AS
SELECT
  indisunique AS is_unique,
  regexp_replace(pg_get_indexdef(indexrelid), ' INDEX \S+ ON \S+', format(' INDEX ON %I', :'table')) AS definition
FROM pg_index WHERE indrelid = CAST(:'table' AS regclass);

CREATE TEMPORARY TABLE wall ON COMMIT DROP AS
SELECT pg_get_expr(polqual, polrelid) AS shown, pg_get_expr(polwithcheck, polrelid) AS written
FROM pg_policy WHERE polrelid = CAST(:'table' AS regclass);

SELECT :'table' || '_until_' || to_char(CAST(:'from' AS date), 'YYYY_MM') AS first_part \gset
SELECT format('ALTER TABLE %I RENAME TO %I', :'table', :'first_part') \gexec
SELECT format(
  'CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE) PARTITION BY RANGE (%I)',
  :'table', :'first_part', :'column'
) \gexec

-- A unique index of a partitioned table has to hold the column that it is partitioned by.
SELECT CASE WHEN is_unique THEN regexp_replace(definition, '\)$', format(', %I)', :'column')) ELSE definition END
FROM plan \gexec

SELECT format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (MINVALUE) TO (%L)', :'table', :'first_part', :'from')
\gexec
SELECT format('CREATE TABLE %I PARTITION OF %I DEFAULT', :'table' || '_later', :'table') \gexec
SELECT format('CREATE POLICY tenant ON %I USING (%s) WITH CHECK (%s)', :'table', shown, written) FROM wall \gexec
\endif

SELECT format(
  'CREATE TABLE IF NOT EXISTS %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
  :'table' || to_char(month, '_YYYY_MM'), :'table', month, month + interval '1 month'
)
FROM generate_series(CAST(:'from' AS timestamp), CAST(:'from' AS timestamp) + interval '23 months', '1 month') AS month
\gexec

-- Row-level security is the table's; a partition that somebody reads by its own name shows nothing.
SELECT format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', relid)
FROM pg_partition_tree(:'table') \gexec
COMMIT;
