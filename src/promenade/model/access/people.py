"""People who sign in to the back office with a password of their own."""

from __future__ import annotations

import unicodedata

from promenade.model.declare import ADMIN, PLAIN, PUBLIC, REPORTING, Entity, boolean, integer, text, texts, timestamp

__all__ = ["INVITATION_HOURS", "PERSON_SCOPES", "SET_UP_MINUTES", "People", "user_name_of"]

PERSON_SCOPES = (
    "svc.POSReader",
    "svc.PromotionManager",
    "svc.BudgetManager",
    "svc.Admin",
    "PublicApi.Read",
    "PublicApi.Write",
)
"""The scopes that a person may have."""

INVITATION_HOURS = 72
"""How long the link of an invitation works."""

SET_UP_MINUTES = 10
"""How long a person who has shown the password may take to set up an app."""

_EVERYWHERE = frozenset({ADMIN, PUBLIC, REPORTING})


class People(Entity, admin=PLAIN, unique=(("user_name",),), unique_everywhere=(("invitation_digest",),)):
    """A person who signs in to the back office with a user name, a password, and a code of an app if wanted."""

    user_name = text(100, "What the person signs in with, in lower case, such as a mail address; createdBy and the "
                     "audit trail carry it, so it is given once.", required=True, searchable=True)  # fmt: skip
    name = text(255, "What the person is called.", searchable=True)
    scopes = texts("Scopes that the person has.", required=True)
    invitation_digest = text(64, "The secret of a link by which the person sets a password, once: send null for a new "
                             "one, which is returned only in that response; the password, the app and the sessions of "
                             "before end with it.", write_only=True, wire="invitation", label="Invitation")  # fmt: skip
    is_active = boolean("Whether the person may sign in, and stay signed in.", default=True)
    code_required = boolean("Whether the person needs an app that shows codes.")
    invited_until = timestamp(
        "Until when the link works, or the page on which the person sets up an app; null: it was used.", read_only=True
    )
    password_since = timestamp("Time at which the person set the password; null: not yet.", read_only=True)
    code_since = timestamp("Since when the person signs in with codes of an app; null: without.", read_only=True)
    last_sign_in_at = timestamp("Time at which the person last signed in.", read_only=True)
    tokens_from = timestamp(
        "Tokens that the person got before are refused; null: none are.", read_only=True, label="Tokens since"
    )
    password_hash = text(255, "The password, as Argon2id.", read_only=True, hidden_from=_EVERYWHERE)
    code_key = text(64, "What the person's app computes codes from, in base 32.", read_only=True,
                    hidden_from=_EVERYWHERE)  # fmt: skip
    code_step = integer("The half minute of the code that was used last.", read_only=True, hidden_from=_EVERYWHERE)


def user_name_of(text: str) -> str:
    """Return a user name as it is stored: in lower case, however it was typed."""
    return unicodedata.normalize("NFKC", text.strip()).lower()
