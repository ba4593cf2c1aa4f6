"""Stiffness and damping of a beam from a noisy trajectory of its tip, by gradients of the whole motion."""

import numpy as np
from numpy.typing import NDArray

import pliant

SCENE = """(
    parameters: {"young": 1e6, "damping": 0.02},
    gravity: (0, 0, -9.81),
    run: (duration: 0.8, step: 0.02, integrator: Nonlinear),
    nodes: [
        Solid(
            name: "beam", shape: Box(size: (1, 0.1, 0.1), cells: (8, 1, 1)), density: 1000,
            material: Corotational(young: "$young", poisson: 0.3), relaxation_time: "$damping",
            fix_boxes: [((-0.01, -1, -1), (0.01, 1, 1))],
        ),
        Mapped(name: "tip", parents: ["beam"], mapping: Subset(elements: [35])),
    ],
)"""

rollout = pliant.Rollout(pliant.Model.from_string(SCENE), ["young", "damping"], ["tip"])
truth = np.array([1.6e6, 0.035])
random = np.random.default_rng(7)
measured = rollout.run(truth) + random.normal(0, 1e-3, rollout.shape)  # m


def misfit(logs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Half the sum of the squares of what the beam misses, and its gradient by the logarithms of the parameters."""
    values = np.exp(logs)
    off = rollout.run(values) - measured
    return 0.5 * float((off**2).sum()), values * rollout.gradient(values, off)


# The method of Broyden, Fletcher, Goldfarb and Shanno, with a line search that halves.
x = np.log(list(rollout.parameters.values()))
f, g = misfit(x)
inverse = np.eye(2) / np.linalg.norm(g)
for iteration in range(40):
    step = -inverse @ g
    step = step * min(1.0, 1.0 / float(np.linalg.norm(step)))
    while True:
        f_new, g_new = misfit(x + step)
        if f_new < f or np.linalg.norm(step) < 1e-9:
            break
        step *= 0.5
    change, gain = step, g_new - g
    x, f, g = x + step, f_new, g_new
    if np.linalg.norm(change) < 1e-8:
        break
    curvature = change @ gain
    if curvature > 0:
        left = np.eye(2) - np.outer(change, gain) / curvature
        inverse = left @ inverse @ left.T + np.outer(change, change) / curvature

found = np.exp(x)
print(f"after {iteration + 1} iterations: young {found[0]:.4g} Pa of {truth[0]:.4g}, damping {found[1]:.4g} s of {truth[1]:.4g}")
# Noise of 1 mm in 123 numbers of a swing of decimetres.
assert abs(found[0] / truth[0] - 1) < 0.01
assert abs(found[1] / truth[1] - 1) < 0.05
# What is left is the noise.
assert np.sqrt(2 * f / measured.size) < 1.1e-3
