"""The marker that ties a test to the statement about TensorFlow which it checks.

The statements themselves are data, in `tests/oracle/rules/rules_<section>.py`; `tests/support/rule_table.py` brings
the two together.
"""

from __future__ import annotations

import pytest


def tf_rule(rule_id: str) -> pytest.MarkDecorator:
    """Mark a test, or one `pytest.param` of it, as the check of a statement about TensorFlow.

    The argument is written out as a string literal: the compatibility table is made from the source text,
    without importing the tests. A test may carry several marks, and several tests may carry the same one.

    Args:
        rule_id: A key of one of the `SECTION_*` dicts, such as ``"1.2 truncated header"``.
    """
    return pytest.mark.tf_rule(rule_id)
