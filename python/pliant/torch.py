"""Rollouts as functions of PyTorch's tensors: ``rollout(r)(values)`` can be differentiated once.

The package ``torch`` is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

from ._pliant import Rollout

__all__ = ["rollout"]


def rollout(of: Rollout) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the moments of a :class:`pliant.Rollout` as a function of the values of its parameters.

    The tensor of the values has one dimension, that of the moments the shape ``of.shape``, both on
    the processor and in double precision; others are converted. The backward pass is
    :meth:`pliant.Rollout.gradient`.
    """

    class Moments(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, values: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(values)
            moments = of.run(values.detach().cpu().double().numpy())
            return torch.tensor(moments, dtype=values.dtype, device=values.device)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, by: torch.Tensor) -> torch.Tensor:
            (values,) = ctx.saved_tensors
            found = of.gradient(
                values.detach().cpu().double().numpy(), by.detach().cpu().double().numpy()
            )
            return torch.tensor(found, dtype=values.dtype, device=values.device)

    def moments(values: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = Moments.apply(values)
        return out

    return moments
