//! SQL texts that JavaScript has given a number.

use std::sync::Arc;

/// The texts, indexed by their numbers. JavaScript bounds how many there are.
#[derive(Default)]
pub(crate) struct Texts(Vec<Option<Arc<str>>>);

impl Texts {
    pub(crate) fn define(&mut self, id: u32, sql: &str) {
        let at = id as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(sql.into());
    }

    pub(crate) fn forget_all(&mut self) {
        self.0.clear();
    }

    pub(crate) fn get(&self, id: u32) -> Option<Arc<str>> {
        self.0.get(id as usize)?.clone()
    }
}
