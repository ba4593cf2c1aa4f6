"""Sag of cantilevers of hexahedra whose volume is rows, by numpy alone.

A beam 1 x 0.1 x 0.1 m, Young's modulus 1e9 Pa, 1000 kg/m^3, 9.81 m/s^2, small strains, clamped at x = 0; hexahedra of 8 nodes with
2 x 2 x 2 points and of 20 with 3 x 3 x 3. The energy is mu |e|^2 at the points and, by Lame's first parameter, that of the projection
of the dilatation onto constants (8 nodes) or linear functions of the place (20 nodes) of each element. Prints the sag (m) of a lower
corner of the free end: python3 benches/reference/volume_rows.py > benches/reference/volume_rows.txt
"""

import itertools

import numpy as np

SIZE, YOUNG, WEIGHT = np.array([1.0, 0.1, 0.1]), 1e9, 9810.0
CORNERS = list(itertools.product((-1, 1), repeat=3))
MIDDLES = [x for x in itertools.product((-1, 0, 1), repeat=3) if x.count(0) == 1]
# Nodes of the reference cell, largest sum of exponents above one, points along an edge.
KINDS = {"hex8": (CORNERS, 1, 2), "hex20": (CORNERS + MIDDLES, 2, 3)}


def terms(degree):
    """Exponents of the trilinear terms, and of those with one square."""
    return [p for p in itertools.product(range(degree + 1), repeat=3) if p.count(2) <= 1]


def functions(nodes, degree, xi):
    """Shape functions and their gradients at a point of the reference cell."""
    powers = terms(degree)
    value = lambda x: [x[0] ** p[0] * x[1] ** p[1] * x[2] ** p[2] for p in powers]
    inverse = np.linalg.inv([value(x) for x in nodes])
    gradient = np.zeros((len(powers), 3))
    for k, p in enumerate(powers):
        for i in range(3):
            if p[i] > 0:
                gradient[k, i] = p[i] * np.prod([float(xi[j]) ** (p[j] - (i == j)) for j in range(3)])
    return inverse.T @ value(xi), inverse.T @ gradient


def element(kind, edges, poisson):
    """Stiffness of a box, and the share of each node in its volume."""
    nodes, degree, along = KINDS[kind]
    mu, lame = YOUNG / (2 * (1 + poisson)), YOUNG * poisson / ((1 + poisson) * (1 - 2 * poisson))
    places, weights = np.polynomial.legendre.leggauss(along)
    count = len(nodes)
    stiffness, shares = np.zeros((3 * count, 3 * count)), np.zeros(count)
    divergences, volumes, linear = [], [], []
    for q in itertools.product(range(along), repeat=3):
        xi = places[list(q)]
        volume = weights[list(q)].prod() * edges.prod() / 8
        values, gradients = functions(nodes, degree, xi)
        gradients = gradients * 2 / edges
        shares += volume * values
        strain = np.zeros((3, 3, 3 * count))
        for a in range(count):
            for i in range(3):
                strain[i, :, 3 * a + i] += gradients[a] / 2
                strain[:, i, 3 * a + i] += gradients[a] / 2
        flat = strain.reshape(9, -1)
        stiffness += 2 * mu * volume * flat.T @ flat
        divergences.append(np.trace(strain))
        volumes.append(volume)
        linear.append([1, *xi] if kind == "hex20" else [1])
    divergences, volumes, linear = np.array(divergences), np.array(volumes), np.array(linear)
    gram = linear.T @ (volumes[:, None] * linear)
    moments = linear.T @ (volumes[:, None] * divergences)
    return stiffness + lame * moments.T @ np.linalg.solve(gram, moments), shares


def sag(kind, cells, poisson):
    nodes, edges = KINDS[kind][0], SIZE / cells
    stiffness, shares = element(kind, edges, poisson)
    numbers, members = {}, []
    for cell in itertools.product(*map(range, cells)):
        places = [tuple(2 * c + 1 + x for c, x in zip(cell, node)) for node in nodes]
        members.append([numbers.setdefault(place, len(numbers)) for place in places])
    whole, load = np.zeros((3 * len(numbers),) * 2), np.zeros(3 * len(numbers))
    for list_ in members:
        at = (3 * np.array(list_)[:, None] + np.arange(3)).ravel()
        whole[np.ix_(at, at)] += stiffness
        load[3 * np.array(list_) + 2] -= WEIGHT * shares
    free = [3 * k + i for place, k in numbers.items() if place[0] > 0 for i in range(3)]
    moved = np.zeros(len(load))
    moved[free] = np.linalg.solve(whole[np.ix_(free, free)], load[free])
    return -moved[3 * numbers[2 * cells[0], 0, 0] + 2]


print("# Element, cells, Poisson's ratio, sag (m)")
for kind in KINDS:
    for cells in [(10, 1, 1), (20, 1, 1), (20, 2, 2)]:
        for poisson in [0.3, 0.4999]:
            print(kind, *cells, poisson, f"{sag(kind, cells, poisson):.10g}")
