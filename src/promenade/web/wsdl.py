"""The description of the SOAP service (WSDL 1.1), with the address that it is served at."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from xml.sax.saxutils import quoteattr

__all__ = ["render_wsdl"]


def render_wsdl(address: str) -> bytes:
    """The document for clients that reach the service at ``address``."""
    return _document().replace('"ADDRESS"', quoteattr(address)).encode("utf-8")


@cache
def _document() -> str:
    return files("promenade.web").joinpath("wsdl.xml").read_text("utf-8")
