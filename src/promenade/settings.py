"""The settings of a server: one frozen value, filled from the command line's options or PROMENADE_<OPTION>."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

CLOUD, LOCAL_STORE = "cloud", "local-store"
EDITIONS = (CLOUD, LOCAL_STORE)
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})

_HOUR = 3600
WEBHOOK_RETRY_SCHEDULE = (
    *(5, 300, 1800),
    *(2 * _HOUR, 5 * _HOUR, 10 * _HOUR, 14 * _HOUR, 20 * _HOUR, 24 * _HOUR),
)
"""Seconds from each failed attempt to the next, as Standard Webhooks recommends: over three days in all."""
_PASSPHRASE_MIN = 16
_RETRIES_MAX = 50
_WAIT_SECONDS_MAX = 30 * 24 * _HOUR  # a longer wait outlives the event, and dates could overflow
KEEP_DAYS_MAX = 36_500
_ANY_HOST = frozenset({"0.0.0.0", "::"})  # noqa: S104 -- compared, not bound
_NO_HOST = frozenset("@*?, \t\r\n")  # patterns and lists are not supported, so they are refused


_BROKERS = {
    "nats": ("nats", False),
    "nats+tls": ("nats", True),
    "kafka": ("kafka", False),
    "kafka+tls": ("kafka", True),
}
_BROKER_PORTS = {"nats": 4222, "kafka": 9092}
_BROKER_PACKAGES = {"nats": "nats", "kafka": "confluent_kafka"}
_TRACES_PACKAGES = ("opentelemetry.sdk", "opentelemetry.exporter")
_HOST_NAME = re.compile(
    r"(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*"
)
_SASL = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_TOPIC = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
LOG_FORMATS = ("logfmt", "json")
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_FILES_OF_TLS = frozenset({"sslrootcert", "sslcert", "sslkey", "sslcrl"})
_OF_POSTGRESQL = _FILES_OF_TLS | {"sslmode", "host", "port", "passfile", "target_session_attrs"}
ENVELOPES = ("standard", "cloudevents", "cloudevents-binary")


class SettingsError(ValueError):
    """Raised for an invalid setting; the message names the option."""


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """A broker that events are published to: ``kind`` is nats or kafka, ``servers`` are host:port.

    ``topic`` is the topic of Kafka, and what subjects of NATS begin with. ``user`` without a password is a token of
    NATS. ``ca``: None trusts the system's authorities; ``cert`` and ``key`` are our own certificate, if it wants one.
    """

    kind: str
    servers: tuple[str, ...]
    topic: str
    envelope: str
    uses_tls: bool = False
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    password_file: Path | None = None
    sasl: str = _SASL[0]
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    def read_password(self) -> str | None:
        """Return the password, read anew from its file for each connection: it may have been replaced."""
        if self.password_file is not None:
            return self.password_file.read_text().strip()
        return self.password


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of `promenade serve`. Validated on creation, so that a running server never meets a bad value."""

    host: str = "127.0.0.1"
    port: int = 8080
    edition: str = EDITIONS[0]
    workers: int = 1
    drain_seconds: int = 0  # how long a process that is to stop still serves, and says that it is not ready
    data_dir: Path = Path("promenade-data")
    database: str | None = None  # --database-url; None: SQLite in the data directory
    reporting_database_url: str | None = field(default=None, repr=False)  # of a read replica; None: there is none
    redis_url: str | None = None
    public_url: str | None = None  # URL by which clients reach the server; None: http://host:port
    hsts_subdomains: bool = False  # whether browsers use https alone for the hosts below that of the public URL, too
    allowed_hosts: tuple[str, ...] = ()  # further host names that the service answers to; "*": any
    trusted_proxies: tuple[str, ...] = ()  # addresses and networks whose X-Forwarded-For and -Proto are trusted
    jwks_url: str | None = None  # None: use the built-in issuer
    issuer: str | None = None  # None: the public URL
    audience: str = "promenade"
    login_client_id: str | None = None  # of the back office at an external issuer; None: no sign-in there
    login_scope: str = "openid"
    login_url: str | None = None  # the issuer's discovery document; None: at the standard path of OpenID
    tenant_claims: tuple[str, ...] = ("zid", "tenant")
    scope_claims: tuple[str, ...] = ("scope",)
    group_claims: tuple[str, ...] = ("groups",)  # of an external issuer
    log_format: str = LOG_FORMATS[0]
    access_log: bool = False  # a line for each request
    traces_url: str | None = None  # of a collector that spans are sent to by OTLP; None: none are recorded
    traces_sample: float = 0.1  # share of the traces that are recorded
    metrics_token: str | None = None
    key_passphrase: str | None = field(default=None, repr=False)  # of private keys that are kept; None: not encrypted
    mcp: bool = False  # whether agents have tools at /mcp
    webhook_allow: tuple[str, ...] = ()  # hosts, host:port or networks that callbacks may reach privately or by http
    webhook_retry_schedule: tuple[int, ...] = WEBHOOK_RETRY_SCHEDULE  # seconds before each further attempt
    events_to: str | None = None  # URL of the broker that events are published to; None: they are not
    events_envelope: str = ENVELOPES[1]
    events_secret: Path | None = None
    events_ca: Path | None = None  # authorities of its certificate; None: those of the system
    events_cert: Path | None = None  # our own certificate for it
    events_key: Path | None = None
    keep_iterations_days: int = 30  # how long evaluations that were never confirmed are kept
    keep_sales_days: int = 400  # how long the pricing data of confirmed sales is kept
    keep_events_days: int = 30  # how long events can be resent manually
    keep_imports_days: int = 400  # how long finished import jobs and the raw messages of master data are kept
    mtls_host: str | None = None  # None: the same as host
    mtls_port: int | None = None  # of the listener for client certificates; None: there is none
    mtls_cert: Path | None = None
    mtls_key: Path | None = None
    mtls_ca: Path | None = None  # the authorities whose client certificates are accepted
    mtls_crl: Path | None = None  # the revocation lists of these authorities
    instance_id: str | None = None  # None: a new one at every start; a store has a permanent one
    tenant: str = "local"  # of the local-store edition: the one tenant of its database
    reset_admin_password: bool = False  # of the local-store edition: delete the password at start
    rate_limit_tenant: int = 120_000  # requests per minute, of all processes that share a cache; 0: unlimited
    rate_limit_client: int = 60_000  # the same for each client

    def __post_init__(self) -> None:
        if self.edition not in EDITIONS:
            raise SettingsError(f"--edition must be one of {', '.join(EDITIONS)}, not {self.edition}.")
        if self.edition == LOCAL_STORE:
            self._check_store()
        if not 0 <= self.port <= 65535:
            raise SettingsError(f"--port must be between 0 and 65535, not {self.port}.")
        if self.workers < 1:
            raise SettingsError(f"--workers must be at least 1, not {self.workers}.")
        if not _is_database(self.database_url):
            raise SettingsError("--database-url must be sqlite:///path or postgresql://user@host:port/name.")
        _check_parameters("--database-url", self.database_url)
        if self.workers > 1 and self.is_sqlite:
            raise SettingsError("--workers above 1 needs PostgreSQL: give --database-url postgresql://...")
        self._check_replica()
        if self.redis_url is not None and urlsplit(self.redis_url).scheme not in {"redis", "rediss", "unix"}:
            raise SettingsError("--redis-url must start with redis://, rediss:// or unix://.")
        self._check_tokens()
        for option in ("rate_limit_tenant", "rate_limit_client"):
            if getattr(self, option) < 0:
                raise SettingsError(f"--{option.replace('_', '-')} must be 0 or more, not {getattr(self, option)}.")
        self._check_reached()
        self._check_background()
        self._check_broker()
        self._check_traces()
        self._check_mtls()
        if self.mcp and find_spec("mcp") is None:
            raise SettingsError("--mcp needs the package mcp: in a clone, pip install '.[mcp]'.")

    def _check_replica(self) -> None:
        url = self.reporting_database_url
        if url is None:
            return
        if self.is_sqlite:
            raise SettingsError("--reporting-database-url needs PostgreSQL: give --database-url postgresql://...")
        if not url.startswith("postgresql://") or not _is_database(url):
            raise SettingsError("--reporting-database-url must be postgresql://user@host:port/name.")
        _check_parameters("--reporting-database-url", url)

    def _check_reached(self) -> None:
        if self.public_url is not None and not _is_address(self.public_url):
            raise SettingsError(
                f"--public-url must be an address such as https://prices.example, not {self.public_url}."
            )
        if self.hsts_subdomains and not self.base_url.startswith("https:"):
            raise SettingsError("--hsts-subdomains needs a --public-url that begins with https://.")
        for name in self.allowed_hosts:
            if name != "*" and _HOST_NAME.fullmatch(name) is None:
                raise SettingsError(f"--allowed-host must be a host name without scheme and port, not {name}.")
        for proxy in self.trusted_proxies:
            if not _is_network(proxy):
                raise SettingsError(f"--trusted-proxy must be an address or a network, not {proxy}.")

    def _check_tokens(self) -> None:
        if self.jwks_url is not None:
            self._check_external_issuer(self.jwks_url)
        if not self.tenant_claims or not all(self.tenant_claims):
            raise SettingsError("--tenant-claim must name at least one claim.")
        if not self.scope_claims or not all(self.scope_claims):
            raise SettingsError("--scope-claim must name at least one claim.")
        if not self.group_claims or not all(self.group_claims):
            raise SettingsError("--group-claim must name at least one claim.")
        if self.key_passphrase is not None and len(self.key_passphrase) < _PASSPHRASE_MIN:
            raise SettingsError(f"--key-passphrase must have at least {_PASSPHRASE_MIN} characters.")
        self._check_login()

    def _check_login(self) -> None:
        if self.jwks_url is None:
            if self.login_client_id is not None or self.login_url is not None:
                raise SettingsError("--login-client-id and --login-url are for an external issuer: give --jwks-url.")
            return
        if self.login_client_id is None:
            if self.login_url is not None:
                raise SettingsError("--login-url needs --login-client-id: who the back office is at the issuer.")
            return
        if not self.login_client_id.strip() or not self.login_scope.strip():
            raise SettingsError("--login-client-id and --login-scope must not be empty.")
        url = urlsplit(self.discovery_url)
        if url.scheme != "https" and not (url.scheme == "http" and url.hostname in LOOPBACK_HOSTS):
            option = "--issuer" if self.login_url is None else "--login-url"
            raise SettingsError(f"{option} must be https (http only on loopback), as people sign in there.")

    def _check_store(self) -> None:
        if not self.is_sqlite:
            raise SettingsError("--edition local-store keeps its data in SQLite: leave --database-url out.")
        if self.workers > 1:
            raise SettingsError("--workers above 1 is for the cloud: a store is one process.")
        if not self.tenant.strip() or len(self.tenant) > 36:
            raise SettingsError("--tenant must have 1 to 36 characters.")
        if self.jwks_url is not None:
            raise SettingsError("--jwks-url is for the cloud: a store has an API key and a password.")
        if self.mtls_port is not None:
            raise SettingsError("--mtls-port is for the cloud: master data come to a store by its sync.")
        if self.mcp:
            raise SettingsError("--mcp is for the cloud: agents need tokens, which a store has none of.")

    def _check_background(self) -> None:
        if self.log_format not in LOG_FORMATS:
            raise SettingsError(f"--log-format must be one of {', '.join(LOG_FORMATS)}, not {self.log_format}.")
        for target in self.webhook_allow:
            if not _is_target(target):
                raise SettingsError(f"--webhook-allow must be a host, host:port or a network, not {target}.")
        is_short = len(self.webhook_retry_schedule) <= _RETRIES_MAX
        if not is_short or any(not 1 <= one <= _WAIT_SECONDS_MAX for one in self.webhook_retry_schedule):
            bounds = f"at most {_RETRIES_MAX} numbers of seconds, from 1 to {_WAIT_SECONDS_MAX} (30 days)"
            raise SettingsError(f"--webhook-retry-schedule must be {bounds}.")
        for option in ("keep_iterations_days", "keep_sales_days", "keep_events_days", "keep_imports_days"):
            if not 1 <= getattr(self, option) <= KEEP_DAYS_MAX:
                raise SettingsError(f"--{option.replace('_', '-')} must be from 1 to {KEEP_DAYS_MAX}.")

    def _check_broker(self) -> None:
        files = {"--events-secret": self.events_secret, "--events-ca": self.events_ca,
                 "--events-cert": self.events_cert, "--events-key": self.events_key}  # fmt: skip
        given = [option for option, path in files.items() if path is not None]
        if self.events_to is None:
            if given:
                raise SettingsError(f"{given[0]} needs --events-to: the broker that it is for.")
            return
        if self.events_envelope not in ENVELOPES:
            raise SettingsError(f"--events-envelope must be one of {', '.join(ENVELOPES)}.")
        broker = _read_broker(self.events_to)
        if not broker.uses_tls and (self.events_ca or self.events_cert or self.events_key):
            raise SettingsError("--events-ca, --events-cert and --events-key are for nats+tls:// and kafka+tls://.")
        if (self.events_cert is None) != (self.events_key is None):
            raise SettingsError("--events-cert and --events-key belong together.")
        for option in given:
            if not files[option].is_file():  # type: ignore[union-attr]
                raise SettingsError(f"{option} is no file: {files[option]}.")
        if find_spec(_BROKER_PACKAGES[broker.kind]) is None:
            raise SettingsError(
                f"--events-to {broker.kind}:// needs an extra: in a clone, pip install '.[{broker.kind}]'."
            )

    def _check_traces(self) -> None:
        if not 0 <= self.traces_sample <= 1:
            raise SettingsError(f"--traces-sample must be from 0 to 1, not {self.traces_sample}.")
        if self.traces_url is None:
            return
        if not _is_address(self.traces_url):
            raise SettingsError(
                f"--traces-url must be an address such as http://127.0.0.1:4318, not {self.traces_url}."
            )
        if find_spec("opentelemetry") is None or None in map(find_spec, _TRACES_PACKAGES):
            raise SettingsError("--traces-url needs an extra: in a clone, pip install '.[tracing]'.")

    def _check_mtls(self) -> None:
        files = {"--mtls-cert": self.mtls_cert, "--mtls-key": self.mtls_key, "--mtls-ca": self.mtls_ca,
                 "--mtls-crl": self.mtls_crl}  # fmt: skip
        if self.mtls_port is None:
            given = [option for option, path in files.items() if path is not None]
            if given:
                raise SettingsError(f"{given[0]} needs --mtls-port: where client certificates are asked for.")
            return
        if not 0 <= self.mtls_port <= 65535:
            raise SettingsError(f"--mtls-port must be between 0 and 65535, not {self.mtls_port}.")
        if self.mtls_port == self.port and self.port != 0:
            raise SettingsError("--mtls-port must be another than --port.")
        for option, path in files.items():
            if path is None:
                raise SettingsError(f"--mtls-port needs {option}.")

    def _check_external_issuer(self, jwks_url: str) -> None:
        url = urlsplit(jwks_url)
        if url.scheme != "https" and not (url.scheme == "http" and url.hostname in LOOPBACK_HOSTS):
            raise SettingsError("--jwks-url must be https (http only on loopback).")
        if self.issuer is None:
            raise SettingsError("--jwks-url needs --issuer: whose tokens are trusted.")

    @property
    def broker(self) -> BrokerAddress | None:
        """The broker that events are published to."""
        if self.events_to is None:
            return None
        return replace(
            _read_broker(self.events_to),
            envelope=self.events_envelope.upper().replace("-", "_"),
            password_file=self.events_secret,
            ca=self.events_ca,
            cert=self.events_cert,
            key=self.events_key,
        )

    @property
    def database_url(self) -> str:
        """The URL of the database: as configured, else a SQLite file in the data directory."""
        if self.database is not None:
            return self.database
        return f"sqlite:///{self.data_dir.absolute() / 'promenade.db'}"

    @property
    def shown_database(self) -> str:
        """The database as people are told of it: the path of a SQLite file, else the address without credentials."""
        if self.is_sqlite:
            return self.database_url.removeprefix("sqlite:///")
        parts = urlsplit(self.database_url)
        return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"

    @property
    def is_sqlite(self) -> bool:
        return self.database_url.startswith("sqlite")

    @property
    def base_url(self) -> str:
        """The URL that clients use, without a trailing slash."""
        if self.public_url is not None:
            return self.public_url.rstrip("/")
        host = "127.0.0.1" if self.host in _ANY_HOST else self.host
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def has_proxy(self) -> bool:
        """Whether others reach the service at another address than its own, that is, through a proxy."""
        host = None if self.public_url is None else urlsplit(self.public_url).hostname
        return bool(self.trusted_proxies) or host not in {None, self.host, *LOOPBACK_HOSTS}

    @property
    def mtls_url(self) -> str:
        """The URL for clients with certificates: at the host of `base_url`, because no edge proxy is in front of it."""
        if self.mtls_port is None:
            return self.base_url
        host = self.mtls_host or urlsplit(self.base_url).hostname or self.host
        if host in _ANY_HOST:
            host = urlsplit(self.base_url).hostname or host
        return f"https://[{host}]:{self.mtls_port}" if ":" in host else f"https://{host}:{self.mtls_port}"

    @property
    def discovery_url(self) -> str:
        """The URL of an external issuer's discovery document (OpenID Connect Discovery 1.0, 4)."""
        return self.login_url or f"{self.issuer_url.rstrip('/')}/.well-known/openid-configuration"

    @property
    def issuer_url(self) -> str:
        """The required `iss` of an accepted token."""
        return self.issuer or self.base_url


