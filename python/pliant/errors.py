"""Exceptions of Pliant: each says what is wrong in the words of the scene."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._pliant import Path, StepReport

__all__ = [
    "CheckpointError",
    "ComponentError",
    "Error",
    "NotConverged",
    "RobotWarning",
    "SceneError",
    "StateError",
    "StepError",
    "SweepError",
    "UnknownName",
]


class Error(Exception):
    """Base of all exceptions of Pliant."""

    #: Which instance of a batch it is about, counted from 0.
    instance: int | None = None


class SceneError(Error, ValueError):
    """A scene that cannot be used; the text of the exception shows the place with a caret, as the program does.

    Attributes that do not apply are ``None``.
    """

    #: Complaint, one line.
    message: str | None = None
    #: Name of the scene file, as it was given.
    file: str | None = None
    #: Line of the place, counted from 1.
    line: int | None = None
    #: First character of the place in its line, counted from 1.
    column: int | None = None
    #: Text under the caret: a key, a name, a number.
    key: str | None = None
    #: Suggestion, one line.
    help: str | None = None
    #: File and line of the call of a :class:`pliant.Scene` that it is about.
    call: str | None = None


class RobotWarning(UserWarning):
    """Parts of a robot that were taken in another way than its file says, or not at all: a line for each."""


class StateError(Error, ValueError):
    """A state, a force, a motion or an option that the model refuses; nothing has changed."""


class UnknownName(Error, KeyError):
    """A name that nothing in the model has; the text lists what there is or names the nearest."""

    def __str__(self) -> str:
        # A KeyError shows its text in quotes.
        return str(self.args[0]) if self.args else ""


class ComponentError(Error, ValueError):
    """A method of a component of one's own returned what cannot be used; the state is as before the step."""

    #: Name of the component.
    component: str | None = None
    #: Node that it acts on or makes.
    node: str | None = None
    #: Name of the method.
    method: str | None = None


class StepError(Error):
    """A step, or a search for rest, that failed; the simulation is as it was before it."""

    #: Time at the start of the step (s), where the error has one.
    time: float | None = None
    #: Report of the step that was not taken, where there is one.
    report: StepReport | None = None
    #: Path of equilibria up to where it is stuck, of :meth:`pliant.Simulation.follow`.
    path: Path | None = None

class NotConverged(StepError):
    """A step or an equilibrium that has no answer within the accuracy asked for, or none was found."""


class CheckpointError(Error, ValueError):
    """Bytes that are no checkpoint, were cut or changed, or are of another scene; nothing has changed."""


class SweepError(Error):
    """A sweep on a cluster that cannot begin or go on; its text says why, as that of ``pliant sweep`` does."""

    #: Exit code that ``pliant sweep`` has then.
    code: int = 2
