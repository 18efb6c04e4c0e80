"""What surrounds a job's calls."""

import pytest

from voirdire.errors import UserError
from voirdire.study.calling import load_environment


def test_an_env_file_that_is_no_text_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_bytes(b"CROW_KEY=\xff\xfe\n")
    with pytest.raises(UserError, match=r"^\.env: can't be read .*UTF-8 text"):
        load_environment()
