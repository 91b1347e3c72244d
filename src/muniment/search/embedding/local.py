"""Bundled embedding model: all-MiniLM-L6-v2 with 8-bit weights, computed on the CPU without any download."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from muniment.errors import MunimentError
from muniment.search.embedding.port import Vector

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
BATCH_SIZE = 4
"""Larger batches were slower when measured, because they outgrow the processor's cache."""
SEQUENCE_TOKENS = 256
_SPECIAL_TOKENS = 2


class ModelDamaged(MunimentError):
    """The embedding model on this machine is damaged. Reinstall Muniment"""


class LocalEmbedder:
    """Computes small batches in its own thread, so that a query waits for one batch and not for a whole document."""

    model = "all-MiniLM-L6-v2-int8"
    dimensions = 384
    max_tokens = SEQUENCE_TOKENS - _SPECIAL_TOKENS
    parameters: Mapping[str, Any] = {
        "model": model,
        "weights": MODEL_SHA256,
        "tokenizer": TOKENIZER_SHA256,
        "pooling": "mean",
        "max_tokens": SEQUENCE_TOKENS,
    }

    def __init__(self, *, threads: int | None = None, batch: int = BATCH_SIZE) -> None:
        self._threads = threads or os.cpu_count() or 1
        self._batch = batch
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedding")

    def count_tokens(self, text: str) -> int:
        from muniment.search.embedding.local_model import count_tokens

        return count_tokens(text)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        # Sorted by length, because a batch is padded to its longest text.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors: list[Vector] = [[]] * len(texts)
        for start in range(0, len(order), self._batch):
            batch = order[start : start + self._batch]
            for index, vector in zip(batch, await self._compute([texts[index] for index in batch]), strict=True):
                vectors[index] = vector
        return vectors

    async def embed_query(self, text: str) -> Vector:
        return (await self._compute([text]))[0]

    async def close(self) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _compute(self, texts: list[str]) -> list[Vector]:
        return await asyncio.get_running_loop().run_in_executor(self._executor, _embed_texts, texts, self._threads)


def _embed_texts(texts: list[str], threads: int) -> list[Vector]:
    from muniment.search.embedding.local_model import embed_texts

    return embed_texts(texts, threads)
