//! Copies a database page by page.

use std::time::Instant;

use resqlite_sqlite::{Backup, Connection};

use super::source::Source;
use crate::core::{
    clock,
    error::{Error, Result},
    limits,
    token::Token,
};

/// A copy that has begun.
pub(super) struct Copy<'a> {
    backup: Backup,
    token: &'a Token,
    progress: Box<dyn FnMut(u32, u32) + 'a>,
}

impl<'a> Copy<'a> {
    pub(super) fn begin(source: &Source<'_>, target: &Connection, token: &'a Token) -> Result<Self> {
        // There is no journal, because the target is thrown away if the copy fails. The target is
        // synced at the end.
        target.execute_script("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
        Ok(Self {
            backup: source.connection().copy_to(target)?,
            token,
            progress: Box::new(|_, _| ()),
        })
    }

    /// Sets a function that is called with the number of pages copied so far, and the number of all
    /// pages.
    pub(super) fn on_progress(&mut self, progress: impl FnMut(u32, u32) + 'a) {
        self.progress = Box::new(progress);
    }

    /// Copies all pages, and returns their number. `sync` is called now and then, and not at the end.
    pub(super) fn run(mut self, mut sync: impl FnMut() -> Result<()>) -> Result<u32> {
        let mut told = None::<Instant>;
        let mut unsynced = 0;
        loop {
            if self.token.is_cancelled() {
                return Err(Error::Aborted);
            }
            let began = clock::now();
            let is_done = self.backup.step(limits::COPY_STEP_PAGES)?;
            let (total, remaining) = (self.backup.pages(), self.backup.remaining());
            if is_done || told.is_none_or(|told| clock::since(told) >= limits::COPY_PROGRESS) {
                told = Some(clock::now());
                (self.progress)(total - remaining, total);
            }
            if is_done {
                return Ok(total);
            }
            // Other threads need the core and the disk, too.
            clock::sleep(clock::since(began));
            unsynced += limits::COPY_STEP_PAGES;
            if unsynced >= limits::COPY_SYNC_PAGES {
                unsynced = 0;
                sync()?;
            }
        }
    }
}
