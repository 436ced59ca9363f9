"""Forged, malformed or foreign tokens: each is refused, and no URL named in it is requested (S4)."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from joserfc.jwk import OctKey

from tests.web.access.tokens.conftest import Trusting
from tests.web.access.tokens.issuer import AUDIENCE, ISSUER, KeyServer, compact, encoded, new_ec, new_rsa, sign
from tests.web.conftest import TENANT, basket

Forge = Callable[[Trusting], str | bytes]
EVIL_RSA, EVIL_EC = new_rsa("rsa-1"), new_ec("ec-1")


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[KeyServer]:
    """Serve the keys of an attacker."""
    with KeyServer(EVIL_RSA, EVIL_EC) as server:
        yield server


def with_mac(trusting: Trusting, secret: bytes, algorithm: str = "HS256") -> str:
    text = f"{encoded({'alg': algorithm, 'kid': 'rsa-1'})}.{encoded(trusting.claims())}"
    digest = {"HS256": "sha256", "HS384": "sha384", "HS512": "sha512"}[algorithm]
    return f"{text}.{encoded(hmac.digest(secret, text.encode(), digest))}"


def unsigned(algorithm: Any) -> Forge:
    return lambda trusting: f"{encoded({'alg': algorithm, 'kid': 'rsa-1'})}.{encoded(trusting.claims())}."


def saying(more: dict[str, Any]) -> Forge:
    """Return a token signed by the issuer with more header members."""
    return lambda trusting: trusting.token(header=more)


def with_signature(change: Callable[[bytes], bytes], key: str = "ec") -> Forge:
    """Return a good token of `ec` or `rsa` with a changed signature."""

    def forge(trusting: Trusting) -> str:
        good = trusting.token(trusting.ec if key == "ec" else trusting.rsa)
        text, _, signature = good.rpartition(".")
        raw = sign(text, trusting.ec if key == "ec" else trusting.rsa, "ES256" if key == "ec" else "RS256")
        del signature
        return f"{text}.{encoded(change(raw))}"

    return forge


def as_der(signature: bytes) -> bytes:
    return encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))


def by(header: dict[str, Any], key: Any = EVIL_RSA, algorithm: str = "RS256") -> Forge:
    """Return a token with this key information in its header, signed with a foreign key."""
    return lambda trusting: compact({"alg": algorithm, **header}, trusting.claims(), key, algorithm)


def payload(text: Callable[[dict[str, Any]], bytes]) -> Forge:
    """Return a token signed by the issuer whose payload is written differently."""
    return lambda trusting: compact({"alg": "RS256", "kid": "rsa-1"}, text(trusting.claims()), trusting.rsa)


def header(text: bytes) -> Forge:
    """Return a token signed by the issuer whose header is written differently."""
    return lambda trusting: compact(text, trusting.claims(), trusting.rsa)


def added(more: str) -> Forge:
    """Return a payload with more text at the end of the object."""
    return payload(lambda claims: json.dumps(claims).encode()[:-1] + more.encode() + b"}")


UNSIGNED: dict[str, Forge] = {
    **{f"alg {algorithm!r}": unsigned(algorithm) for algorithm in ("none", "None", "nOnE", "", None)},
    "alg none, signed": lambda t: compact({"alg": "none", "kid": "rsa-1"}, t.claims(), t.rsa),
    "alg left out": lambda t: compact({"kid": "rsa-1"}, t.claims(), t.rsa),
    "alg a list": lambda t: compact({"alg": ["RS256"], "kid": "rsa-1"}, t.claims(), t.rsa),
    "alg an object": lambda t: compact({"alg": {"RS256": 1}, "kid": "rsa-1"}, t.claims(), t.rsa),
    "alg in small letters": lambda t: compact({"alg": "rs256", "kid": "rsa-1"}, t.claims(), t.rsa),
    "signature left out": lambda t: t.token().rpartition(".")[0] + ".",
    "two parts": lambda t: t.token().rpartition(".")[0],
    "four parts": lambda t: t.token() + ".x",
    "as JSON": lambda t: json.dumps(
        dict(zip(("protected", "payload", "signature"), t.token().split("."), strict=True))
    ),
}
CONFUSED: dict[str, Forge] = {
    "public key as PEM": lambda t: with_mac(t, t.rsa.as_pem(private=False)),
    "public key as PEM, stripped": lambda t: with_mac(t, t.rsa.as_pem(private=False).strip()),
    "public key as DER": lambda t: with_mac(t, t.rsa.as_der(private=False)),
    "public key as JWK": lambda t: with_mac(t, json.dumps(t.rsa.as_dict(private=False)).encode()),
    "key set": lambda t: with_mac(t, json.dumps(t.keys.document()).encode()),
    "modulus": lambda t: with_mac(t, str(t.rsa.as_dict(private=False)["n"]).encode()),
    "HS384": lambda t: with_mac(t, t.rsa.as_pem(private=False), "HS384"),
    "HS512": lambda t: with_mac(t, t.rsa.as_pem(private=False), "HS512"),
    "empty secret": lambda t: with_mac(t, b""),
    "ES256 named, RSA signed": lambda t: compact({"alg": "ES256", "kid": "rsa-1"}, t.claims(), t.rsa),
    "RS256 named, EC signed": lambda t: compact({"alg": "RS256", "kid": "ec-1"}, t.claims(), t.ec, "ES256"),
    "key of the other kind": lambda t: compact({"alg": "RS256", "kid": "ec-1"}, t.claims(), t.rsa),
    "RS512": lambda t: compact({"alg": "RS512", "kid": "rsa-1"}, t.claims(), t.rsa, "RS512"),
    "PS256": lambda t: compact({"alg": "PS256", "kid": "rsa-1"}, t.claims(), t.rsa, "PS256"),
    "RS512 signed, RS256 named": lambda t: compact({"alg": "RS256", "kid": "rsa-1"}, t.claims(), t.rsa, "RS512"),
    "another key of the same name": by({"kid": "rsa-1"}),
    "another key of the same name, EC": by({"kid": "ec-1"}, EVIL_EC, "ES256"),
}
KEY_IDS: dict[str, Forge] = {
    f"kid {str(name)[:30]!r}": by({"kid": name})
    for name in (
        "../../../../dev/null", "/etc/passwd", "C:\\boot.ini", "rsa-1' OR '1'='1", "'; DROP TABLE signing_keys; --", "",
        "rsa-1\0", "rsa-1 ", "RSA-1", "rsa\u200b-1", "\ud800", "k" * 8_000, None, ["rsa-1"], {"rsa-1": 1}, 1, True, 0,
        "http://127.0.0.1/keys", "| id", "$(id)", "%00", "{{7*7}}",
    )
}  # fmt: skip
EXTENSIONS: dict[str, dict[str, Any]] = {
    "crit": {"crit": ["exp"]},
    "crit of what is not there": {"crit": ["x"]},
    "crit empty": {"crit": []},
    "crit null": {"crit": None},
    "b64 false": {"b64": False, "crit": ["b64"]},
    "b64 false, not critical": {"b64": False},
    "b64 true": {"b64": True},
    "zip": {"zip": "DEF"},
    "enc": {"enc": "A256GCM"},
}
CRITICAL: dict[str, Forge] = {name: saying(more) for name, more in EXTENSIONS.items()}
SIGNATURES: dict[str, Forge] = {
    "r is 0": with_signature(lambda raw: bytes(32) + raw[32:]),
    "s is 0": with_signature(lambda raw: raw[:32] + bytes(32)),
    "both are 0": with_signature(lambda raw: bytes(64)),
    "all ones": with_signature(lambda raw: b"\xff" * 64),
    "DER": with_signature(as_der),
    "truncated": with_signature(lambda raw: raw[:-1]),
    "zeros before": with_signature(lambda raw: bytes(2) + raw),
    "zeros behind": with_signature(lambda raw: raw + bytes(1)),
    "one byte": with_signature(lambda raw: b"\0"),
    "halves swapped": with_signature(lambda raw: raw[32:] + raw[:32]),
    "RSA truncated": with_signature(lambda raw: raw[:-1], "rsa"),
    "RSA zeros before": with_signature(lambda raw: b"\0" + raw, "rsa"),
    "RSA zeros behind": with_signature(lambda raw: raw + b"\0", "rsa"),
    "RSA a bit changed": with_signature(lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]), "rsa"),
    "RSA zero": with_signature(lambda raw: bytes(256), "rsa"),
    "RSA one": with_signature(lambda raw: bytes(255) + b"\1", "rsa"),
    "padded": lambda t: t.token() + "==",
    "with a line break": lambda t: t.token()[:-4] + "\t" + t.token()[-4:],
    "other letters of base64": lambda t: t.token(sub="~~~???" * 4).replace("-", "+").replace("_", "/"),
    "left-over bits": lambda t: other_spelling(t.token()),
    "of another token": lambda t: (
        t.token(exp=int(t.clock().timestamp()) + 1).rpartition(".")[0] + "." + t.token().rpartition(".")[2]
    ),
}
PAYLOADS: dict[str, Forge] = {
    **{
        f"exp {text}": added(f', "exp": {text}')
        for text in ("9999999999", '"9999999999"')  # twice
    },
    "tenant twice": added(f', "zid": "{TENANT}"'),
    "scope twice": added(', "scope": "svc.Admin"'),
    "twice further in": added(', "more": {"a": 1, "a": 2}'),
    "twice in the header": header(b'{"alg": "RS256", "kid": "rsa-1", "kid": "rsa-1"}'),
    "alg twice in the header": header(b'{"alg": "none", "alg": "RS256", "kid": "rsa-1"}'),
    "an array": payload(lambda claims: json.dumps([claims]).encode()),
    "a text": payload(lambda claims: json.dumps(json.dumps(claims)).encode()),
    "null": payload(lambda claims: b"null"),
    "not JSON": payload(lambda claims: b"{"),
    "more behind": payload(lambda claims: json.dumps(claims).encode() + b"{}"),
    "a mark before": payload(lambda claims: b"\xef\xbb\xbf" + json.dumps(claims).encode()),
    "UTF-16": payload(lambda claims: json.dumps(claims).encode("utf-16")),
    "Latin-1": payload(lambda claims: json.dumps({**claims, "sub": "\xe9"}, ensure_ascii=False).encode("latin-1")),
    "deep": added(', "more": ' + "[" * 5_000 + "]" * 5_000),
    "a number of thousands of digits": added(', "more": ' + "9" * 5_000),
    "a number without end": added(', "more": 1e999'),
    "another token in it": lambda t: compact({"alg": "RS256", "kid": "rsa-1", "cty": "JWT"}, t.token().encode(), t.rsa),
    "encrypted": lambda t: ".".join([encoded({"alg": "dir", "enc": "A256GCM", "kid": "rsa-1"}), "", "x", "y", "z"]),
    "too long": lambda t: t.token(more="x" * 13_000),
    "header an array": header(b'["RS256"]'),
    "header not JSON": header(b"RS256"),
    "header deep": header(b'{"alg": "RS256", "kid": "rsa-1", "x": ' + b"[" * 4_000 + b"]" * 4_000 + b"}"),
}
SHAPES: dict[str, Forge] = {
    "dots": lambda t: "..",
    "a long word": lambda t: "x" * 16_000,
    "letters beyond ASCII": lambda t: t.token().encode() + "\xe9".encode(),
    "bytes of no text": lambda t: b"\xff\xfe" + t.token().encode(),
    "two tokens": lambda t: f"{t.token()} {t.token()}",
    "two tokens by comma": lambda t: f"{t.token()}, {t.token()}",
    "in quotes": lambda t: f'"{t.token()}"',
}
ALL = {
    f"{kind}: {name}": forge
    for kind, forges in {
        "unsigned": UNSIGNED, "confused": CONFUSED, "key": KEY_IDS, "critical": CRITICAL, "signature": SIGNATURES,
        "payload": PAYLOADS, "shape": SHAPES,
    }.items()
    for name, forge in forges.items()
}  # fmt: skip


def other_spelling(token: str) -> str:
    """Return the same bytes encoded with non-zero trailing bits."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return token[:-1] + letters[letters.index(token[-1]) + 1]


