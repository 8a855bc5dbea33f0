//! The log as the writer sees it.

use std::{any::Any, cell::RefCell, rc::Rc, sync::Arc};

use resqlite_sqlite::Connection;

use super::{
    external::External,
    feed_state::Feeds,
    job::LogJob,
    maker::{EntryMaker, Uncarried},
};
use crate::{
    core::{
        commit_id::CommitId,
        error::Result,
        options::Durability,
        position::Position,
        sync::{Mutex, lock},
    },
    entries::{Carried, Entry, EntryGate},
    guard::effects::Effects,
    requests::request::{Write, WriteOp},
    writer::{CommitHook, Done, HookJob, HookSource, Wrapping, Writing},
};

/// The entry gate. Only the writer uses it; it is shared so that a replacement writer finds it.
type Gate = Arc<Mutex<Option<Box<dyn EntryGate>>>>;

/// The log of an engine.
#[derive(Default)]
pub(crate) struct LogSource(Gate);

impl HookSource for LogSource {
    fn follow(&self, writing: &mut Writing) -> Box<dyn CommitHook> {
        let mut log = Log {
            gate: Arc::clone(&self.0),
            ..Log::default()
        };
        Work {
            log: &mut log,
            writing,
        }
        .update_maker();
        Box::new(log)
    }

    fn writer_lost(&self) {
        if let Some(gate) = &mut *lock(&self.0) {
            gate.writer_lost();
        }
    }
}

/// The log, for one writer.
#[derive(Default)]
pub(super) struct Log {
    pub(super) gate: Gate,
    /// Draws up the entry of the open transaction, if anybody wants one.
    pub(super) maker: Option<Rc<RefCell<EntryMaker>>>,
    /// The entry that the gate has let pass, until COMMIT has ended.
    passed: Option<Entry>,
    /// The commits of others before the last transaction beside a gate.
    pub(super) external: Option<External>,
    /// The connection is set up to apply entries.
    pub(super) applies: bool,
    /// The writes of the open transaction that have tags.
    pub(super) carried: Vec<Carried>,
    /// Entries that the gate wants to be applied before anything else.
    pub(super) overtaken_by: Vec<Entry>,
    /// The writer's knowledge of the change feeds, while there are any.
    pub(super) feeds: Option<Feeds>,
    /// The last position that this writer had logged when another program removed the feeds, and with them the position in the
    /// database. Perhaps nothing in the database shows that this has happened.
    pub(super) feeds_taken_at: Option<Position>,
    /// The number of the engine's commits before the SQL that runs now, which no entry carries.
    pub(super) unlisted_since: Option<u32>,
}

impl Log {
    /// The fate of a transaction that no entry can carry; `None` if entries are not drawn up.
    pub(super) fn uncarried(&self) -> Option<Uncarried> {
        self.making(|maker| maker.uncarried())
    }

    /// Works on the entry of the open transaction, if it is drawn up. `work` may read from the database, but not write: the hook
    /// of SQLite would find the maker in use.
    pub(super) fn making<R>(&self, work: impl FnOnce(&mut EntryMaker) -> R) -> Option<R> {
        self.maker.as_ref().map(|maker| work(&mut maker.borrow_mut()))
    }
}

/// The log at work on its writer.
pub(super) struct Work<'a> {
    pub(super) log: &'a mut Log,
    pub(super) writing: &'a mut Writing,
}

impl Work<'_> {
    /// Does `work` in a transaction of the log's own. `work` also returns the position of its last entry, if it has one.
    pub(super) fn transact<R>(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&mut Self) -> Result<(R, Option<Position>)>,
    ) -> Result<(R, CommitId)> {
        let begun = self.writing.begin(durability);
        let done = begun
            .and_then(|names_changed| self.begun(names_changed))
            .and_then(|()| work(self))
            .and_then(|(result, position)| Ok((result, self.commit(position)?)));
        done.inspect_err(|_| self.writing.roll_back())
    }

    fn begun(&mut self, names_changed: bool) -> Result<()> {
        if names_changed {
            self.notice_feeds()?;
        }
        // An earlier transaction that was undone may have left these.
        self.log.carried.clear();
        if let Some(feeds) = &mut self.log.feeds {
            feeds.uncommitted = 0;
        }
        self.refuse_external()?;
        self.notice_external_beside_feeds()
    }

    /// Commits a transaction of the log's own. `position`: the position of its last entry.
    pub(super) fn commit(&mut self, position: Option<Position>) -> Result<CommitId> {
        let committed = self.writing.commit(position.map(CommitId::from))?;
        self.committed(position.is_some());
        Ok(committed)
    }

    fn committed(&mut self, has_entry: bool) {
        if let Some(feeds) = &mut self.log.feeds {
            feeds.committed(has_entry);
        }
    }
}

