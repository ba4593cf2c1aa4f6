"""Cook's membrane in plane strain, nearly incompressible, by numpy and scipy alone: quadrilaterals of nine nodes with a continuous
bilinear pressure (Taylor and Hood), which do not lock.

Corners (0, 0), (48, 44), (48, 60), (0, 44), clamped at x = 0, a shear load of 1/16 per unit of length along x = 48 (1 in all), and
E = 1.12499998125 with nu = 0.499999975 as in the literature, where the middle of the loaded edge rises by about 16.44, and with
nu = 0.3, 0.4999, 0.4999999.

Prints the vertical displacements of the corner (48, 60) and of the middle (48, 52) for n x n cells: python3 benches/reference/cook.py > benches/reference/cook.txt
"""

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

YOUNG = 1.12499998125
GAUSS = [(-np.sqrt(0.6), 5 / 9), (0.0, 8 / 9), (np.sqrt(0.6), 5 / 9)]


def line2(t):
    return np.array([t * (t - 1) / 2, 1 - t * t, t * (t + 1) / 2]), np.array([t - 0.5, -2 * t, t + 0.5])


def line1(t):
    return np.array([(1 - t) / 2, (1 + t) / 2])


def rise(n, poisson):
    mu = YOUNG / (2 * (1 + poisson))
    lam = YOUNG * poisson / ((1 + poisson) * (1 - 2 * poisson))
    m = 2 * n + 1
    s, t = np.meshgrid(np.linspace(0, 1, m), np.linspace(0, 1, m))
    x = 48 * s
    y = 44 * s + t * (44 * (1 - s) + 16 * s)
    nodes = np.stack([x.ravel(), y.ravel()], axis=1)
    count = m * m
    size = 2 * count + (n + 1) ** 2
    rows, columns, values = [], [], []
    for j in range(n):
        for i in range(n):
            nine = np.array([(2 * j + b) * m + 2 * i + a for b in range(3) for a in range(3)])
            four = 2 * count + np.array([(j + b) * (n + 1) + i + a for b in range(2) for a in range(2)])
            k = np.zeros((22, 22))
            for u, wu in GAUSS:
                for v, wv in GAUSS:
                    (nu, du), (nv, dv) = line2(u), line2(v)
                    d = np.stack([np.outer(nv, du).ravel(), np.outer(dv, nu).ravel()], axis=1)
                    jacobian = nodes[nine].T @ d
                    weight = wu * wv * np.linalg.det(jacobian)
                    g = d @ np.linalg.inv(jacobian)
                    p = np.outer(line1(v), line1(u)).ravel()
                    b = np.zeros((3, 18))
                    b[0, 0::2], b[1, 1::2] = g[:, 0], g[:, 1]
                    b[2, 0::2], b[2, 1::2] = g[:, 1], g[:, 0]
                    k[:18, :18] += weight * b.T @ np.diag([2 * mu, 2 * mu, mu]) @ b
                    k[:18, 18:] += weight * np.outer(b[0] + b[1], p)
                    k[18:, 18:] -= weight * np.outer(p, p) / lam
            k[18:, :18] = k[:18, 18:].T
            dofs = np.concatenate([np.stack([2 * nine, 2 * nine + 1], axis=1).ravel(), four])
            rows.append(np.repeat(dofs, 22))
            columns.append(np.tile(dofs, 22))
            values.append(k.ravel())
    k = coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(size, size)).tocsc()
    force = np.zeros(size)
    for j in range(n):
        for b, share in enumerate((1 / 6, 4 / 6, 1 / 6)):
            force[2 * ((2 * j + b) * m + m - 1) + 1] += share / n
    held = {2 * r * m + c for r in range(m) for c in (0, 1)}
    free = np.array([d for d in range(size) if d not in held])
    solution = np.zeros(size)
    solution[free] = splu(k[free][:, free]).solve(force[free])
    # The corner is the last node; the middle of the edge is in the middle row.
    return solution[2 * (count - 1) + 1], solution[2 * (n * m + m - 1) + 1]


def main():
    print("# Poisson's ratio, cells along a side, rise of the corner and of the middle")
    for poisson in (0.3, 0.4999, 0.499999975, 0.4999999):
        for n in (8, 16, 32, 64):
            corner, middle = rise(n, poisson)
            print(f"{poisson} {n} {corner:.10g} {middle:.10g}", flush=True)


main()
