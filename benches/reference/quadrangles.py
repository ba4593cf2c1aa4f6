"""Cook's membrane in plane stress by bilinear quadrilaterals with two points of Gauss along each side, by plain Python alone.

Corners (0, 0), (48, 44), (48, 60), (0, 44), clamped at x = 0, a shear load of 1 in all along x = 48, E = 1, nu = 1/3, thickness 1.
Prints the rise of the middle (48, 52) of the loaded edge for n x n cells: python3 benches/reference/quadrangles.py
"""

CORNERS = ((-1, -1), (1, -1), (1, 1), (-1, 1))


def slopes(a, b):
    return [[s * (1 + t * b) / 4 for s, t in CORNERS], [t * (1 + s * a) / 4 for s, t in CORNERS]]


def rise(n, young=1.0, poisson=1 / 3):
    m = n + 1
    places = [(48 * i / n, 44 * i / n + j / n * (44 - 28 * i / n)) for j in range(m) for i in range(m)]
    c = young / (1 - poisson * poisson)
    law = ((c, c * poisson, 0.0), (c * poisson, c, 0.0), (0.0, 0.0, c * (1 - poisson) / 2))
    size = 2 * m * m
    k = [[0.0] * size for _ in range(size)]
    for j in range(n):
        for i in range(n):
            cell = [j * m + i, j * m + i + 1, (j + 1) * m + i + 1, (j + 1) * m + i]
            for s, t in CORNERS:
                d = slopes(s / 3**0.5, t / 3**0.5)
                jac = [[sum(d[r][q] * places[cell[q]][e] for q in range(4)) for e in (0, 1)] for r in (0, 1)]
                det = jac[0][0] * jac[1][1] - jac[0][1] * jac[1][0]
                gx = [(jac[1][1] * d[0][q] - jac[0][1] * d[1][q]) / det for q in range(4)]
                gy = [(jac[0][0] * d[1][q] - jac[1][0] * d[0][q]) / det for q in range(4)]
                rows = []
                for q in range(4):
                    rows.append((2 * cell[q], (gx[q], 0.0, gy[q])))
                    rows.append((2 * cell[q] + 1, (0.0, gy[q], gx[q])))
                for p, e in rows:
                    stress = [sum(law[a][b] * e[b] for b in range(3)) for a in range(3)]
                    for q, f in rows:
                        k[p][q] += det * sum(stress[a] * f[a] for a in range(3))
    load = [0.0] * size
    for j in range(m):
        load[2 * (j * m + n) + 1] = (0.5 if j in (0, n) else 1.0) / n
    free = [d for d in range(size) if places[d // 2][0] > 0]
    lines = [[k[a][b] for b in free] + [load[a]] for a in free]
    # Elimination of a symmetric positive definite system.
    for p, pivot in enumerate(lines):
        for line in lines[p + 1 :]:
            if line[p]:
                w = line[p] / pivot[p]
                for q in range(p, len(line)):
                    if pivot[q]:
                        line[q] -= w * pivot[q]
    found = [0.0] * len(free)
    for p in reversed(range(len(free))):
        line = lines[p]
        found[p] = (line[-1] - sum(line[q] * found[q] for q in range(p + 1, len(free)))) / line[p]
    return found[free.index(2 * (n // 2 * m + n) + 1)]


for n in (2, 4, 8, 16):
    print(n, f"{rise(n):.8f}")
