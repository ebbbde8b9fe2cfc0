"""What a Neo4j server is run with: its jars, fetched once by Maven, and a Java that fits it.

Belongs here: pinned versions, finding and fetching. Must not: running servers. Knows no registry:
Maven asks those of its own settings.

``python -m kgqa.testing.provision`` fetches the jars of every pinned version that is not there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from kgqa.errors import InputError, NotFoundError, UnavailableError, UnsupportedError

FETCH = f"{Path(sys.executable).name} -m kgqa.testing.provision"
FETCH_SECONDS = 900.0
ANY = 10_000
"""As the newest Java: any."""

_POM = Path(__file__).with_name("pom.xml")
_JVM_FOLDERS = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)


@dataclass(frozen=True, slots=True)
class Release:
    """One version of the server: the Java it runs on, both ends included, and its main class."""

    version: str
    javas: tuple[int, int]
    main: str


RELEASES: Mapping[str, Release] = MappingProxyType(
    {
        "5.26": Release("5.26.16", (17, 21), "org.neo4j.server.CommunityEntryPoint"),
        "2026": Release("2026.09.0", (21, ANY), "org.neo4j.server.Neo4jCommunity"),
    }
)
"""The pinned versions, by series: one with long support, and the newest."""


def release(series: str) -> Release:
    """Return the pinned release of a series. Raise InputError (``servers.unknown``).

    >>> release("5.26").version
    '5.26.16'
    """
    try:
        return RELEASES[series]
    except KeyError:
        raise InputError(
            f"no pinned server {series!r}",
            code="servers.unknown",
            hint=f"give one of {', '.join(RELEASES)}",
        ) from None


def cache() -> Path:
    """Return the folder of fetched servers: ``KGQA_SERVERS``, or one in the user's cache."""
    if given := os.environ.get("KGQA_SERVERS"):
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "kgqa" / "servers"
    users = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(users) / "kgqa" / "servers"


def jars(wanted: Release) -> Path:
    """Return the folder of a release's jars. Raise NotFoundError (``servers.jars``)."""
    folder = _jars(wanted)
    if not folder.is_dir():
        raise NotFoundError(
            f"no jars of neo4j {wanted.version} in {str(cache())!r}",
            code="servers.jars",
            hint=FETCH,
        )
    return folder


def fetch(wanted: Release) -> Path:
    """Fetch a release's jars into the cache unless they are there; return their folder.

    About 230 files, 170 MB. All or nothing: a fetch that was stopped leaves no folder. Raises
    UnsupportedError (``servers.maven``) without Maven, UnavailableError (``servers.fetch``) with
    Maven's own words where it fails.
    """
    folder = _jars(wanted)
    if folder.is_dir():
        return folder
    maven = shutil.which("mvn")
    if maven is None:
        raise UnsupportedError(
            "no 'mvn' on PATH",
            code="servers.maven",
            hint="install Maven 3.6 or newer, which also needs a Java",
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as part:
        target = Path(part) / "lib"
        _copy_dependencies(maven, wanted, target)
        try:
            target.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was first, with the same files
                raise
    return folder


def find_java(oldest: int, newest: int) -> Path:
    """Return the first Java of a fitting major version, both ends included.

    Looked for in JAVA_HOME, JAVA_HOME_<anything>, PATH, then the folders where systems keep
    them. Raises UnsupportedError (``servers.java``) that lists those found.
    """
    seen: dict[Path, str] = {}
    for java in _javas():
        real = java.resolve()
        if real in seen:
            continue
        version = _java_version(real)
        if version is not None and oldest <= version <= newest:
            return real
        seen[real] = f"{java} ({version or 'does not run'})"
    wanted = f"Java {oldest} to {newest}" if newest < ANY else f"Java {oldest} or newer"
    raise UnsupportedError(
        f"no {wanted} among {', '.join(seen.values()) or 'no Java at all'}",
        code="servers.java",
        hint=f"install {wanted}, or set JAVA_HOME_{oldest} to its folder",
    )


def _jars(wanted: Release) -> Path:
    return cache() / wanted.version / "lib"


def _copy_dependencies(maven: str, wanted: Release, target: Path) -> None:
    command = [maven, "--batch-mode", "--quiet", "--file", str(_POM)]
    given = {
        "neo4j.version": wanted.version,
        "includeScope": "runtime",
        "outputDirectory": str(target.resolve()),
    }
    try:
        done = subprocess.run(
            [*command, *(f"-D{k}={v}" for k, v in given.items()), "dependency:copy-dependencies"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=FETCH_SECONDS,
            check=False,
        )
        failed, said = done.returncode != 0, done.stdout
    except subprocess.TimeoutExpired:
        failed, said = True, f"not done after {FETCH_SECONDS} s"
    if failed or not target.is_dir():
        lines = [line for line in said.splitlines() if line.strip()]
        raise UnavailableError(
            "cannot fetch neo4j " + "\n".join([wanted.version, *lines[:5]]),
            code="servers.fetch",
            hint="try again when Maven reaches its repository",
        )


def _javas() -> Iterator[Path]:
    homes = [os.environ.get("JAVA_HOME")]
    homes += [v for k, v in sorted(os.environ.items()) if k.startswith("JAVA_HOME_")]
    for home in homes:
        if home:
            yield Path(home, "bin", "java")
    if found := shutil.which("java"):
        yield Path(found)
    for pattern in _JVM_FOLDERS:
        path = Path(pattern).expanduser()
        first = path.parts.index("*")
        root = Path(*path.parts[:first])
        yield from sorted(root.glob(str(Path(*path.parts[first:], "bin", "java"))))


def _java_version(java: Path) -> int | None:
    try:
        done = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    told = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(told.group(1)) if told and done.returncode == 0 else None


def main() -> int:
    """Fetch what is missing; return the exit status."""
    for wanted in RELEASES.values():
        try:
            print(f"neo4j {wanted.version}: {fetch(wanted)}, {find_java(*wanted.javas)}")
        except (UnavailableError, UnsupportedError) as exc:
            print(f"kgqa: {exc}", file=sys.stderr)
            return exc.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(main())
