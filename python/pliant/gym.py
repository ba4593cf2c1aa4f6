"""Environments of Gymnasium over scenes, alone or many side by side.

A :class:`Task` says what is done and seen: it is written once, for a :class:`pliant.Batch`, whose
arrays have the instances first. :class:`SceneEnv` is one instance of it, :class:`SceneVectorEnv` is
many, on several threads. Instance ``i`` of a vector environment with the seed ``s`` has the same
bits as an environment alone with the seed ``s + i``.

The package ``gymnasium`` is needed: ``pip install gymnasium``, or the extra ``pliant[gym]``.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ._pliant import Batch, Model
from .errors import StateError, StepError

__all__ = ["SceneEnv", "SceneVectorEnv", "Task"]

_Array = NDArray[np.float64]
_Truth = NDArray[np.bool_]


class Task(ABC):
    """Task over a scene: what an agent does, what it sees, and what it is rewarded for.

    An episode ends at the duration of the scene (truncated) or where :meth:`is_terminated` says so.
    """

    #: Scene of the task; every instance is a simulation of it.
    model: Model
    #: Actions of one instance.
    action_space: gymnasium.spaces.Box
    #: Observations of one instance.
    observation_space: gymnasium.spaces.Box
    #: Steps of the scene for one action.
    steps_per_action: int = 1
    #: Width and height of the pictures of ``render``, in pixels.
    picture_size: tuple[int, int] = (640, 480)
    #: Places of the camera and of the middle of the picture (m); without, the first picture of an instance
    #: has everything in it, and the others are from there, too.
    camera: tuple[Sequence[float], Sequence[float]] | None = None

    def parameters(self, random: np.random.Generator) -> Mapping[str, float]:
        """Parameters of the scene for one episode of one instance, drawn from its own generator."""
        return {}

    @abstractmethod
    def act(self, batch: Batch, actions: _Array) -> None:
        """Set forces, motors and inputs by the actions, of shape ``(n, *action_space.shape)``."""

    @abstractmethod
    def observe(self, batch: Batch) -> _Array:
        """Observations, shape ``(n, *observation_space.shape)``; they are copied, so that they may be live arrays."""

    @abstractmethod
    def reward(self, batch: Batch, actions: _Array) -> _Array:
        """Rewards of the steps just taken, shape ``(n,)``."""

    def is_terminated(self, batch: Batch) -> _Truth:
        """Whether the episodes have come to their natural ends, shape ``(n,)``."""
        return np.zeros(len(batch), dtype=np.bool_)


def _metadata(task: Task) -> dict[str, Any]:
    """Metadata of an environment: pictures are as many per second as there are actions."""
    return {"render_modes": ["rgb_array"], "render_fps": 1 / (task.model.step * task.steps_per_action)}


def _check_mode(mode: str | None) -> str | None:
    if mode not in (None, "rgb_array"):
        raise StateError(f"the mode of rendering is \"rgb_array\", not {mode!r}: windows are not opened")
    return mode


class _Pictures:
    """Pictures of instances, each from a place of its own."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.cameras: dict[int, tuple[Any, Any]] = {}

    def draw(self, batch: Batch, instance: int) -> NDArray[np.uint8]:
        """Draw an instance as it is."""
        width, height = self.task.picture_size
        simulation = batch[instance]
        if instance not in self.cameras:
            self.cameras[instance] = self.task.camera or simulation.camera(width, height)
        eye, target = self.cameras[instance]
        # A copy: what others draw into it is theirs.
        return simulation.picture(width, height, eye=eye, target=target).copy()


