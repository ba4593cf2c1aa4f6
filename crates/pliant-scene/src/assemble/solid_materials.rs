//! Materials of solids: of all elements or of some, the same everywhere or varying with the place.

use super::deformables::Placement;
use super::material_laws::{Reader, each_number, has_directions};
use super::place_numbers::PlaceNumber;
use super::selections::{self, Candidates};
use super::solid_muscles::{self, Muscle};
use super::solids::prony;
use super::{Builder, Result, components, deformables};
use crate::schema::{
    PlasticSpec, PronyTermSpec, Solid as Spec, SolidElements, SolidMaterial, SolidRegionSpec,
};
use crate::source::Where;
use crate::{Amount, SceneError};
use pliant::continuum::{
    ElementKind, Incompressibility, Mesh, MuscleFibre, Plasticity, Solid, SolidMuscle, SolidParts,
    SolidRegion, SolidTerm,
};
use pliant::model::{Model, NodeId, Treatment};
use pliant_mesh_io::Mesh as FileMesh;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// The cells of a shape as it makes them, before they are cut.
pub(super) struct Cells {
    /// Their centres, in the axes of the shape (m).
    pub(super) centres: Vec<[f64; 3]>,
    /// How many elements each is cut into.
    counts: Vec<usize>,
    /// Cells of the groups of the mesh file.
    pub(super) groups: Vec<(String, Vec<usize>)>,
}

impl Cells {
    /// The cells of a mesh, which came from a file or did not.
    pub(super) fn of(mesh: &Mesh, file: Option<&FileMesh>, elements: SolidElements) -> Self {
        let centre = |nodes: &[usize]| -> [f64; 3] {
            let sum = |k: usize| nodes.iter().map(|n| mesh.nodes[*n][k]).sum::<f64>();
            std::array::from_fn(|k| sum(k) / nodes.len() as f64)
        };
        let is_cut = matches!(
            elements,
            SolidElements::Tetrahedra | SolidElements::QuadraticTetrahedra
        );
        let count = |kind| match kind {
            ElementKind::Hex8 if is_cut => 6,
            ElementKind::Prism6 if is_cut => 3,
            ElementKind::Pyramid5 if is_cut => 2,
            _ => 1,
        };
        let groups = file.map_or(&[][..], |file| &file.groups).iter().map(|group| {
            // Tetrahedra come first.
            let first = file.map_or(0, |file| file.tetrahedra.len());
            let tetrahedra = group.tetrahedra.iter().map(|i| *i as usize);
            let others = group.volumes.iter().map(|i| first.saturating_add(*i as usize));
            (group.name.clone(), tetrahedra.chain(others).collect())
        });
        Self {
            centres: mesh.elements.iter().map(|e| centre(&e.nodes)).collect(),
            counts: mesh.elements.iter().map(|e| count(e.kind)).collect(),
            groups: groups.collect(),
        }
    }

    /// The elements that cells are cut into.
    pub(super) fn elements(&self, cells: &[usize]) -> Vec<usize> {
        let mut starts = Vec::with_capacity(self.counts.len());
        let mut next = 0usize;
        for count in &self.counts {
            starts.push(next);
            next = next.saturating_add(*count);
        }
        let of = |cell: &usize| starts[*cell]..starts[*cell].saturating_add(self.counts[*cell]);
        cells.iter().flat_map(of).collect()
    }

    /// The elements of each cell, in all places of the solid: numbers over the parts, one after the
    /// other.
    pub(super) fn elements_of_parts(&self, mesh: &Mesh, parts: &[SolidParts]) -> Vec<Vec<usize>> {
        let own = parts.iter().flat_map(|part| part.recovery.elements());
        let numbers: BTreeMap<_, _> = own.zip(0..).map(|(element, k)| (&element.nodes, k)).collect();
        let mut all = mesh.elements.iter();
        let mut cells = Vec::new();
        for count in self.counts.iter().cycle() {
            let elements: Vec<usize> = all
                .by_ref()
                .take(*count)
                .filter_map(|element| numbers.get(&element.nodes).copied())
                .collect();
            if elements.is_empty() {
                break;
            }
            cells.push(elements);
        }
        cells
    }

    /// How many elements there are.
    fn count(&self) -> usize {
        self.counts.iter().sum()
    }
}

