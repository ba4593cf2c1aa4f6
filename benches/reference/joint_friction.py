"""Motions with dry friction in proportion to the reaction of joints, in minimal coordinates. Needs numpy and scipy; seconds. Its output is joint_friction.txt.

pendulum  a rod of 2 kg and 1 m, hinged at its end on a pin of 0.1 m with mu = 0.5, from rest at 0.3 rad above the horizontal, gravity 9.81 down. With the
          angle a from the horizontal, I = m l^2/3 and the reaction R of the pin
              I a'' = -m g l/2 cos a - mu r |R| sign a',
              R = m g (sin a, cos a) + m l/2 (-a'^2, a'')   along and across the rod,
          which is a quadratic equation for a''. It rests where l/2 |cos a| <= mu r.
ladder    a rod of 2 kg and 1 m, its ends on two rails, one along the ground (mu = 0.3) and one upright (mu = 0.2), from rest at 0.7 rad to the ground,
          gravity 9.81. With the forces N of the ground and P of the wall, signs of both positive while it slides down,
              m x'' = P - mu_g N,  m y'' = N + mu_w P - m g,  I a'' = l/2 (P (sin a + mu_w cos a) + N (mu_g sin a - cos a)),
          x = l/2 cos a, y = l/2 sin a, and a the angle to the ground.
screw     a body of 2 kg on a pin along z of 0.1 m, mu = 0.2, gravity 9.81 across; moment of inertia 0.05 about the pin; starts with 1 m/s along it and
          15 rad/s about it. Friction of mu m g opposes the sum of both slips: m v' = -mu m g v/s, I w' = -mu m g r (r w)/s, s^2 = v^2 + (r w)^2.
"""
import numpy as np
from scipy.integrate import solve_ivp

G, M, L = 9.81, 2.0, 1.0
TIGHT = dict(method="DOP853", rtol=1e-12, atol=1e-13)


def pendulum():
    mu_r, inertia = 0.5 * 0.1, M * L * L / 3

    def acceleration(a, w, sign):
        # inertia x + k = -sign f sqrt(along^2 + (across + m l/2 x)^2): square it, take the root of the right sign.
        k, along, across, half = M * G * L / 2 * np.cos(a), M * G * np.sin(a) - M * L / 2 * w * w, M * G * np.cos(a), M * L / 2
        f2 = mu_r * mu_r
        p = [inertia**2 - f2 * half**2, 2 * (inertia * k - f2 * across * half), k * k - f2 * (along**2 + across**2)]
        roots = np.real(np.roots(p))
        return min(roots) if sign > 0 else max(roots)

    a, t, sign, rows = 0.3, 0.0, -1.0, []
    times = np.arange(1, 25) * 0.25
    while t < 6:
        event = lambda t, y: y[1]
        event.terminal, event.direction = True, -sign
        # Off the turning point, where the velocity is zero.
        small = 1e-9
        x = acceleration(a, 0.0, sign)
        start = [a + x * small**2 / 2, x * small]
        found = solve_ivp(lambda t, y: [y[1], acceleration(y[0], y[1], sign)], (t + small, 6), start, events=event,
                          dense_output=True, **TIGHT)
        end = found.t[-1]
        rows += [(s, found.sol(s)[0]) for s in times if t < s <= end]
        t, a, sign = end, found.y[0][-1], -sign
        print(f"pendulum turns t {t:.9f} angle {a:.12f}")
        if L / 2 * abs(np.cos(a)) <= mu_r:
            rows += [(s, a) for s in times if s > t]
            break
    for s, a in rows:
        print(f"pendulum t {s:g} angle {a:.12f}")


def ladder():
    mu_g, mu_w, inertia, h = 0.3, 0.2, M * L * L / 12, L / 2

    def acceleration(a, w):
        # Unknown a'', N, P.
        c, s = np.cos(a), np.sin(a)
        matrix = np.array([
            [-M * h * s, mu_g, -1.0],
            [M * h * c, -1.0, -mu_w],
            [inertia, -h * (mu_g * s - c), -h * (s + mu_w * c)],
        ])
        right = np.array([M * h * c * w * w, M * h * s * w * w - M * G, 0.0])
        x, n, p = np.linalg.solve(matrix, right)
        assert n > 0 and p > 0, (a, n, p)
        return x

    found = solve_ivp(lambda t, y: [y[1], acceleration(*y)], (0, 0.3), [0.7, 0.0], t_eval=[0.1, 0.2, 0.3], **TIGHT)
    for t, a, w in zip(found.t, *found.y):
        print(f"ladder t {t:g} angle {a:.12f} speed {w:.12f}")


def screw():
    mu, r, inertia = 0.2, 0.1, 0.05

    def rate(t, y):
        s = np.hypot(y[0], r * y[1])
        return [-mu * G * y[0] / s, -mu * M * G * r * r * y[1] / s / inertia]

    found = solve_ivp(rate, (0, 0.6), [1.0, 15.0], t_eval=[0.2, 0.4, 0.6], **TIGHT)
    for t, v, w in zip(found.t, *found.y):
        print(f"screw t {t:g} speed {v:.12f} spin {w:.12f}")


pendulum()
ladder()
screw()
