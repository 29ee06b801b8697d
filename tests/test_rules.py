"""Every statement about TensorFlow has a test, and the table in the documentation says which."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.rule_table import ROOT, read_checks, read_statements, section_of

STATEMENTS = """SECTION_1: dict[str, str] = {"1.10 late": "Later.", "1.2 early": "First."}"""


def _write(folder: Path, test: str, statements: str = STATEMENTS) -> Path:
    (folder / "oracle" / "rules").mkdir(parents=True)
    (folder / "oracle" / "rules" / "rules_1.py").write_text(statements)
    (folder / "oracle" / "test_it.py").write_text(test)
    return folder


def test_every_statement_has_a_test():
    unchecked = read_statements().keys() - read_checks().keys()
    assert not unchecked, (
        f"statements of tests/oracle/rules/rules_*.py that no test is marked with: {sorted(unchecked)}"
    )


def test_every_mark_names_a_statement():
    statements = read_statements()
    unknown = {rule: tests for rule, tests in read_checks().items() if rule not in statements}
    assert not unknown, f"marks that name no statement of tests/oracle/rules/rules_*.py: {unknown}"


def test_compatibility_table_is_current():
    run = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_statements_are_in_order_of_sections(tmp_path):
    assert list(read_statements(_write(tmp_path, ""))) == ["1.2 early", "1.10 late"]


def test_sections_of_several_files_are_in_order(tmp_path):
    folder = _write(tmp_path, "")
    (folder / "oracle" / "rules" / "rules_2.py").write_text(
        "SECTION_2_1 = {'2.1 b': 'B.'}\nSECTION_2 = {'2 a': 'A.'}"
    )
    (folder / "oracle" / "rules" / "rules_10.py").write_text("SECTION_10 = {'10 c': 'C.'}")
    assert list(read_statements(folder)) == ["1.2 early", "1.10 late", "2 a", "2.1 b", "10 c"]


def test_statement_given_twice_is_an_error(tmp_path):
    folder = _write(tmp_path, "")
    (folder / "oracle" / "rules" / "rules_2.py").write_text(STATEMENTS)
    with pytest.raises(ValueError, match=r"rules_2.py: \['1.10 late', '1.2 early'\] are stated twice"):
        read_statements(folder)


def test_section_numbers():
    assert section_of("1.10.3 words 2") == (1, 10, 3)
    assert section_of("words") == ()


@pytest.mark.parametrize(
    "test",
    [
        pytest.param("@tf_rule('1.2 early')\ndef test_a(): pass", id="decorator"),
        pytest.param("@rules.tf_rule('1.2 early')\ndef test_a(): pass", id="attribute"),
        pytest.param(
            "@pytest.mark.parametrize('x', [pytest.param(1, marks=tf_rule('1.2 early'))])\n"
            "def test_a(x): pass",
            id="case",
        ),
        pytest.param(
            "CASES = [pytest.param(1, marks=tf_rule('1.2 early'))]\n"
            "@pytest.mark.parametrize('x', CASES)\ndef test_a(x): pass",
            id="list of cases",
        ),
    ],
)
def test_mark_is_found(tmp_path, test):
    assert read_checks(_write(tmp_path, test)) == {"1.2 early": ["oracle/test_it.py::test_a"]}


def test_mark_on_a_class_holds_for_its_tests(tmp_path):
    test = "@tf_rule('1.2 early')\nclass TestIt:\n  def test_a(self): pass\n  def helper(self): pass"
    assert read_checks(_write(tmp_path, test)) == {"1.2 early": ["oracle/test_it.py::TestIt::test_a"]}


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("@tf_rule(NAME)\ndef test_a(): pass", "oracle/test_it.py:1: tf_rule takes one string literal"),
        ("@tf_rule('1.2 early')\ndef helper(): pass", "tf_rule on helper, which is not a test"),
        ("CASES = [tf_rule('1.2 early')]", "oracle/test_it.py:1: no test's decorator names CASES"),
        ("pytestmark = tf_rule('1.2 early')", "mark tests, not whole modules"),
    ],
    ids=["computed", "not a test", "unused list", "module"],
)
def test_mark_that_belongs_to_no_test_is_an_error(tmp_path, test, message):
    with pytest.raises(ValueError, match=message):
        read_checks(_write(tmp_path, test))
