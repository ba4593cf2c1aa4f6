"""Scenes of dictionaries as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["text"]


def text(scene: Mapping[str, Any]) -> str:
    """JSON text of a scene; numbers and arrays of NumPy are numbers and lists."""
    return json.dumps(scene, indent=2, allow_nan=False, default=_plain)


def _plain(value: object) -> object:
    """Value that JSON has for one that it has not."""
    if isinstance(value, (np.generic, np.ndarray)):
        plain: object = value.tolist()
        # Some numbers of NumPy are none of Python.
        if not isinstance(plain, (np.generic, np.ndarray)):
            return plain
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a scene holds no {type(value).__name__}: numbers, texts, truth values, lists, dictionaries")
