"""Settings of Azure: the variables of its command line, connection strings, and a login."""

from __future__ import annotations

import pytest

import tfrkit as tfr
from tfrkit.redact import redact
from tfrkit.stores.credentials.azure import azure_settings
from tfrkit.stores.files import read_bytes, write_bytes

CONNECTION = "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=c2VjcmV0LWF6dXJl;EndpointSuffix=core.windows.net"


@pytest.fixture(autouse=True)
def _no_login(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("environment", "settings"),
    [
        ({}, {}),
        ({"AZURE_STORAGE_ACCOUNT": "me"}, {"account_name": "me"}),
        (
            {"AZURE_STORAGE_ACCOUNT": "me", "AZURE_STORAGE_KEY": "a2V5LW9uZQ=="},
            {"account_name": "me", "account_key": "a2V5LW9uZQ=="},
        ),
        ({"AZURE_STORAGE_ACCOUNT_NAME": "me", "AZURE_STORAGE_ACCOUNT_KEY": "a2V5"}, {"account_name": "me"}),
        ({"AZURE_STORAGE_ACCOUNT": "me", "AZURE_STORAGE_SAS_TOKEN": "sig=1"}, {"account_name": "me"}),
        (
            {"AZURE_STORAGE_CONNECTION_STRING": CONNECTION},
            {"account_name": "me", "account_key": "c2VjcmV0LWF6dXJl"},
        ),
        (
            {
                "AZURE_STORAGE_CONNECTION_STRING": "BlobEndpoint=https://me.blob.x/;SharedAccessSignature=sv=1&sig=abcdef"
            },
            {"endpoint": "https://me.blob.x", "sas_key": "sv=1&sig=abcdef"},
        ),
        (
            {"AZURE_STORAGE_CONNECTION_STRING": "AccountName=me;AccountKey=a2V5LXR3bw==;EndpointSuffix=x.cn"},
            {"account_name": "me", "account_key": "a2V5LXR3bw==", "endpoint": "https://me.blob.x.cn"},
        ),
        ({"AZURE_STORAGE_CONNECTION_STRING": "UseDevelopmentStorage=true"}, {"use_emulator": True}),
    ],
)
def test_variables_of_az(environment, settings):
    assert azure_settings({}, environment) == settings


def test_what_is_given_comes_first():
    given = {"account_name": "other", "skip_signature": True}
    assert azure_settings(given, {"AZURE_STORAGE_CONNECTION_STRING": CONNECTION}) == given


def test_a_login_of_az_is_used_if_there_is_nothing_else(monkeypatch, tmp_path):
    (tmp_path / ".azure").mkdir()
    (tmp_path / ".azure" / "azureProfile.json").write_text("{}")
    assert azure_settings({}, {"AZURE_STORAGE_ACCOUNT": "me"}) == {
        "account_name": "me"
    }  # az is not installed
    (tmp_path / "az").write_text("#!/bin/sh\n")
    (tmp_path / "az").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert azure_settings({}, {"AZURE_STORAGE_ACCOUNT": "me"}) == {
        "account_name": "me",
        "use_azure_cli": True,
    }
    assert "use_azure_cli" not in azure_settings({}, {"AZURE_STORAGE_KEY": "a2V5LW9uZQ=="})


def test_keys_are_secret():
    azure_settings({}, {"AZURE_STORAGE_CONNECTION_STRING": CONNECTION})
    assert redact(f"{CONNECTION} c2VjcmV0LWF6dXJl") == "*** ***"


def test_a_missing_account_says_where_to_name_it(monkeypatch):
    for name in ("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_CONNECTION_STRING"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"Account must be specified.*AZURE_STORAGE_ACCOUNT.*abfs"
    ):
        read_bytes("az://no-account/a")


def test_a_connection_string_reaches_the_server(azure_server, unique_prefix, monkeypatch):
    container = azure_server.container()
    monkeypatch.setenv(
        "AZURE_STORAGE_CONNECTION_STRING",
        f"AccountName={azure_server.account};AccountKey={azure_server.key};BlobEndpoint={azure_server.endpoint}/",
    )
    url = f"az://{container}/{unique_prefix}a"
    write_bytes(url, b"content")
    assert read_bytes(url) == b"content"
