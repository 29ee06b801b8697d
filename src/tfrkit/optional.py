"""The one door for optional packages: import them late, and say what is missing and how to get it."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from tfrkit.errors import MissingExtraError

__all__ = ["lazy", "require"]

# Import name of each optional package -> (name to install, the extra that brings it; empty if none does).
_EXTRAS: dict[str, tuple[str, str]] = {
    "PIL.Image": ("pillow", "images"),
    "PIL.ImageFile": ("pillow", "images"),
    "array_record.python.array_record_module": ("array_record", "array_record"),
    "boto3": ("boto3", ""),
    "datasets": ("datasets", "datasets"),
    "duckdb": ("duckdb", "sql"),
    "fsspec": ("fsspec", "remote"),
    "google.auth": ("google-auth", ""),
    "grain": ("grain", "grain"),
    "jax": ("jax", "jax"),
    "keras": ("keras", "keras"),
    "ml_dtypes": ("ml_dtypes", "bfloat16"),
    "obstore": ("obstore", "remote"),
    "obstore.auth.boto3": ("obstore", "remote"),
    "obstore.auth.google": ("obstore", "remote"),
    "obstore.exceptions": ("obstore", "remote"),
    "obstore.store": ("obstore", "remote"),
    "pandas": ("pandas", ""),
    "polars": ("polars", "polars"),
    "polars.io.plugins": ("polars", "polars"),
    "pyarrow": ("pyarrow", "arrow"),
    "pyarrow.compute": ("pyarrow", "arrow"),
    "pyarrow.csv": ("pyarrow", "arrow"),
    "pyarrow.dataset": ("pyarrow", "arrow"),
    "pyarrow.fs": ("pyarrow", "arrow"),
    "pyarrow.feather": ("pyarrow", "arrow"),
    "pyarrow.ipc": ("pyarrow", "arrow"),
    "pyarrow.json": ("pyarrow", "arrow"),
    "pyarrow.parquet": ("pyarrow", "arrow"),
    "ray": ("ray[data]", "ray"),
    "ray.data": ("ray[data]", "ray"),
    "ray.data.block": ("ray[data]", "ray"),
    "ray.util.scheduling_strategies": ("ray[data]", "ray"),
    "pyspark": ("pyspark", "spark"),
    "pyspark.cloudpickle": ("pyspark", "spark"),
    "pyspark.errors": ("pyspark", "spark"),
    "pyspark.sql": ("pyspark", "spark"),
    "pyspark.sql.datasource": ("pyspark", "spark"),
    "pyspark.sql.functions": ("pyspark", "spark"),
    "pyspark.sql.pandas.types": ("pyspark", "spark"),
    "pyspark.sql.types": ("pyspark", "spark"),
    "re2": ("google-re2", "regex"),
    "simplejpeg": ("simplejpeg", "images"),
    "starlette.applications": ("starlette", "view"),
    "starlette.responses": ("starlette", "view"),
    "starlette.routing": ("starlette", "view"),
    "torch": ("torch", "torch"),
    "torch.distributed": ("torch", "torch"),
    "torch.utils.data": ("torch", "torch"),
    "uvicorn": ("uvicorn", "view"),
    "zstandard": ("zstandard", "zstd"),
}


def require(module: str, feature: str) -> ModuleType:
    """Import an optional package, or raise an error that names the command to install it.

    Args:
        module: import name, one of those known here.
        feature: what the user asked for, to begin the message with.

    Raises:
        MissingExtraError: the package is not installed.
    """
    package, extra = _EXTRAS[module]
    try:
        # Its package first: while another thread imports that, the module is there, but the package is not whole.
        importlib.import_module(module.partition(".")[0])
        return importlib.import_module(module)
    except ImportError as error:
        wanted = f"'tfrkit[{extra}]'" if extra else package
        raise MissingExtraError(
            f"{feature} needs the package {package}, which is not installed. Install it with: pip install {wanted}"
        ) from error


class _Lazy:
    """Stands for an optional package, which is imported when one of its names is used."""

    def __init__(self, module: str, feature: str) -> None:
        self._module, self._feature = module, feature

    def __getattr__(self, name: str) -> Any:
        return getattr(require(self._module, self._feature), name)


def lazy(module: str, feature: str) -> Any:
    """Return an optional package that `require` imports when one of its names is used."""
    return _Lazy(module, feature)
