//! Change feeds: every commit, in order, for consumers that come back.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use resqlite_sqlite::codes;

use crate::{
    api::{
        answers::{Done, answer, query},
        database::Database,
        engine::Engine,
        handle::Handle,
    },
    core::{
        error::{Error, Result},
        limits,
        position::Position,
        value::Value,
    },
    entries::Entry,
    events::{CommitEvent, CommitListener},
    log::LogJob,
    requests::{
        feed::{FeedOptions, FeedRequest, Gap, Keep},
        request::{Format, Outcome, Reply},
    },
    rows::{ColumnLayout, Row, RowBatch, Rows},
};

/// Reads the next commits after `?1`, and the extent of the log, in one snapshot. Returns at least one row. `newest` is NULL if there is
/// no feed named `?4`, or if one of the tables that feeds need is empty.
const READ: &str = "SELECT s.newest, s.oldest, c.position, c.at, c.gap, c.entry
    FROM (SELECT (SELECT p.position FROM main._resqlite_position AS p, main._resqlite_feed_state, main._resqlite_feeds AS f
                WHERE f.name = ?4) AS newest,
            (SELECT min(position) FROM main._resqlite_changes) AS oldest) AS s
        LEFT JOIN main._resqlite_changes AS c
            ON c.position > ?1 AND c.position <= ?1 + ?2
            AND c.bytes <= (SELECT bytes FROM main._resqlite_changes WHERE position = ?1 + 1) + ?3
    ORDER BY c.position";

/// A commit, as a change feed reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedCommit {
    /// The time of the commit, by the clock of the machine.
    pub at: SystemTime,
    /// The reason for a gap, if there is one: something has changed before this commit that neither this entry nor an earlier one
    /// reports. Whatever you keep must then be read again.
    pub gap: Option<Gap>,
    /// The changes of the commit. The position is one more than that of the commit before.
    pub entry: Entry,
}

impl Engine {
    /// Opens a change feed, and makes it if it does not exist. The reply is the position after which to read.
    pub fn open_feed(&self, options: FeedOptions, done: Done<Position>) {
        self.feed(FeedRequest::Open(options), done);
    }

    /// Notes that the consumer of a feed needs nothing up to this position any more.
    pub fn acknowledge(&self, name: String, position: Position, done: Done<Position>) {
        self.feed(FeedRequest::Acknowledge { name, position }, done);
    }

    /// Notes that nothing up to this position concerns the consumer of a feed, who has acknowledged everything it was told. So these
    /// commits need not be kept, and a consumer that goes on after the last position it was told of has missed nothing.
    pub fn skip(&self, name: String, position: Position, done: Done<Position>) {
        self.feed(FeedRequest::Skip { name, position }, done);
    }

    /// Finds out whether a program that keeps no feeds has written; the feed then reports a gap. The reply is `false` if another process
    /// has the lock, so that nothing could be found out.
    pub fn look_for_external(&self, name: String, done: Done<bool>) {
        self.push(LogJob::LookForExternal { name, done }.into());
    }

    /// Removes a feed.
    pub fn drop_feed(&self, name: String, done: Done<Position>) {
        self.feed(FeedRequest::Drop { name }, done);
    }

    /// Replaces all feeds with these feeds, each acknowledged up to its position.
    pub fn replace_feeds(&self, feeds: Vec<(FeedOptions, Position)>, done: Done<Position>) {
        self.feed(FeedRequest::Replace(feeds), done);
    }

    fn feed(&self, request: FeedRequest, done: Done<Position>) {
        self.push(LogJob::Feed { request, done }.into());
    }

    /// Reads the next commits after this position: those that exist now, and a limited number at a time.
    pub fn read_feed(&self, name: String, after: Position, done: Done<Vec<FeedCommit>>) {
        let numbers = [after.0, limits::FEED_READ_COMMITS, limits::FEED_READ_BYTES];
        let numbers = numbers.map(|number| Value::Integer(number as i64));
        let params = numbers.into_iter().chain([Value::Text(name.clone())]);
        let reply = Reading {
            name,
            after,
            rows: Rows::default(),
            done,
        };
        self.select(
            query(READ, params.collect::<Vec<_>>().into(), Format::Rows),
            Box::new(reply),
        );
    }
}

/// Collects commits that are being read.
struct Reading {
    name: String,
    after: Position,
    rows: Rows,
    done: Done<Vec<FeedCommit>>,
}

