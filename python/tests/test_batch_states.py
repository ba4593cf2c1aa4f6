"""States, holds and moments of the instances of a batch: those that each has alone."""

import numpy as np
import pytest
from conftest import SCENES, STONE

import pliant


def stones(n: int = 3) -> pliant.Batch:
    return pliant.Batch(pliant.Model.from_string(STONE), n, threads=2)


def test_a_held_instance_moves_at_its_speed_and_the_others_fall() -> None:
    batch = stones()
    batch.hold("stone", [True, True, False], [[1, 2, 0], [3, 4, 0]], which=[2, 0])
    batch.run(0.5)
    x = batch.positions("stone")[:, 0]
    # Held coordinates reach their velocities at the end of the first step: 0.01 s at half of them by SDIRK2 or at
    # all of them, and then at them exactly; free fall is exact for constant forces.
    assert x[0, :2] == pytest.approx(0.5 * np.array([3, 4]), abs=0.01 * 4)
    assert x[2, :2] == pytest.approx(0.5 * np.array([1, 2]), abs=0.01 * 4)
    assert x[1] == pytest.approx([0, -1.25, 0], abs=1e-12)
    assert batch.velocities("stone")[[0, 2], 0, :2] == pytest.approx(np.array([[3, 4], [1, 2]]), abs=1e-12)
    batch.release("stone", [True, True, False], which=[True, False, False])
    batch.step(steps=10)
    v = batch.velocities("stone")[:, 0, 1]
    assert v == pytest.approx([4 - 1, -6, 2], abs=1e-12)


def test_holds_have_the_bits_of_a_simulation_alone() -> None:
    batch = stones(2)
    batch.hold("stone", [False, True, True], [0, 0.5, 0])
    alone = pliant.Simulation(pliant.Model.from_string(STONE))
    alone.node("stone").hold([False, True, True], [0, 0.5, 0])
    batch.run(0.3)
    alone.run(0.3)
    assert batch.positions("stone").tolist() == [alone.node("stone").positions.tolist()] * 2


def test_states_are_set_in_the_instances_that_are_named() -> None:
    scene = """(
        run: (duration: 1, step: 0.005),
        nodes: [Bodies(name: "pair", bodies: [
            (position: (0, 1, 0), shape: Box(1, 0.2, 1), mass: 3), (position: (4, 1, 0), shape: Box(1, 0.2, 1), mass: 3),
        ])],
    )"""
    batch = pliant.Batch(pliant.Model.from_string(scene), 3, threads=2)
    start = batch.positions("pair")
    x = np.arange(12.0).reshape(2, 2, 3)
    batch.set_positions("pair", x, which=[2, 0])
    assert batch.positions("pair")[[2, 0]].tolist() == x.tolist()
    assert batch.positions("pair")[1].tolist() == start[1].tolist()
    batch.set_velocities("pair", [[1, 2, 3], [4, 5, 6]])
    assert batch.velocities("pair").tolist() == [[[1, 2, 3], [4, 5, 6]]] * 3
    turn = np.array([0.5, 0.5, 0.5, -0.5])
    batch.set_angular_velocities("pair", np.ones((3, 2, 3)))
    batch.set_orientations("pair", np.tile(2 * turn, (1, 2, 1)), which=[1])
    # Normalised; the angular velocities in the world stay, through two turns of vectors.
    assert batch.orientations("pair")[1] == pytest.approx(np.tile(turn, (2, 1)), abs=1e-15)
    assert batch.orientations("pair")[0].tolist() == [[1, 0, 0, 0]] * 2
    assert batch.angular_velocities("pair") == pytest.approx(np.ones((3, 2, 3)), abs=1e-15)
    one = pliant.Simulation(pliant.Model.from_string(scene))
    one.node("pair").positions = x[1]
    one.node("pair").velocities = [[1, 2, 3], [4, 5, 6]]
    one.node("pair").angular_velocities = np.ones((2, 3))
    batch.run(0.1)
    one.run(0.1)
    assert batch.positions("pair")[0].tolist() == one.node("pair").positions.tolist()


