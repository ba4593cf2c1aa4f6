"""Answers that this code did not produce: closed forms, finite differences, numpy's own algebra."""

import numpy as np
import pytest
from conftest import SCENES, STONE

import pliant

BODY = """(
    run: (duration: 1, step: 0.001),
    nodes: [
        Bodies(name: "box", bodies: [(
            position: (1, 2, 3), rotation: Axis(around: (0, 0, 1), degrees: 30),
            shape: Box(0.2, 0.4, 0.6), mass: 3, velocity: (1, 0, 0), angular_velocity: (0, 2, 0),
        )]),
        Mapped(name: "corner", parents: ["box"], mapping: RigidPoints(points: [(0, (0.1, 0.2, 0.3))])),
    ],
)"""


def rotation(q: np.ndarray) -> np.ndarray:
    """The matrix of a quaternion (w, x, y, z)."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.fixture
def box() -> pliant.Simulation:
    return pliant.Simulation(pliant.Model.from_string(BODY))


def test_free_fall_is_exact_with_the_trapezoidal_weights(stone: pliant.Simulation) -> None:
    stone.run(0.5)
    # SDIRK2 is exact for constant forces.
    assert stone.node("stone").positions == pytest.approx(np.array([[0, -1.25, 0]]), abs=1e-12)
    assert stone.energies.total == pytest.approx(0.0, abs=1e-11)


def test_orientation_and_angular_velocity_are_those_of_the_scene(box: pliant.Simulation) -> None:
    body = box.body("box")
    assert body.orientation == pytest.approx([np.cos(np.pi / 12), 0, 0, np.sin(np.pi / 12)], abs=1e-15)
    assert body.angular_velocity == pytest.approx([0, 2, 0], abs=1e-15)
    corner = np.array([1, 2, 3]) + rotation(body.orientation) @ [0.1, 0.2, 0.3]
    assert box.node("corner").positions[0] == pytest.approx(corner, abs=1e-15)
    arm = corner - [1, 2, 3]
    expected = [1, 0, 0] + np.cross([0, 2, 0], arm)
    assert box.node("corner").velocities[0] == pytest.approx(expected, abs=1e-15)


def test_what_is_set_is_what_is_read(box: pliant.Simulation) -> None:
    body = box.body("box")
    quaternion = np.array([0.5, -0.5, 0.5, 0.5])
    body.angular_velocity = (0.1, 0.2, 0.3)
    body.orientation = 3 * quaternion  # normalised
    body.position = (0, 1, 0)
    body.velocity = np.array([0, 0, 2], dtype=np.float32)
    assert body.orientation == pytest.approx(quaternion, abs=1e-15)
    # The angular velocity in the world is kept when the orientation changes.
    assert body.angular_velocity == pytest.approx([0.1, 0.2, 0.3], abs=1e-15)
    assert list(body.position) == [0, 1, 0] and list(body.velocity) == [0, 0, 2]
    corner = np.array([0, 1, 0]) + rotation(quaternion) @ [0.1, 0.2, 0.3]
    assert box.node("corner").positions[0] == pytest.approx(corner, abs=1e-15)


def test_the_mass_matrix_of_a_box(box: pliant.Simulation) -> None:
    matrix = box.mass_matrix()
    moments = 3 / 12 * np.array([0.4**2 + 0.6**2, 0.2**2 + 0.6**2, 0.2**2 + 0.4**2])
    assert matrix == pytest.approx(np.diag([3, 3, 3, *moments]), abs=1e-15)


@pytest.mark.parametrize("name", ["servo_arm", "bow", "soft_balls", "double_pendulum"])
def test_the_mass_matrix_has_the_kinetic_energy(name: str) -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / f"{name}.ron"))
    for _ in range(3):
        simulation.step()
    matrix, v = simulation.mass_matrix(), simulation.velocities
    assert matrix == pytest.approx(matrix.T, abs=1e-12)
    assert v @ matrix @ v / 2 == pytest.approx(simulation.energies.kinetic, rel=1e-12)


def test_jacobians_push_velocities_forward(box: pliant.Simulation) -> None:
    body, v = box.body("box"), box.velocities
    assert box.node("corner").jacobian()[0] @ v == pytest.approx(box.node("corner").velocities[0], abs=1e-14)
    twist = np.concatenate([body.velocity, body.angular_velocity])
    assert box.node("box").jacobian()[0] @ v == pytest.approx(twist, abs=1e-14)
    point = box.node("corner").positions[0]
    jacobian = body.jacobian(point)
    assert jacobian[:3] == pytest.approx(box.node("corner").jacobian()[0], abs=1e-14)
    assert body.jacobian() == pytest.approx(box.node("box").jacobian()[0], abs=1e-15)


def test_the_jacobian_of_a_joint_against_differences() -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "servo_arm.ron"))
    for _ in range(50):
        simulation.step()
    angle, links = simulation.node("elbow.angle"), simulation.node("links")
    row = angle.jacobian()[0, 0]
    # Each body is moved along each coordinate, turned about its own axes.
    step = 1e-6
    start, turned = links.positions, links.orientations
    for body in range(2):
        for k in range(3):
            moved = start.copy()
            moved[body, k] += step
            links.positions = moved
            assert (angle.positions[0, 0] - simulation.joint("elbow").position) == 0.0
            ahead = angle.positions[0, 0]
            moved[body, k] -= 2 * step
            links.positions = moved
            # Central differences: an error of second order, rounding of 1e-16 over the step.
            assert (ahead - angle.positions[0, 0]) / (2 * step) == pytest.approx(row[6 * body + k], abs=1e-8)
            links.positions = start
            w, q = turned[body, 0], turned[body, 1:]
            ends = []
            for sign in (1, -1):
                half = sign * step / 2 * np.eye(3)[k]
                both = turned.copy()
                both[body] = [w - q @ half, *(w * half + q + np.cross(q, half))]
                links.orientations = both
                ends.append(angle.positions[0, 0])
            links.orientations = turned
            assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(row[6 * body + 3 + k], abs=1e-8)


def test_forces_from_outside_accelerate(stone: pliant.Simulation) -> None:
    stone.node("stone").set_force([4, 20, 0])
    stone.run(1.0)
    assert stone.node("stone").velocities[0] == pytest.approx([2, 0, 0], abs=1e-12)
    assert stone.ledger.forces == pytest.approx(4 * 1 + 20 * 0, abs=1e-9)


def test_what_is_held_moves_as_told(stone: pliant.Simulation) -> None:
    node = stone.node("stone")
    node.hold([True, True, False], [1, 0, 0])
    stone.run(0.5)
    # The velocity is reached at the end of the first step.
    assert node.velocities[0] == pytest.approx([1, 0, 0], abs=1e-14)
    assert node.positions[0, 1] == 0 and node.positions[0, 0] == pytest.approx(0.5, abs=0.01)
    node.release([False, True, False])
    stone.run(0.1)
    assert node.velocities[0] == pytest.approx([1, -1, 0], abs=1e-12)


def test_an_equilibrium_of_a_spring() -> None:
    text = STONE.replace(
        "],\n)",
        ', Mapped(name: "gap", parents: ["stone"], mapping: Subset(elements: [0]))],\n'
        '    force_fields: [(name: "spring", on: "gap", law: Stiffness(100))],\n)',
    )
    simulation = pliant.Simulation(pliant.Model.from_string(text))
    report = simulation.equilibrium()
    assert simulation.node("stone").positions[0] == pytest.approx([0, -0.2, 0], abs=1e-12)
    assert report.negative_modes == 0 and report.residual < 1e-10
    assert simulation.force("spring") == pytest.approx([0, 20, 0], abs=1e-9)
    simulation.reset()
    assert simulation.settle().steps > 0
    assert simulation.node("stone").positions[0] == pytest.approx([0, -0.2, 0], abs=1e-10)


def test_contacts_carry_the_weight() -> None:
    scene = {
        "gravity": [0, -10, 0],
        "run": {"duration": 0.1, "step": 0.01},
        "nodes": [{"Bodies": {"name": "box", "bodies": [{"shape": {"Box": [1, 1, 1]}, "mass": 2}]}}],
        "colliders": [
            {"Fixed": {"name": "ground", "shape": {"Plane": [0, 1, 0]}, "position": [0, -0.5, 0]}},
            {"Bodies": {"node": "box"}},
        ],
    }
    simulation = pliant.Simulation(pliant.Model.from_dict(scene))
    assert len(simulation.contacts) == 0
    simulation.run()
    contacts = simulation.contacts
    assert contacts.dtype == pliant.CONTACT and len(contacts) == 4
    assert np.unique(contacts["sides"]).tolist() == [0, 1] and simulation.colliders[0] == "ground"
    upwards = contacts["normal"][:, 1] * np.where(contacts["sides"][:, 1] == 1, 1, -1)
    assert upwards == pytest.approx(np.ones(4))
    assert np.abs(contacts["force"].sum(axis=0)) == pytest.approx([0, 20, 0], abs=1e-6)
    assert contacts["impulse"] == pytest.approx(contacts["force"] * 0.01)
    assert (contacts["state"] == pliant.ContactState.STICKING).all()
    assert np.abs(contacts["gap"]).max() < 1e-9
    assert contacts["friction"] == pytest.approx(np.full(4, 0.5))
    force, torque = simulation.body("box").contact_force
    assert force == pytest.approx([0, 20, 0], abs=1e-6) and torque == pytest.approx(np.zeros(3), abs=1e-6)


def test_a_joint_carries_what_hangs_on_it() -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / "servo_arm.ron"))
    simulation.run()
    shoulder = simulation.joint("shoulder")
    assert shoulder.kind == "hinge" and shoulder.coordinates == ("angle",)
    # It carries the weight of both links, 3 kg, at rest.
    assert shoulder.force == pytest.approx([0, 3 * 9.81, 0], abs=1e-2)
    assert shoulder.positions[0] == shoulder.position and abs(shoulder.velocity) < 1e-4
    arms = [simulation.body("links", k) for k in (0, 1)]
    torque = sum(m * 9.81 * body.position[0] for m, body in zip((2, 1), arms))
    assert shoulder.torque[2] == pytest.approx(torque, rel=1e-3)


def test_a_driven_motor_turns_at_the_rate_asked_for() -> None:
    model = pliant.Model.from_file(SCENES / "servo_arm.ron", {"friction": 0, "torque": 1e4})
    simulation = pliant.Simulation(model)
    elbow = simulation.joint("elbow")
    simulation.drive("elbow.motor 0", velocity=1.0)
    simulation.run(0.5)
    # The servo is a compliance of 1e-3 rad/(N m) and carries a few N m.
    assert elbow.position == pytest.approx(0.5, abs=1e-2) and elbow.velocity == pytest.approx(1.0, abs=1e-2)
    simulation.drive("elbow.motor 0", [0.2])
    simulation.run(1.0)
    assert elbow.position == pytest.approx(0.2, abs=1e-2)
    simulation.drive("elbow.motor 0")
    simulation.run()
    assert elbow.position == pytest.approx(model.parameters["elbow"], abs=1e-2)