@pytest.mark.parametrize("name", ALL)
def test_forged_and_malformed_tokens_are_refused(trusting_once: Trusting, name: str) -> None:
    answer = trusting_once.price(ALL[name](trusting_once))
    assert answer.status_code == 401, answer.text
    assert answer.json()["error"]["code"] == "UNAUTHORIZED"


@pytest.fixture(scope="module")
def trusting_once(serving: Trusting) -> Trusting:
    """Return the service; no test of this module changes its keys."""
    serving.keys.keys, serving.keys.answers = [serving.rsa, serving.ec], None
    serving.clock.move(seconds=301)
    assert serving.status(serving.token()) == serving.status(serving.token(serving.ec)) == 200
    return serving


NOW = 1_000_000_007  # placeholder for the test's current time


@pytest.mark.parametrize(
    ("claim", "values", "status"),
    [
        ("iss", [None, "", "https://evil.example", f"{ISSUER}/", ISSUER.upper(), [ISSUER], {"": ISSUER}, 1, True], 401),
        ("aud", [None, "", "others", "Tills", [], ["others"], [AUDIENCE, 1], [[AUDIENCE]], {AUDIENCE: 1}, 1], 401),
        ("aud", [AUDIENCE, [AUDIENCE], ["others", AUDIENCE]], 200),
        ("exp", [None, "", "never", str(NOW + 600), True, [], {}, -1, 0, NOW - 31, NOW - 3600, 10**13, 10**400], 401),
        ("exp", [NOW - 20, NOW + 600.5, NOW + 10**6], 200),
        ("nbf", ["", "now", True, [], -1, NOW + 60, NOW + 10**6, 10**400], 401),
        ("nbf", [None, 0, NOW - 600, NOW + 20, NOW - 0.5], 200),
        ("iat", ["", "now", True, {}, -1, NOW + 60, 10**400], 401),
        ("iat", [None, 0, NOW + 20, NOW - 86_400], 200),
        ("zid", [None, "", " ", "unknown", TENANT.upper(), f"{TENANT} ", 1, True, [TENANT], {TENANT: 1}, "\0", "\ud800",
                 "x" * 37, "x" * 300, "acme' OR '1'='1"], 403),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_claims_of_the_wrong_type_or_value_are_refused(
    trusting_once: Trusting, claim: str, values: list[Any], status: int
) -> None:
    now = int(trusting_once.clock().timestamp())
    for value in values:
        is_moment = isinstance(value, int | float) and NOW - 10**6 <= value <= NOW + 10**6
        said = value - NOW + now if is_moment else value
        answer = trusting_once.price(trusting_once.token(**{claim: said}))
        assert answer.status_code == status, (value, answer.text)


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e15", "null", "1E+1000", "0x7fffffff"]
)
@pytest.mark.parametrize("claim", ["exp", "nbf", "iat"])
def test_time_claims_must_be_finite_numbers(trusting_once: Trusting, claim: str, text: str) -> None:
    others = {name: value for name, value in trusting_once.claims().items() if name != claim}
    written = json.dumps(others)[:-1] + f', "{claim}": {text}}}'
    assert trusting_once.status(compact({"alg": "RS256", "kid": "rsa-1"}, written.encode(), trusting_once.rsa)) == 401


def test_keys_that_a_token_brings_or_names_are_neither_used_nor_fetched(
    trusting_once: Trusting, elsewhere: KeyServer
) -> None:
    public = EVIL_RSA.as_dict(private=False)
    told: list[dict[str, Any]] = [
        {"jku": elsewhere.url}, {"x5u": elsewhere.url}, {"jwk": public}, {"jwk": {**public, "kid": "rsa-1"}},
        {"x5c": ["MIIB"]}, {"x5c": [elsewhere.url]}, {"x5t": "x", "x5t#S256": "y"}, {"kid": elsewhere.url},
        {"iss": elsewhere.url}, {"jku": elsewhere.url, "kid": "rsa-2"}, {"jwk": elsewhere.url}, {"jku": ["x"]},
    ]  # fmt: skip
    for more in told:
        for key, algorithm in ((EVIL_RSA, "RS256"), (EVIL_EC, "ES256")):
            forged = compact({"alg": algorithm, "kid": key.kid, **more}, trusting_once.claims(), key, algorithm)
            assert trusting_once.status(forged) == 401, more
    discovered = trusting_once.claims(iss=elsewhere.url.removesuffix("/keys"))
    assert trusting_once.status(compact({"alg": "RS256", "kid": "rsa-1"}, discovered, EVIL_RSA)) == 401
    assert elsewhere.asked == 0


def test_key_urls_and_digests_in_a_valid_token_are_ignored(trusting_once: Trusting, elsewhere: KeyServer) -> None:
    """Some issuers put their key URL or the certificate's digest in every token."""
    for more in ({"jku": elsewhere.url}, {"x5t": "abc"}, {"jwk": "x"}, {"typ": "at+jwt", "nonce": "n" * 600}):
        assert trusting_once.status(trusting_once.token(header=more)) == 200, more
    assert elsewhere.asked == 0


def test_secret_and_weak_keys_in_the_key_set_are_ignored(trusting: Trusting) -> None:
    secret = OctKey.import_key({"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "kid": "oct-1"})
    with pytest.warns(UserWarning, match="2048"):
        weak = new_rsa("weak-1", 1024)
    wide = new_ec("wide-1", "P-521")
    trusting.keys.keys += [{**secret.as_dict(), "alg": "HS256"}, weak, wide, {**new_rsa("enc").as_dict(), "use": "enc"}]
    text = f"{encoded({'alg': 'HS256', 'kid': 'oct-1'})}.{encoded(trusting.claims())}"
    mac = encoded(hmac.digest(b"secretsecretsecretsecret", text.encode(), "sha256"))
    assert trusting.status(f"{text}.{mac}") == 401
    assert trusting.status(trusting.token(weak)) == 401
    assert trusting.status(compact({"alg": "ES256", "kid": "wide-1"}, trusting.claims(), wide, "ES512")) == 401
    assert trusting.status(trusting.token()) == 200


def test_one_authorization_header_counts_and_nothing_else_does(trusting_once: Trusting) -> None:
    good = f"Bearer {trusting_once.token()}"
    said = json.dumps(basket())

    def status(*headers: tuple[str, str], query: str = "") -> int:
        sent = [*headers, ("content-type", "application/json")]
        return trusting_once.http.post(f"/pos/v2/simulate{query}", content=said, headers=sent).status_code

    assert status(("authorization", good)) == 200
    assert status(("Authorization", good.replace("Bearer", "bearer"))) == 200
    assert status(("authorization", good), ("authorization", good)) == 401
    assert status(("authorization", "Bearer x"), ("authorization", good)) == 401
    assert status(("authorization", good), ("authorization", "Basic eDp5")) == 401
    assert status(("authorization", good.removeprefix("Bearer "))) == 401
    assert status(("authorization", good.replace("Bearer", "Token"))) == 401
    assert status(("authorization", good.replace(" ", "", 1))) == 401
    token = good.removeprefix("Bearer ")
    for name in ("access_token", "token", "jwt", "Authorization"):
        assert status(query=f"?{name}={token}") == 401
    for name in ("x-authorization", "x-forwarded-authorization", "proxy-authorization", "x-api-key"):
        assert status((name, good)) == 401
    assert status(("cookie", f"access_token={token}")) == 401


@pytest.mark.parametrize(
    "name", ["é" * 255, "x" * 256, "x" * 5_000, "\U0001f600" * 255, "a\u0000b", "\ud83d"], ids=ascii
)
def test_an_unprintable_or_overlong_user_name_is_replaced_by_the_subject(trusting_once: Trusting, name: str) -> None:
    headers = {"authorization": f"Bearer {trusting_once.token(scope='svc.Admin', user_name=name, sub='desk')}"}
    made = trusting_once.http.post("/admin/Promotions", json={}, headers=headers)
    assert made.status_code == 201, made.text
    assert made.json()["createdBy"] == (name if name.isprintable() and len(name) <= 255 else "desk")
