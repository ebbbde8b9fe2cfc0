"""The one module that imports the Ollama client: connecting, and its exceptions as ours.

Belongs here: what every adapter to an Ollama server shares. Must not: embedding, chatting,
prompts, pulling models.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kgqa.errors import (
    DeniedError,
    FaultError,
    InputError,
    KGQAError,
    NotFoundError,
    UnavailableError,
    UnsupportedError,
)  # fmt: skip

if TYPE_CHECKING:
    from ollama import Client, ResponseError

LOCAL_HOST = "http://127.0.0.1:11434"
CONNECT_SECONDS = 5.0


def connect(host: str, timeout: float) -> Client:
    """Return a client of one server; nothing is sent yet.

    ``timeout`` is in seconds and bounds every silence of the server, not the whole call.
    Proxies of the environment and redirects are ignored: only ``host`` is ever spoken to.
    Raises InputError (``ollama.host``) if the address cannot be read.
    """
    import httpx
    from ollama import Client

    limits = httpx.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
    try:
        return Client(host, timeout=limits, trust_env=False, follow_redirects=False)
    except (ValueError, httpx.InvalidURL) as error:
        raise InputError(
            f"no server address: {host!r}", code="ollama.host", hint=f"write it as {LOCAL_HOST}"
        ) from error


@contextmanager
def translated(host: str, model: str) -> Iterator[None]:
    """Turn what the client raises inside the block into errors of kgqa.

    Put nothing but calls of the client into the block: a TypeError there counts as a
    malformed answer, because that is what the client makes of one.
    """
    import httpx
    from ollama import ResponseError

    try:
        yield
    except ResponseError as error:
        raise _refusal(error, host, model) from error
    except httpx.TimeoutException as error:
        raise UnavailableError(
            f"ollama at {host!r} did not answer in time", code="ollama.timeout",
            hint="try again, or raise the timeout",
        ) from error  # fmt: skip
    except (OSError, httpx.TransportError) as error:
        raise UnavailableError(
            f"no ollama server answers at {host!r}", code="ollama.unreachable",
            hint="start it: ollama serve",
        ) from error  # fmt: skip
    except (ValueError, TypeError, AttributeError, httpx.HTTPError) as error:
        raise UnavailableError(
            f"what answers at {host!r} does not speak as ollama does", code="ollama.malformed",
            hint="check the address; ollama serve starts a server",
        ) from error  # fmt: skip


def not_pulled(host: str, model: str) -> NotFoundError:
    """Say that a server lacks a model, and how to fetch it."""
    return NotFoundError(
        f"ollama at {host!r} has no model {model!r}",
        code="model.not_found",
        hint=f"ollama pull {model}",
    )


def _refusal(error: ResponseError, host: str, model: str) -> KGQAError:
    status, text = error.status_code, error.error.strip()
    said = text.casefold()
    if "model" in said and ("not found" in said or "is required" in said):
        return not_pulled(host, model)
    if "context length" in said:
        return InputError(
            f"text too long for model {model!r}", code="model.too_long",
            hint="split it into shorter pieces",
        )  # fmt: skip
    if "does not support" in said:
        return UnsupportedError(
            f"ollama: {text}", code="model.capability", hint="name a model that does"
        )
    if status in (401, 403):
        return DeniedError(
            f"ollama at {host!r} refused the call with status {status}", code="ollama.denied"
        )
    if status == 400:
        return FaultError(f"ollama did not accept the call: {text!r}", code="ollama.refused")
    return UnavailableError(
        f"ollama at {host!r} failed with status {status}: {text[:200]!r}",
        code="ollama.failed", hint="try again; ollama ps shows what runs",
    )  # fmt: skip
