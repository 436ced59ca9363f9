"""What a service offers beyond reading and writing rows: its OData actions and functions."""

from __future__ import annotations

from odata_server.annotations import Annotation
from odata_server.edm import Action, ComplexType, Function, Operation, Parameter, Primitive, Property, ReturnType
from promenade.model.admin_operations import admin_complex_types, admin_operations
from promenade.model.declare import declared
from promenade.model.reporting_operations import reporting_complex_types, reporting_operations
from promenade.model.shape import ADMIN, PUBLIC, Service

__all__ = ["BULK_IMPORT", "IMPORT_ACCEPTED", "complex_types_of", "operations_of"]

BULK_IMPORT = "bulkImport"
IMPORT_ACCEPTED = "ImportAccepted"


def operations_of(service: Service) -> tuple[Operation, ...]:
    """The operations of a service, in the order of the specification."""
    if service is ADMIN:
        return admin_operations()
    return _of_public_api() if service is PUBLIC else reporting_operations()


def complex_types_of(service: Service) -> tuple[ComplexType, ...]:
    """The values that its operations return."""
    if service is ADMIN:
        return admin_complex_types()
    return (_BULK_HEADER, _IMPORT_ACCEPTED) if service is PUBLIC else reporting_complex_types()


def _of_public_api() -> tuple[Operation, ...]:
    campaign = ReturnType(entity_type="Campaigns", nullable=False)
    return (
        Action(
            name="addPromotions",
            binding="Campaigns",
            parameters=(Parameter(name="promotionIds", type=Primitive.GUID, collection=True, nullable=False),),
            returns=campaign,
            annotations=_described("Makes promotions part of the campaign; those that are already stay so."),
        ),
        Action(
            name="removePromotion",
            binding="Campaigns",
            parameters=(Parameter(name="promotionId", type=Primitive.GUID, nullable=False),),
            returns=campaign,
            annotations=_described("Takes a promotion out of the campaign; one that is in none stays so."),
        ),
        Function(
            name="exportICS",
            binding="Campaigns",
            returns=ReturnType(type=Primitive.STRING, nullable=False, media_type="text/calendar"),
            annotations=_described("The campaign's window as an iCalendar object (RFC 5545) with one event."),
        ),
        Action(
            name="createPromotionFromTemplate",
            parameters=(Parameter(name="templateId", type=Primitive.GUID, nullable=False),),
            returns=ReturnType(type=Primitive.GUID, nullable=False),
            annotations=_described("Makes a promotion, in status DRAFT, from a template; a new one with every call."),
        ),
        *(_bulk_import(entity.set_name) for entity in declared().values() if entity.importable),
    )


def _bulk_import(set_name: str) -> Action:
    return Action(
        name=BULK_IMPORT,
        binding=set_name,
        binding_collection=True,
        parameters=(
            Parameter(name="header", type=_BULK_HEADER, annotations=_described("What holds for all rows.")),
            Parameter(
                name="rows",
                entity_type=set_name,
                collection=True,
                nullable=False,
                annotations=_described("At least one row and at most 10 000, each as a single create has it."),
            ),
        ),
        returns=ReturnType(type=_IMPORT_ACCEPTED, nullable=False),
        annotations=_described(
            "Accepts many rows at once, which are stored in the background: 202, and 200 for a request that was"
            " accepted before under the same Idempotency-Key. A request of its own, not a part of a $batch."
        ),
    )


def _member(name: str, kind: Primitive, text: str, *, length: int | None = None, nullable: bool = True) -> Property:
    return Property(name=name, type=kind, max_length=length, nullable=nullable, annotations=_described(text))


def _described(text: str) -> tuple[Annotation, ...]:
    return (Annotation("Core.Description", text),)


_BULK_HEADER = ComplexType(
    name="BulkImportHeader",
    properties=(
        _member("tenantId", Primitive.STRING, "Another tenant; for administrators of an operator.", length=36),
        _member("minorVersion", Primitive.INT32, "The minor version that the rows are written for."),
        _member(
            "continueOnError",
            Primitive.BOOLEAN,
            "Whether good rows are stored when others fail. If not, which is the default, the first faulty row undoes"
            " all.",
        ),
        _member(
            "idempotencyKey", Primitive.STRING, "In place of the header Idempotency-Key, for 24 hours.", length=255
        ),
    ),
    annotations=_described("What a bulk import says of all its rows."),
)
_IMPORT_ACCEPTED = ComplexType(
    name=IMPORT_ACCEPTED,
    properties=(
        _member("jobId", Primitive.GUID, "The row of ImportJobs.", nullable=False),
        _member(
            "statusUrl",
            Primitive.STRING,
            "Where to ask for the status until it is SUCCEEDED or FAILED.",
            nullable=False,
        ),
    ),
    annotations=_described("An import that was accepted."),
)
