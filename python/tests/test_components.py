"""Force fields and mappings in Python against closed forms, native components and garbage."""

import copy
import pickle
import threading
import traceback
from math import cos, pi, sin, sqrt
from typing import Any, Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import pliant

Array = NDArray[np.float64]


def particles(
    positions: list[list[float]],
    velocities: list[list[float]] | None = None,
    mass: float = 2.0,
    step: float = 0.001,
    **scene: Any,
) -> pliant.Model:
    """Particles `p`, without gravity."""
    node: dict[str, Any] = {"name": "p", "positions": positions, "mass": mass}
    if velocities is not None:
        node["velocities"] = velocities
    return pliant.Model.from_dict({"run": {"duration": 100, "step": step}, "nodes": [{"Particles": node}], **scene})


class Spring:
    """Spring to the origin, with everything given."""

    def __init__(self, k: float = 100.0) -> None:
        self.k = k

    def energy(self, x: Array) -> float:
        return float(self.k / 2 * (x**2).sum())

    def force(self, x: Array) -> Array:
        return -self.k * x

    def stiffness(self, x: Array) -> Array:
        return self.k * np.eye(x.size)


class EnergyOfSpring:
    def energy(self, x: Array) -> float:
        return float(50 * (x**2).sum())


class ForceOfSpring:
    def force(self, x: Array) -> Array:
        return -100 * x


class Dashpot:
    def __init__(self, b: float = 3.0) -> None:
        self.b = b

    def force(self, x: Array, v: Array) -> Array:
        return -self.b * v


class Gravity:
    """Well of a point mass with `mu` = 1."""

    def energy(self, x: Array) -> float:
        return float(-2.0 / np.linalg.norm(x))

    def force(self, x: Array) -> Array:
        return np.asarray(-2.0 * x / np.linalg.norm(x) ** 3)


def elliptic_k(k: float) -> float:
    """Complete elliptic integral of the first kind by the arithmetic-geometric mean."""
    a, b = 1.0, sqrt(1 - k * k)
    for _ in range(8):
        a, b = (a + b) / 2, sqrt(a * b)
    return pi / (2 * a)


def state(simulation: pliant.Simulation, node: str = "p") -> Array:
    found = simulation.node(node)
    return np.concatenate([found.positions, found.velocities])


@pytest.mark.parametrize("integrator", ["Sdirk2", "Theta", "Nonlinear", "EnergyMomentum"])
@pytest.mark.parametrize("field", [Spring(), EnergyOfSpring(), ForceOfSpring()], ids=lambda f: type(f).__name__)
def test_a_spring_moves_as_the_native_one(field: Any, integrator: str) -> None:
    settings: dict[str, Any] = {"run": {"duration": 100, "step": 0.01, "integrator": integrator}}
    native: dict[str, Any] = {
        "force_fields": [{"name": "spring", "on": "p", "law": {"Stiffness": 100}, "treatment": "Stiffness"}]
    }
    start: tuple[list[list[float]], list[list[float]]] = ([[1, 0, 0], [0.5, 2, 0]], [[0, 1, 0], [0, 0, 3]])
    expected = pliant.Simulation(particles(*start, **{**settings, **native}))
    found = pliant.Simulation(particles(*start, **settings).with_force_field("spring", "p", field))
    for simulation in (expected, found):
        simulation.run(duration=0.5)
    # Rounding of the differences, 1e-16 of 250 J over steps of 1e-4 and 1e-3 m: 1e-9 of the stiffness in each step.
    assert state(found) == pytest.approx(state(expected), abs=1e-8)
    assert found.force("spring") == pytest.approx(expected.force("spring"), abs=1e-7)
    if hasattr(field, "energy"):
        assert found.energies.total == pytest.approx(expected.energies.total, rel=1e-9)
        assert found.potential("spring") == pytest.approx(expected.potential("spring"), rel=1e-9)
        assert found.ledger.forces == 0
    else:
        # The work of a force without a potential is that of one from outside, by its value at the start of each step:
        # of first order in a step of 0.1 rad.
        assert found.ledger.potential == 0
        assert found.ledger.forces == pytest.approx(-expected.ledger.potential, rel=0.1)


