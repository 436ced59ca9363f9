"""The tables as an OData service reads them."""

from __future__ import annotations

from functools import cache

from odata_server.draft import ADMINISTRATIVE_DATA
from odata_server.sql.model import EntityMap, SqlModel
from odata_server.sql.reader import SqlReader
from promenade import model
from promenade.model.declare import ADMIN, EntityType, Service
from promenade.model.draft_edm import draft_role
from promenade.model.edm import edm_for, served_entities
from promenade.store.odata_drafts import administrative_map, with_drafts
from promenade.store.odata_maps import CODE_LIST_COLUMNS, code_list_rows, columns_of, rows_of

__all__ = ["reader_for", "sql_model_for"]


@cache
def sql_model_for(service: Service) -> SqlModel:
    """What `odata_server.sql` reads a service from, made once. Tenants are kept apart below it, by `store.tenancy`."""
    maps = {entity.set_name: _map(entity, service) for entity in served_entities(service)}
    for set_name in model.code_lists():
        maps[set_name] = EntityMap(code_list_rows(set_name), CODE_LIST_COLUMNS, etag=None)
    if service is ADMIN:
        maps[ADMINISTRATIVE_DATA] = administrative_map()
    return SqlModel(edm_for(service), maps)


def _map(entity: EntityType, service: Service) -> EntityMap:
    columns = columns_of(entity, service)
    if service is ADMIN and draft_role(entity) is not None:
        return with_drafts(entity, columns)
    return EntityMap(rows_of(entity), columns, etag="version" if entity.stored else None)


@cache
def reader_for(service: Service) -> SqlReader:
    """What reads a service's rows in a session."""
    return SqlReader(sql_model_for(service))
