"""A proxy before a server that loses the answer to a commit.

Belongs here: the fault. Must not: tests. The server gets the commit and carries it out; then the
connection breaks, so that the client cannot know.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

_COMMIT = b"\x00\x02\xb0\x12\x00\x00"
"""A whole Bolt message: COMMIT has no fields."""


class Lossy:
    """Forward Bolt to a port of this machine; ``lose`` so many answers to commits."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.lose = 0
        self.lost = 0

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, at: TracebackType | None
    ) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                quiet = threading.Event()
                threading.Thread(
                    target=self._pump, args=(client, server, quiet), daemon=True
                ).start()
                threading.Thread(
                    target=self._answer, args=(server, client, quiet), daemon=True
                ).start()

    def _pump(self, client: socket.socket, server: socket.socket, quiet: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                if self.lose and data.endswith(_COMMIT):
                    self.lose -= 1
                    self.lost += 1
                    quiet.set()
                server.sendall(data)
        server.close()

    def _answer(self, server: socket.socket, client: socket.socket, quiet: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if quiet.is_set():
                    # The commit was answered, hence done: now the line breaks.
                    client.shutdown(socket.SHUT_RDWR)
                    break
                client.sendall(data)
        client.close()
        server.close()
