//! How results are maintained, for statements of many forms.

mod groups;
mod rows;