/// Numbers that may vary with the place, in the order in which they are read.
pub(super) struct Numbers<'a>(pub(super) Vec<PlaceNumber<'a>>);

impl Numbers<'_> {
    pub(super) fn vary(&self) -> bool {
        self.0.iter().any(PlaceNumber::varies)
    }
}

/// The material of a region.
struct Region<'a> {
    spec: Option<&'a SolidRegionSpec>,
    material: &'a SolidMaterial,
    density: Option<&'a Amount>,
    numbers: Numbers<'a>,
    /// Elements of one solid; none of the whole.
    elements: Option<Vec<usize>>,
    /// A place in it, at which it is looked at first.
    place: [f64; 3],
}

/// The materials of a solid.
pub(super) struct Materials<'a> {
    regions: Vec<Region<'a>>,
    muscles: Vec<Muscle<'a>>,
    /// Elements of one solid.
    count: usize,
}

/// Reads the materials of a solid, whose shape has these cells.
pub(super) fn read<'a>(builder: &Builder<'_>, spec: &'a Spec, cells: &Cells) -> Result<Materials<'a>> {
    let name = spec.name.as_str();
    let regions = match (&spec.material, &spec.materials[..]) {
        (Some(material), []) => {
            let place = cells.centres.first().copied().unwrap_or_default();
            let density = density(builder, spec, None)?;
            let at = |key| Where::Field(name, key);
            let numbers = numbers(builder, material, density, at)?;
            vec![Region {
                spec: None,
                material,
                density,
                numbers,
                elements: None,
                place,
            }]
        }
        (Some(_), [..]) | (None, []) => {
            let message = match &spec.material {
                Some(_) => format!("`{name}` has a `material` of all elements and `materials` of some"),
                None => format!("`{name}` has no `material`"),
            };
            let places = [Where::Field(name, "materials"), Where::Name(name)];
            let help = "give one `material`, or `materials: [(name: .., elements: .., material: ..), ..]`";
            return builder.wrong(&places, message, Some(help.to_owned()));
        }
        (None, list) => {
            let mut all = Vec::with_capacity(list.len());
            for (index, part) in list.iter().enumerate() {
                all.push(region(builder, spec, part, index, cells)?);
            }
            check_elements(builder, spec, &all, cells)?;
            all
        }
    };
    Ok(Materials {
        regions,
        muscles: solid_muscles::read(builder, spec, cells)?,
        count: cells.count(),
    })
}

/// Reads the material of some elements.
fn region<'a>(
    builder: &Builder<'_>,
    spec: &'a Spec,
    part: &'a SolidRegionSpec,
    index: usize,
    cells: &Cells,
) -> Result<Region<'a>> {
    let name = spec.name.as_str();
    let at = Where::Item(name, "materials", index);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let again = spec.materials[..index]
        .iter()
        .any(|other| other.name == part.name);
    if part.name.is_empty() || !part.name.chars().all(is_word) || again {
        let message = match again {
            true => format!("two of the `materials` of `{name}` are named `{}`", part.name),
            false => format!(
                "the name \"{}\" of one of the `materials` of `{name}` is not of letters, digits and `_`",
                part.name
            ),
        };
        return builder.wrong(&[at, Where::Name(name)], message, None);
    }
    let of = Candidates::cells(name, &cells.centres, &cells.groups, at);
    let chosen = selections::among(builder, &part.elements, &of)?;
    let density = density(builder, spec, Some((part, at)))?;
    let first = chosen.first().and_then(|cell| cells.centres.get(*cell));
    Ok(Region {
        spec: Some(part),
        material: &part.material,
        density,
        numbers: numbers(builder, &part.material, density, |_| at)?,
        elements: Some(cells.elements(&chosen)),
        place: first.copied().unwrap_or_default(),
    })
}

