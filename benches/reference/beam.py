"""Rest of a clamped beam of 39 x 3 x 3 hexahedra (40 x 4 x 4 nodes) under its weight, by numpy and scipy alone.

1 m x 0.1 m x 0.1 m, Poisson's ratio 0.3, density 1000 kg/m^3, g = 9.81 m/s^2 along -z, clamped at x = 0, lumped masses (an eighth
of each cell at each corner), trilinear hexahedra with 2 x 2 x 2 points. Two materials: linear, and corotational,
w = mu |F - R|^2 + lambda tr(R^T F - I)^2/2 with the rotation R of F by singular values, at rest by Newton's method with a line
search from the straight beam, the weight put on in steps.

Prints for each Young's modulus the mean place of the nodes at the free end (m): python3 benches/reference/beam.py > benches/reference/beam.txt
"""

import numpy as np
from scipy.sparse import coo_matrix, identity
from scipy.sparse.linalg import splu

NX, NY, NZ = 39, 3, 3
SIZE = np.array([1.0, 0.1, 0.1])
POISSON, DENSITY, GRAVITY = 0.3, 1000.0, 9.81


def mesh():
    ijk = np.array([(i, j, k) for k in range(NZ + 1) for j in range(NY + 1) for i in range(NX + 1)])
    nodes = ijk * SIZE / np.array([NX, NY, NZ])
    number = {tuple(t): n for n, t in enumerate(ijk)}
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    cells = np.array(
        [
            [number[(i + a, j + b, k + c)] for a, b, c in corners]
            for k in range(NZ)
            for j in range(NY)
            for i in range(NX)
        ]
    )
    return nodes, cells, np.array(corners)


def gradients(corners):
    """dN_a/dX at the eight points of a brick, and the volume of each."""
    edge = SIZE / np.array([NX, NY, NZ])
    sign = 2.0 * corners - 1.0
    out = []
    for p in np.array([(a, b, c) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) / np.sqrt(3.0):
        f = 1.0 + sign * p
        g = np.stack([sign[:, k] * np.delete(f, k, axis=1).prod(axis=1) / 8.0 for k in range(3)], axis=1)
        out.append(g * 2.0 / edge)
    return np.array(out), edge.prod() / 8.0


def moduli(young):
    return young / (2 * (1 + POISSON)), young * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))


def linear(x, young, cells, g):
    mu, lam = moduli(young)
    f = np.einsum("eai,qaj->eqij", x[cells], g)
    e = 0.5 * (f + f.transpose(0, 1, 3, 2)) - np.eye(3)
    p = 2 * mu * e + lam * np.trace(e, axis1=2, axis2=3)[..., None, None] * np.eye(3)
    i = np.eye(3)
    c = mu * (np.einsum("ik,jl->ijkl", i, i) + np.einsum("il,jk->ijkl", i, i)) + lam * np.einsum("ij,kl->ijkl", i, i)
    energy = 0.5 * np.einsum("eqij,eqij->", p, e)
    return energy, p, np.broadcast_to(c, f.shape[:2] + c.shape)


def corotational(x, young, cells, g):
    mu, lam = moduli(young)
    f = np.einsum("eai,qaj->eqij", x[cells], g)
    u, s, vt = np.linalg.svd(f)
    flip = np.sign(np.linalg.det(u @ vt))
    u[..., :, 2] *= flip[..., None]
    s[..., 2] *= flip
    r = u @ vt
    tr = s.sum(axis=2) - 3.0
    energy = mu * ((f - r) ** 2).sum() + 0.5 * lam * (tr**2).sum()
    p = 2 * mu * (f - r) + lam * tr[..., None, None] * r
    # dR is 2/(s_a + s_b) along each of the three twists U Q V^T, Q skew of norm one (Smith, De Goes and Kim 2019).
    c = 2 * mu * np.einsum("ik,jl->ijkl", np.eye(3), np.eye(3)) + lam * np.einsum("eqij,eqkl->eqijkl", r, r)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        q = np.zeros((3, 3))
        q[a, b], q[b, a] = 1 / np.sqrt(2), -1 / np.sqrt(2)
        d = u @ q @ vt
        factor = (lam * tr - 2 * mu) * 2.0 / (s[..., a] + s[..., b])
        c = c + factor[..., None, None, None, None] * np.einsum("eqij,eqkl->eqijkl", d, d)
    return energy, p, c


def solve(law, young, start, weights, free, cells, g, volume, tolerance):
    x = start.copy()
    n = x.size
    dofs = (3 * cells[:, :, None] + np.arange(3)).reshape(len(cells), -1)
    rows = np.repeat(dofs, 24, axis=1).ravel()
    columns = np.tile(dofs, (1, 24)).ravel()

    def potential(x):
        return volume * law(x, young, cells, g)[0] + (weights * x[:, 2]).sum()

    for iteration in range(200):
        energy, p, c = law(x, young, cells, g)
        local = volume * np.einsum("eqij,qaj->eai", p, g)
        residual = np.zeros_like(x)
        np.add.at(residual, cells, local)
        residual[:, 2] += weights
        k = volume * np.einsum("qaj,eqijkl,qbl->eaibk", g, c, g, optimize=True)
        matrix = coo_matrix((k.ravel(), (rows, columns)), shape=(n, n)).tocsc()[free][:, free]
        step = np.zeros(n)
        shift = 0.0
        while True:
            shifted = matrix + shift * abs(matrix).max() * identity(len(free), format="csc")
            step[free] = splu(shifted.tocsc()).solve(-residual.ravel()[free])
            if residual.ravel() @ step <= 0:
                break
            shift = max(10 * shift, 1e-6)
        step = step.reshape(x.shape)
        if abs(step).max() < tolerance:
            return x + step, iteration
        length, here, slope = 1.0, potential(x), (residual * step).sum()
        while length > 1e-6 and potential(x + length * step) > here + 1e-4 * length * slope + 1e-13 * abs(here):
            length *= 0.5
        x = x + length * step
    raise RuntimeError("not at rest")


def main():
    nodes, cells, corners = mesh()
    g, volume = gradients(corners)
    weights = np.zeros(len(nodes))
    np.add.at(weights, cells, volume * DENSITY * GRAVITY)
    free = np.array([3 * n + k for n, x in enumerate(nodes) if x[0] > 0 for k in range(3)])
    tip = nodes[:, 0] > 1 - 1e-9
    print("# law, Young's modulus (Pa), mean x and z of the free end (m)")
    for young in 10.0 ** np.arange(5, 13):
        x, _ = solve(linear, young, nodes, weights, free, cells, g, volume, 1e-13)
        print(f"linear {young:.0e} {x[tip, 0].mean():.17g} {x[tip, 2].mean():.17g}", flush=True)
    for young in 10.0 ** np.arange(5, 13):
        x = nodes
        for share in np.linspace(0.1, 1, 10) if young < 1e7 else (1.0,):
            x, n = solve(corotational, young, x, share * weights, free, cells, g, volume, 1e-12 if share == 1 else 1e-6)
        print(f"corotational {young:.0e} {x[tip, 0].mean():.17g} {x[tip, 2].mean():.17g}", flush=True)


main()
