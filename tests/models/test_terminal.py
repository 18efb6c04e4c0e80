"""Lines that are redrawn below whatever else a terminal shows."""

import io

import pytest
from screen import Terminal

from voirdire.models.terminal import Block, is_terminal

pytestmark = pytest.mark.usefixtures("watched")


@pytest.fixture
def terminal():
    with Terminal(columns=40, rows=8) as running:
        yield running


def write(terminal, text):
    terminal.stream.write(text)
    terminal.stream.flush()


def test_lines_are_drawn_below_an_empty_one_and_replaced_in_place(terminal):
    block = Block(terminal.stream)
    write(terminal, "$ run\n")
    block.draw(["a 1", "b 1", "c 1"])
    assert terminal.look() == ["$ run", "", "a 1", "b 1", "c 1"]
    block.draw(["a 2", "c"])
    assert terminal.look() == ["$ run", "", "a 2", "c"]
    block.draw([])
    assert terminal.look() == ["$ run"]
    write(terminal, "done\n")
    assert terminal.look() == ["$ run", "done"]


def test_what_others_write_is_not_lost_where_the_terminal_scrolls(terminal):
    block = Block(terminal.stream)
    for n in range(20):
        block.draw([f"a {n}", f"b {n}"])
        block.clear()
        write(terminal, f"line {n}\n")
    block.draw(["a", "b"])
    assert terminal.look() == [*(f"line {n}" for n in range(20)), "", "a", "b"]


def test_a_line_of_somebody_who_does_not_know_of_the_block_stays(terminal):
    block = Block(terminal.stream)
    block.draw(["a", "b"])
    write(terminal, "a warning\n")
    block.draw(["a", "b"])
    assert terminal.look() == ["a warning", "", "a", "b"]


def test_clearing_what_was_never_drawn_writes_nothing(terminal):
    write(terminal, "prompt> ")
    Block(terminal.stream).clear()
    assert terminal.look() == ["prompt>"]


def test_size_is_that_of_the_window_now(terminal):
    block = Block(terminal.stream)
    assert block.size == (40, 8)
    terminal.resize(132, 50)
    assert block.size == (132, 50)
    terminal.resize(0, 0)
    assert block.size == (80, 24), "as some terminals say"


def test_a_window_that_was_closed_ends_the_drawing_without_a_word(terminal):
    block = Block(terminal.stream)
    block.draw(["a"])
    terminal.hang_up()
    block.draw(["b"])
    block.clear()
    assert block.is_dead


@pytest.mark.parametrize(("name", "value"), [("CI", "true"), ("TERM", "dumb")])
def test_nobody_watches_under_ci_or_in_a_dumb_terminal(terminal, monkeypatch, name, value):
    assert is_terminal(terminal.stream)
    monkeypatch.setenv(name, value)
    assert not is_terminal(terminal.stream)


def test_files_and_replaced_streams_are_no_terminals(tmp_path):
    with open(tmp_path / "closed", "w") as closed:
        pass
    with open(tmp_path / "log", "w") as log:
        assert not any(is_terminal(stream) for stream in (log, closed, io.StringIO(), None))
