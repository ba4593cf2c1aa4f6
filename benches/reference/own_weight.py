"""How far a clamped beam of tetrahedra sinks under its weight, exact for its mesh.

``python benches/reference/own_weight.py`` (numpy, scipy) prints, for the meshes of scene D of ``cargo xtask bench peers``,
the mean height of the nodes of the free end at rest by Hooke's law of small strains, of Green's strain (St Venant and
Kirchhoff), and of the small strain in axes that turn with the tetrahedron (corotational). Newton's method, to residual forces
of 1e-10 of the weight; the rotation and its derivative come from the polar decomposition. It shares nothing with the library.
"""

import itertools

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

YOUNG, POISSON, DENSITY, GRAVITY = 1e7, 0.3, 1000.0, 9.81
MU = YOUNG / (2 * (1 + POISSON))
LAMBDA = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))


def mesh(cx: int, cy: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and tetrahedra: each cube in six along its diagonal, one per order of the three axes (Kuhn)."""
    shape = (cx + 1, cy + 1, cy + 1)
    nodes = np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"), -1).reshape(-1, 3)
    nodes = nodes * np.array([1 / cx, 0.1 / cy, 0.1 / cy])
    tetrahedra = []
    for cell in itertools.product(range(cx), range(cy), range(cy)):
        for order in itertools.permutations(range(3)):
            corner, corners = list(cell), [np.ravel_multi_index(cell, shape)]
            for axis in order:
                corner[axis] += 1
                corners.append(np.ravel_multi_index(corner, shape))
            tetrahedra.append(corners)
    return nodes, np.array(tetrahedra)


def linear(f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    eye = np.eye(3)
    strain = 0.5 * (f + f.transpose(0, 2, 1)) - eye
    stress = 2 * MU * strain + LAMBDA * np.trace(strain, axis1=1, axis2=2)[:, None, None] * eye
    tangent = MU * (np.einsum("ik,jl->ijkl", eye, eye) + np.einsum("il,jk->ijkl", eye, eye))
    tangent = tangent + LAMBDA * np.einsum("ij,kl->ijkl", eye, eye)
    return stress, np.broadcast_to(tangent, (len(f), 3, 3, 3, 3))


def green(f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    eye = np.eye(3)
    strain = 0.5 * (f.transpose(0, 2, 1) @ f - eye)
    second = 2 * MU * strain + LAMBDA * np.trace(strain, axis1=1, axis2=2)[:, None, None] * eye
    # P = F S; dP = dF S + F dS, dS = 2 mu dE + lambda tr(dE) I, dE = sym(F^T dF).
    tangent = np.einsum("ik,nlj->nijkl", eye, second) + LAMBDA * np.einsum("nij,nkl->nijkl", f, f)
    tangent += MU * (np.einsum("nil,nkj->nijkl", f, f) + np.einsum("nik,jl->nijkl", f @ f.transpose(0, 2, 1), eye))
    return f @ second, tangent


def corotational(f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    u, s, vt = np.linalg.svd(f)
    r = u @ vt
    assert np.all(np.linalg.det(f) > 0)
    eye = np.eye(3)
    stretch = vt.transpose(0, 2, 1) @ (s[:, :, None] * vt)
    trace = np.trace(stretch, axis1=1, axis2=2) - 3
    # Energy mu |F - R|^2 + lambda/2 tr(S - I)^2: P = 2 mu (F - R) + lambda tr(S - I) R.
    stress = 2 * MU * (f - r) + LAMBDA * trace[:, None, None] * r
    tangent = 2 * MU * np.einsum("ik,jl->ijkl", eye, eye) + LAMBDA * np.einsum("nij,nkl->nijkl", r, r)
    # dR = sum over pairs of axes of the twist u (e_a e_b^T - e_b e_a^T) v^T / sqrt 2, by 2 / (s_a + s_b).
    for a, b in ((0, 1), (0, 2), (1, 2)):
        skew = np.zeros((3, 3))
        skew[a, b], skew[b, a] = 1 / np.sqrt(2), -1 / np.sqrt(2)
        twist = u @ skew @ vt
        weight = (LAMBDA * trace - 2 * MU) * 2 / (s[:, a] + s[:, b])
        tangent += weight[:, None, None, None, None] * np.einsum("nij,nkl->nijkl", twist, twist)
    return stress, tangent


def solve(nodes: np.ndarray, tetrahedra: np.ndarray, law) -> float:
    edges = (nodes[tetrahedra[:, 1:]] - nodes[tetrahedra[:, :1]]).transpose(0, 2, 1)
    volume = np.linalg.det(edges)
    volume, inverse = np.abs(volume) / 6, np.linalg.inv(edges)
    # Gradients of the shape functions: F = x_a grad_a.
    gradients = np.concatenate([-inverse.sum(1, keepdims=True), inverse], 1)
    mass = np.bincount(tetrahedra.ravel(), np.repeat(DENSITY * volume / 4, 4), len(nodes))
    load = np.zeros((len(nodes), 3))
    load[:, 2] = -GRAVITY * mass
    free = np.repeat(nodes[:, 0] > 0, 3)
    dofs = (3 * tetrahedra[:, :, None] + np.arange(3)).reshape(len(tetrahedra), 12)
    rows, columns = np.repeat(dofs, 12, 1).ravel(), np.tile(dofs, (1, 12)).ravel()
    x = nodes.copy()
    # The load in parts, so that Newton's method stays in its reach.
    for share in np.linspace(0.1, 1, 10):
        for _ in range(50):
            f = np.einsum("nai,naj->nij", x[tetrahedra], gradients)
            stress, tangent = law(f)
            forces = np.einsum("n,nij,naj->nai", volume, stress, gradients)
            residual = share * load.ravel() - np.bincount(dofs.ravel(), forces.ravel(), 3 * len(nodes))
            if np.abs(residual[free]).max() < 1e-10 * GRAVITY * mass.sum():
                break
            blocks = np.einsum("n,naj,nijkl,nbl->naibk", volume, gradients, tangent, gradients, optimize=True)
            matrix = coo_matrix((blocks.ravel(), (rows, columns))).tocsc()[free][:, free]
            step = np.zeros(3 * len(nodes))
            step[free] = splu(matrix).solve(residual[free])
            x += step.reshape(-1, 3)
        else:
            raise RuntimeError("Newton's method did not converge")
    end = nodes[:, 0] == 1
    return float(np.mean(x[end, 2] - nodes[end, 2]))


def main() -> None:
    for cells in ((10, 2), (20, 4), (40, 8)):
        beam = mesh(*cells)
        found = [f"{law.__name__} {solve(*beam, law):.9f}" for law in (linear, green, corotational)]
        print(cells, ", ".join(found), flush=True)


if __name__ == "__main__":
    main()
