//! Cameras and colours of pictures.

use super::Triple;
use crate::quantity::Length;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Cameras and colours of pictures.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "picture", deny_unknown_fields)]
pub struct PictureSpec {
    /// The camera at first; one that sees what moves by default.
    #[serde(default)]
    pub camera: Option<CameraSpec>,
    /// Further cameras to choose from.
    #[serde(default)]
    pub views: Vec<ViewSpec>,
    /// Colours of things by their names: `"teal"`, `"#1c8a6a"`.
    #[serde(default)]
    pub colours: BTreeMap<String, String>,
    /// Names of things that are not shown at first.
    #[serde(default)]
    pub hidden: Vec<String>,
}

/// A camera.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "camera", deny_unknown_fields)]
pub struct CameraSpec {
    /// Place of the eye (m).
    #[serde(default)]
    pub from: Option<Triple<Length>>,
    /// Place in the middle of the picture (m).
    #[serde(default)]
    pub to: Option<Triple<Length>>,
    /// The name of a thing that the camera moves along with.
    #[serde(default)]
    pub follow: Option<String>,
}

/// A camera with a name.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "views", deny_unknown_fields)]
pub struct ViewSpec {
    /// Its name.
    pub name: String,
    /// Place of the eye (m).
    #[serde(default)]
    pub from: Option<Triple<Length>>,
    /// Place in the middle of the picture (m).
    #[serde(default)]
    pub to: Option<Triple<Length>>,
    /// The name of a thing that the camera moves along with.
    #[serde(default)]
    pub follow: Option<String>,
}
