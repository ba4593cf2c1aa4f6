"""Robots from URDF and MJCF, OpenSim models and scenes of SOFA: the scenes that the program imports, and what is told of them."""

import pickle
import subprocess
import warnings
from pathlib import Path

import pytest
from conftest import ROOT

import pliant

MODELS = ROOT / "crates" / "pliant-import" / "tests" / "models"


FILES = [path for ending in ("xml", "urdf", "osim", "scn") for path in sorted(MODELS.glob(f"*.{ending}"))]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_a_robot_is_the_scene_that_the_program_writes(path: Path, program: str, tmp_path: Path) -> None:
    scene = tmp_path / "robot.ron"
    subprocess.run([program, "import", str(path), "-o", str(scene)], check=True, capture_output=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = pliant.Model.from_robot(path)
    # Every remark of the program is told; the file is named as it was given.
    remarks = [line for line in scene.read_text().splitlines() if line.startswith("// - ")]
    assert len(told) == (1 if remarks else 0)
    assert all(issubclass(one.category, pliant.RobotWarning) for one in told)
    simulation, other = pliant.Simulation(model), pliant.Simulation(pliant.Model.from_file(scene))
    for _ in range(20):
        simulation.step()
        other.step()
    assert (simulation.velocities == other.velocities).all()
    assert pickle.loads(pickle.dumps(model)).text == model.text


def test_options_of_a_robot() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arm = pliant.Model.from_robot(MODELS / "arm.urdf", start={"shoulder": 0.3, "elbow": -0.5}, step=0.002, duration=0.1)
        free = pliant.Model.from_robot(MODELS / "drone.urdf", floating=True, position=(0, 0, 2), ground=True)
        held = pliant.Model.from_robot(MODELS / "drone.urdf")
    assert (arm.step, arm.duration) == (0.002, 0.1)
    assert pliant.Simulation(arm).joint("shoulder").position == pytest.approx(0.3)
    assert len(free.colliders) == len(held.colliders) + 1
    simulation = pliant.Simulation(free)
    simulation.run(0.1)
    body = simulation.body(free.bodies[0])
    # Free fall, to the second order of the step.
    assert body.velocity[2] == pytest.approx(-0.981, rel=1e-3)


def test_what_is_told_of_a_robot(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text("""<robot name="r">
  <link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <transmission name="t"/>
</robot>""")
    with pytest.warns(pliant.RobotWarning, match="transmission.*robot.urdf:3"):
        pliant.Model.from_robot(path, floating=True)
    with pytest.raises(pliant.SceneError, match="no joint|elbow") as raised:
        pliant.Model.from_robot(path, floating=True, start={"elbow": 1.0})
    assert raised.value.message is not None
    path.write_text(path.read_text().replace('value="1"', 'value="heavy"'))
    with pytest.raises(pliant.SceneError) as raised:
        pliant.Model.from_robot(path)
    assert raised.value.line == 2 and raised.value.key is not None and "heavy" in str(raised.value)
    with pytest.raises(pliant.SceneError, match="cannot read"):
        pliant.Model.from_robot(tmp_path / "none.urdf")


def test_what_is_told_has_the_names_of_arguments() -> None:
    with pytest.warns(pliant.RobotWarning) as told:
        pliant.Model.from_robot(MODELS / "arm.urdf")
    text = str(told[0].message)
    assert "(`floating=True` lets it move)" in text and "(`self_collision=True` lets them)" in text
    assert "--" not in text
    with pytest.warns(pliant.RobotWarning, match="`floating=True` is for URDF") as told:
        pliant.Model.from_robot(sorted(MODELS.glob("*.xml"))[0], floating=True, position=(0, 0, 1))
    assert "`position` is for URDF" in str(told[0].message)
