"""Masses and stiffnesses of a pyramid of 13 nodes and a prism of 15, by numpy and the published functions alone.

The pyramid has the rational functions of Bedrosian (1992), the prism the serendipity functions of the textbooks (Zienkiewicz and
Taylor). Both cells are placed by one affine map; Young's modulus 1 Pa, Poisson's ratio 0.3, density 1 kg/m^3. Gradients are those of
complex steps, integrals products of eight Gauss points along each axis of the collapsed cell, which are exact for them.

Prints for each cell the lumped masses of its nodes (the diagonal of the consistent mass, scaled to the whole), then the eigenvalues of
its consistent mass and of its stiffness: python3 benches/reference/quadratic_cells.py > benches/reference/quadratic_cells.txt
"""

import numpy as np

MAP = np.array([[2.0, 0.5, 0.0], [0.25, 1.0, 0.5], [0.0, 0.25, 1.5]])
YOUNG, POISSON = 1.0, 0.3


def pyramid(x, y, z):
    """Base corners (-1 -1), (1 -1), (1 1), (-1 1), tip (0 0 1), middles of the base, middles of the edges to the tip."""
    t = 1.0 - z
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    out = [0.25 * (a * x + b * y - 1) * ((1 + a * x) * (1 + b * y) - z + a * b * x * y * z / t) for a, b in corners]
    out.append(z * (2 * z - 1))
    out += [
        (t - x) * (t + x) * (t - y) / (2 * t),
        (t - y) * (t + y) * (t + x) / (2 * t),
        (t - x) * (t + x) * (t + y) / (2 * t),
        (t - y) * (t + y) * (t - x) / (2 * t),
    ]
    return np.array(out + [z * (t + a * x) * (t + b * y) / t for a, b in corners])


def prism(x, y, z):
    """Triangle (0 0), (1 0), (0 1) at z = -1, then at 1; middles of its edges below, above, and between."""
    area = [1 - x - y, x, y]
    edges = [(0, 1), (1, 2), (2, 0)]
    out = [0.5 * l * ((2 * l - 1) * (1 + s * z) - (1 - z * z)) for s in (-1, 1) for l in area]
    out += [2 * area[i] * area[j] * (1 + s * z) for s in (-1, 1) for i, j in edges]
    return np.array(out + [l * (1 - z * z) for l in area])


def rule(kind):
    """Points and weights of the reference cell: more than enough."""
    line, weight = np.polynomial.legendre.leggauss(8)
    unit, half = 0.5 * (line + 1), 0.5 * weight
    for u, wu in zip(unit, half):
        for v, wv in zip(unit, half):
            for s, ws in zip(line, weight):
                if kind is prism:
                    yield (u, v * (1 - u), s), wu * wv * ws * (1 - u)
        for v, wv in zip(line, weight):
            for s, ws in zip(line, weight):
                if kind is pyramid:
                    yield (s * (1 - u), v * (1 - u), u), wu * wv * ws * (1 - u) ** 2


def slopes(kind, p):
    """dN/dxi by steps along the imaginary axis."""
    step = 1e-30
    moved = [[c + 1j * step * (i == k) for i, c in enumerate(p)] for k in range(3)]
    return np.array([kind(*m).imag / step for m in moved]).T


def matrices(kind):
    """The consistent mass and the stiffness of the placed cell."""
    lam = YOUNG * POISSON / (1 + POISSON) / (1 - 2 * POISSON)
    shear = YOUNG / 2 / (1 + POISSON)
    law = np.diag([2 * shear] * 3 + [shear] * 3)
    law[:3, :3] += lam
    inverse, volume = np.linalg.inv(MAP), np.linalg.det(MAP)
    count = len(kind(0.1, 0.1, 0.1))
    mass, stiffness = np.zeros((count, count)), np.zeros((3 * count, 3 * count))
    for p, w in rule(kind):
        n, g = kind(*p), slopes(kind, p) @ inverse
        mass += w * volume * np.outer(n, n)
        b = np.zeros((6, 3 * count))
        for a, (gx, gy, gz) in enumerate(g):
            b[:, 3 * a : 3 * a + 3] = [[gx, 0, 0], [0, gy, 0], [0, 0, gz], [gy, gx, 0], [0, gz, gy], [gz, 0, gx]]
        stiffness += w * volume * b.T @ law @ b
    return mass, stiffness


print("# cell, then masses of its nodes (kg), eigenvalues of its mass (kg), eigenvalues of its stiffness (N/m)")
for kind in (pyramid, prism):
    mass, stiffness = matrices(kind)
    lumped = np.diag(mass) * mass.sum() / np.trace(mass)
    rows = [lumped, np.linalg.eigvalsh(mass), np.linalg.eigvalsh(stiffness)[6:]]
    for name, row in zip(("masses", "mass", "stiffness"), rows):
        print(kind.__name__, name, *(f"{value:.15g}" for value in row))