def test_a_dashpot_slows_down_as_the_exponential_and_is_in_the_ledger() -> None:
    model = particles([[0, 0, 0]], [[2, 0, 0]]).with_force_field("dashpot", "p", Dashpot())
    simulation = pliant.Simulation(model)
    simulation.run(duration=1.0)
    speed = 2 * np.exp(-3 / 2)
    # Second order: (b h/m)^2/12 of the exponent.
    assert simulation.node("p").velocities[0, 0] == pytest.approx(speed, rel=1e-6)
    assert simulation.ledger.damping == pytest.approx(speed**2 - 4, rel=1e-5)


def test_the_period_of_a_quartic_oscillator_is_an_elliptic_integral() -> None:
    class Quartic:
        def energy(self, x: Array) -> float:
            return float((x**4).sum())

    amplitude, mass, k = 0.7, 2.0, 4.0
    period = 4 * sqrt(2 * mass / k) / amplitude * elliptic_k(1 / sqrt(2)) / sqrt(2)
    simulation = pliant.Simulation(particles([[amplitude, 0, 0]], step=0.004).with_force_field("q", "p", Quartic()))
    simulation.run(duration=period)
    # The phase is late by some (2 pi h/period)^2, which shows to second order in the position.
    assert simulation.node("p").positions[0, 0] == pytest.approx(amplitude, abs=1e-7)
    assert abs(simulation.node("p").velocities[0, 0]) < 1e-5
    simulation.run(duration=period / 4)
    assert abs(simulation.node("p").positions[0, 0]) < 1e-5


@pytest.mark.parametrize("derivatives", ["given", "differences"])
def test_an_orbit_closes_after_the_period_of_kepler(derivatives: str) -> None:
    class Energy:
        energy = Gravity.energy

    field = Gravity() if derivatives == "given" else Energy()
    # From the apsis of an ellipse with half axis 1 and eccentricity 0.5.
    model = particles([[1.5, 0, 0]], [[0, sqrt(1 / 3), 0]], step=0.002).with_force_field("sun", "p", field)
    simulation = pliant.Simulation(model)
    start = simulation.energies.total
    assert start == pytest.approx(-1.0, rel=1e-12)
    simulation.run(duration=pi)
    # Second order in h times the angular velocity of 6 at the other apsis.
    assert simulation.node("p").positions[0] == pytest.approx([-0.5, 0, 0], abs=5e-5)
    simulation.run(until=2 * pi)
    assert simulation.node("p").positions[0] == pytest.approx([1.5, 0, 0], abs=1e-4)
    assert simulation.momentum.angular[2] == pytest.approx(2 * 1.5 * sqrt(1 / 3), abs=1e-5)
    assert abs(simulation.energies.total - start) < 1e-5


def test_atoms_vibrate_in_the_well_of_lennard_and_jones() -> None:
    class LennardJones:
        """Attraction of all pairs of elements."""

        def energy(self, x: Array) -> float:
            i, j = np.triu_indices(len(x), 1)
            q = ((x[i] - x[j]) ** 2).sum(axis=1) ** -3.0
            return float(4 * (q**2 - q).sum())

    rest = 2 ** (1 / 6)
    model = particles([[0, 0, 0], [rest + 1e-3, 0, 0]], step=0.01).with_force_field("pair", "p", LennardJones())
    assert model.check("pair").is_good, str(model.check("pair"))
    simulation = pliant.Simulation(model)
    # V'' = 72 / 2^(1/3) at the bottom, with half of a mass; the next term of the well is V''' = -756 sqrt(2) there.
    omega = sqrt(72 / 2 ** (1 / 3) / 1.0)
    simulation.run(duration=2 * pi / omega)
    x = simulation.node("p").positions
    assert x[1, 0] - x[0, 0] - rest == pytest.approx(1e-3, abs=1e-6)
    assert x.mean(axis=0) == pytest.approx([(rest + 1e-3) / 2, 0, 0], abs=1e-12)
    triangle = particles([[0, 0, 0], [1.5, 0, 0], [0.5, 1.2, 0]]).with_force_field("pair", "p", LennardJones())
    simulation = pliant.Simulation(triangle)
    simulation.settle()
    x = simulation.node("p").positions
    sides = np.linalg.norm(x - np.roll(x, 1, axis=0), axis=1)
    # The slope of the differences vanishes there to 1e-11, over a stiffness of 57.
    assert sides == pytest.approx([rest] * 3, abs=1e-9)


