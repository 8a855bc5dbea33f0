//! Mistakes that tests plant into the model, to see that the simulation finds them. Mistakes of the protocol are patches in
//! `scripts/faults`.

use std::cell::Cell;

thread_local! {
    pub(super) static PLANTED: Cell<&'static str> = const { Cell::new("") };
}

/// Returns whether the mistake of this name is planted.
pub(super) fn planted(name: &str) -> bool {
    PLANTED.get() == name
}