class _Episodes:
    """Episodes of all instances of a task, each with a generator of its own."""

    def __init__(self, task: Task, n: int, threads: int | None, failures: str) -> None:
        if failures not in ("raise", "truncate"):
            raise StateError(f"failures are to \"raise\" or to \"truncate\", not to {failures!r}")
        self.task = task
        self.batch = Batch(task.model, n, threads=threads)
        self.keeps_going = failures == "truncate"
        self.actions = batch_space(task.action_space, n)

    def restart(self, which: Sequence[int], randoms: Sequence[np.random.Generator]) -> None:
        """Begin episodes anew with parameters that are drawn for them."""
        draws = [dict(self.task.parameters(random)) for random in randoms]
        if any(draw.keys() != draws[0].keys() for draw in draws):
            raise StateError("a task draws the same parameters for every episode")
        columns = {name: np.array([draw[name] for draw in draws], dtype=float) for name in (draws[0] if draws else ())}
        self.batch.reset(np.asarray(which, dtype=np.int64), parameters=columns)

    def observe(self) -> _Array:
        """Observations of all instances, of the type that their space has."""
        space = self.task.observation_space
        # A copy: what a batch gives cannot be written.
        found = cast("_Array", np.array(self.task.observe(self.batch), dtype=space.dtype))
        expected = (len(self.batch), *space.shape)
        if found.shape != expected:
            raise StateError(f"`observe` returns the shape {found.shape}, but the task's space asks for {expected}")
        return found

    def rewards(self, actions: _Array) -> _Array:
        """Rewards of all instances."""
        found = np.array(self.task.reward(self.batch, actions), dtype=float)
        if found.shape != (len(self.batch),):
            raise StateError(f"`reward` returns the shape {found.shape}, but there are {len(self.batch)} instances")
        return found

    def is_terminated(self) -> _Truth:
        """Whether the episodes of all instances have come to their ends."""
        found = np.asarray(self.task.is_terminated(self.batch))
        if found.shape != (len(self.batch),) or found.dtype != np.bool_:
            raise StateError(
                f"`is_terminated` returns {found.dtype} of the shape {found.shape}, "
                f"but there are {len(self.batch)} instances, each with a truth value"
            )
        return found

    def check(self, actions: Any) -> _Array:
        """Actions as an array, of all instances."""
        found = cast("_Array", np.asarray(actions, dtype=self.task.action_space.dtype))
        if found.shape != self.actions.shape:
            raise StateError(f"the actions have the shape {found.shape}, but must have {self.actions.shape}")
        if not np.isfinite(found).all():
            raise StateError("the actions must be finite")
        return found

    def step(self, which: NDArray[np.int64]) -> dict[int, StepError | StateError]:
        """Take the steps of one action in some instances; return what failed, if that is to go on."""
        taken = self.batch.step(steps=self.task.steps_per_action, which=which, return_exceptions=self.keeps_going)
        return {i: one for i, one in enumerate(taken) if isinstance(one, (StepError, StateError))}


