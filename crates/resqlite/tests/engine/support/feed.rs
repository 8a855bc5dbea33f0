//! Entries of a database, and what a gate says to them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use resqlite::{
    CommitId, Result, ValueRef,
    log::{Entry, EntryGate, Operation, Verdict},
};

use super::{Fixture, block_on};

/// What a gate does before a commit.
type Judge = dyn FnMut(&Entry, Verdict) + Send;

struct Gate {
    judge: Box<Judge>,
    committed: mpsc::Sender<Entry>,
    deadline: Duration,
}

impl EntryGate for Gate {
    fn before_commit(&mut self, entry: &Entry, verdict: Verdict) {
        (self.judge)(entry, verdict);
    }

    fn committed(&mut self, entry: &Entry) {
        // Nobody may be listening any more.
        let _ = self.committed.send(entry.clone());
    }

    fn deadline(&self) -> Duration {
        self.deadline
    }
}

/// A gate that numbers commits.
struct Numbering(mpsc::Sender<Entry>);

impl EntryGate for Numbering {
    fn committed(&mut self, entry: &Entry) {
        let _ = self.0.send(entry.clone());
    }

    fn numbers_commits(&self) -> bool {
        true
    }
}

/// Long enough for any machine.
const LONG: Duration = Duration::from_secs(60);

impl Fixture {
    /// Installs a gate that lets everything pass; returns the entries that are committed from now on.
    pub fn entries(&self) -> Feed {
        self.gate(|_, verdict| {
            verdict.pass();
        })
    }

    /// Installs a gate.
    pub fn gate(&self, judge: impl FnMut(&Entry, Verdict) + Send + 'static) -> Feed {
        self.gate_with(LONG, judge)
    }

    pub fn gate_with(&self, deadline: Duration, judge: impl FnMut(&Entry, Verdict) + Send + 'static) -> Feed {
        let (committed, entries) = mpsc::channel();
        let gate = Gate {
            judge: Box::new(judge),
            committed,
            deadline,
        };
        block_on(self.db.set_entry_gate(Some(Box::new(gate)))).unwrap();
        Feed(entries)
    }

    /// Applies entries of another database.
    pub fn follow(&self, feed: &Feed) {
        for entry in feed.all() {
            block_on(self.db.apply(entry)).unwrap();
        }
    }

    /// Applies entries that wait for the writer together; returns what became of each.
    pub fn apply_together(&self, entries: Vec<Entry>) -> Vec<Result<CommitId>> {
        let holds_the_writer = block_on(self.db.begin(None)).unwrap();
        let (tell, told) = mpsc::channel();
        for (number, entry) in entries.into_iter().enumerate() {
            let tell = tell.clone();
            let done = move |applied| drop(tell.send((number, applied)));
            self.db.engine().apply(entry, Box::new(done));
        }
        drop(tell);
        block_on(holds_the_writer.rollback()).unwrap();
        let told: BTreeMap<_, _> = told.iter().collect();
        told.into_values().collect()
    }

    /// As [`entries`](Self::entries), with a gate that numbers commits.
    pub fn numbered(&self) -> Feed {
        let (committed, entries) = mpsc::channel();
        let gate = Box::new(Numbering(committed));
        block_on(self.db.set_entry_gate(Some(gate))).unwrap();
        Feed(entries)
    }
}

/// The entries that were committed.
pub struct Feed(mpsc::Receiver<Entry>);

impl Feed {
    /// Those since the last call. An entry is there before its write is answered.
    pub fn all(&self) -> Vec<Entry> {
        self.0.try_iter().collect()
    }

    /// The only one since the last call.
    pub fn one(&self) -> Entry {
        let entries = self.all();
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries.into_iter().next().unwrap()
    }

    /// What the only entry since the last call says, in short.
    pub fn told(&self) -> Vec<String> {
        told(&self.one())
    }
}

/// What an entry says, in short.
pub fn told(entry: &Entry) -> Vec<String> {
    entry.operations().map(|operation| shown(&operation)).collect()
}

fn shown(operation: &Operation<'_>) -> String {
    match operation {
        Operation::Insert { table, rowid, new } => {
            format!("+ {} {rowid} {}", table.name, values(&new.values()))
        }
        Operation::Update {
            table,
            old_rowid,
            new_rowid,
            old,
            new,
        } => {
            let (old, new) = (values(&old.values()), values(&new.values()));
            format!("* {} {old_rowid} {old} {new_rowid} {new}", table.name)
        }
        Operation::Delete { table, rowid, old } => {
            format!("- {} {rowid} {}", table.name, values(&old.values()))
        }
        Operation::Clear { table } => format!("0 {}", table.name),
        Operation::Sql(sql) => (*sql).to_owned(),
    }
}

fn values(values: &[ValueRef<'_>]) -> String {
    let shown = values.iter().map(|value| match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(value) => value.to_string(),
        ValueRef::Real(value) => format!("{value:?}"),
        ValueRef::Text(text) => format!("'{}'", String::from_utf8_lossy(text)),
        ValueRef::Blob(blob) => format!("{blob:?}"),
    });
    format!("({})", shown.collect::<Vec<_>>().join(", "))
}

/// A verdict that is given later.
#[derive(Clone, Default)]
pub struct Held(Arc<Mutex<Option<Verdict>>>);

impl Held {
    pub fn keep(&self, verdict: Verdict) {
        *self.0.lock().unwrap() = Some(verdict);
    }

    /// The verdict, if one is asked for.
    pub fn take(&self) -> Option<Verdict> {
        self.0.lock().unwrap().take()
    }

    /// Waits until one is asked for.
    pub fn wait(&self) -> Verdict {
        loop {
            match self.take() {
                Some(verdict) => return verdict,
                None => std::thread::yield_now(),
            }
        }
    }
}
