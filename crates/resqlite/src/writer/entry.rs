//! The entry of a transaction: drawn up while its statements run, and shown to the gate before COMMIT.

use std::{slice, sync::Arc};

use sqlite3_parser::dialect::TokenType::{TK_ATTACH, TK_DETACH, TK_INTO, TK_PRAGMA, TK_SEMI, TK_VACUUM};

use super::{Writer, job::GateJob, unit::Done};
use crate::{
    commits::{Sealed, Uncarried, recorder::Recorder},
    core::{
        error::{EntryFault, Error, Result},
        options::Durability,
        sync::lock,
        tokens::tokens,
    },
    entries::{Carried, Entry, EntryGate, Judged, Position, verdict},
    guard::{effects::Effects, pragmas},
    requests::request::{Write, WriteOp},
};

/// How SQL that cannot share a transaction runs where entries are drawn up.
pub(super) enum Alone {
    /// As always: it changes nothing that an entry carries.
    AsIs,
    /// In a transaction of its own.
    Wrapped,
    /// No entry can carry what it may commit.
    NotCarried(&'static str),
    /// It changes which databases there are, and nothing in this one.
    Attaches,
}

impl Alone {
    /// How this SQL runs.
    pub(super) fn of(op: &WriteOp) -> Self {
        let sql = match op {
            WriteOp::Script(_) => {
                return Self::NotCarried("a script with PRAGMA, VACUUM, ATTACH or transactions of its own");
            }
            op => op.sql().map_or("", |sql| sql),
        };
        Self::of_statement(sql)
    }

    fn of_statement(sql: &str) -> Self {
        let mut words = tokens(sql).filter(|(token, _)| *token != TK_SEMI);
        match words.next().map(|(token, _)| token) {
            Some(TK_PRAGMA) => {
                // PRAGMA name, or PRAGMA schema.name
                let mut names = words.filter_map(|(_, text)| std::str::from_utf8(text).ok());
                let first = names.next().unwrap_or_default();
                let name = match names.next() {
                    Some(".") => names.next().unwrap_or_default(),
                    _ => first,
                };
                if pragmas::may_write(name.trim_matches(['"', '`', '[', ']', '\''])) {
                    Self::Wrapped
                } else {
                    Self::AsIs
                }
            }
            Some(TK_VACUUM) if words.any(|(token, _)| token == TK_INTO) => Self::AsIs,
            Some(TK_VACUUM) => Self::NotCarried("VACUUM"),
            Some(TK_ATTACH | TK_DETACH) => Self::Attaches,
            _ => Self::NotCarried("SQL that manages transactions"),
        }
    }
}

/// The error of what cannot be done beside an entry gate.
pub(super) fn refused_beside_gate(what: &str) -> Error {
    let message = format!(
        "{what} is refused beside an entry gate, as on a node of a cluster: no entry could carry what it does"
    );
    Error::entry(EntryFault::NotCarried, message)
}

impl Writer {
    /// Installs a gate, or removes it.
    pub(super) fn set_gate(&mut self, job: GateJob) {
        let is_on = job.gate.is_some();
        let position = if is_on {
            self.begin_to_record_rows().and_then(|()| self.prepare_position())
        } else {
            self.position_now()
        };
        if let Ok(position) = &position {
            if job.gate.as_ref().is_some_and(|gate| gate.numbers_commits()) {
                self.commits.begin_positions(position.position);
            }
            *lock(&self.context.gate) = job.gate;
            self.update_export();
        }
        (job.done)(position);
    }

    /// Makes the table of the position, if it is missing.
    fn prepare_position(&mut self) -> Result<Position> {
        if !self.context.epoch.has_no_attachments() {
            let message = "databases are attached, and no entry carries what changes in them";
            return Err(Error::entry(EntryFault::NotCarried, message));
        }
        // What others have written by now is where the position begins.
        self.external = None;
        self.begin(Durability::Normal)?;
        self.external = Some(self.external(Some(0))?);
        let made = self.make_position_table().and_then(|()| self.read_position());
        match made.and_then(|position| self.commit_now(None).map(|_| position)) {
            Ok(position) => Ok(position),
            Err(error) => {
                self.roll_back();
                Err(error)
            }
        }
    }

