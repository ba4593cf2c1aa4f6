"""Reference motions of multibody benchmark problems in minimal coordinates. Needs numpy and scipy; about a minute. Its output is multibody.txt.

The problems are those of the IFToMM library of computational benchmark problems (Gonzalez, Dopico, Lugris, Cuadrado 2006); data as below. SI units.

A01  a point of 1 kg on a massless bar of 1 m, from rest at (-1, 0), gravity 9.81: DOP853.
A02  N four-bar loops: N + 1 bars of 1 m and 1 kg on pins 1 m apart, upright, their tops joined by N bars of 1 m and 1 kg; tops start with 1 m/s along
     the ground, gravity 9.81. All upright bars are parallel, one angle: DOP853. (Where all bars are in line the linkage could leave this motion,
     the motion that keeps them parallel is the one that goes on smoothly.)
A03  Andrews' squeezer: its answer is published (Test Set for IVP Solvers); here the energy of that answer is checked.
A05  stiff governor: shaft 1 x 0.01 x 0.01 m, 3000 kg/m3, upright, turning with 2 pi rad/s about z; two rods of the same size on hinges at 0.05 m from the axis at
     height 1 m, 30 degrees below the horizontal, 5 kg at their ends; a slider, a cube of 0.1 m and 3000 kg/m3, at height 0.5 m on the shaft; from the
     middle of each rod to the slider at 0.05 m from the axis a spring of 8e5 N/m, 0.5 m, with 4e4 N s/m; gravity 9.81 down. Both rods move alike; angular momentum gives the speed: angle below the
     horizontal and height of the slider by Radau.
"""
import numpy as np
from scipy.integrate import solve_ivp

G = 9.81


def pendulum():
    found = solve_ivp(lambda t, y: [y[1], -G * np.cos(y[0])], (0, 10), [np.pi, 0.0], method="DOP853", rtol=1e-13, atol=1e-14,
                      t_eval=[1, 5, 10])
    for t, a in zip(found.t, found.y[0]):
        print(f"A01 t {t:g} x {np.cos(a):.12f} y {np.sin(a):.12f}")


def four_bars(n):
    # Angle from upright, towards +x.
    inertia = (n + 1) / 3 + n
    weight = G * ((n + 1) / 2 + n)
    found = solve_ivp(lambda t, y: [y[1], weight / inertia * np.sin(y[0])], (0, 10), [0.0, 1.0], method="DOP853", rtol=1e-13,
                      atol=1e-14, t_eval=[1, 2, 5, 10])
    for t, a in zip(found.t, found.y[0]):
        print(f"A02 N {n} t {t:g} angle {a:.12f} x {np.sin(a):.12f} y {np.cos(a):.12f}")


M = [0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498]
I = [2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5]


def squeezer():
    d, da, e, ea, rr, ra = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092
    sa, sb, sc, sd = 0.01874, 0.01043, 0.018, 0.02
    ta, tb, u, ua, ub, zf, zt, fa = 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
    xb, yb, xc, yc, c0, l0, torque = -0.03635, 0.03273, 0.014, 0.072, 4530.0, 0.07785, 0.033

    def energy(q, v):
        b, th, ga, ph, de, om, ep = q
        vb, vth, vga, vph, vde, vom, vep = v
        turn = lambda a, w, x: w * x * np.array([-np.sin(a), np.cos(a)])
        down = lambda a, w, x: w * x * np.array([np.cos(a), np.sin(a)])  # of x (sin a, -cos a)
        centre = [
            turn(b, vb, ra), turn(b, vb, rr) - turn(b + th, vb + vth, da), [vga * np.hypot(sa, sb), 0],
            turn(de, vde, zt) + down(ph + de, vph + vde, e - ea), [vde * np.hypot(ta, tb), 0],
            down(ep, vep, u) + turn(om + ep, vom + vep, zf - fa), [vep * np.hypot(ua, ub), 0],
        ]
        spin = [vb, vb + vth, vga, vph + vde, vde, vom + vep, vep]
        kinetic = sum(0.5 * m * np.dot(c, c) + 0.5 * i * w * w for m, c, i, w in zip(M, centre, I, spin))
        x = sd * np.cos(ga) + sc * np.sin(ga) + xb - xc
        y = sd * np.sin(ga) - sc * np.cos(ga) + yb - yc
        return kinetic + 0.5 * c0 * (np.hypot(x, y) - l0) ** 2, torque * b, kinetic

    start = [-0.0617138900142764496, 0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842550,
             -0.222668390165885885, 1.23054744454982119]
    end = [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
           0.5347301163226948, 1.048080741042263]
    speed = [1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385, 0.5735699284790808,
             -19.29337464421385, 0.3231791658026955]
    before, after = energy(start, np.zeros(7)), energy(end, speed)
    print(f"A03 stored at the start {before[0]:.9f} gain {after[0] - before[0]:.9f} work of the motor {after[1] - before[1]:.9f} "
          f"kinetic {after[2]:.9f}")


def governor():
    m, a, c = 0.3, 1.0, 0.01
    thin, wide = m * 2 * c * c / 12, m * (a * a + c * c) / 12
    ball, slider, off, top = 5.0, 3.0, 0.05, 1.0
    k, damping, rest = 8e5, 4e4, 0.5
    fixed = thin + slider * 2 * 0.1 ** 2 / 12
    swing = m / 4 + wide + ball

    def about_shaft(th):
        return fixed + 2 * (m * (off + 0.5 * np.cos(th)) ** 2 + thin * np.sin(th) ** 2 + wide * np.cos(th) ** 2
                            + ball * (off + np.cos(th)) ** 2)

    def slope(th):
        return 2 * (-m * (off + 0.5 * np.cos(th)) * np.sin(th) + 2 * (thin - wide) * np.sin(th) * np.cos(th)
                    - 2 * ball * (off + np.cos(th)) * np.sin(th))

    th0 = np.pi / 6
    momentum = about_shaft(th0) * 2 * np.pi

    def rate(t, y):
        th, s, vth, vs = y
        spin = momentum / about_shaft(th)
        up = top - 0.5 * np.sin(th) - s
        length = np.hypot(0.5 * np.cos(th), up)
        to_th = (-0.25 * np.sin(th) * np.cos(th) - 0.5 * np.cos(th) * up) / length
        to_s = -up / length
        force = -k * (length - rest) - damping * (to_th * vth + to_s * vs)
        ath = (0.5 * spin ** 2 * slope(th) + 2 * G * (0.5 * m + ball) * np.cos(th) + 2 * force * to_th) / (2 * swing)
        return [vth, vs, ath, (-slider * G + 2 * force * to_s) / slider]

    times = [0.5, 1, 2, 5, 10]
    found = [solve_ivp(rate, (0, 10), [th0, 0.5, 0.0, 0.0], method="Radau", rtol=tol, atol=tol * 1e-2, t_eval=times).y
             for tol in (1e-10, 1e-11)]
    for i, t in enumerate(times):
        th, s, vth, vs = found[1][:, i]
        print(f"A05 t {t:g} height {s:.10f} angle {th:.10f} spin {momentum / about_shaft(th):.9f} "
              f"change with tolerance {abs(found[0][1, i] - s):.1e}")


if __name__ == "__main__":
    pendulum()
    for count in (1, 2, 10, 40):
        four_bars(count)
    squeezer()
    governor()
