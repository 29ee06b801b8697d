"""The suite over every compression that tfrkit has."""

from __future__ import annotations

import pytest

from tests.codecs.support.suite import CodecSuite
from tfrkit.codecs.table import record_codecs


class TestBuiltIn(CodecSuite):
    @pytest.fixture(params=record_codecs(), ids=lambda codec: codec.name or "none")
    def codec(self, request):
        return request.param