    /// Beside a gate, nobody else may write to the file. Called when the write lock is held. After an error the caller rolls back.
    pub(super) fn refuse_external(&mut self) -> Result<()> {
        if self.recorder.uncarried() != Some(Uncarried::Refused) || lock(&self.context.gate).is_none() {
            return Ok(());
        }
        let now = self.external(Some(0))?;
        if self.external.is_none_or(|before| !now.is_news_since(&before)) {
            self.external = Some(now);
            return Ok(());
        }
        let mut spoils = false;
        self.tell_gate(|gate| spoils = gate.wrote_external());
        if spoils {
            self.spoil_position()?;
        }
        let message = "another program, or another copy of SQLite, has written to the database, and no entry carries that; \
                       nothing more is written until the entry gate is installed again";
        Err(Error::entry(EntryFault::NotCarried, message))
    }

    /// In an open transaction, which this commits.
    fn spoil_position(&mut self) -> Result<()> {
        let mut at = self.read_position()?;
        at.hash.0.iter_mut().for_each(|byte| *byte = !*byte);
        self.write_position(at)?;
        self.commit_now(None).map(drop)
    }

    /// Before a mark, and before the entry is sealed: FTS keeps what it must write in memory, and writes it at a savepoint or
    /// at COMMIT. Here nothing of it may be later than what the mark separates.
    pub(super) fn flush_virtual_tables(&mut self) -> Result<()> {
        if !self.recorder.exports() {
            return Ok(());
        }
        self.recorder.know_tables(&self.connection.sqlite)?;
        if self.recorder.has_virtual_tables()? {
            self.control("SAVEPOINT resqlite_flush")?;
            self.control("RELEASE resqlite_flush")?;
        }
        Ok(())
    }

    /// A statement of this text has run.
    pub(super) fn has_run(&mut self, effects: &Effects, sql: &str) -> Result<()> {
        if let Some(unreported) = &effects.unreported {
            self.recorder.follow(unreported);
        }
        if !self.recorder.exports() {
            return Ok(());
        }
        self.recorder.ran(&self.connection.sqlite, effects, sql)
    }

    /// A statement that runs once per set of parameters is carried once.
    pub(super) fn refuse_repeated(&self, effects: &Effects) -> Result<()> {
        let is_once = effects.schema || effects.unreported.is_some();
        let what = "a batch of a statement that changes the schema or a savepoint";
        match self.recorder.uncarried() {
            Some(Uncarried::Refused) if is_once => Err(refused_beside_gate(what)),
            Some(Uncarried::Gap) if is_once => self.recorder.refuse(what),
            _ => Ok(()),
        }
    }

    /// Makes the entry of the open transaction, and waits for the verdict. `None` if the transaction needs no entry.
    pub(super) fn pass_gate(&mut self, again: bool) -> Result<Option<Entry>> {
        if !self.recorder.exports() {
            return Ok(None);
        }
        // COMMIT will fail then, and the entry must not be in a log.
        let entry = if self.connection.sqlite.has_deferred_violations() {
            None
        } else {
            self.make_entry(self.has_gap_to_tell())?
        };
        match &entry {
            Some(entry) => self.ask_gate(entry)?,
            None => self.ask_before_answer(again)?,
        }
        Ok(entry)
    }

    /// Makes the entry of the open transaction, moves the position on, and logs it for the feeds. `None` if the transaction
    /// needs no entry: if it may write pages nevertheless, the feeds count it without one. `always`: it needs one even if it changed
    /// nothing.
    pub(super) fn make_entry(&mut self, always: bool) -> Result<Option<Entry>> {
        self.flush_virtual_tables()?;
        let sealed = self.recorder.seal(&self.connection.sqlite)?;
        match sealed {
            Sealed::Unchanged if !always => return Ok(None),
            Sealed::PagesOnly if !always => {
                self.count_without_entry()?;
                return Ok(None);
            }
            _ => {}
        }
        let position = self.read_position()?;
        let Some(entry) = self.recorder.entry(position.position + 1, position.hash)? else {
            return Ok(None);
        };
        self.write_position(Position::of(&entry))?;
        self.log_entry(&entry, sealed != Sealed::Gap)?;
        refuse_late(&self.recorder)?;
        Ok(Some(entry))
    }

