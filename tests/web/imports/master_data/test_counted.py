"""The metrics of the ingest: their labels come from declared values, never from a message."""

from __future__ import annotations

from tests.web.imports.master_data.conftest import Ingest, accepted
from tests.web.imports.master_data.messages import REQUEST, envelope, item, product

INTERFACE = f'interface="{REQUEST}"'


def inbound(ingest: Ingest, protocol: str) -> dict[str, float]:
    """Return the number of messages by outcome."""
    found = ingest.counts("svc_drfout_inbound_total")
    labels = {
        f'{INTERFACE},outcome="{name}",protocol="{protocol}"': name for name in ("accepted", "rejected", "replay")
    }
    return {labels[of]: number for of, number in found.items() if of in labels}


def test_messages_are_counted_by_their_outcome(ingest: Ingest) -> None:
    assert ingest.send_json([product()], "j-1").status_code == 202
    assert inbound(ingest, "soap") == {}
    accepted(ingest.send(item()))
    accepted(ingest.send(item()), 200)
    ingest.send(item("A-2"))
    ingest.soap("<a/>")
    ingest.soap(envelope(item(), message_id="m-2"), media_type="text/plain")
    assert inbound(ingest, "soap") == {"accepted": 1, "replay": 1, "rejected": 3}
    assert inbound(ingest, "rest") == {"accepted": 1}


def test_unknown_senders_are_counted_without_a_tenant(served: Ingest) -> None:
    nobody = served.of("")
    before = inbound(nobody, "soap").get("rejected", 0)
    nobody.soap("<a/>", name="")
    nobody.soap("<a/>", name="stranger")
    nobody.soap("<a/>", name="broken")
    assert inbound(nobody, "soap") == {"rejected": before + 3}


def test_items_are_counted_by_their_action_codes(ingest: Ingest) -> None:
    codes = ("01", "04", "04", "05", "99", 'x"} 1', "04\n")
    accepted(ingest.send("".join(item(code=code.replace('"', "&quot;")) for code in codes)))
    ingest.send("".join(item(code=code.replace('"', "&quot;")) for code in codes))  # a replay is not counted
    ingest.send(item(code="06"))  # nor is a refused message
    assert ingest.counts("svc_drfout_items_total") == {
        f'action_code="{code}",{INTERFACE}': number for code, number in {"01": 1, "04": 3, "05": 1, "other": 2}.items()
    }
    assert ingest.counts("svc_drfout_skipped_total") == {'reason="action_code"': 2}
