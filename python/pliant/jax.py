"""Rollouts as functions of JAX's arrays: ``rollout(r)(values)`` works under ``jax.grad`` and ``jax.jit``.

The package ``jax`` is needed. Rollouts compute in double precision: without
``jax.config.update("jax_enable_x64", True)`` JAX rounds what goes in and comes out.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ._pliant import Rollout

__all__ = ["rollout"]


def rollout(of: Rollout) -> Callable[[Any], Any]:
    """Return the moments of a :class:`pliant.Rollout` as a function of the values of its parameters.

    The array of the values has one dimension, that of the moments the shape ``of.shape``. Reverse
    mode is :meth:`pliant.Rollout.gradient`; there is no forward mode.
    """
    jax: Any = importlib.import_module("jax")

    def run(values: Any) -> Any:
        return of.run(np.asarray(values, float)).astype(values.dtype)

    def gradient(values: Any, by: Any) -> Any:
        return of.gradient(np.asarray(values, float), np.asarray(by, float)).astype(values.dtype)

    def primal(values: Any) -> Any:
        shape = jax.ShapeDtypeStruct(of.shape, values.dtype)
        return jax.pure_callback(run, shape, values, vmap_method="sequential")

    moments: Any = jax.custom_vjp(primal)

    def forward(values: Any) -> tuple[Any, Any]:
        return moments(values), values

    def backward(values: Any, by: Any) -> tuple[Any]:
        shape = jax.ShapeDtypeStruct(values.shape, values.dtype)
        return (jax.pure_callback(gradient, shape, values, by, vmap_method="sequential"),)

    moments.defvjp(forward, backward)
    out: Callable[[Any], Any] = moments
    return out
