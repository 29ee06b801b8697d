"""The list of TensorFlow's names is TensorFlow's."""

from __future__ import annotations

from tests.oracle.support.tensorflow_names import TARGET, render
from tests.support.rules import tf_rule


@tf_rule("6 names")
def test_list_of_names_is_current():
    assert TARGET.read_text("utf-8") == render()