/// Every cell has exactly one material.
fn check_elements(builder: &Builder<'_>, spec: &Spec, regions: &[Region<'_>], cells: &Cells) -> Result<()> {
    let name = spec.name.as_str();
    let mut owners: Vec<Option<&str>> = vec![None; cells.count()];
    // Which cell an element is cut of.
    let cell_of = |element: usize| {
        let mut ends = cells.counts.iter().scan(0usize, |end, count| {
            *end = end.saturating_add(*count);
            Some(*end)
        });
        ends.position(|end| element < end).unwrap_or_default()
    };
    let at = |element: usize| {
        let cell = cell_of(element);
        let [x, y, z] = cells.centres[cell].map(|x| format!("{x:.4e}").parse().unwrap_or(x));
        format!("element {cell} of `{name}`, whose centre is ({x}, {y}, {z}) in the axes of the shape,")
    };
    for (index, region) in regions.iter().enumerate() {
        let own = region.spec.map_or("", |part| &part.name);
        let mut elements = region.elements.clone().unwrap_or_default();
        elements.sort_unstable();
        elements.dedup();
        for element in elements {
            if let Some(other) = owners[element] {
                let message = format!("{} has two materials: `{other}` and `{own}`", at(element));
                let places = [Where::Item(name, "materials", index), Where::Name(name)];
                let help = "`Not(..)` and `And([..])` part selections".to_owned();
                return builder.wrong(&places, message, Some(help));
            }
            owners[element] = Some(own);
        }
    }
    let Some(element) = owners.iter().position(Option::is_none) else {
        return Ok(());
    };
    let message = format!("{} has no material", at(element));
    let help = "all that others do not have is `Not(Or([..]))` of their selections".to_owned();
    let places = [Where::Field(name, "materials"), Where::Name(name)];
    builder.wrong(&places, message, Some(help))
}

/// The density of a solid or of one of its materials; none on points that are there.
fn density<'a>(
    builder: &Builder<'_>,
    spec: &'a Spec,
    part: Option<(&'a SolidRegionSpec, Where<'_>)>,
) -> Result<Option<&'a Amount>> {
    if spec.on.is_some() {
        return Ok(None);
    }
    let own = part.and_then(|(part, _)| part.density.as_deref());
    match own.or(spec.density.as_deref()) {
        Some(density) => Ok(Some(density)),
        None => match part {
            None => deformables::density_of(builder, &spec.name, None).map(Some),
            Some((part, at)) => {
                let message = format!(
                    "neither `{}` of `{}` nor the solid has a `density`",
                    part.name, spec.name
                );
                builder.wrong(&[at, Where::Name(&spec.name)], message, None)
            }
        },
    }
}

/// Reads the numbers of a material and its density, at the place of their key.
fn numbers<'a>(
    builder: &Builder<'_>,
    material: &'a SolidMaterial,
    density: Option<&'a Amount>,
    at: impl Fn(&'static str) -> Where<'a>,
) -> Result<Numbers<'a>> {
    let list = RefCell::new(Vec::new());
    // The law of any numbers: only which are asked for counts.
    let ask = |number: &'a Amount, key: &'static str| -> Result<f64> {
        list.borrow_mut()
            .push(PlaceNumber::read(builder, number, at(key))?);
        Ok(1.0)
    };
    each_number(material, &ask)?;
    if let Some(density) = density {
        ask(density, "density")?;
    }
    Ok(Numbers(list.into_inner()))
}

impl Region<'_> {
    /// The laws, more than one of a sum, and the density at a place (m) of the shape, which is put
    /// somewhere.
    fn at(&self, builder: &Builder<'_>, name: &str, place: [f64; 3], put: &Placement) -> Result<Vec<Solid>> {
        let next = Cell::new(0usize);
        let take = || {
            let k = next.replace(next.get().saturating_add(1));
            self.numbers.0[k].at(builder, place)
        };
        let reader = Reader {
            number: &|_, _| take(),
            turn: &|direction| put.turned(direction),
        };
        let laws = reader.laws(self.material)?.into_iter();
        let laws = laws.collect::<std::result::Result<Vec<Solid>, _>>();
        let laws = laws.map_err(|error| builder.continuum_error(name, self.key(), error))?;
        if laws.is_empty() {
            let places = [Where::Field(name, self.key()), Where::Name(name)];
            let message = format!("a `Sum` of materials of `{name}` is empty");
            return builder.wrong(&places, message, None);
        }
        let density = match self.density {
            Some(_) => Some(take()?),
            None => None,
        };
        let with_density = |law: Solid| match density {
            Some(density) => law.with_density(density),
            None => law.without_mass(),
        };
        Ok(laws.into_iter().map(with_density).collect())
    }

    /// The key of the solid that it stands at.
    fn key(&self) -> &'static str {
        match self.spec {
            Some(_) => "materials",
            None => "material",
        }
    }
}