def _read_broker(url: str) -> BrokerAddress:
    """Read nats://[user[:password]@]host[:port][,...][/topic]; the error never repeats it: it may have a password."""
    parts = urlsplit(url)
    kind, uses_tls = _BROKERS.get(parts.scheme, ("", False))
    if not kind:
        raise SettingsError(f"--events-to must start with {'://, '.join(_BROKERS)}://.")
    user, _, hosts = parts.netloc.rpartition("@")
    name, colon, password = user.partition(":")
    topic, query = parts.path.strip("/") or "promenade", parse_qs(parts.query)
    sasl = query.pop("sasl", [_SASL[0]])[0]
    if not _TOPIC.fullmatch(topic):
        raise SettingsError("--events-to: the topic may have letters, digits, _, - and full stops within.")
    if query or parts.fragment or sasl not in _SASL or (kind == "nats" and parts.query):
        raise SettingsError(f"--events-to: only kafka takes a parameter, sasl: {', '.join(_SASL)}.")
    return BrokerAddress(
        kind=kind,
        servers=tuple(_server(one, _BROKER_PORTS[kind]) for one in hosts.split(",")),
        topic=topic,
        envelope="",
        uses_tls=uses_tls,
        user=unquote(name) or None,
        password=unquote(password) if colon else None,
        sasl=sasl,
    )


