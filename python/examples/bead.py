"""A mapping of one's own: a bead on a cycloid, whose swings take the same time from any height."""

from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

import pliant

R, G = 0.5, 9.81


class AboveCycloid:
    """Height of beads above the cycloid x = R (t + sin t), y = R (1 - cos t) of 2 R (m)."""

    def positions(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        t = self.parameter(x[:, 0])
        return (x[:, 1] - R * (1 - np.cos(t)))[:, None]

    def jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        t = self.parameter(x[:, 0])
        out = np.zeros((len(x), 1, 3))
        out[:, 0, 0] = -np.tan(t / 2)  # dy/dx = sin t / (1 + cos t)
        out[:, 0, 1] = 1
        return out

    def parameter(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Parameter of the place on the curve, by Newton's method."""
        t = x / (2 * R)
        for _ in range(50):
            change = (R * (t + np.sin(t)) - x) / (R * (1 + np.cos(t)))
            t = t - change
            if np.abs(change).max() < 1e-15:
                break
        return t


def period(height: float) -> float:
    """Time of a swing from a height (m), by the turn of the velocity at its other end, doubled."""
    t = np.arccos(1 - height / R)
    bead = {"name": "bead", "positions": [[R * (t + np.sin(t)), height, 0]], "mass": 0.1}
    scene = {"gravity": [0, -G, 0], "run": {"duration": 10, "step": 0.002}, "nodes": [{"Particles": bead}]}
    model = pliant.Model.from_dict(scene).with_mapping("above", "bead", AboveCycloid(), coupled=False)
    assert model.check("above").is_good, str(model.check("above"))
    simulation = pliant.Simulation(model.with_constraint("track", "above"))
    node = simulation.node("bead")
    before = 0.0
    while True:
        simulation.step()
        speed = node.velocities[0, 0]
        if before < 0 <= speed:
            return float(2 * (simulation.time - 0.002 * speed / (speed - before)))
        before = speed


for height in (0.05, 0.2, 0.6):
    found = period(height)
    print(f"from {height} m: {found:.5f} s, {4 * pi * sqrt(R / G):.5f} s by Huygens")
    assert abs(found / (4 * pi * sqrt(R / G)) - 1) < 1e-4