impl Reply for Reading {
    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool {
        self.rows.extend(layout, &batch.to_bytes());
        true
    }

    fn finish(self: Box<Self>, outcome: Result<Outcome<'_>>) {
        let Self {
            name,
            after,
            mut rows,
            done,
        } = *self;
        done(match outcome {
            Ok(Outcome::Rows { layout, last, .. }) => {
                rows.extend(layout, &last.to_bytes());
                commits(&name, after, &rows)
            }
            Ok(_) => Err(Error::WorkerDied),
            // The tables of the feeds do not exist any more.
            Err(Error::Sqlite(error)) if error.code() == codes::ERROR => Err(Error::feed_removed(&name)),
            Err(error) => Err(error),
        });
    }
}

fn commits(name: &str, after: Position, rows: &Rows) -> Result<Vec<FeedCommit>> {
    let commits: Vec<_> = rows.iter().filter_map(commit).collect::<Result<_>>()?;
    let position = |value: &Value| match value {
        Value::Integer(number) => Some(Position(*number as u64)),
        _ => None,
    };
    let log = rows
        .first()
        .map(|row| (position(&row.values()[0]), position(&row.values()[1])));
    match log {
        Some((None, _)) => Err(Error::feed_removed(name)),
        Some((Some(newest), _)) if newest < after => Err(Error::feed_is_older(name, after, newest)),
        Some((Some(newest), oldest)) if commits.is_empty() && newest > after => {
            Err(Error::feed_lost(name, after, oldest.unwrap_or(newest.next())))
        }
        _ => Ok(commits),
    }
}

/// Returns the feed of a row, with the position that its consumer has acknowledged.
fn known_feed(row: Row<'_>) -> Option<(FeedOptions, Position)> {
    let [Value::Text(name), position, commits, bytes, age] = row.values() else {
        return None;
    };
    let number = |value: &Value| match value {
        Value::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    };
    let options = FeedOptions {
        keep: Some(Keep {
            commits: number(commits),
            bytes: number(bytes),
            age: number(age).map(Duration::from_millis),
        }),
        ..FeedOptions::named(name.to_string())
    };
    Some((options, Position(number(position)?)))
}

/// Returns the commit of a row of [`READ`], if the row has one.
fn commit(row: Row<'_>) -> Option<Result<FeedCommit>> {
    let [_, _, _, Value::Integer(at), gap, Value::Blob(entry)] = row.values() else {
        return None;
    };
    let gap = match gap {
        Value::Text(name) => Some(Gap::named(name).unwrap_or(Gap::Unlisted)),
        _ => None,
    };
    Some(Entry::from_bytes(entry).map(|entry| FeedCommit {
        at: UNIX_EPOCH + Duration::from_millis(u64::try_from(*at).unwrap_or(0)),
        gap,
        entry,
    }))
}

/// Every commit to the main database, in order, for a consumer that has a name: what [`Database::feed`] returns.
pub struct ChangeFeed {
    handle: Arc<Handle>,
    listener: CommitListener,
    name: String,
    /// The position of the last commit that was read.
    read: Position,
    /// Commits that were read, but not returned yet.
    ready: VecDeque<FeedCommit>,
    /// States that the writer has looked for commits of other programs, both since the feed was opened and since the last event that
    /// reported one.
    has_looked: bool,
}

impl ChangeFeed {
    /// Returns the position of the commit that [`next`](Self::next) returned last. At first, this is the position after which the feed
    /// begins.
    pub fn position(&self) -> Position {
        let next = self.ready.front();
        next.map_or(self.read, |next| next.entry.position().before())
    }

    /// Waits for the next commit. A commit that was not [acknowledged](Self::acknowledge) is returned again when the feed is opened
    /// again.
    ///
    /// # Errors
    /// [`Error::FeedLost`], [`Error::Closed`], SQLite's.
    pub async fn next(&mut self) -> Result<FeedCommit> {
        loop {
            if let Some(commit) = self.ready.pop_front() {
                return Ok(commit);
            }
            let (name, after, engine) = (self.name.clone(), self.read, self.handle.engine());
            self.ready = answer(|done| engine.read_feed(name, after, done)).await?.into();
            match self.ready.back() {
                Some(last) => self.read = last.entry.position(),
                None => self.wait().await?,
            }
        }
    }

