"""A gripper with soft pads lifts boxes of random masses: they are held where friction carries them."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import pliant
from pliant.gym import SceneVectorEnv, Task

PAD = (0.02, 0.04, 0.04)
CELLS = (1, 2, 2)


def jaw(name: str, side: int) -> dict[str, list[Any]]:
    """A jaw on a slider of the hand, at -x or +x, with a soft pad on its inner face."""
    nx, ny, nz = CELLS
    low = [side * 0.08 - PAD[0] / 2, -PAD[1] / 2, 0.03]
    # Nodes of the pad are numbered along x first: those of its outer face are one column.
    outer = nx if side > 0 else 0
    rows = [(j, k) for k in range(nz + 1) for j in range(ny + 1)]
    held = [outer + (nx + 1) * (j + (ny + 1) * k) for j, k in rows]
    center = [side * 0.1, 0.0, 0.05]
    face = [[low[0] + PAD[0] * outer / nx, low[1] + PAD[1] * j / ny, low[2] + PAD[2] * k / nz] for j, k in rows]
    points = [[0, [p - c for p, c in zip(point, center, strict=True)]] for point in face]
    pairs = [[k, [f"{name} face", k]] for k in range(len(rows))]
    body = {"position": center, "shape": {"Box": [0.02, 0.06, 0.06]}, "mass": 0.1}
    pad = {
        "name": f"{name} pad",
        "shape": {"Box": {"size": PAD, "cells": CELLS}},
        "position": low,
        "material": {"Corotational": {"young": 2e5, "poisson": 0.3}},
        "density": 1000,
        "relaxation_time": 0.01,
    }
    nodes = [
        {"Bodies": {"name": name, "bodies": [body]}},
        {"Solid": pad},
        {"Mapped": {"name": f"{name} back", "parents": [f"{name} pad"], "mapping": {"Subset": {"elements": held}}}},
        {"Mapped": {"name": f"{name} face", "parents": [name], "mapping": {"RigidPoints": {"points": points}}}},
        {
            "Mapped": {
                "name": f"{name} glue",
                "parents": [f"{name} back", f"{name} face"],
                "mapping": {"Difference": {"pairs": pairs}},
            }
        },
    ]
    slider = {"name": f"{name} slider", "kind": "Slider", "a": {"Body": ["hand", 0]}, "b": {"Body": [name, 0]}}
    return {
        "nodes": nodes,
        "joints": [slider | {"at": center, "axis": [-side, 0, 0]}],
        "constraints": [{"name": f"{name} is glued", "on": f"{name} glue"}],
        "colliders": [{"Cloth": {"node": f"{name} pad", "radius": 0.001, "material": "rubber"}}],
    }


def scene() -> dict[str, Any]:
    """A hand on a vertical slider, two jaws, and a box on a table."""
    left, right = jaw("left", -1), jaw("right", 1)
    hand = {"position": [0, 0, 0.2], "shape": {"Box": [0.2, 0.06, 0.04]}, "mass": 0.5}
    box = {"position": [0, 0, 0.05], "shape": {"Box": [0.1, 0.1, 0.1]}, "mass": "$mass"}
    lift = {"Velocity": {"speed": 0}}
    return {
        "title": "Soft gripper",
        "parameters": {"mass": 0.5, "friction": 0.6},
        "gravity": [0, 0, -9.81],
        "run": {"duration": 2, "step": 0.01},
        "nodes": [
            {"Bodies": {"name": "hand", "bodies": [hand]}},
            {"Bodies": {"name": "box", "bodies": [box]}},
            *left["nodes"],
            *right["nodes"],
        ],
        "joints": [
            {"name": "lift", "kind": "Slider", "b": {"Body": ["hand", 0]}, "at": [0, 0, 0.2], "motors": [lift]},
            *left["joints"],
            *right["joints"],
        ],
        "constraints": [*left["constraints"], *right["constraints"]],
        "materials": [{"name": "rubber", "friction": "$friction"}],
        "colliders": [
            {"Fixed": {"name": "table", "shape": {"Plane": [0, 0, 1]}}},
            {"Bodies": {"node": "box", "material": "rubber"}},
            *left["colliders"],
            *right["colliders"],
        ],
    }


class SoftGripper(Task):
    """Lift a box: the force of the jaws (up to 20 N each) and the speed of the hand (up to 0.2 m/s)."""

    def __init__(self) -> None:
        self.model = pliant.Model.from_dict(scene(), name="soft_gripper")
        self.steps_per_action = 5
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float64)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (8,), np.float64)

    def parameters(self, random: np.random.Generator) -> Mapping[str, float]:
        return {"mass": random.uniform(0.2, 3.5)}

    def act(self, batch: pliant.Batch, actions: NDArray[np.float64]) -> None:
        tau = np.zeros((len(batch), 3))
        tau[:, 1:] = 20 * np.clip(actions[:, :1], -1, 1)
        batch.tau = tau
        batch.drive("lift.motor 0", velocity=0.2 * np.clip(actions[:, 1], -1, 1))

    def observe(self, batch: pliant.Batch) -> NDArray[np.float64]:
        box = batch.positions("box")[:, 0, 2:]
        return np.concatenate([batch.q, batch.qd, box, batch.velocities("box")[:, 0, 2:]], axis=1)

    def reward(self, batch: pliant.Batch, actions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(batch.positions("box")[:, 0, 2] - 0.05)


def main() -> None:
    env = SceneVectorEnv(SoftGripper(), 6)
    env.reset(seed=5)
    force, rewards = 12.0, np.zeros(6)
    for step in range(40):
        # The jaws close for half a second, the hand rises for one, and stays.
        speed = 0.1 if 10 <= step < 30 else 0.0
        action = np.tile([force / 20, speed / 0.2], (6, 1))
        _, rewards, _, _, _ = env.step(action)
    mass, friction = env.batch.parameters["mass"], env.batch.parameters["friction"]
    # Two faces press the box with the force of the jaws: friction carries at most this.
    is_carried = 2 * friction * force > mass * 9.81
    print(f"boxes of {mass.round(2)} kg: lifted by {rewards.round(3)} m")
    assert ((rewards > 0.09) == is_carried).all() and is_carried.any() and not is_carried.all()
    assert rewards[~is_carried].max() < 0.01


if __name__ == "__main__":
    main()
