"""Shortest ways around ellipsoids from one point to another, by numpy and scipy alone.

A way leaves the first point to a point of contact, of which an angle counts the choices, follows a geodesic (integrated over
its length in plain coordinates, `x'' = -(x' . D x')/(x . D^2 x) D x` with D = diag(1/a^2), Runge-Kutta of eighth order) and goes
straight on to the second point. Of 120 angles, neighbours whose ways pass the second point on different sides have one between them
that meets it, which Brent's method finds; the shortest of all is taken. Beside it, polygons of 80 points are made short from six
starts around the ellipsoid: the shortest of them may differ by what its chords cut, or the program says so, and a way was missed.

Prints, for each of the cases: the semi-axes, both points, the length, the unit vector at the second point, away from the rope:
python3 benches/reference/ellipsoid.py > benches/reference/ellipsoid.txt
"""

import sys

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

ANGLES = 120


def circle(axes, p):
    """Points of contact of tangents from p: centre and two radii."""
    u = p / axes
    n = np.linalg.norm(u)
    e = u / n
    f = np.cross(e, np.eye(3)[np.argmin(abs(e))])
    f /= np.linalg.norm(f)
    r = np.sqrt(1 - 1 / n**2)
    return e / n, r * f, r * np.cross(e, f)


def way(axes, p, q, angle, rtol):
    """By how much the way of this angle misses q across, its length, its direction at the end; None if it never faces q."""
    c, f, g = circle(axes, p)
    a = axes * (c + f * np.cos(angle) + g * np.sin(angle))
    t = (a - p) / np.linalg.norm(a - p)
    d = 1 / axes**2

    def rates(_, x):
        x, v = x[:3], x[3:]
        return np.concatenate([v, -(v @ (d * v)) / ((d * x) @ (d * x)) * d * x])

    def level(_, x):
        return q @ (d * x[:3]) - 1

    level.terminal, level.direction = True, 1
    longest = 7 * axes.max()
    found = solve_ivp(rates, (0, longest), np.concatenate([a, t]), method="DOP853", rtol=rtol, atol=rtol, events=level,
                      max_step=0.1 * axes.min() if rtol < 1e-10 else 0.3 * axes.min())
    if not len(found.t_events[0]):
        return None
    s, x = found.t_events[0][0], found.y_events[0][0]
    b, v = x[:3], x[3:]
    n = d * b
    across = np.cross(v, n / np.linalg.norm(n))
    ahead = q - b
    if ahead @ v <= 0:
        return None
    length = np.linalg.norm(a - p) + s + np.linalg.norm(ahead)
    return ahead @ across / np.linalg.norm(ahead), length, ahead / np.linalg.norm(ahead)


def polygon(axes, p, q, start, points=80):
    """The length of a polygon that is made short: each point in the middle of its neighbours, pushed out along the normal."""
    s = np.linspace(0, 1, points)[:, None]
    line = np.where(s < 0.5, p + (start - p) * 2 * s, start + (q - start) * (2 * s - 1))
    for _ in range(6000):
        for parity in (1, 2):
            inner = line[parity:-1:2]
            inner[:] = 0.5 * (line[parity - 1:-2:2] + line[parity + 1::2])[: len(inner)]
            for _ in range(3):
                value = np.sum((inner / axes) ** 2, axis=1) - 1
                gradient = 2 * inner / axes**2
                move = np.minimum(value, 0) / np.sum(gradient**2, axis=1)
                inner -= move[:, None] * gradient
    return np.sum(np.linalg.norm(np.diff(line, axis=0), axis=1))


def shortest(axes, p, q):
    angles = (np.arange(ANGLES + 1) + 0.5) * 2 * np.pi / ANGLES
    rough = [way(axes, p, q, a, 1e-7) for a in angles]
    best = None
    for k in range(ANGLES):
        if rough[k] is None or rough[k + 1] is None or rough[k][0] * rough[k + 1][0] > 0:
            continue
        if max(abs(rough[k][0]), abs(rough[k + 1][0])) > 0.9:
            continue

        def miss(a):
            found = way(axes, p, q, a, 1e-13)
            return found[0] if found else np.sign(rough[k + 1][0])

        try:
            root = brentq(miss, angles[k], angles[k + 1], xtol=1e-15, rtol=1e-15)
        except ValueError:
            continue
        found = way(axes, p, q, root, 1e-13)
        if found and abs(found[0]) < 1e-9 and (best is None or found[1] < best[1]):
            best = found
    return best


def main():
    random = np.random.default_rng(7)
    count = 0
    while count < 32:
        axes = np.round([[1.0, 0.8, 0.6], [1.0, 0.5, 0.9], [2.0, 0.4, 0.5], [0.3, 1.2, 1.0]][count % 4] * random.uniform(0.9, 1.1, 3), 3)
        p, q = (np.round(axes * s * random.uniform(0.2, 1) + random.normal(size=3) * 0.5, 3) for s in (-1.5, 1.5))
        u, v = p / axes, q / axes
        if min(np.linalg.norm(u), np.linalg.norm(v)) < 1.05:
            continue
        d = v - u
        share = -(u @ d) / (d @ d)
        if not 0 < share < 1 or np.linalg.norm(u + share * d) > 0.95:
            continue
        found = shortest(axes, p, q)
        starts = [2.5 * axes.max() * np.cross(q - p, np.array(e)) / np.linalg.norm(np.cross(q - p, np.array(e)))
                  for e in ([1, 0, 0.1], [-1, 0, 0.1], [0, 1, 0.2], [0, -1, 0.2], [0, 0.1, 1], [0, 0.1, -1])]
        cut = min(polygon(axes, p, q, s) for s in starts)
        print(*axes, *p, *q, f"{found[1]:.14f}", *(f"{x:.13f}" for x in found[2]))
        if abs(found[1] / cut - 1) > 5e-4:
            print(f"case {count} is {found[1]}, but a polygon {cut}", file=sys.stderr)
        count += 1


if __name__ == "__main__":
    main()
