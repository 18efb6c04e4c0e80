"""The `voirdire` command as a whole."""

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import voirdire
from voirdire import cli
from voirdire.errors import UserError

HEAVY = ("numpy", "pandas", "pyarrow", "scipy", "matplotlib", "pydantic", "yaml", "litellm", "snakemake", "jinja2")


def python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def modules():
    return {name: importlib.import_module(f"voirdire.cli.{name.replace('-', '_')}") for name in cli.VERBS}


def test_help_loads_nothing_heavy():
    loaded = f"print([name for name in {HEAVY} if name in sys.modules])"
    code = f"import sys; from voirdire import cli\ntry: cli.main(['--help'])\nexcept SystemExit: {loaded}"
    assert python(code) == "[]"


def test_help_takes_a_third_of_a_second_at_most():
    # Processor time, which other processes don't stretch.
    took = "print(time.process_time())"
    code = f"import time; from voirdire import cli\ntry: cli.main(['--help'])\nexcept SystemExit: {took}"
    assert float(python(code)) < 0.3


def test_help_lists_every_verb_with_its_summary(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    for name, module in modules().items():
        assert f"{name} {module.__doc__.splitlines()[0]}" in shown


@pytest.mark.parametrize("name", cli.VERBS)
def test_every_verb_has_a_page_with_examples_that_parse(name, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main([name, "--help"])
    assert ended.value.code == 0
    page = capsys.readouterr().out
    examples = re.findall(rf"^  voirdire ({name} .*)$", page.partition("Examples:")[2], re.MULTILINE)
    assert examples
    for example in examples:
        assert cli.parser().parse_args(example.split()).run is modules()[name].run


@pytest.mark.parametrize("name", cli.VERBS)
def test_pages_fit_into_a_terminal(name):
    assert max(map(len, modules()[name].__doc__.splitlines())) < 80


def test_the_version_is_the_librarys(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"voirdire {voirdire.__version__}\n"


@pytest.mark.parametrize(
    "arguments", [[], ["adjudicate"], ["retry"], ["retry", "--stat", "ok"], ["estimate", "--cores", "x"]]
)
def test_wrong_usage_ends_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: voirdire")


@pytest.fixture
def verb(monkeypatch):
    """Makes `voirdire retry --status x` do something else."""

    def replace(run):
        monkeypatch.setattr(importlib.import_module("voirdire.cli.retry"), "run", run)
        return cli.main(["retry", "--status", "x"])

    return replace


def test_faults_are_said_without_a_traceback(verb, capsys):
    def run(args):
        raise UserError(["a.yaml: seed: is missing", "a.yaml: study: is missing"])

    assert verb(run) == 1
    assert capsys.readouterr() == ("", "error: a.yaml: seed: is missing\nerror: a.yaml: study: is missing\n")


def test_a_verbs_exit_code_is_passed_on(verb):
    assert verb(lambda args: 3) == 3


def test_an_interrupted_verb_ends_with_130(verb):
    def run(args):
        raise KeyboardInterrupt

    assert verb(run) == 130


def test_a_reader_that_leaves_early_is_no_fault():
    code = (
        "import sys; from voirdire import cli\n"
        "import voirdire.cli.retry as verb\n"
        "verb.run = lambda args: print('line\\n' * 100_000) or 0\n"
        "sys.exit(cli.main(['retry', '--status', 'ok']))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "line\n"
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() == 0


def test_the_module_is_the_command():
    done = subprocess.run([sys.executable, "-m", "voirdire", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"voirdire {voirdire.__version__}\n"


def test_the_installed_command_is_this_one():
    pyproject = Path(__file__).resolve().parents[2] / "pyproject.toml"
    module, _, name = tomllib.loads(pyproject.read_text())["project"]["scripts"]["voirdire"].partition(":")
    assert getattr(importlib.import_module(module), name) is cli.main