impl Materials<'_> {
    /// Adds the solid with its materials, in as many places as there are.
    pub(super) fn add(
        &self,
        builder: &mut Builder<'_>,
        spec: &Spec,
        node: NodeId,
        mesh: &Mesh,
        places: &[Placement],
    ) -> Result<Vec<SolidParts>> {
        let name = spec.name.as_str();
        let mut bases = Vec::with_capacity(self.regions.len());
        for region in &self.regions {
            let mut here = region.at(builder, name, region.place, &places[0])?;
            // The choices of a sum are those of its first term.
            here[0] = with_choices(builder, spec, region.spec, here[0])?;
            bases.push(here);
        }
        let repeated = |own: Option<&Vec<usize>>| own.map(|own| self.repeated(own, places.len()));
        let lists: Vec<_> = self
            .regions
            .iter()
            .map(|r| repeated(r.elements.as_ref()))
            .collect();
        let own: Vec<_> = self
            .muscles
            .iter()
            .map(|m| repeated(m.elements.as_ref()))
            .collect();
        let mut starts = Vec::with_capacity(self.muscles.len());
        for muscle in &self.muscles {
            starts.push(muscle.start(builder, &places[0])?);
        }
        // The model is taken out: what is asked of the builder meanwhile is not about it.
        let mut model = std::mem::replace(&mut builder.model, Model::new());
        let (builder_now, wrong) = (&*builder, RefCell::new(None));
        let put = |element: usize| &places[element.checked_div(self.count).unwrap_or(0)];
        let looked_at: Vec<Vec<_>> = self
            .regions
            .iter()
            .zip(&bases)
            .map(|(region, bases)| {
                let (wrong, put) = (&wrong, &put);
                let of_term = |(term, base): (usize, &Solid)| {
                    let base = *base;
                    move |element: usize, place: [f64; 3]| {
                        let put = put(element);
                        let here = region.at(builder_now, name, put.taken_back(place), put);
                        known(here.map(|here| base.with_law_of(&here[term])), base, wrong)
                    }
                };
                bases.iter().enumerate().map(of_term).collect()
            })
            .collect();
        let fibres: Vec<_> = self
            .muscles
            .iter()
            .zip(&starts)
            .map(|(muscle, start)| {
                let (wrong, put) = (&wrong, &put);
                move |element: usize, place: [f64; 3]| {
                    let put = put(element);
                    let here = muscle.at(builder_now, put.taken_back(place), put);
                    known(here, start.fibre, wrong)
                }
            })
            .collect();
        let is_turned = places.len() > 1;
        let varies = |k: usize, term: usize| {
            let region: &Region<'_> = &self.regions[k];
            let turned = has_directions(region.material) && is_turned;
            let varies = (region.numbers.vary() || turned).then_some(&looked_at[k][term]);
            varies.map(|f| f as &dyn Fn(usize, [f64; 3]) -> Solid)
        };
        let beside = |(k, bases): (usize, &Vec<Solid>)| -> Vec<SolidTerm<'_>> {
            let terms = bases.iter().enumerate().skip(1);
            let term = |(term, solid): (usize, &Solid)| SolidTerm {
                solid: *solid,
                varies: varies(k, term),
            };
            terms.map(term).collect()
        };
        let beside: Vec<_> = bases.iter().enumerate().map(beside).collect();
        let mut regions = Vec::with_capacity(bases.len());
        for (k, region) in self.regions.iter().enumerate() {
            regions.push(SolidRegion {
                name: region.spec.map_or("", |part| &part.name),
                elements: lists[k].as_deref(),
                solid: bases[k][0],
                varies: varies(k, 0),
                beside: &beside[k],
            });
        }
        let mut muscles = Vec::with_capacity(self.muscles.len());
        for (k, (muscle, start)) in self.muscles.iter().zip(&starts).enumerate() {
            let varies = (muscle.varies() || is_turned).then_some(&fibres[k]);
            muscles.push(SolidMuscle {
                name: &muscle.spec.name,
                elements: own[k].as_deref(),
                fibre: start.fibre,
                varies: varies.map(|f| f as &dyn Fn(usize, [f64; 3]) -> MuscleFibre),
                activation: start.activation,
            });
        }
        let made = Solid::add_muscles_on(&mut model, name, node, mesh, &regions, &muscles);
        drop((regions, muscles));
        drop(beside);
        drop((looked_at, fibres));
        builder.model = model;
        if let Some(error) = wrong.into_inner() {
            return Err(error);
        }
        let parts = made.map_err(|error| self.blame(builder, name, error))?;
        for (index, id) in parts.iter().flat_map(|part| &part.muscles) {
            self.muscles[*index].follow(builder, *id)?;
        }
        Ok(parts)
    }

    /// Elements of one solid in all places.
    fn repeated(&self, own: &[usize], places: usize) -> Vec<usize> {
        let copies = (0..places).map(|k| k.saturating_mul(self.count));
        copies
            .flat_map(|first| own.iter().map(move |e| first.saturating_add(*e)))
            .collect()
    }

    /// A complaint at the entry of its region.
    fn blame(
        &self,
        builder: &Builder<'_>,
        name: &str,
        error: pliant::continuum::ContinuumError,
    ) -> SceneError {
        use pliant::continuum::ContinuumError as E;
        let found = match &error {
            E::Region { name: own, .. } => {
                let found = |region: &Region<'_>| region.spec.is_some_and(|part| part.name == *own);
                self.regions
                    .iter()
                    .position(found)
                    .map(|index| ("materials", index))
            }
            E::Muscle { name: own, .. } => {
                let found = |muscle: &Muscle<'_>| muscle.spec.name == *own;
                self.muscles
                    .iter()
                    .position(found)
                    .map(|index| ("muscles", index))
            }
            _ => None,
        };
        let Some((key, index)) = found else {
            let key = self.regions.first().map_or("material", Region::key);
            return builder.continuum_error(name, key, error);
        };
        let places = [Where::Item(name, key, index), Where::Name(name)];
        let diagnostic = builder.source.about(&places, format!("`{name}`: {error}"), None);
        SceneError::Value(Box::new(diagnostic))
    }
}

