//! SQL texts that JavaScript has given a number.

use std::sync::Arc;

/// The texts, indexed by their numbers. They arrive in the order of their numbers. JavaScript bounds the number of
/// texts.
#[derive(Default)]
pub(crate) struct Texts(Vec<Arc<str>>);

impl Texts {
    /// Keeps a text under its number. Returns `None` if this is not the next number.
    pub(crate) fn define(&mut self, id: u32, sql: &str) -> Option<()> {
        if id as usize != self.0.len() {
            return None;
        }
        self.0.push(sql.into());
        Some(())
    }

    pub(crate) fn forget_all(&mut self) {
        self.0.clear();
    }

    pub(crate) fn get(&self, id: u32) -> Option<Arc<str>> {
        self.0.get(id as usize).cloned()
    }
}
