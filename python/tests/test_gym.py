"""Environments: episodes alone and side by side, and the mechanics of the examples."""

import runpy
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from conftest import ROOT, SCENES
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

import pliant
from pliant.gym import SceneEnv, SceneVectorEnv, Task

EXAMPLES = ROOT / "python" / "examples"


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def short(make: Callable[[], Task], duration: float) -> Task:
    """A task whose episodes are short."""
    task = make()
    if task.model.text.lstrip().startswith("{"):
        task.model = pliant.Model.from_string(task.model.text, "json", duration=duration)
    else:
        task.model = pliant.Model.from_string(task.model.text, duration=duration)
    return task


TASKS = {"cart_pole": "CartPole", "reacher": "Reacher", "soft_gripper": "SoftGripper"}


@pytest.mark.filterwarnings("ignore:.*A Box observation space")
@pytest.mark.parametrize("name", TASKS)
def test_gymnasium_takes_the_environments(name: str) -> None:
    check_env(SceneEnv(short(example(name)[TASKS[name]], 0.2)), skip_render_check=True)


@pytest.mark.filterwarnings("ignore:.*A Box observation space")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", TASKS)
def test_gymnasium_takes_their_pictures(name: str) -> None:
    make = example(name)[TASKS[name]]
    own = f"pliant-tests/{TASKS[name]}-v0"
    gymnasium.register(id=own, entry_point=lambda **keys: SceneEnv(short(make, 0.2), **keys))
    try:
        env = gymnasium.make(own, render_mode="rgb_array")
        check_env(env.unwrapped)
        env.reset(seed=1)
        first = env.render()
        env.step(env.action_space.sample())
        assert isinstance(first, np.ndarray) and first.shape == (480, 640, 3) and first.dtype == np.uint8
        # Something is drawn, and it moves before a camera that stays.
        second = env.render()
        assert isinstance(second, np.ndarray) and 100 < (first != first[0, 0]).any(axis=2).sum()
        assert (first != second).any() and (first[0, 0] == second[0, 0]).all()
    finally:
        del gymnasium.registry[own]


def test_pictures_of_many_are_those_of_each_alone() -> None:
    task = short(example("cart_pole")["CartPole"], 0.2)
    task.picture_size = (60, 40)
    many = SceneVectorEnv(task, 3, render_mode="rgb_array")
    many.reset(seed=7)
    many.step(np.ones((3, *task.action_space.shape)))
    pictures = many.render()
    assert pictures is not None and [p.shape for p in pictures] == [(40, 60, 3)] * 3
    one = SceneEnv(task, render_mode="rgb_array")
    one.reset(seed=9)
    one.step(np.ones(task.action_space.shape))
    alone = one.render()
    assert alone is not None and (pictures[2] == alone).all()
    # From the place that the task names: far away there is less to see.
    task.camera = ((0, 0, 300), (0, 0, 0))
    far = SceneEnv(task, render_mode="rgb_array")
    far.reset(seed=9)
    distant = far.render()
    assert distant is not None and (distant != distant[0, 0]).sum() < (alone != alone[0, 0]).sum()
    assert 1 / many.metadata["render_fps"] == pytest.approx(task.model.step * task.steps_per_action)


def test_environments_without_a_mode_of_rendering_draw_nothing() -> None:
    task = short(example("cart_pole")["CartPole"], 0.2)
    assert SceneEnv(task).render() is None and SceneVectorEnv(task, 2).render() is None
    for make in (SceneEnv, lambda task, **keys: SceneVectorEnv(task, 2, **keys)):
        with pytest.raises(pliant.StateError, match="not 'human': windows are not opened"):
            make(task, render_mode="human")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("threads", [1, 2])
def test_episodes_side_by_side_have_the_bits_of_episodes_alone(name: str, threads: int) -> None:
    make = example(name)[TASKS[name]]
    task = short(make, 0.2)
    count, actions_each = 3, 12
    random = np.random.default_rng(0)
    actions = random.uniform(-1, 1, (actions_each, count, *task.action_space.shape))
    many = SceneVectorEnv(task, count, threads=threads)
    seen = [many.reset(seed=7)[0]]
    ended = []
    for action in actions:
        observations, rewards, terminated, truncated, _ = many.step(action)
        seen.append(observations)
        ended.append(terminated | truncated)
    assert np.array(ended).any(), "episodes are to end and begin anew"
    for i in range(count):
        alone = SceneEnv(task)
        observation = alone.reset(seed=7 + i)[0]
        over = False
        assert (observation == seen[0][i]).all()
        for step, action in enumerate(actions):
            if over:
                observation, over = alone.reset()[0], False
            else:
                observation, _, *over_by, _ = alone.step(action[i])
                over = any(over_by)
            assert (observation == seen[step + 1][i]).all(), (i, step)
            assert over == ended[step][i]


