"""A pendulum against its closed form: the angle by Jacobi's elliptic function, summed as a series."""

from math import asin, pi, sin, sqrt

import pliant

model = pliant.Model.from_string(
    """(
    parameters: {"angle": 1.0},
    gravity: (0, -9.81, 0),
    run: (duration: 10, step: 0.005),
    nodes: [
        Particles(name: "bob", positions: [("sin($angle)", "-cos($angle)", 0)], mass: 1),
        Mapped(name: "rod", parents: ["bob"], mapping: Distance(pairs: [(0, (0, 0, 0))])),
    ],
    constraints: [(name: "rod is hard", on: "rod")],
)"""
)
# The period by the arithmetic-geometric mean: T = 2 pi sqrt(l/g) / agm(1, cos(angle/2)).
a, b = 1.0, sqrt(1 - sin(model.parameters["angle"] / 2) ** 2)
for _ in range(6):
    a, b = (a + b) / 2, sqrt(a * b)
period = 2 * pi * sqrt(1 / 9.81) / a

simulation = pliant.Simulation(model)
simulation.run(duration=period)
x, y, _ = simulation.node("bob").positions[0]
angle = asin(x)
print(f"after a period of {period:.6f} s: {angle:.6f} rad, tension {-simulation.reaction('rod is hard')[0]:.4f} N")
# The method is of second order: the phase is late by some (h/period)^2.
assert abs(angle - 1.0) < 1e-4 and abs(x * x + y * y - 1.0) < 1e-9
