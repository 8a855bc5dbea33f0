//! The locks on the shared memory of WAL mode: eight slots, each shared by many connections or exclusive to one.

use super::locks::Busy;

/// The number of slots, as in SQLite.
pub(super) const SLOTS: usize = 8;

/// Consecutive slots, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slots(u8);

impl Slots {
    /// Returns `count` slots from `first` on; `None` if there are not that many, or if `count` is 0.
    pub(super) fn range(first: usize, count: usize) -> Option<Self> {
        let end = first
            .checked_add(count)
            .filter(|end| count > 0 && *end <= SLOTS)?;
        Some(Self((first..end).fold(0, |bits, slot| bits | 1 << slot)))
    }

    fn iter(self) -> impl Iterator<Item = usize> {
        (0..SLOTS).filter(move |slot| self.0 & 1 << slot != 0)
    }
}

/// The slot locks of one connection, one bit per slot.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    shared: u8,
    exclusive: u8,
}

/// The slot locks of all connections.
#[derive(Debug, Default)]
pub(super) struct SlotTable([Slot; SLOTS]);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Slot {
    #[default]
    Free,
    /// The number of connections, never zero.
    Shared(usize),
    Exclusive,
}

impl SlotTable {
    /// Takes shared locks on the slots, on all or none. Does nothing for slots that `held` shares already.
    pub(super) fn share(&mut self, held: &mut Held, slots: Slots) -> Result<(), Busy> {
        let slots = Slots(slots.0 & !held.shared);
        if slots.iter().any(|slot| self.0[slot] == Slot::Exclusive) {
            return Err(Busy);
        }
        slots
            .iter()
            .for_each(|slot| self.0[slot] = self.0[slot].with_one_more());
        held.shared |= slots.0;
        Ok(())
    }

    /// Takes exclusive locks on the slots, on all or none.
    pub(super) fn exclude(&mut self, held: &mut Held, slots: Slots) -> Result<(), Busy> {
        let slots = Slots(slots.0 & !held.exclusive);
        if slots.iter().any(|slot| self.0[slot] != Slot::Free) {
            return Err(Busy);
        }
        slots.iter().for_each(|slot| self.0[slot] = Slot::Exclusive);
        held.exclusive |= slots.0;
        Ok(())
    }

    /// Releases the locks of `held` on these slots, shared or exclusive.
    pub(super) fn release(&mut self, held: &mut Held, slots: Slots) {
        for slot in Slots(slots.0 & held.shared).iter() {
            self.0[slot] = self.0[slot].with_one_less();
        }
        for slot in Slots(slots.0 & held.exclusive).iter() {
            self.0[slot] = Slot::Free;
        }
        held.shared &= !slots.0;
        held.exclusive &= !slots.0;
    }

    /// Releases all locks of `held`.
    pub(super) fn release_all(&mut self, held: &mut Held) {
        self.release(held, Slots(u8::MAX));
    }
}

impl Slot {
    fn with_one_more(self) -> Self {
        match self {
            Self::Shared(count) => Self::Shared(count + 1),
            Self::Free | Self::Exclusive => Self::Shared(1),
        }
    }

    fn with_one_less(self) -> Self {
        match self {
            Self::Shared(count) if count > 1 => Self::Shared(count - 1),
            Self::Free | Self::Shared(_) | Self::Exclusive => Self::Free,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(first: usize, count: usize) -> Slots {
        Slots::range(first, count).unwrap()
    }

    #[test]
    fn a_range_lies_within_the_eight_slots() {
        assert_eq!(Slots::range(3, 5), Some(Slots(0b1111_1000)));
        assert_eq!(Slots::range(0, 8), Some(Slots(0xFF)));
        assert_eq!(Slots::range(4, 5), None);
        assert_eq!(Slots::range(2, 0), None);
        assert_eq!(Slots::range(usize::MAX, 2), None);
    }

    #[test]
    fn a_shared_slot_is_free_when_the_last_connection_has_released_it() {
        let (mut table, mut a, mut b) = (SlotTable::default(), Held::default(), Held::default());
        table.share(&mut a, slots(4, 1)).unwrap();
        table.share(&mut b, slots(4, 1)).unwrap();
        table.release(&mut a, slots(4, 1));
        assert_eq!(table.exclude(&mut a, slots(4, 1)), Err(Busy));
        table.release(&mut b, slots(4, 1));
        assert_eq!(table.exclude(&mut a, slots(4, 1)), Ok(()));
    }

    #[test]
    fn an_exclusive_slot_belongs_to_one_connection() {
        let (mut table, mut a, mut b) = (SlotTable::default(), Held::default(), Held::default());
        table.exclude(&mut a, slots(0, 1)).unwrap();
        assert_eq!(table.share(&mut b, slots(0, 1)), Err(Busy));
        assert_eq!(table.exclude(&mut b, slots(0, 1)), Err(Busy));
        assert_eq!(b, Held::default());
        table.release(&mut a, slots(0, 1));
        assert_eq!(table.share(&mut b, slots(0, 1)), Ok(()));
    }

    #[test]
    fn a_range_is_locked_completely_or_not_at_all() {
        let (mut table, mut a, mut b) = (SlotTable::default(), Held::default(), Held::default());
        table.share(&mut a, slots(5, 1)).unwrap();
        assert_eq!(table.exclude(&mut b, slots(3, 5)), Err(Busy));
        assert_eq!(table.exclude(&mut a, slots(3, 1)), Ok(()));
    }

    #[test]
    fn sharing_twice_counts_once() {
        let (mut table, mut a, mut b) = (SlotTable::default(), Held::default(), Held::default());
        table.share(&mut a, slots(3, 1)).unwrap();
        table.share(&mut a, slots(3, 1)).unwrap();
        table.release(&mut a, slots(3, 1));
        assert_eq!(table.exclude(&mut b, slots(3, 1)), Ok(()));
    }

    #[test]
    fn releasing_a_slot_of_another_connection_does_nothing() {
        let (mut table, mut a, mut b) = (SlotTable::default(), Held::default(), Held::default());
        table.exclude(&mut a, slots(1, 2)).unwrap();
        table.release(&mut b, slots(0, 8));
        assert_eq!(table.share(&mut b, slots(2, 1)), Err(Busy));
    }

    #[test]
    fn all_locks_can_be_released_at_once() {
        let (mut table, mut a, mut b) = (SlotTable::default(), Held::default(), Held::default());
        table.share(&mut a, slots(3, 1)).unwrap();
        table.exclude(&mut a, slots(0, 2)).unwrap();
        table.release_all(&mut a);
        assert_eq!(a, Held::default());
        assert_eq!(table.exclude(&mut b, slots(0, 8)), Ok(()));
    }
}
