"""A small model with a property of every type, for tests without tables."""

from __future__ import annotations

from odata_server.edm import (
    Action,
    ComplexType,
    Container,
    Edm,
    EntitySet,
    EntityType,
    EnumMember,
    EnumType,
    NavigationProperty,
    Parameter,
    Primitive,
    Property,
    Schema,
)

COLOR = EnumType(name="Color", members=(EnumMember(name="RED", value=1), EnumMember(name="BLUE", value=2)))
ADDRESS = ComplexType(
    name="Address",
    properties=(
        Property(name="city", type=Primitive.STRING, max_length=10),
        Property(name="zip", type=Primitive.STRING, nullable=False),
    ),
)
ITEM = EntityType(
    name="Item",
    key=("ID",),
    etag=True,
    properties=(
        Property(name="ID", type=Primitive.GUID, nullable=False),
        Property(name="name", type=Primitive.STRING, nullable=False, max_length=5),
        Property(name="price", type=Primitive.DECIMAL, precision=7, scale=2),
        Property(name="weight", type=Primitive.DECIMAL),
        Property(name="small", type=Primitive.INT16),
        Property(name="amount", type=Primitive.INT32),
        Property(name="big", type=Primitive.INT64),
        Property(name="ratio", type=Primitive.DOUBLE),
        Property(name="active", type=Primitive.BOOLEAN, nullable=False),
        Property(name="day", type=Primitive.DATE),
        Property(name="at", type=Primitive.DATE_TIME_OFFSET),
        Property(name="second", type=Primitive.DATE_TIME_OFFSET, precision=0),
        Property(name="opens", type=Primitive.TIME_OF_DAY),
        Property(name="lasts", type=Primitive.DURATION),
        Property(name="image", type=Primitive.BINARY),
        Property(name="color", type=COLOR),
        Property(name="address", type=ADDRESS),
        Property(name="tags", type=Primitive.STRING, collection=True, nullable=False, max_length=3),
        Property(name="secret", type=Primitive.STRING, write_only=True),
        Property(name="createdAt", type=Primitive.DATE_TIME_OFFSET, computed=True),
        Property(name="origin", type=Primitive.STRING, immutable=True),
        Property(name="owner_ID", type=Primitive.GUID),
        Property(name="parent_ID", type=Primitive.GUID, nullable=False),
    ),
    navigations=(
        NavigationProperty(name="owner", target="Owner", on=(("owner_ID", "ID"),)),
        NavigationProperty(name="parent", target="Item", nullable=False, on=(("parent_ID", "ID"),)),
        NavigationProperty(
            name="parts", target="Item", collection=True, composition=True, on=(("ID", "parent_ID"),), partner="parent"
        ),
        NavigationProperty(name="friends", target="Owner", collection=True),
        NavigationProperty(name="label", target="Label", composition=True, on=(("ID", "item_ID"),)),
        NavigationProperty(name="fixed", target="Owner", writable=False, on=(("owner_ID", "ID"),)),
    ),
)
OWNER = EntityType(
    name="Owner",
    key=("ID",),
    properties=(Property(name="ID", type=Primitive.GUID, nullable=False), Property(name="name", type=Primitive.STRING)),
)
LABEL = EntityType(
    name="Label",
    key=("ID",),
    properties=(
        Property(name="ID", type=Primitive.INT32, nullable=False),
        Property(name="item_ID", type=Primitive.GUID),
        Property(name="text", type=Primitive.STRING),
    ),
)
PAINT = Action(
    name="paint",
    binding="Item",
    parameters=(
        Parameter(name="color", type=COLOR, nullable=False),
        Parameter(name="coats", type=Primitive.INT32),
        Parameter(name="layers", type=Primitive.STRING, collection=True, nullable=False, max_length=2),
    ),
)
EDM = Edm(
    Schema(
        namespace="Shop",
        entity_types=(ITEM, OWNER, LABEL),
        complex_types=(ADDRESS,),
        enum_types=(COLOR,),
        operations=(PAINT,),
        container=Container(
            entity_sets=(
                EntitySet(name="Items", entity_type="Item"),
                EntitySet(name="Owners", entity_type="Owner"),
                EntitySet(name="Labels", entity_type="Label"),
            )
        ),
    )
)
