"""The error tree: categories, codes, and that an error survives a process border."""

import pickle

import pytest

from kgqa import errors
from kgqa.errors import KGQAError

CATEGORIES = {
    errors.InputError: (2, 400),
    errors.NotFoundError: (3, 404),
    errors.ConflictError: (4, 409),
    errors.DeniedError: (5, 403),
    errors.UnsupportedError: (6, 501),
    errors.UnavailableError: (7, 503),
    errors.FaultError: (70, 500),
}


@pytest.mark.parametrize("kind", CATEGORIES)
def test_statuses_are_those_of_the_design(kind: type[KGQAError]) -> None:
    assert (kind.exit_status, kind.http_status) == CATEGORIES[kind]


@pytest.mark.parametrize("kind", CATEGORIES)
def test_an_error_says_what_and_what_next_and_survives_pickling(kind: type[KGQAError]) -> None:
    error = kind("bad value 'x'", code="a.b", hint="type y", value="x")
    for one in (error, pickle.loads(pickle.dumps(error))):
        assert type(one) is kind
        assert str(one) == "bad value 'x'; type y"
        assert one.to_dict() == {"error": "a.b", "message": "bad value 'x'", "hint": "type y"}
        assert one.context == {"value": "x"}


def test_without_a_hint_the_message_stands_alone() -> None:
    assert str(errors.InputError("no", code="a.b")) == "no"
