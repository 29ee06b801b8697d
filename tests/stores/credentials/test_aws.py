"""Settings of S3: what is given, what the environment says, and profiles, in this order."""

from __future__ import annotations

import json
import sys

import pytest

import tfrkit as tfr
from tfrkit.redact import redact
from tfrkit.stores.credentials.aws import aws_settings
from tfrkit.stores.files import read_bytes, write_bytes

CONFIG = """
[default]
region = eu-central-1

[profile lab]
region = us-west-2
endpoint_url = http://127.0.0.1:9000
aws_access_key_id = LABKEYINCONFIG
aws_secret_access_key = lab-secret-in-config

[profile split]
services = local
endpoint_url = http://127.0.0.1:1

[services local]
s3 =
  endpoint_url = http://127.0.0.1:9001
  addressing_style = path

[profile role]
role_arn = arn:aws:iam::1:role/x
source_profile = lab

[profile sso]
sso_session = mine

[profile empty]
"""
CREDENTIALS = """
[default]
aws_access_key_id = DEFAULTKEY
aws_secret_access_key = default-secret-key
[split]
aws_access_key_id = SPLITKEY1
aws_secret_access_key = split-secret-key
aws_session_token = split-session-token
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "config").write_text(CONFIG)
    (tmp_path / "credentials").write_text(CREDENTIALS)
    return {
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
    }


def test_the_default_profile_gives_keys_and_region(files):
    assert aws_settings({}, files) == {
        "region": "eu-central-1",
        "access_key_id": "DEFAULTKEY",
        "secret_access_key": "default-secret-key",
    }


def test_files_are_in_the_home_folder(monkeypatch, tmp_path):
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(CREDENTIALS)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert aws_settings({}, {})["access_key_id"] == "DEFAULTKEY"


def test_without_files_there_is_nothing(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert aws_settings({}, {}) == {}


@pytest.mark.parametrize("variable", ["AWS_PROFILE", "AWS_DEFAULT_PROFILE"])
def test_a_profile_is_named_by_the_environment(files, variable):
    assert aws_settings({}, {**files, variable: "lab"}) == {
        "region": "us-west-2",
        "endpoint": "http://127.0.0.1:9000",
        "access_key_id": "LABKEYINCONFIG",
        "secret_access_key": "lab-secret-in-config",
        "virtual_hosted_style_request": False,
    }


def test_the_users_profile_comes_before_the_environment(files):
    found = aws_settings(
        {"profile": "split"}, {**files, "AWS_PROFILE": "lab", "AWS_ACCESS_KEY_ID": "OTHERKEY"}
    )
    assert found["access_key_id"] == "SPLITKEY1"
    assert found["session_token"] == "split-session-token"
    assert found["endpoint"] == "http://127.0.0.1:9001"
    assert "profile" not in found


def test_keys_of_the_environment_come_before_a_profile_but_its_region_counts(files):
    found = aws_settings({}, {**files, "AWS_PROFILE": "lab", "AWS_ACCESS_KEY_ID": "OTHERKEY"})
    assert "access_key_id" not in found
    assert found["region"] == "us-west-2"


def test_region_and_endpoint_of_the_environment_come_first(files):
    found = aws_settings({}, {**files, "AWS_PROFILE": "lab", "AWS_DEFAULT_REGION": "x"})
    assert "region" not in found  # obstore reads the variable
    found = aws_settings(
        {}, {**files, "AWS_PROFILE": "lab", "AWS_ENDPOINT_URL": "http://a", "AWS_ENDPOINT_URL_S3": "http://b"}
    )
    assert found["endpoint"] == "http://b"


def test_what_is_given_comes_first(files):
    given = {"endpoint": "http://c", "region": "r", "skip_signature": True}
    assert aws_settings(given, {**files, "AWS_PROFILE": "lab"}) == {
        **given,
        "virtual_hosted_style_request": False,
    }


def test_a_profile_that_is_not_there_is_an_error(files):
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"There is no profile 'nope' in .*config.*credentials"
    ):
        aws_settings({}, {**files, "AWS_PROFILE": "nope"})
    assert (
        aws_settings({}, {**files, "AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere"})
        == {}
    )


def test_a_broken_file_is_an_error_that_does_not_show_it(files, tmp_path):
    (tmp_path / "credentials").write_text("[default]\nthis-is-my-secret\n")
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"cannot be read: ParsingError in line 2"
    ) as caught:
        aws_settings({}, files)
    assert "this-is-my-secret" not in str(caught.value)


def test_keys_of_profiles_are_secret(files):
    aws_settings({}, {**files, "AWS_PROFILE": "split"})
    shown = redact("split-secret-key SPLITKEY1 split-session-token")
    assert shown == "*** *** ***"


@pytest.mark.parametrize("profile", ["role", "sso"])
def test_roles_need_boto(files, profile, monkeypatch):
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(
        tfr.errors.MissingExtraError,
        match=rf"AWS profile '{profile}'.*needs the package boto3.*pip install boto3",
    ):
        aws_settings({}, {**files, "AWS_PROFILE": profile})


def test_a_role_that_boto_cannot_get_is_an_error(files, monkeypatch):
    for name, value in files.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(
        tfr.errors.InvalidArgumentError, match=r"boto3 finds no credentials for the AWS profile 'sso'"
    ):
        aws_settings({}, {**files, "AWS_PROFILE": "sso"})


def test_a_process_gives_the_credentials_through_boto(
    s3_server, s3_bucket, unique_prefix, tmp_path, monkeypatch
):
    """Nothing but boto3 runs such a process: keys that a program prints, to be renewed when they expire."""
    printed = {"Version": 1, "AccessKeyId": s3_server.key, "SecretAccessKey": s3_server.secret}
    (tmp_path / "printed.json").write_text(json.dumps(printed))
    (tmp_path / "config").write_text(
        f"[profile vault]\ncredential_process = cat {tmp_path}/printed.json\n"
        f"region = us-east-1\nendpoint_url = {s3_server.endpoint}\n"
    )
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    tfr.configure_store(f"s3://{s3_bucket}", profile="vault")
    url = f"s3://{s3_bucket}/{unique_prefix}a"
    write_bytes(url, b"content")
    assert read_bytes(url) == b"content"
