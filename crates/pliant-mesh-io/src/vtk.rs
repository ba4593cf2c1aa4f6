//! Unstructured grids and surfaces of VTK: legacy files, and XML files (`.vtu`, `.vtp`).

mod data;
mod grid;
mod legacy;
mod xml;

pub use legacy::parse_vtk;
pub use xml::parse_vtk_xml;
