//! The locks on a database file: many readers, one writer.

/// The lock of one connection, weakest first. These are the five levels of SQLite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// No lock.
    #[default]
    Unlocked,
    /// The connection reads.
    Shared,
    /// It reads and will write; others may still begin to read.
    Reserved,
    /// It waits until no other connection reads; none may begin to.
    Pending,
    /// It writes; no other connection has a lock.
    Exclusive,
}

/// Another connection has a conflicting lock.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Busy;

/// The locks of all connections on one file. Each connection stores its own level and passes it as `held`. At most one
/// connection has more than `Shared`.
#[derive(Debug, Default)]
pub(super) struct LockTable {
    /// Number of connections with a lock, including the writer.
    holders: usize,
    /// The level of the writer; `Unlocked` if there is none.
    writer: Level,
}

impl LockTable {
    /// Raises `held` to `wanted`, unless it is as high already.
    ///
    /// A writer that must wait for readers gets `Pending`, which keeps new readers from starving it.
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

    /// Returns whether a connection is going to write.
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

    /// Only a connection with at least `Reserved` may wait at `Pending`. From `Shared`, this either succeeds or changes
    /// nothing.
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
    fn many_connections_may_read() {
        let (mut table, mut a, mut b) = (LockTable::default(), Unlocked, Unlocked);
        assert_eq!(table.lock(&mut a, Shared), Ok(()));
        assert_eq!(table.lock(&mut b, Shared), Ok(()));
        assert_eq!((a, b), (Shared, Shared));
    }

    #[test]
    fn a_reservation_admits_readers_but_no_second_writer() {
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
    fn a_waiting_writer_keeps_new_readers_out_until_the_others_have_finished() {
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
    fn a_reader_that_cannot_get_an_exclusive_lock_stays_a_reader_and_blocks_no_others() {
        let (mut table, mut a, mut b, mut late) = (LockTable::default(), Unlocked, Unlocked, Unlocked);
        table.lock(&mut a, Shared).unwrap();
        table.lock(&mut b, Shared).unwrap();
        assert_eq!(table.lock(&mut a, Exclusive), Err(Busy));
        assert_eq!(a, Shared);
        assert!(!table.is_reserved());
        assert_eq!(table.lock(&mut late, Shared), Ok(()));
    }

    #[test]
    fn an_exclusive_lock_excludes_readers() {
        let (mut table, mut a, mut b) = (LockTable::default(), Unlocked, Unlocked);
        table.lock(&mut a, Shared).unwrap();
        table.lock(&mut a, Exclusive).unwrap();
        assert_eq!(table.lock(&mut b, Shared), Err(Busy));
        table.unlock(&mut a, Shared);
        assert_eq!(a, Shared);
        assert_eq!(table.lock(&mut b, Shared), Ok(()));
    }

    #[test]
    fn unlocking_removes_every_level() {
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
    fn requesting_a_lower_level_changes_nothing() {
        let (mut table, mut a) = (LockTable::default(), Unlocked);
        table.lock(&mut a, Exclusive).unwrap();
        table.lock(&mut a, Shared).unwrap();
        table.lock(&mut a, Reserved).unwrap();
        assert_eq!(a, Exclusive);
    }
}
