"""Reading over SQLAlchemy tables: a query of `odata_server.source` becomes a bounded number of statements.

::

    model = SqlModel(EDM, {"Book": EntityMap(books, {"ID": "id", "title": "title"}, etag="version")})
    rows = await SqlReader(model).read(connection, query)

- `model`: which table and columns hold which entity type; `storage`: in what form a column holds its values.
- `terms`, `comparison`, `arithmetic`, `functions` and neighbours: typed expressions and what OData means by them.
- `scopes`, `lambdas`, `search`, `translate`: names, paths and expressions read against the model.
- `drafts`, `halves`: which rows a query means of entities with edit drafts, and both kinds of rows merged.
- `projection`, `order`, `paging`, `targets`, `expand`, `apply`: the parts of a query; `reader` puts them together.

Every value of a request is a bound parameter: statements that differ in values alone are compiled once.
"""

from __future__ import annotations

from odata_server.sql.connection import SqlConnection
from odata_server.sql.model import EntityMap, SqlModel
from odata_server.sql.reader import SqlReader

__all__ = ["EntityMap", "SqlConnection", "SqlModel", "SqlReader"]
