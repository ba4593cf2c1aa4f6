//! Contacts at rest.

pub(crate) mod rest;
