"""Gradients of trajectories by other programs, and of the motion itself: for ``cargo xtask bench gradients --peers``.

Reads one request as JSON and answers with one line of JSON. Scenes: a chain of rods on hinges that falls from rest, of which the
height of the free end is differentiated by the angles and rates of the joints at the start; a ball on a rough plane that slips
until it rolls, of which the place is differentiated by its speed and spin. Programs: MuJoCo (``mjd_transitionFD`` at each step, the
adjoint of the products), MJX (reverse mode of JAX through its steps), and ``motion``, the equations of motion themselves,
integrated by Richardson's extrapolation of the method of Runge and Kutta with complex steps.
"""

import json
import sys
import time
from collections.abc import Callable

import numpy as np

LENGTH, SIDES, MASS, GRAVITY = 0.2, (0.05, 0.03), 0.5, 9.81
RADIUS, FRICTION = 0.1, 0.2


def chain_text(request: dict) -> str:
    inertia = [
        MASS / 12 * (SIDES[0] ** 2 + SIDES[1] ** 2),
        MASS / 12 * (LENGTH**2 + SIDES[1] ** 2),
        MASS / 12 * (LENGTH**2 + SIDES[0] ** 2),
    ]
    inertial = f'<inertial pos="{LENGTH / 2} 0 0" mass="{MASS}" diaginertia="{" ".join(map(repr, inertia))}"/>'
    body = f'<site name="end" pos="{LENGTH} 0 0"/>'
    for i in reversed(range(request["links"])):
        where = f'pos="{LENGTH if i else 0} 0 0"'
        body = f'<body {where}><joint type="hinge" axis="0 1 0"/>{inertial}{body}</body>'
    return f"<worldbody>{body}</worldbody>"


def ball_text(request: dict) -> str:
    contact = f'friction="{FRICTION} 0 0" condim="3"'
    if request.get("stiff"):
        contact += f' solref="{2 * request["step"]!r} 1"'
    return (
        f'<worldbody><geom type="plane" size="50 50 1" {contact}/><body pos="0 0 {RADIUS}"><freejoint/>'
        f'<site name="end"/><geom type="sphere" size="{RADIUS}" mass="1" {contact}/></body></worldbody>'
    )


def text(request: dict) -> str:
    make = {"chain": chain_text, "ball": ball_text}[request["scene"]]
    options = "".join(f' {key}="{value}"' for key, value in request.get("options", {}).items())
    return (
        f'<mujoco><compiler autolimits="true"/><option timestep="{request["step"]!r}" gravity="0 0 -{GRAVITY!r}"{options}>'
        f'<flag autoreset="disable"/></option>{make(request)}</mujoco>'
    )


