//! A file as one connection has it open.

use std::{ptr::NonNull, sync::Arc};

use super::{
    contents::Contents,
    database::Database,
    locks::{Busy, Level},
    regions::NoRegion,
    shm::{Held, Slots},
};

/// A file that is open. Dropping it closes it.
pub(super) struct OpenFile {
    pub(super) contents: Arc<Contents>,
    /// What a database file has and others have not.
    pub(super) main: Option<MainFile>,
}

/// One connection's part in a database: its locks, and its use of the shared memory.
pub(super) struct MainFile {
    database: Arc<Database>,
    pub(super) read_only: bool,
    level: Level,
    held: Held,
    /// Whether this connection is counted among the users of the shared memory.
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

    /// Whether any connection is about to write.
    pub(super) fn is_reserved(&self) -> bool {
        self.database.locks().is_reserved()
    }

    /// The address of a region of the shared memory, good until [`unmap`](Self::unmap) or drop; `None` if it is
    /// not there and must not be made.
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

    /// Changes what this connection holds of the shared memory's slots; `None` if it does not use the memory.
    pub(super) fn change_slots(&mut self, request: SlotRequest) -> Option<Result<(), Busy>> {
        if !self.mapped {
            return None;
        }
        let slots = &mut self.database.shared().slots;
        Some(match request {
            SlotRequest::Share(run) => slots.share(&mut self.held, run),
            SlotRequest::Exclude(run) => slots.exclude(&mut self.held, run),
            SlotRequest::Release(run) => {
                slots.release(&mut self.held, run);
                Ok(())
            }
        })
    }

    /// Ends this connection's use of the shared memory. With the last one the memory goes; whoever comes next
    /// builds it anew from the write-ahead log.
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

/// What a connection wants of the shared memory's slots.
#[derive(Debug, Clone, Copy)]
pub(super) enum SlotRequest {
    Share(Slots),
    Exclude(Slots),
    Release(Slots),
}
