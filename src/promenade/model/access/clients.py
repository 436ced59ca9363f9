"""Programs that call the service with tokens of its own issuer."""

from __future__ import annotations

from promenade.model.declare import ADMIN, PLAIN, PUBLIC, REPORTING, Entity, boolean, text, texts, timestamp

__all__ = ["ENROLMENT_DAYS", "OVERLAP_HOURS", "SCOPES", "Clients"]

SCOPES = (
    "svc.POSReader",
    "svc.PromotionManager",
    "svc.BudgetManager",
    "svc.Admin",
    "svc.Sync",
    "svc.ReportReader",
    "PublicApi.Read",
    "PublicApi.Write",
    "PublicApi.Customers",
)

OVERLAP_HOURS = 24
"""How long a replaced secret is still accepted, unless told otherwise."""

ENROLMENT_DAYS = 14
"""How long an enrolment code is accepted, if it is not used."""

_EVERYWHERE = frozenset({ADMIN, PUBLIC, REPORTING})


class Clients(
    Entity,
    admin=PLAIN,
    admin_importable=True,
    import_upserts=True,
    natural_key=("code",),
    unique_everywhere=(("client_id",),),
):
    """A program, or a person at the back office, that gets tokens for an ID and a secret."""

    code = text(50, "The tenant's own key of the client, such as the code of its store, by which imports find it.",
                searchable=True)  # fmt: skip
    client_id = text(100, "ID of the client, with which it requests tokens.", required=True, read_only=True,
                     searchable=True, label="Client ID")  # fmt: skip
    name = text(255, "What the client is for.", searchable=True)
    scopes = texts("Scopes that its tokens carry.", required=True)
    secret_digest = text(64, "Its secret, which the service makes: send null for a new one, which is returned only in "
                         "that response. The former one is accepted for 24 hours more.",
                         write_only=True, wire="secret", label="Secret")  # fmt: skip
    is_active = boolean("Whether it gets tokens, and its tokens are accepted.", default=True)
    rotated_at = timestamp("Time at which its secret was last replaced.", read_only=True, label="New secret at")
    former_digest = text(64, "Its former secret, as a digest.", read_only=True, hidden_from=_EVERYWHERE)
    former_until = timestamp("End of the time in which its former secret is accepted, too; null: it is not.",
                             read_only=True, label="Former secret until")  # fmt: skip
    enrolment_digest = text(64, "Its enrolment code, as a digest.", read_only=True, hidden_from=_EVERYWHERE)
    enrolment_until = timestamp(
        "End of the time in which its enrolment code is accepted; null: it has none.", read_only=True
    )
    tokens_from = timestamp(
        "Tokens that it got before are refused; null: none are.", read_only=True, label="Tokens since"
    )
    last_used_at = timestamp("Time at which it last got a token, to the minute.", read_only=True)
