//! The locks on a database file: many who share, one who writes.

/// How strongly one connection holds the file, weakest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Not at all.
    #[default]
    Unlocked,
    /// It reads.
    Shared,
    /// It reads and will write; others may still come to read.
    Reserved,
    /// It waits for the readers to leave; nobody new comes in.
    Pending,
    /// It is alone.
    Exclusive,
}

/// Another connection is in the way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Busy;

/// The locks that all connections together hold on one file. What each of them holds it keeps itself and passes
/// in as `held`; at most one holds more than `Shared`.
#[derive(Debug, Default)]
pub(super) struct LockTable {
    /// Connections that hold anything, the writer among them.
    holders: usize,
    /// What the writer holds; `Unlocked` when there is none.
    writer: Level,
}

impl LockTable {
    /// Raises `held` to `wanted`; does nothing if it is there already.
    ///
    /// A writer that has to wait for readers is left at `Pending`, so that they cannot starve it.
    pub(super) fn lock(&mut self, held: &mut Level, wanted: Level) -> Result<(), Busy> {
        if wanted >= Level::Shared {
            self.share(held)?;
        }
        match wanted {
            Level::Unlocked | Level::Shared => Ok(()),
            Level::Reserved | Level::Pending => self.claim(held, wanted),
            Level::Exclusive => self.exclude(held),
        }
    }

    /// Lowers `held` to `kept`, which is `Shared` or `Unlocked`.
    pub(super) fn unlock(&mut self, held: &mut Level, kept: Level) {
        if *held > Level::Shared && kept <= Level::Shared {
            self.writer = Level::Unlocked;
            *held = Level::Shared;
        }
        if *held == Level::Shared && kept == Level::Unlocked {
            self.holders -= 1;
            *held = Level::Unlocked;
        }
    }

    /// Whether any connection is about to write.
    pub(super) fn is_reserved(&self) -> bool {
        self.writer >= Level::Reserved
    }

    fn share(&mut self, held: &mut Level) -> Result<(), Busy> {
        if *held >= Level::Shared {
            return Ok(());
        }
        if self.writer >= Level::Pending {
            return Err(Busy);
        }
        self.holders += 1;
        *held = Level::Shared;
        Ok(())
    }

    fn claim(&mut self, held: &mut Level, wanted: Level) -> Result<(), Busy> {
        if *held >= wanted {
            return Ok(());
        }
        if *held == Level::Shared && self.is_reserved() {
            return Err(Busy);
        }
        self.writer = wanted;
        *held = wanted;
        Ok(())
    }

    /// From `Shared` it is all or nothing; only who has reserved the file may keep newcomers out while it waits.
    fn exclude(&mut self, held: &mut Level) -> Result<(), Busy> {
        if *held >= Level::Reserved {
            self.claim(held, Level::Pending)?;
        }
        if self.holders > 1 {
            return Err(Busy);
        }
        self.claim(held, Level::Exclusive)
    }
}

#[cfg(test)]
mod tests {
    use super::{Level::*, *};

    #[test]
    fn readers_share() {
        let (mut table, mut a, mut b) = (LockTable::default(), Unlocked, Unlocked);
        assert_eq!(table.lock(&mut a, Shared), Ok(()));
        assert_eq!(table.lock(&mut b, Shared), Ok(()));
        assert_eq!((a, b), (Shared, Shared));
    }

    #[test]
    fn a_reservation_lets_readers_in_but_no_second_writer() {
        let (mut table, mut a, mut b) = (LockTable::default(), Unlocked, Unlocked);
        table.lock(&mut a, Shared).unwrap();
        table.lock(&mut a, Reserved).unwrap();
        assert!(table.is_reserved());
        table.lock(&mut b, Shared).unwrap();
        assert_eq!(table.lock(&mut b, Reserved), Err(Busy));
        assert_eq!(table.lock(&mut b, Exclusive), Err(Busy));
        assert_eq!(b, Shared);
    }

    #[test]
    fn a_writer_that_waits_keeps_newcomers_out_until_the_readers_have_left() {
        let (mut table, mut writer, mut reader, mut late) =
            (LockTable::default(), Unlocked, Unlocked, Unlocked);
        table.lock(&mut reader, Shared).unwrap();
        table.lock(&mut writer, Reserved).unwrap();
        assert_eq!(table.lock(&mut writer, Exclusive), Err(Busy));
        assert_eq!(writer, Pending);
        assert_eq!(table.lock(&mut late, Shared), Err(Busy));
        table.unlock(&mut reader, Unlocked);
        assert_eq!(table.lock(&mut writer, Exclusive), Ok(()));
        assert_eq!(writer, Exclusive);
    }

    #[test]
    fn a_reader_that_cannot_be_alone_stays_a_reader_and_bars_nobody() {
        let (mut table, mut a, mut b, mut late) = (LockTable::default(), Unlocked, Unlocked, Unlocked);
        table.lock(&mut a, Shared).unwrap();
        table.lock(&mut b, Shared).unwrap();
        assert_eq!(table.lock(&mut a, Exclusive), Err(Busy));
        assert_eq!(a, Shared);
        assert!(!table.is_reserved());
        assert_eq!(table.lock(&mut late, Shared), Ok(()));
    }

    #[test]
    fn nobody_reads_beside_an_exclusive_lock() {
        let (mut table, mut a, mut b) = (LockTable::default(), Unlocked, Unlocked);
        table.lock(&mut a, Shared).unwrap();
        table.lock(&mut a, Exclusive).unwrap();
        assert_eq!(table.lock(&mut b, Shared), Err(Busy));
        table.unlock(&mut a, Shared);
        assert_eq!(a, Shared);
        assert_eq!(table.lock(&mut b, Shared), Ok(()));
    }

    #[test]
    fn unlocking_leaves_nothing_behind() {
        let (mut table, mut a, mut b) = (LockTable::default(), Unlocked, Unlocked);
        table.lock(&mut a, Shared).unwrap();
        table.lock(&mut a, Exclusive).unwrap();
        table.unlock(&mut a, Unlocked);
        table.unlock(&mut a, Unlocked);
        assert!(!table.is_reserved());
        table.lock(&mut b, Shared).unwrap();
        assert_eq!(table.lock(&mut b, Exclusive), Ok(()));
    }

    #[test]
    fn asking_for_less_changes_nothing() {
        let (mut table, mut a) = (LockTable::default(), Unlocked);
        table.lock(&mut a, Exclusive).unwrap();
        table.lock(&mut a, Shared).unwrap();
        table.lock(&mut a, Reserved).unwrap();
        assert_eq!(a, Exclusive);
    }
}
