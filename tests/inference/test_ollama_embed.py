"""OllamaEmbedder against a server of the standard library that speaks, and misspeaks, the wire."""

from __future__ import annotations

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from kgqa.errors import (
    DeniedError,
    FaultError,
    InputError,
    NotFoundError,
    UnavailableError,
    UnsupportedError,
)
from kgqa.inference.embed import OllamaEmbedder

DIGEST = "913ecac45365" + "0" * 52


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body))
        self.answer(body["input"])

    def do_GET(self):
        self.server.requests.append((self.path, None))
        self.answer(None)

    def answer(self, texts):
        fault = self.server.fault
        if callable(fault):
            return fault(self)
        if fault is not None:
            return self.send(*fault)
        if texts is None:
            return self.send(200, {"models": self.server.models})
        vectors = [[len(text), 1.0, text.count("a"), 0.5] for text in texts]
        return self.send(200, {"model": "m", "embeddings": vectors, "prompt_eval_count": 3})

    def send(self, status, body):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        if 300 <= status < 400:
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        """Keep the test's output clean."""


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.requests, server.fault = [], None
        server.models = [{"name": "minilm:latest", "model": "minilm:latest", "digest": DIGEST}]
        server.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def embedder(server):
    return OllamaEmbedder("minilm", server.url, timeout=5)


def test_embeds_in_order_in_batches_and_normalises(server, embedder):
    texts = ["a" * (n % 7) + "b" * n for n in range(70)]
    vectors = embedder.embed(texts)
    wanted = np.array([[len(text), 1, text.count("a"), 0.5] for text in texts])
    assert (vectors.shape, vectors.dtype) == ((70, 4), np.float32)
    assert np.allclose(vectors, wanted / np.linalg.norm(wanted, axis=1, keepdims=True))
    sent = [body for path, body in server.requests if path == "/api/embed"]
    assert [len(body["input"]) for body in sent] == [1, 32, 32, 6]  # the first: the dimension
    assert all(body["truncate"] is False and body["model"] == "minilm" for body in sent)


def test_says_what_it_is(server, embedder):
    assert embedder.name == OllamaEmbedder("minilm:latest", server.url).name == "ollama:minilm"
    assert (embedder.dimension, embedder.digest) == (4, DIGEST)


@pytest.mark.parametrize("name", ["minilm", "MiniLM", "library/minilm", "minilm:latest"])
def test_finds_the_digest_under_every_form_of_the_name(server, name):
    assert OllamaEmbedder(name, server.url).digest == DIGEST


def test_sees_a_model_pulled_anew(server, embedder):
    assert embedder.digest == DIGEST
    server.models[0]["digest"] = "f" * 64
    assert embedder.digest == "f" * 64


def test_a_model_the_server_lacks_has_no_digest(server):
    with pytest.raises(NotFoundError, match="bge-m3") as caught:
        _ = OllamaEmbedder("bge-m3", server.url).digest
    assert (caught.value.code, caught.value.hint) == ("model.not_found", "ollama pull bge-m3")


def test_takes_any_text_and_none(server, embedder):
    vectors = embedder.embed(["", " ", "a\0b", "\ud800", "😀", "word " * 50_000])
    assert vectors.shape == (6, 4)
    assert np.isfinite(vectors).all()
    sent = server.requests[-1][1]["input"]
    assert sent[:5] == ["", " ", "a b", "\ufffd", "😀"]
    assert embedder.embed([]).shape == (0, 4)


