"""Settings of Google Cloud Storage: emulators, and kinds of credentials that obstore does not know.

obstore itself reads GOOGLE_APPLICATION_CREDENTIALS, GOOGLE_SERVICE_ACCOUNT and what `gcloud auth application-default
login` has written, of service accounts and users, and asks instances for their account.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Final

from tfrkit.optional import require

__all__ = ["google_settings"]

_GIVEN: Final = (
    "service_account", "service_account_path", "service_account_key", "application_credentials", "bearer_token",
    "credential_provider", "skip_signature",
)  # fmt: skip
_VARIABLES: Final = (
    "GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH", "GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_BEARER_TOKEN",
    "GOOGLE_SKIP_SIGNATURE",
)  # fmt: skip
_KNOWN: Final = ("service_account", "authorized_user", "")  # types that obstore reads


def google_settings(given: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return all settings for obstore's GCSStore, but for what it reads from the environment itself.

    Args:
        given: what the user has said; this comes first. `endpoint` is the address of a server, as for other stores.
        environment: the variables.

    Raises:
        MissingExtraError: the credentials need google-auth, which is not installed.
    """
    settings = dict(given)
    emulator = environment.get("STORAGE_EMULATOR_HOST", "")
    if emulator and "://" not in emulator:
        emulator = f"http://{emulator}"
    endpoint = settings.pop("endpoint", None) or settings.get("base_url") or emulator
    if endpoint:
        settings["base_url"] = endpoint.rstrip("/")
    settings.pop("region", None)  # buckets of Google are found by their names alone
    if any(map(settings.get, _GIVEN)) or any(map(environment.get, _VARIABLES)):
        return settings
    if emulator and settings.get("base_url") == emulator.rstrip("/"):
        settings["skip_signature"] = True  # as Google's own libraries do
        return settings
    path = _default_credentials(environment)
    if path and _kind_of(path) not in _KNOWN:  # workload identities of other clouds, impersonated accounts
        feature = f"Google credentials of the kind {_kind_of(path)!r}"
        require("google.auth", feature)
        settings["credential_provider"] = require("obstore.auth.google", feature).GoogleCredentialProvider()
    elif (
        path and not environment.get("GOOGLE_APPLICATION_CREDENTIALS") and environment.get("CLOUDSDK_CONFIG")
    ):
        settings["application_credentials"] = path  # obstore looks in the usual folder only
    return settings


def _default_credentials(environment: Mapping[str, str]) -> str:
    """Return the file of application default credentials; empty if there is none."""
    named = environment.get("GOOGLE_APPLICATION_CREDENTIALS")
    folder = environment.get("CLOUDSDK_CONFIG") or os.path.expanduser("~/.config/gcloud")
    path = named or os.path.join(folder, "application_default_credentials.json")
    return path if os.path.isfile(path) else ""


def _kind_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return str(json.load(file).get("type", ""))
    except (OSError, ValueError, AttributeError):
        return ""  # obstore says what is wrong with it
