"""Motion of the six-revolute linkage of Bricard, in its one minimal coordinate. Plain Python, about ten seconds.

Bars of 1 m along the edges of a cube, 1 kg each, 0.1 m square; P0 = (0,0,0) and P5 = (0,0,1) are on the ground, the hinge at each
corner is across both bars. Gravity 9.81 down y. The closure (six equations, five unknown angles) is solved by Gauss-Newton for
each angle a of the first hinge; kinetic energy I(a) a'^2/2 and potential V(a) are interpolated at Chebyshev points; a'' follows
from Lagrange's equation, by RK4 at h = 1e-3 (halving it changes the 11th digit). Prints the centre of the third bar and a at some times.
"""
from math import cos, sin, pi

def rot(axis, a):
    c, s = cos(a), sin(a)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    r = [[0.0] * 3 for _ in range(3)]
    r[axis][axis] = 1.0
    r[i][i] = r[j][j] = c
    r[i][j], r[j][i] = -s, s
    return r

def mul(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(3)] for i in range(3)]

def app(a, v):
    return [sum(a[i][k] * v[k] for k in range(3)) for i in range(3)]

AXES = [1, 2, 0, 1, 2, 0]
BARS = [[1, 0, 0], [0, -1, 0], [0, 0, 1], [-1, 0, 0], [0, 1, 0]]

def chain(angles):
    r, p = [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]], [0.0, 0.0, 0.0]
    rotations, points = [], [p]
    for k in range(5):
        r = mul(r, rot(AXES[k], angles[k]))
        p = [p[i] + x for i, x in enumerate(app(r, BARS[k]))]
        rotations.append(r)
        points.append(p)
    return rotations, points, mul(r, rot(AXES[5], angles[5]))

def closure(angles):
    _, points, last = chain(angles)
    p = points[5]
    # The last rotation is the identity: its antisymmetric part vanishes.
    return [p[0], p[1], p[2] - 1.0, last[2][1] - last[1][2], last[0][2] - last[2][0], last[1][0] - last[0][1]]

def solve(a, b):
    n = len(b)
    m = [row[:] + [x] for row, x in zip(a, b)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(m[i][k]))
        m[k], m[p] = m[p], m[k]
        for i in range(n):
            if i != k:
                f = m[i][k] / m[k][k]
                m[i] = [x - f * y for x, y in zip(m[i], m[k])]
    return [m[i][n] / m[i][i] for i in range(n)]

def close(a, guess):
    x = list(guess)
    for _ in range(60):
        r = closure([a] + x)
        cols = []
        for k in range(5):
            h = 1e-6
            y = x[:]; y[k] += h
            z = x[:]; z[k] -= h
            cols.append([(u - v) / (2 * h) for u, v in zip(closure([a] + y), closure([a] + z))])
        g = [[sum(p * q for p, q in zip(c, d)) for d in cols] for c in cols]
        step = solve(g, [sum(p * q for p, q in zip(c, r)) for c in cols])
        x = [u - v for u, v in zip(x, step)]
        if max(abs(s) for s in step) < 1e-15:
            break
    assert max(abs(u) for u in closure([a] + x)) < 1e-13
    return [a] + x

def local_inertia(k):
    along, across = 0.01 / 6, (1.0 + 0.01) / 12
    return [along if abs(BARS[k][i]) else across for i in range(3)]

def potential(angles):
    _, p, _ = chain(angles)
    return 9.81 * sum(0.5 * (p[k][1] + p[k + 1][1]) for k in range(5))

def inertia(angles, rates):
    """sum m v^2 + w I w for given rates of the angles, by propagating velocities."""
    total, r, w, v = 0.0, [[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]], [0.0] * 3, [0.0] * 3
    cross = lambda a, b: [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    for k in range(5):
        axis = [r[i][AXES[k]] for i in range(3)]
        w = [w[i] + rates[k] * axis[i] for i in range(3)]
        r = mul(r, rot(AXES[k], angles[k]))
        bar = app(r, BARS[k])
        end = [v[i] + x for i, x in enumerate(cross(w, bar))]
        com = [0.5 * (v[i] + end[i]) for i in range(3)]
        body = [sum(r[i][j] * w[i] for i in range(3)) for j in range(3)]
        total += sum(x * x for x in com) + sum(q * x * x for q, x in zip(local_inertia(k), body))
        v = end
    return total

LOW, HIGH, N = -0.15, 3.25, 60

def chebyshev(f):
    xs = [cos(pi * (k + 0.5) / N) for k in range(N)]
    ys = [f(0.5 * (HIGH + LOW) + 0.5 * (HIGH - LOW) * x) for x in xs]
    return [2.0 / N * sum(y * cos(pi * j * (k + 0.5) / N) for k, y in enumerate(ys)) for j in range(N)]

def value(c, a):
    x = (2 * a - HIGH - LOW) / (HIGH - LOW)
    d = dd = 0.0
    for cj in reversed(c[1:]):
        d, dd = 2 * x * d - dd + cj, d
    return x * d - dd + 0.5 * c[0]

def derivative(c):
    n = len(c)
    d = [0.0] * (n + 1)
    for j in range(n - 1, 0, -1):
        d[j - 1] = (d[j + 1] if j + 1 <= n else 0.0) + 2 * j * c[j]
    return [x * 2 / (HIGH - LOW) for x in d[:n]]

table = {}

def angles_at(a):
    key = min(table, key=lambda k: abs(k - a)) if table else None
    at, x = (0.0, [0.0] * 5) if key is None else (key, table[key])
    steps = max(1, int(abs(a - at) / 0.05) + 1)
    for s in range(1, steps + 1):
        b = at + (a - at) * s / steps
        x = close(b, x)[1:]
        table[b] = x
    return [a] + x

def rates_at(a):
    """d angles / d a by Richardson extrapolation of central differences."""
    def central(h):
        p, m = angles_at(a + h), angles_at(a - h)
        return [(u - v) / (2 * h) for u, v in zip(p, m)]
    c1, c2, c3 = central(0.04), central(0.02), central(0.01)
    d1 = [(4 * u - v) / 3 for u, v in zip(c2, c1)]
    d2 = [(4 * u - v) / 3 for u, v in zip(c3, c2)]
    return [(16 * u - v) / 15 for u, v in zip(d2, d1)]

if __name__ == "__main__":
    I = chebyshev(lambda a: inertia(angles_at(a), rates_at(a)))
    V = chebyshev(lambda a: potential(angles_at(a)))
    dI, dV = derivative(I), derivative(V)
    print("tails", max(map(abs, I[-4:])), max(map(abs, V[-4:])))
    accel = lambda a, u: -(value(dV, a) + 0.5 * value(dI, a) * u * u) / value(I, a)
    a, u, h, t = 0.0, 0.0, 5e-4, 0.0
    for step in range(1, 2001):
        k1 = (u, accel(a, u))
        k2 = (u + h / 2 * k1[1], accel(a + h / 2 * k1[0], u + h / 2 * k1[1]))
        k3 = (u + h / 2 * k2[1], accel(a + h / 2 * k2[0], u + h / 2 * k2[1]))
        k4 = (u + h * k3[1], accel(a + h * k3[0], u + h * k3[1]))
        a += h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
        u += h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        if step in (500, 1000, 2000):
            p = chain(angles_at(a))[1]
            print(step * h, "a", repr(a), "centre of bar 3", [0.5 * (x + y) for x, y in zip(p[2], p[3])])
