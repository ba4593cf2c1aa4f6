"""Dynamics along joint coordinates: mass matrices, inverse dynamics, the inertia of a tool."""

import numpy as np
import pytest
from conftest import SCENES

import pliant

#: A cart on a rail along x, with a pole on it that leans by `angle` to -x and turns at `rate`.
CART = """(
    parameters: {"angle": 0.4, "rate": 1.5},
    gravity: (0, -9.81, 0),
    run: (duration: 1, step: 0.001),
    nodes: [
        Bodies(name: "cart", bodies: [(shape: Box(0.4, 0.2, 0.2), mass: 1)]),
        Bodies(name: "pole", bodies: [(
            position: ("-0.5 * sin($angle)", "0.5 * cos($angle)", 0),
            rotation: Axis(around: (0, 0, 1), degrees: "$angle * 180 / pi"),
            velocity: ("-0.5 * cos($angle) * $rate", "-0.5 * sin($angle) * $rate", 0),
            angular_velocity: (0, 0, "$rate"),
            shape: Box(0.02, 1, 0.02), mass: 0.1,
        )]),
        Mapped(name: "tip", parents: ["pole"], mapping: RigidPoints(points: [(0, (0, 0.5, 0))])),
    ],
    joints: [
        (name: "rail", kind: Slider, b: Body("cart", 0), axis: (1, 0, 0), limits: [(lower: -1, upper: 1)]),
        (name: "pivot", kind: Hinge, a: Body("cart", 0), b: Body("pole", 0), friction: [(force: 0.1)]),
    ],
)"""
ANGLE, RATE, M, m, l, g = 0.4, 1.5, 1.0, 0.1, 0.5, 9.81
MASS = np.array(
    [[M + m, -m * l * np.cos(ANGLE)], [-m * l * np.cos(ANGLE), m * (1 + 0.02**2) / 12 + m * l**2]]
)
#: Forces that hold both rates.
HOLD = np.array([m * l * np.sin(ANGLE) * RATE**2, -m * g * l * np.sin(ANGLE)])


@pytest.fixture
def cart() -> pliant.Simulation:
    return pliant.Simulation(pliant.Model.from_string(CART))


def test_a_cart_and_pole_have_the_dynamics_of_lagrange(cart: pliant.Simulation) -> None:
    assert cart.model.coordinates == ("rail.travel", "pivot.angle")
    assert cart.joint_mass_matrix() == pytest.approx(MASS, rel=1e-11, abs=1e-12)
    assert cart.joint_accelerations() == pytest.approx(np.linalg.solve(MASS, -HOLD), rel=1e-10)
    wanted = np.array([0.7, -2.0])
    tau = cart.inverse_dynamics(wanted)
    assert tau == pytest.approx(MASS @ wanted + HOLD, rel=1e-10, abs=1e-12)
    cart.tau = tau
    assert cart.joint_accelerations() == pytest.approx(wanted, rel=1e-9)
    # In place of what is set, not on top of it.
    assert cart.inverse_dynamics(wanted) == pytest.approx(tau, rel=1e-9, abs=1e-11)


def test_a_coordinate_alone_leaves_the_others_free(cart: pliant.Simulation) -> None:
    alone = MASS[1, 1] - MASS[0, 1] ** 2 / MASS[0, 0]
    assert cart.joint_mass_matrix(["pivot.angle"]) == pytest.approx(np.array([[alone]]), rel=1e-11)
    turned = cart.joint_mass_matrix(["pivot.angle", "rail.travel"])
    assert turned == pytest.approx(MASS[::-1, ::-1], rel=1e-11)


def test_the_inertia_of_a_tool(cart: pliant.Simulation) -> None:
    jacobian = cart.node("tip").jacobian()[0, :2]
    joints = np.array([[1, -2 * l * np.cos(ANGLE)], [0, -2 * l * np.sin(ANGLE)]])
    expected = joints @ np.linalg.solve(MASS, joints.T)
    assert cart.mobility(jacobian) == pytest.approx(expected, rel=1e-10)


