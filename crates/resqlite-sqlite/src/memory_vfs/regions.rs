//! The memory that the connections of a WAL database share.
#![allow(unsafe_code)]

use std::{
    alloc::{self, Layout},
    ptr::NonNull,
};

/// More than any field of the WAL index asks for, and a cache line.
const ALIGN: usize = 64;

/// Why a region cannot be had.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoRegion {
    /// There is no memory left.
    OutOfMemory,
    /// It is to be of another size than those before it.
    WrongSize,
}

/// Regions of one size that neither move nor go away until [`clear`](Self::clear) or drop.
///
/// SQLite reads and writes them from several threads by rules of its own, so they are known here by their address
/// alone: nobody makes a Rust reference to what is in them.
#[derive(Debug, Default)]
pub(super) struct Regions {
    list: Vec<NonNull<u8>>,
    /// The layout of each; `None` as long as there is none.
    layout: Option<Layout>,
}

// SAFETY: the addresses are of plain heap memory, which any thread may free.
unsafe impl Send for Regions {}

impl Regions {
    /// The address of region `index`, if it is there.
    pub(super) fn get(&self, index: usize) -> Option<NonNull<u8>> {
        self.list.get(index).copied()
    }

    /// The address of region `index`; it and all before it are made, zeroed, if they are not there.
    pub(super) fn get_or_extend(&mut self, index: usize, size: usize) -> Result<NonNull<u8>, NoRegion> {
        let layout = self.layout_for(size)?;
        while self.list.len() <= index {
            self.list.try_reserve(1).map_err(|_| NoRegion::OutOfMemory)?;
            self.list.push(zeroed(layout)?);
            self.layout = Some(layout);
        }
        Ok(self.list[index])
    }

    /// Frees all regions. Nobody may use their addresses any more.
    pub(super) fn clear(&mut self) {
        let Some(layout) = self.layout.take() else { return };
        for region in self.list.drain(..) {
            // SAFETY: `zeroed` allocated it with this layout, and it is in the list only once.
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

/// `layout` must not be of size zero; `layout_for` sees to that.
fn zeroed(layout: Layout) -> Result<NonNull<u8>, NoRegion> {
    // SAFETY: the size is not zero.
    NonNull::new(unsafe { alloc::alloc_zeroed(layout) }).ok_or(NoRegion::OutOfMemory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_zeroed_and_stays_where_it_is_when_others_come() {
        let mut regions = Regions::default();
        let first = regions.get_or_extend(0, 4096).unwrap();
        // SAFETY: the region is 4096 bytes long and nobody else knows it.
        unsafe {
            assert_eq!(first.add(4095).read(), 0);
            first.write(7);
        }
        regions.get_or_extend(40, 4096).unwrap();
        assert_eq!(regions.get(0), Some(first));
        // SAFETY: as above; it was not freed.
        assert_eq!(unsafe { first.read() }, 7);
    }

    #[test]
    fn a_region_that_was_never_made_is_not_there() {
        let mut regions = Regions::default();
        regions.get_or_extend(1, 4096).unwrap();
        assert!(regions.get(1).is_some());
        assert_eq!(regions.get(2), None);
    }

    #[test]
    fn all_regions_are_of_one_size_until_they_are_cleared() {
        let mut regions = Regions::default();
        regions.get_or_extend(0, 4096).unwrap();
        assert_eq!(regions.get_or_extend(1, 8192), Err(NoRegion::WrongSize));
        assert_eq!(regions.get_or_extend(0, 0), Err(NoRegion::WrongSize));
        regions.clear();
        assert_eq!(regions.get(0), None);
        assert!(regions.get_or_extend(0, 8192).is_ok());
    }
}
