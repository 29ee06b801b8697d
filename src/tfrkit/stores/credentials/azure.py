"""Settings of Azure from the variables of its command line, which obstore does not all know.

obstore itself reads AZURE_STORAGE_ACCOUNT_NAME, AZURE_STORAGE_ACCOUNT_KEY, AZURE_STORAGE_SAS_TOKEN, the AZURE_CLIENT_
variables of service principals and workload identities, and asks managed identities.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any, Final

from tfrkit.redact import keep_secret

__all__ = ["azure_settings"]

_GIVEN: Final = (
    "account_key", "access_key", "sas_key", "sas_token", "token", "client_secret", "federated_token_file",
    "use_azure_cli", "credential_provider", "skip_signature", "use_emulator", "msi_endpoint",
)  # fmt: skip
_VARIABLES: Final = (
    "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCESS_KEY", "AZURE_STORAGE_MASTER_KEY", "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_SAS_TOKEN", "AZURE_STORAGE_TOKEN", "AZURE_CLIENT_SECRET", "AZURE_STORAGE_CLIENT_SECRET",
    "AZURE_FEDERATED_TOKEN_FILE", "AZURE_MSI_ENDPOINT", "AZURE_IDENTITY_ENDPOINT", "IDENTITY_ENDPOINT", "MSI_ENDPOINT",
    "AZURE_USE_AZURE_CLI", "AZURE_SKIP_SIGNATURE",
)  # fmt: skip


def azure_settings(given: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return all settings for obstore's AzureStore, but for what it reads from the environment itself.

    Args:
        given: what the user has said; this comes first.
        environment: the variables: those of `az storage`, a connection string, then a login of `az`.
    """
    settings = dict(given)
    connection = _parse_connection(environment.get("AZURE_STORAGE_CONNECTION_STRING", ""))
    name = environment.get("AZURE_STORAGE_ACCOUNT_NAME") or environment.get("AZURE_STORAGE_ACCOUNT")
    if "account_name" not in settings and (name or connection.get("account_name")):
        settings["account_name"] = name or connection["account_name"]
    if "endpoint" not in settings and connection.get("endpoint"):
        settings["endpoint"] = connection["endpoint"]
    if any(map(settings.get, _GIVEN)) or any(map(environment.get, _VARIABLES)):
        return settings
    key = environment.get("AZURE_STORAGE_KEY") or connection.get("account_key")
    if key:
        settings["account_key"] = key
    elif connection.get("sas_key"):
        settings["sas_key"] = connection["sas_key"]
    elif connection.get("use_emulator"):
        settings["use_emulator"] = True
    elif _has_login(environment):
        settings["use_azure_cli"] = True
    for secret in ("account_key", "sas_key"):
        keep_secret(settings.get(secret))
    return settings


def _parse_connection(text: str) -> dict[str, str]:
    """Take a connection string apart. Pure: no I/O, but what is secret is registered as such.

    >>> _parse_connection("DefaultEndpointsProtocol=https;AccountName=me;AccountKey=bm9uZQ==")["account_key"]
    'bm9uZQ=='
    """
    keep_secret(text)
    found = dict(part.partition("=")[::2] for part in text.split(";") if "=" in part)
    for name in ("AccountKey", "SharedAccessSignature"):
        keep_secret(found.get(name))
    parts = {
        "account_name": found.get("AccountName", ""),
        "account_key": found.get("AccountKey", ""),
        "sas_key": found.get("SharedAccessSignature", ""),
        "endpoint": found.get("BlobEndpoint", "").rstrip("/"),
        "use_emulator": found.get("UseDevelopmentStorage", "") if found else "",
    }
    if found.get("EndpointSuffix", "core.windows.net") != "core.windows.net" and not parts["endpoint"]:
        protocol = found.get("DefaultEndpointsProtocol", "https")
        parts["endpoint"] = f"{protocol}://{parts['account_name']}.blob.{found['EndpointSuffix']}"
    return {name: value for name, value in parts.items() if value}


def _has_login(environment: Mapping[str, str]) -> bool:
    """Tell whether the user has logged in with `az`; otherwise a managed identity is asked."""
    folder = environment.get("AZURE_CONFIG_DIR") or os.path.expanduser("~/.azure")
    return os.path.exists(os.path.join(folder, "azureProfile.json")) and shutil.which("az") is not None
