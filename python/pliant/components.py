"""Components of one's own: what their objects have, and derivatives by automatic differentiation."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Protocol, SupportsFloat, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ForceField", "HasEnergy", "HasForce", "HasPositions"]

_Function: TypeAlias = Callable[..., Any]


class HasEnergy(Protocol):
    """Force field with a potential energy (J) of the positions of its node."""

    def energy(self, x: NDArray[np.float64], /) -> SupportsFloat:
        """Potential energy (J) at positions of shape ``(elements, coordinates)``."""
        ...


class HasForce(Protocol):
    """Force field with a force, ``force(x)`` or ``force(x, v)``."""

    @property
    def force(self) -> Callable[..., ArrayLike]:
        """Force (N) at positions, and at velocities if it takes two arguments, of the shape of the velocities."""
        ...


class HasPositions(Protocol):
    """Mapping, which makes a node of others."""

    @property
    def positions(self) -> Callable[..., ArrayLike]:
        """Positions of the node, shape ``(elements, coordinates)``, at those of each parent."""
        ...


#: Objects that :meth:`pliant.Model.with_force_field` takes.
ForceField: TypeAlias = HasEnergy | HasForce

_OWN = {
    "force_field": ("energy", "force", "stiffness", "damping"),
    "mapping": ("positions", "jacobian", "geometric_stiffness"),
}


def _methods(
    component: Any, kind: str, derivatives: str, coupled: bool
) -> tuple[list[tuple[str, _Function, bool]], bool]:
    """Methods of a component by name, with whether they were given, and whether the force depends on velocities."""
    words = kind.replace("_", " ")
    if inspect.isclass(component):
        raise TypeError(f"a {words} is an object with methods, not a class: {component.__name__}()")
    given = {name: getattr(component, name) for name in _OWN[kind] if callable(getattr(component, name, None))}
    if kind == "mapping" and "positions" not in given:
        raise TypeError(f"{type(component).__name__} is no mapping: it has no `positions(x)`")
    if kind == "force_field" and not given.keys() & {"energy", "force"}:
        raise TypeError(f"{type(component).__name__} is no force field: it has neither `energy(x)` nor `force(x, v)`")
    moving = kind == "force_field" and ("damping" in given or _takes_two(given.get("force")))
    if "damping" in given and not _takes_two(given.get("force")):
        raise TypeError(f"{type(component).__name__} has `damping`, but no `force(x, v)` that depends on velocities")
    if derivatives == "differences":
        return [(name, method, True) for name, method in given.items()], moving
    tools = _Jax() if derivatives == "jax" else _Torch()
    made = _forces(given, tools, coupled) if kind == "force_field" else _rates(given, tools, coupled)
    # What was given is written with the same functions, and wants their arrays in double precision.
    found = [(name, tools.plain(method), True) for name, method in given.items()]
    return found + [(name, method, False) for name, method in made.items() if name not in given], moving


def _takes_two(force: _Function | None) -> bool:
    """Whether a force takes positions and velocities."""
    if force is None:
        return False
    try:
        parameters = inspect.signature(force).parameters.values()
    except (TypeError, ValueError):
        return True
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        return True
    return sum(p.kind in kinds for p in parameters) >= 2


class _Tools(Protocol):
    """Derivatives of functions of arrays, with arrays of NumPy in and out, in double precision."""

    def gradient(self, function: _Function) -> _Function:
        """Gradient of a number, not yet a function of arrays of NumPy."""
        ...

    def push(self, function: _Function, place: int) -> _Function:
        """Function of a direction, then of the arguments: the derivative by one of them along it."""
        ...

    def jacobian(self, function: _Function, place: int) -> _Function:
        """Derivative by one argument, which adds its axes behind."""
        ...

    def plain(self, function: _Function) -> _Function:
        """Function of arrays of NumPy."""
        ...


class _Jax:
    """Derivatives by JAX."""

    def __init__(self) -> None:
        self.jax = _library("jax")

    def gradient(self, function: _Function) -> _Function:
        return self.jax.grad(function)  # type: ignore[no-any-return]

    def push(self, function: _Function, place: int) -> _Function:
        def pushed(direction: Any, *arguments: Any) -> Any:
            def along(x: Any) -> Any:
                return function(*arguments[:place], x, *arguments[place + 1 :])

            return self.jax.jvp(along, (arguments[place],), (direction,))[1]

        return pushed

    def jacobian(self, function: _Function, place: int) -> _Function:
        return self.jax.jacfwd(function, argnums=place)  # type: ignore[no-any-return]

    def plain(self, function: _Function) -> _Function:
        compiled = self.jax.jit(function)
        enable = getattr(self.jax, "enable_x64", None)
        if enable is None or not callable(enable):
            enable = importlib.import_module("jax.experimental").enable_x64

        def called(*arguments: NDArray[np.float64]) -> NDArray[np.float64]:
            with enable(True):
                return np.asarray(compiled(*arguments), dtype=np.float64)

        return called


class _Torch:
    """Derivatives by PyTorch."""

    def __init__(self) -> None:
        self.torch = _library("torch")

    def gradient(self, function: _Function) -> _Function:
        return self.torch.func.grad(function)  # type: ignore[no-any-return]

    def push(self, function: _Function, place: int) -> _Function:
        def pushed(direction: Any, *arguments: Any) -> Any:
            def along(x: Any) -> Any:
                return function(*arguments[:place], x, *arguments[place + 1 :])

            return self.torch.func.jvp(along, (arguments[place],), (direction,))[1]

        return pushed

    def jacobian(self, function: _Function, place: int) -> _Function:
        return self.torch.func.jacrev(function, argnums=place)  # type: ignore[no-any-return]

    def plain(self, function: _Function) -> _Function:
        def called(*arguments: NDArray[np.float64]) -> NDArray[np.float64]:
            own = [self.torch.tensor(np.array(a), dtype=self.torch.float64) for a in arguments]
            return np.asarray(function(*own).detach().cpu().numpy(), dtype=np.float64)

        return called


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as cause:
        text = f"derivatives={name!r} takes the package `{name}`, which cannot be imported: {cause}"
        raise ImportError(text, name=name) from cause


def _blocks(pushed: _Function, x: NDArray[np.float64], arguments: Sequence[Any]) -> NDArray[np.float64]:
    """Derivative of each element by its own coordinates, columns last: the direction moves all elements at once."""
    columns = []
    for k in range(x.shape[1]):
        direction = np.zeros(x.shape)
        direction[:, k] = 1.0
        columns.append(pushed(direction, *arguments))
    return np.stack(columns, axis=-1)


def _forces(given: dict[str, _Function], tools: _Tools, coupled: bool) -> dict[str, _Function]:
    """Force, stiffness and damping of what was given."""
    made: dict[str, _Function] = {}
    moving = _takes_two(given.get("force"))
    if "force" in given:
        force = given["force"]
    else:
        slope = tools.gradient(given["energy"])

        def force(x: Any) -> Any:
            return -slope(x)

        made["force"] = tools.plain(force)

    def derivative(place: int) -> _Function:
        if coupled:
            whole = tools.plain(tools.jacobian(force, place))
            return lambda *arguments: -whole(*arguments)
        pushed = tools.plain(tools.push(force, place))
        return lambda *arguments: -_blocks(pushed, arguments[place], arguments)

    by_position = derivative(0)
    made["stiffness"] = (lambda x: by_position(x, np.zeros_like(x))) if moving else by_position
    if moving:
        made["damping"] = derivative(1)
    return made


def _rates(given: dict[str, _Function], tools: _Tools, coupled: bool) -> dict[str, _Function]:
    """Jacobian and geometric stiffness of what was given."""
    positions = given["positions"]

    def joined(parts: list[NDArray[np.float64]], axes: int) -> NDArray[np.float64]:
        flat = [part.reshape(*part.shape[:axes], -1) for part in parts]
        return np.concatenate(flat, axis=-1)

    def first(function: _Function, count: int) -> list[_Function]:
        of = tools.jacobian if coupled else tools.push
        return [tools.plain(of(function, k)) for k in range(count)]

    memory: dict[tuple[str, int], list[Any]] = {}

    def jacobian(*x: NDArray[np.float64]) -> NDArray[np.float64]:
        key = ("jacobian", len(x))
        if key not in memory:
            memory[key] = first(positions, len(x))
        parts = memory[key]
        if coupled:
            return joined([part(*x) for part in parts], 2)
        return joined([_blocks(part, own, x) for part, own in zip(parts, x)], 2)

    def power(*arguments: Any) -> Any:
        *x, f = arguments
        return (f * positions(*x)).sum()

    def geometric_stiffness(*arguments: NDArray[np.float64]) -> NDArray[np.float64]:
        *x, f = arguments
        key = ("geometric_stiffness", len(x))
        if key not in memory:
            slopes = [_gradient_by(tools, power, k, len(x)) for k in range(len(x))]
            memory[key] = [first(slope, len(x)) for slope in slopes]
        rows = []
        for own, parts in zip(x, memory[key]):
            if coupled:
                row = joined([part(*x, f) for part in parts], 2)
                rows.append(row.reshape(own.size, -1))
            else:
                rows.append(joined([_blocks(part, other, (*x, f)) for part, other in zip(parts, x)], 2))
        return np.concatenate(rows, axis=-2)

    return {"jacobian": jacobian, "geometric_stiffness": geometric_stiffness}


def _gradient_by(tools: _Tools, function: _Function, place: int, count: int) -> _Function:
    """Gradient of a number by one of the positions, as a function of all of them and a force."""

    def slope(*arguments: Any) -> Any:
        def of_one(x: Any) -> Any:
            return function(*arguments[:place], x, *arguments[place + 1 :])

        return tools.gradient(of_one)(arguments[place])

    return slope
