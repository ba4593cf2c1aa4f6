//! Whatever the bytes, a reader returns.

use pliant_import::{Format, Options, import_text};

/// Deformables in few words.
const NET: &str = "<mujoco><worldbody><body name='p'><flexcomp name='t' type='direct' dim='3' scale='2 1 1' point='0 0 0 1 0 0 0 1 0 0 0 1 1 1 1' element='0 1 2 3 1 2 3 4'>
<elasticity young='1e3' poisson='.2'/><pin id='0' range='1 2'/></flexcomp></body><flexcomp name='g' count='3 2 1' dof='2d'><edge equality='true' solref='.01 1'/><pin grid='0 0' gridrange='0 0 1 1'/></flexcomp>
<flexcomp name='e' type='ellipsoid' dim='3' count='3 3 3'/><body name='a'><inertial pos='0 0 0' mass='1'/><joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><joint type='slide' axis='0 0 1'/></body></worldbody>
<deformable><flex name='n' dim='2' body='a p world p' vertex='0 0 0 1 0 0 0 1 0 1 1 1' element='0 1 2 1 2 3'><elasticity young='1e3' thickness='.1' elastic2d='both'/></flex></deformable>
<equality><flex flex='n'/><connect body1='t_3' body2='a' anchor='0 0 0'/></equality></mujoco>";

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
        (Format::Mjcf, NET),
        (Format::Scn, include_str!("../models/string.scn")),
        (Format::Scn, include_str!("../models/mechanism.scn")),
        (Format::Scn, include_str!("../models/fields.scn")),
        (Format::Scn, include_str!("../models/bar.scn")),
        (Format::Scn, include_str!("../models/bumps.scn")),
        (Format::OpenSim, include_str!("../models/arm.osim")),
        (Format::OpenSim, include_str!("../models/leg.osim")),
        (Format::OpenSim, include_str!("../models/wraps.osim")),
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
