//! The entry of a transaction: drawn up while its statements run, and shown to the gate before COMMIT.

use std::{slice, sync::Arc};

use super::{
    client::{Log, Work},
    maker::{Sealed, Uncarried},
};
use crate::{
    core::{
        commit_id::CommitId,
        error::{EntryFault, Error, Result},
        options::Durability,
        sync::lock,
    },
    entries::{Carried, Entry, EntryGate, Head, Judged, verdict},
    guard::effects::Effects,
    requests::request::Write,
    writer::Done,
};

/// Returns the error for something that cannot be done beside an entry gate.
pub(super) fn refused_beside_gate(what: &str) -> Error {
    let message = format!(
        "{what} is refused beside an entry gate, as on a node of a cluster: no entry could carry what it does"
    );
    Error::entry(EntryFault::NotCarried, message)
}

impl Work<'_> {
    /// Installs a gate, or removes it. Returns the head at which it begins.
    pub(super) fn set_gate(&mut self, gate: Option<Box<dyn EntryGate>>) -> Result<Head> {
        self.end_apply();
        let head = if gate.is_some() {
            self.writing.begin_to_record_rows()?;
            self.prepare_head()?
        } else {
            self.head_now()?
        };
        if gate.as_ref().is_some_and(|gate| gate.numbers_commits()) {
            self.writing.commits.begin_positions(head.position.into());
        }
        *lock(&self.log.gate) = gate;
        self.update_maker();
        Ok(head)
    }

    /// Makes the table of the position, if it is missing.
    fn prepare_head(&mut self) -> Result<Head> {
        if !self.writing.context.epoch.has_no_attachments() {
            let message = "databases are attached, and no entry carries what changes in them";
            return Err(Error::entry(EntryFault::NotCarried, message));
        }
        // The position begins after what others have written until now.
        self.log.external = None;
        let made = self.transact(Durability::Normal, |work| {
            work.log.external = Some(work.external(Some(0))?);
            work.make_position_table()?;
            Ok((work.read_head()?, None))
        });
        made.map(|(head, _)| head)
    }

    /// Refuses to go on if others have written to the file, which is not allowed beside a gate. Called when the write lock is
    /// held. After an error the caller rolls back.
    pub(super) fn refuse_external(&mut self) -> Result<()> {
        if self.log.uncarried() != Some(Uncarried::Refused) || lock(&self.log.gate).is_none() {
            return Ok(());
        }
        let now = self.external(Some(0))?;
        if self.log.external.is_none_or(|before| !now.is_news_since(&before)) {
            self.log.external = Some(now);
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

    /// Makes the position void by a changed hash. Called in an open transaction, which this commits.
    fn spoil_position(&mut self) -> Result<()> {
        let mut at = self.read_head()?;
        at.hash.0.iter_mut().for_each(|byte| *byte = !*byte);
        self.write_head(at)?;
        self.commit(None).map(drop)
    }

    /// Makes virtual tables write what they hold back. Called before a mark, and before the entry is sealed. FTS keeps what it
    /// must write in memory, and writes it at a savepoint or at COMMIT. Nothing from before the mark may be written after it.
    pub(super) fn flush_virtual_tables(&mut self) -> Result<()> {
        if self.log.maker.is_none() {
            return Ok(());
        }
        self.writing.know_tables()?;
        if self.log.making(|maker| maker.has_virtual_tables()) == Some(true) {
            self.writing.control("SAVEPOINT resqlite_flush")?;
            self.writing.control("RELEASE resqlite_flush")?;
        }
        Ok(())
    }

    /// Makes the entry of the open transaction, and waits for the gate's verdict. Returns `None` if the transaction needs no
    /// entry.
    pub(super) fn pass_gate(&mut self, again: bool) -> Result<Option<Entry>> {
        if self.log.maker.is_none() {
            return Ok(None);
        }
        // With deferred violations, COMMIT will fail, and the entry must not be in a log.
        let entry = if self.writing.connection.sqlite.has_deferred_violations() {
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

    /// Makes the entry of the open transaction, moves the position on, and logs the entry for the feeds. Returns `None` if the
    /// transaction needs no entry. If such a transaction may write pages nevertheless, the feeds count it. `always`: the
    /// transaction needs an entry even if it changed nothing.
    pub(super) fn make_entry(&mut self, always: bool) -> Result<Option<Entry>> {
        let Some(maker) = self.log.maker.clone() else {
            return Ok(None);
        };
        self.flush_virtual_tables()?;
        let sealed = maker.borrow_mut().seal(&self.writing.connection.sqlite)?;
        match sealed {
            Sealed::Unchanged if !always => return Ok(None),
            Sealed::PagesOnly if !always => {
                self.count_without_entry()?;
                return Ok(None);
            }
            _ => {}
        }
        let head = self.read_head()?;
        let entry = maker.borrow().draft.entry(head.position.next(), head.hash);
        self.write_head(Head::of(&entry))?;
        self.log_entry(&entry, sealed != Sealed::Gap)?;
        maker.borrow().refuse_late()?;
        Ok(Some(entry))
    }

    fn ask_gate(&mut self, entry: &Entry) -> Result<()> {
        let carried = std::mem::take(&mut self.log.carried);
        let context = Arc::clone(&self.log.gate);
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
        let context = Arc::clone(&self.log.gate);
        let mut gate = lock(&context);
        let Some(gate) = &mut *gate else {
            return Ok(());
        };
        let at = self.read_head()?;
        let (verdict, wait) = verdict(gate.deadline());
        gate.before_answer(at, again, verdict);
        self.take_judgement(wait())
    }

    fn take_judgement(&mut self, judged: Judged) -> Result<()> {
        match judged {
            Judged::Passed => Ok(()),
            Judged::Refused(error) => Err(error),
            Judged::Overtaken(by) => {
                self.log.overtaken_by = by;
                let message = "the log has entries of others that this transaction has not seen, so it was rolled back: run it \
                               again";
                Err(Error::entry(EntryFault::Overtaken, message))
            }
        }
    }

    /// Applies the entries by which a transaction was overtaken.
    ///
    /// # Errors
    /// The reason why one of the entries could not be applied. The gate has been told.
    pub(super) fn apply_overtaking(&mut self) -> Result<()> {
        let entries = std::mem::take(&mut self.log.overtaken_by);
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
        if let Some(gate) = &mut *lock(&self.log.gate) {
            tell(&mut **gate);
        }
    }

    /// Tells the gate how COMMIT has ended, for a transaction whose entry had passed the gate.
    pub(super) fn tell_committed(&mut self, entry: &Entry, committed: &mut Result<CommitId>) {
        self.tell_gate(|gate| match committed {
            Ok(_) => gate.committed(entry),
            Err(_) => gate.failed(entry),
        });
        if let Err(error) = committed {
            if let Some(Err(late)) = self.log.making(|maker| maker.refuse_late()) {
                *error = late;
            }
            // Where nobody else has the entry, it is undone.
            if self.log.uncarried() == Some(Uncarried::Refused) {
                let message = format!("the entry has passed the gate, and then COMMIT failed: {error}");
                *error = Error::entry(EntryFault::NotCommitted, message);
            }
        }
    }
}

impl Log {
    /// Refuses a statement that runs once per set of parameters, if it would be carried only once.
    pub(super) fn refuse_repeated(&self, effects: &Effects) -> Result<()> {
        let is_once = effects.schema || effects.unreported.is_some();
        let what = "a batch of a statement that changes the schema or a savepoint";
        match self.uncarried() {
            Some(Uncarried::Refused) if is_once => Err(refused_beside_gate(what)),
            Some(Uncarried::Gap) if is_once => {
                self.making(|maker| maker.refuse(what.into()));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Notes the writes with tags that the open transaction has.
    pub(super) fn note_carried(&mut self, writes: &[&Write], done: &[Result<Done>]) {
        if self.maker.is_none() {
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
}
