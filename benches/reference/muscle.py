"""Fibres of muscles over their stretch, and the contraction of a free block of them, by numpy and scipy alone.

"tension": of a law at an activation, the stretch along the fibres without change of volume, the energy density (the tension
integrated by QUADPACK), the Cauchy stress along the fibres over that across them, l dw/dl.
"contracts": of a block in a matrix mu/2 (J^(-2/3) I1 - 3) + K/2 (J - 1)^2 without forces on it, both stretches at which the
energy is least: roots of its derivatives, which are complex steps.

Laws are written down from their papers: "generic" is Weiss, Maker and Govindjee's passive law with a tension of its activation,
"blemker" that of Blemker, Pinsky and Delp (2005). Pascals.

Prints: python3 benches/reference/muscle.py > benches/reference/muscle.txt
"""

import numpy as np
from scipy.integrate import quad
from scipy.optimize import root

SHEAR, BULK = 4e4, 6e5
GENERIC = dict(stress=3e4, passive=2e3, exponent=6.6, straight=1.4)
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


LAWS = {"generic": (generic, GENERIC, 1.0), "blemker": (blemker, BLEMKER, BLEMKER["optimal"])}


def energy(name, l, a):
    law, numbers, start = LAWS[name]
    edges = [1.0, 1.4] if name == "generic" else [1.1 * u for u in (0.4, 0.6, 1.0, 1.4, 1.6)] + [1.5]
    low, high = sorted((start, l))
    ends = [low] + sorted(e for e in edges if low < e < high) + [high]
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


if __name__ == "__main__":
    for name, (law, numbers, _) in LAWS.items():
        for a in (0.0, 0.3, 1.0):
            for l in (0.35, 0.5, 0.8, 0.97, 1.0, 1.03, 1.2, 1.35, 1.45, 1.6, 1.8):
                print("tension", name, a, l, f"{energy(name, l, a):.12e} {l * law(l, a, **numbers):.12e}")
    for name in LAWS:
        for a in (0.25, 0.6, 1.0):
            print("contracts", name, a, *(f"{x:.14f}" for x in contraction(name, a)))
