"""Fibres of muscles over their stretch, and the contraction of a free block of them, by numpy and scipy alone.

"tension": of a law at an activation, the stretch along the fibres without change of volume, the energy density (the tension
integrated by QUADPACK), the Cauchy stress along the fibres over that across them, l dw/dl.
"contracts": of a block in a matrix mu/2 (J^(-2/3) I1 - 3) + K/2 (J - 1)^2 without forces on it, both stretches at which the
energy is least: roots of its derivatives, which are complex steps.
"bends": of an arm whose upper half is active, the stretch of its axis and the angle (rad) by which 1 m of it at rest turns.

Laws are written down from their papers: "generic" and "steep" are Weiss, Maker and Govindjee's passive law with a tension of its
activation, "blemker" that of Blemker, Pinsky and Delp (2005). Pascals.

Prints: python3 benches/reference/muscle.py > benches/reference/muscle.txt
"""

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, root

SHEAR, BULK = 4e4, 6e5
GENERIC = dict(stress=3e4, passive=2e3, exponent=6.6, straight=1.4)
STEEP = dict(stress=3e4, passive=2.0, exponent=60.0, straight=1.3)
BLEMKER = dict(stress=3e5, optimal=1.1, passive=0.05, exponent=6.6, straight=1.5)


def generic(l, a, stress, passive, exponent, straight):
    """Tension, force over the area at rest."""
    at = min(max(l.real, 1.0), straight)
    if l.real <= 1.0:
        g = 0.0
    elif l.real <= straight:
        g = passive * (np.exp(exponent * (l - 1)) - 1)
    else:
        top = np.exp(exponent * (at - 1))
        g = passive * (top - 1) + passive * exponent * top * (l - straight)
    return a * stress + g / l


def blemker(l, a, stress, optimal, passive, exponent, straight):
    u, edge = l / optimal, straight / optimal
    if u.real <= 1:
        fp = 0.0
    elif u.real <= edge:
        fp = passive * (np.exp(exponent * (u - 1)) - 1)
    else:
        p3 = passive * exponent * np.exp(exponent * (edge - 1))
        p4 = passive * (np.exp(exponent * (edge - 1)) - 1) - p3 * edge
        fp = p3 * u + p4
    if u.real <= 0.4 or u.real >= 1.6:
        fa = 0.0
    elif u.real <= 0.6:
        fa = 9 * (u - 0.4) ** 2
    elif u.real >= 1.4:
        fa = 9 * (u - 1.6) ** 2
    else:
        fa = 1 - 4 * (1 - u) ** 2
    return stress * (fp + a * fa) / optimal


LAWS = {"generic": (generic, GENERIC, 1.0), "steep": (generic, STEEP, 1.0), "blemker": (blemker, BLEMKER, BLEMKER["optimal"])}


def energy(name, l, a):
    law, numbers, start = LAWS[name]
    edges = [1.1 * u for u in (0.4, 0.6, 1.0, 1.4, 1.6)] if name == "blemker" else [1.0]
    edges = sorted(edges + [numbers["straight"]])
    low, high = sorted((start, l))
    ends = [low] + [e for e in edges if low < e < high] + [high]
    parts = [quad(lambda t: law(t, a, **numbers), x, y, epsabs=0, epsrel=1e-13)[0] for x, y in zip(ends, ends[1:])]
    return np.copysign(sum(parts), l - start)


def contraction(name, a):
    law, numbers, _ = LAWS[name]

    def slopes(x):
        out = []
        for k in (0, 1):
            z = np.array(x, dtype=complex)
            z[k] += 1e-30j
            along, across = z
            j = along * across**2
            matrix = SHEAR / 2 * (j ** (-2 / 3) * (along**2 + 2 * across**2) - 3) + BULK / 2 * (j - 1) ** 2
            stretch = (along / across) ** (2 / 3)
            out.append(matrix.imag / 1e-30 + law(stretch.real, a, **numbers) * stretch.imag / 1e-30)
        return out

    found = root(slopes, [0.8, 1.1], tol=1e-14)
    assert found.success or max(abs(v) for v in slopes(found.x)) < 1e-6, found
    return found.x


def bending(a, shear=4e4, bulk=2e6, numbers=dict(stress=6e4, passive=2e3, exponent=6.6, straight=1.4), height=0.03, places=400):
    """A long beam whose upper half is active, as scenes/octopus_arm.ron: plane sections, each fibre of it free across. Its stretch
    at the axis and the angle by which a length of 1 m at rest turns."""

    def across(l, active):
        def slope(m):
            j = l * m * m
            return shear * j ** (-2 / 3) * (m - (l * l + 2 * m * m) / (3 * m)) + bulk * (j - 1) * l * m - stretched(l, m, active) * l ** (2 / 3) * m ** (-5 / 3) / 3

        return brentq(slope, 0.3, 3.0, xtol=1e-14)

    def stretched(l, m, active):
        return generic(complex((l / m) ** (2 / 3)), active, **numbers).real

    def pull(l, active):
        """Force over the area at rest along the beam, and the stretch across."""
        m = across(l, active)
        j = l * m * m
        p = shear * j ** (-2 / 3) * (l - (l * l + 2 * m * m) / (3 * l)) + bulk * (j - 1) * m * m
        return p + stretched(l, m, active) * 2 / 3 * l ** (-1 / 3) * m ** (-2 / 3), m

    def resultants(x):
        axis, turn = x
        force = moment = 0.0
        for side, active in ((1.0, a), (-1.0, 0.0)):
            # From the axis outwards, by the midpoint rule: y of the deflected section.
            y, h = 0.0, height / 2 / places
            for _ in range(places):
                _, m = pull(axis - turn * y, active)
                y += side * m * h / 2
                p, m = pull(axis - turn * y, active)
                force += p * h
                moment += p * y * h
                y += side * m * h / 2
        return [force / height, moment / height**2]

    found = root(resultants, [0.95, 5.0 * a], tol=1e-9)
    assert found.success, found
    return found.x


if __name__ == "__main__":
    for name, (law, numbers, _) in LAWS.items():
        for a in (0.0, 0.3, 1.0):
            for l in (0.35, 0.5, 0.8, 0.97, 1.0, 1.03, 1.2, 1.35, 1.45, 1.6, 1.8):
                print("tension", name, a, l, f"{energy(name, l, a):.12e} {l * law(l, a, **numbers):.12e}")
    for name in ("generic", "blemker"):
        for a in (0.25, 0.6, 1.0):
            print("contracts", name, a, *(f"{x:.14f}" for x in contraction(name, a)))
    for a in (0.25, 0.5, 1.0):
        print("bends", a, *(f"{x:.8f}" for x in bending(a)))
