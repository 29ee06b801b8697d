"""How to reach an object store: endpoints, credentials, and one client per bucket and process.

Credentials come from where users of boto, gcloud and az have them; `configure_store` is for the rest. Nothing here is
shown in a message, a repr or a file: what is secret is registered with `redact.keep_secret` before it is used.

The client of a store has threads, which do not survive a fork. Clients are kept by process id; a forked child whose
parent has used one cannot make its own, and raises instead of waiting for ever.
"""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from tfrkit.errors import FailedPreconditionError, InvalidArgumentError
from tfrkit.model.arguments import check_bools
from tfrkit.optional import require
from tfrkit.redact import keep_secret
from tfrkit.stores.credentials.aws import aws_settings
from tfrkit.stores.credentials.azure import azure_settings
from tfrkit.stores.credentials.google import google_settings
from tfrkit.stores.url import is_url, parse_url

__all__ = [
    "ObjectPlace",
    "adopt_settings",
    "all_settings",
    "check_process",
    "client_of",
    "configure_store",
    "identity_of",
    "is_cached",
    "locate",
    "options_of",
    "settings_of",
]

_MOST_CLIENTS: Final = 256
# A whole request, its body included: ranges and parts are small, so what takes longer is stuck.
_REQUEST_SECONDS: Final = 60
_CONNECT_SECONDS: Final = 10
_RETRIES: Final = 8
_RETRY_SECONDS: Final = 120
_WEB: Final = ("http", "https")
_SECRET_LENGTH: Final = 12  # of parts of a query: dates and names of regions are shorter, and are no secret
_SECRET_OPTIONS: Final = (
    "access_key_id", "secret_access_key", "session_token", "token", "account_key", "access_key", "sas_key", "sas_token",
    "bearer_token", "service_account_key", "client_secret", "encryption_key", "fabric_session_token",
)  # fmt: skip
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
# Parameters of signed URLs: Amazon's old and new ones, CloudFront's, Google's, Azure's.
_SIGNATURE: Final = re.compile(
    "(x-amz-|x-goog-|(signature|expires|policy|key-pair-id|awsaccesskeyid|googleaccessid|"
    "sig|se|st|sp|sv|sr|spr|sip|skoid|sktid|skt|ske|sks|skv)=)",
    re.IGNORECASE,
)
_SECRET_VARIABLES: Final = (
    "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_SAS_KEY", "AZURE_CLIENT_SECRET", "AZURE_STORAGE_TOKEN",
    "AZURE_STORAGE_KEY", "AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_MASTER_KEY", "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_BEARER_TOKEN",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """Where an object is.

    Attributes:
        base: scheme and bucket: what one client serves; of a web server the whole URL, but for its query.
        key: the name in the bucket, as it is stored.
        query: of a signed URL; a secret.
    """

    base: str
    key: str
    query: str = field(default="", repr=False)


@dataclass(slots=True)
class _Options:
    """What `configure_store` was given for a place."""

    config: dict[str, Any] = field(default_factory=dict, repr=False)
    cache: bool | None = None


_options: dict[str, _Options] = {}
_adopted: dict[str, _Options] = {}  # those of them that came from another process
_clients: OrderedDict[tuple[str, str], Any] = OrderedDict()
_servers: dict[str, str] = {}  # which server a client talks to, by base
_used_by: int = 0  # the process in which a client was made first
_lock = threading.Lock()


def _after_fork() -> None:
    """Another thread may have held the lock, and the parent's clients do not work here."""
    global _lock, _clients  # noqa: PLW0603  # a lock that is held cannot be released here
    _lock = threading.Lock()
    _clients = OrderedDict()


os.register_at_fork(after_in_child=_after_fork)


def configure_store(
    url: str,
    *,
    endpoint: str | None = None,
    region: str | None = None,
    anonymous: bool | None = None,
    profile: str | None = None,
    cache: bool | None = None,
    credential_provider: Any = None,
    **options: Any,
) -> None:
    """Say how a bucket, container or web server is reached, in this process.

    What is not said here comes from where users of boto, gcloud and az have it: the environment, profiles, the roles of
    instances. Datasets and RecordFiles take what is said here along to the processes that they are sent to.

    Args:
        url: the place, such as "s3://bucket"; "s3://" for all buckets that were not named.
        endpoint: address of a server other than the provider's own, such as "http://127.0.0.1:8333".
        region: of the bucket.
        anonymous: send no credentials, for public data.
        profile: of ~/.aws, in the place of AWS_PROFILE.
        cache: keep what is read in the cache folder, unless a reader says otherwise.
        credential_provider: a function or object that returns credentials, as obstore takes it.
        options: further settings of obstore for this kind of store, such as access_key_id, secret_access_key,
            session_token, account_name, account_key, sas_key, virtual_hosted_style_request, client_options.

    Raises:
        InvalidArgumentError: it is not the URL of a store.
        TypeError: `anonymous` or `cache` is no boolean.

    >>> configure_store("s3://public-example", region="eu-west-1", anonymous=True, cache=True)
    >>> configure_store("s3://lab-example", endpoint="http://127.0.0.1:9000", profile="lab")
    """
    check_bools(anonymous=anonymous, cache=cache)
    base = _base_of(url)
    config = dict(options)
    for name in _SECRET_OPTIONS:
        keep_secret(config.get(name))
    given = {
        "endpoint": endpoint,
        "region": region,
        "skip_signature": anonymous,
        "profile": profile,
        "credential_provider": credential_provider,
    }
    config.update({name: value for name, value in given.items() if value is not None})
    with _lock:
        _options[base] = _Options(config, cache)
        for key in [key for key in _clients if key[0].startswith(base)]:
            del _clients[key]


def _base_of(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if not separator:
        raise InvalidArgumentError(f"Expected a URL such as 's3://bucket' but got {url!r}.")
    return f"{scheme.lower()}://{rest.partition('/')[0]}"


def options_of(base: str) -> _Options:
    """Return what was configured for a place, or for all of its scheme."""
    scheme, _, rest = base.partition("://")
    host = f"{scheme}://{rest.partition('/')[0]}"
    return _options.get(host) or _options.get(f"{scheme}://") or _Options()


def settings_of(paths: Iterable[str]) -> dict[str, Any]:
    """Return what was configured for the places of URLs, for `adopt_settings` in another process. Holds secrets."""
    found: dict[str, Any] = {}
    for base in {_base_of(path) for path in paths if is_url(path)}:
        for name in (base, f"{base.partition('://')[0]}://"):
            if name in _options:
                found[name] = _options[name].config, _options[name].cache
    return found


def all_settings() -> dict[str, Any]:
    """Return all that was configured, for `adopt_settings` in another process. Holds secrets."""
    return {base: (options.config, options.cache) for base, options in _options.items()}


def adopt_settings(settings: Mapping[str, Any]) -> None:
    """Configure what `settings_of` has returned in another process; what this one has configured itself stays.

    What was adopted earlier does not: a worker that lives for long gets the credentials that its next task brings.
    """
    for base, (config, cache) in settings.items():
        options = _Options(config, cache)
        if base not in _options or (_options[base] is _adopted.get(base) and _options[base] != options):
            configure_store(base, cache=cache, **config)
            _adopted[base] = _options[base]


def is_cached(base: str, cache: bool | None) -> bool:  # None: as configured
    """Tell whether what is read of a place is to be kept: as the caller says, else as was configured."""
    return bool(options_of(base).cache if cache is None else cache)


def identity_of(place: ObjectPlace) -> str:
    """Return what tells an object from every other: buckets of one name may be on several servers. May hold secrets.

    What signs a URL does not name the file, and is another one every hour; the rest of a query may name it.
    """
    query = [each for each in place.query.split("&") if not _SIGNATURE.match(each)]
    return "\n".join((place.base, place.key, _servers.get(place.base, ""), *query))


def locate(url: str) -> ObjectPlace:
    """Take a URL apart. Pure: no I/O.

    Raises:
        InvalidArgumentError: it is not one, or has a password in it.
    """
    scheme, host, key = parse_url(url)
    base = f"{scheme}://{host}"
    if scheme not in ("http", "https"):
        if not {"", ".", ".."}.isdisjoint(key.strip("/").split("/")) and key.strip("/"):
            raise InvalidArgumentError(
                f"{url}; the parts of an object's name must not be empty, '.' or '..'. Check the slashes.",
                path=url,
            )
        if found := _CONTROL.search(key):
            raise InvalidArgumentError(
                f"{url}; the name has the control character {found[0]!r}, which obstore refuses. Give it another name.",
                path=url,
            )
        return ObjectPlace(base, key)
    key, _, query = key.partition("#")[0].partition("?")
    for secret in (query, *(each.partition("=")[2] for each in query.split("&"))):
        keep_secret(secret if len(secret) >= _SECRET_LENGTH else None, lasting=False)
    return ObjectPlace(f"{base}/{key}", "", query)  # a client of its own, which takes its name as it is


def check_process(name: str) -> None:
    """Make sure that this process may use clients.

    Raises:
        FailedPreconditionError: it was forked from one that has used an object store.
    """
    if _used_by not in (0, os.getpid()):
        raise FailedPreconditionError(
            f"{name}; this process was forked from one that has used an object store, whose threads do not "
            "survive a fork. Start processes with spawn or forkserver instead, such as "
            "DataLoader(multiprocessing_context='spawn'), or use the store in the children only.",
            path=name,
        )


def client_of(place: ObjectPlace) -> Any:
    """Return obstore's client for a place, made on first use in each process.

    Raises:
        FailedPreconditionError: this process was forked from one that has used an object store.
        MissingExtraError: obstore is not installed.
        InvalidArgumentError: the configuration is not acceptable.
    """
    global _used_by  # noqa: PLW0603  # the one process whose threads there are
    check_process(place.base)
    key = (place.base, place.query)
    client = _clients.get(key)
    if client is None:
        with _lock:
            client = _clients.get(key)
            if client is None:
                client = _make_client(place)
                _used_by = os.getpid()
                _clients[key] = client
                while len(_clients) > _MOST_CLIENTS:
                    _clients.popitem(last=False)
    return client


def _make_client(place: ObjectPlace) -> Any:
    stores = require("obstore.store", f"Opening {place.base.partition(':')[0]}:// URLs")
    for name in _SECRET_VARIABLES:
        keep_secret(os.environ.get(name))
    scheme, _, host = place.base.partition("://")
    config = _settings(scheme, options_of(place.base).config)
    address = str(config.get("endpoint") or config.get("base_url") or os.environ.get("GOOGLE_BASE_URL", ""))
    if scheme not in _WEB:
        _servers[place.base] = f"{address} {config.get('account_name', '')}"
    arguments: dict[str, Any] = {
        "client_options": {
            "timeout": timedelta(seconds=_REQUEST_SECONDS),
            "connect_timeout": timedelta(seconds=_CONNECT_SECONDS),
            **({"allow_http": True} if "http" in (scheme, address.partition("://")[0]) else {}),
            **config.pop("client_options", {}),
        },
        "retry_config": {
            "max_retries": _RETRIES,
            "retry_timeout": timedelta(seconds=_RETRY_SECONDS),
            "backoff": {
                "init_backoff": timedelta(milliseconds=100),
                "max_backoff": timedelta(seconds=10),
                "base": 2,
            },
        },
    }
    try:
        if scheme in _WEB:
            query = f"?{place.query}" if place.query else ""
            return stores.HTTPStore.from_url(f"{place.base}{query}", **arguments)
        if scheme in ("s3", "s3a"):
            return stores.S3Store(host, **config, **arguments)
        if scheme == "gs":
            return stores.GCSStore(host, **config, **arguments)
        return stores.from_url(f"{scheme if '@' in host else 'az'}://{host}", **config, **arguments)
    except (TypeError, ValueError, _errors().BaseError) as error:
        raise InvalidArgumentError(
            f"{place.base}; the store cannot be configured: {_first_line(error)}. {_advice(scheme)}"
        ) from None


def _settings(scheme: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of obstore for a kind of store: what was given, and what the environment says."""
    if scheme in _WEB:
        return {name: value for name, value in given.items() if name == "client_options"}
    if scheme in ("s3", "s3a"):
        return aws_settings(given, os.environ)
    return google_settings(given, os.environ) if scheme == "gs" else azure_settings(given, os.environ)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


def _advice(scheme: str) -> str:
    if scheme in ("s3", "s3a", "gs", *_WEB):
        return "Check tfrkit.configure_store and the environment."
    return (
        "Name the storage account by AZURE_STORAGE_ACCOUNT, tfrkit.configure_store(..., account_name=...), or in the "
        "URL: abfs://container@account.dfs.core.windows.net/name."
    )


def _errors() -> Any:
    return require("obstore.exceptions", "Access to object stores and web servers")
