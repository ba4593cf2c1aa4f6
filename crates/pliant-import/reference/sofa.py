"""Motion of the SOFA scenes of the tests (`tests/models/*.scn`) by what SOFA's components mean.

    python crates/pliant-import/reference/sofa.py > crates/pliant-import/tests/it/sofa.json

Masses, springs and joints of each scene are written here by hand as equations, and integrated by
the classical Runge-Kutta method of fourth order with steps of 20 microseconds; NumPy alone is
needed. Halving the step changes no number by more than 1e-10.
"""

import json
import sys

import numpy as np

STEP = 2e-5


def integrate(acceleration, x, v, time):
    """Positions and velocities after a time."""
    x, v = np.array(x, float), np.array(v, float)
    steps = round(time / STEP)
    h = time / steps
    for _ in range(steps):
        a1 = acceleration(x, v)
        a2 = acceleration(x + h / 2 * v, v + h / 2 * a1)
        x3, v3 = x + h / 2 * (v + h / 2 * a1), v + h / 2 * a2
        a3 = acceleration(x3, v3)
        x4, v4 = x + h * v3, v + h * a3
        a4 = acceleration(x4, v4)
        x, v = (
            x + h / 6 * (v + 2 * (v + h / 2 * a1) + 2 * v3 + v4),
            v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4),
        )
    return x, v


def hard_string(time):
    """Four masses of 0.5 kg on three hard links of 0.5 m, the first held, 30 degrees below x."""
    direction = np.array([np.cos(np.pi / 6), -np.sin(np.pi / 6), 0])
    x = np.array([0.5 * i * direction for i in range(4)])
    gravity = np.array([0, -9.81, 0])
    mass = 0.5

    def acceleration(x, v):
        d, w = np.diff(x, axis=0), np.diff(v, axis=0)
        # Half of the second derivative of each squared length is zero: d . (a_b - a_a) + w . w = 0,
        # with forces of the links along themselves.
        a = np.zeros((3, 3))
        for i in range(3):
            a[i, i] = d[i] @ d[i] * (1 if i == 0 else 2) / mass
            if i > 0:
                a[i, i - 1] = a[i - 1, i] = -d[i] @ d[i - 1] / mass
        b = np.array([w[i] @ w[i] + (d[0] @ gravity if i == 0 else 0) for i in range(3)])
        tension = np.linalg.solve(a, b)
        out = np.tile(gravity, (4, 1))
        for i in range(3):
            out[i] += tension[i] * d[i] / mass
            out[i + 1] -= tension[i] * d[i] / mass
        out[0] = 0
        return out

    return integrate(acceleration, x, np.zeros((4, 3)), time)[0]


def springs(x, v, pairs, stiffness, damping, rest):
    """Forces of springs along lengths."""
    out = np.zeros_like(x)
    for (i, j), k, d, length in zip(pairs, stiffness, damping, rest):
        u = x[j] - x[i]
        size = np.linalg.norm(u)
        u = u / size
        f = (k * (size - length) + d * (u @ (v[j] - v[i]))) * u
        out[i] += f
        out[j] -= f
    return out


def sprung(x, v, mass, held, gravity, pairs, stiffness, damping, rest, time):
    def acceleration(x, v):
        a = springs(x, v, pairs, stiffness, damping, rest) / mass + gravity
        a[held] = 0
        return a

    return integrate(acceleration, x, v, time)[0]


def soft_string(time):
    x = [[0, 0, 3], [0.5, 0, 3], [1, 0, 3]]
    v = [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    pairs = [(0, 1), (1, 2)]
    g = np.array([0, -9.81, 0])
    return sprung(x, v, 0.25, [0], g, pairs, [100, 100], [0.2, 0.2], [0.4, 0.6], time)


def net(time):
    """MeshSpringForceField: stiffness and damping of the file over the length of each edge."""
    x = np.array([[i / 2, j, 0] for j in range(3) for i in range(3)], float)
    pairs = [(i + 3 * j, i + 1 + 3 * j) for j in range(3) for i in range(2)]
    pairs += [(i + 3 * j, i + 3 * j + 3) for j in range(2) for i in range(3)]
    rest = [np.linalg.norm(x[b] - x[a]) for a, b in pairs]
    stiffness, damping = [50 / r for r in rest], [0.4 / r for r in rest]
    g = np.array([0, 0, -9.81])
    return sprung(x, np.zeros((9, 3)), 0.2, [0, 2, 6, 8], g, pairs, stiffness, damping, rest, time)


def pair(time):
    x = [[5, 0, 0], [5, 0, -1], [5, 0, -2]]
    g = np.array([0, 0, -9.81])
    return sprung(x, np.zeros((3, 3)), 0.5, [0], g, [(0, 1), (1, 2)], [100, 60], [1, 0], [0.9, 1], time)


def one(acceleration, x, v, time):
    """A single coordinate and its rate."""
    x, v = integrate(lambda x, v: np.array([acceleration(x[0], v[0])]), [x], [v], time)
    return [x[0], v[0]]


def main():
    time = 0.4
    # The arm: 2 kg at 0.5 m and 0.5 kg at 1 m from the hinge, 0.2 kg m^2 about it.
    inertia = 0.2 + 2 * 0.5**2 + 0.5 * 1.0**2
    torque = 10 * (2 * 0.5 + 0.5 * 1.0)
    # The rod: 3 kg at 0.6 m, 0.36 kg m^2.
    rod = 0.36 + 3 * 0.6**2
    out = {
        "time": time,
        "hard": hard_string(time).tolist(),
        "soft": soft_string(time).tolist(),
        "hinge": one(lambda q, w: (torque * np.cos(q) - 0.3 * w) / inertia, 0, 0, time),
        "rod": one(lambda q, w: (18 * np.cos(q) - 1.5 * w) / rod, 0, 0, time),
        "net": net(time).tolist(),
        "pair": pair(time).tolist(),
        "held": [one(lambda z, w: (-k * z - 15 * w) / 2 - 9.81, 0, 0, time)[0] for k in (200, 400)],
        "pulled": one(lambda x, w: (-400 * x - 15 * w + 3) / 2, 0, 0, time)[0],
        "heap": one(lambda z, w: (1000 * max(0.0, 0.1 - z) - 40 * w) / 3 - 9.81, 0.2, 0, time)[0],
    }
    json.dump(out, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
