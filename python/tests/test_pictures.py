"""Pictures as arrays of pixels, against perspective by hand."""

import numpy as np
import pytest
from conftest import SCENES, STONE

import pliant

BOX = """(
    gravity: (0, -9.81, 0),
    run: (duration: 1, step: 0.01),
    nodes: [Bodies(name: "box", bodies: [(position: (1, 2, 3), shape: Box(2, 1, 0.5), mass: 3)])],
)"""
#: Tangent of half the angle of view.
TANGENT = np.tan(np.radians(17))


def drawn(picture: np.ndarray) -> np.ndarray:
    """Where there is something else than paper, which is in the corner."""
    return np.asarray((picture != picture[0, 0]).any(axis=2))


def test_a_box_is_where_perspective_has_it() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(BOX))
    picture = simulation.picture(400, 300, eye=(0, 1, 13.25), target=(0, 1, 3.25))
    assert picture.shape == (300, 400, 3) and picture.dtype == np.uint8 and not picture.flags.writeable
    rows, columns = np.nonzero(drawn(picture))
    # Its face towards the camera is at z = 3.25 m, ten metres away, and its middle at (1, 1) m from the axis; sides
    # are seen on the left and below, towards the axis, where the face at z = 2.75 m ends: 10.5 m away.
    pixels = 150 / TANGENT
    # To the pixels at the edges.
    assert columns.max() + 1 == pytest.approx(200 + pixels * 2 / 10, abs=1)
    assert columns.min() == pytest.approx(200, abs=1)
    assert rows.min() == pytest.approx(150 - pixels * 1.5 / 10, abs=1)
    assert rows.max() + 1 == pytest.approx(150 - pixels * 0.5 / 10.5, abs=1)


def test_a_camera_stays_and_things_move() -> None:
    simulation = pliant.Simulation(pliant.Model.from_string(BOX))
    eye, target = simulation.camera(200, 200)
    assert eye.shape == target.shape == (3,)
    assert (simulation.picture(200, 200) == simulation.picture(200, 200, eye=eye, target=target)).all()
    first = drawn(simulation.picture(200, 200, eye=eye, target=target))
    simulation.run(0.2)
    second = drawn(simulation.picture(200, 200, eye=eye, target=target))
    assert np.nonzero(second)[0].mean() > np.nonzero(first)[0].mean() + 5
    # Fitted anew it is in the middle again.
    third = drawn(simulation.picture(200, 200))
    assert np.nonzero(third)[0].mean() == pytest.approx(np.nonzero(first)[0].mean(), abs=1)


@pytest.mark.parametrize("name", ["bow", "curtain", "soft_balls", "servo_arm", "snap_through"])
def test_scenes_are_drawn_whole_and_pictures_change_nothing(name: str) -> None:
    simulation = pliant.Simulation(pliant.Model.from_file(SCENES / f"{name}.ron"))
    seen = drawn(simulation.picture(160, 120))
    assert seen.sum() > 30
    assert not (seen[0].any() or seen[-1].any() or seen[:, 0].any() or seen[:, -1].any())
    other = pliant.Simulation(simulation.model)
    for each in (simulation, other):
        if not each.model.is_static:
            each.step()
    assert (simulation.velocities == other.velocities).all()
    assert (simulation.picture(160, 120) == other.picture(160, 120)).all()


def test_a_point_is_a_dot() -> None:
    stone = pliant.Simulation(pliant.Model.from_string(STONE))
    rows, columns = np.nonzero(drawn(stone.picture(101, 101)))
    assert rows.size > 10 and rows.mean() == pytest.approx(50, abs=1) and columns.mean() == pytest.approx(50, abs=1)


def test_what_is_no_picture_is_refused() -> None:
    stone = pliant.Simulation(pliant.Model.from_string(STONE))
    for width, height in [(0, 10), (10, 0), (3000, 3000)]:
        with pytest.raises(pliant.StateError, match="a picture of"):
            stone.picture(width, height)
        with pytest.raises(pliant.StateError, match="a picture of"):
            stone.camera(width, height)
    with pytest.raises(pliant.StateError, match="both an `eye` and a `target`"):
        stone.picture(eye=(0, 0, 1))
    with pytest.raises(pliant.StateError, match="and apart"):
        stone.picture(eye=(0, 0, 1), target=(0, 0, 1))
    with pytest.raises(pliant.StateError, match="the eye of a camera must be finite"):
        stone.picture(eye=(0, np.nan, 1), target=(0, 0, 1))
    with pytest.raises(pliant.StateError, match=r"the shape \(3,\)"):
        stone.picture(eye=(0, 1), target=(0, 0, 1))