def _server(text: str, port: int) -> str:
    """Return host:port of one server of a broker."""
    try:
        parts = urlsplit(f"//{text}")
        found = parts.port
    except ValueError:
        found = 0
    if found == 0 or not parts.hostname or set(text) & _NO_HOST:
        raise SettingsError("--events-to must name servers as host or host:port, separated by commas.")
    return text if found else f"{text}:{port}"


def _is_database(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:  # a port or an address that is none
        return False
    return parts.scheme in {"sqlite", "postgresql"}


def _check_parameters(option: str, url: str) -> None:
    """Refuse a parameter of a URL of PostgreSQL that its driver could not use, or would take for something else."""
    if not url.startswith("postgresql:"):
        return
    for name, values in parse_qs(urlsplit(url).query, keep_blank_values=True).items():
        if name not in _OF_POSTGRESQL:
            raise SettingsError(f"{option} has a parameter {name}; those are {', '.join(sorted(_OF_POSTGRESQL))}.")
        if name == "sslmode" and not set(values) <= set(_SSL_MODES):
            raise SettingsError(f"sslmode in {option} must be one of {', '.join(_SSL_MODES)}.")
        if name in _FILES_OF_TLS and not all(Path(one).is_file() for one in values):
            raise SettingsError(f"{name} in {option} must be a file: there is none at {values[0]}.")


def _is_address(text: str) -> bool:
    """Return whether ``text`` is an http URL to which paths can be added."""
    try:
        parts = urlsplit(text)
        is_whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    is_plain = parts.username is None and not parts.query and not parts.fragment and not set(text) & _NO_HOST
    return parts.scheme in {"http", "https"} and is_whole and is_plain and text.isascii()


def _is_network(text: str) -> bool:
    """Return whether ``text`` is an address, or a network such as 10.0.0.0/8."""
    try:
        ip_network(text)
    except ValueError:
        return False
    return True


def _is_target(text: str) -> bool:
    """Return whether ``text`` is a host name or address, with a port or without, or a network such as 10.0.0.0/8."""
    try:
        if "/" in text:
            ip_network(text)
            return True
        if text.count(":") > 1 and not text.startswith("["):
            ip_address(text)
            return True
        parts = urlsplit(f"//{text}")
        is_host = bool(parts.hostname) and parts.netloc == text and not set(text) & _NO_HOST
        return is_host and parts.port != 0
    except ValueError:
        return False
