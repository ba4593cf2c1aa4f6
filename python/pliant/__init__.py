"""Compliant mechanics: one number per constraint, from soft spring to exactly hard.

A :class:`Model` is read from a scene file or text, a :class:`Simulation` moves it:

>>> import pliant
>>> model = pliant.Model.from_string('''(
...     gravity: (0, -9.81, 0),
...     run: (duration: 1, step: 0.01),
...     nodes: [Particles(name: "stone", positions: [(0, 0, 0)], mass: 2)],
... )''')
>>> simulation = pliant.Simulation(model)
>>> report = simulation.step()
>>> report.residual < 1e-12
True
>>> simulation.node("stone").velocities.round(4)
array([[ 0.    , -0.0981,  0.    ]])

All numbers are in SI units, all axes are those of the world unless a name says otherwise, and
quaternions are ``(w, x, y, z)``. Arrays are copies that cannot be written, but for those of
:attr:`Simulation.live` and :attr:`Batch.live`, which follow the state: what is set is set by assigning a whole property. A step that was not solved raises :class:`NotConverged`.
"""

from ._pliant import (
    Batch,
    BatchLive,
    Body,
    Buckling,
    Certificate,
    Check,
    ContactsReport,
    CriticalPoint,
    Energies,
    EquilibriumReport,
    Joint,
    Ledger,
    Live,
    Model,
    Modes,
    Momentum,
    Node,
    Path,
    Rollout,
    SettleReport,
    Simulation,
    StepReport,
    __version__,
    check,
)
from .contacts import CONTACT, ContactState
from .errors import (
    CheckpointError,
    ComponentError,
    Error,
    NotConverged,
    RobotWarning,
    SceneError,
    StateError,
    StepError,
    SweepError,
    UnknownName,
)
from .player import Player
from .scene import Scene

__all__ = [
    "CONTACT",
    "Batch",
    "BatchLive",
    "Body",
    "Buckling",
    "Certificate",
    "Check",
    "CheckpointError",
    "ComponentError",
    "ContactState",
    "ContactsReport",
    "CriticalPoint",
    "Energies",
    "EquilibriumReport",
    "Error",
    "Joint",
    "Ledger",
    "Live",
    "Model",
    "Modes",
    "Momentum",
    "Node",
    "NotConverged",
    "Path",
    "Player",
    "RobotWarning",
    "Rollout",
    "Scene",
    "SceneError",
    "SettleReport",
    "Simulation",
    "StateError",
    "StepError",
    "StepReport",
    "SweepError",
    "UnknownName",
    "__version__",
    "check",
]