    fn ask_gate(&mut self, entry: &Entry) -> Result<()> {
        let carried = std::mem::take(&mut self.carried);
        let context = Arc::clone(&self.context.gate);
        let mut gate = lock(&context);
        let Some(gate) = &mut *gate else {
            return Ok(());
        };
        if !carried.is_empty() {
            gate.carries(&carried);
        }
        let (verdict, wait) = verdict(gate.deadline());
        gate.before_commit(entry, verdict);
        self.take_judgement(wait())
    }

    /// Asks the gate whether writes without an entry have seen the newest state. `again`: as in
    /// [`EntryGate::before_answer`].
    pub(super) fn ask_before_answer(&mut self, again: bool) -> Result<()> {
        let context = Arc::clone(&self.context.gate);
        let mut gate = lock(&context);
        let Some(gate) = &mut *gate else {
            return Ok(());
        };
        let at = self.read_position()?;
        let (verdict, wait) = verdict(gate.deadline());
        gate.before_answer(at, again, verdict);
        self.take_judgement(wait())
    }

    fn take_judgement(&mut self, judged: Judged) -> Result<()> {
        match judged {
            Judged::Passed => Ok(()),
            Judged::Refused(error) => Err(error),
            Judged::Overtaken(by) => {
                self.overtaken_by = by;
                let message = "the log has entries of others that this transaction has not seen, so it was rolled back: run it \
                               again";
                Err(Error::entry(EntryFault::Overtaken, message))
            }
        }
    }

    /// Notes which writes with tags the open transaction has.
    pub(super) fn note_carried(&mut self, writes: &[&Write], done: &[Result<Done>]) {
        if !self.recorder.exports() {
            return;
        }
        let carried = writes.iter().zip(done).filter_map(|(write, done)| {
            let (tag, done) = (write.tag?, done.as_ref().ok()?);
            Some(match done {
                Done::Write(rows, written) => Carried {
                    tag,
                    changes: written.changes,
                    last_insert_rowid: written.last_insert_rowid,
                    has_more: !rows.is_empty(),
                },
                Done::Results(_) => Carried {
                    tag,
                    changes: 0,
                    last_insert_rowid: 0,
                    has_more: true,
                },
            })
        });
        self.carried.clear();
        self.carried.extend(carried);
    }

    /// Applies the entries by which a transaction was overtaken.
    ///
    /// # Errors
    /// Why one of them could not be. The gate knows.
    pub(super) fn apply_overtaking(&mut self) -> Result<()> {
        let entries = std::mem::take(&mut self.overtaken_by);
        let applied = entries.iter().try_for_each(|entry| {
            self.try_to_apply(slice::from_ref(entry))
                .map(drop)
                .inspect_err(|error| {
                    self.tell_gate(|gate| gate.not_applied(entry, error));
                })
        });
        self.end_apply();
        applied
    }

    pub(super) fn tell_gate(&self, tell: impl FnOnce(&mut dyn EntryGate)) {
        if let Some(gate) = &mut *lock(&self.context.gate) {
            tell(&mut **gate);
        }
    }
}

/// Something changes when the position does: a trigger on its table, for example.
pub(super) fn refuse_late(recorder: &Recorder) -> Result<()> {
    if recorder.is_late()? {
        let message = "something changed after the entry was made: a trigger on the table of the position, or a virtual table \
                       that writes at COMMIT, as FTS4 does with automerge";
        return Err(Error::entry(EntryFault::NotCarried, message));
    }
    Ok(())
}
