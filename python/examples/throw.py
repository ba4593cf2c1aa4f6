"""A ball that is thrown so that it comes to a target after it has bounced, by gradients through the impacts.

Steps end where the ball lands (``locate_impacts``): its motion has no jumps where another step becomes the one that
lands, and the gradient knows how the time of the impact moves."""

import numpy as np
from numpy.typing import NDArray

import pliant

SCENE = """(
    parameters: {"speed": 2.0, "lift": -3.0},
    gravity: (0, 0, -9.81),
    run: (duration: 1, step: 0.005, integrator: Nonlinear, locate_impacts: true),
    nodes: [Bodies(name: "ball", bodies: [
        (position: (0, 0, 0.5), velocity: ("$speed", 0, "$lift"), shape: Sphere(0.05), mass: 0.2),
    ])],
    materials: [(name: "rubber", friction: 0.4, restitution: 0.7)],
    colliders: [
        Fixed(name: "ground", shape: Plane(0, 0, 1), material: "rubber"),
        Bodies(node: "ball", material: "rubber"),
    ],
)"""
TARGET = np.array([2.5, 0.3])  # x and z after a second (m)

rollout = pliant.Rollout(pliant.Model.from_string(SCENE), ["speed", "lift"], ["ball"])


def end(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where the ball is at the end, and how that changes with speed and lift."""
    by = np.zeros(rollout.shape)
    rows = []
    for coordinate in (0, 2):
        by[:] = 0
        by[-1, coordinate] = 1
        rows.append(rollout.gradient(values, by))
    return rollout.run(values)[-1, [0, 2]], np.array(rows)


values = np.array(list(rollout.parameters.values()))
for iteration in range(30):
    place, jacobian = end(values)
    off = place - TARGET
    if np.abs(off).max() < 1e-9:
        break
    # Newton's method, with steps that are halved while they make it worse.
    step = -np.linalg.solve(jacobian, off)
    while np.abs(rollout.run(values + step)[-1, [0, 2]] - TARGET).max() > np.abs(off).max():
        step *= 0.5
    values = values + step

place, _ = end(values)
heights = rollout.run(values)[:, 2]
print(f"after {iteration} iterations: speed {values[0]:.3f} m/s, lift {values[1]:.3f} m/s, at {place.round(4)} m")
assert np.abs(place - TARGET).max() < 1e-9
bounces = [k for k in range(1, len(heights) - 1) if heights[k] < min(heights[k - 1], heights[k + 1])]
assert len(bounces) == 2, "it comes there after two bounces"
