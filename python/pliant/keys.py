"""Keys of the calls of a :class:`pliant.Scene`: written by ``cargo xtask keys``, not by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, SupportsFloat, TypeAlias, TypedDict, Union

from numpy.typing import NDArray

#: A number, or an expression in a text.
Number: TypeAlias = Union[SupportsFloat, str]
#: Numbers, or entries of a list.
List: TypeAlias = Union[Sequence[Any], NDArray[Any]]
#: One number for all, or a list with one for each.
Each: TypeAlias = Union[Number, List]


class SceneKeys(TypedDict, total=False):
    """Keys that may be given, and those that must."""

    title: str
    about: str
    units: Any
    parameters: Mapping[str, Number]
    functions: Any
    include: List
    gravity: List
    rayleigh: Any
    start_from: str
    joints: List
    gears: List
    masses: List
    force_fields: List
    potentials: List
    groups: Any
    constraints: List
    fixed: List
    materials: List
    material_pairs: List
    friction_rule: Any
    colliders: List
    ignore: List
    record: List
    events: List
    breaking: List
    sensors: List
    controllers: List
    actuators: List
    picture: Any


class _ParticlesKeys(TypedDict):
    mass: Each


class ParticlesKeys(_ParticlesKeys, total=False):
    """Keys that may be given, and those that must."""

    positions: List
    line: Any
    formula: Any
    velocities: List


class _ScalarsKeys(TypedDict):
    values: List
    mass: Each


class ScalarsKeys(_ScalarsKeys, total=False):
    """Keys that may be given, and those that must."""

    velocities: List


class BodiesKeys(TypedDict):
    """No keys."""


class BodyKeys(TypedDict, total=False):
    """Keys that may be given, and those that must."""

    position: List
    rotation: Any
    shape: Any
    mass: Number
    density: Number
    inertia: List
    products: List
    velocity: List
    angular_velocity: List
    repeat: Number


class MappedKeys(TypedDict):
    """No keys."""


class _CableKeys(TypedDict):
    links: Number
    link_mass: Number


class CableKeys(_CableKeys, total=False):
    """Keys that may be given, and those that must."""

    from_: List
    to: List
    length: Number
    last_mass: Number
    compliance: Number
    relaxation_time: Number
    start: Any
    end: Any
    pluck: List


class _RodKeys(TypedDict):
    from_: List
    to: List
    segments: Number
    mass: Number
    width: Number
    bending_compliance: Each


class RodKeys(_RodKeys, total=False):
    """Keys that may be given, and those that must."""

    tip_width: Number
    relaxation_time: Number
    base: Any


class _ElasticRodKeys(TypedDict):
    section: Any
    young: Number
    poisson: Number
    density: Number


class ElasticRodKeys(_ElasticRodKeys, total=False):
    """Keys that may be given, and those that must."""

    points: List
    line: Any
    formula: Any
    normal: List
    twist: Number
    closed: bool
    straight_at_rest: bool
    growth: Any
    inextensible: bool
    treatment: Any
    relaxation_time: Number
    viscoelastic: List
    fix: Any


class _NetKeys(TypedDict):
    mesh: str


class NetKeys(_NetKeys, total=False):
    """Keys that may be given, and those that must."""

    scale: Number
    position: List
    mass: Each
    density: Number
    mass_matrix: Any
    compliance: Number
    relaxation_time: Number
    fix: Any
    fix_groups: List


class _MeshKeys(TypedDict):
    mesh: str


class MeshKeys(_MeshKeys, total=False):
    """Keys that may be given, and those that must."""

    scale: Number
    position: List
    mass: Each
    density: Number
    mass_matrix: Any
    fix: Any
    fix_groups: List


class _SolidKeys(TypedDict):
    shape: Any


class SolidKeys(_SolidKeys, total=False):
    """Keys that may be given, and those that must."""

    on: str
    elements: Any
    position: List
    rotation: Any
    velocity: List
    repeat: Number
    material: Any
    materials: List
    muscles: List
    tangent: Any
    density: Number
    mass_matrix: Any
    treatment: Any
    incompressibility: Any
    enhanced_strains: Any
    relaxation_time: Number
    viscoelastic: List
    plastic: Any
    reduced: Any
    repair: bool
    symmetry: List
    fix: Any
    fix_boxes: List
    fix_groups: List


class _EmbeddedSurfaceKeys(TypedDict):
    solid: str
    shape: Any


class EmbeddedSurfaceKeys(_EmbeddedSurfaceKeys, total=False):
    """Keys that may be given, and those that must."""

    position: List
    rotation: Any
    outside: Any


class _ElasticSheetKeys(TypedDict):
    shape: Any
    material: Any
    thickness: Number


class ElasticSheetKeys(_ElasticSheetKeys, total=False):
    """Keys that may be given, and those that must."""

    on: str
    elements: Any
    position: List
    rotation: Any
    velocity: List
    density: Number
    bending: Any
    warp: List
    stretch: Number
    treatment: Any
    relaxation_time: Number
    viscoelastic: List
    clamp_boxes: List
    symmetry: List
    fix: Any
    fix_boxes: List
    fix_groups: List


class _ElasticShellKeys(TypedDict):
    shape: Any
    young: Number
    poisson: Number
    thickness: Number
    density: Number


class ElasticShellKeys(_ElasticShellKeys, total=False):
    """Keys that may be given, and those that must."""

    position: List
    rotation: Any
    velocity: List
    warp: List
    fold: Number
    drill_factor: Number
    treatment: Any
    relaxation_time: Number
    symmetry: List
    fix: Any
    fix_boxes: List
    fix_groups: List


class JointKeys(TypedDict, total=False):
    """Keys that may be given, and those that must."""

    a: Any
    b: Any
    at: List
    axis: List
    x_axis: List
    start: List
    speed: List
    level: Any
    compliance: Each
    relaxation_time: Number
    damping_ratio: Number
    collide: bool
    coordinates: bool
    springs: List
    dampers: List
    motors: List
    friction: List
    limits: List
    cone: Number
    twist: Any


class GearKeys(TypedDict):
    """Keys that may be given, and those that must."""

    name: str
    first: str
    second: str
    ratio: Number


class MassKeys(TypedDict):
    """No keys."""


class ForceFieldKeys(TypedDict, total=False):
    """Keys that may be given, and those that must."""

    relaxation_time: Number
    damping_ratio: Number
    viscoelastic: List
    treatment: Any
    alpha: Number
    motion: Any
    bounds: Any


class ConstraintKeys(TypedDict, total=False):
    """Keys that may be given, and those that must."""

    level: Any
    motion: Any
    bounds: Any


class FixedKeys(TypedDict, total=False):
    """Keys that may be given, and those that must."""

    elements: Any
    axes: List
    velocity: List
    from_: Number
    until: Number


class MaterialKeys(TypedDict, total=False):
    """Keys that may be given, and those that must."""

    friction: Number
    friction_model: Any
    restitution: Number
    compliance: Number
    foundation: Number
    relaxation_time: Number
    dissipation: Number
    viscous_friction: Number
    torsional_friction: Number
    rolling_friction: Number


class _MaterialPairKeys(TypedDict):
    between: Any


class MaterialPairKeys(_MaterialPairKeys, total=False):
    """Keys that may be given, and those that must."""

    friction: Number
    friction_model: Any
    restitution: Number
    compliance: Number
    foundation: Number
    relaxation_time: Number
    dissipation: Number
    viscous_friction: Number
    torsional_friction: Number
    rolling_friction: Number


class _FixedColliderKeys(TypedDict):
    name: str
    shape: Any


class FixedColliderKeys(_FixedColliderKeys, total=False):
    """Keys that may be given, and those that must."""

    position: List
    rotation: Any
    material: str
    margin: Number
    groups: List
    collides_with: List


class _BodiesColliderKeys(TypedDict):
    node: str


class BodiesColliderKeys(_BodiesColliderKeys, total=False):
    """Keys that may be given, and those that must."""

    name: str
    elements: Any
    shape: Any
    material: str
    margin: Number
    groups: List
    collides_with: List


class _BodyColliderKeys(TypedDict):
    name: str
    body: Any
    shape: Any


class BodyColliderKeys(_BodyColliderKeys, total=False):
    """Keys that may be given, and those that must."""

    position: List
    rotation: Any
    material: str
    margin: Number
    groups: List
    collides_with: List


class _PointsColliderKeys(TypedDict):
    node: str
    radius: Number


class PointsColliderKeys(_PointsColliderKeys, total=False):
    """Keys that may be given, and those that must."""

    name: str
    elements: Any
    self_contact: bool
    material: str
    margin: Number
    groups: List
    collides_with: List


class _CableColliderKeys(TypedDict):
    node: str
    radius: Number


class CableColliderKeys(_CableColliderKeys, total=False):
    """Keys that may be given, and those that must."""

    name: str
    segments: List
    self_contact: Number
    material: str
    margin: Number
    groups: List
    collides_with: List


class _ClothColliderKeys(TypedDict):
    node: str
    radius: Number


class ClothColliderKeys(_ClothColliderKeys, total=False):
    """Keys that may be given, and those that must."""

    name: str
    triangles: List
    self_contact: Number
    material: str
    margin: Number
    groups: List
    collides_with: List
