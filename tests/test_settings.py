"""Settings: read once from the environment, typed errors that name the variable."""

import pytest

from kgqa import settings
from kgqa.errors import InputError


def test_defaults_and_values() -> None:
    assert settings.read({}).embedder == "minilm"
    read = settings.read({"KGQA_EMBEDDER": "ollama:x", "KGQA_LOCK_TIMEOUT": "0.5", "HOME": "/"})
    assert (read.embedder, read.lock_timeout) == ("ollama:x", 0.5)


@pytest.mark.parametrize("value", ["soon", "-1", "nan", "inf", "1e12"])
def test_a_bad_value_names_the_variable(value: str) -> None:
    with pytest.raises(InputError, match="KGQA_LOCK_TIMEOUT") as caught:
        settings.read({"KGQA_LOCK_TIMEOUT": value})
    assert caught.value.code == "settings.invalid"


def test_an_empty_variable_is_unset() -> None:
    assert settings.read({"KGQA_EMBEDDER": ""}).embedder == "minilm"


def test_a_password_is_shown_nowhere() -> None:
    read = settings.read({"KGQA_NEO4J_PASSWORD": "s3cret", "KGQA_NEO4J_USER": "me"})
    assert (read.neo4j_user, read.neo4j_password.get_secret_value()) == ("me", "s3cret")
    assert "s3cret" not in f"{read} {read!r} {read.model_dump_json()}"