def start(request: dict, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and velocities at the start for values of the parameters."""
    if request["scene"] == "chain":
        n = request["links"]
        return values[:n], values[n:]
    speed, spin = values
    return np.array([0, 0, RADIUS, 1, 0, 0, 0]), np.array([speed, 0, 0, 0, spin, 0])


def of_parameters(request: dict, by_start: np.ndarray) -> np.ndarray:
    """The gradient by the parameters for that by the coordinates and velocities at the start."""
    return by_start if request["scene"] == "chain" else by_start[[6, 10]]


def study(request: dict, value: Callable[[np.ndarray], float], at: np.ndarray) -> np.ndarray:
    """Central differences of fourth order, of the steps that agree best with longer ones."""
    # Contacts change their branches within longer ones.
    steps = [1e-2, 3e-3, 1e-3] + ([3e-4, 1e-4] if request["scene"] == "ball" else [])
    out = []
    for k in range(len(at)):

        def along(t: float, k: int = k) -> float:
            moved = at.copy()
            moved[k] += t
            return value(moved)

        found = [(8 * (along(t) - along(-t)) - (along(2 * t) - along(-2 * t))) / (12 * t) for t in steps]
        best = int(np.argmin(np.abs(np.diff(found))))
        out.append(found[best + 1])
    return np.array(out)


def settled(m: object) -> float:
    """The height at which soft contact carries the ball: its force jumps where it begins, which differences would cross."""
    import mujoco

    d = mujoco.MjData(m)
    mujoco.mj_step(m, d, round(2 / m.opt.timestep))
    return float(d.qpos[2])


def by_mujoco(request: dict) -> dict:
    import mujoco

    m = mujoco.MjModel.from_xml_string(text(request))
    d, steps = mujoco.MjData(m), request["steps"]
    values, axis = np.array(request["values"]), request["axis"]

    rest = settled(m) if request["scene"] == "ball" else None

    def reset(values: np.ndarray) -> None:
        mujoco.mj_resetData(m, d)
        d.qpos[:], d.qvel[:] = start(request, values)
        if rest is not None:
            d.qpos[2] = rest

    def value(values: np.ndarray) -> float:
        reset(values)
        mujoco.mj_step(m, d, steps)
        mujoco.mj_kinematics(m, d)
        return float(d.site_xpos[0][axis])

    nv, jacobian = m.nv, np.zeros((3, m.nv))
    products = np.zeros((steps, 2 * nv, 2 * nv))

    def gradient() -> np.ndarray:
        reset(values)
        for product in products:
            mujoco.mjd_transitionFD(m, d, request["epsilon"], request["centred"], product, None, None, None)
            mujoco.mj_step(m, d)
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_jacSite(m, d, jacobian, None, 0)
        by = np.concatenate([jacobian[axis], np.zeros(nv)])
        for product in products[::-1]:
            by = product.T @ by
        return of_parameters(request, by)

    forward = min(clock(lambda: value(values)) for _ in range(request["times"]))
    seconds = min(clock(gradient) for _ in range(request["times"]))
    return answer(value(values), gradient(), study(request, value, values), forward, seconds)


def by_mjx(request: dict) -> dict:
    import jax
    import mujoco
    from jax import numpy as jnp
    from mujoco import mjx

    jax.config.update("jax_enable_x64", True)
    on_host = mujoco.MjModel.from_xml_string(text(request))
    m = mjx.put_model(on_host)
    rest = jnp.array([0, 0, settled(on_host), 1, 0, 0, 0]) if request["scene"] == "ball" else None
    values, axis = jnp.array(request["values"]), request["axis"]

    def value(values: jax.Array) -> jax.Array:
        d = mjx.make_data(m)
        if request["scene"] == "chain":
            n = request["links"]
            d = d.replace(qpos=values[:n], qvel=values[n:])
        else:
            d = d.replace(qpos=rest, qvel=jnp.array([values[0], 0, 0, 0, values[1], 0]))
        d, _ = jax.lax.scan(lambda d, _: (mjx.step(m, d), None), d, None, request["steps"])
        return mjx.kinematics(m, d).site_xpos[0, axis]

    mode = {"reverse": jax.grad, "forward": jax.jacfwd}[request["mode"]]
    forwards, backwards = jax.jit(value), jax.jit(mode(value))
    compile_seconds = clock(lambda: backwards(values).block_until_ready())
    forwards(values).block_until_ready()
    forward = min(clock(lambda: forwards(values).block_until_ready()) for _ in range(request["times"]))
    seconds = min(clock(lambda: backwards(values).block_until_ready()) for _ in range(request["times"]))
    found = study(request, lambda v: float(forwards(v)), np.array(values))
    out = answer(float(forwards(values)), np.array(backwards(values)), found, forward, seconds)
    return {**out, "compile_seconds": compile_seconds}


def of_chain(links: int, values: np.ndarray, duration: float) -> np.ndarray:
    """Heights of the free end (one of each row of values) by the equations of motion, extrapolated."""
    n = links
    inertia = MASS / 12 * (LENGTH**2 + SIDES[1] ** 2)
    beyond = n - np.arange(n) - 0.5
    coupling = MASS * LENGTH**2 * beyond[np.maximum.outer(np.arange(n), np.arange(n))]
    own = MASS * LENGTH**2 * (beyond - 0.25) + inertia
    coupling[np.diag_indices(n)] = own
    weight = MASS * GRAVITY * LENGTH * beyond

    def rates(state: np.ndarray) -> np.ndarray:
        theta, omega = state[:, :n], state[:, n:]
        between = theta[:, :, None] - theta[:, None, :]
        torque = weight * np.cos(theta) - ((coupling * np.sin(between)) @ (omega**2)[:, :, None])[:, :, 0]
        alpha = np.linalg.solve(coupling * np.cos(between), torque[:, :, None])[:, :, 0]
        return np.concatenate([omega, alpha], axis=1)

    def end(steps: int) -> np.ndarray:
        h, state = duration / steps, np.concatenate([values[:, :n].cumsum(1), values[:, n:].cumsum(1)], axis=1)
        for _ in range(steps):
            a = rates(state)
            b = rates(state + h / 2 * a)
            c = rates(state + h / 2 * b)
            state = state + h / 6 * (a + 2 * b + 2 * c + rates(state + h * c))
        return -LENGTH * np.sin(state[:, :n]).sum(1)

    coarse, middle, fine = (end(steps) for steps in (500, 1000, 2000))
    first, second = middle + (middle - coarse) / 15, fine + (fine - middle) / 15
    return second + (second - first) / 31


def of_ball(speed: complex, spin: complex, duration: float) -> complex:
    """The place of a ball that slips, then rolls."""
    slip = speed - RADIUS * spin
    until = 2 * slip / (7 * FRICTION * GRAVITY)
    rolling = (5 * speed + 2 * RADIUS * spin) / 7
    return speed * until - FRICTION * GRAVITY * until**2 / 2 + rolling * (duration - until)


def by_motion(request: dict) -> dict:
    values, duration = np.array(request["values"]), request["step"] * request["steps"]
    moved = values + 1e-30j * np.eye(len(values))
    if request["scene"] == "chain":
        found = of_chain(request["links"], moved, duration)
    else:
        found = np.array([of_ball(*row, duration) for row in moved])
    return answer(float(found[0].real), found.imag / 1e-30, np.zeros(len(values)), 0, 0)


def clock(work: Callable[[], object]) -> float:
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


def answer(
    value: float, gradient: np.ndarray, differences: np.ndarray, forward: float, seconds: float
) -> dict:
    return {
        "value": value,
        "gradient": gradient.tolist(),
        "differences": differences.tolist(),
        "forward": forward,
        "seconds": seconds,
    }


if __name__ == "__main__":
    asked = json.loads(sys.stdin.readline())
    by = {"mujoco": by_mujoco, "mjx": by_mjx, "motion": by_motion}[asked["program"]]
    print(json.dumps(by(asked)))
