"""The error tree: a class per category, a dotted code per cause, a hint of what to type next.

Belongs here: categories and how surfaces translate them. Must not: messages of any one
feature, imports of anything else in kgqa.
"""

from __future__ import annotations

from typing import Any, ClassVar


class KGQAError(Exception):
    """Base of every error that kgqa raises on purpose; never raised itself.

    ``code`` is stable and dotted (``store.locked``); ``hint`` is the next thing to type;
    ``context`` holds the offending values. Surfaces branch on the class only.

    >>> str(InputError("no such month: 13", code="time.invalid", hint="write 01 to 12"))
    'no such month: 13; write 01 to 12'
    """

    exit_status: ClassVar[int] = 70
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, code: str, hint: str | None = None, **context: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.context = context

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.code, self.hint, self.context)

    def to_dict(self) -> dict[str, Any]:
        """Return the error as surfaces print it under ``--json``."""
        return {"error": self.code, "message": self.message, "hint": self.hint}


def _rebuild(
    kind: type[KGQAError], message: str, code: str, hint: str | None, context: dict[str, Any]
) -> KGQAError:
    return kind(message, code=code, hint=hint, **context)


class InputError(KGQAError, ValueError):
    """The caller's fault: a value that cannot be read or does not fit. Never retry."""

    exit_status = 2
    http_status = 400


class NotFoundError(KGQAError, LookupError):
    """What was named does not exist."""

    exit_status = 3
    http_status = 404


class ConflictError(KGQAError):
    """The same identity with other content."""

    exit_status = 4
    http_status = 409


class DeniedError(KGQAError, PermissionError):
    """The caller may not do this."""

    exit_status = 5
    http_status = 403

    # OSError.__reduce__ would win over ours in the method order of some interpreters.
    __reduce__ = KGQAError.__reduce__
    __str__ = KGQAError.__str__


class UnsupportedError(KGQAError):
    """A capability or an optional package is missing; the hint names the install command."""

    exit_status = 6
    http_status = 501


class UnavailableError(KGQAError):
    """A resource is down or busy; the same call may succeed later."""

    exit_status = 7
    http_status = 503


class FaultError(KGQAError):
    """Our bug, or a damaged store."""

    exit_status = 70
    http_status = 500
