"""Parse the text of a URL to frozen values: `odata_server.expressions` and `odata_server.syntax`.

The grammar is that of OData 4.01 (ABNF Construction Rules, and those of the aggregation extension); names are not
resolved::

    parse_path("Books(17)/chapters/$count")               # path below the service root, percent-encoded
    parse_options("$filter=price gt 9.99&$top=50")         # query string, percent-encoded
    parse_filter("price gt 9.99")                          # one option, decoded

Malformed text raises ODataError 400 (URI_SYNTAX for paths, QUERY_SYNTAX for options) with the position in the message,
in characters of the decoded text, and the option's name as target; well-formed text that asks for something this
library does not support raises 501. `odata_server.parse.encoding` describes the meaning of ``%`` and ``+``,
`odata_server.parse.cursor` the limits on size and depth of a request.
"""

from __future__ import annotations

from odata_server.parse.literals import parse_value
from odata_server.parse.query import parse_options
from odata_server.parse.single import (
    parse_apply,
    parse_compute,
    parse_expand,
    parse_expand_options,
    parse_expression,
    parse_filter,
    parse_literal,
    parse_orderby,
    parse_search,
    parse_select,
)
from odata_server.parse.uri import below_root, parse_entity_id, parse_path, parse_relative_uri

__all__ = [
    "below_root",
    "parse_apply",
    "parse_compute",
    "parse_entity_id",
    "parse_expand",
    "parse_expand_options",
    "parse_expression",
    "parse_filter",
    "parse_literal",
    "parse_options",
    "parse_orderby",
    "parse_path",
    "parse_relative_uri",
    "parse_search",
    "parse_select",
    "parse_value",
]
