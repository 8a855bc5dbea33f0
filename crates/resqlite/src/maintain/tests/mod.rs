//! How results are maintained, for statements of many forms.

mod groups;
pub(super) mod printed;
mod rows;
