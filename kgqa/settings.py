"""Settings of this process: the only reader of the environment.

Belongs here: one frozen model. Must not: settings of a base (those live in the base, and are
set by ``init``), imports of anything heavy.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from kgqa.errors import InputError


class Settings(BaseModel):
    """Hold what a process may choose."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    embedder: str = Field(
        "minilm",
        description="embedder of new bases: minilm, sentence-transformers:NAME, ollama:NAME",
    )
    lock_timeout: float = Field(
        5.0, ge=0, le=86_400, allow_inf_nan=False, description="seconds to wait for another writer"
    )
    neo4j_user: str = Field(
        "neo4j", description="user of the Neo4j server, unless the address of a base names one"
    )
    neo4j_password: SecretStr = Field(
        SecretStr(""), description="password of the Neo4j server, unless the address gives one"
    )
    debug: bool = Field(False, description="let an internal fault show where it arose")


PREFIX = "KGQA_"


def read(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings from ``KGQA_<NAME>`` variables; unset ones keep their defaults.

    Raises InputError (``settings.invalid``) naming the variable.

    >>> read({"KGQA_LOCK_TIMEOUT": "1"}).lock_timeout
    1.0
    """
    source = os.environ if environment is None else environment
    given = {
        name: source[PREFIX + name.upper()]
        for name in Settings.model_fields
        if source.get(PREFIX + name.upper())
    }
    try:
        return Settings.model_validate(given)
    except ValidationError as exc:
        first = exc.errors()[0]
        name = PREFIX + str(first["loc"][0]).upper()
        raise InputError(
            f"bad value {first['input']!r} for {name}: {first['msg'].lower()}",
            code="settings.invalid",
            hint=f"unset {name} or give it another value",
        ) from None