@pytest.mark.parametrize("field", [EnergyOfSpring(), ForceOfSpring(), Dashpot()], ids=lambda f: type(f).__name__)
def test_elements_that_do_not_act_on_each_other_may_be_taken_apart(field: Any) -> None:
    start: tuple[list[list[float]], list[list[float]]] = ([[1, 0, 0], [2, 1, 0]], [[0, 0, 1], [0, 1, 0]])
    found = [
        pliant.Simulation(particles(*start).with_force_field("own", "p", field, coupled=coupled))
        for coupled in (True, False)
    ]
    for simulation in found:
        simulation.run(duration=0.1)
    assert state(found[0]) == pytest.approx(state(found[1]), abs=1e-11)


def test_check_tells_elements_that_act_on_each_other() -> None:
    class Pair:
        def energy(self, x: Array) -> float:
            return float(((x[0] - x[1]) ** 2).sum())

    model = particles([[0, 0, 0], [1, 0, 0]])
    assert model.with_force_field("pair", "p", Pair()).check("pair").is_good
    found = model.with_force_field("pair", "p", Pair(), coupled=False).check("pair")
    assert not found.is_good and "`coupled` must be True" in found.findings[0]


def test_a_body_swings_in_a_field_of_its_orientation_as_a_pendulum() -> None:
    class Compass:
        """Magnet along the x axis of the body, in a field along that of the world."""

        def energy(self, x: Array) -> float:
            _, _, _, w, i, j, k = x[0]
            return float(-4.0 * (w * w + i * i - j * j - k * k))

    angle, inertia = 2.0, 1.0
    body = {
        "name": "p",
        "bodies": [{
            "position": [0, 0, 0],
            "rotation": {"Axis": {"around": [0, 0, 1], "degrees": np.degrees(angle)}},
            "mass": 1,
            "inertia": [inertia] * 3,
        }],
    }
    model = pliant.Model.from_dict({"run": {"duration": 10, "step": 0.004}, "nodes": [{"Bodies": body}]})
    model = model.with_force_field("compass", "p", Compass())
    assert model.check("compass").is_good, str(model.check("compass"))
    period = 4 * sqrt(inertia / 4.0) * elliptic_k(sin(angle / 2))
    simulation = pliant.Simulation(model)
    simulation.run(duration=period / 2)
    w, _, _, k = simulation.node("p").orientations[0]
    assert 2 * np.arctan2(k, w) == pytest.approx(-angle, abs=1e-6)
    assert simulation.energies.total == pytest.approx(-4 * cos(angle), abs=1e-6)


class Parabola:
    """Height of beads above the parabola y = x^2/2."""

    def positions(self, x: Array) -> Array:
        return x[:, 1:2] - x[:, :1] ** 2 / 2


class GivenParabola(Parabola):
    def jacobian(self, x: Array) -> Array:
        out = np.zeros((len(x), 1, 3))
        out[:, 0, 0] = -x[:, 0]
        out[:, 0, 1] = 1
        return out

    def geometric_stiffness(self, x: Array, f: Array) -> Array:
        out = np.zeros((len(x), 3, 3))
        out[:, 0, 0] = -f[:, 0]
        return out


class WithJacobian(Parabola):
    jacobian = GivenParabola.jacobian


def on_parabola(mapping: Any, compliance: float, x: float = 0.8) -> pliant.Model:
    model = particles([[x, x * x / 2, 0]], gravity=[0, -9.81, 0])
    model = model.with_mapping("above", "p", mapping, coupled=False)
    return model.with_constraint("track", "above", compliance=compliance)