/// The law that was found at a place; of an error, which is kept, that of elsewhere.
fn known<T>(here: Result<T>, elsewhere: T, wrong: &RefCell<Option<SceneError>>) -> T {
    match here {
        Ok(here) => here,
        Err(error) => {
            wrong.borrow_mut().get_or_insert(error);
            elsewhere
        }
    }
}

/// The material with what it remembers and the other choices of the solid.
fn with_choices(
    builder: &Builder<'_>,
    spec: &Spec,
    part: Option<&SolidRegionSpec>,
    solid: Solid,
) -> Result<Solid> {
    let name = spec.name.as_str();
    let own_plastic = part.and_then(|part| part.plastic.as_ref());
    let solid = match own_plastic.or(spec.plastic.as_ref()) {
        Some(plastic) => solid.with_plasticity(plasticity(builder, name, plastic)?),
        None => solid,
    };
    let own_terms: Option<&[PronyTermSpec]> = part.and_then(|part| part.viscoelastic.as_deref());
    let solid = match prony(builder, name, own_terms.unwrap_or(&spec.viscoelastic))? {
        Some(series) => solid.with_viscoelasticity(series),
        None => solid,
    };
    let rows: Option<Incompressibility> = part.and_then(|part| part.incompressibility);
    let time = Where::Field(name, "relaxation_time");
    let solid = match spec.enhanced_strains {
        Some(modes) => solid.with_enhanced_strains(modes),
        None => solid,
    };
    Ok(solid
        .with_mass(spec.mass_matrix)
        .with_treatment(spec.treatment.unwrap_or(Treatment::Stiffness))
        .with_incompressibility(rows.unwrap_or(spec.incompressibility))
        .with_tangent(spec.tangent)
        .with_relaxation_time(components::not_negative(builder, &spec.relaxation_time, time)?))
}

fn plasticity(builder: &Builder<'_>, name: &str, spec: &PlasticSpec) -> Result<Plasticity> {
    let number = |value: &Amount, key| components::not_negative(builder, value, Where::Field(name, key));
    let yield_stress = builder.positive(&spec.yield_stress, Where::Field(name, "yield_stress"))?;
    Ok(Plasticity::perfect(yield_stress)
        .with_isotropic_hardening(number(&spec.isotropic, "isotropic")?)
        .with_kinematic_hardening(number(&spec.kinematic, "kinematic")?)
        .with_saturation(number(&spec.rise, "rise")?, number(&spec.rate, "rate")?))
}
