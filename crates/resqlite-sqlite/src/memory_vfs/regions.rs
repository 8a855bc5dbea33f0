//! The memory of the WAL index, which all connections of a database share.
#![allow(unsafe_code)]

use std::{
    alloc::{self, Layout},
    ptr::NonNull,
};

/// A cache line; more than any field of the WAL index needs.
const ALIGN: usize = 64;

/// The reason why there is no region.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoRegion {
    /// No memory is left.
    OutOfMemory,
    /// The size differs from that of the regions before it, or is invalid.
    WrongSize,
}

/// Regions of one size. Their addresses stay valid until [`clear`](Self::clear) or drop.
///
/// SQLite reads and writes the regions from several threads under its own protocol. Rust code therefore keeps only their
/// addresses and never makes a reference to their contents.
#[derive(Debug, Default)]
pub(super) struct Regions {
    list: Vec<NonNull<u8>>,
    /// The layout of each region; `None` while there is none.
    layout: Option<Layout>,
}

// SAFETY: the addresses are those of heap memory, which any thread may free.
unsafe impl Send for Regions {}

impl Regions {
    /// Returns the address of region `index`, if it exists.
    pub(super) fn get(&self, index: usize) -> Option<NonNull<u8>> {
        self.list.get(index).copied()
    }

    /// Returns the address of region `index`. Allocates it and all regions before it, zeroed, if they do not exist.
    pub(super) fn get_or_extend(&mut self, index: usize, size: usize) -> Result<NonNull<u8>, NoRegion> {
        let layout = self.layout_for(size)?;
        while self.list.len() <= index {
            self.list.try_reserve(1).map_err(|_| NoRegion::OutOfMemory)?;
            self.list.push(zeroed(layout)?);
            self.layout = Some(layout);
        }
        Ok(self.list[index])
    }

    /// Frees all regions. Their addresses must not be used afterwards.
    pub(super) fn clear(&mut self) {
        let Some(layout) = self.layout.take() else { return };
        for region in self.list.drain(..) {
            // SAFETY: `zeroed` allocated the region with this layout; it is only once in the list.
            unsafe { alloc::dealloc(region.as_ptr(), layout) };
        }
    }

    fn layout_for(&self, size: usize) -> Result<Layout, NoRegion> {
        let wanted = Layout::from_size_align(size, ALIGN).map_err(|_| NoRegion::WrongSize)?;
        let fits = size > 0 && self.layout.is_none_or(|layout| layout == wanted);
        if fits {
            Ok(wanted)
        } else {
            Err(NoRegion::WrongSize)
        }
    }
}

impl Drop for Regions {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The size of `layout` must not be zero; `layout_for` ensures that.
fn zeroed(layout: Layout) -> Result<NonNull<u8>, NoRegion> {
    // SAFETY: the size is not zero.
    NonNull::new(unsafe { alloc::alloc_zeroed(layout) }).ok_or(NoRegion::OutOfMemory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_zeroed_and_does_not_move_when_others_are_added() {
        let mut regions = Regions::default();
        let first = regions.get_or_extend(0, 4096).unwrap();
        // SAFETY: the region is 4096 bytes long, and nothing else uses it.
        unsafe {
            assert_eq!(first.add(4095).read(), 0);
            first.write(7);
        }
        regions.get_or_extend(40, 4096).unwrap();
        assert_eq!(regions.get(0), Some(first));
        // SAFETY: as above; the region has not been freed.
        assert_eq!(unsafe { first.read() }, 7);
    }

    #[test]
    fn a_region_that_was_never_allocated_does_not_exist() {
        let mut regions = Regions::default();
        regions.get_or_extend(1, 4096).unwrap();
        assert!(regions.get(1).is_some());
        assert_eq!(regions.get(2), None);
    }

    #[test]
    fn all_regions_have_one_size_until_they_are_cleared() {
        let mut regions = Regions::default();
        regions.get_or_extend(0, 4096).unwrap();
        assert_eq!(regions.get_or_extend(1, 8192), Err(NoRegion::WrongSize));
        assert_eq!(regions.get_or_extend(0, 0), Err(NoRegion::WrongSize));
        regions.clear();
        assert_eq!(regions.get(0), None);
        assert!(regions.get_or_extend(0, 8192).is_ok());
    }
}
