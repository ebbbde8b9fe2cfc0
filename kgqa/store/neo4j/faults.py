"""What the driver and the server say, as typed errors with the address and the next step.

Belongs here: translation. Must not: importing the driver (its errors are told apart by name and
code, so that reading this costs nothing), passwords, statements, rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kgqa.errors import (
    ConflictError,
    DeniedError,
    FaultError,
    InputError,
    KGQAError,
    NotFoundError,
    UnavailableError,
)
from kgqa.store import refused
from kgqa.store.neo4j.address import Address

_Fault = tuple[tuple[str, ...], type[KGQAError], str, str, str]

_LOGIN = "set KGQA_NEO4J_USER and KGQA_NEO4J_PASSWORD"
_AGAIN = "try again when the server is ready"
_BOLT = "give the port at which the server speaks Bolt, 7687 unless it was set otherwise"
_RUNS = "see that the server runs there and that its Bolt port is open"

_CODES: tuple[_Fault, ...] = (
    (
        ("ClientError.Security.Unauthorized", "ClientError.Security.TokenExpired"),
        DeniedError, "store.denied", "refuses this user or password", _LOGIN,
    ),
    (
        ("ClientError.Security.AuthenticationRateLimit",),
        DeniedError, "store.denied", "was given a wrong password too often",
        "wait a few seconds; " + _LOGIN,
    ),
    (
        ("ClientError.Security.CredentialsExpired",),
        DeniedError, "store.denied", "wants another password than its first one",
        "set one: cypher-shell -d system \"ALTER CURRENT USER SET PASSWORD FROM '…' TO '…'\"",
    ),
    (
        ("ClientError.Security.",),
        DeniedError, "store.not_permitted", "forbids that to this user",
        "grant the user reading, writing and schema rights",
    ),
    (
        ("ClientError.Database.DatabaseNotFound",),
        NotFoundError, "store.no_database", "has no such database",
        "name one that exists: ?database=neo4j",
    ),
    (
        (
            "ClientError.Cluster.NotALeader", "TransientError.Cluster.NotALeader",
            "ClientError.General.ForbiddenOnReadOnlyDatabase",
            "TransientError.General.ForbiddenOnReadOnlyDatabase",
            "ClientError.General.WriteOnReadOnlyAccessDatabase",
        ),
        UnavailableError, "store.read_only", "takes no writes here",
        "write neo4j://, which finds the member that writes; see server.databases.read_only",
    ),
    (
        ("TransientError.General.DatabaseUnavailable", "TransientError.Database."),
        UnavailableError, "store.unreachable", "is starting or stopping", _AGAIN,
    ),
    (
        ("TransientError.Transaction.", "ClientError.Transaction.LockClientStopped",
         "ClientError.Transaction.LockAcquisitionTimeout"),
        UnavailableError, "store.locked", "is being written by another writer",
        "retry when it is done",
    ),
    (
        ("ClientError.Transaction.TransactionTimedOut",),
        UnavailableError, "store.timeout", "took too long and gave up; nothing was written",
        "ask for less at once, or try again when the server has less to do",
    ),
    (
        ("ClientError.Transaction.Terminated",),
        UnavailableError, "store.locked", "stopped the transaction, or is being written",
        "retry when the other writer is done",
    ),
    (
        ("TransientError.General.MemoryPoolOutOfMemoryError",
         "TransientError.General.OutOfMemoryError"),
        UnavailableError, "store.out_of_memory", "has too little memory for one transaction",
        "write smaller batches, or raise db.memory.transaction.max and the heap",
    ),
    (
        ("ClientError.Schema.ConstraintValidationFailed",),
        ConflictError, "store.conflict", "holds a row of that name already",
        "another tool may write to this base: run kgqa verify",
    ),
    (
        ("ClientError.Schema.", "DatabaseError.Schema."),
        FaultError, "store.schema", "cannot make an index or a constraint",
        "rows may stand twice: run kgqa verify",
    ),
    (("TransientError.",), UnavailableError, "store.unreachable", "cannot do it now", _AGAIN),
)  # fmt: skip
"""By the beginning of the server's code after ``Neo.``; the first that fits."""

