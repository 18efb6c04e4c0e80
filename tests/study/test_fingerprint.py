"""The fingerprint follows the code that a step uses, and nothing else."""

import shutil

import pytest

from voirdire.study.fingerprint import fingerprint


@pytest.fixture
def library(tmp_path):
    """A small library called voirdire: a step that imports a module, beside one that it doesn't."""
    root = tmp_path / "voirdire"
    files = {
        "__init__.py": "",
        "steps/__init__.py": "",
        "steps/rates.py": "import numpy\nfrom voirdire.stats.wilson import wilson\nfrom voirdire import errors\n",
        "stats/__init__.py": "from voirdire.stats.other import other\n",
        "stats/wilson.py": "def wilson():\n    from voirdire.stats.deep import deep\n    return deep\n",
        "stats/deep.py": "deep = 1\n",
        "stats/other.py": "other = 1\n",
        "errors.py": "text = 'x'\n",
        "report/__init__.py": "",
        "report/page.py": "page = 1\n",
        "report/templates/page.html": "<p>",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def changed(library, name, text, module="voirdire.steps.rates"):
    """The fingerprint of the step in a copy of the library in which one file is other."""
    copy = library.parent / "copy" / "voirdire"
    shutil.copytree(library, copy)
    (copy / name).write_text(text)
    return fingerprint(module, copy)


def test_equal_code_has_equal_fingerprints(library):
    before = fingerprint("voirdire.steps.rates", library)
    assert changed(library, "errors.py", "text = 'x'\n") == before
    assert len(before) == 16


@pytest.mark.parametrize("name", ["steps/rates.py", "stats/wilson.py", "stats/deep.py", "errors.py"])
def test_it_changes_with_the_step_and_all_that_it_imports(library, name):
    text = (library / name).read_text() + "\nadded = 1\n"
    assert changed(library, name, text) != fingerprint("voirdire.steps.rates", library)


@pytest.mark.parametrize("name", ["stats/other.py", "stats/__init__.py", "report/page.py"])
def test_modules_beside_the_imported_ones_do_not_count(library, name):
    assert changed(library, name, "added = 1\n") == fingerprint("voirdire.steps.rates", library)


def test_comments_layout_and_docstrings_do_not_count(library):
    same = """'A docstring.'
# a remark
def wilson():
    'Another.'

    from voirdire.stats.deep import deep
    return deep
"""
    assert changed(library, "stats/wilson.py", same) == fingerprint("voirdire.steps.rates", library)


def test_templates_belong_to_their_packages_code(library):
    before = fingerprint("voirdire.report.page", library)
    assert changed(library, "report/templates/page.html", "<b>", "voirdire.report.page") != before
