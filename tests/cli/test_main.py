"""The frame of the command line: help, errors, exit codes, pipes, terminals."""

from __future__ import annotations

import gzip
import importlib.util
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import tfrkit as tfr
from tfrkit.cli import main as frame
from tfrkit.cli.console import CommandError, explain, to_json
from tfrkit.errors import AlreadyExistsError

TFR = [sys.executable, "-m", "tfrkit"]
NAMES = [name for name, module in frame.COMMANDS.items() if importlib.util.find_spec(module)]


def environment(**changes):
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TFR_DEBUG")}
    return {**kept, "TERM": "xterm", **changes}


# -- help and usage ----------------------------------------------------------------------------------------------------


def test_help_lists_the_commands_in_order(command):
    done = command("--help")
    assert done.code == 0
    listed = re.findall(r"^  (\w+)  ", done.out.split("Commands:")[1], re.MULTILINE)
    assert listed == NAMES
    assert "..." not in done.out.split("Commands:")[1]  # first sentences fit into 80 columns
    assert command("-h").out == done.out


def test_without_arguments_there_is_the_help(command):
    done = command()
    assert (done.code, done.err) == (0, "")
    assert done.out.strip() == command("--help").out.strip()


@pytest.mark.parametrize("name", NAMES)
def test_help_of_every_command_has_an_example(command, name):
    done = command(name, "--help")
    assert done.code == 0
    assert f"Example: tfr {name} " in " ".join(done.out.split()) + " "
    assert "completion" not in done.out


def test_version_is_printed(command):
    done = command("--version")
    assert done.code == 0
    assert re.fullmatch(r"tfrkit \d+\.\d+.*\n", done.out)


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (
            ["cuont"],
            "there is no command 'cuont'",
            "did you mean `tfr count`? `tfr --help` lists all commands.",
        ),
        (["build", "imges"], "`tfr build` has no command 'imges'", "did you mean `tfr build images`?"),
        (
            ["export", "parqet", "x", "y"],
            "no such command 'parqet'. Did you mean 'parquet'?",
            "`tfr export --help`",
        ),
        (["xyzzy"], "there is no command 'xyzzy'", "`tfr --help` lists all commands."),
        (["count"], "missing argument 'PATH'", "`tfr count --help` shows how it is used."),
        (["count", "--nope", "x"], "no such option: --nope", "`tfr count --help` shows how it is used."),
        (
            ["head", "-n", "-3", "x"],
            "Expected a whole number of at least 0 for count (--count) but got -3.",
            "`tfr head",
        ),
        (
            ["head", "-n", "many", "x"],
            "Expected a whole number of at least 0 for count (--count) but got 'many'.",
            "`tfr head",
        ),
        (["--nope"], "no such option: --nope", "`tfr --help` shows how it is used."),
    ],
)
def test_bad_usage_has_the_form_of_all_errors(command, arguments, message, hint):
    done = command(*arguments)
    assert (done.code, done.out) == (2, "")
    first, blank, last = done.err.splitlines()
    assert first.startswith(f"error: {message}")
    assert blank == ""
    assert last.startswith(f"hint: {hint}")


def test_a_file_in_the_place_of_a_command_is_told_how_to_look_into_it(command, words):
    assert "hint: `tfr head words.tfrecord` shows what is in it" in command("words.tfrecord").err


# -- errors ------------------------------------------------------------------------------------------------------------


def test_errors_have_no_traceback_unless_wanted(command, words, monkeypatch):
    os.truncate("words.tfrecord", 100)
    for arguments in (["-v", "cat"], ["--verbose", "cat"]):
        done = command(*arguments, "words.tfrecord")
        assert done.err.startswith("Traceback")
        assert "\nerror: truncated record at " in done.err
    assert command("cat", "words.tfrecord").err.startswith("error: truncated record at ")
    monkeypatch.setenv("TFR_DEBUG", "1")
    assert command("cat", "words.tfrecord").err.startswith("Traceback")


def test_errors_without_advice_have_no_hint():
    assert explain(ValueError("expected more")) == "error: expected more\n"
    assert explain(KeyError()) == "error: KeyError\n"
    assert explain(CommandError("a", "b")) == "error: a\n\nhint: b\n"


def test_errors_name_options_as_the_command_line_has_them():
    text = 'It differs. Pass overwrite=True (--overwrite) or on_bad="skip" (--on-bad skip), or on_corrupt="skip".'
    assert explain(ValueError(text)) == (
        "error: It differs. Pass --overwrite or --on-bad skip, or --on-corrupt skip.\n"
    )


def test_advice_in_a_message_is_the_hint():
    text = "a; there are 4 shards already. Choose another folder, or pass overwrite=True (--overwrite)."
    assert explain(AlreadyExistsError(text)) == (
        "error: a; there are 4 shards already.\n\nhint: choose another folder, or pass --overwrite.\n"
    )


