//! The locks on the shared memory of WAL mode: a row of slots, each shared by many or held by one.

use super::locks::Busy;

/// How many slots there are.
pub(super) const SLOTS: usize = 8;

/// A run of slots, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slots(u8);

impl Slots {
    /// `count` slots from `first` on; `None` if there are not so many, or none is asked for.
    pub(super) fn run(first: usize, count: usize) -> Option<Self> {
        let end = first
            .checked_add(count)
            .filter(|end| count > 0 && *end <= SLOTS)?;
        Some(Self((first..end).fold(0, |bits, slot| bits | 1 << slot)))
    }

    fn iter(self) -> impl Iterator<Item = usize> {
        (0..SLOTS).filter(move |slot| self.0 & 1 << slot != 0)
    }
}

/// What one connection holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    shared: u8,
    exclusive: u8,
}

/// What all connections together hold.
#[derive(Debug, Default)]
pub(super) struct SlotTable([Slot; SLOTS]);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Slot {
    #[default]
    Free,
    /// By how many, never zero.
    Shared(usize),
    Exclusive,
}

impl SlotTable {
    /// Shares the slots, all or none. Those that `held` shares already stay so.
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

    /// Takes the slots for one connection alone, all or none.
    pub(super) fn exclude(&mut self, held: &mut Held, slots: Slots) -> Result<(), Busy> {
        let slots = Slots(slots.0 & !held.exclusive);
        if slots.iter().any(|slot| self.0[slot] != Slot::Free) {
            return Err(Busy);
        }
        slots.iter().for_each(|slot| self.0[slot] = Slot::Exclusive);
        held.exclusive |= slots.0;
        Ok(())
    }

    /// Gives back what `held` has of these slots, however it has them.
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

    /// Gives back all that `held` has.
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
        Slots::run(first, count).unwrap()
    }

    #[test]
    fn a_run_lies_within_the_eight_slots() {
        assert_eq!(Slots::run(3, 5), Some(Slots(0b1111_1000)));
        assert_eq!(Slots::run(0, 8), Some(Slots(0xFF)));
        assert_eq!(Slots::run(4, 5), None);
        assert_eq!(Slots::run(2, 0), None);
        assert_eq!(Slots::run(usize::MAX, 2), None);
    }

    #[test]
    fn a_shared_slot_is_free_when_the_last_has_left() {
        let (mut table, mut a, mut b) = (SlotTable::default(), Held::default(), Held::default());
        table.share(&mut a, slots(4, 1)).unwrap();
        table.share(&mut b, slots(4, 1)).unwrap();
        table.release(&mut a, slots(4, 1));
        assert_eq!(table.exclude(&mut a, slots(4, 1)), Err(Busy));
        table.release(&mut b, slots(4, 1));
        assert_eq!(table.exclude(&mut a, slots(4, 1)), Ok(()));
    }

    #[test]
    fn an_exclusive_slot_is_for_one() {
        let (mut table, mut a, mut b) = (SlotTable::default(), Held::default(), Held::default());
        table.exclude(&mut a, slots(0, 1)).unwrap();
        assert_eq!(table.share(&mut b, slots(0, 1)), Err(Busy));
        assert_eq!(table.exclude(&mut b, slots(0, 1)), Err(Busy));
        assert_eq!(b, Held::default());
        table.release(&mut a, slots(0, 1));
        assert_eq!(table.share(&mut b, slots(0, 1)), Ok(()));
    }

    #[test]
    fn a_run_is_taken_whole_or_not_at_all() {
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
    fn releasing_what_is_not_held_takes_nothing_from_others() {
        let (mut table, mut a, mut b) = (SlotTable::default(), Held::default(), Held::default());
        table.exclude(&mut a, slots(1, 2)).unwrap();
        table.release(&mut b, slots(0, 8));
        assert_eq!(table.share(&mut b, slots(2, 1)), Err(Busy));
    }

    #[test]
    fn all_can_be_given_back_at_once() {
        let (mut table, mut a, mut b) = (SlotTable::default(), Held::default(), Held::default());
        table.share(&mut a, slots(3, 1)).unwrap();
        table.exclude(&mut a, slots(0, 2)).unwrap();
        table.release_all(&mut a);
        assert_eq!(a, Held::default());
        assert_eq!(table.exclude(&mut b, slots(0, 8)), Ok(()));
    }
}