@pytest.mark.parametrize("mapping", [Parabola(), WithJacobian(), GivenParabola()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("compliance", [0.0, 1e-9])
def test_a_bead_on_a_parabola_has_the_period_of_the_quadrature(mapping: Any, compliance: float) -> None:
    amplitude, g = 0.8, 9.81
    # x = a sin(u) takes the root of the turning point away; the integrand is smooth and periodic.
    u = np.linspace(0, 2 * pi, 400, endpoint=False)
    period = float(np.mean(np.sqrt((1 + (amplitude * np.sin(u)) ** 2) / g)) * 2 * pi)
    model = on_parabola(mapping, compliance)
    assert model.check("above").is_good, str(model.check("above"))
    simulation = pliant.Simulation(model)
    start = simulation.energies.total
    simulation.run(duration=period)
    x, y, _ = simulation.node("p").positions[0]
    # The phase is late by some (2 pi h/period)^2, which shows to second order in the position.
    assert x == pytest.approx(amplitude, abs=1e-6) and y == pytest.approx(amplitude**2 / 2, abs=1e-6)
    assert abs(simulation.node("p").velocities[0, 0]) < 2e-4
    assert simulation.energies.total == pytest.approx(start, abs=1e-5)
    # At the lowest point, the weight and the centripetal force for the radius of curvature 1: v^2 = 2 g a^2/2.
    simulation.run(duration=period / 4)
    assert simulation.reaction("track")[0] == pytest.approx(2 * (g + g * amplitude**2), rel=1e-3)


class Distance:
    """Distance of two elements, less one."""

    def positions(self, x: Array) -> Array:
        return np.array([[np.linalg.norm(x[0] - x[1]) - 1.0]])


class DistanceOfNodes:
    def positions(self, a: Array, b: Array) -> Array:
        return np.array([[np.linalg.norm(a[0] - b[0]) - 1.0]])


def test_a_distance_is_the_native_one_hard_and_soft_with_one_parent_and_two() -> None:
    start: tuple[list[list[float]], list[list[float]]] = ([[0, 0, 0], [1.0, 0, 0]], [[0, -1, 0], [0, 2, 0.5]])
    nodes = [
        {"Particles": {"name": name, "positions": [x], "velocities": [v], "mass": 2}}
        for name, x, v in zip("ab", *start)
    ]
    two = pliant.Model.from_dict({"run": {"duration": 100, "step": 0.001}, "nodes": nodes})
    node = {"name": "p", "positions": start[0], "velocities": start[1], "mass": 2}
    mapped = {"name": "d", "parents": ["p"], "mapping": {"Distance": {"pairs": [[0, 1]], "rest": [1]}}}
    for compliance in (0.0, 1e-3):
        law = (
            {"constraints": [{"name": "rod", "on": "d"}]}
            if compliance == 0
            else {"force_fields": [{"name": "rod", "on": "d", "law": {"Compliance": compliance}}]}
        )
        native = pliant.Model.from_dict(
            {"run": {"duration": 100, "step": 0.001}, "nodes": [{"Particles": node}, {"Mapped": mapped}], **law}
        )
        models = [
            native,
            particles(*start).with_mapping("d", ["p"], Distance()).with_constraint("rod", "d", compliance=compliance),
            two.with_mapping("d", ["a", "b"], DistanceOfNodes()).with_constraint("rod", "d", compliance=compliance),
        ]
        assert models[2].check("d").is_good, str(models[2].check("d"))
        simulations = [pliant.Simulation(model) for model in models]
        for simulation in simulations:
            simulation.run(duration=0.5)
        expected = state(simulations[0])
        # Rounding of the differences of second order, 1e-16/1e-6, in forces of some N.
        assert state(simulations[1]) == pytest.approx(expected, abs=1e-7)
        apart = [np.concatenate([state(simulations[2], name)[k] for name in "ab"]) for k in (0, 1)]
        assert np.concatenate(apart) == pytest.approx(expected.reshape(-1), abs=1e-7)
        force = [simulation.reaction("rod")[0] for simulation in simulations]
        assert force[1:] == pytest.approx([force[0]] * 2, abs=1e-5)


class Tip:
    """Point at (1, 0, 0) of a body."""

    def positions(self, x: Array) -> Array:
        p, (w, i, j, k) = x[0, :3], x[0, 3:]
        column = [1 - 2 * (j * j + k * k), 2 * (i * j + w * k), 2 * (i * k - w * j)]
        return np.array([p + np.array(column)])


def test_a_point_of_a_body_is_the_native_one() -> None:
    body = {"position": [-1, 0, 0], "velocity": [0, 1, 0], "angular_velocity": [1, 2, 3], "shape": {"Box": [1, 2, 3]}}
    nodes: list[Any] = [{"Bodies": {"name": "b", "bodies": [{**body, "mass": 2}]}}]
    tip: dict[str, Any] = {"RigidPoints": {"points": [[0, [1, 0, 0]]]}}
    scene = {"run": {"duration": 100, "step": 0.001}, "nodes": nodes}
    native = pliant.Model.from_dict(
        {
            **scene,
            "nodes": [*nodes, {"Mapped": {"name": "tip", "parents": ["b"], "mapping": tip}}],
            "constraints": [{"name": "pin", "on": "tip"}],
        }
    )
    own = pliant.Model.from_dict(scene).with_mapping("tip", "b", Tip()).with_constraint("pin", "tip")
    assert own.check("tip").is_good, str(own.check("tip"))
    simulations = [pliant.Simulation(model) for model in (native, own)]
    for simulation in simulations:
        simulation.run(duration=0.5)
    found = [
        np.concatenate([s.node("b").positions[0], s.node("b").orientations[0], s.node("b").angular_velocities[0]])
        for s in simulations
    ]
    assert found[1] == pytest.approx(found[0], abs=1e-7)


def test_a_force_field_acts_on_a_mapping_of_ones_own() -> None:
    model = particles([[2, 0, 0], [0, 0, 0]], [[0, 1, 0], [0, 0, 0]]).with_mapping("d", "p", Distance())
    model = model.with_force_field("spring", "d", Spring())
    simulation = pliant.Simulation(model)
    assert simulation.energies.potential == pytest.approx(50)
    simulation.run(duration=2 * pi / sqrt(100 / 1.0))
    assert simulation.energies.total == pytest.approx(51, abs=1e-3)
    # The method keeps it to second order.
    assert simulation.momentum.angular[2] == pytest.approx(4, abs=1e-5)


def test_a_wrong_stiffness_is_told_and_changes_no_motion() -> None:
    class Half(Spring):
        def stiffness(self, x: Array) -> Array:
            return np.asarray(0.5 * super().stiffness(x))

    model = particles([[1, 0, 0]])
    wrong = model.with_force_field("spring", "p", Half())
    found = wrong.check("spring")
    assert not found.is_good and found.worst > 0.4
    assert "`stiffness` is not minus the derivative of `force`" in str(found)
    states = []
    for each in (wrong, model.with_force_field("spring", "p", Spring())):
        simulation = pliant.Simulation(each)
        simulation.run(duration=0.1)
        states.append(state(simulation))
    # Newton's method goes on until the equations hold, whatever its matrix.
    assert states[0] == pytest.approx(states[1], abs=1e-9)


def test_check_tells_what_is_wrong_in_words() -> None:
    class Wrong:
        def energy(self, x: Array) -> float:
            return float((x**2).sum())

        def force(self, x: Array, v: Array) -> Array:
            return -x - 2 * v

        def stiffness(self, x: Array) -> Array:
            return np.array([[1.0, 0.5], [0.0, 1.0]])

        def damping(self, x: Array, v: Array) -> Array:
            return np.eye(2)

    findings = pliant.check(Wrong(), [[1.0, 2.0]]).findings
    for words in ("minus the gradient of `energy`", "`damping` is not minus", "is not symmetric"):
        assert any(words in finding for finding in findings), findings

    class WrongMapping(GivenParabola):
        def jacobian(self, x: Array) -> Array:
            return np.asarray(-super().jacobian(x))

    found = pliant.check(WrongMapping(), [[1.0, 2.0, 3.0]], coupled=False)
    assert not found.is_good and "`jacobian` is not the derivative of `positions`" in found.findings[0]
    assert pliant.check(GivenParabola(), [[1.0, 2.0, 3.0], [0.5, 0, 0]], coupled=False).is_good
    with pytest.raises(pliant.UnknownName, match="no component of one's own is called `track`"):
        on_parabola(Parabola(), 0.0).check("track")
    with pytest.raises(pliant.UnknownName, match="no component of one's own is called `sring`"):
        particles([[1, 0, 0]]).with_force_field("spring", "p", Spring()).check("sring")


class Late:
    """Spring that does something else once the particle has passed a place."""

    def __init__(self, act: Callable[[Array], Any]) -> None:
        self.act = act

    def force(self, x: Array) -> Any:
        return self.act(x) if x[0, 0] < 0.9 else -100 * x


class Told(Exception):
    pass


def refuse(x: Array) -> Any:
    raise Told("here")


def fails(model: pliant.Model, exception: type[Exception], match: str) -> BaseException:
    """Exception of a run of a model, which leaves the state of the last step."""
    simulation = pliant.Simulation(model)
    with pytest.raises(exception, match=match):
        simulation.run()

    def moment() -> tuple[Any, ...]:
        return state(simulation).tobytes(), simulation.time, simulation.steps, simulation.ledger.as_dict()

    before = moment()
    for again in (simulation.step, simulation.run, lambda: simulation.settle(0.05)):
        with pytest.raises(exception, match=match) as caught:
            again()
        assert moment() == before
    assert 0 < simulation.steps < 1000
    return caught.value


@pytest.mark.parametrize("integrator", ["Sdirk2", "Theta", "EnergyMomentum", "RungeKutta4"])
def test_an_exception_of_a_callable_comes_out_with_its_traceback(integrator: str) -> None:
    run: dict[str, Any] = {"run": {"duration": 100, "step": 0.001, "integrator": integrator}}
    model = particles([[1, 0, 0]], **run).with_force_field("late", "p", Late(refuse))
    caught = fails(model, Told, "^here$")
    assert "refuse" in "".join(traceback.format_exception(caught))


@pytest.mark.parametrize(
    ("act", "match"),
    [
        (lambda x: x[0], r"force field `late` on `p`: `force` must return the shape \(1, 3\), but returned \(3,\)"),
        (lambda x: x * np.nan, "force field `late` on `p`: `force` must return finite numbers, but returned NaN"),
        (lambda x: None, "`force` must return the shape"),
        (lambda x: {}, "`force` must return real numbers"),
        (lambda x: "x", "`force` must return real numbers"),
        (lambda x: [[1, 2], [3]], "`force` must return real numbers"),
    ],
)
def test_garbage_of_a_callable_names_component_and_node(act: Callable[[Array], Any], match: str) -> None:
    caught = fails(particles([[1, 0, 0]]).with_force_field("late", "p", Late(act)), pliant.ComponentError, match)
    assert isinstance(caught, pliant.ComponentError)
    assert (caught.component, caught.node, caught.method) == ("late", "p", "force")


def test_garbage_of_the_first_call_is_told_when_the_component_is_added() -> None:
    model = particles([[1, 0, 0]])

    class Broken:
        def __init__(self, value: Any) -> None:
            self.value = value

        def energy(self, x: Array) -> Any:
            return self.value

        positions = energy

    value: Any
    for value in (None, "x", [1, 2, 3], float("nan"), float("inf")):
        with pytest.raises(pliant.ComponentError, match="force field `own` on `p`: `energy` must return"):
            model.with_force_field("own", "p", Broken(value))
    for value in (None, [1.0], 2.0, [[np.nan]], np.zeros((0, 3)), np.zeros((1, 1, 1))):
        with pytest.raises(pliant.ComponentError, match="mapping `own`: `positions` must return"):
            model.with_mapping("own", "p", Broken(value))
    with pytest.raises(ZeroDivisionError):
        model.with_force_field("own", "p", Late(lambda x: 1 / 0)).with_parameters({})
        particles([[0, 0, 0]]).with_force_field("own", "p", Late(lambda x: 1 / 0))


def test_what_is_no_component_is_refused() -> None:
    model = particles([[1, 0, 0], [2, 0, 0]])
    with pytest.raises(pliant.UnknownName, match="no node is called `q`"):
        model.with_force_field("own", "q", Spring())
    with pytest.raises(pliant.UnknownName, match="no node is called `q`"):
        model.with_mapping("own", ["p", "q"], Parabola())
    with pytest.raises(pliant.SceneError, match="own"):
        model.with_force_field("own", "p", Spring()).with_force_field("own", "p", Spring())
    with pytest.raises(pliant.SceneError, match="p"):
        model.with_mapping("p", "p", Parabola())
    with pytest.raises(TypeError, match="not a class: Spring()"):
        model.with_force_field("own", "p", Spring)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="object is no force field"):
        model.with_force_field("own", "p", object())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Spring is no mapping"):
        model.with_mapping("own", "p", Spring())  # type: ignore[arg-type]
    with pytest.raises(pliant.StateError, match="no parents"):
        model.with_mapping("own", [], Parabola())
    with pytest.raises(pliant.UnknownName, match="did you mean `differences`"):
        model.with_force_field("own", "p", Spring(), derivatives="difference")  # type: ignore[arg-type]
    for step in (0.0, -1.0, float("nan")):
        with pytest.raises(pliant.StateError, match="must be positive and finite"):
            model.with_force_field("own", "p", Spring(), difference=step)
    with pytest.raises(pliant.SceneError):
        model.with_mapping("d", "p", Distance(), coupled=False)
    with pytest.raises(pliant.SceneError):
        model.with_constraint("own", "p", compliance=-1)
    many = particles([[k, 0, 0] for k in range(2000)])
    with pytest.raises(pliant.SceneError, match="coupled=False"):
        many.with_force_field("own", "p", ForceOfSpring())
    many.with_force_field("own", "p", ForceOfSpring(), coupled=False)


def test_a_callable_cannot_use_a_simulation() -> None:
    held: list[Any] = []
    model = particles([[1, 0, 0]]).with_force_field("late", "p", Late(lambda x: held[0]()))
    simulation, batch = pliant.Simulation(model), pliant.Batch(model, 2, threads=2)
    simulation.node("p").velocities = [[-1, 0, 0]]
    for use in (
        lambda: simulation.time,
        simulation.step,
        simulation.reset,
        simulation.checkpoint,
        lambda: batch[0].time,
        batch.step,
        lambda: batch.is_done,
    ):
        held[:] = [use]
        with pytest.raises(pliant.StateError, match="cannot use simulations"):
            simulation.run()
        with pytest.raises(pliant.StateError, match="cannot use simulations"):
            batch.run()
    held[:] = [lambda: np.zeros((1, 3))]
    simulation.run(0.01)


def test_models_with_components_are_copied_and_pickled() -> None:
    model = particles([[1, 0, 0], [2, 0, 0]]).with_force_field("spring", "p", Spring(), derivatives="differences")
    model = model.with_mapping("d", "p", Distance()).with_constraint("rod", "d", compliance=1e-3)
    again = pickle.loads(pickle.dumps(model))
    for other in (again, copy.deepcopy(model), model.with_parameters({})):
        assert other.nodes == ("p", "d") and set(other.force_fields) == {"spring", "rod"}
    simulation = pliant.Simulation(model)
    simulation.run(0.02)
    copies = [copy.copy(simulation), pickle.loads(pickle.dumps(simulation)), pliant.Simulation(again)]
    copies[2].restore(simulation.checkpoint())
    simulation.run(0.02)
    for other in copies:
        other.run(0.02)
        assert state(other).tobytes() == state(simulation).tobytes()
        assert other.time == simulation.time and other.energies.total == simulation.energies.total


def test_what_does_not_pickle_is_named() -> None:
    class Local(Spring):
        pass

    model = particles([[1, 0, 0]]).with_force_field("spring", "p", Local())
    for thing in (model, pliant.Simulation(model), pliant.Batch(model, 2)):
        with pytest.raises(TypeError, match="`spring` cannot be pickled: its .*Local is not") as caught:
            pickle.dumps(thing)
        assert caught.value.__cause__ is not None
    copy.copy(pliant.Simulation(model)).step()


def test_a_checkpoint_is_of_a_model_with_the_same_components() -> None:
    plain = particles([[1, 0, 0]])
    models = [
        plain,
        plain.with_force_field("spring", "p", Spring()),
        plain.with_force_field("spring", "p", ForceOfSpring()),
        plain.with_force_field("other", "p", Spring()),
    ]
    saved = [pliant.Simulation(model).checkpoint() for model in models]
    for i, model in enumerate(models):
        for k, checkpoint in enumerate(saved):
            simulation = pliant.Simulation(model)
            if i == k:
                simulation.restore(checkpoint)
                continue
            with pytest.raises(pliant.CheckpointError, match="components of one's own are"):
                simulation.restore(checkpoint)
    with pytest.raises(pliant.CheckpointError):
        pliant.Simulation(models[1]).restore(saved[1][:-20] + saved[1][-16:])
    with pytest.raises(pliant.CheckpointError):
        pliant.Simulation(models[1]).restore(b"PLNTPART" * 3)


def test_a_batch_has_the_same_bits_on_any_number_of_threads() -> None:
    model = particles([["$x", 0, 0]], parameters={"x": 1.0})  # type: ignore[list-item]
    model = model.with_force_field("well", "p", EnergyOfSpring()).with_force_field("dashpot", "p", Dashpot())
    values = np.linspace(0.5, 2, 6)
    found = []
    for threads in (1, 2, 5):
        batch = pliant.Batch(model, 6, parameters={"x": values}, threads=threads)
        batch.run(0.02)
        found.append((batch.positions("p").tobytes(), batch.velocities("p").tobytes()))
    assert found[0] == found[1] == found[2]
    alone = pliant.Simulation(model.with_parameters({"x": values[3]}))
    alone.run(0.02)
    assert alone.node("p").positions.tobytes() == batch.positions("p")[3].tobytes()
    again = pickle.loads(pickle.dumps(batch))
    again.run(0.01)
    batch.run(0.01)
    assert again.positions("p").tobytes() == batch.positions("p").tobytes()


def test_one_instance_of_a_batch_fails_and_the_others_go_on() -> None:
    model = particles([["$x", 0, 0]], parameters={"x": 1.0})  # type: ignore[list-item]
    model = model.with_force_field("late", "p", Late(refuse))
    batch = pliant.Batch(model, 3, parameters={"x": [2.0, 0.901, 2.0]}, threads=2)
    with pytest.raises(Told) as caught:
        batch.run(0.1)
    assert getattr(caught.value, "instance") == 1
    assert batch.time[[0, 2]] == pytest.approx([0.1, 0.1]) and batch.time[1] < 0.1
    reports = batch.step(return_exceptions=True)
    assert isinstance(reports[1], Told) and isinstance(reports[0], pliant.StepReport)


def test_threads_call_in_turns() -> None:
    inside: list[int] = []
    most: list[int] = [0]

    class Slow(Spring):
        def force(self, x: Array) -> Array:
            inside.append(1)
            most[0] = max(most[0], threading.active_count())
            out = super().force(x)
            inside.pop()
            return out

    simulations = [pliant.Simulation(particles([[1, 0, 0]]).with_force_field("s", "p", Slow())) for _ in range(3)]
    threads = [threading.Thread(target=s.run, args=(0.1,)) for s in simulations]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({state(s).tobytes() for s in simulations}) == 1 and not inside


def test_automatic_differentiation_says_what_is_missing() -> None:
    model = particles([[1, 0, 0]])
    name: Any
    for name in ("jax", "torch"):
        try:
            __import__(name)
        except ImportError:
            with pytest.raises(ImportError, match=f"takes the package `{name}`"):
                model.with_force_field("own", "p", Spring(), derivatives=name)


@pytest.mark.parametrize("name", ["jax", "torch"])
@pytest.mark.parametrize("coupled", [True, False])
def test_automatic_differentiation_agrees_with_differences(name: Any, coupled: bool) -> None:
    library = pytest.importorskip(name)
    numbers: Any = library if name == "torch" else pytest.importorskip("jax.numpy")

    class Energy:
        def energy(self, x: Any) -> Any:
            return numbers.cos(x).sum() + (x[:, 0] * x[:, 1] ** 3).sum()

    class Force:
        def force(self, x: Any, v: Any) -> Any:
            return -(x**3) - 2 * v - v * (x**2).sum(1)[:, None]

    class Map:
        def positions(self, x: Any) -> Any:
            return numbers.sin(x[:, :2]) * x[:, 2:]

    start = [[1.0, 0.5, 0.2], [0.3, 0.7, -0.4]]
    for component in (Energy(), Force(), Map()):
        found = pliant.check(component, start, np.ones((2, 3)), derivatives=name, coupled=coupled)
        assert found.is_good, str(found)
        assert f"by {name}" in str(found)
    model = particles(start).with_force_field("own", "p", Energy(), derivatives=name, coupled=coupled)
    simulation = pliant.Simulation(model)
    simulation.run(0.05)
    energy = simulation.energies.total
    assert energy == pytest.approx(pliant.Simulation(model).energies.total, abs=1e-6)
