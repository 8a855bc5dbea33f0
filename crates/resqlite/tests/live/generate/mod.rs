//! Random scripts: the same seed gives the same script.

mod ddl;
mod draw;
mod expressions;
mod failing;
mod groups;
mod joins;
mod maintained;
mod model;
mod parts;
mod queries;
mod scripts;
mod seen;
mod selects;
mod sources;
mod tables;
mod values;
mod writes;

pub use maintained::{groups_script, maintained_script};
pub use scripts::{Size, failing_script, script};
