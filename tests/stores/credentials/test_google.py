"""Settings of Google Cloud Storage: endpoints, emulators, and where credentials are."""

from __future__ import annotations

import json
import sys

import pytest

import tfrkit as tfr
from tfrkit.stores.credentials.google import google_settings
from tfrkit.stores.files import read_bytes


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))


def test_without_anything_obstore_looks_by_itself():
    assert google_settings({}, {}) == {}


def test_an_endpoint_is_the_base_url():
    given = {"endpoint": "http://127.0.0.1:9000/", "region": "eu", "skip_signature": True}
    assert google_settings(given, {}) == {"base_url": "http://127.0.0.1:9000", "skip_signature": True}


def test_an_emulator_is_asked_without_credentials():
    for host in ("127.0.0.1:9000", "http://127.0.0.1:9000"):
        found = google_settings({}, {"STORAGE_EMULATOR_HOST": host})
        assert found == {"base_url": "http://127.0.0.1:9000", "skip_signature": True}
    given = {"service_account_key": "{}"}
    assert google_settings(given, {"STORAGE_EMULATOR_HOST": "h"}) == {**given, "base_url": "http://h"}


def test_the_folder_of_gcloud_may_be_elsewhere(tmp_path):
    path = tmp_path / "application_default_credentials.json"
    path.write_text(json.dumps({"type": "authorized_user"}))
    assert google_settings({}, {"CLOUDSDK_CONFIG": str(tmp_path)}) == {"application_credentials": str(path)}
    assert (
        google_settings({}, {"GOOGLE_APPLICATION_CREDENTIALS": str(path)}) == {}
    )  # obstore reads the variable


def test_kinds_that_obstore_does_not_know_need_google_auth(tmp_path, monkeypatch):
    path = tmp_path / "federated.json"
    path.write_text(json.dumps({"type": "external_account"}))
    monkeypatch.setitem(sys.modules, "google.auth", None)
    with pytest.raises(
        tfr.errors.MissingExtraError, match=r"'external_account' needs the package google-auth"
    ):
        google_settings({}, {"GOOGLE_APPLICATION_CREDENTIALS": str(path)})


def test_the_emulator_is_reached_by_its_variable(google_server, monkeypatch):
    bucket = google_server.bucket()
    google_server.put(bucket, "a", b"content")
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", google_server.endpoint)
    assert read_bytes(f"gs://{bucket}/a") == b"content"


def test_the_emulator_is_reached_by_configure_store(google_server):
    bucket = google_server.bucket()
    google_server.put(bucket, "a", b"content")
    tfr.configure_store(f"gs://{bucket}", endpoint=google_server.endpoint, anonymous=True)
    assert read_bytes(f"gs://{bucket}/a") == b"content"
