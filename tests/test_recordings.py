"""What the documentation shows of the terminal is what the commands print."""

from __future__ import annotations

import pytest

from tests.support.pages import PAGES, WITH_RECORDINGS, Block, page_name
from tests.support.recordings import Recording, fits, play, recordings_of, renew


@pytest.mark.parametrize("page", WITH_RECORDINGS, ids=page_name)
def test_recordings_of_page_are_what_is_printed(page, tmp_path):
    for recording, printed in play(page.read_text("utf-8"), page_name(page), tmp_path):
        if not fits(printed, recording.output):
            where = f"{page_name(page)}, line {recording.line}: $ {recording.command}"
            assert printed.splitlines() == recording.output, where


def test_every_page_that_shows_a_command_is_run():
    shown = {page for page in PAGES if "\n$ tfr " in page.read_text("utf-8")}
    assert shown <= set(WITH_RECORDINGS), "fence them as ```console"


def test_a_block_is_cut_into_commands_and_outputs():
    block = Block("console", "$ echo a\na\n\n$ echo b \\\n> c\nb c\n$ true\n", 7)
    assert recordings_of(block) == [
        Recording("echo a", ["a"], 7),
        Recording("echo b \\\nc", ["b c"], 10),
        Recording("true", [], 13),
    ]


def test_output_without_command_is_refused():
    with pytest.raises(ValueError, match="line 3: a recording begins with"):
        recordings_of(Block("console", "a\n", 3))


@pytest.mark.parametrize(
    ("printed", "recorded"),
    [
        ("", []),
        ("a\n", ["a"]),
        ("a  \nb", ["a", "b"]),
        ("took 3.1 s\n", ["took ... s"]),
        ("a\nb\nc\n", ["a", "...", "c"]),
        ("a\nc\n", ["a", "...", "c"]),
        ("a\nb\n", ["..."]),
        ("\nx\n", ["", "x"]),
    ],
)
def test_outputs_that_fit(printed, recorded):
    assert fits(printed, recorded)


@pytest.mark.parametrize(
    ("printed", "recorded"),
    [("a\n", []), ("", ["a"]), ("a\nb\n", ["a"]), ("a.c\n", ["abc"]), ("a\n", ["a", "...", "c"])],
)
def test_outputs_that_do_not_fit(printed, recorded):
    assert not fits(printed, recorded)


def test_a_page_is_written_anew_where_it_does_not_fit():
    text = (
        "# A\n```python\nimport pathlib\npathlib.Path('x').write_text('one\\ntwo\\n')\n```\n"
        "```console\n$ cat x\nold\n$ echo 12 s\n... s\n$ cat nothing\n```\nend\n"
    )
    assert renew(text, "a.md") == (
        "# A\n```python\nimport pathlib\npathlib.Path('x').write_text('one\\ntwo\\n')\n```\n"
        "```console\n$ cat x\none\ntwo\n$ echo 12 s\n... s\n"
        "$ cat nothing\ncat: nothing: No such file or directory\n```\nend\n"
    )
