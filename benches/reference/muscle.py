"""Fibres of muscles over their stretch, and the contraction of a free block of them, by numpy and scipy alone.

"tension": of a law at an activation, the stretch along the fibres without change of volume, the energy density (the tension
integrated by QUADPACK), the Cauchy stress along the fibres over that across them, l dw/dl.
"contracts": of a block in a matrix mu/2 (J^(-2/3) I1 - 3) + K/2 (J - 1)^2 without forces on it, both stretches at which the
energy is least: roots of its derivatives, which are complex steps.
"bends": of an arm whose upper half is active, as scenes/octopus_arm.ron, the stretch of its axis and the angle (rad) by which 1 m of it at rest turns.

Laws are written down from their papers: "generic" and "steep" are Weiss, Maker and Govindjee's passive law with a tension of its
activation, "blemker" that of Blemker, Pinsky and Delp (2005). Pascals.

Prints: python3 benches/reference/muscle.py > benches/reference/muscle.txt
"""

import numpy as np
from scipy.integrate import quad
from scipy.optimize import root

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


def bending(a, shear=4e4, bulk=2e6, stress=6e4, height=0.03, places=60):
    """A long beam whose upper half is active, as scenes/octopus_arm.ron: plane sections, each layer of which has stretches of its
    own across, so that the energy is least. The stretch at the axis and the angle by which a length of 1 m at rest turns."""
    side = np.repeat([1.0, -1.0], places)
    h = height / 2 / places

    def outwards(values):
        """Sums over the layers between the axis and the middle of each."""
        return np.concatenate([np.cumsum(v) - v / 2 for v in np.split(values, 2)])

    def inwards(values):
        """Sums over the layers beyond the middle of each."""
        return np.concatenate([np.cumsum(v[::-1])[::-1] - v / 2 for v in np.split(values, 2)])

    def slopes(x, a):
        axis, turn = x[:2]
        up, wide = np.split(x[2:], 2)
        y = side * h * outwards(up)
        l = axis - turn * y
        j, square = l * up * wide, l**2 + up**2 + wide**2
        stretch = l * j ** (-1 / 3)
        tension = np.array([generic(t, k, stress, 2e3, 6.6, 1.4) for t, k in zip(stretch, np.where(side > 0, a, 0.0))])

        def of(s, share):
            return shear * j ** (-2 / 3) * (s - square / (3 * s)) + bulk * (j - 1) * j / s + share * tension * stretch / s

        along, across, out = of(l, 2 / 3), of(up, -1 / 3), of(wide, -1 / 3)
        # A layer that grows thick moves all beyond it.
        across = across - turn * side * h * inwards(along)
        return np.concatenate([[np.mean(along), np.mean(along * y) / height], across, out]) / shear

    x = np.concatenate([[1.0, 0.0], np.ones(4 * places)])
    for part in np.linspace(0, a, 21)[1:]:
        x = root(slopes, x, args=(part,), tol=1e-12).x
    assert max(abs(slopes(x, a))) < 1e-8, max(abs(slopes(x, a)))
    return x[:2]


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
