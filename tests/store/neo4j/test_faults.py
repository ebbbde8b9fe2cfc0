"""What the driver raises, as typed errors; those that no server gives are made by hand."""

from __future__ import annotations

import pytest
from neo4j import exceptions

from kgqa.errors import (
    ConflictError,
    DeniedError,
    FaultError,
    InputError,
    KGQAError,
    NotFoundError,
    UnavailableError,
)
from kgqa.store.neo4j import faults
from kgqa.store.neo4j.address import parse

ADDRESS = parse("neo4j://me:s3cret@db/people")


def _said(code: str) -> Exception:
    return exceptions.Neo4jError._basic_hydrate(neo4j_code=code, message="MATCH (secret) said")


@pytest.mark.parametrize(
    ("code", "kind", "ours"),
    [
        ("Neo.ClientError.Security.Unauthorized", DeniedError, "store.denied"),
        ("Neo.ClientError.Security.AuthenticationRateLimit", DeniedError, "store.denied"),
        ("Neo.ClientError.Security.CredentialsExpired", DeniedError, "store.denied"),
        ("Neo.ClientError.Security.TokenExpired", DeniedError, "store.denied"),
        ("Neo.ClientError.Security.Forbidden", DeniedError, "store.not_permitted"),
        ("Neo.ClientError.Database.DatabaseNotFound", NotFoundError, "store.no_database"),
        ("Neo.ClientError.Cluster.NotALeader", UnavailableError, "store.read_only"),
        (
            "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
            UnavailableError,
            "store.read_only",
        ),
        (
            "Neo.TransientError.General.DatabaseUnavailable",
            UnavailableError,
            "store.unreachable",
        ),
        ("Neo.TransientError.Transaction.DeadlockDetected", UnavailableError, "store.locked"),
        ("Neo.TransientError.Transaction.LockClientStopped", UnavailableError, "store.locked"),
        ("Neo.TransientError.Transaction.Terminated", UnavailableError, "store.locked"),
        (
            "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration",
            UnavailableError,
            "store.timeout",
        ),
        (
            "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
            UnavailableError,
            "store.out_of_memory",
        ),
        (
            "Neo.ClientError.Schema.ConstraintValidationFailed",
            ConflictError,
            "store.conflict",
        ),
        ("Neo.TransientError.Request.NoThreadsAvailable", UnavailableError, "store.unreachable"),
        ("Neo.ClientError.Statement.SyntaxError", FaultError, "store.io"),
        ("Neo.DatabaseError.General.UnknownError", FaultError, "store.io"),
    ],
)
def test_what_the_server_says(code: str, kind: type[KGQAError], ours: str) -> None:
    found = faults.typed(_said(code), ADDRESS)
    assert type(found) is kind
    assert found.code == ours
    assert found.hint
    assert "'neo4j://db:7687/people'" in found.message
    assert "secret" not in str(found)
    assert "MATCH" not in str(found)


@pytest.mark.parametrize(
    ("exc", "kind", "ours"),
    [
        (exceptions.ServiceUnavailable("Connection refused"), UnavailableError, "unreachable"),
        (
            exceptions.ServiceUnavailable("Failed to DNS resolve address x"),
            UnavailableError,
            "unreachable",
        ),
        (exceptions.SessionExpired("gone"), UnavailableError, "unreachable"),
        (exceptions.IncompleteCommit("lost"), UnavailableError, "unreachable"),
        (exceptions.WriteServiceUnavailable("none"), UnavailableError, "read_only"),
        (exceptions.ConnectionAcquisitionTimeoutError("full"), UnavailableError, "busy"),
        (exceptions.ConfigurationError("no"), InputError, "bad_url"),
        (exceptions.ResultConsumedError(None, "bug"), FaultError, "io"),
        (ConnectionResetError(104, "reset"), UnavailableError, "unreachable"),
        (OverflowError("big"), InputError, "number_range"),
        (UnicodeEncodeError("utf-8", "a\ud800", 1, 2, "no"), InputError, "bad_text"),
        (ConflictError("mine", code="store.conflict"), ConflictError, "conflict"),
    ],
)
def test_what_the_driver_and_python_raise(exc: Exception, kind: type[KGQAError], ours: str) -> None:
    found = faults.typed(exc, ADDRESS)
    assert type(found) is kind
    assert found.code == f"store.{ours}"
    assert "s3cret" not in str(found)


def test_only_the_text_tells_why_a_server_cannot_be_reached() -> None:
    unknown = faults.typed(exceptions.ServiceUnavailable("Failed to DNS resolve x"), ADDRESS)
    tls = faults.typed(exceptions.ServiceUnavailable("[SSLEOFError] failed"), ADDRESS)
    assert unknown is not None
    assert unknown.hint == "check the name of the host"
    assert tls is not None
    assert "neo4j+ssc://" in str(tls.hint)


def test_other_errors_pass_as_they_are() -> None:
    with pytest.raises(ZeroDivisionError), faults.translated(ADDRESS):
        _ = 1 / 0
    with pytest.raises(ConflictError), faults.translated(ADDRESS):
        raise ConflictError("mine", code="store.conflict")
    with pytest.raises(InputError) as caught, faults.translated(ADDRESS):
        "\ud800".encode()
    assert caught.value.code == "store.bad_text"


def test_what_may_pass() -> None:
    transient = "Neo.TransientError."
    assert faults.passes(_said(transient + "Transaction.DeadlockDetected"))
    assert faults.passes(exceptions.ServiceUnavailable("gone"))
    # The server says that it may pass, but what is too large stays too large.
    assert not faults.passes(_said(transient + "General.MemoryPoolOutOfMemoryError"))
    assert not faults.passes(_said("Neo.ClientError.Statement.SyntaxError"))
    assert not faults.passes(ConflictError("mine", code="store.conflict"))
