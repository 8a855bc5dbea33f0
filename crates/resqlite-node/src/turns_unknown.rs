//! Where no query can run on the realm's own thread.

use napi::Env;

/// Nobody has any.
pub(crate) enum Turns {}

impl Turns {
    pub(crate) fn of(_env: Env, _is_node: bool) -> Option<Self> {
        None
    }

    pub(crate) fn may_run(&mut self) -> bool {
        match *self {}
    }
}
