//! Memory that engine threads write and JavaScript reads in place.
//!
//! A slab has one user at a time: it is free, an engine thread fills it, or JavaScript reads it. It changes hands only
//! under the outbox's lock, so two users never touch it at once.

use std::{ptr::NonNull, sync::Arc};

use crate::limits::SLAB_BYTES;

/// A slab: `SLAB_BYTES` bytes.
pub(crate) struct Slab {
    /// SLAB_BYTES of memory made by `Box`; 8-byte words, because JavaScript reads them as 8-byte numbers. A raw
    /// pointer, because several users write through copies of it over time.
    memory: NonNull<u64>,
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
        let memory = Box::into_raw(vec![0u64; SLAB_BYTES / 8].into_boxed_slice());
        let memory = NonNull::new(memory.cast()).expect("a box is never null");
        Arc::new(Self { memory })
    }

    /// Where the memory starts. It never moves.
    pub(crate) fn start(&self) -> *mut u8 {
        self.memory.as_ptr().cast()
    }

    /// The first `length` bytes, to be filled.
    ///
    /// # Safety
    /// The caller is the slab's one user until the returned slice is gone.
    #[allow(unsafe_code, clippy::mut_from_ref)]
    pub(crate) unsafe fn fill(&self, length: usize) -> &mut [u8] {
        assert!(length <= SLAB_BYTES, "a row batch larger than a slab");
        // SAFETY: the memory is initialised, large enough, lives as long as `self`, and the caller is its one user.
        unsafe { std::slice::from_raw_parts_mut(self.start(), length) }
    }
}

impl Drop for Slab {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        let words = std::ptr::slice_from_raw_parts_mut(self.memory.as_ptr(), SLAB_BYTES / 8);
        // SAFETY: the memory came from a box of this very length and nobody holds the slab any more.
        drop(unsafe { Box::from_raw(words) });
    }
}
