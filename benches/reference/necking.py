"""The necking bar of Simo (1988), by numpy and scipy alone: axisymmetric finite elements of a quarter of its section.

Quadrangles of eight nodes with 2 x 2 points (Zienkiewicz, Taylor and Too 1971), which do not lock where the metal keeps its volume.
At each point F = F_e F_p with Hencky's energy and von Mises' flow by the exponential map, in the eigenvectors of the trial's right
Cauchy-Green tensor; tangents are central differences of the stress. Newton's method at every displacement of the end.

Radius 6.413 mm, at the middle less by 1 %, straight between; length 53.334 mm, of which half is meshed. The ends go apart, and are free
to grow thin. E = 206.9 GPa, nu = 0.29, s(p) = 0.45 + 0.12924 p + 0.265 (1 - exp(-16.93 p)) GPa.

"bar ELEMENTS": displacement of an end (mm), force (kN), radius of the neck (mm), plastic strain at the point next to its middle.
Argument: elements along the radius.

The force at most is bounded by Considere's criterion: s'(p) = s(p) at p = 0.1225, s A exp(-p) = 79.7 kN of the whole radius, 78.2 kN
of the neck.

Prints: for n in 4 8 12; do python3 benches/reference/necking.py $n; done > benches/reference/necking.txt
"""

import sys
import warnings

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import spsolve

YOUNG, POISSON = 206.9, 0.29
SHEAR, BULK = YOUNG / (2 * (1 + POISSON)), YOUNG / (3 * (1 - 2 * POISSON))
FIRST, RISE, RATE, LINEAR = 0.45, 0.265, 16.93, 0.12924
RADIUS, HALF, THIN = 6.413, 26.667, 0.01


def stress(f, inverse, p):
    """P, new F_p^-1 and p of points: (n, 3, 3), (n, 3, 3), (n,)."""
    trial = f @ inverse
    values, before = np.linalg.eigh(np.swapaxes(trial, 1, 2) @ trial)
    logs = 0.5 * np.log(values)
    mean = logs.mean(axis=1, keepdims=True)
    deviator = logs - mean
    equivalent = 2 * SHEAR * np.sqrt(1.5 * (deviator**2).sum(axis=1))
    passed = np.zeros_like(p)
    for _ in range(30):
        left = np.exp(-RATE * (p + passed))
        yields = FIRST + LINEAR * (p + passed) + RISE * (1 - left)
        step = (equivalent - 3 * SHEAR * passed - yields) / (3 * SHEAR + LINEAR + RISE * RATE * left)
        passed = np.maximum(passed + step, 0.0)
    kept = 1 - 3 * SHEAR * passed / np.maximum(equivalent, 1e-300)
    tau = 2 * SHEAR * kept[:, None] * deviator + 3 * BULK * mean
    away = np.exp(-(1 - kept[:, None]) * deviator)
    after = trial @ before / np.exp(logs)[:, None, :]
    kirchhoff = (after * tau[:, None, :]) @ np.swapaxes(after, 1, 2)
    first = kirchhoff @ np.swapaxes(np.linalg.inv(f), 1, 2)
    flow = (before * away[:, None, :]) @ np.swapaxes(before, 1, 2)
    return first, inverse @ flow, p + passed


def mesh(radial):
    # Short along the axis at the neck.
    along = 3 * radial
    rows = 2 * along + 1
    s = np.linspace(0, 1, rows)
    z = HALF * (0.35 * s + 0.65 * s**2)
    columns = 2 * radial + 1
    number, nodes = {}, []
    for j in range(rows):
        outer = RADIUS * (1 - THIN * (1 - z[j] / HALF))
        for i in range(columns):
            if i % 2 and j % 2:
                continue
            number[i, j] = len(nodes)
            nodes.append((outer * i / (columns - 1), z[j]))
    cells = []
    for j in range(0, rows - 1, 2):
        for i in range(0, columns - 1, 2):
            at = [(0, 0), (2, 0), (2, 2), (0, 2), (1, 0), (2, 1), (1, 2), (0, 1)]
            cells.append([number[i + a, j + b] for a, b in at])
    return np.array(nodes), np.array(cells)


def shapes(x, y):
    corner = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    n = [0.25 * (1 + a * x) * (1 + b * y) * (a * x + b * y - 1) for a, b in corner]
    gx = [0.25 * a * (1 + b * y) * (2 * a * x + b * y) for a, b in corner]
    gy = [0.25 * b * (1 + a * x) * (a * x + 2 * b * y) for a, b in corner]
    for a, b in [(0, -1), (1, 0), (0, 1), (-1, 0)]:
        if a == 0:
            n.append(0.5 * (1 - x * x) * (1 + b * y))
            gx.append(-x * (1 + b * y))
            gy.append(0.5 * b * (1 - x * x))
        else:
            n.append(0.5 * (1 + a * x) * (1 - y * y))
            gx.append(0.5 * a * (1 - y * y))
            gy.append(-y * (1 + a * x))
    return np.array(n), np.array([gx, gy])


