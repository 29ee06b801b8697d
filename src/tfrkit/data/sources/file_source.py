"""FileSourceNode: what all sources have in common that read files, one after another.

Which elements a file has, and where one may begin in it, is the business of each source.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np

from tfrkit.cached_property import cached_property
from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, Node
from tfrkit.errors import FailedPreconditionError
from tfrkit.model.element_spec import TensorSpec
from tfrkit.model.policy import ReadPolicy
from tfrkit.stores.object_config import adopt_settings, settings_of
from tfrkit.stores.source import is_stream
from tfrkit.stores.url import display_name

__all__ = ["FileSourceNode", "NamedFilesNode"]

_STORES: Final = "stores"


@dataclass(frozen=True, eq=False)
class NamedFilesNode(Node):
    """A source of files. It pickles with what was configured for the stores that hold them.

    Attributes:
        files: paths and URLs; "-" is standard input if the policy globs.
    """

    files: tuple[str, ...] = field(metadata={"unsigned": True})  # known by their contents, see state.py

    @property
    def paths(self) -> tuple[str, ...]:
        return self.files

    def __getstate__(self) -> dict[str, Any]:
        settings = settings_of(self.files)
        return {**vars(self), **({_STORES: settings} if settings else {})}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore it; settings that this process has itself come first."""
        adopt_settings(state.pop(_STORES, {}))
        vars(self).update(state)

    def element_spec(self) -> Any:
        return TensorSpec((), np.dtype(object))


@dataclass(frozen=True, eq=False)
class FileSourceNode(NamedFilesNode):
    """Elements of files, each a `bytes`; the policy says how the files are read."""

    policy: ReadPolicy

    elements: ClassVar[str]  # what the files hold, for messages

    @cached_property
    def pure(self) -> bool:
        """Whether reading ahead goes unnoticed: not with standard input or pipes, which may make one wait."""
        return not any(map(self.flows, self.files))

    @property
    def seeks(self) -> bool:
        """Files do, pipes do not."""
        return self.pure

    def flows(self, path: str) -> bool:
        """Whether a file can only be read once, in order."""
        return (path == "-" and self.policy.globs) or is_stream(path)

    def check_start(self, file: int, offset: int) -> None:
        """Refuse to begin in the middle of a pipe.

        Raises:
            FailedPreconditionError: it would be that.
        """
        if offset and self.flows(self.files[file]):
            path = self.files[file]
            raise FailedPreconditionError(
                f"{path}; cannot resume in the middle of a pipe. Start over, or keep the {self.elements} in a file.",
                path=path,
            )

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def _shown(self) -> str:
        shown = [repr(display_name(path)) for path in self.files[:1]]
        if len(self.files) > 1:
            shown.append(f"{len(self.files) - 1} more")
        return ", ".join(shown)
