"""Security: which requests a viewer answers, and the headers that every answer has.

A viewer shows the files of its user, so no other user, page or name may reach it. A request must name this server in
its Host header exactly (else a foreign name that points to this machine could read it), come from this server's own
page if it says where it comes from, and bring the cookie that the secret in the printed URL is exchanged for. What a
request asks for is decided elsewhere.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlencode

__all__ = ["CONTENT_POLICY", "Gate", "allowed_hosts", "is_loopback", "is_wildcard"]

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

CONTENT_POLICY: Final = (
    "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),  # the token stands in a URL for one request
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_METHODS: Final = ("GET", "HEAD", "POST", "DELETE")
_SAFE: Final = ("GET", "HEAD")
_OWN_SITES: Final = ("same-origin", "none")  # of Sec-Fetch-Site: our page, or the user's own hands
_WILDCARDS: Final = ("", "0.0.0.0", "::")  # noqa: S104  # compared with, not bound
_LOCAL_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
_TOKEN_BYTES: Final = 32
_NO_ENTRY: Final = (
    "<!doctype html><meta charset=utf-8><title>tfr view</title><h1>This page needs its key</h1>"
    "<p>Open the whole address that <code>tfr view</code> printed, with <code>?token=</code> and what follows. "
    "If the viewer was started again, its old addresses do not work any more."
)


@dataclass(frozen=True, slots=True)
class Gate:
    """What a server asks of its requests.

    Attributes:
        port: where it listens.
        hosts: what may stand in a Host header.
        any_address: whether a Host header may be any IP address with this port: a server for all of its network's.
        token: the secret of the printed URL.
        pass_value: the secret of the cookie.
    """

    port: int
    hosts: frozenset[str]
    any_address: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES), repr=False)
    pass_value: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie: browsers share cookies among all ports of a host."""
        return f"tfrkit-view-{self.port}"

    def guard(self, app: App) -> App:
        """Return an ASGI application that lets only allowed requests through to another."""

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await app(scope, receive, send)
            elif scope["type"] != "http":
                raise RuntimeError(f"the viewer has no {scope['type']} connections")
            elif (refusal := self._refusal(scope)) is not None:
                await _answer(send, *refusal)
            elif (location := self._entrance(scope)) is not None:
                cookie = f"{self.cookie}={self.pass_value}; HttpOnly; SameSite=Strict; Path=/"
                await _answer(send, 303, "", location=location, set_cookie=cookie)
            elif not self._has_pass(scope):
                await _answer(send, 403, _NO_ENTRY, kind="text/html; charset=utf-8")
            else:
                await app(scope, receive, _with_headers(send))

        return guarded

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Say with which status and text a request is refused, whoever sends it; None if it is not."""
        if scope["method"] not in _METHODS:
            return 405, "this method is not allowed"
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return 403, "this server does not answer to that name: open the address that `tfr view` printed"
        if len(origins) > 1 or any(origin != f"http://{hosts[0]}" for origin in origins):
            return 403, "requests of other pages are refused"
        if scope["method"] not in _SAFE and not origins:
            return 403, "a request that changes something has to say which page it comes from"
        site = _values(scope, b"sec-fetch-site")
        if scope["path"] != "/" and any(each not in _OWN_SITES for each in site):
            return 403, "requests of other pages are refused"
        path = scope["path"] + scope.get("raw_path", b"").decode("latin-1")
        if ".." in path or "\\" in path or "\0" in path:
            return 400, "expected a path of this server"
        return None

    def _is_own(self, host: str) -> bool:
        if host in self.hosts:
            return True
        name, _, port = host.rpartition(":")
        return self.any_address and port == str(self.port) and _is_address(name.strip("[]"))

    def _entrance(self, scope: Scope) -> str | None:
        """Return where a request with the token is sent: to the same page, without it."""
        if scope["path"] != "/" or scope["method"] not in _SAFE or b"token=" not in scope["query_string"]:
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = next((value for name, value in query if name == "token"), "")
        if not _same(given, self.token):
            return None
        rest = [(name, value) for name, value in query if name != "token"]
        return "/" + (f"?{urlencode(rest)}" if rest else "")

    def _has_pass(self, scope: Scope) -> bool:
        for text in _values(scope, b"cookie"):
            try:
                found = SimpleCookie(text).get(self.cookie)
            except CookieError:
                continue
            if found is not None and _same(found.value, self.pass_value):
                return True
        return False


def allowed_hosts(host: str, port: int) -> frozenset[str]:
    """Return what Host headers may say to a server that listens there."""
    names = list(_LOCAL_NAMES)
    if host in _WILDCARDS:
        names.append(socket.gethostname())
    elif not is_loopback(host):
        names.append(f"[{host}]" if ":" in host else host)
    return frozenset(f"{name}:{port}" for name in names)


def is_loopback(host: str) -> bool:
    """Tell whether only this machine reaches a server there.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def is_wildcard(host: str) -> bool:
    """Tell whether a server there listens on all addresses of the machine."""
    return host in _WILDCARDS


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _with_headers(send: Send) -> Send:
    """Add the headers that every answer has to those of an application, which may have its own."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in _HEADERS if pair[0] not in there)]
        await send(message)

    return sending


async def _answer(
    send: Send, status: int, text: str, kind: str = "text/plain; charset=utf-8", **more: str
) -> None:
    body = text.encode()
    headers: Iterable[tuple[bytes, bytes]] = (
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        *((name.replace("_", "-").encode(), value.encode()) for name, value in more.items()),
        *_HEADERS,
    )
    await send({"type": "http.response.start", "status": status, "headers": list(headers)})
    await send({"type": "http.response.body", "body": body})
