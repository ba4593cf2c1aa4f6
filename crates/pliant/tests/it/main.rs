//! Integration tests of the facade.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set up its problem should stop there"
)]

mod adaptive;
mod apart;
mod attachments;
mod automatic;
mod certificate;
mod contact_energy;
mod contacts;
mod coordinates;
mod distance_fields;
mod driven_rows;
mod energy;
mod equivalences;
mod errors;
mod everything;
mod examine;
mod four_bars;
mod geometry;
mod gradients;
mod gyroscopics;
mod heavy_cable;
mod history;
mod idle_nodes;
mod integrators;
mod iterations;
mod known_defects;
mod ledger;
mod limits;
mod linear;
mod linearisation;
mod located;
mod loops;
mod memory;
mod missed;
mod modes;
mod motors;
mod one_sided;
mod projected_tangents;
mod provided;
mod reduction;
mod redundancy;
mod regions;
mod rods;
mod row_details;
mod row_laws;
mod rubber;
mod scenes;
mod shared_elements;
mod shared_model;
mod sheets;
mod sleep;
mod solid_memory;
mod solid_references;
mod solids;
mod stacks;
mod starts;
mod statics;
mod stress;
mod tools;
mod work;
mod worlds;
mod wrapped_ropes;