_TEXTS: tuple[_Fault, ...] = (
    (
        ("looks like HTTP",), UnavailableError, "store.unreachable", "is no port of Bolt", _BOLT,
    ),
    (
        ("DNS resolve",), UnavailableError, "store.unreachable", "has a host that nobody knows",
        "check the name of the host",
    ),
    (
        ("SSL",), UnavailableError, "store.unreachable", "does not speak TLS as asked",
        "write neo4j:// for a server without TLS, neo4j+ssc:// for a certificate of its own",
    ),
)  # fmt: skip
"""By what the driver says when it cannot connect, where only the text tells why."""

_CLASSES: tuple[_Fault, ...] = (
    (
        ("ConnectionAcquisitionTimeoutError", "ConnectionPoolError"),
        UnavailableError, "store.busy", "has no connection free for another thread",
        "ask with fewer threads at once",
    ),
    (
        ("WriteServiceUnavailable",),
        UnavailableError, "store.read_only", "has no member that writes now", _AGAIN,
    ),
    (
        ("ServiceUnavailable", "SessionExpired"),
        UnavailableError, "store.unreachable", "does not answer", _RUNS,
    ),
    (
        ("UnsupportedServerProduct", "BoltHandshakeError", "BoltProtocolError"),
        UnavailableError, "store.unreachable", "is no port of Bolt", _BOLT,
    ),
    (
        ("ConfigurationError",),
        InputError, "store.bad_url", "cannot be reached this way",
        "write neo4j://HOST:PORT/BASE",
    ),
    (("OSError",), UnavailableError, "store.unreachable", "cannot be reached", _RUNS),
)  # fmt: skip
"""By the name of the error's class or of one that it extends; the first that fits."""


def typed(exc: BaseException, address: Address) -> KGQAError | None:
    """Return the typed error for one of the driver's or Python's; None if it is neither."""
    names = [kind.__name__ for kind in type(exc).__mro__]
    if isinstance(exc, KGQAError):
        return exc
    if (of_value := refused.typed(exc)) is not None:
        return of_value
    code = (getattr(exc, "code", None) or "") if "Neo4jError" in names else ""
    for beginnings, kind, ours, says, hint in _CODES:
        if code.removeprefix("Neo.").startswith(beginnings):
            return kind(f"'{address}' {says}", code=ours, hint=hint)
    if "ServiceUnavailable" in names:
        for texts, kind, ours, says, hint in _TEXTS:
            if texts[0] in str(exc):
                return kind(f"'{address}' {says}", code=ours, hint=hint)
    for classes, kind, ours, says, hint in _CLASSES:
        if any(one in names for one in classes):
            return kind(f"'{address}' {says}", code=ours, hint=hint)
    if "DriverError" in names or "Neo4jError" in names:
        # The message may hold a statement or a row, hence only the code.
        return FaultError(
            f"'{address}' refuses a statement: {code or type(exc).__name__}",
            code="store.io", hint="run kgqa verify; report it if that finds nothing",
        )  # fmt: skip
    return None


def passes(exc: BaseException) -> bool:
    """Tell whether the same work may succeed a little later, after one of the driver's errors."""
    # The server calls this one transient, but what is too large stays so.
    if "OutOfMemory" in str(getattr(exc, "code", "")):
        return False
    retryable = getattr(exc, "is_retryable", None)
    return bool(retryable and retryable())


@contextmanager
def translated(address: Address) -> Iterator[None]:
    """Raise typed errors in place of the driver's."""
    try:
        yield
    except KGQAError:
        raise
    except Exception as exc:
        found = typed(exc, address)
        if found is None:
            raise
        raise found from exc
