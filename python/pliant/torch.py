"""Rollouts as functions of PyTorch's tensors: ``rollout(r)(values)`` can be differentiated once.

The package ``torch`` is needed.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ._pliant import Rollout

__all__ = ["rollout"]


def rollout(of: Rollout) -> Callable[[Any], Any]:
    """Return the moments of a :class:`pliant.Rollout` as a function of the values of its parameters.

    The tensor of the values has one dimension, that of the moments the shape ``of.shape``, both on
    the processor and in double precision; others are converted. The backward pass is
    :meth:`pliant.Rollout.gradient`.
    """
    torch: Any = importlib.import_module("torch")

    def forward(ctx: Any, values: Any) -> Any:
        ctx.save_for_backward(values)
        moments = of.run(values.detach().cpu().double().numpy())
        return torch.tensor(moments, dtype=values.dtype, device=values.device)

    def backward(ctx: Any, by: Any) -> Any:
        (values,) = ctx.saved_tensors
        found = of.gradient(values.detach().cpu().double().numpy(), by.detach().cpu().double().numpy())
        return torch.tensor(found, dtype=values.dtype, device=values.device)

    once = torch.autograd.function.once_differentiable
    methods = {"forward": staticmethod(forward), "backward": staticmethod(once(backward))}
    function: Any = type("Moments", (torch.autograd.Function,), methods)

    def moments(values: Any) -> Any:
        return function.apply(values)

    return moments