def cart_pole_motion(start: NDArray[np.float64], force: float, time: float) -> NDArray[np.float64]:
    """Cart and pole by the fourth-order Runge-Kutta method, of Lagrange's equations written by hand."""
    cart, pole, half, gravity = 1.0, 0.1, 0.5, 9.81
    # A box of 0.02 m by 1 m by 0.02 m about its end.
    inertia = pole * (1.0**2 + 0.02**2) / 12 + pole * half**2

    def rate(state: NDArray[np.float64]) -> NDArray[np.float64]:
        _, v, angle, w = state
        mass = np.array([[cart + pole, -pole * half * np.cos(angle)], [-pole * half * np.cos(angle), inertia]])
        right = np.array([force - pole * half * np.sin(angle) * w**2, pole * gravity * half * np.sin(angle)])
        a, b = np.linalg.solve(mass, right)
        return np.array([v, a, w, b])

    steps = 4000
    h = time / steps
    state = start.copy()
    for _ in range(steps):
        k1 = rate(state)
        k2 = rate(state + h / 2 * k1)
        k3 = rate(state + h / 2 * k2)
        k4 = rate(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state


def test_the_cart_and_pole_move_as_lagrange_says() -> None:
    start = np.array([0.1, -0.3, 0.2, 0.5])
    expected = cart_pole_motion(start, 3.0, 0.8)
    model = pliant.Model.from_string(example("cart_pole")["SCENE"])
    errors = []
    for h in (0.01, 0.005, 0.0025):
        names = ("x", "v", "angle", "rate")
        one = pliant.Model.from_string(model.text, parameters=dict(zip(names, start.tolist(), strict=True)), step=h)
        simulation = pliant.Simulation(one)
        assert simulation.q == pytest.approx(start[[0, 2]], abs=1e-12)
        assert simulation.qd == pytest.approx(start[[1, 3]], abs=1e-12)
        simulation.tau = [3.0, 0.0]
        simulation.run(0.8)
        found = np.array([simulation.q[0], simulation.qd[0], simulation.q[1], simulation.qd[1]])
        errors.append(np.abs(found - expected).max())
    # Second order: a quarter at half the step, to a tenth, since the next term is not small yet.
    assert errors[2] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.1)


