"""A strip of film with a notch that tears: membrane elements that break above a limit of stretch.

Bilinear quadrangles with four points, plane stress of St Venant and Kirchhoff, masses at the nodes,
velocity Verlet with steps of 1 us; elements are compared every 20 us, by the largest stretch of the
mean of Green's strain over their points, and are gone from then on. Written apart from Pliant, in
numpy. It prints, for each case: elements in the order in which they broke with their times (s), and
the velocity (m/s) along y of the centre of mass of the upper half at the end.

    python3 torn_sheet.py > torn_sheet.txt
"""

import numpy as np

NX, NY, SIDE = 24, 9, 0.01
YOUNG, POISSON, THICKNESS, DENSITY = 1e6, 0.3, 1e-3, 1000.0
STEP, EVERY = 1e-6, 20
NOTCH = range(96, 102)


def node(i, j):
    return j * (NX + 1) + i


REST = np.array([[SIDE * i, SIDE * j - 0.045] for j in range(NY + 1) for i in range(NX + 1)])
CELLS = np.array(
    [[node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)] for j in range(NY) for i in range(NX)]
)


def gradients():
    """Gradients of the four shape functions at the four points of Gauss (1/m)."""
    corners = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    gauss = 1 / np.sqrt(3)
    points = [(s * gauss, t * gauss) for t in (-1, 1) for s in (-1, 1)]
    scale = 2 / SIDE / 4
    return np.array([[[a * (1 + b * t) * scale, b * (1 + a * s) * scale] for a, b in corners] for s, t in points])


B = gradients()
C = YOUNG / (1 - POISSON**2) * np.array([[1, POISSON, 0], [POISSON, 1, 0], [0, 0, (1 - POISSON) / 2]])


def evaluate(x, alive):
    """Forces on the nodes, and the largest stretch of the mean strain of each element."""
    f = np.einsum("qaj,nai->nqij", B, x[CELLS])
    e = 0.5 * (np.einsum("nqki,nqkj->nqij", f, f) - np.eye(2))
    strains = np.stack([e[..., 0, 0], e[..., 1, 1], 2 * e[..., 0, 1]], -1)
    s = strains @ C.T
    second = np.empty_like(e)
    second[..., 0, 0], second[..., 1, 1] = s[..., 0], s[..., 1]
    second[..., 0, 1] = second[..., 1, 0] = s[..., 2]
    first = np.einsum("nqik,nqkj->nqij", f, second)
    own = -np.einsum("nqij,qaj->nai", first, B) * THICKNESS * SIDE**2 / 4
    own[~alive] = 0
    force = np.zeros_like(x)
    np.add.at(force, CELLS.ravel(), own.reshape(-1, 2))
    one, two, shear = strains.mean(1).T
    largest = 0.5 * (one + two) + np.hypot(0.5 * (one - two), 0.5 * shear)
    return force, np.sqrt(1 + 2 * largest)


def tear(mass, velocity, limit, duration):
    x, v = REST.copy(), np.zeros_like(REST)
    v[:, 1] = velocity
    alive = np.ones(len(CELLS), bool)
    alive[list(NOTCH)] = False
    broken = []
    force, _ = evaluate(x, alive)
    for step in range(1, round(duration / STEP) + 1):
        v += 0.5 * STEP * force / mass[:, None]
        x += STEP * v
        force, stretch = evaluate(x, alive)
        v += 0.5 * STEP * force / mass[:, None]
        if step % EVERY == 0:
            new = np.flatnonzero(alive & (stretch > limit))
            if len(new):
                alive[new] = False
                broken += [(int(cell), step * STEP) for cell in new]
                force, _ = evaluate(x, alive)
    upper = REST[:, 1] > 0
    return broken, (mass[upper] * v[upper, 1]).sum() / mass[upper].sum()


def report(name, broken, speed):
    print(f"{name}: speed of the upper half {speed:.6f}")
    for cell, time in broken:
        print(f"  {cell} {time:.5f}")


shares = np.zeros(len(REST))
np.add.at(shares, CELLS.ravel(), DENSITY * THICKNESS * SIDE**2 / 4)
opened = 120 * REST[:, 1] * (1 - REST[:, 0] / (NX * SIDE))
report("opened at the notch, masses by density, limit 1.1, 3 ms", *tear(shares, opened, 1.1, 0.003))
even = np.full(len(REST), 1e-4)
report("stretched evenly at 85/s, masses of 0.1 g, limit 1.1, 6 ms", *tear(even, 85 * REST[:, 1], 1.1, 0.006))
