#[path = "it/reduction.rs"]
mod reduction;
