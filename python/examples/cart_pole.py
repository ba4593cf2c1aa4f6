"""A pole on a cart as an environment of Gymnasium: 16 of them side by side, balanced by linear feedback."""

from collections.abc import Mapping

import gymnasium
import numpy as np
from numpy.typing import NDArray

import pliant
from pliant.gym import SceneVectorEnv, Task

SCENE = """(
    title: "Cart and pole",
    // Where the cart and the pole start; the pole leans to -x at positive angles.
    parameters: {"x": 0, "v": 0, "angle": 0, "rate": 0, "half": 0.5},
    gravity: (0, -9.81, 0),
    run: (duration: 10, step: 0.01),
    nodes: [
        Bodies(name: "cart", bodies: [(position: ("$x", 0, 0), velocity: ("$v", 0, 0), shape: Box(0.4, 0.2, 0.2), mass: 1)]),
        Bodies(name: "pole", bodies: [(
            position: ("$x - $half * sin($angle)", "$half * cos($angle)", 0),
            rotation: Axis(around: (0, 0, 1), degrees: "$angle * 180 / pi"),
            velocity: ("$v - $half * cos($angle) * $rate", "-$half * sin($angle) * $rate", 0),
            angular_velocity: (0, 0, "$rate"),
            shape: Box(0.02, "2 * $half", 0.02), mass: 0.1,
        )]),
    ],
    joints: [
        (name: "rail", kind: Slider, axis: (1, 0, 0),
         b: Frame(body: ("cart", 0), rotation: Axis(around: (0, 1, 0), degrees: 90))),
        (name: "pivot", kind: Hinge, a: Frame(body: ("cart", 0)), b: Frame(body: ("pole", 0), position: (0, "-$half", 0))),
    ],
)"""

CART, POLE, HALF, GRAVITY = 1.0, 0.1, 0.5, 9.81


class CartPole(Task):
    """Keep the pole upright by pushing the cart with at most 10 N."""

    def __init__(self) -> None:
        self.model = pliant.Model.from_string(SCENE, name="cart_pole")
        self.steps_per_action = 2
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)
        high = np.array([4.8, np.inf, np.pi, np.inf])
        self.observation_space = gymnasium.spaces.Box(-high, high, dtype=np.float64)

    def parameters(self, random: np.random.Generator) -> Mapping[str, float]:
        names = ("x", "v", "angle", "rate")
        return dict(zip(names, random.uniform(-0.05, 0.05, 4), strict=True))

    def act(self, batch: pliant.Batch, actions: NDArray[np.float64]) -> None:
        tau = np.zeros((len(batch), 2))
        tau[:, 0] = 10 * np.clip(actions[:, 0], -1, 1)
        batch.tau = tau

    def observe(self, batch: pliant.Batch) -> NDArray[np.float64]:
        q, qd = batch.live.q, batch.live.qd
        return np.stack([q[:, 0], qd[:, 0], q[:, 1], qd[:, 1]], axis=1)

    def reward(self, batch: pliant.Batch, actions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ones(len(batch))

    def is_terminated(self, batch: pliant.Batch) -> NDArray[np.bool_]:
        q = batch.live.q
        return np.asarray((np.abs(q[:, 0]) > 2.4) | (np.abs(q[:, 1]) > np.radians(12)))


def feedback(h: float) -> NDArray[np.float64]:
    """Gains of the linear-quadratic regulator of the linearised cart and pole, held for a time h."""
    inertia = POLE * HALF**2 * 4 / 3
    mass = np.array([[CART + POLE, -POLE * HALF], [-POLE * HALF, inertia]])
    a, b = np.zeros((4, 4)), np.zeros((4, 1))
    a[0, 1] = a[2, 3] = 1
    a[[1, 3], 2] = np.linalg.solve(mass, [0, POLE * GRAVITY * HALF])
    b[[1, 3], 0] = np.linalg.solve(mass, [10, 0])
    # The exponential of the motion over h, by its series.
    step = np.eye(4) + sum(np.linalg.matrix_power(a * h, k) / float(np.prod(range(1, k + 1))) for k in range(1, 9))
    push = sum(np.linalg.matrix_power(a * h, k) / float(np.prod(range(1, k + 2))) for k in range(9)) @ b * h
    cost = np.eye(4)
    for _ in range(2000):
        gain = np.linalg.solve(push.T @ cost @ push + 1.0, push.T @ cost @ step)
        cost = np.eye(4) + step.T @ cost @ (step - push @ gain)
    return np.asarray(gain[0])


def main() -> None:
    env = SceneVectorEnv(CartPole(), 16)
    gain = feedback(0.02)
    observations, _ = env.reset(seed=1)
    total = np.zeros(env.num_envs)
    for _ in range(500):
        action = np.clip(-(observations @ gain)[:, np.newaxis], -1, 1)
        observations, rewards, terminated, truncated, _ = env.step(action)
        total += rewards
        assert not terminated.any()
    assert truncated.all()
    print(f"{env.num_envs} poles stood for {total.mean() * 0.02:.0f} s; they lean by {np.abs(observations[:, 2]).max():.1e} rad")
    assert np.abs(observations).max() < 0.02


if __name__ == "__main__":
    main()
