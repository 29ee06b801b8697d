"""Settings of S3 from profiles: ~/.aws/config and ~/.aws/credentials, as the AWS command line and boto read them.

obstore itself reads the AWS_ variables, the tokens of containers and Kubernetes, and asks instances for their role. It
does not know profiles. Keys, region and endpoint in them are read here; roles, single sign-on and processes that print
credentials are boto3's business.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from typing import Any, Final

from tfrkit.errors import InvalidArgumentError, MissingExtraError
from tfrkit.optional import require
from tfrkit.redact import keep_secret

__all__ = ["aws_settings"]

_OWN_CREDENTIALS: Final = ("access_key_id", "secret_access_key", "credential_provider", "skip_signature")
_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_OTHER_CREDENTIALS: Final = (
    "AWS_ACCESS_KEY_ID", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_SKIP_SIGNATURE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)  # fmt: skip
# A profile that has one of these gets its credentials from elsewhere; the first two before any keys in it, as in boto.
_ROLES: Final = ("role_arn", "sso_session", "sso_start_url")
_PROCESSES: Final = ("credential_process", "login_session")


def aws_settings(given: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return all settings for obstore's S3Store, but for what it reads from the environment itself.

    Args:
        given: what the user has said; this comes first, then the environment, then the profile. `profile` names one.
        environment: the variables.

    Raises:
        InvalidArgumentError: there is no such profile, or a file cannot be read.
        MissingExtraError: the profile needs boto3, which is not installed.
    """
    settings = dict(given)
    chosen = settings.pop("profile", None)
    named = chosen or environment.get("AWS_PROFILE") or environment.get("AWS_DEFAULT_PROFILE")
    profile, services = _read_profile(named or "default", environment)
    if named and not profile:
        raise InvalidArgumentError(
            f"There is no profile {named!r} in {' or '.join(_files(environment))}. "
            "Check AWS_PROFILE, AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE."
        )
    if "region" not in settings and not any(map(environment.get, _REGIONS)) and "region" in profile:
        settings["region"] = profile["region"]
    if "endpoint" not in settings:
        named_here = next(filter(None, map(environment.get, _ENDPOINTS)), None)
        endpoint = named_here or services.get("endpoint_url") or profile.get("endpoint_url")
        if endpoint:
            settings["endpoint"] = endpoint
    others = () if chosen else _OTHER_CREDENTIALS
    if not any(map(settings.get, _OWN_CREDENTIALS)) and not any(map(environment.get, others)):
        settings.update(_credentials(named or "default", profile))
    if "endpoint" in settings:  # servers other than Amazon's rarely have a name for each bucket
        settings.setdefault("virtual_hosted_style_request", False)
    return settings


def _credentials(name: str, profile: Mapping[str, str]) -> dict[str, Any]:
    keys = {
        "access_key_id": profile.get("aws_access_key_id"),
        "secret_access_key": profile.get("aws_secret_access_key"),
        "session_token": profile.get("aws_session_token"),
    }
    if not any(map(profile.get, _ROLES)):
        if keys["access_key_id"] and keys["secret_access_key"]:
            for value in keys.values():
                keep_secret(value)
            return {key: value for key, value in keys.items() if value}
        if not any(map(profile.get, _PROCESSES)):
            return {}
    return {"credential_provider": _boto_provider(name)}


def _boto_provider(name: str) -> Any:
    """Let boto3 find the credentials of a profile, and renew them."""
    feature = f"The AWS profile {name!r} (a role, single sign-on or a process)"
    boto3, providers = require("boto3", feature), require("obstore.auth.boto3", feature)
    try:
        provider = providers.Boto3CredentialProvider(boto3.Session(profile_name=name))
    except MissingExtraError:
        raise
    except Exception as error:  # noqa: BLE001  # whatever boto3 raises
        raise InvalidArgumentError(
            f"boto3 finds no credentials for the AWS profile {name!r} ({type(error).__name__}). "
            f"Try: aws sts get-caller-identity --profile {name}"
        ) from None  # its text may have what a process printed

    def credentials() -> Any:
        found = provider()
        for value in (found["access_key_id"], found["secret_access_key"], found["token"]):
            keep_secret(value)
        return found

    return credentials


def _files(environment: Mapping[str, str]) -> tuple[str, str]:
    home = os.path.join("~", ".aws")
    config = environment.get("AWS_CONFIG_FILE") or os.path.join(home, "config")
    credentials = environment.get("AWS_SHARED_CREDENTIALS_FILE") or os.path.join(home, "credentials")
    return os.path.expanduser(config), os.path.expanduser(credentials)


def _read_profile(name: str, environment: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return what the files say of a profile, keys of the credentials file first; and of its service s3."""
    config_file, credentials_file = _files(environment)
    config, credentials = _parse(config_file), _parse(credentials_file)
    section = name if name == "default" and "default" in config else f"profile {name}"
    profile = {**config.get(section, {}), **credentials.get(name, {})}
    services = config.get(f"services {profile.get('services', '')}", {}).get("s3", "")
    nested = (line.partition("=") for line in services.splitlines() if "=" in line)
    return profile, {key.strip(): value.strip() for key, _, value in nested}


def _parse(path: str) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser(default_section="", strict=False)
    try:
        with open(path, encoding="utf-8") as file:
            parser.read_file(file)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError, configparser.Error) as error:
        raise InvalidArgumentError(
            f"{path}; the file of AWS profiles cannot be read: {_reason(error)}."
        ) from None
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _reason(error: Exception) -> str:
    """Say what is wrong with a file without its content, which may be secret. Pure: no I/O."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    line = getattr(error, "lineno", None) or next(iter(getattr(error, "errors", None) or [(None,)]))[0]
    return f"{type(error).__name__}" + (f" in line {line}" if line else "")
