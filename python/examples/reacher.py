"""An arm of two links pushes a puck over a table: an environment with contact and friction."""

from collections.abc import Mapping

import gymnasium
import numpy as np
from numpy.typing import NDArray

import pliant
from pliant.gym import SceneVectorEnv, Task

SCENE = """(
    title: "Reacher",
    parameters: {
        "puck_x": 0.55, "puck_y": 0.1, // m, where the puck starts
        "goal_x": 0.55, "goal_y": 0.3, // m, where it is to be pushed
        "shoulder": -1, "elbow": 1.2,  // rad
        "friction": 0.4,
    },
    gravity: (0, 0, -9.81),
    run: (duration: 6, step: 0.01),
    nodes: [
        Bodies(name: "arm", bodies: [
            (
                position: ("0.2 * cos($shoulder)", "0.2 * sin($shoulder)", 0.05),
                rotation: Axis(around: (0, 0, 1), degrees: "$shoulder * 180 / pi"), shape: Box(0.4, 0.04, 0.04), mass: 1,
            ),
            (
                position: (
                    "0.4 * cos($shoulder) + 0.2 * cos($shoulder + $elbow)",
                    "0.4 * sin($shoulder) + 0.2 * sin($shoulder + $elbow)", 0.05,
                ),
                rotation: Axis(around: (0, 0, 1), degrees: "($shoulder + $elbow) * 180 / pi"),
                shape: Box(0.4, 0.04, 0.04), mass: 0.6,
            ),
        ]),
        Bodies(name: "puck", bodies: [(position: ("$puck_x", "$puck_y", 0.03), shape: Cylinder(radius: 0.05, length: 0.06), mass: 0.3)]),
        Mapped(name: "tip", parents: ["arm"], mapping: RigidPoints(points: [(1, (0.2, 0, 0))])),
    ],
    joints: [
        // By frames of the bodies, so that angles are zero where the arm points along x.
        (name: "shoulder", kind: Hinge, at: (0, 0, 0.05), b: Frame(body: ("arm", 0), position: (-0.2, 0, 0)), dampers: [(damping: 0.1)]),
        (
            name: "elbow", kind: Hinge, a: Frame(body: ("arm", 0), position: (0.2, 0, 0)),
            b: Frame(body: ("arm", 1), position: (-0.2, 0, 0)), dampers: [(damping: 0.1)],
        ),
    ],
    materials: [(name: "felt", friction: "$friction"), (name: "ice", friction: 0)],
    colliders: [
        Fixed(name: "table", shape: Plane(0, 0, 1), material: "felt"),
        Bodies(node: "arm", material: "ice"),
        Bodies(node: "puck", material: "felt"),
    ],
)"""


class Reacher(Task):
    """Push the puck to its goal by torques of the shoulder and the elbow, at most 5 N m."""

    def __init__(self) -> None:
        self.model = pliant.Model.from_string(SCENE, name="reacher")
        self.steps_per_action = 2
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float64)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (10,), np.float64)

    def parameters(self, random: np.random.Generator) -> Mapping[str, float]:
        return {
            "puck_x": random.uniform(0.45, 0.6),
            "puck_y": random.uniform(0.1, 0.15),
            "goal_x": random.uniform(0.4, 0.55),
            "goal_y": random.uniform(0.25, 0.35),
        }

    def act(self, batch: pliant.Batch, actions: NDArray[np.float64]) -> None:
        batch.tau = 5 * np.clip(actions, -1, 1)

    def goals(self, batch: pliant.Batch) -> NDArray[np.float64]:
        """Where the pucks are to be pushed, shape (n, 2)."""
        return np.stack([batch.parameters["goal_x"], batch.parameters["goal_y"]], axis=1)

    def observe(self, batch: pliant.Batch) -> NDArray[np.float64]:
        puck = batch.positions("puck")[:, 0, :2]
        tip = batch.positions("tip")[:, 0, :2]
        return np.concatenate([batch.q, batch.qd, tip, puck, self.goals(batch)], axis=1)

    def reward(self, batch: pliant.Batch, actions: NDArray[np.float64]) -> NDArray[np.float64]:
        away = self.goals(batch) - batch.positions("puck")[:, 0, :2]
        return np.asarray(-np.linalg.norm(away, axis=1))


def push(observations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Go behind the puck, then against it towards the goal: a spring and a damper at the tip."""
    q, qd, tip, puck, goal = np.split(observations, [2, 4, 6, 8], axis=1)
    away = goal - puck
    distance = np.linalg.norm(away, axis=1, keepdims=True)
    direction = away / np.maximum(distance, 1e-9)
    along = np.sum((tip - puck) * direction, axis=1, keepdims=True)
    aside = np.linalg.norm(tip - puck - along * direction, axis=1, keepdims=True)
    # To the line through the goal and the puck; along it forwards near to it, else back.
    forwards = 0.03 * np.clip(1 - aside / 0.015, -1, 1)
    forwards = np.where((forwards < 0) & (along < -0.12), 0, forwards)
    sideways = np.clip(puck + along * direction - tip, -0.03, 0.03)
    wanted = np.where(distance < 0.005, 0, 120 * forwards * direction + 300 * sideways)
    a, b = q[:, 0], q[:, 0] + q[:, 1]
    jacobian = np.zeros((len(q), 2, 2))
    jacobian[:, 0, 1] = -0.4 * np.sin(b)
    jacobian[:, 1, 1] = 0.4 * np.cos(b)
    jacobian[:, :, 0] = jacobian[:, :, 1] + 0.4 * np.stack([-np.sin(a), np.cos(a)], axis=1)
    velocity = np.einsum("nij,nj->ni", jacobian, qd)
    force = wanted - 12 * velocity
    return np.asarray(np.clip(np.einsum("nij,ni->nj", jacobian, force) / 5, -1, 1))


def main() -> None:
    env = SceneVectorEnv(Reacher(), 8)
    observations, _ = env.reset(seed=3)
    start = np.linalg.norm(observations[:, 8:] - observations[:, 6:8], axis=1)
    truncated = np.zeros(8, dtype=bool)
    while not truncated.any():
        observations, rewards, _, truncated, _ = env.step(push(observations))
    print(f"pucks were {start.round(3)} m off, and are {(-rewards).round(3)} m off")
    assert (-rewards).max() < 0.006


if __name__ == "__main__":
    main()