class Bar:
    def __init__(self, radial):
        self.nodes, self.cells = mesh(radial)
        place = self.nodes[self.cells]
        # For each point: the derivatives of the five components rr, rz, zr, zz, tt of F over 16 numbers.
        self.maps, self.weights = [], []
        g = 1 / np.sqrt(3)
        for y in (-g, g):
            for x in (-g, g):
                n, grad = shapes(x, y)
                jacobian = np.einsum("ka,eai->eki", grad, place)
                gradients = np.einsum("eki,ka->eia", np.linalg.inv(jacobian).transpose(0, 2, 1).swapaxes(1, 2), grad)
                radius = place[:, :, 0] @ n
                self.weights.append(2 * np.pi * radius * np.linalg.det(jacobian))
                m = np.zeros((len(place), 5, 16))
                m[:, 0, 0::2], m[:, 1, 0::2] = gradients[:, 0], gradients[:, 1]
                m[:, 2, 1::2], m[:, 3, 1::2] = gradients[:, 0], gradients[:, 1]
                m[:, 4, 0::2] = n[None, :] / radius[:, None]
                self.maps.append(m)
        self.maps = np.concatenate(self.maps)
        self.weights = np.concatenate(self.weights)
        dofs = np.stack([2 * self.cells, 2 * self.cells + 1], axis=2).reshape(len(self.cells), 16)
        self.dofs = np.concatenate([dofs] * 4)
        points = len(self.weights)
        self.inverse = np.repeat(np.eye(3)[None], points, axis=0)
        self.p = np.zeros(points)
        self.u = np.zeros(2 * len(self.nodes))
        r, z = self.nodes.T
        self.pulled = 2 * np.flatnonzero(np.abs(z - HALF) < 1e-9) + 1
        held = np.concatenate([2 * np.flatnonzero(r == 0), 2 * np.flatnonzero(z == 0) + 1, self.pulled])
        self.free = np.setdiff1d(np.arange(len(self.u)), held)
        self.neck = int(np.flatnonzero((z == 0) & (r == r[z == 0].max()))[0])

    def components(self, five):
        f = np.zeros((len(five), 3, 3))
        f[:, 0, 0], f[:, 0, 1], f[:, 1, 0], f[:, 1, 1], f[:, 2, 2] = five.T
        return f

    def five(self, p):
        return np.stack([p[:, 0, 0], p[:, 0, 1], p[:, 1, 0], p[:, 1, 1], p[:, 2, 2]], axis=1)

    def forces(self, u):
        five = np.einsum("qcd,qd->qc", self.maps, u[self.dofs]) + np.array([1.0, 0, 0, 1, 1])
        first, inverse, p = stress(self.components(five), self.inverse, self.p)
        local = np.einsum("q,qcd,qc->qd", self.weights, self.maps, self.five(first))
        force = np.bincount(self.dofs.ravel(), local.ravel(), len(u))
        return force, five, inverse, p

    def tangent(self, five):
        k = np.zeros((len(five), 5, 5))
        step = 1e-6
        for c in range(5):
            ends = []
            for sign in (1, -1):
                moved = five.copy()
                moved[:, c] += sign * step
                ends.append(self.five(stress(self.components(moved), self.inverse, self.p)[0]))
            k[:, :, c] = (ends[0] - ends[1]) / (2 * step)
        blocks = np.einsum("q,qci,qcd,qdj->qij", self.weights, self.maps, k, self.maps, optimize=True)
        rows = np.repeat(self.dofs, 16, axis=1).ravel()
        columns = np.tile(self.dofs, (1, 16)).ravel()
        return csr_matrix((blocks.ravel(), (rows, columns)), shape=(len(self.u),) * 2)

    def pull(self, to):
        """Force (kN) at this displacement of the end (mm): in smaller steps where Newton's method does not come to it."""
        before = self.u[self.pulled[0]]
        try:
            return self.step(to)
        except (RuntimeError, np.linalg.LinAlgError):
            if to - before < 1e-4:
                raise
        self.pull(0.5 * (before + to))
        return self.pull(to)

    def step(self, to):
        u = self.u.copy()
        change = np.zeros_like(u)
        change[self.pulled] = to - u[self.pulled]
        for iteration in range(25):
            force, five, inverse, p = self.forces(u)
            size = np.abs(force[self.free]).max()
            if iteration and size < 1e-9 * np.abs(force).max():
                break
            k = self.tangent(five)
            right = -force - k @ change
            change[self.free] = spsolve(k[self.free][:, self.free], right[self.free])
            if not np.abs(change).max() < 2.0:
                raise RuntimeError("away")
            u += change
            change = np.zeros_like(u)
        else:
            raise RuntimeError("no convergence")
        self.u, self.inverse, self.p = u, inverse, p
        return force[self.pulled].sum()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    radial = int(sys.argv[1])
    bar = Bar(radial)
    volume = bar.weights.sum()
    steps = 280
    for k in range(1, steps + 1):
        to = 7.0 * k / steps
        force = bar.pull(to)
        if k % 20 == 0 or k in (2, 6, 10, 50, 90):
            radius = RADIUS * (1 - THIN) + bar.u[2 * bar.neck]
            print(f"bar {radial} {to:.6g} {force:.6g} {radius:.6g} {bar.p[0]:.6g}", flush=True)