class Falling(Task):
    """Rods that contradict each other where the generator says so."""

    def __init__(self) -> None:
        text = """(
            parameters: {"miss": 0},
            run: (duration: 0.05, step: 0.01),
            nodes: [
                Particles(name: "bead", positions: [(0, 0, 0)], mass: 1),
                Mapped(name: "a", parents: ["bead"], mapping: Distance(pairs: [(0, (-1, 0, 0))], rest: 1)),
                Mapped(name: "b", parents: ["bead"], mapping: Distance(pairs: [(0, (1, 0, 0))], rest: "1 + $miss")),
            ],
            constraints: [(name: "left rod", on: "a"), (name: "right rod", on: "b")],
        )"""
        self.model = pliant.Model.from_string(text)
        self.action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float64)
        self.observation_space = gymnasium.spaces.Box(-10, 10, (3,), np.float64)
        self.draws = 0

    def parameters(self, random: np.random.Generator) -> dict[str, float]:
        self.draws += 1
        return {"miss": 0.5 if self.draws == 2 else 0.0}

    def act(self, batch: pliant.Batch, actions: NDArray[np.float64]) -> None:
        pass

    def observe(self, batch: pliant.Batch) -> NDArray[np.float64]:
        return batch.positions("bead")[:, 0]

    def reward(self, batch: pliant.Batch, actions: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ones(len(batch))


def test_a_failed_step_is_an_error_or_ends_its_episode() -> None:
    actions = np.zeros((3, 1))
    env = SceneVectorEnv(Falling(), 3)
    env.reset(seed=0)
    with pytest.raises(pliant.NotConverged, match="instance 1"):
        env.step(actions)
    env = SceneVectorEnv(Falling(), 3, failures="truncate")
    env.reset(seed=0)
    _, _, terminated, truncated, infos = env.step(actions)
    assert truncated.tolist() == [False, True, False] and not terminated.any()
    assert "rod" in infos["failure"][1] and infos["_failure"].tolist() == [False, True, False]
    _, rewards, _, truncated, _ = env.step(actions)
    assert rewards.tolist() == [1.0, 0.0, 1.0] and not truncated.any()


def test_ended_episodes_begin_in_the_same_step_or_when_told() -> None:
    actions = np.zeros((2, 1))
    env = SceneVectorEnv(Falling(), 2, autoreset_mode=AutoresetMode.SAME_STEP, failures="truncate")
    env.task.draws = 10  # type: ignore[attr-defined]
    env.reset(seed=0)
    for _ in range(4):
        assert not env.step(actions)[3].any()
    before = env.batch.positions("bead")[:, 0]
    _, _, _, truncated, infos = env.step(actions)
    assert truncated.all() and infos["_final_obs"].all() and (env.batch.time == 0).all()
    # Nothing pulls at the beads.
    assert np.allclose(np.stack(infos["final_obs"]), before, atol=1e-12)
    env.task.draws = 1  # type: ignore[attr-defined]
    env.reset()
    _, _, _, truncated, infos = env.step(actions)
    failed = infos["final_info"]
    assert truncated.tolist() == [True, False] and "rod" in failed["failure"][0] and "failure" not in infos
    env = SceneVectorEnv(Falling(), 2, autoreset_mode="Disabled")
    env.task.draws = 10  # type: ignore[attr-defined]
    env.reset(seed=0)
    for _ in range(5):
        _, _, _, truncated, _ = env.step(actions)
    assert truncated.all()
    with pytest.raises(pliant.StateError, match="reset them"):
        env.step(actions)
    env.reset(options={"reset_mask": np.array([True, False])})
    assert env.batch.time[0] == 0 and env.batch.time[1] > 0


def test_what_environments_refuse() -> None:
    env = SceneVectorEnv(Falling(), 2)
    env.task.draws = 10  # type: ignore[attr-defined]
    env.reset(seed=[1, None])
    refused: list[tuple[Callable[[], Any], str]] = [
        (lambda: env.step(np.zeros((3, 1))), "the actions have the shape"),
        (lambda: env.step(np.full((2, 1), np.nan)), "must be finite"),
        (lambda: env.reset(seed=[1]), "1 seeds for 2"),
        (lambda: env.reset(seed=np.array([1, 2, 3])), "3 seeds for 2"),  # type: ignore[arg-type]
        (lambda: env.reset(options={"reset_mask": [1]}), "reset_mask"),
        (lambda: SceneEnv(Falling(), failures="ignore"), "to .truncate."),  # type: ignore[arg-type]
    ]
    for call, text in refused:
        with pytest.raises(pliant.StateError, match=text):
            call()


class Ended(Falling):
    """A task whose ends have another shape."""

    ends: Any = np.array([[True], [False]])

    def is_terminated(self, batch: pliant.Batch) -> NDArray[np.bool_]:
        return np.asarray(self.ends)


@pytest.mark.parametrize("ends", [np.array([[True], [False]]), np.array([0.0, 1.0]), True])
def test_ends_are_a_truth_value_for_each_instance(ends: Any) -> None:
    task = Ended()
    task.ends, task.draws = ends, 10
    env = SceneVectorEnv(task, 2)
    env.reset(seed=0)
    with pytest.raises(pliant.StateError, match="`is_terminated` returns"):
        env.step(np.zeros((2, 1)))


def test_seeds_repeat_and_observations_can_be_written() -> None:
    env = SceneVectorEnv(short(example("cart_pole")["CartPole"], 0.2), 2)
    first, _ = env.reset(seed=3)
    drawn = env.np_random.random()
    again, _ = env.reset(seed=np.int64(3))  # type: ignore[arg-type]
    assert (first == again).all() and env.np_random.random() == drawn
    assert (env.reset(seed=[3, None])[0][0] == first[0]).all()
    # Its observations are what a batch gives, which cannot be written.
    falling = SceneVectorEnv(Falling(), 2)
    falling.task.draws = 10  # type: ignore[attr-defined]
    assert falling.reset(seed=0)[0].flags.writeable and falling.step(np.zeros((2, 1)))[0].flags.writeable


def test_a_scene_of_the_repository_is_a_task() -> None:
    class Arm(Falling):
        def __init__(self) -> None:
            super().__init__()
            self.model = pliant.Model.from_file(SCENES / "servo_arm.ron", duration=0.1)
            self.observation_space = gymnasium.spaces.Box(-10, 10, (2,), np.float64)

        def parameters(self, random: np.random.Generator) -> dict[str, float]:
            return {}

        def act(self, batch: pliant.Batch, actions: NDArray[np.float64]) -> None:
            batch.drive("shoulder.motor 0", actions[:, 0])

        def observe(self, batch: pliant.Batch) -> NDArray[np.float64]:
            return batch.q

    env = SceneVectorEnv(Arm(), 2)
    env.reset(seed=0)
    observations = env.step(np.array([[0.1], [0.2]]))[0]
    assert observations[0, 0] != observations[1, 0]
