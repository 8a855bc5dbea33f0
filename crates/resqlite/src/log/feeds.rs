//! Change feeds: a log of entries in tables of the same database, so that it changes with what the entries are about.
//!
//! ```text
//! _resqlite_changes     the entries, each with the time of its commit, and how large the log was with it
//! _resqlite_feeds       the consumers: what each has acknowledged (`position`; what follows `told` up to there did not concern
//!                       the consumer), and how much is kept for it
//! _resqlite_feed_state  commits of this library minus entries, and the number of running scripts (`unlisted`)
//! ```
//!
//! The tables exist while there is a feed. So a process that does not know of the first feed learns of it like of every change
//! of the schema: when it begins to write. Another program may remove some of the tables, or their rows. Then nothing is logged
//! any more, and each consumer is told that commits are lost, until its feed is dropped and made again.

use std::{
    cell::RefCell,
    rc::Rc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use resqlite_sqlite::{ValueRef, codes};

use super::{
    client::{Log, Work},
    feed_state::Feeds,
    maker::{EntryMaker, Uncarried},
    position::integer,
};
use crate::{
    core::{
        error::{EntryFault, Error, Result},
        names::{OWN_TABLES, POSITION_TABLE},
        options::Durability,
        position::Position,
        sync::lock,
    },
    entries::{Entry, Head},
    guard::effects::Effects,
    requests::feed::{FeedOptions, FeedRequest, Gap, Keep},
};

/// The extent of the changes that one of the writer's own transactions has made.
enum Wrote {
    Nothing,
    Something,
    /// The transaction has removed the tables, or made them anew.
    Tables,
}

const TABLES: &str = "
    CREATE TABLE main._resqlite_changes(position INTEGER PRIMARY KEY, at INTEGER NOT NULL, bytes INTEGER NOT NULL, gap TEXT,
        entry BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS main._resqlite_feeds(name TEXT PRIMARY KEY, position INTEGER NOT NULL, told INTEGER NOT NULL,
        keep_commits INTEGER, keep_bytes INTEGER, keep_age INTEGER) WITHOUT ROWID;
    CREATE TABLE main._resqlite_feed_state(id INTEGER PRIMARY KEY CHECK (id = 1), other_commits INTEGER NOT NULL,
        unlisted INTEGER NOT NULL);
    INSERT INTO main._resqlite_feed_state VALUES (1, 0, 0)";

/// The tables of feeds, each with a column by which it is recognised. A table of somebody else may have the same name.
const KNOWN_BY: [(&str, &str); 3] = [
    ("_resqlite_changes", "entry"),
    ("_resqlite_feeds", "told"),
    ("_resqlite_feed_state", "other_commits"),
];

/// `bytes` is the size of the log including this entry, counted from any start.
const LOG: &str = "INSERT INTO main._resqlite_changes(position, at, bytes, gap, entry)
    SELECT ?1, ?2, length(?4) + 64 + coalesce((SELECT bytes FROM main._resqlite_changes ORDER BY position DESC LIMIT 1), 0),
    ?3, ?4";

/// Removes entries that no feed needs. A feed does not need entries that its consumer has acknowledged, or that are beyond what
/// is kept for that consumer.
const CUT: &str = "DELETE FROM main._resqlite_changes
    WHERE position < (SELECT min(position) FROM main._resqlite_changes) + 4096 AND position <= (SELECT min(max(
        f.position,
        coalesce(?1 - f.keep_commits, 0),
        coalesce((SELECT position FROM main._resqlite_changes
            WHERE bytes > ?2 - f.keep_bytes ORDER BY position LIMIT 1) - 1, 0),
        coalesce((SELECT position FROM main._resqlite_changes
            WHERE at >= ?3 - f.keep_age ORDER BY position LIMIT 1) - 1, iif(f.keep_age IS NULL, 0, ?1))))
    FROM main._resqlite_feeds AS f)";

/// The number of commits between two looks for entries to remove.
const CUT_EVERY: u32 = 256;

impl Work<'_> {
    /// Does what a caller asks of feeds.
    pub(super) fn feed(&mut self, request: FeedRequest) -> Result<Position> {
        let done = match request {
            FeedRequest::Open(options) => self
                .writing
                .begin_to_record_rows()
                .and_then(|()| self.open_feed(&options)),
            FeedRequest::Acknowledge { name, position } => self.acknowledge(&name, position, false),
            FeedRequest::Skip { name, position } => self.acknowledge(&name, position, true),
            FeedRequest::Drop { name } => self.drop_feed(&name),
            FeedRequest::Replace(feeds) => self.replace_feeds(&feeds),
            FeedRequest::ForgetPosition => self.forget_position(),
        };
        done.map_err(|error| self.writing.connection.explain_error(error))
    }

    /// Finds out whether there are feeds. The schema may have changed, or another program has written.
    pub(super) fn notice_feeds(&mut self) -> Result<()> {
        let found = self.count_tables(&OWN_TABLES)?;
        let unlisted: Option<i64> = if found == Some(OWN_TABLES.len() as i64) {
            let rows = "SELECT s.unlisted FROM main._resqlite_position AS p, main._resqlite_feed_state AS s";
            self.writing.connection.internal(rows)?
        } else {
            None
        };
        if unlisted.is_some() == self.log.feeds.is_some() {
            return Ok(());
        }
        let feeds = unlisted.map(|unlisted| Feeds {
            gap: (unlisted != 0).then_some(Gap::Script),
            unlisted,
            ..Feeds::default()
        });
        if feeds.is_some() {
            self.writing.begin_to_record_rows()?;
        }
        if let Some(lost) = &self.log.feeds {
            // Dropping the last feed leaves the table of the position.
            let last_position = lost.last_position;
            let is_taken = self.count_tables(&[POSITION_TABLE])? == Some(0);
            self.log.feeds_taken_at = is_taken.then_some(last_position);
        }
        self.log.feeds = feeds;
        self.update_maker();
        Ok(())
    }

    fn count_tables(&mut self, names: &[&str]) -> Result<Option<i64>> {
        let names = names.join("', '");
        self.writing.connection.internal(&format!(
            "SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND name IN ('{names}')"
        ))
    }

    /// Returns whether there are no feeds because another program has removed their tables, or rows of these.
    fn are_feeds_damaged(&mut self) -> Result<bool> {
        Ok(self.log.feeds.is_none()
            && (self.log.feeds_taken_at.is_some()
                || !self.known_tables()?.is_empty()
                || self.head_now().is_err()))
    }

    /// Returns the tables of feeds that exist.
    fn known_tables(&mut self) -> Result<Vec<&'static str>> {
        let mut known = Vec::new();
        for (table, column) in KNOWN_BY {
            let is_there =
                format!("SELECT 1 FROM pragma_table_info('{table}', 'main') WHERE name = '{column}'");
            known.extend(self.writing.connection.internal(&is_there)?.map(|_| table));
        }
        Ok(known)
    }

    /// Makes all tables anew where another program has removed some. The new position is after all positions that are recorded
    /// anywhere, so that no remaining consumer can go on. The rest of the writer must learn of the tables after the commit.
    fn mend_tables(&mut self) -> Result<Feeds> {
        let mut head = self.read_head().unwrap_or_default();
        head.position = head.position.max(self.log.feeds_taken_at.unwrap_or_default());
        for table in ["_resqlite_changes", "_resqlite_feeds"] {
            let last = self
                .writing
                .connection
                .internal(&format!("SELECT max(position) FROM main.{table}"));
            head.position = head
                .position
                .max(Position(last.ok().flatten().unwrap_or(0) as u64));
        }
        let is_counted_by_gate = self.log.uncarried() == Some(Uncarried::Refused);
        let mut old = self.known_tables()?;
        old.retain(|table| *table != "_resqlite_feeds"); // it names the consumers
        if !is_counted_by_gate {
            old.push(POSITION_TABLE);
        }
        self.drop_own_tables(&old)?;
        self.make_own_tables(TABLES)?;
        if !is_counted_by_gate {
            self.make_position_table()?;
            self.write_head(head)?;
            self.skip_position()?;
        }
        Ok(Feeds {
            external: self.external_from_here()?,
            ..Feeds::default()
        })
    }

    /// Begins or stops drawing up entries, as the gate and the feeds need it. Where entries are drawn up, rows are recorded
    /// already.
    pub(super) fn update_maker(&mut self) {
        let uncarried = if self.log.applies || lock(&self.log.gate).is_some() {
            Some(Uncarried::Refused)
        } else {
            self.log.feeds.is_some().then_some(Uncarried::Gap)
        };
        if uncarried != self.log.uncarried() {
            self.set_maker(uncarried);
        }
    }

    pub(super) fn set_maker(&mut self, uncarried: Option<Uncarried>) {
        let maker = uncarried.map(|uncarried| Rc::new(RefCell::new(EntryMaker::new(uncarried))));
        let sink = maker.clone().map(|maker| maker as _);
        self.writing.recorder.set_sink(sink);
        if let Some(maker) = &maker {
            let maker = Rc::downgrade(maker);
            let may_commit = move || maker.upgrade().is_none_or(|maker| maker.borrow().may_commit());
            self.writing.connection.sqlite.set_commit_hook(may_commit);
        }
        self.log.maker = maker;
    }

    /// Returns whether a transaction must be logged even if it changes nothing, because it must report a gap from before.
    pub(super) fn has_gap_to_tell(&self) -> bool {
        let has_gap = self.log.feeds.as_ref().is_some_and(|feeds| feeds.gap.is_some());
        has_gap && self.log.uncarried() == Some(Uncarried::Gap)
    }

    /// Called at the end: logs a gap for what others have written since the last commit, since perhaps nobody else has noticed
    /// that.
    pub(super) fn log_last_gap(&mut self) {
        if self.log.uncarried() != Some(Uncarried::Gap) {
            return;
        }
        let interrupt = Rc::clone(&self.writing.connection.guard.interrupt);
        // If another process has the lock, this does not wait for it.
        let _ = interrupt.without_waiting(|| self.in_own_transaction(|_| Ok(((), Wrote::Nothing))));
    }

    /// Logs the entry of the open transaction, if there are feeds.
    pub(super) fn log_entry(&mut self, entry: &Entry, is_complete: bool) -> Result<()> {
        let Some(feeds) = &mut self.log.feeds else {
            return Ok(());
        };
        let gap = if is_complete {
            feeds.gap
        } else {
            Some(Gap::Unlisted)
        };
        feeds.uncommitted += 1;
        feeds.last_position = entry.position();
        feeds.uncut += 1;
        let (cut, unlisted) = (feeds.uncut >= CUT_EVERY, std::mem::take(&mut feeds.unlisted));
        let values = [
            integer(entry.position()),
            ValueRef::Integer(milliseconds_since_1970()),
            gap.map_or(ValueRef::Null, |gap| ValueRef::Text(gap.name().as_bytes())),
            ValueRef::Blob(entry.as_bytes()),
        ];
        self.own::<0>(LOG, &values)?;
        if unlisted > 0 {
            // The gap is reported here, so it need not be reported when the file is opened again.
            let told = "UPDATE main._resqlite_feed_state SET unlisted = max(unlisted - ?1, 0)";
            self.own::<0>(told, &[ValueRef::Integer(unlisted)])?;
        }
        if cut { self.cut_log() } else { Ok(()) }
    }

    /// Logs entries of others that are applied in one commit.
    pub(super) fn log_entries(&mut self, entries: &[Entry]) -> Result<()> {
        entries.iter().try_for_each(|entry| self.log_entry(entry, true))?;
        if let Some(feeds) = &mut self.log.feeds
            && entries.len() > 1
        {
            // The position counts each entry as a commit, but all of them are one commit.
            feeds.uncommitted = 1;
            let count = "UPDATE main._resqlite_feed_state SET other_commits = other_commits - ?1";
            self.own::<0>(count, &[ValueRef::Integer(entries.len() as i64 - 1)])?;
        }
        Ok(())
    }

    /// Counts the open transaction, which has no entry, if there are feeds.
    pub(super) fn count_without_entry(&mut self) -> Result<()> {
        if let Some(feeds) = &mut self.log.feeds {
            feeds.uncommitted += 1;
            let count = "UPDATE main._resqlite_feed_state SET other_commits = other_commits + 1";
            self.own::<0>(count, &[])?;
        }
        Ok(())
    }

    fn cut_log(&mut self) -> Result<()> {
        let newest = "SELECT position, bytes FROM main._resqlite_changes ORDER BY position DESC LIMIT 1";
        if let Some([Some(position), Some(bytes)]) = self.own(newest, &[])? {
            let values = [position, bytes, milliseconds_since_1970()].map(ValueRef::Integer);
            self.own::<0>(CUT, &values)?;
        }
        if let Some(feeds) = &mut self.log.feeds {
            feeds.uncut = 0;
        }
        Ok(())
    }

    /// Opens a feed. Returns the position after which its consumer goes on.
    fn open_feed(&mut self, options: &FeedOptions) -> Result<Position> {
        let mut first = None;
        let after = self.in_own_transaction(|work| {
            if work.are_feeds_damaged()? {
                return Err(Error::feed_tables_lost(&options.name));
            }
            work.make_position_table()?;
            if work.log.feeds.is_none() {
                work.make_own_tables(TABLES)?;
                work.skip_position()?;
                first = Some(Feeds {
                    external: work.external_from_here()?,
                    ..Feeds::default()
                });
            }
            let newest = work.read_head()?.position;
            let name = ValueRef::Text(options.name.as_bytes());
            let known = "SELECT position, told FROM main._resqlite_feeds WHERE name = ?1";
            let known = work.own(known, &[name])?;
            let mut wrote = Wrote::Nothing;
            let (acknowledged, told) = match known {
                Some(positions) => positions
                    .map(|position| Position(position.unwrap_or(0) as u64))
                    .into(),
                None => {
                    let position = options.after.unwrap_or(newest).min(newest);
                    work.add_feed(name, position)?;
                    (position, position)
                }
            };
            let keep = match known {
                Some(_) => options.keep.clone(),
                None => Some(options.keep.clone().unwrap_or_default()),
            };
            if let Some(keep) = keep {
                work.set_keep(name, &keep)?;
                wrote = Wrote::Something;
            }
            let after = match options.after {
                Some(after) if after < told => after,
                Some(after) => after.max(acknowledged),
                None => acknowledged,
            };
            work.check_reaches(&options.name, after, newest)?;
            Ok((after, wrote))
        })?;
        if first.is_some() {
            self.log.feeds = first;
            self.update_maker();
        }
        Ok(after)
    }

    fn add_feed(&mut self, name: ValueRef<'_>, position: Position) -> Result<()> {
        let add = "INSERT INTO main._resqlite_feeds(name, position, told) VALUES (?1, ?2, ?2)";
        self.own::<0>(add, &[name, integer(position)]).map(drop)
    }

    fn set_keep(&mut self, name: ValueRef<'_>, keep: &Keep) -> Result<()> {
        let number = |bound: Option<u64>| {
            bound.map_or(ValueRef::Null, |bound| {
                ValueRef::Integer(i64::try_from(bound).unwrap_or(i64::MAX))
            })
        };
        let age = keep
            .age
            .map(|age| u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        let set = "UPDATE main._resqlite_feeds SET keep_commits = ?2, keep_bytes = ?3, keep_age = ?4 WHERE name = ?1";
        let values = [name, number(keep.commits), number(keep.bytes), number(age)];
        self.own::<0>(set, &values).map(drop)
    }

    /// Checks that the log has all commits after this position.
    fn check_reaches(&mut self, name: &str, after: Position, newest: Position) -> Result<()> {
        if after > newest {
            return Err(Error::feed_is_older(name, after, newest));
        }
        let oldest = "SELECT min(position) FROM main._resqlite_changes";
        let oldest = match self.own(oldest, &[])? {
            Some([Some(oldest)]) => Position(oldest as u64),
            _ => newest.next(),
        };
        if after.next() < oldest {
            return Err(Error::feed_lost(name, after, oldest));
        }
        Ok(())
    }

    fn acknowledge(&mut self, name: &str, position: Position, skipped: bool) -> Result<Position> {
        self.in_own_transaction(|work| {
            let values = [ValueRef::Text(name.as_bytes()), integer(position), ValueRef::Integer(skipped.into())];
            let known = "SELECT iif(?3, position, told) < ?2 FROM main._resqlite_feeds WHERE name = ?1";
            let is_news = match work.log.feeds.is_some() {
                true => work.own(known, &values)?,
                false => None,
            };
            let Some([is_news]) = is_news else {
                return Err(Error::feed_removed(name));
            };
            let newest = work.head_now()?.position;
            if position > newest {
                let message =
                    format!("position {position} cannot be acknowledged: the newest commit has {newest}");
                return Err(Error::Option(message));
            }
            if is_news != Some(1) {
                return Ok((position, Wrote::Nothing));
            }
            let set = "UPDATE main._resqlite_feeds SET position = max(position, ?2), told = iif(?3, told, ?2) WHERE name = ?1";
            work.own::<0>(set, &values)?;
            work.cut_log()?;
            Ok((position, Wrote::Something))
        })
    }

    /// Looks for commits of others. Every write transaction does that; this one does nothing else. Returns `false` if another
    /// process has the lock.
    pub(super) fn look_for_external(&mut self, name: &str) -> Result<bool> {
        let looked = self.in_own_transaction(|work| {
            let known = "SELECT 1 FROM main._resqlite_feeds WHERE name = ?1";
            let name_value = [ValueRef::Text(name.as_bytes())];
            if work.log.feeds.is_none() || work.own::<1>(known, &name_value)?.is_none() {
                return Err(Error::feed_removed(name));
            }
            Ok((true, Wrote::Nothing))
        });
        match looked {
            Err(Error::Sqlite(error)) if error.primary() == codes::BUSY => Ok(false),
            looked => looked.map_err(|error| self.writing.connection.explain_error(error)),
        }
    }

    fn drop_feed(&mut self, name: &str) -> Result<Position> {
        let mut mended = None;
        let newest = self.in_own_transaction(|work| {
            if work.are_feeds_damaged()? {
                mended = Some(work.mend_tables()?);
            }
            let newest = work.head_now()?.position;
            if work.log.feeds.is_none() && mended.is_none() {
                return Ok((newest, Wrote::Nothing));
            }
            let name = ValueRef::Text(name.as_bytes());
            work.own::<0>("DELETE FROM main._resqlite_feeds WHERE name = ?1", &[name])?;
            let left = work.own("SELECT count(*) FROM main._resqlite_feeds", &[])?;
            if left == Some([Some(0)]) {
                work.drop_own_tables(&OWN_TABLES[1..])?;
                mended = None;
                return Ok((newest, Wrote::Tables));
            }
            work.cut_log()?;
            let wrote = mended.as_ref().map_or(Wrote::Something, |_| Wrote::Tables);
            Ok((newest, wrote))
        })?;
        self.log.feeds_taken_at = None;
        if mended.is_some() {
            self.log.feeds = mended;
            self.update_maker();
        }
        Ok(newest)
    }

    fn drop_own_tables(&mut self, tables: &[&str]) -> Result<()> {
        let drop = tables
            .iter()
            .map(|table| format!("DROP TABLE IF EXISTS main.{table};"));
        self.make_own_tables(&drop.collect::<String>())
    }

    fn replace_feeds(&mut self, feeds: &[(FeedOptions, Position)]) -> Result<Position> {
        let newest = self.in_own_transaction(|work| {
            let newest = work.head_now()?.position;
            work.drop_own_tables(&OWN_TABLES[1..])?;
            if !feeds.is_empty() {
                work.make_own_tables(TABLES)?;
            }
            for (FeedOptions { name, keep, .. }, position) in feeds {
                let name = ValueRef::Text(name.as_bytes());
                work.add_feed(name, *position)?;
                work.set_keep(name, &keep.clone().unwrap_or_default())?;
            }
            Ok((newest, Wrote::Tables))
        })?;
        // No gap is logged before the next open reads the new tables, because a gap would be an entry.
        self.log.feeds = None;
        self.update_maker();
        Ok(newest)
    }

    fn forget_position(&mut self) -> Result<Position> {
        self.end_apply();
        self.in_own_transaction(|work| {
            if work.log.feeds.is_some() || work.log.maker.is_some() {
                let message = "the position cannot be forgotten while there are change feeds or an entry gate, which count by it";
                return Err(Error::Option(message.into()));
            }
            let forgotten = work.head_now()?.position;
            work.drop_own_tables(&[POSITION_TABLE])?;
            Ok((forgotten, Wrote::Tables))
        })
    }

    /// Skips a position before a first feed is made. Nothing has counted the commits since the last feed was dropped, so a
    /// consumer that goes on after the old position has missed some.
    fn skip_position(&mut self) -> Result<()> {
        if self.log.uncarried() == Some(Uncarried::Refused) {
            return Ok(()); // a gate counts them
        }
        let head = self.read_head()?;
        if head.position == Position(0) {
            return Ok(()); // nothing was ever counted
        }
        self.write_head(Head {
            position: head.position.next(),
            ..head
        })
    }

    /// Counts the scripts that run (in the column `unlisted`). `commits`: the number of commits that the tables do not count
    /// yet.
    pub(super) fn set_script_runs(&mut self, is_so: bool, commits: u32) -> Result<()> {
        self.in_own_transaction(|work| {
            let set =
                "UPDATE main._resqlite_feed_state SET unlisted = max(unlisted + ?1, 0), other_commits = other_commits + ?2";
            let more = if is_so { 1 } else { -1 };
            work.own::<0>(set, &[more, commits.into()].map(ValueRef::Integer))?;
            if let Some(feeds) = &mut work.log.feeds {
                feeds.uncommitted += i64::from(commits);
            }
            Ok(((), Wrote::Something))
        })
    }

    /// Runs `work` in a transaction that has no entry, except to report a gap.
    fn in_own_transaction<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<(R, Wrote)>) -> Result<R> {
        let done = self.transact(Durability::Normal, |log| {
            let (result, wrote) = work(log)?;
            let entry = match wrote {
                Wrote::Tables => None,
                _ if log.has_gap_to_tell() => log.make_entry(true)?,
                Wrote::Nothing => None,
                Wrote::Something => {
                    log.count_without_entry()?;
                    None
                }
            };
            Ok((result, entry.as_ref().map(Entry::position)))
        });
        done.map(|(result, _)| result)
    }
}

impl Log {
    /// Refuses writes to the tables of feeds while there are feeds. SQL outside of the writer's transactions has no entry that
    /// could be refused.
    pub(super) fn refuse_feed_tables(&self, effects: &Effects) -> Result<()> {
        let is_own = |(schema, table): &&(String, String)| schema == "main" && OWN_TABLES.contains(&&**table);
        match effects.writes.iter().find(is_own) {
            Some((_, table)) if self.feeds.is_some() => {
                let message = format!(
                    "{table} is resqlite's own, and nobody else writes to it while there are change feeds"
                );
                Err(Error::entry(EntryFault::NotCarried, message))
            }
            _ => Ok(()),
        }
    }
}

fn milliseconds_since_1970() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or(Duration::ZERO).as_millis() as i64
}
