"""Which requests are refused, each with one that is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.viewer.server import Client, client_of, write_examples
from tfrkit.viewer.security import allowed_hosts, is_loopback
from tfrkit.viewer.serve import listen

ADDRESSES = (
    "/",
    "/static/main.js",
    "/api/session",
    "/api/rows",
    "/api/value?n=0&feature=label",
    "/api/files",
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    path = write_examples(tmp_path_factory.mktemp("data") / "a.tfrecord", [{"label": 1, "text": "x"}])
    with client_of([path]) as found:
        yield found


def own(client: Client) -> dict[str, str]:
    return {"Cookie": client.cookie, "Origin": f"http://{client.host}"}


@pytest.mark.parametrize("path", ADDRESSES)
def test_nothing_is_shown_without_a_cookie(client: Client, path: str) -> None:
    reply = client.send("GET", path)
    assert reply.status == 403
    assert b"Open the whole address" in reply.body


@pytest.mark.parametrize("path", ["/", "/api/session"])
def test_a_wrong_token_or_cookie_is_refused(client: Client, path: str) -> None:
    wrong = client.cookie[:-1] + ("a" if client.cookie[-1] != "a" else "b")
    assert client.send("GET", f"{path}?token={'x' * 43}").status == 403
    assert client.send("GET", path, {"Cookie": wrong}).status == 403
    assert client.send("GET", path, {"Cookie": client.cookie.partition("=")[0] + "="}).status == 403


def test_the_token_is_no_pass_for_other_addresses(client: Client) -> None:
    assert client.send("GET", f"/api/session?token={client.listener.gate.token}").status == 403


def test_the_token_is_exchanged_for_a_cookie_and_leaves_the_address(client: Client) -> None:
    reply = client.send("GET", f"/?where=label+%3E+0&token={client.listener.gate.token}")
    assert reply.status == 303
    assert reply.headers["Location"] == "/?where=label+%3E+0"
    cookie = reply.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert client.listener.gate.token not in cookie


def test_a_token_leads_to_no_other_server(client: Client) -> None:
    reply = client.send("GET", f"/?token={client.listener.gate.token}&/=//evil.example/")
    assert reply.headers["Location"].startswith("/?")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}",
     "localhost:{port}.", "localhost", "[::1]", "2130706433:{port}", "127.1:{port}", "{port}"],
)  # fmt: skip
def test_another_host_is_refused(client: Client, host: str) -> None:
    named = host.format(port=client.listener.gate.port)
    reply = client.send("GET", "/api/session", {"Host": named, "Cookie": client.cookie})
    assert reply.status == 403
    assert b"does not answer to that name" in reply.body


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}"])
def test_own_names_are_answered(client: Client, host: str) -> None:
    named = host.format(port=client.listener.gate.port)
    assert client.send("GET", "/api/session", {"Host": named, "Cookie": client.cookie}).status == 200


def test_a_request_without_a_host_is_refused(client: Client) -> None:
    assert client.send("GET", "/api/session", {"Host": "", "Cookie": client.cookie}).status in (400, 403)


@pytest.mark.parametrize(
    "origin",
    ["", "http://evil.example", "null", "https://{host}", "http://{host}.evil", "http://localhost:1"],
)
@pytest.mark.parametrize(("method", "path"), [("POST", "/api/jobs"), ("DELETE", "/api/jobs/search-1")])
def test_what_changes_something_needs_the_own_origin(
    client: Client, method: str, path: str, origin: str
) -> None:
    headers = {"Cookie": client.cookie, "Origin": origin.format(host=client.host)}
    reply = client.send(method, path, headers, '{"kind": "verify", "set": "a"}')
    assert reply.status == 403
    assert b"page" in reply.body


@pytest.mark.parametrize("path", ["/api/session", "/api/jobs/search-1/events"])
def test_a_foreign_page_may_not_ask_either(client: Client, path: str) -> None:
    assert client.send("GET", path, {"Cookie": client.cookie, "Origin": "http://evil.example"}).status == 403
    for site in ("cross-site", "same-site"):
        assert client.send("GET", path, {"Cookie": client.cookie, "Sec-Fetch-Site": site}).status == 403


def test_the_own_page_may_begin_and_end_a_job(client: Client) -> None:
    reply = client.send("POST", "/api/jobs", own(client), '{"kind": "verify", "set": "a"}')
    assert reply.status == 201, reply.body
    assert client.send("DELETE", f"/api/jobs/{reply.json['id']}", own(client)).status == 200


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/../../etc/passwd", "/static/..\\app.py",
     "/static/%00", "/static/app.css/../../app.py", "//evil.example/..", "/static/%252e%252e/app.py",
     "/static//etc/passwd", "/static/__init__.py"],
)  # fmt: skip
def test_no_path_leads_out_of_the_page(client: Client, path: str) -> None:
    reply = client.send("GET", path, {"Cookie": client.cookie})
    assert reply.status in (400, 404)
    assert b"import" not in reply.body
    assert b"root:" not in reply.body


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_other_methods_are_refused(client: Client, method: str) -> None:
    assert client.send(method, "/api/session", own(client)).status in (400, 405)


@pytest.mark.parametrize("path", ["/api/session", "/api/rows", "/api/files", "/"])
def test_what_is_read_is_not_posted(client: Client, path: str) -> None:
    assert client.send("POST", path, own(client), "{}").status == 405


@pytest.mark.parametrize("path", ["/", "/static/main.js", "/api/session", "/api/nothing", "/api/record?n=99"])
def test_every_answer_has_the_headers(client: Client, path: str) -> None:
    for headers in ({"Cookie": client.cookie}, {}):
        answer = client.send("GET", path, headers).headers
        policy = answer["Content-Security-Policy"]
        for part in ("default-src 'self'", "object-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"):
            assert part in policy
        assert "unsafe" not in policy
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Referrer-Policy"] == "no-referrer"
        assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
        assert answer["Server"] is None


def test_another_viewers_cookie_is_of_no_use(client: Client, tmp_path: Path) -> None:
    path = write_examples(tmp_path / "b.tfrecord", [{"secret": 1}])
    with client_of([path]) as other:
        assert other.send("GET", "/api/session", {"Cookie": client.cookie}).status == 403
        assert other.cookie.partition("=")[0] != client.cookie.partition("=")[0]


def test_a_large_body_is_refused(client: Client) -> None:
    reply = client.send("POST", "/api/jobs", own(client), '{"kind": "' + "x" * 100_000 + '"}')
    assert reply.status == 400


def test_only_this_machine_reaches_it_unless_told() -> None:
    listener = listen()
    try:
        assert listener.socket.getsockname()[0] == "127.0.0.1"
        assert len(listener.gate.token) >= 43  # 32 bytes
    finally:
        listener.socket.close()


def test_names_that_others_reach_it_by() -> None:
    assert allowed_hosts("192.168.1.5", 80) == allowed_hosts("127.0.0.1", 80) | {"192.168.1.5:80"}
    assert "evil.example:80" not in allowed_hosts("0.0.0.0", 80)
    assert not is_loopback("192.168.1.5")


def test_secrets_are_in_no_repr(client: Client) -> None:
    assert client.listener.gate.token not in repr(client.listener)
