"""Stresses of Cook's membrane in plane stress by another program, scikit-fem: quadrilaterals of nine nodes.

Corners (0, 0), (48, 44), (48, 60), (0, 44), clamped at x = 0, a shear load of 1 in all along x = 48, E = 1, nu = 1/3, thickness 1.
Prints for n x n cells the rise of the middle (48, 52) of the loaded edge, the largest principal stress at the middle (24, 22) of the
lower edge and the smallest at the middle (24, 52) of the upper one, each the mean of the cells that have the point as a corner:

    pip install scikit-fem
    python3 benches/reference/cook_stress.py > benches/reference/cook_stress.txt
"""

import numpy as np
import skfem
from skfem.helpers import sym_grad

POISSON = 1 / 3
LAW = 1 / (1 - POISSON**2)
CORNERS = np.array([[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0]])


def stress(e):
    """Stress (xx, yy, xy) of a strain, for E = 1."""
    return LAW * (e[0, 0] + POISSON * e[1, 1]), LAW * (e[1, 1] + POISSON * e[0, 0]), LAW * (1 - POISSON) * e[0, 1]


@skfem.BilinearForm
def stiffness(u, v, w):
    (xx, yy, xy), e = stress(sym_grad(u)), sym_grad(v)
    return xx * e[0, 0] + yy * e[1, 1] + 2 * xy * e[0, 1]


@skfem.LinearForm
def load(v, w):
    return v[1] / 16


def solve(n):
    square = skfem.MeshQuad.init_tensor(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1))
    s, t = square.p
    mesh = skfem.MeshQuad(np.array([48 * s, 44 * s + t * (44 - 28 * s)]), square.t)
    element = skfem.ElementVector(skfem.ElementQuad2())
    basis = skfem.Basis(mesh, element, intorder=6)
    edge = skfem.FacetBasis(mesh, element, facets=mesh.facets_satisfying(lambda x: np.isclose(x[0], 48)), intorder=6)
    held = basis.get_dofs(lambda x: np.isclose(x[0], 0))
    u = skfem.solve(*skfem.condense(stiffness.assemble(basis), load.assemble(edge), D=held))

    def principal(point, sign):
        found = []
        near = np.all(np.isclose(mesh.p[:, mesh.t], np.reshape(point, (2, 1, 1))), axis=0)
        for corner, cell in zip(*np.nonzero(near)):
            gradient = np.zeros((2, 2))
            for i in range(basis.Nbfun):
                place = CORNERS[:, corner : corner + 1]
                field = basis.elem.gbasis(basis.mapping, place, i, np.array([cell]))[0]
                gradient += u[basis.element_dofs[i, cell]] * np.asarray(field.grad)[:, :, 0, 0]
            found.append(stress((gradient + gradient.T) / 2))
        xx, yy, xy = np.mean(found, axis=0)
        return (xx + yy) / 2 + sign * np.hypot((xx - yy) / 2, xy)

    rise = (basis.probes(np.array([[48.0], [52.0]])) @ u)[1]
    return rise, principal((24, 22), 1), principal((24, 52), -1)


print("# cells along a side, rise, largest stress below, smallest stress above")
for n in (8, 16, 32, 64):
    print(n, *(f"{x:.6f}" for x in solve(n)))
