"""Sag of a cantilever of 10 x 1 x 1 hexahedra of eight nodes with enhanced strains, by numpy alone.

Edges of 1 m, Young's modulus 1e7 Pa, small strains, a load of 100 N across the end, 2 x 2 x 2 points. The first section stays in
its plane, in which it is free to contract ("plane"), or is held wholly ("held"). To the displacement gradient of an element,
modes add a_k p_k(xi) dxi_i/dX: none, xi_i along i ("bending"), and besides xi eta along eta, eta zeta along zeta, zeta xi along xi
("both"). Modes stand in the matrix beside the nodes.

Prints, for each clamp and Poisson's ratio, the mean deflection of the end over Timoshenko's beam without modes, with "bending",
with "both": python3 benches/reference/enhanced.py > benches/reference/enhanced.txt
"""

import itertools

import numpy as np

CELLS, YOUNG, LOAD = 10, 1e7, 100.0
CORNERS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
BENDING = [((0,), 0), ((1,), 1), ((2,), 2)]
BOTH = BENDING + [((0, 1), 1), ((1, 2), 2), ((2, 0), 0)]


def gradients(xi, modes):
    """Derivatives over X of the shape functions, then of the modes, at a point of the unit cube: xi = 2 X - 1."""
    rows = []
    for corner in CORNERS:
        sign = [2 * c - 1 for c in corner]
        part = [1 + s * x for s, x in zip(sign, xi)]
        rows.append([sign[0] * part[1] * part[2], sign[1] * part[0] * part[2], sign[2] * part[0] * part[1]])
    rows = [[2 * g / 8 for g in row] for row in rows]
    for factors, along in modes:
        row = [0.0, 0.0, 0.0]
        row[along] = 2 * np.prod([xi[k] for k in factors])
        rows.append(row)
    return np.array(rows)


def element(modes, poisson):
    """The stiffness over three coordinates of each node, then of each mode."""
    lame = YOUNG * poisson / ((1 + poisson) * (1 - 2 * poisson))
    shear = YOUNG / (2 * (1 + poisson))
    moduli = np.diag([2 * shear] * 3 + [shear] * 3)
    moduli[:3, :3] += lame
    total = 0.0
    for xi in itertools.product([-1 / np.sqrt(3), 1 / np.sqrt(3)], repeat=3):
        g = gradients(xi, modes)
        strain = np.zeros((6, 3 * len(g)))
        for a, (x, y, z) in enumerate(g):
            strain[0, 3 * a] = strain[3, 3 * a + 1] = strain[5, 3 * a + 2] = x
            strain[1, 3 * a + 1] = strain[3, 3 * a] = strain[4, 3 * a + 2] = y
            strain[2, 3 * a + 2] = strain[4, 3 * a + 1] = strain[5, 3 * a] = z
        total = total + strain.T @ moduli @ strain / 8
    return total


def deflection(modes, poisson, held):
    number = {(i, j, k): 4 * i + 2 * j + k for i in range(CELLS + 1) for j in (0, 1) for k in (0, 1)}
    nodes, own = 3 * len(number), 3 * len(modes)
    matrix = np.zeros((nodes + CELLS * own,) * 2)
    part = element(modes, poisson)
    for e in range(CELLS):
        on = [3 * number[(e + c[0], c[1], c[2])] + i for c in CORNERS for i in range(3)]
        on += [nodes + e * own + i for i in range(own)]
        matrix[np.ix_(on, on)] += part
    fixed = set()
    for j, k in itertools.product((0, 1), repeat=2):
        first = 3 * number[(0, j, k)]
        fixed.add(first)
        if held or j == 0:
            fixed.add(first + 1)
        if held or (j == 0 and k == 0):
            fixed.add(first + 2)
    ends = [3 * number[(CELLS, j, k)] + 1 for j in (0, 1) for k in (0, 1)]
    force = np.zeros(len(matrix))
    force[ends] = LOAD / 4
    free = [i for i in range(len(matrix)) if i not in fixed]
    # Scaled to a unit diagonal, and refined once: modes and nodes have rows of other sizes.
    inner = matrix[np.ix_(free, free)]
    scale = 1 / np.sqrt(np.diag(inner))
    inner = inner * np.outer(scale, scale)
    right = scale * force[free]
    x = np.linalg.solve(inner, right)
    x += np.linalg.solve(inner, right - inner @ x)
    moved = np.zeros(len(matrix))
    moved[free] = scale * x
    return moved[ends].mean()


def timoshenko(poisson):
    shear = YOUNG / (2 * (1 + poisson))
    k = 10 * (1 + poisson) / (12 + 11 * poisson)
    return LOAD * CELLS**3 / (3 * YOUNG / 12) + LOAD * CELLS / (k * shear)


for clamp in ("plane", "held"):
    for poisson in (0.0, 0.3, 0.49, 0.4999):
        shares = [deflection(m, poisson, clamp == "held") / timoshenko(poisson) for m in ([], BENDING, BOTH)]
        print(clamp, poisson, *(f"{share:.12f}" for share in shares))
