"""Gradients of rollouts: against closed forms, against differences, and as functions of other packages."""

from typing import Any

import numpy as np
import pytest

import pliant

#: A double pendulum whose second rod is a spring: lengths, stiffness, damping, gravity, speed at the start.
PENDULUM = """(
    parameters: {"length": 0.6, "rest": 0.4, "stiffness": 80, "gravity": 9.81, "speed": 0.7, "mass": 0.5},
    gravity: (0, "-$gravity", 0),
    run: (duration: 0.6, step: 0.01, integrator: Nonlinear),
    nodes: [
        Particles(name: "bobs", positions: [("$length", 0, 0), ("$length", 0.45, 0.1)],
            velocities: [(0, 0, "$speed"), (0, 0, 0)], mass: "$mass"),
        Mapped(name: "rod", parents: ["bobs"], mapping: Distance(pairs: [(0, (0, 0, 0))], rest: "$length")),
        Mapped(name: "thread", parents: ["bobs"], mapping: Distance(pairs: [(0, 1)], rest: "$rest")),
    ],
    force_fields: [(name: "spring", on: "thread", law: Stiffness("$stiffness"))],
    constraints: [(name: "rod is hard", on: "rod")],
)"""


def model(text: str = PENDULUM) -> pliant.Model:
    return pliant.Model.from_string(text)


def differences(rollout: pliant.Rollout, values: Any, weights: Any, share: float = 1e-3) -> Any:
    """Central differences of fourth order of a weighted sum of the moments, over a share of each value."""
    out = []
    for k, value in enumerate(values):
        step = share * value

        def at(times: float, k: int = k, step: float = step) -> float:
            moved = np.array(values)
            moved[k] += times * step
            return float((weights * rollout.run(moved)).sum())

        out.append((8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step))
    return np.array(out)


def test_every_parameter_against_differences() -> None:
    names = ["length", "rest", "stiffness", "gravity", "speed", "mass"]
    rollout = pliant.Rollout(model(), names, ["bobs", "thread"])
    values = list(rollout.parameters.values())
    assert rollout.shape == (61, 7)
    weights = np.random.default_rng(5).normal(size=rollout.shape)
    found = rollout.gradient(values, weights)
    expected = differences(rollout, values, weights)
    # Steps end with residuals of 1e-11, which differences of 1e-3 make larger.
    scale = np.abs(expected * values).max()
    assert np.abs((found - expected) * values).max() < 1e-7 * scale
    assert not found.flags.writeable


def test_the_default_method() -> None:
    names = ["length", "rest", "stiffness", "gravity", "speed", "mass"]
    rollout = pliant.Rollout(model(PENDULUM.replace(", integrator: Nonlinear", "")), names, ["bobs", "thread"])
    values = list(rollout.parameters.values())
    weights = np.random.default_rng(5).normal(size=rollout.shape)
    found = rollout.gradient(values, weights)
    # So near that steps are halved for their energy in the same way.
    expected = differences(rollout, values, weights, 1e-5)
    scale = np.abs(expected * values).max()
    assert np.abs((found - expected) * values).max() < 1e-6 * scale


def test_velocities_and_steps() -> None:
    rollout = pliant.Rollout(model(), ["gravity"], ["bobs"], velocities=True, steps=5)
    assert rollout.shape == (6, 12)
    way = rollout.run([9.81])
    simulation = pliant.Simulation(model())
    for _ in range(5):
        simulation.step()
    node = simulation.node("bobs")
    assert way[5].tolist() == [*node.positions.ravel(), *node.velocities.ravel()]
    weights = np.zeros((6, 12))
    weights[5, 9:] = [0.2, 1, -0.3]
    found = rollout.gradient([9.81], weights)
    assert found == pytest.approx(differences(rollout, [9.81], weights), rel=1e-7)


def test_orientations_of_bodies() -> None:
    text = """(
        parameters: {"spin": 2.0, "inertia": 0.02},
        run: (duration: 0.3, step: 0.01, integrator: Nonlinear),
        nodes: [Bodies(name: "top", bodies: [
            (mass: 1, inertia: (0.01, "$inertia", 0.025), angular_velocity: ("$spin", 0.4, 3)),
        ])],
    )"""
    rollout = pliant.Rollout(model(text), ["spin", "inertia"], ["top"])
    weights = np.random.default_rng(1).normal(size=rollout.shape)
    values = [2.0, 0.02]
    found = rollout.gradient(values, weights)
    assert found == pytest.approx(differences(rollout, values, weights), rel=1e-7)


def test_what_is_not_taken_says_why() -> None:
    with pytest.raises(pliant.UnknownName, match="did you mean `rest`"):
        pliant.Rollout(model(), ["rst"], ["bobs"])
    with pytest.raises(pliant.StateError, match="there is no node `bob`"):
        pliant.Rollout(model(), ["rest"], ["bob"])
    with pytest.raises(pliant.StateError, match="integrator: Sdirk2"):
        pliant.Rollout(model(PENDULUM.replace("Nonlinear", "Theta")), ["rest"], ["bobs"])
    rollout = pliant.Rollout(model(), ["rest"], ["bobs"])
    with pytest.raises(pliant.StateError, match="must have the shape"):
        rollout.run([1.0, 2.0])
    with pytest.raises(pliant.StateError, match="must have the shape"):
        rollout.gradient([0.4], np.zeros(3))
    with pytest.raises(pliant.SceneError):
        pliant.Rollout(model(), ["mass"], ["bobs"]).run([-1.0])


