"""The page of names is made of TensorFlow's names and of the tables."""

from __future__ import annotations

from tests.support.name_table import present, read_names, render_names


def test_names_are_read_by_module():
    names = read_names()
    assert "FixedLenFeature" in names["io"]
    assert "Session" in names["compat.v1"]
    assert "Tensor" in names["tf"]


def test_absent_names_are_not_present():
    assert "io.FixedLenFeature" in present()
    assert "Session" not in present()


def test_page_lists_what_is_here_and_what_is_missing():
    page = render_names()
    part = page.split("## tf.nest: 5 of 5\n")[1].split("##")[0]
    assert "`flatten`" in part
    assert "Missing" not in part
    assert "`GradientTape`" in page.split("## tf: ")[1].split("Missing: ")[1].split("\n")[0]
