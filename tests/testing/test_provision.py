"""Jars and Javas: found where they are, fetched once, or a typed error with the next step."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.errors import InputError, NotFoundError, UnavailableError, UnsupportedError
from kgqa.testing import provision
from kgqa.testing.provision import Release

RELEASE = Release("0.0.1", (900, 901), "Main")
MAVEN = """#!/bin/sh
echo "$@" >> {calls}
for word in "$@"; do case $word in -DoutputDirectory=*) folder=${{word#*=}};; esac; done
mkdir -p "$folder" && : > "$folder/neo4j.jar"
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def java(home: Path, first_line: str, status: int = 0) -> Path:
    """Make a Java that says its version as the real ones do, on standard error."""
    return program(
        home / "bin" / "java", f"#!/bin/sh\necho '{first_line}' >&2\nexit {status}\n"
    ).resolve()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point to a cache of servers that is not there yet; take all Javas from the environment."""
    for name in ("JAVA_HOME", "JAVA_HOME_17_X64", "JAVA_HOME_21_X64"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KGQA_SERVERS", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    (tmp_path / "path").mkdir()
    return tmp_path / "cache"


@pytest.mark.parametrize(
    "line",
    ['openjdk version "900.0.15" 2025-04-15', 'java version "900"', 'openjdk version "901-ea"'],
)
def test_a_java_is_known_by_what_it_says(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    made = java(tmp_path / "j", line)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "j"))
    assert provision.find_java(900, 901) == made


def test_javas_are_taken_in_order(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path = program(tmp_path / "path" / "java", "#!/bin/sh\necho 'version \"900\"' >&2\n")
    assert provision.find_java(900, 901) == on_path.resolve()
    named = java(tmp_path / "named", 'version "901.2"')
    monkeypatch.setenv("JAVA_HOME_901", str(tmp_path / "named"))
    assert provision.find_java(900, 901) == named
    first = java(tmp_path / "first", 'version "900"')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "first"))
    assert provision.find_java(900, 901) == first
    java(tmp_path / "first", 'version "1.8.0_392"')
    assert provision.find_java(900, 901) == named
    assert provision.find_java(8, 8) == first


@pytest.mark.parametrize(
    ("line", "status", "told"),
    [('version "11.0.2"', 0, "11"), ("hello", 0, "does not run"), ('version "900"', 1, "not run")],
)
def test_a_java_that_does_not_fit_is_named(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, line: str, status: int, told: str
) -> None:
    java(tmp_path / "bad", line, status)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "bad"))
    with pytest.raises(UnsupportedError, match=r"bad/bin/java \(.*" + told) as caught:
        provision.find_java(900, 901)
    assert caught.value.code == "servers.java"
    assert caught.value.hint == "install Java 900 to 901, or set JAVA_HOME_900 to its folder"
    with pytest.raises(UnsupportedError, match="no Java 900 or newer among"):
        provision.find_java(900, provision.ANY)


def test_missing_jars_say_how_to_fetch_them(cache: Path) -> None:
    with pytest.raises(NotFoundError, match="no jars of neo4j") as caught:
        provision.jars(RELEASE)
    assert caught.value.code == "servers.jars"
    assert caught.value.hint is not None
    assert caught.value.hint.endswith("-m kgqa.testing.provision")


def test_jars_are_fetched_once(tmp_path: Path, cache: Path) -> None:
    calls = tmp_path / "calls"
    program(tmp_path / "path" / "mvn", MAVEN.format(calls=calls))
    folder = provision.fetch(RELEASE)
    assert folder == provision.fetch(RELEASE) == provision.jars(RELEASE)
    assert [path.name for path in folder.iterdir()] == ["neo4j.jar"]
    assert [path.name for path in folder.parent.iterdir()] == ["lib"]
    (said,) = calls.read_text().splitlines()
    assert "-Dneo4j.version=0.0.1" in said.split()
    assert "-DincludeScope=runtime" in said.split()


def test_a_fetch_that_fails_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    program(tmp_path / "path" / "mvn", "#!/bin/sh\necho; echo '[ERROR] no route to it'; exit 1\n")
    with pytest.raises(UnavailableError, match="no route to it") as caught:
        provision.fetch(RELEASE)
    assert caught.value.code == "servers.fetch"
    assert list((cache / "0.0.1").iterdir()) == []


def test_two_fetches_at_once_both_succeed(tmp_path: Path, cache: Path) -> None:
    other = cache / "0.0.1" / "lib" / "first.jar"
    program(
        tmp_path / "path" / "mvn",
        MAVEN.format(calls=tmp_path / "calls") + f"mkdir -p {other.parent} && : > {other}\n",
    )
    assert [path.name for path in provision.fetch(RELEASE).iterdir()] == ["first.jar"]


def test_a_fetch_that_hangs_ends(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "path" / "mvn", "#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(provision, "FETCH_SECONDS", 0.2)
    with pytest.raises(UnavailableError, match="not done after"):
        provision.fetch(RELEASE)


def test_without_maven_there_is_a_next_step(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(cache))
    with pytest.raises(UnsupportedError, match="no 'mvn' on PATH; install Maven") as caught:
        provision.fetch(RELEASE)
    assert caught.value.code == "servers.maven"


def test_the_command_fetches_every_pinned_version(
    tmp_path: Path,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for version in ("17", "21"):
        java(tmp_path / version, f'version "{version}"')
        monkeypatch.setenv(f"JAVA_HOME_{version}_X64", str(tmp_path / version))
    program(tmp_path / "path" / "mvn", "#!/bin/sh\nexit 1\n")
    assert provision.main() == 7
    assert "kgqa: cannot fetch neo4j 5.26.16" in capsys.readouterr().err
    program(tmp_path / "path" / "mvn", MAVEN.format(calls=tmp_path / "calls"))
    assert provision.main() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["5.26.16:", "2026.09.0:"]
    assert [str(cache) in line for line in lines] == [True, True]


def test_the_cache_is_the_users_unless_another_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KGQA_SERVERS", raising=False)
    assert provision.cache() == tmp_path / "kgqa" / "servers"
    monkeypatch.setattr("sys.platform", "darwin")
    assert provision.cache() == tmp_path / "Library" / "Caches" / "kgqa" / "servers"


def test_series_are_pinned() -> None:
    assert provision.release("2026").javas[0] == 21
    with pytest.raises(InputError, match=r"no pinned server '4\.4'; give one of 5\.26, 2026"):
        provision.release("4.4")
