//! Whatever the bytes, a reader returns.

use pliant_import::{Format, Options, import_text};

/// Files cut at every seventh byte, and with every fifth one changed to a few others; of longer
/// ones at fewer.
#[test]
fn cut_and_changed_files_return() {
    for (format, text) in [
        (Format::Urdf, include_str!("../models/arm.urdf")),
        (Format::Mjcf, include_str!("../models/hopper.xml")),
        (Format::Mjcf, include_str!("../models/shoulder.xml")),
        (Format::Mjcf, include_str!("../models/winch.xml")),
        (Format::Mjcf, include_str!("../models/pairs.xml")),
        (Format::Mjcf, include_str!("../models/spokes.xml")),
        (Format::Mjcf, include_str!("../models/floats.xml")),
        (Format::Mjcf, include_str!("../models/leashes.xml")),
        (Format::Mjcf, include_str!("../models/thrust.xml")),
        (Format::Mjcf, include_str!("../models/soft.xml")),
        (Format::Mjcf, include_str!("../models/flexes.xml")),
        (Format::Scn, include_str!("../models/string.scn")),
        (Format::Scn, include_str!("../models/mechanism.scn")),
        (Format::Scn, include_str!("../models/fields.scn")),
        (Format::Scn, include_str!("../models/bar.scn")),
        (Format::Scn, include_str!("../models/bumps.scn")),
        (Format::OpenSim, include_str!("../models/arm.osim")),
        (Format::OpenSim, include_str!("../models/leg.osim")),
    ] {
        let options = Options {
            self_collision: true,
            ..Options::default()
        };
        let try_out = |text: &str| {
            let _ = import_text(format, "x", text, &options);
        };
        // Longer files at fewer places.
        let rare = 1 + text.len() / 2000;
        for end in (0..text.len()).step_by(7 * rare) {
            try_out(&text[..end]);
        }
        for at in (0..text.len()).step_by(5 * rare) {
            for other in ["<", ">", "\"", "9e9", "-", "", " "] {
                try_out(&format!("{}{other}{}", &text[..at], &text[at + 1..]));
            }
        }
    }
}
