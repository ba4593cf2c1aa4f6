//! Compliant mechanics: one number per constraint, from soft spring to exactly hard.