def test_what_is_refused_in_one_is_done_in_none() -> None:
    batch = stones()
    batch.run(0.1)
    before = batch.checkpoint()

    def unchanged() -> bool:
        return bool(batch.positions("stone").tolist() == start and batch.velocities("stone").tolist() == moving)

    start, moving = batch.positions("stone").tolist(), batch.velocities("stone").tolist()
    x = np.zeros((3, 1, 3))
    x[2, 0, 1] = np.nan
    with pytest.raises(pliant.StateError, match="the positions of `stone` must be finite"):
        batch.set_positions("stone", x)
    with pytest.raises(pliant.StateError, match=r"must have the shape \(3, 1, 3\), but have \(2, 1, 3\)"):
        batch.set_positions("stone", np.zeros((2, 1, 3)))
    with pytest.raises(pliant.StateError, match="has no orientations"):
        batch.set_orientations("stone", np.zeros((1, 4)))
    with pytest.raises(pliant.UnknownName, match="no node is called `ston`"):
        batch.set_velocities("ston", np.zeros((1, 3)))
    with pytest.raises(pliant.StateError, match="no instance 3"):
        batch.set_velocities("stone", np.zeros((1, 3)), which=[3])
    for element in (1, -1):
        with pytest.raises(pliant.StateError, match="has no element"):
            batch.hold("stone", [True] * 3, element=element)
    with pytest.raises(pliant.StateError):
        batch.hold("stone", [True] * 2)
    with pytest.raises(pliant.StateError, match="the velocities must be finite"):
        batch.hold("stone", [True] * 3, [0, np.inf, 0])
    with pytest.raises(pliant.StateError):
        batch.release("stone", [True] * 4)
    with pytest.raises(pliant.CheckpointError) as caught:
        batch.restore([before[0], before[1], b"nothing"])
    assert caught.value.instance == 2
    with pytest.raises(pliant.StateError, match="2 checkpoints for 3 instances"):
        batch.restore(before[:2])
    assert unchanged()
    batch.step()
    alone = pliant.Simulation(pliant.Model.from_string(STONE))
    alone.run(0.1)
    alone.step()
    assert batch.positions("stone").tolist() == [alone.node("stone").positions.tolist()] * 3


def test_a_mapping_that_one_state_leaves_undefined_changes_no_other() -> None:
    """A mapping of one's own refuses the state of the last instance: the first two go back."""

    class Root:
        def positions(self, x: np.ndarray) -> np.ndarray:
            if x[0, 1] > 5:
                raise ValueError("out of reach")
            return x[:, 1:2]

    batch = pliant.Batch(pliant.Model.from_string(STONE).with_mapping("root", "stone", Root()), 3, threads=1)
    batch.run(0.1)
    start = batch.positions("stone").tolist()
    x = np.array([[[0, 1.0, 0]], [[0, 2.0, 0]], [[0, 6.0, 0]]])
    with pytest.raises(ValueError, match="out of reach") as caught:
        batch.set_positions("stone", x)
    assert getattr(caught.value, "instance") == 2
    assert batch.positions("stone").tolist() == start


def test_moments_of_instances_go_on_to_the_same_bits() -> None:
    model = pliant.Model.from_file(SCENES / "servo_arm.ron")
    batch = pliant.Batch(model, 3, parameters={"shoulder": [0.2, 0.6, 1.0]}, threads=2)
    batch.run(0.1)
    moments = batch.checkpoint()
    batch.run(0.1)
    end = batch.q.tolist()
    batch.restore([moments[2], bytearray(moments[0])], which=[2, 0])
    assert batch.time == pytest.approx([0.1, 0.2, 0.1], abs=1e-12)
    batch.step(steps=round(0.1 / model.step), which=[0, 2])
    assert batch.q.tolist() == end
    # A moment of other parameters is one of another scene.
    with pytest.raises(pliant.CheckpointError):
        batch.restore([moments[0]], which=[1])


def test_reactions_and_contacts_of_all_instances() -> None:
    scene = """(
        parameters: {"mass": 2},
        gravity: (0, -10, 0),
        run: (duration: 1, step: 0.01),
        nodes: [
            Bodies(name: "box", bodies: [(position: (0, 0.5, 0), shape: Box(1, 1, 1), mass: "$mass")]),
            Particles(name: "bob", positions: [(5, -1, 0)], mass: "$mass"),
            Mapped(name: "length", parents: ["bob"], mapping: Distance(pairs: [(0, (5, 0, 0))])),
        ],
        constraints: [(name: "rod", on: "length")],
        colliders: [Fixed(name: "ground", shape: Plane(0, 1, 0)), Bodies(node: "box")],
    )"""
    masses = np.array([1.0, 2.0, 5.0])
    batch = pliant.Batch(pliant.Model.from_string(scene), 3, parameters={"mass": masses}, threads=2)
    batch.step(steps=20)
    # Weights; contacts and rows are solved to 1e-8 of them.
    assert batch.reaction("rod")[:, 0] == pytest.approx(-10 * masses, rel=1e-7)
    assert batch.force("rod").shape == (3, 1)
    forces = batch.contact_forces("box")
    assert forces.shape == (3, 1, 6)
    assert forces[:, 0, 1] == pytest.approx(10 * masses, rel=1e-7)
    assert forces[:, 0, [0, 2, 3, 4, 5]] == pytest.approx(np.zeros((3, 5)), abs=1e-6)
    for place in range(3):
        force, torque = batch[place].body("box").contact_force
        assert [*force, *torque] == forces[place, 0].tolist()
    with pytest.raises(pliant.StateError, match="has no orientations"):
        batch.contact_forces("bob")
    with pytest.raises(pliant.UnknownName):
        batch.reaction("rods")
