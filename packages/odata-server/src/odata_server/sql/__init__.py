"""Read from SQLAlchemy tables: a query of `odata_server.source` becomes a bounded number of statements.

::

    from odata_server.sql.model import EntityMap, SqlModel
    from odata_server.sql.reader import SqlReader

    model = SqlModel(EDM, {"Book": EntityMap(books, {"ID": "id", "title": "title"}, etag="version")})
    rows = await SqlReader(model).read(connection, query)

- `model`: which table and columns hold which entity type; `storage`: the format of the values in a column.
- `terms`, `comparison`, `arithmetic`, `functions` and related modules: typed expressions and their OData semantics.
- `scopes`, `search`, `translate`: names, paths and expressions resolved against the model.
- `drafts`, `halves`: which rows of entities with edit drafts a query means, and how both kinds of rows are merged.
- `projection`, `order`, `paging`, `targets`, `expand`, `apply`: the parts of a query; `reader` combines them.

Every value of a request is a bound parameter: statements that differ only in values are compiled once.
"""
