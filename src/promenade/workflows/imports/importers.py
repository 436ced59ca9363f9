"""Which importer stores the rows of a job."""

from __future__ import annotations

from promenade import model
from promenade.errors import Invalid
from promenade.workflows.context import Context
from promenade.workflows.imports.articles import ArticleImporter
from promenade.workflows.imports.importing import RowImporter
from promenade.workflows.imports.rows import EntityImporter

__all__ = ["importable_sets", "importer_for"]


def importable_sets() -> tuple[str, ...]:
    """The entity sets that rows can be imported into (specification, Bulk import request)."""
    return tuple(entity.set_name for entity in model.entities() if entity.importable)


def importer_for(entity: str, context: Context, *, tenant_id: str, user: str, source: str) -> RowImporter:
    """The importer of rows of ``entity`` for a user of a tenant; ``source`` is the job's.

    Raises KeyError for an unknown entity set, Invalid (NOT_IMPORTABLE) for one that takes no imports.
    """
    if not model.entity(entity).importable:
        raise Invalid("NOT_IMPORTABLE", f"Rows of {entity} cannot be imported.")
    is_fast = entity == "Articles"
    rows = EntityImporter(
        entity,
        tenant_id=tenant_id,
        user=user,
        new_id=context.new_id,
        http_hosts=context.webhook_allow,
        audited=not is_fast,  # of articles the job as a whole is in the audit trail
    )
    return ArticleImporter(context.new_id, user=user, others=rows) if is_fast else rows
