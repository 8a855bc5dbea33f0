//! The rows that are shown now.
#![allow(unsafe_code)]

use std::{
    cell::Cell,
    ffi::{CStr, CString},
    mem,
    panic::{self, AssertUnwindSafe},
    ptr::NonNull,
};

use super::rows::Rows;
use crate::error::Result;

/// The state that [`GivenRows`](super::GivenRows), SQLite's module and its virtual tables share.
pub(super) struct Table {
    name: String,
    declaration: CString,
    shown: Cell<Option<Shown>>,
    /// The number of shows so far.
    shows: Cell<u64>,
    /// The owner has dropped the table. Another table may have its name by now.
    is_gone: Cell<bool>,
}

#[derive(Clone, Copy)]
struct Shown {
    /// Lives until the show ends.
    rows: NonNull<dyn Rows>,
    number: u64,
}

/// Ends a show when it is dropped. The table then has the rows of the enclosing show again, if there is one.
struct Show<'a> {
    table: &'a Table,
    around: Option<Shown>,
}

impl Drop for Show<'_> {
    fn drop(&mut self) {
        self.table.shown.set(self.around);
    }
}

impl Table {
    pub(super) fn new(name: &str, declaration: CString) -> Self {
        Self {
            name: name.into(),
            declaration,
            shown: Cell::new(None),
            shows: Cell::new(0),
            is_gone: Cell::new(false),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn declaration(&self) -> &CStr {
        &self.declaration
    }

    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.get()
    }

    pub(super) fn go(&self) {
        self.is_gone.set(true);
    }

    /// The number of the show that is under way.
    pub(super) fn now(&self) -> Option<u64> {
        self.shown.get().map(|shown| shown.number)
    }

    /// Runs `work` while the table shows these rows.
    pub(super) fn show<R>(&self, rows: &dyn Rows, work: impl FnOnce() -> R) -> R {
        let number = self.shows.get() + 1;
        self.shows.set(number);
        // SAFETY: this only forgets the lifetime. `_show` takes the pointer away before this function ends, even if
        // `work` panics, and whatever reads the pointer keeps no copy.
        let rows =
            unsafe { mem::transmute::<NonNull<dyn Rows + '_>, NonNull<dyn Rows + 'static>>(rows.into()) };
        let around = self.shown.replace(Some(Shown { rows, number }));
        let _show = Show { table: self, around };
        work()
    }

    /// Reads from the rows of the show that has this number, if that show is under way.
    ///
    /// # Errors
    /// A message, which ends the statement.
    pub(super) fn read<R>(
        &self,
        show: u64,
        read: impl FnOnce(&dyn Rows) -> Result<R, String>,
    ) -> Result<R, String> {
        let shown = self.shown.get().filter(|shown| shown.number == show);
        let shown = shown.ok_or_else(|| format!("the rows of {} are no longer given", self.name))?;
        // SAFETY: the show is under way, so the rows live. It cannot end during `read`, which runs inside it.
        let rows = unsafe { shown.rows.as_ref() };
        panic::catch_unwind(AssertUnwindSafe(|| read(rows)))
            .unwrap_or_else(|_| Err(format!("the rows of {} panicked", self.name)))
    }
}
