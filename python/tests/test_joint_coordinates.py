"""Joint coordinates that are assigned, and Jacobians by them, against the closed forms of two links."""

import numpy as np
import pytest

import pliant

#: Two links of 1 m in the plane, hinges at their lower ends; a loop when the end is held on a rail.
LINKS = """(
    parameters: {"foot": 1},
    gravity: (0, -9.81, 0),
    run: (duration: 1, step: 0.001),
    nodes: [Bodies(name: "links", bodies: [
        (position: (0.5, 0, 0), shape: Box(1, 0.1, 0.1), mass: 1),
        (position: (1.5, 0, 0), shape: Box(1, 0.1, 0.1), mass: 1),
    ])],
    joints: [
        (name: "shoulder", kind: Hinge, b: Body("links", 0)),
        (name: "elbow", kind: Hinge, a: Body("links", 0), b: Body("links", 1), at: (1, 0, 0)),
        RAIL
    ],
)"""
RAIL = '(name: "rail", kind: PointOnLine, b: Body("links", 1), at: (2, 0, 0), axis: (1, 0, 0)),'


def simulation(rail: str = "") -> pliant.Simulation:
    return pliant.Simulation(pliant.Model.from_string(LINKS.replace("RAIL", rail)))


def ends(q: np.ndarray) -> np.ndarray:
    return np.array([np.cos(q[0]) + np.cos(q.sum()), np.sin(q[0]) + np.sin(q.sum())])


def jacobian(q: np.ndarray) -> np.ndarray:
    upper, lower = [np.array([-np.sin(a), np.cos(a)]) for a in (q[0], q.sum())]
    return np.array([upper + lower, lower]).T


def test_assigned_coordinates_move_the_bodies() -> None:
    arm = simulation()
    arm.qd = (0.5, -1.5)
    arm.q = q = np.array([0.7, -1.9])
    assert arm.q == pytest.approx(q, abs=1e-13)
    assert arm.qd == pytest.approx((0.5, -1.5), abs=1e-13)
    link = arm.body("links", 1)
    elbow = np.array([np.cos(0.7), np.sin(0.7)])
    assert link.position[:2] == pytest.approx(0.5 * (elbow + ends(q)), abs=1e-13)
    # Velocities go along: (0.5 - 1.5) rad/s of the second link.
    assert link.angular_velocity == pytest.approx((0, 0, -1), abs=1e-13)
    end = np.append(ends(q), 0)
    by_joints = link.joint_jacobian(end)
    assert by_joints.shape == (6, 2)
    assert by_joints[:2] == pytest.approx(jacobian(q), abs=1e-12)
    assert by_joints[5] == pytest.approx((1, 1), abs=1e-12)
    assert link.joint_jacobian(end, ["elbow.angle"]) == pytest.approx(by_joints[:, 1:], abs=1e-12)
    # A step goes on from there: gravity alone, and the joints hold.
    report = arm.step()
    assert report.violation < 1e-10


def test_single_joints_are_assigned_and_the_others_stay() -> None:
    arm = simulation()
    arm.joint("elbow").positions = [1.2]
    arm.joint("elbow").velocities = [2.0]
    assert arm.q == pytest.approx((0, 1.2), abs=1e-13)
    assert arm.qd == pytest.approx((0, 2), abs=1e-13)
    assert arm.live.q[1] == pytest.approx(1.2, abs=1e-13)


def test_a_loop_closes_or_is_refused() -> None:
    loop = simulation(RAIL)
    assert loop.model.coordinates == ("shoulder.angle", "elbow.angle", "rail.travel")
    # From the straight line either side is right: the elbow is bent a little first.
    loop.joint("shoulder").positions = [0.4]
    q = loop.q
    assert q[1] == pytest.approx(-0.8, abs=1e-9)
    assert q[2] == pytest.approx(2 * np.cos(0.4) - 2, abs=1e-9)
    with pytest.raises(pliant.StateError, match="cannot be"):
        loop.q = (0.4, -0.7, q[2])
    assert (loop.q == q).all()


def test_batches_take_coordinates_for_each_instance() -> None:
    model = pliant.Model.from_string(LINKS.replace("RAIL", ""))
    batch = pliant.Batch(model, 3)
    q = np.array([[0.1, 0.2], [1.1, -0.3], [-2.0, 0.9]])
    batch.q = q
    assert batch.q == pytest.approx(q, abs=1e-13)
    batch.set_q((0.5, 0.5), which=[1])
    batch.set_qd(((1, 2), (3, 4)), which=[0, 2])
    assert batch.q[1] == pytest.approx((0.5, 0.5), abs=1e-13)
    assert batch.qd == pytest.approx(np.array([[1, 2], [0, 0], [3, 4]]), abs=1e-13)
    before = batch.q
    with pytest.raises(pliant.StateError, match="finite"):
        batch.set_q(((0, 0), (0, np.nan), (0, 0)))
    assert (batch.q == before).all()


def test_wrong_values_are_refused() -> None:
    arm = simulation()
    with pytest.raises(pliant.StateError, match="the values of coordinates"):
        arm.q = (1, 2, 3)
    with pytest.raises(pliant.StateError, match="finite"):
        arm.qd = (1, np.inf)
    with pytest.raises(pliant.UnknownName, match="elbow.angle"):
        arm.body("links", 1).joint_jacobian(coordinates=["elbo.angle"])
