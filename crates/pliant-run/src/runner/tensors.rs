//! Stresses and strains of a whole solid or sheet, in double precision.

use super::Runner;
use super::fields::SolidPoints;
use pliant::continuum::SheetFields;
use pliant_scene::{DeformableParts, hint};

/// A tensor of a solid or sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tensor {
    /// Cauchy's stress (Pa), tension positive.
    Stress,
    /// Logarithmic strain, of sheets Green and Lagrange's (none).
    Strain,
}

/// The places that a tensor is read at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorPlace {
    /// The points of a solid: averages of the elements around.
    Points,
    /// The elements: means over each.
    Elements,
}

/// A tensor at many places, as the files for ParaView have it.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorField {
    /// Of a solid: xx, yy, zz, xy, yz, zx in the axes of the world.
    Solid(Vec<[f64; 6]>),
    /// Of a sheet: along the warp, along the weft, shear.
    Sheet(Vec<[f64; 3]>),
}

/// Why a tensor cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TensorError {
    /// There is no such solid or sheet.
    #[error("there is no solid or sheet `{name}`{}", .help.as_ref().map_or_else(String::new, |help| format!("; {help}")))]
    Unknown {
        /// The name.
        name: String,
        /// Help.
        help: Option<String>,
    },
    /// A rod has forces and moments in its sections.
    #[error("`{name}` is a rod: it has forces and moments in its sections, no {what}")]
    Rod {
        /// The name.
        name: String,
        /// The tensor that was asked for.
        what: &'static str,
    },
    /// A sheet has tensors of its elements alone, in axes of each.
    #[error("`{name}` is a sheet: its tensors are in axes of each element, and have no averages at points")]
    SheetPoints {
        /// The name.
        name: String,
    },
}

impl Tensor {
    /// The stress or strain of a solid or sheet at the present moment: at the points of a solid, in
    /// the order of its node, or of its elements. Without a place the points of a solid, the
    /// elements of a sheet. What is rows has the mean force of the last step in it.
    ///
    /// # Errors
    /// [`TensorError`], which names the thing.
    pub fn read(
        self,
        runner: &Runner,
        name: &str,
        place: Option<TensorPlace>,
    ) -> Result<TensorField, TensorError> {
        let list = runner.scene.fields.deformables();
        let Some(deformable) = list.iter().find(|d| d.name == name) else {
            let known = list
                .iter()
                .filter(|d| !matches!(d.parts, DeformableParts::Rod(..)));
            let known: Vec<&str> = known.map(|d| d.name.as_str()).collect();
            return Err(TensorError::Unknown {
                name: name.to_owned(),
                help: hint(name, "solids and sheets", known),
            });
        };
        let name = || name.to_owned();
        match (&deformable.parts, place) {
            (DeformableParts::Solid(parts), place) => {
                let solid = SolidPoints::new(&runner.simulation, parts);
                if place == Some(TensorPlace::Elements) {
                    let values = match self {
                        Tensor::Stress => &solid.stress,
                        Tensor::Strain => &solid.strain,
                    };
                    return Ok(TensorField::Solid(solid.means(values)));
                }
                let nodes = solid.at_nodes();
                Ok(TensorField::Solid(match self {
                    Tensor::Stress => nodes.stress,
                    Tensor::Strain => nodes.strain,
                }))
            }
            (DeformableParts::Sheet(_) | DeformableParts::Shell(..), Some(TensorPlace::Points)) => {
                Err(TensorError::SheetPoints { name: name() })
            }
            (DeformableParts::Sheet(parts), _) => Ok(self.of_sheet(runner.simulation.sheet_fields(parts))),
            (DeformableParts::Shell(parts, _), _) => Ok(self.of_sheet(runner.simulation.shell_fields(parts))),
            (DeformableParts::Rod(..), _) => Err(TensorError::Rod {
                name: name(),
                what: match self {
                    Tensor::Stress => "stress",
                    Tensor::Strain => "strain",
                },
            }),
        }
    }

    fn of_sheet(self, fields: SheetFields) -> TensorField {
        TensorField::Sheet(match self {
            Tensor::Stress => fields.stress,
            Tensor::Strain => fields.strain,
        })
    }
}
