//! Memory that engine threads write and JavaScript reads in place.
//!
//! A slab has one user at a time: it is free, or an engine thread fills it, or JavaScript reads it. It changes hands
//! only through the outbox's lock, so no two users ever touch it at once.

use std::{cell::UnsafeCell, sync::Arc};

/// Bytes of a slab; larger slices travel by themselves.
pub(crate) const SLAB_BYTES: usize = 256 * 1024;

/// See the module's description.
pub(crate) struct Slab {
    /// 8-byte words, because JavaScript reads it through views of 8-byte numbers.
    memory: UnsafeCell<Box<[u64]>>,
}

// SAFETY: the memory is only touched by its one user at a time (see the module's description); the outbox's lock
// orders one user's accesses before the next one's.
#[allow(unsafe_code)]
unsafe impl Send for Slab {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for Slab {}

impl Slab {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            memory: UnsafeCell::new(vec![0; SLAB_BYTES / 8].into_boxed_slice()),
        })
    }

    /// Where the memory starts. It never moves.
    #[allow(unsafe_code)]
    pub(crate) fn start(&self) -> *mut u8 {
        // SAFETY: only the box's pointer is read, which nobody ever changes.
        unsafe { (*self.memory.get()).as_ptr().cast_mut().cast() }
    }

    /// The first `length` bytes, to be filled.
    ///
    /// # Safety
    /// The caller is the slab's one user until the returned slice is gone.
    #[allow(unsafe_code, clippy::mut_from_ref)]
    pub(crate) unsafe fn fill(&self, length: usize) -> &mut [u8] {
        assert!(length <= SLAB_BYTES, "a slice larger than a slab");
        // SAFETY: the memory is initialised, large enough, lives as long as `self`, and the caller is its one user.
        unsafe { std::slice::from_raw_parts_mut(self.start(), length) }
    }
}
