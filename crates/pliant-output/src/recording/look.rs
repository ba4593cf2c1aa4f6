//! Cameras and colours that a scene asks for.

/// How a recording is to be shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// The camera at first; fitted to the motion if there is none.
    pub camera: Option<Viewpoint>,
    /// Further cameras, by name.
    pub views: Vec<(String, Viewpoint)>,
    /// Colours of named things: red, green and blue from 0 to 1.
    pub colours: Vec<(String, [f64; 3])>,
    /// Names of things that are not shown at first.
    pub hidden: Vec<String>,
}

/// A camera.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Viewpoint {
    /// Place of the eye, and the place in the middle of the picture (m); fitted if not given.
    pub eye_and_target: Option<[[f64; 3]; 2]>,
    /// The name of a thing that the camera moves along with.
    pub follow: Option<String>,
}

impl Look {
    /// The colour of the thing of that name, if it has one.
    pub fn colour(&self, name: &str) -> Option<[f64; 3]> {
        let mut colours = self.colours.iter();
        colours.find(|(of, _)| of == name).map(|(_, colour)| *colour)
    }

    /// Whether the thing of that name is not shown.
    pub fn hides(&self, name: &str) -> bool {
        self.hidden.iter().any(|hidden| hidden == name)
    }
}
