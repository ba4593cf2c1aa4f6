"""Scenes that are built call by call, with the words of scene files."""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, overload

from . import notation
from ._pliant import Model
from .errors import SceneError

if TYPE_CHECKING:
    # Checkers of types have it with every version of Python.
    from typing_extensions import Unpack

    from . import keys as _keys

__all__ = ["Scene"]


class Scene:
    """Scene in the making: every call adds an entry of a ``.json`` scene, with its keys.

    ``run`` has the keys of ``run``, ``keys`` are others of the whole scene: ``gravity``, ``parameters``,
    ``rayleigh``, ``friction_rule``, ``title``, ``about``. Values are those of :meth:`Model.from_dict`: numbers,
    expressions such as ``"2 * $length"``, arrays of NumPy, ``{"Kind": {..}}``. :meth:`build` makes the model that
    :meth:`Model.from_dict` makes of :meth:`as_dict`. A key that is a word of Python has an underscore behind it,
    ``from_``. Checkers of types know the keys of calls; what is wrong is a :class:`SceneError` whose ``call`` is the
    file and line of the call.

    >>> import pliant
    >>> scene = pliant.Scene({"duration": 2}, gravity=(0, -9.81, 0))
    >>> bob = scene.particles("bob", positions=[(1, 0, 0)], mass=2)
    >>> rod = scene.mapped("rod", parents=[bob], mapping={"Distance": {"pairs": [(0, (0, 0, 0))]}})
    >>> scene.constraint("rod is hard", on=rod)
    'rod is hard'
    >>> scene.build().nodes
    ('bob', 'rod')
    """

    def __init__(self, run: Mapping[str, Any], **keys: Unpack[_keys.SceneKeys]) -> None:
        self._keys: dict[str, Any] = {**keys, "run": dict(run)}
        self._lists: dict[str, list[Any]] = {"nodes": []}
        self._calls: dict[str, list[str]] = {"nodes": []}

    def _add(self, part: str, entry: Any) -> None:
        frame = sys._getframe(2)
        # What the caller does with lists of its own afterwards is not in the scene.
        self._lists.setdefault(part, []).append(_without_underscores(copy.deepcopy(entry)))
        self._calls.setdefault(part, []).append(f"{frame.f_code.co_filename}:{frame.f_lineno}")

    def particles(self, name: str, **keys: Unpack[_keys.ParticlesKeys]) -> str:
        """Add a node ``Particles``; return its name, as all calls do that have one."""
        self._add("nodes", {"Particles": {"name": name, **keys}})
        return name

    def scalars(self, name: str, **keys: Unpack[_keys.ScalarsKeys]) -> str:
        """Add a node ``Scalars``."""
        self._add("nodes", {"Scalars": {"name": name, **keys}})
        return name

    def bodies(self, name: str, bodies: Sequence[Mapping[str, Any]], **keys: Unpack[_keys.BodiesKeys]) -> str:
        """Add a node ``Bodies``: rigid bodies, a dictionary each."""
        self._add("nodes", {"Bodies": {"name": name, "bodies": list(bodies), **keys}})
        return name

    def body(self, name: str, **keys: Unpack[_keys.BodyKeys]) -> str:
        """Add a node ``Bodies`` of one body, with its keys: ``position``, ``shape``, ``mass`` and so on."""
        self._add("nodes", {"Bodies": {"name": name, "bodies": [keys]}})
        return name

    def mapped(self, name: str, parents: Sequence[str], mapping: Any, **keys: Unpack[_keys.MappedKeys]) -> str:
        """Add a node ``Mapped``, which a mapping of the catalogue makes of its parents."""
        self._add("nodes", {"Mapped": {"name": name, "parents": list(parents), "mapping": mapping, **keys}})
        return name

    def cable(self, name: str, **keys: Unpack[_keys.CableKeys]) -> str:
        """Add a ``Cable``."""
        self._add("nodes", {"Cable": {"name": name, **keys}})
        return name

    def rod(self, name: str, **keys: Unpack[_keys.RodKeys]) -> str:
        """Add a ``Rod``."""
        self._add("nodes", {"Rod": {"name": name, **keys}})
        return name

    def elastic_rod(self, name: str, **keys: Unpack[_keys.ElasticRodKeys]) -> str:
        """Add an ``ElasticRod``."""
        self._add("nodes", {"ElasticRod": {"name": name, **keys}})
        return name

    def net(self, name: str, **keys: Unpack[_keys.NetKeys]) -> str:
        """Add a ``Net``."""
        self._add("nodes", {"Net": {"name": name, **keys}})
        return name

    def mesh(self, name: str, **keys: Unpack[_keys.MeshKeys]) -> str:
        """Add a ``Mesh``."""
        self._add("nodes", {"Mesh": {"name": name, **keys}})
        return name

    def solid(self, name: str, **keys: Unpack[_keys.SolidKeys]) -> str:
        """Add a ``Solid``."""
        self._add("nodes", {"Solid": {"name": name, **keys}})
        return name

    def embedded_surface(self, name: str, **keys: Unpack[_keys.EmbeddedSurfaceKeys]) -> str:
        """Add an ``EmbeddedSurface``."""
        self._add("nodes", {"EmbeddedSurface": {"name": name, **keys}})
        return name

    def elastic_sheet(self, name: str, **keys: Unpack[_keys.ElasticSheetKeys]) -> str:
        """Add an ``ElasticSheet``."""
        self._add("nodes", {"ElasticSheet": {"name": name, **keys}})
        return name

    def elastic_shell(self, name: str, **keys: Unpack[_keys.ElasticShellKeys]) -> str:
        """Add an ``ElasticShell``."""
        self._add("nodes", {"ElasticShell": {"name": name, **keys}})
        return name

    def joint(self, name: str, kind: Any, **keys: Unpack[_keys.JointKeys]) -> str:
        """Add one of the ``joints``, of a kind such as ``"Hinge"``."""
        self._add("joints", {"name": name, "kind": kind, **keys})
        return name

    def gear(self, **keys: Unpack[_keys.GearKeys]) -> None:
        """Add one of the ``gears``."""
        self._add("gears", keys)

    def mass(self, name: str, on: str, mass: Any, **keys: Unpack[_keys.MassKeys]) -> str:
        """Add one of the ``masses``, on a node."""
        self._add("masses", {"name": name, "on": on, "mass": mass, **keys})
        return name

    def force_field(self, name: str, on: str, law: Any, **keys: Unpack[_keys.ForceFieldKeys]) -> str:
        """Add one of the ``force_fields``, of a law of the catalogue, on a node."""
        self._add("force_fields", {"name": name, "on": on, "law": law, **keys})
        return name

    def constraint(self, name: str, on: str, **keys: Unpack[_keys.ConstraintKeys]) -> str:
        """Add one of the ``constraints``, on a node."""
        self._add("constraints", {"name": name, "on": on, **keys})
        return name

    def fixed(self, node: str, **keys: Unpack[_keys.FixedKeys]) -> None:
        """Fix coordinates of a node."""
        self._add("fixed", {"node": node, **keys})

    def material(self, name: str, **keys: Unpack[_keys.MaterialKeys]) -> str:
        """Add one of the ``materials`` of colliders."""
        self._add("materials", {"name": name, **keys})
        return name

    def material_pair(self, **keys: Unpack[_keys.MaterialPairKeys]) -> None:
        """Add one of the ``material_pairs``."""
        self._add("material_pairs", keys)

    @overload
    def collider(self, kind: Literal["Fixed"], **keys: Unpack[_keys.FixedColliderKeys]) -> None: ...
    @overload
    def collider(self, kind: Literal["Bodies"], **keys: Unpack[_keys.BodiesColliderKeys]) -> None: ...
    @overload
    def collider(self, kind: Literal["Body"], **keys: Unpack[_keys.BodyColliderKeys]) -> None: ...
    @overload
    def collider(self, kind: Literal["Points"], **keys: Unpack[_keys.PointsColliderKeys]) -> None: ...
    @overload
    def collider(self, kind: Literal["Cable"], **keys: Unpack[_keys.CableColliderKeys]) -> None: ...
    @overload
    def collider(self, kind: Literal["Cloth"], **keys: Unpack[_keys.ClothColliderKeys]) -> None: ...
    def collider(self, kind: str, **keys: Any) -> None:
        """Add one of the ``colliders``: ``"Fixed"``, ``"Bodies"``, ``"Body"``, ``"Points"``, ``"Cable"``, ``"Cloth"``."""
        self._add("colliders", {kind: keys})

    def ignore(self, first: str, second: str) -> None:
        """Let two colliders pass through each other."""
        self._add("ignore", [first, second])

    def as_dict(self) -> dict[str, Any]:
        """Return a copy of the scene as a dictionary with the keys of a ``.json`` scene."""
        return copy.deepcopy({**self._keys, **self._lists})

    def build(
        self,
        parameters: Mapping[str, SupportsFloat | str] | None = None,
        *,
        directory: str | PathLike[str] | None = None,
        name: str = "<scene>",
        step: float | None = None,
        duration: float | None = None,
        mesh_directories: Sequence[str | PathLike[str]] = (),
    ) -> Model:
        """Make the model, with the arguments of :meth:`Model.from_dict`; raises :class:`SceneError`."""
        scene = self.as_dict()
        try:
            return Model.from_dict(
                scene,
                parameters,
                directory=directory,
                name=name,
                step=step,
                duration=duration,
                mesh_directories=list(mesh_directories),
            )
        except SceneError as error:
            call = None if error.line is None else self._call(notation.text(scene), error.line)
            if call is not None:
                error.call = call
                error.args = (f"{error}\n  = call: {call}",)
            raise

    def _call(self, text: str, line: int) -> str | None:
        """Place of the call that made a line of the text; lists are two blanks in it, their entries four."""
        part, entry = "", -1
        for own in text.splitlines()[:line]:
            blanks = len(own) - len(own.lstrip(" "))
            if blanks == 2:
                part, entry = own.strip().partition(":")[0].strip('"'), -1
            elif blanks == 4 and own.strip()[0] in "{[":
                entry += 1
        calls = self._calls.get(part, [])
        return calls[entry] if 0 <= entry < len(calls) else None


def _without_underscores(entry: Any) -> Any:
    """An entry whose keys are those of scene files: of ``from_``, which is a word of Python, ``from``."""
    if not isinstance(entry, dict):
        return entry
    if len(entry) == 1 and isinstance(keys := next(iter(entry.values())), dict):
        return {kind: _without_underscores(keys) for kind in entry}
    return {key[:-1] if key.endswith("_") and iskeyword(key[:-1]) else key: value for key, value in entry.items()}
