//! Pictures of the player in the documents.

use std::path::Path;

use super::{Browser, checks, live};

/// Width and height of a picture (px).
const SIZE: [usize; 2] = [1000, 680];

/// File in `docs/book/src/pictures/`, scene, and address of the picture.
const PICTURES: [(&str, &str, &str); 2] = [
    (
        "player-gripper.png",
        "gripper",
        "t=1.2&paused&forces&reactions&pick=box&plot=lift.travel,left.force_x,right.force_x",
    ),
    (
        "player-muscle.png",
        "arm_muscle",
        "t=0.4&paused&colour=displacement&pick=biceps",
    ),
];

/// Runs the scenes and draws their pictures.
pub(super) fn draw(browser: &Browser, root: &Path, scratch: &Path) -> Result<(), String> {
    for (file, scene, words) in PICTURES {
        let out = scratch.join(scene);
        checks::simulate(&root.join(format!("scenes/{scene}.ron")), &out)?;
        let path = root.join("docs/book/src/pictures").join(file);
        let url = format!("file://{}#{words}", out.join("play.html").display());
        browser.screenshot_of(SIZE, &url, &path)?;
        println!("docs/book/src/pictures/{file}: written");
    }
    live::draw(root, scratch)
}
