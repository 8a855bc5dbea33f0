//! What commits change: recorded while it happens, decoded as far as the interest needs, kept in the commit log; and
//! exactly, as an entry, where there is an entry gate or a change feed.

mod decode;
mod drafting;
mod export;
mod gate;
mod ids;
pub(crate) mod log;
pub(crate) mod observer;
pub(crate) mod recorder;
mod shapes;
pub(crate) mod states;
mod tables;

pub(crate) use export::{Sealed, Uncarried};
pub(crate) use shapes::{OWN_TABLES, POSITION_TABLE};