impl CommitHook for Log {
    fn before_callers(&mut self, writing: &mut Writing) {
        Work { log: self, writing }.end_apply();
    }

    fn serve(&mut self, writing: &mut Writing, jobs: Vec<Box<dyn HookJob>>) {
        let mut work = Work { log: self, writing };
        let mut entries = Vec::new();
        let jobs = jobs
            .into_iter()
            .filter_map(|job| (job as Box<dyn Any>).downcast().ok());
        for job in jobs {
            match *job {
                LogJob::Gate { gate, done } => done(work.set_gate(gate)),
                LogJob::Head { base, done } => done(work.head(base)),
                LogJob::Apply { entry, done } => entries.push((entry, done)),
                LogJob::Feed { request, done } => done(work.feed(request)),
                LogJob::LookForExternal { name, done } => done(work.look_for_external(&name)),
            }
        }
        work.apply(entries);
    }

    fn before_unwrapped(&mut self, writing: &mut Writing, op: &WriteOp) -> Result<Wrapping> {
        Work { log: self, writing }.before_unwrapped(op)
    }

    fn after_unwrapped(&mut self, writing: &mut Writing) {
        Work { log: self, writing }.end_unlisted();
    }

    fn begun(&mut self, writing: &mut Writing, names_changed: bool) -> Result<()> {
        Work { log: self, writing }.begun(names_changed)
    }

    fn before_mark(&mut self, writing: &mut Writing) -> Result<()> {
        Work { log: self, writing }.flush_virtual_tables()
    }

    fn before_statement(&mut self, connection: &Connection, effects: &Effects) -> Result<()> {
        self.refuse_feed_tables(effects)?;
        if effects.schema || effects.statistics {
            self.making(|maker| maker.definition_begins(connection))
                .transpose()?;
        }
        Ok(())
    }

    fn before_sets(&mut self, effects: &Effects) -> Result<()> {
        self.refuse_repeated(effects)
    }

    fn after_statement(&mut self, connection: &Connection, effects: &Effects, sql: &str) -> Result<()> {
        self.making(|maker| maker.ran(connection, effects, sql))
            .unwrap_or(Ok(()))
    }

    fn wrote(&mut self, writes: &[&Write], done: &[Result<Done>]) {
        self.note_carried(writes, done);
    }

    fn before_commit(&mut self, writing: &mut Writing, again: bool) -> Result<Option<CommitId>> {
        let passed = Work { log: self, writing }.pass_gate(again)?;
        let id = passed.as_ref().map(|entry| entry.position().into());
        self.passed = passed;
        Ok(id)
    }

    fn after_commit(&mut self, writing: &mut Writing, committed: &mut Result<CommitId>) {
        let passed = self.passed.take();
        let mut work = Work { log: self, writing };
        if committed.is_ok() {
            work.committed(passed.is_some());
        }
        if let Some(entry) = passed {
            work.tell_committed(&entry, committed);
        }
    }

    fn before_failure(&mut self, writing: &mut Writing, again: bool) -> Result<()> {
        Work { log: self, writing }.ask_before_answer(again)
    }

    fn catch_up(&mut self, writing: &mut Writing) -> Result<()> {
        Work { log: self, writing }.apply_overtaking()
    }

    fn is_slow(&self) -> bool {
        self.uncarried() == Some(Uncarried::Refused)
    }

    fn may_rest(&self) -> bool {
        let has_state = self.maker.is_some() || self.feeds.is_some() || self.feeds_taken_at.is_some();
        !has_state && !self.applies && lock(&self.gate).is_none()
    }

    fn before_close(&mut self, writing: &mut Writing) {
        Work { log: self, writing }.log_last_gap();
    }
}
