"""Sensors and actuators of scenes."""

import pickle
from math import exp

import numpy as np
import pytest

import pliant

#: A cart on a line that an actuator pushes and a sensor sees.
CART = """(
    parameters: {"u": 4, "delay": 0},
    run: (duration: 1, step: 0.01),
    nodes: [Scalars(name: "cart", values: [0], mass: 2)],
    sensors: [(name: "place", of: "cart.value", delay: "$delay")],
    actuators: [(name: "drive", on: "cart", command: "$u", lag: 0.1, limits: (lower: -5, upper: 5))],
)"""


def test_commands_and_readings() -> None:
    cart = pliant.Simulation(pliant.Model.from_string(CART))
    assert cart.sensors == {"place": 0.0}
    cart.step()
    command, output = cart.actuators["drive"]
    # The output of the middle of the step.
    assert command == 4.0 and abs(output - 4 * (1 - exp(-0.05))) < 1e-14
    place = cart.node("cart").positions[0, 0]
    cart.command("drive", -20)
    cart.step()
    assert cart.sensors["place"] == place
    command, output = cart.actuators["drive"]
    start = 4 * (1 - exp(-0.1))
    assert command == -20.0 and abs(output - (-5 + (start + 5) * exp(-0.05))) < 1e-14
    twin = pickle.loads(pickle.dumps(cart))
    twin.step()
    assert twin.actuators["drive"][0] == -20.0
    cart.command("drive")
    cart.step()
    assert cart.actuators["drive"][0] == 4.0
    with pytest.raises(pliant.UnknownName, match="did you mean `drive`"):
        cart.command("drve", 1)
    with pytest.raises(pliant.StateError, match="finite"):
        cart.command("drive", float("nan"))


def test_a_loop_in_python_is_that_of_the_scene() -> None:
    model = pliant.Model.from_string(CART, parameters={"delay": 2})
    feedback = '"20 * (1 - place.reading) - 9 * cart.rate"'
    within = pliant.Simulation(pliant.Model.from_string(CART.replace('"$u"', feedback), parameters={"delay": 2}))
    outside = pliant.Simulation(model)
    seen = [0.0, 0.0]

    def controller(s: pliant.Simulation) -> None:
        node = s.node("cart")
        # The sensor reads at the start of the step that is to come.
        seen.append(float(node.positions[0, 0]))
        s.command("drive", 20 * (1 - seen[-3]) - 9 * node.velocities[0, 0])

    outside.run(controller=controller)
    within.run()
    difference = outside.node("cart").positions - within.node("cart").positions
    assert abs(difference).max() < 1e-13


def test_batches_have_commands_of_their_own() -> None:
    model = pliant.Model.from_string(CART)
    batch = pliant.Batch(model, 3, threads=2)
    batch.command("drive", [1, 2, -3])
    alone = pliant.Simulation(model)
    alone.command("drive", 2)
    batch.step(steps=5)
    for _ in range(5):
        alone.step()
    assert batch[1].actuators == alone.actuators and batch.sensors["place"][1] == alone.sensors["place"]
    assert np.all(np.sign(batch.sensors["place"]) == [1, 1, -1])
    with pytest.raises(pliant.StateError, match="finite"):
        batch.command("drive", [5, np.inf, 5])
    batch.step()
    assert batch[0].actuators["drive"][0] == 1.0
    batch.command("drive")
    batch.step()
    assert batch[0].actuators["drive"][0] == 4.0
    assert batch[0].sensors.keys() == {"place"}