def test_proxies_of_the_environment_are_not_used(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert OllamaEmbedder("minilm", server.url).dimension == 4


def wire(text):
    return lambda handler: handler.send(200, text.encode())


def drop(handler):
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def stop_midway(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"embeddings": [[1')
    drop(handler)


REFUSALS = {
    "model missing": (404, 'model "minilm" not found, try pulling it first', NotFoundError,
                      "model.not_found"),
    "invalid name": (400, "model is required", NotFoundError, "model.not_found"),
    "too long": (400, "the input length exceeds the context length", InputError, "model.too_long"),
    "not an embedder": (501, "this model does not support embeddings", UnsupportedError,
                        "model.capability"),
    "foreign host": (403, "", DeniedError, "ollama.denied"),
    "bad call": (400, "json: cannot unmarshal", FaultError, "ollama.refused"),
    "other path": (404, "404 page not found", UnavailableError, "ollama.failed"),
    "busy": (503, "server busy, please try again.  maximum pending requests exceeded",
             UnavailableError, "ollama.failed"),
    "runner gone": (500, "unexpected EOF", UnavailableError, "ollama.failed"),
    "redirect": (307, "", UnavailableError, "ollama.failed"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals_are_translated(server, embedder, case):
    status, text, kind, code = REFUSALS[case]
    server.fault = (status, {"error": text} if text else b"")
    with pytest.raises(kind) as caught:
        embedder.embed(["a"])
    assert caught.value.code == code
    if code == "model.not_found":
        assert caught.value.hint == "ollama pull minilm"


BROKEN = {
    "html": (wire("<html>hello</html>"), "ollama.malformed"),
    "empty": (wire(""), "ollama.malformed"),
    "null": (wire("null"), "ollama.malformed"),
    "list": (wire("[]"), "ollama.malformed"),
    "error in a 200": (wire('{"error": "no"}'), "ollama.malformed"),
    "words for numbers": (wire('{"embeddings": [["x"]]}'), "ollama.malformed"),
    "bytes": (lambda handler: handler.send(200, b'{"embeddings": "\xff"}'), "ollama.malformed"),
    "list in a 500": ((500, ["no"]), "ollama.malformed"),
    "cut before headers": (drop, "ollama.unreachable"),
    "cut midway": (stop_midway, "ollama.unreachable"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_answers_are_unavailable(server, embedder, case):
    server.fault, code = BROKEN[case]
    with pytest.raises(UnavailableError) as caught:
        embedder.embed(["a"])
    assert caught.value.code == code


@pytest.mark.parametrize(
    "vectors",
    [
        "[]",
        "[[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4]]",
        "[[1, 2, 3, 4]]",
        "[[1, 2, 3], [1, 2, 3]]",
        "[[1, 2, 3, 4], [1, 2, 3]]",
        "[[1, 2, 3, 4, 5, 6, 7, 8]]",
        "[[], []]",
        "[[NaN, 1, 1, 1], [1, 1, 1, 1]]",
        "[[1e999, 1, 1, 1], [1, 1, 1, 1]]",
        "[[0, 0, 0, 0], [1, 1, 1, 1]]",
    ],
)
def test_vectors_of_no_use_are_a_fault(server, embedder, vectors):
    assert embedder.dimension == 4
    server.fault = wire(f'{{"embeddings": {vectors}}}')
    with pytest.raises(FaultError, match="ollama:minilm") as caught:
        embedder.embed(["a", "b"])
    assert caught.value.code == "embedder.vectors"


def test_silence_ends_at_the_timeout(server):
    server.fault = lambda handler: (time.sleep(0.6), drop(handler))
    begin = time.perf_counter()
    with pytest.raises(UnavailableError) as caught:
        OllamaEmbedder("minilm", server.url, timeout=0.2).embed(["a"])
    assert caught.value.code == "ollama.timeout"
    assert time.perf_counter() - begin < 2


def test_a_server_that_is_down_is_unreachable():
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    for call in (lambda e: e.embed(["a"]), lambda e: e.digest, lambda e: e.dimension):
        with pytest.raises(UnavailableError, match="no ollama server answers") as caught:
            call(OllamaEmbedder("minilm", url))
        assert (caught.value.code, caught.value.hint) == (
            "ollama.unreachable",
            "start it: ollama serve",
        )


@pytest.mark.parametrize("host", ["http://127.0.0.1:port", "http://[::1", "http://a b\0"])
def test_an_address_that_is_none_is_the_callers_fault(host):
    with pytest.raises(InputError) as caught:
        OllamaEmbedder("minilm", host).embed(["a"])
    assert caught.value.code == "ollama.host"
