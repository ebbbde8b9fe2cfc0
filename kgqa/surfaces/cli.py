"""The command line: one click command per operation, made from its input model.

Belongs here: parsing words, printing, exit status, signals. Must not: what an operation does.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
import types
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn

import click
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from kgqa import __version__, settings
from kgqa.errors import FaultError, InputError, KGQAError, UnavailableError
from kgqa.exchange.plain import plain
from kgqa.inputs import Input
from kgqa.ops import OPERATIONS, Operation
from kgqa.surfaces import text
from kgqa.surfaces.progress import Bar

INTERRUPTED = 130


def _param(name: str, info: FieldInfo) -> click.Parameter:
    extra: dict[str, Any] = (
        info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    )
    kind, many = _kind(info.annotation)
    if extra.get("argument"):
        nargs = -1 if many else 1
        return click.Argument([name], type=kind, nargs=nargs, required=info.is_required())
    shown = (info.alias or name).replace("_", "-")
    declared = [*extra.get("flags", []), f"--{shown}", name]
    if kind is click.BOOL:
        return click.Option(declared, is_flag=True, help=info.description)
    default = None if many or info.is_required() else info.default
    return click.Option(
        declared,
        type=kind,
        multiple=many,
        required=info.is_required(),
        help=info.description,
        default=default,
        show_default=default is not None,
        metavar=None if isinstance(kind, click.Choice) else shown.split("-")[-1].upper(),
    )


def _kind(annotation: Any) -> tuple[Any, bool]:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list:
        return _kind(args[0])[0], True
    if origin is Literal:
        return click.Choice(list(args)), False
    if origin in (types.UnionType, typing.Union):
        return _kind(next(a for a in args if a is not type(None)))
    return {bool: click.BOOL, int: click.INT, float: click.FLOAT}.get(
        annotation, click.STRING
    ), False


def _command(operation: Operation) -> click.Command:
    params: list[click.Parameter] = []
    if operation.opens != "none":
        params.append(click.Argument(["kb"], metavar="KB"))
    params += [_param(n, f) for n, f in operation.input.model_fields.items()]
    params.append(click.Option(["--json", "as_json"], is_flag=True, help="print JSON"))
    return click.Command(
        operation.name,
        params=params,
        callback=_callback(operation),
        help=operation.summary[0].upper() + operation.summary[1:] + ".",
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _callback(operation: Operation) -> Callable[..., tuple[Any, bool]]:
    def call(*, as_json: bool, kb: str | None = None, **values: Any) -> tuple[Any, bool]:
        given = _input(operation.input, values)
        try:
            with Bar() as bar:
                return _execute(operation, kb, given, bar.update), as_json
        except (KGQAError, BrokenPipeError):
            raise
        except Exception as exc:
            raise _fault(exc) from exc

    return call


def _input(model: type[Input], values: dict[str, Any]) -> Input:
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in values.items() if v is not None}
    try:
        return model.model_validate(plain, by_name=True)
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(p) for p in first["loc"])
        raise InputError(
            f"bad value {first['input']!r} for {where}: {first['msg'].lower()}",
            code="input.invalid",
        ) from None


def _execute(operation: Operation, kb: str | None, given: Input, progress: Any) -> Any:
    if operation.opens == "none" or kb is None:
        return operation.run(None, given, progress)
    from kgqa.kbase import KBase

    if operation.opens == "new":
        from kgqa.protocols import BaseOptions

        chosen = given.model_dump()
        opened = KBase.create(kb, embedder=chosen.pop("embedder"), options=BaseOptions(**chosen))
    else:
        create = operation.opens == "maybe" and bool(getattr(given, "create", False))
        opened = KBase.open(kb, create=create)
    with opened:
        return operation.run(opened, given, progress)


def _print(result: Any, as_json: bool) -> None:
    if result == Path("-"):
        return  # it went to standard output
    if as_json:
        print(json.dumps(plain(result), ensure_ascii=False))
        return
    for line in text.lines(result):
        print(line)


class _Group(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            args = ["--help"]
        return super().parse_args(ctx, args)


def group() -> click.Group:
    """Return the whole command tree."""
    top = _Group(
        "kgqa",
        help="Questions about how things were at a given time, answered from what holds then.",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    click.version_option(__version__, message="kgqa %(version)s")(top)
    for operation in OPERATIONS.values():
        top.add_command(_command(operation))
    return top


def run(argv: Sequence[str]) -> int:
    """Run one command line and return its exit status (DESIGN section 9); never a traceback."""
    _open_streams()
    for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, _terminate)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return _status(argv)
    finally:
        _give_up_streams()


def _open_streams() -> None:
    """Open the null device in place of standard streams that were closed (kgqa … >&-)."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def _give_up_streams() -> None:
    """Let go of output that cannot be written, which Python would try to write at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _status(argv: Sequence[str]) -> int:
    as_json = "--json" in argv
    try:
        return _run(argv)
    except (BrokenPipeError, SystemExit):
        # The reader went away (kgqa … | head): the rest of the output is not wanted. click
        # leaves by SystemExit where that happens in its hands.
        return 0
    except (KeyboardInterrupt, click.Abort):
        return _fail(
            "stopped; what was committed is kept, run the same command to go on", INTERRUPTED
        )
    except click.ClickException as exc:
        return _usage(exc, as_json)
    except KGQAError as exc:
        return _error(exc, as_json)
    except Exception as exc:
        return _error(_fault(exc), as_json)


def _run(argv: Sequence[str]) -> int:
    status = 0
    try:
        # What the operations raise is a KGQAError: an OSError is of printing, help included.
        done = group().main(args=list(argv), prog_name="kgqa", standalone_mode=False)
        if isinstance(done, tuple):
            result, as_json = done
            _print(result, as_json)
            status = text.status(result)
        sys.stdout.flush()
    except (KGQAError, BrokenPipeError):
        raise
    except OSError as exc:
        raise UnavailableError(
            f"cannot write to standard output: {exc.strerror}",
            code="output.unwritable",
            hint="check the disk that it goes to",
        ) from None
    return status


def _terminate(signum: int, frame: Any) -> NoReturn:
    raise KeyboardInterrupt


def _usage(exc: click.ClickException, as_json: bool) -> int:
    message = exc.format_message()
    ctx = getattr(exc, "ctx", None)
    command = ctx.command_path if ctx else "kgqa"
    return _error(
        InputError(
            message[:1].lower() + message[1:].rstrip("."),
            code="input.usage",
            hint=f"see: {command} --help",
        ),
        as_json,
    )


def _error(exc: KGQAError, as_json: bool) -> int:
    if as_json:
        with contextlib.suppress(OSError):
            print(json.dumps(exc.to_dict(), ensure_ascii=False), flush=True)
    return _fail(str(exc), exc.exit_status)


def _fault(exc: Exception) -> FaultError:
    if settings.read().debug:
        raise exc
    return FaultError(
        f"internal fault: {type(exc).__name__}: {exc}",
        code="internal",
        hint="please report it; set KGQA_DEBUG=1 to see where",
    )


def _fail(message: str, status: int) -> int:
    with contextlib.suppress(OSError):
        print(f"kgqa: {text.clean(message)}", file=sys.stderr)
    return status
