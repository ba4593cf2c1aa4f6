//! The compliance form keeps its digits where the stiffness form has lost all of them.

use pliant::prelude::Treatment;
use pliant_benches::stiff::tension_error;

#[test]
fn compliance_is_accurate_where_stiffness_has_lost_all_digits() {
    for c in [1e-4, 1e-6, 1e-9, 1e-12, 1e-15, 0.0] {
        let error = tension_error(c, Treatment::Compliance).unwrap();
        // A rounding of 1e-13 m in the positions is 1e-13 m / h^2 = 1e-9 m/s^2, a share of 1e-10 of
        // gravity.
        assert!(error < 1e-9, "c = {c:e}: {error:e}");
    }
    assert!(tension_error(1e-4, Treatment::Stiffness).unwrap() < 1e-8);
    // Extension 4e-14 m, below the rounding of the coordinates.
    assert!(tension_error(1e-15, Treatment::Stiffness).map_or(true, |e| e > 0.1));
}