#: A ball that is thrown over the ground, lands, slips and rolls.
BALL = """(
    parameters: {"height": 0.1, "speed": 1.0, "spin": 2.0, "mass": 1, "friction": 0.3},
    gravity: (0, 0, -10),
    run: (duration: 0.4, step: 0.01, integrator: Nonlinear),
    nodes: [Bodies(name: "ball", bodies: [
        (position: (0, 0, "$height"), velocity: ("$speed", 0.1, 0), angular_velocity: (0, 0, "$spin"), mass: "$mass",
            shape: Sphere(0.05)),
    ])],
    materials: [(name: "rubber", friction: "$friction")],
    colliders: [
        Fixed(name: "ground", shape: Plane(0, 0, 1), material: "rubber"), Bodies(node: "ball", material: "rubber"),
    ],
)"""


def test_through_contacts() -> None:
    names = ["height", "speed", "spin", "mass", "friction"]
    rollout = pliant.Rollout(model(BALL), names, ["ball"])
    values = list(rollout.parameters.values())
    weights = np.random.default_rng(2).normal(size=rollout.shape)
    found = rollout.gradient(values, weights)
    expected = differences(rollout, values, weights)
    # Which step it lands in does not change within the differences.
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()
    with pytest.raises(pliant.StateError, match="parameter of holds or `run`"):
        text = BALL.replace("integrator: Nonlinear", 'integrator: Nonlinear, contact_accuracy: "1e-9 * $friction"')
        pliant.Rollout(model(text), ["friction"], ["ball"]).gradient([0.3], weights)


def test_gradients_by_elements() -> None:
    rollout = pliant.Rollout(model(), ["stiffness"], ["bobs"])
    by = np.random.default_rng(4).normal(size=rollout.shape)
    each = rollout.element_gradient([80], by, "stiffness", "thread")
    assert each == pytest.approx(rollout.gradient([80], by), rel=1e-9)
    with pytest.raises(pliant.UnknownName, match="stiff"):
        rollout.element_gradient([80], by, "stiff", "thread")


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_other_packages_differentiate_rollouts(name: str) -> None:
    library: Any = pytest.importorskip(name)
    of = pliant.Rollout(model(), ["rest", "stiffness"], ["bobs"])
    weights = np.random.default_rng(3).normal(size=of.shape)
    expected = of.gradient([0.4, 80], 2 * weights * of.run([0.4, 80]))
    if name == "torch":
        from pliant.torch import rollout as of_torch

        values = library.tensor([0.4, 80.0], dtype=library.float64, requires_grad=True)
        moments = of_torch(of)(values)
        (library.tensor(weights) * moments**2).sum().backward()
        found = values.grad.numpy()
    else:
        from pliant.jax import rollout as of_jax

        library.config.update("jax_enable_x64", True)
        moved = of_jax(of)
        loss = library.jit(library.grad(lambda values: (weights * moved(values) ** 2).sum()))
        found = np.asarray(loss(library.numpy.array([0.4, 80.0])))
    assert found == pytest.approx(expected, rel=1e-13)


def test_products_with_the_hessian() -> None:
    rollout = pliant.Rollout(model(), ["length", "stiffness", "speed"], ["bobs"])
    values = list(rollout.parameters.values())
    weights = np.random.default_rng(6).normal(size=rollout.shape)

    def by_cubes(way: Any) -> Any:
        return 3 * weights * way**2

    directions = np.array([[0.1, 3.0, -0.2], [-0.3, 20.0, 0.1]])
    found = [rollout.hessian_product(values, direction, by_cubes) for direction in directions]
    assert max(spread for _, spread in found) < 1e-4
    products = [product for product, _ in found]
    # Against differences of gradients of another step, of second order.
    step = 1e-4
    for direction, product in zip(directions, products, strict=True):
        ends = []
        for side in (1, -1):
            moved = values + side * step * direction
            ends.append(rollout.gradient(moved, by_cubes(rollout.run(moved))))
        expected = (ends[0] - ends[1]) / (2 * step)
        assert np.abs(product - expected).max() < 1e-4 * np.abs(expected).max()
    assert abs(directions[0] @ products[1] - directions[1] @ products[0]) < 1e-6 * abs(directions[0] @ products[1])


def test_what_a_function_raises_comes_out() -> None:
    rollout = pliant.Rollout(model(), ["speed"], ["bobs"])

    def refuses(_: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        rollout.hessian_product([0.7], [1], refuses)
    with pytest.raises(ValueError, match="gradients by moments"):
        rollout.hessian_product([0.7], [1], lambda way: way[:2])
    with pytest.raises(ValueError, match="a direction of the parameters"):
        rollout.hessian_product([0.7], [1, 2], refuses)


def test_smoothed_contacts_are_felt_before_they_touch() -> None:
    text = """(
        parameters: {"speed": 0.4},
        run: (duration: 1, step: 0.01, integrator: Nonlinear),
        materials: [(name: "soft", restitution: 0, friction: 0)],
        nodes: [Bodies(name: "balls", bodies: [
            (position: (0, 0, 0), shape: Sphere(0.1), mass: 1, velocity: ("$speed", 0, 0)),
            (position: (0.7, 0, 0), shape: Sphere(0.1), mass: 1),
        ])],
        colliders: [Bodies(node: "balls", material: "soft", margin: 1)],
    )"""
    own = pliant.Rollout(model(text), ["speed"], ["balls"])
    smoothed = pliant.Rollout(model(text), ["speed"], ["balls"], smoothing=1e-3)
    by = np.zeros(own.shape)
    by[-1, 7] = 1
    assert own.gradient([0.4], by) == [0]
    assert 0.001 < smoothed.gradient([0.4], by)[0] < 0.5
    assert (own.run([0.4]) == smoothed.run([0.4])).all()
    for energy in [0, -1, float("nan")]:
        with pytest.raises(ValueError, match="an energy above zero"):
            pliant.Rollout(model(text), ["speed"], ["balls"], smoothing=energy)
