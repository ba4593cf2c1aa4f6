"""A force field of one's own: a planet about its sun, against Kepler's laws."""

from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

import pliant

MU = 4 * pi**2  # of the sun, in astronomical units and years


class Sun:
    """Gravity of a point mass at the origin, of particles of mass 1."""

    def energy(self, x: NDArray[np.float64]) -> float:
        return float(-(MU / np.linalg.norm(x, axis=1)).sum())

    def force(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        r = np.linalg.norm(x, axis=1, keepdims=True)
        return np.asarray(-MU * x / r**3)


a, e = 1.0, 0.3
planet = {
    "name": "planet",
    "positions": [[a * (1 + e), 0, 0]],
    "velocities": [[0, sqrt(MU / a * (1 - e) / (1 + e)), 0]],
    "mass": 1,
}
scene = {"run": {"duration": 1, "step": 0.001}, "nodes": [{"Particles": planet}]}
# The stiffness comes from differences of the force; planets do not act on each other.
model = pliant.Model.from_dict(scene).with_force_field("sun", "planet", Sun(), coupled=False)
report = model.check("sun")
print(report)
assert report.is_good

simulation = pliant.Simulation(model)
energy = simulation.energies.total
simulation.run()  # to the end of the scene, a period of sqrt(a^3) years
x, y, _ = simulation.node("planet").positions[0]
print(f"after a year at ({x:.6f}, {y:.6f}), energy {simulation.energies.total:.6f} of {-MU / (2 * a):.6f}")
assert abs(energy + MU / (2 * a)) < 1e-9
# The method is of second order in the step times the angular velocity, at most 13 per year.
assert abs(x - a * (1 + e)) < 1e-3 and abs(y) < 1e-2
assert abs(simulation.energies.total - energy) < 1e-3