def test_json_says_names_that_are_no_utf8():
    assert to_json({"名": "é"}) == '{"名": "é"}'
    assert to_json({"a": "caf\udce9"}) == '{"a": "caf\\udce9"}'


# -- processes ---------------------------------------------------------------------------------------------------------


def test_a_closed_pipe_ends_quietly(folder):
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_batch({"n": range(20_000)})
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"{sys.executable} -m tfrkit cat a.tfrecord --json | head -1; echo ${{PIPESTATUS[0]}}",
        ],
        capture_output=True,
        text=True,
    )
    assert done.stdout == '{"file": "a.tfrecord", "record": 0, "bytes": 14, "features": {"n": [0]}}\n0\n'
    assert done.stderr == ""


def test_a_pipe_is_read(words):
    done = subprocess.run(
        ["bash", "-c", f"gzip -c words.tfrecord | {sys.executable} -m tfrkit head - -n 1 --key number"],
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("record 0 of <stdin>, 37 bytes\n  number  int64  0\n", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device here")
def test_a_full_disk_is_an_error(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*TFR, "count", "words.tfrecord"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr == "error: [Errno 28] No space left on device\n"


def test_ctrl_c_ends_with_130(folder):
    reading, writing = os.pipe()
    with subprocess.Popen(
        [*TFR, "-v", "verify", "-"], stdin=reading, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(reading)
        os.write(writing, b"x" * 65536)  # more than the pipe holds beside it: the command has begun to read
        os.write(writing, b"x" * 65536)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr is not None
        assert process.stderr.read() == "\ninterrupted\n"
    os.close(writing)


def test_names_of_any_bytes_are_printed_as_they_are(words):
    name = os.fsdecode(b"caf\xe9.tfrecord")
    os.rename("words.tfrecord", name)
    os.symlink(name, "b.tfrecord")
    done = subprocess.run([*TFR, "count", name, "b.tfrecord"], capture_output=True)
    assert b"5  caf\xe9.tfrecord\n" in done.stdout


def test_other_encodings_take_what_they_can(folder):
    with tfr.TFRecordWriter("a.tfrecord") as writer:
        writer.write_example({"名": "é"})
    done = subprocess.run(
        [*TFR, "head", "a.tfrecord"], capture_output=True, env=environment(PYTHONIOENCODING="latin-1")
    )
    assert done.stderr == b""
    assert b"\\u540d  bytes  '\xe9'\n" in done.stdout


def on_terminal(arguments, **changes):
    """What a command writes to a terminal."""
    parent, child = pty.openpty()
    with subprocess.Popen(
        [*TFR, *arguments], stdout=child, stderr=child, env=environment(**changes)
    ) as process:
        os.close(child)
        written = b""
        try:
            while data := os.read(parent, 65536):
                written += data
        except OSError:  # the other end is closed
            pass
    os.close(parent)
    assert process.returncode == 0, written
    return written.decode().replace("\r\n", "\n")


def test_a_terminal_has_colours_and_no_color_has_none(words):
    coloured = on_terminal(["head", "words.tfrecord", "-n", "1"])
    assert "\x1b[36mname  \x1b[0m  bytes  'zero'\n" in coloured
    plain = on_terminal(["head", "words.tfrecord", "-n", "1"], NO_COLOR="1")
    assert plain == re.sub(r"\x1b\[\d*m", "", coloured)


def test_a_terminal_has_a_table_with_lines_and_a_bar(words):
    written = on_terminal(["count", "words.tfrecord", "words.tfrecord"])
    assert "─" in written
    assert "total" in written
    assert "words.tfrecord: 5 records" in on_terminal(["verify", "words.tfrecord"])


def test_the_shell_is_told_commands_and_options():
    def complete(line):
        words = line.split(" ")
        changes = {
            "_TFR_COMPLETE": "complete_bash",
            "COMP_WORDS": line.replace(" ", "\n"),
            "COMP_CWORD": str(len(words) - 1),
        }
        done = subprocess.run(TFR, capture_output=True, text=True, env=environment(**changes))
        return done.stdout.split()

    assert complete("tfr co") == ["count", "compress"][: 1 + ("compress" in NAMES)]
    assert complete("tfr count --ex") == ["--exact"]
    assert complete("tfr head words") == []  # nothing, so that the shell completes files


def test_only_damage_of_records_is_for_verify_and_repair(command, folder):
    Path("in.csv.gz").write_bytes(gzip.compress(b"a\n1\n2\n" * 99)[:-9])
    Path("in.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    Path("out").mkdir()
    Path("out/manifest.json").write_text("{")
    Path("good.csv").write_text("a\n1\n")
    for source, out in (("in.csv.gz", "new"), ("in.parquet", "new"), ("good.csv", "out")):
        done = command("build", "table", source, out)
        assert done.code == 1
        assert done.err.endswith(
            ("Copy the file again.\n", "or leave it out.\n", "restore it, or delete it.\n")
        )
        assert done.err.count("\n") == 1
