#!/bin/sh
# Run once by the image of PostgreSQL, when it makes its data directory: a role that owns the tables and makes upgrades,
# and a role that serves and owns nothing, so that row-level security holds for it.
set -eu

secrets=${SECRETS:-/run/secrets}

psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname "${POSTGRES_DB:-promenade}" \
  --set=owner_password="$(cat "$secrets/owner_password")" \
  --set=serving_password="$(cat "$secrets/serving_password")" \
  --set=database="${POSTGRES_DB:-promenade}" <<'SQL'
CREATE ROLE promenade_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE promenade LOGIN PASSWORD :'serving_password';
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT ON DATABASE :"database" TO promenade;
ALTER DATABASE :"database" OWNER TO promenade_owner;
ALTER SCHEMA public OWNER TO promenade_owner;
SQL