def test_motors_take_no_part_and_springs_do() -> None:
    text = """(
        run: (duration: 1),
        nodes: [Bodies(name: "carts", bodies: [
            (shape: Box(1, 1, 1), mass: 2), (position: (2, 0, 0), shape: Box(1, 1, 1), mass: 3),
        ])],
        joints: [
            (name: "x", kind: Slider, b: Body("carts", 0), axis: (1, 0, 0), motors: [Velocity(speed: 0)]),
            (name: "y", kind: Slider, a: Body("carts", 0), b: Body("carts", 1), axis: (1, 0, 0),
             springs: [(compliance: 0.01, rest: 0.3)], motors: [Position(target: 0.2, compliance: 0.001)]),
        ],
    )"""
    carts = pliant.Simulation(pliant.Model.from_string(text))
    assert carts.joint_mass_matrix(["y.travel"]) == pytest.approx(np.array([[1.2]]), rel=1e-11)
    # The spring pushes both apart with 30 N.
    assert carts.joint_accelerations() == pytest.approx([-15.0, 25.0], rel=1e-11)
    assert carts.inverse_dynamics([0.0, 0.0]) == pytest.approx([0.0, -30.0], abs=1e-10)


def test_inputs_are_those_of_the_present() -> None:
    # A force of 5 t along x on a cart of 2 kg: steps take that of their middle.
    text = """(
        run: (duration: 1, step: 0.05),
        nodes: [Bodies(name: "cart", bodies: [(shape: Box(1, 1, 1), mass: 2)])],
        force_fields: [(name: "push", on: "cart", law: Force(["5 * $t", 0, 0]))],
        joints: [(name: "x", kind: Slider, b: Body("cart", 0), axis: (1, 0, 0))],
    )"""
    cart = pliant.Simulation(pliant.Model.from_string(text))
    twin = pliant.Simulation(cart.model)
    for _ in range(10):
        cart.step()
        assert cart.joint_accelerations() == pytest.approx([2.5 * cart.time], rel=1e-11)
        twin.step()
    assert (cart.q == twin.q).all() and cart.ledger.inputs == twin.ledger.inputs


def test_what_is_held_cannot_move(cart: pliant.Simulation) -> None:
    cart.body("cart").hold([True] * 6)
    with pytest.raises(pliant.StateError, match="`rail.travel` cannot move: it is held, or sleeps"):
        cart.joint_mass_matrix()


def test_a_closed_loop_has_fewer_coordinates_than_joints() -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "slider_crank.ron"))
    names = simulation.model.coordinates
    assert len(names) == 4
    with pytest.raises(pliant.StateError, match=r"`crank pin.angle` depends on the coordinates before it.*shaft.angle"):
        simulation.joint_mass_matrix()
    # The kinetic energy of a motion is that of its one coordinate.
    simulation.run(0.3)
    inertia = simulation.joint_mass_matrix(["shaft.angle"])[0, 0]
    rate = simulation.joint("shaft").velocity
    assert simulation.energies.kinetic == pytest.approx(0.5 * inertia * rate**2, rel=1e-9)
    assert simulation.inverse_dynamics([0.0], ["shaft.angle"]).shape == (1,)


def test_what_is_asked_for_does_not_change_the_motion() -> None:
    model = pliant.Model.from_file(SCENES / "servo_arm.ron")
    asked, alone = pliant.Simulation(model), pliant.Simulation(model)
    for _ in range(40):
        asked.inverse_dynamics([0.0, 0.0])
        asked.mobility(np.ones((1, model.dofs)))
        asked.step()
        alone.step()
    assert (asked.q == alone.q).all() and (asked.velocities == alone.velocities).all()


def test_what_dynamics_refuse(cart: pliant.Simulation) -> None:
    with pytest.raises(pliant.UnknownName, match="`pivot.angel`; did you mean `pivot.angle`"):
        cart.joint_mass_matrix(["pivot.angel"])
    with pytest.raises(pliant.StateError, match=r"must have the shape \(2,\)"):
        cart.inverse_dynamics([1.0])
    with pytest.raises(pliant.StateError, match="must be finite"):
        cart.inverse_dynamics([1.0, np.inf])
    with pytest.raises(pliant.StateError, match=r"must have the shape \(1, 12\)"):
        cart.mobility([[1.0, 2.0]])
    with pytest.raises(pliant.StateError, match="`rail.travel` depends"):
        cart.joint_mass_matrix(["rail.travel", "rail.travel"])
