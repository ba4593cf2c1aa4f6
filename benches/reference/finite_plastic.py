"""Von Mises' plasticity at finite strains at one point, by numpy and scipy alone.

The rate equations of F = F_e F_p with Hencky's energy and associated flow (Simo 1992), for the elastic left Cauchy-Green tensor b:
db/dt = l b + b l^T - 2 g n b with l = dF/dt F^-1, n = dev(tau)/|dev(tau)|, tau = K/2 tr(ln b) 1 + mu dev(ln b). Where
|dev(tau)| = sqrt(2/3) s(p) and n : l > 0, g = 2 mu n : l/(2 mu + 2/3 s'(p)) and dp/dt = sqrt(2/3) g, else zero. They are integrated by an
eighth-order Runge-Kutta method at a relative tolerance of 1e-12, from one change between elastic and plastic to the next. No return
mapping and no exponential of a matrix.

A line is a path, the number of its corner, the nine numbers of F there, the nine numbers of the first Piola-Kirchhoff stress
P = tau F^-T (rows first) and the plastic strain that has passed. Paths go straight in F from corner to corner, from F = 1.
"shear": simple shear out, back through the elastic range and beyond it, and out again. "mixed": stretch, shear, and both back across. GPa; the steel of the necking
bar of Simo (1988).

"tension": the closed form of uniaxial tension, at plastic strains p: tau = s(p), ln of the stretches tau/E + p and -nu tau/E - p/2.

Prints: python3 benches/reference/finite_plastic.py > benches/reference/finite_plastic.txt
"""

import numpy as np
from scipy.integrate import solve_ivp

YOUNG, POISSON = 206.9, 0.29
SHEAR, BULK = YOUNG / (2 * (1 + POISSON)), YOUNG / (3 * (1 - 2 * POISSON))
METHOD = dict(method="DOP853", rtol=1e-12, atol=1e-14)
FIRST, RISE, RATE, LINEAR = 0.45, 0.265, 16.93, 0.12924


def yields(p):
    return FIRST + LINEAR * p + RISE * (1 - np.exp(-RATE * p))


def slope(p):
    return LINEAR + RISE * RATE * np.exp(-RATE * p)


def kirchhoff(b):
    values, vectors = np.linalg.eigh(b)
    log = vectors @ np.diag(np.log(values)) @ vectors.T
    mean = np.trace(log) / 3
    return 1.5 * BULK * mean * np.eye(3), SHEAR * (log - mean * np.eye(3))


def integrate(corners):
    b, p, plastic = np.eye(3), 0.0, False
    for start, end in zip(corners, corners[1:]):
        rate = end - start

        def velocity(t):
            return rate @ np.linalg.inv(start + t * rate)

        def parts(t, y):
            b = y[:9].reshape(3, 3)
            deviator = kirchhoff(0.5 * (b + b.T))[1]
            return velocity(t), b, np.linalg.norm(deviator), deviator

        def excess(t, y):
            return parts(t, y)[2] - np.sqrt(2 / 3) * yields(y[9])

        def into(t, y):
            l, _, size, deviator = parts(t, y)
            return np.sum(deviator * l) / size

        def rates(flows):
            def f(t, y):
                l, b, size, deviator = parts(t, y)
                g = 0.0
                if flows:
                    g = 2 * SHEAR * into(t, y) / (2 * SHEAR + 2 / 3 * slope(y[9]))
                n = deviator / size if size > 0 else deviator
                change = l @ b + b @ l.T - g * (n @ b + b @ n)
                return np.append(change.ravel(), np.sqrt(2 / 3) * g)

            return f

        t, y = 0.0, np.append(b.ravel(), p)
        # Where stress is across the new way at first, it turns towards it.
        plastic = plastic and into(t, y) > -1e-9
        while t < 1:
            event = into if plastic else excess

            def stop(t, y):
                return event(t, y)

            stop.terminal, stop.direction = True, (-1 if plastic else 1)
            found = solve_ivp(rates(plastic), (t, 1), y, events=stop, max_step=1e-3 if plastic else 1e-4, **METHOD)
            assert found.success
            t, y = found.t[-1], found.y[:, -1]
            if found.status == 1:
                plastic = not plastic
        b, p = y[:9].reshape(3, 3), y[9]
        assert abs(np.linalg.det(b) - np.linalg.det(end) ** 2) < 1e-9
        sphere, deviator = kirchhoff(0.5 * (b + b.T))
        yield end, (sphere + deviator) @ np.linalg.inv(end).T, p


def sheared(amount):
    f = np.eye(3)
    f[0, 1] = amount
    return f


PATHS = {
    "shear": [np.eye(3)] + [sheared(a) for a in (1.5, 1.495, 0.5, 1.0)],
    "mixed": [
        np.eye(3),
        np.array([[1.4, 0, 0], [0, 0.85, 0], [0, 0, 0.85]]),
        np.array([[1.4, 0.6, 0], [0.1, 0.85, 0], [0, 0.2, 0.85]]),
        np.array([[0.9, 0.1, 0.3], [-0.2, 1.05, 0], [0, 0.3, 1.07]]),
    ],
}

if __name__ == "__main__":
    for name, corners in PATHS.items():
        for k, (f, stress, p) in enumerate(integrate(corners)):
            numbers = [*f.ravel(), *stress.ravel(), p]
            print(name, k + 1, *(f"{x:.12g}" for x in numbers))
    for p in (0.001, 0.1, 0.5, 2.0):
        tau = yields(p)
        along, across = np.exp(tau / YOUNG + p), np.exp(-POISSON * tau / YOUNG - 0.5 * p)
        zero = [0.0] * 3
        numbers = [along, *zero, across, *zero, across, tau / along, *([0.0] * 8), p]
        print("tension", 1, *(f"{x:.12g}" for x in numbers))
