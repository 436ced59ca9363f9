"""What a service offers beyond reading and writing rows: its OData actions and functions."""

from __future__ import annotations

from odata_server.annotations import Annotation
from odata_server.edm import Action, ComplexType, Function, Operation, Parameter, Primitive, ReturnType
from promenade.model.admin_operations import admin_complex_types, admin_operations
from promenade.model.shape import ADMIN, PUBLIC, Service

__all__ = ["complex_types_of", "operations_of"]


def operations_of(service: Service) -> tuple[Operation, ...]:
    """The operations of a service, in the order of the specification."""
    if service is ADMIN:
        return admin_operations()
    return _of_public_api() if service is PUBLIC else ()


def complex_types_of(service: Service) -> tuple[ComplexType, ...]:
    """The values that its operations return."""
    return admin_complex_types() if service is ADMIN else ()


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
    )


def _described(text: str) -> tuple[Annotation, ...]:
    return (Annotation("Core.Description", text),)
