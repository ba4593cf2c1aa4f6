//! Contacts at rest.

pub(super) mod rest;