class SceneEnv(gymnasium.Env[_Array, _Array]):
    """Environment of one instance of a task.

    A step that fails raises :class:`pliant.StepError`; with ``failures="truncate"`` it ends the
    episode, and ``info["failure"]`` has its text. With ``render_mode="rgb_array"``, :meth:`render`
    returns pictures (:meth:`pliant.Simulation.picture`), of the ``picture_size`` of the task and from
    its ``camera``.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(
        self,
        task: Task,
        *,
        failures: Literal["raise", "truncate"] = "raise",
        render_mode: Literal["rgb_array"] | None = None,
    ) -> None:
        self._episodes = _Episodes(task, 1, 1, failures)
        self._pictures = _Pictures(task)
        self.task = task
        self.metadata = _metadata(task)
        self.render_mode = _check_mode(render_mode)
        self.action_space = cast("gymnasium.Space[_Array]", task.action_space)
        self.observation_space = cast("gymnasium.Space[_Array]", task.observation_space)

    @property
    def batch(self) -> Batch:
        """Batch of one, the instance."""
        return self._episodes.batch

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[_Array, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        self._episodes.restart([0], [self.np_random])
        return self._episodes.observe()[0], {}

    def step(self, action: _Array) -> tuple[_Array, float, bool, bool, dict[str, Any]]:
        """Take the steps of one action."""
        episodes = self._episodes
        actions = episodes.check(np.asarray(action)[np.newaxis])
        self.task.act(self.batch, actions)
        failed = episodes.step(np.array([0]))
        info = {"failure": str(error) for error in failed.values()}
        terminated = bool(episodes.is_terminated()[0])
        truncated = bool(failed) or bool(self.batch.is_done[0])
        return episodes.observe()[0], float(episodes.rewards(actions)[0]), terminated, truncated, info


    def render(self) -> NDArray[np.uint8] | None:
        """Draw the present moment: an array of shape ``(height, width, 3)``; ``None`` without a mode of rendering."""
        return None if self.render_mode is None else self._pictures.draw(self.batch, 0)


class SceneVectorEnv(VectorEnv[_Array, _Array, Any]):
    """Environment of many instances of a task, stepped side by side on ``threads`` threads.

    An episode that has ended begins anew at the next step, whose action it does not take, or as
    ``autoreset_mode`` says. A step that fails raises :class:`pliant.StepError` once all others are
    taken; with ``failures="truncate"`` it ends the episode of its instance, and
    ``infos["failure"]`` has its text. Pictures are those of :class:`SceneEnv`, one for each instance.
    """

    def __init__(
        self,
        task: Task,
        num_envs: int,
        *,
        threads: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        failures: Literal["raise", "truncate"] = "raise",
        render_mode: Literal["rgb_array"] | None = None,
    ) -> None:
        self._episodes = _Episodes(task, num_envs, threads, failures)
        self._pictures = _Pictures(task)
        self.render_mode = _check_mode(render_mode)
        self.task = task
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**_metadata(task), "autoreset_mode": self.autoreset_mode}
        self.single_action_space = task.action_space
        self.single_observation_space = task.observation_space
        self.action_space = self._episodes.actions
        self.observation_space = batch_space(task.observation_space, num_envs)
        self._randoms = [seeding.np_random(None)[0] for _ in range(num_envs)]
        self._has_ended = np.zeros(num_envs, dtype=np.bool_)

    @property
    def batch(self) -> Batch:
        """Batch of all instances."""
        return self._episodes.batch

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[_Array, dict[str, Any]]:
        """Begin episodes in all instances, or in those of the truth values ``options["reset_mask"]``."""
        seeds = self._seeds(seed)
        # What the environment itself or a wrapper draws is repeated, too.
        super().reset(seed=next((own for own in seeds if own is not None), None))
        mask = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_)))
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise StateError(f"`reset_mask` has a truth value for each of {self.num_envs} instances")
        for i, own in enumerate(seeds):
            if mask[i] and own is not None:
                self._randoms[i] = seeding.np_random(own)[0]
        self._restart(mask)
        return self._episodes.observe(), {}

    def step(self, actions: _Array) -> tuple[_Array, _Array, _Truth, _Truth, dict[str, Any]]:
        """Take the steps of one action in every instance."""
        actions = self._episodes.check(actions)
        begins = self._has_ended.copy()
        if begins.any() and self.autoreset_mode == AutoresetMode.DISABLED:
            raise StateError("some episodes have ended: reset them, which this environment does not do by itself")
        self.task.act(self.batch, actions)
        # What an ended episode was told to do goes with it.
        self._restart(begins)
        failed = self._episodes.step(np.flatnonzero(~begins))
        rewards = np.where(begins, 0.0, self._episodes.rewards(actions))
        terminated = self._episodes.is_terminated() & ~begins
        truncated = self.batch.is_done & ~begins
        truncated[list(failed)] = True
        own = {i: {"failure": str(error)} for i, error in failed.items()}
        infos: dict[str, Any] = {}
        self._has_ended = terminated | truncated
        observations = self._episodes.observe()
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._has_ended.any():
            for i in map(int, np.flatnonzero(self._has_ended)):
                ended = {"final_obs": observations[i], "final_info": own.pop(i, {})}
                infos = self._add_info(infos, ended, i)
            self._restart(self._has_ended.copy())
            observations = self._episodes.observe()
        for i, info in own.items():
            infos = self._add_info(infos, info, i)
        return observations, rewards, terminated, truncated, infos

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Draw every instance: arrays of shape ``(height, width, 3)``; ``None`` without a mode of rendering."""
        if self.render_mode is None:
            return None
        return tuple(self._pictures.draw(self.batch, i) for i in range(self.num_envs))

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """Seeds of all instances: those that follow a number, or those of a list."""
        if seed is None:
            return [None] * self.num_envs
        if np.ndim(cast("Any", seed)) == 0:
            first = operator.index(cast("int", seed))
            return [first + i for i in range(self.num_envs)]
        seeds = [None if own is None else operator.index(own) for own in cast("Sequence[int | None]", seed)]
        if len(seeds) != self.num_envs:
            raise StateError(f"there are {len(seeds)} seeds for {self.num_envs} instances")
        return seeds

    def _restart(self, mask: _Truth) -> None:
        which = [int(i) for i in np.flatnonzero(mask)]
        if which:
            self._episodes.restart(which, [self._randoms[i] for i in which])
        self._has_ended[mask] = False