    /// Waits until something was committed.
    async fn wait(&mut self) -> Result<()> {
        if self.has_looked {
            let event: CommitEvent = answer(|done| self.listener.next(done)).await?;
            self.has_looked = !event.is_external;
        } else {
            // A commit of another program has no entry. The writer finds such a commit, and logs a gap. While another process has the
            // lock, the writer waits as long as the busy timeout, and finds out nothing.
            let (name, engine) = (self.name.clone(), self.handle.engine());
            self.has_looked = answer(|done| engine.look_for_external(name, done)).await?;
        }
        Ok(())
    }

    /// Notes that the consumer needs nothing up to this position any more. A position before the one acknowledged last changes nothing.
    ///
    /// # Errors
    /// [`Error::Option`] if no commit has the position yet; [`Error::FeedLost`] if the feed was removed; SQLite's.
    pub async fn acknowledge(&mut self, position: Position) -> Result<()> {
        let name = self.name.clone();
        let acknowledged = answer(|done| self.handle.engine().acknowledge(name, position, done));
        acknowledged.await.map(drop)
    }
}

impl Database {
    /// Opens a change feed. It returns, exactly and in order, every commit that this library makes to the main database from now on. Each
    /// commit is recorded in its own transaction, and kept until the consumer of this name has acknowledged it, even if the process ends
    /// in between. All processes that write must have a version of this library that supports feeds. Changes that other programs write
    /// appear as a [`Gap`].
    ///
    /// ```
    /// # use resqlite::{Database, Options, feeds::FeedOptions, log::Operation};
    /// # pollster::block_on(async {
    /// # let db = Database::open(":memory:", Options::default()).await?;
    /// # db.exec("CREATE TABLE t(a)").await?;
    /// let mut feed = db.feed(FeedOptions::named("index")).await?;
    /// db.execute("INSERT INTO t VALUES (7)", ()).await?;
    ///
    /// let commit = feed.next().await?;
    /// assert!(matches!(commit.entry.operations().next(), Some(Operation::Insert { .. })));
    /// feed.acknowledge(commit.entry.position()).await?;
    /// # drop(feed);
    /// # db.close().await
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`Error::FeedLost`] if the commits with which the feed should begin are not kept any more; [`Error::ReadOnly`]; SQLite's.
    pub async fn feed(&self, options: FeedOptions) -> Result<ChangeFeed> {
        let (handle, name) = (Arc::clone(self.handle()), options.name.clone());
        // The listener begins before the first look, so that no commit goes unnoticed.
        let listener = handle.engine().listen_to_commits(None);
        let after = answer(|done| handle.engine().open_feed(options, done)).await?;
        Ok(ChangeFeed {
            handle,
            listener,
            name,
            read: after,
            ready: VecDeque::new(),
            has_looked: false,
        })
    }

    /// Returns the change feeds, with how much is kept for each, and the positions up to which their consumers have acknowledged.
    ///
    /// # Errors
    /// SQLite's.
    pub async fn feeds(&self) -> Result<Vec<(FeedOptions, Position)>> {
        let are_there = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = '_resqlite_feeds'";
        if self.select(are_there, ()).await?.is_empty() {
            return Ok(Vec::new());
        }
        let all = "SELECT name, position, keep_commits, keep_bytes, keep_age FROM main._resqlite_feeds";
        let rows = self.select(all, ()).await?;
        Ok(rows.iter().filter_map(known_feed).collect())
    }

    /// Gives this copy the feeds of the database that it replaces, with what their consumers have acknowledged. The feeds that the copy
    /// had are removed. If a consumer lacks commits that the copy does not log, it is told so when it comes back. Write nothing else to
    /// the copy before this call, and close the copy afterwards.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; SQLite's.
    pub async fn replace_feeds(&self, feeds: Vec<(FeedOptions, Position)>) -> Result<()> {
        answer(|done| self.engine().replace_feeds(feeds, done))
            .await
            .map(drop)
    }

    /// Removes the change feed of this name: nothing is kept for it any more. If there is none, nothing happens.
    ///
    /// # Errors
    /// [`Error::ReadOnly`]; SQLite's.
    pub async fn drop_feed(&self, name: &str) -> Result<()> {
        answer(|done| self.engine().drop_feed(name.into(), done))
            .await
            .map(drop)
    }
}
