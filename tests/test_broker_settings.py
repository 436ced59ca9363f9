"""`--events-to`: a broker is named in one URL, and whatever is wrong with it is said at the start."""

from __future__ import annotations

from pathlib import Path

import pytest

from promenade import settings
from promenade.settings import Settings, SettingsError


def test_no_broker_unless_one_is_named() -> None:
    assert Settings().broker is None


def test_a_url_names_servers_topic_user_and_protection() -> None:
    found = Settings(events_to="kafka+tls://till:p%40ss@a.example,b.example:9093/shop.events?sasl=SCRAM-SHA-256").broker
    assert found is not None
    assert (found.kind, found.servers, found.topic) == ("kafka", ("a.example:9092", "b.example:9093"), "shop.events")
    assert (found.user, found.read_password(), found.sasl) == ("till", "p@ss", "SCRAM-SHA-256")
    assert (found.uses_tls, found.envelope) == (True, "CLOUDEVENTS")
    assert "p@ss" not in repr(found)
    plain = Settings(events_to="nats://127.0.0.1", events_envelope="cloudevents-binary").broker
    assert plain is not None
    assert (plain.servers, plain.topic, plain.uses_tls) == (("127.0.0.1:4222",), "promenade", False)
    assert (plain.user, plain.read_password(), plain.envelope) == (None, None, "CLOUDEVENTS_BINARY")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("amqp://s3cret@a", "must start with nats://"),
        ("a:4222", "must start with"),
        ("nats://", "must name servers"),
        ("nats://a:0", "must name servers"),
        ("nats://a:99999", "must name servers"),
        ("nats://a,,b", "must name servers"),
        ("nats://s3cret@a b", "must name servers"),
        ("nats://a/shop.*", "the topic may have"),
        ("nats://a/shop/events", "the topic may have"),
        ("nats://a/>", "the topic may have"),
        ("nats://a?sasl=PLAIN", "only kafka takes"),
        ("kafka://a?sasl=GSSAPI", "only kafka takes"),
        ("kafka://a?acks=0", "only kafka takes"),
    ],
)
def test_a_wrong_url_is_refused_and_not_repeated(url: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why) as refused:
        Settings(events_to=url)
    assert "--events-to" in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_files_are_for_a_broker_and_are_there(tmp_path: Path) -> None:
    there, away = tmp_path / "there", tmp_path / "away"
    there.write_text("x")
    for values, why in (
        ({"events_secret": there}, "--events-secret needs --events-to"),
        ({"events_to": "nats://a", "events_ca": there}, r"are for nats\+tls"),
        ({"events_to": "nats+tls://a", "events_ca": away}, "--events-ca is no file"),
        ({"events_to": "nats+tls://a", "events_cert": there}, "belong together"),
        ({"events_to": "nats://a", "events_envelope": "xml"}, "--events-envelope must be one of"),
    ):
        with pytest.raises(SettingsError, match=why):
            Settings(**values)


@pytest.mark.parametrize("kind", ["nats", "kafka"])
def test_a_missing_extra_is_named(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=rf"pip install '\.\[{kind}\]'"):
        Settings(events_to=f"{kind}://a")
