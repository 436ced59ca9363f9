"""Certificates and lists that no well-behaved authority would make, checked without a connection."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from promenade.web.access.tls import authorities
from promenade.web.access.tls.authorities import Authorities, Refused

AT = datetime(2026, 6, 1, tzinfo=UTC)
YEAR = timedelta(days=365)


class Ca:
    """An authority that signs anything."""

    def __init__(self, name: str, above: Ca | None = None, path_length: int | None = None) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = _name(name)
        constraints = x509.BasicConstraints(ca=True, path_length=path_length)
        self.cert = (above or self).sign(self.name, self.key, constraints)

    def sign(self, subject: x509.Name, key: Any, *extensions: x509.ExtensionType) -> x509.Certificate:
        serial = x509.random_serial_number()
        made = x509.CertificateBuilder(self.name, subject, key.public_key(), serial, AT - YEAR, AT + YEAR)
        for extension in extensions:
            made = made.add_extension(extension, critical=True)
        return made.sign(self.key, hashes.SHA256())

    def client(self, name: str = "erp") -> x509.Certificate:
        return self.sign(_name(name), ec.generate_private_key(ec.SECP256R1()))

    def listed(self, *extensions: x509.ExtensionType) -> x509.CertificateRevocationList:
        made = x509.CertificateRevocationListBuilder(self.name, AT, AT + timedelta(days=7))
        for extension in extensions:
            made = made.add_extension(extension, critical=True)
        return made.sign(self.key, hashes.SHA256())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def judged(accepted: Authorities, leaf: x509.Certificate, *along: x509.Certificate) -> str:
    """Return the common name, or the reason for the refusal."""
    sent = [one.public_bytes(Encoding.DER) for one in along]
    try:
        return accepted.verify(leaf.public_bytes(Encoding.DER), sent, AT).common_name
    except Refused as refused:
        return refused.reason


def test_a_certificate_must_have_one_printable_common_name() -> None:
    root = Ca("Root")
    accepted = Authorities([root.cert], [root.listed()])
    assert judged(accepted, root.client("erp")) == "erp"
    for name in ("erp\0.stranger", "erp\n", "erp\u202e"):
        assert judged(accepted, root.client(name)) == "bad_name"
    with pytest.raises(Refused, match="cannot be read"):
        accepted.verify(b"nonsense", (), AT)


def test_a_partial_revocation_list_is_not_accepted() -> None:
    root = Ca("Root")
    whole = x509.IssuingDistributionPoint(
        None, None, False, False, frozenset({x509.ReasonFlags.key_compromise}), False, False
    )
    for part in (x509.DeltaCRLIndicator(1), whole):
        accepted = Authorities([root.cert], [root.listed(part)])
        assert judged(accepted, root.client()) == "no_list"
        assert any("covers only some of the certificates" in fault for fault in accepted.faults(AT))


def test_an_authority_certifies_no_deeper_than_it_may() -> None:
    root = Ca("Root", path_length=0)
    branch = Ca("Branch", above=root)
    accepted = Authorities([root.cert], [root.listed(), branch.listed()])
    assert judged(accepted, branch.client(), branch.cert) == "untrusted"
    client = root.client()
    below = Ca("erp")
    below.key = ec.generate_private_key(ec.SECP256R1())
    assert judged(accepted, below.client(), client) == "untrusted"  # a client certificate may not certify others


def test_every_authority_in_the_chain_needs_a_revocation_list() -> None:
    root = Ca("Root")
    branch = Ca("Branch", above=root)
    for lists, found in (([root, branch], "erp"), ([root], "no_list"), ([branch], "no_list"), ([], "no_list")):
        accepted = Authorities([root.cert], [one.listed() for one in lists])
        assert judged(accepted, branch.client(), branch.cert) == found
    assert judged(Authorities([branch.cert], [branch.listed()]), branch.client()) == "erp"  # trusts only it
    assert judged(Authorities([branch.cert], [branch.listed()]), root.client(), root.cert) == "untrusted"


def test_the_search_for_a_certificate_path_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Authorities that certify each other form hundreds of paths; a client cannot make the server try all of them."""
    root, here, there = Ca("Root"), Ca("Here"), Ca("There")
    everything = x509.BasicConstraints(ca=True, path_length=None)
    crossed = [
        made
        for _ in range(4)
        for made in (here.sign(there.name, there.key, everything), there.sign(here.name, here.key, everything))
    ]
    compared = 0
    plain = authorities._issued

    def counted(issuer: x509.Certificate, certificate: x509.Certificate) -> bool:
        nonlocal compared
        compared += 1
        return plain(issuer, certificate)

    monkeypatch.setattr(authorities, "_issued", counted)
    accepted = Authorities([root.cert], [root.listed()])
    assert judged(accepted, here.client(), *crossed) == "untrusted"
    assert 8 < compared < 300
