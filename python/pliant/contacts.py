"""The layout of contacts as a structured array."""

from __future__ import annotations

import enum

import numpy as np

__all__ = ["CONTACT", "ContactState"]


class ContactState(enum.IntEnum):
    """Branch of its law that a contact is on: the values of the field ``state``."""

    #: No impulse.
    OPEN = 0
    #: An impulse, and no slip.
    STICKING = 1
    #: An impulse on the cone of friction, and slip.
    SLIPPING = 2


#: Fields of ``Simulation.contacts``:
#:
#: - ``sides``: both colliders, by their places in ``Simulation.colliders``
#: - ``state``: a :class:`ContactState`
#: - ``point``: its point in the world (m)
#: - ``normal``: unit vector from the first side to the second
#: - ``gap``: distance along the normal at the start of the step (m), negative where they overlap
#: - ``force``: mean force over the step on the second side, world axes (N)
#: - ``impulse``: the same times the length of the step (N s)
#: - ``torque_impulse``: angular impulse of the resistance to spin and rolling on the second side (N m s)
#: - ``velocity``: of the second point against the first at the end of the step (m/s)
#: - ``friction``: coefficient of friction
CONTACT: np.dtype[np.void] = np.dtype(
    [
        ("sides", np.int32, 2),
        ("state", np.int64),
        ("point", np.float64, 3),
        ("normal", np.float64, 3),
        ("gap", np.float64),
        ("force", np.float64, 3),
        ("impulse", np.float64, 3),
        ("torque_impulse", np.float64, 3),
        ("velocity", np.float64, 3),
        ("friction", np.float64),
    ]
)
