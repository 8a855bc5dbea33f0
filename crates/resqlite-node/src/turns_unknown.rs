//! The turns of an event loop where no query can run on the realm's own thread.

use napi::Env;

/// The turns so far. There is no value of this type.
pub(crate) enum Turns {}

impl Turns {
    pub(crate) fn of(_env: Env, _is_node: bool) -> Option<Self> {
        None
    }

    pub(crate) fn may_run(&mut self) -> bool {
        match *self {}
    }
}
