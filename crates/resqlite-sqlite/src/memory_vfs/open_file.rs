//! A file that one connection has open.

use std::{ptr::NonNull, sync::Arc};

use super::{
    contents::Contents,
    database::Database,
    locks::{Busy, Level},
    regions::NoRegion,
    shm::{Held, Slots},
};

/// An open file. Dropping it closes it.
pub(super) struct OpenFile {
    pub(super) contents: Arc<Contents>,
    /// The locks and the shared memory, which only a database file has.
    pub(super) main: Option<MainFile>,
}

/// The locks of one connection on a database, and its use of the shared memory.
pub(super) struct MainFile {
    database: Arc<Database>,
    pub(super) read_only: bool,
    level: Level,
    held: Held,
    /// This connection is counted in `users` of the shared memory.
    mapped: bool,
}

impl MainFile {
    pub(super) fn new(database: Arc<Database>, read_only: bool) -> Self {
        Self {
            database,
            read_only,
            level: Level::default(),
            held: Held::default(),
            mapped: false,
        }
    }

    pub(super) fn lock(&mut self, wanted: Level) -> Result<(), Busy> {
        self.database.locks().lock(&mut self.level, wanted)
    }

    pub(super) fn unlock(&mut self, kept: Level) {
        self.database.locks().unlock(&mut self.level, kept);
    }

    /// Returns whether a connection is going to write.
    pub(super) fn is_reserved(&self) -> bool {
        self.database.locks().is_reserved()
    }

    /// Returns the address of a region of the shared memory, valid until [`unmap`](Self::unmap) or drop. `None` if the
    /// region does not exist and `extend` is false.
    pub(super) fn map(
        &mut self,
        index: usize,
        size: usize,
        extend: bool,
    ) -> Result<Option<NonNull<u8>>, NoRegion> {
        let mut shared = self.database.shared();
        if !self.mapped {
            shared.users += 1;
            self.mapped = true;
        }
        if extend {
            shared.regions.get_or_extend(index, size).map(Some)
        } else {
            Ok(shared.regions.get(index))
        }
    }

    /// Changes the slot locks of this connection; `None` if it does not use the shared memory.
    pub(super) fn change_slots(&mut self, request: SlotRequest) -> Option<Result<(), Busy>> {
        if !self.mapped {
            return None;
        }
        let slots = &mut self.database.shared().slots;
        Some(match request {
            SlotRequest::Share(range) => slots.share(&mut self.held, range),
            SlotRequest::Exclude(range) => slots.exclude(&mut self.held, range),
            SlotRequest::Release(range) => {
                slots.release(&mut self.held, range);
                Ok(())
            }
        })
    }

    /// Ends the use of the shared memory by this connection. The last one frees the memory; the next connection rebuilds
    /// the WAL index from the log.
    pub(super) fn unmap(&mut self) {
        if !std::mem::take(&mut self.mapped) {
            return;
        }
        let mut shared = self.database.shared();
        shared.slots.release_all(&mut self.held);
        shared.users -= 1;
        if shared.users == 0 {
            shared.regions.clear();
        }
    }
}

impl Drop for MainFile {
    fn drop(&mut self) {
        self.unmap();
        self.unlock(Level::Unlocked);
    }
}

/// A change of slot locks.
#[derive(Debug, Clone, Copy)]
pub(super) enum SlotRequest {
    Share(Slots),
    Exclude(Slots),
    Release(Slots),
}
