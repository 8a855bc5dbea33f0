//! From SQLite's pre-update hook to the commit log: what the open unit changes, decoded as far as somebody asked.

use std::{
    cell::RefCell,
    collections::HashMap,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use resqlite_live::{
    ChangeSet, ColumnSet, Columns, Commit, CommitLog, Detail, Interest, Key, Mark, Overflow, RowChange,
    TableName, Value,
};
use resqlite_sqlite::{Connection, PreUpdate, RowOperation, ValueRef};

use crate::{
    error::Result,
    sync::{Mutex, lock},
};

/// The commit log of an engine, and who asks for how much detail.
pub(crate) struct Commits {
    log: Mutex<CommitLog>,
    last: AtomicU64,
    interest: Mutex<Arc<Interest>>,
}

impl Default for Commits {
    fn default() -> Self {
        Self {
            log: Mutex::new(CommitLog::new()),
            last: AtomicU64::new(0),
            interest: Mutex::default(),
        }
    }
}

impl Commits {
    /// The number of the newest commit; 0 before the first.
    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    /// The commits after number `sequence`.
    pub(crate) fn since(&self, sequence: u64) -> Result<Vec<Commit>, Overflow> {
        lock(&self.log)
            .since(sequence)
            .map(|commits| commits.cloned().collect())
    }

    /// Changes what is asked for; commits that begin later are decoded accordingly.
    pub(crate) fn change_interest(&self, change: impl FnOnce(&mut Interest)) {
        change(Arc::make_mut(&mut lock(&self.interest)));
    }

    fn interest(&self) -> Arc<Interest> {
        Arc::clone(&lock(&self.interest))
    }

    /// The writer's connection was lost in the middle of something: anything may have been committed.
    pub(crate) fn record_unknown(&self) {
        let mut changes = ChangeSet::new();
        changes.record_everything_changed();
        self.append(&mut changes);
    }

    fn append(&self, changes: &mut ChangeSet) -> u64 {
        if changes.is_empty() {
            changes.clear();
            return self.last();
        }
        let sequence = lock(&self.log).append(changes.finish());
        self.last.store(sequence, Ordering::Release);
        sequence
    }
}

/// Records what happens on the writer's connection. Shared with the hook; one thread only.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    changes: ChangeSet,
    interest: Arc<Interest>,
    /// By schema, then table. Empty: to be read before the next write.
    tables: HashMap<String, HashMap<String, Rc<Facts>>>,
    /// The open transaction has changed the schema, so undoing part of it may bring other tables back.
    schema_touched: bool,
    /// The table of the last event; rows of one table mostly come in a row.
    latest: Option<Latest>,
}

struct Latest {
    schema: String,
    table: String,
    facts: Rc<Facts>,
    detail: Detail,
}

/// What is known about a table.
struct Facts {
    /// Whose change it is: for a shadow table, of its virtual table.
    name: TableName,
    keys: KeyForm,
}

enum KeyForm {
    Rowid,
    /// Primary-key columns in key order, of a table without rowids.
    Columns(Vec<usize>),
    Unknown,
}

impl Recorder {
    /// Installs the hook. Nothing may have been prepared on the connection.
    pub(crate) fn install(&self, connection: &Connection) {
        let state = Rc::clone(&self.0);
        connection.set_preupdate_hook(move |event| state.borrow_mut().record(event));
    }

    /// A commit begins: from now on changes are decoded as far as is asked now.
    pub(crate) fn begin(&self, commits: &Commits) {
        let mut state = self.0.borrow_mut();
        state.changes.clear();
        state.schema_touched = false;
        let interest = commits.interest();
        if !Arc::ptr_eq(&interest, &state.interest) {
            state.interest = interest;
            state.latest = None;
        }
    }

    /// A point that [`rollback_to`](Self::rollback_to) goes back to.
    pub(crate) fn mark(&self) -> Mark {
        self.0.borrow_mut().changes.mark()
    }

    /// SQLite undid what came after the mark.
    pub(crate) fn rollback_to(&self, mark: Mark) {
        let mut state = self.0.borrow_mut();
        state.changes.rollback_to(mark);
        state.forget_if_touched();
    }

    /// SQLite undid everything.
    pub(crate) fn discard(&self) {
        let mut state = self.0.borrow_mut();
        state.changes.clear();
        state.forget_if_touched();
    }

    /// Somebody else changed the schema; tables may mean something else now.
    pub(crate) fn forget_tables(&self) {
        self.0.borrow_mut().forget_tables();
    }

    /// SQLite has committed: the number under which the log has it.
    pub(crate) fn commit(&self, commits: &Commits) -> u64 {
        commits.append(&mut self.0.borrow_mut().changes)
    }

    /// A statement changed the schema; tables may mean something else now.
    pub(crate) fn schema_changed(&self) {
        let mut state = self.0.borrow_mut();
        state.changes.record_schema_changed();
        state.schema_touched = true;
        state.forget_tables();
    }

    /// Anything may have changed.
    pub(crate) fn everything_changed(&self) {
        let mut state = self.0.borrow_mut();
        state.changes.record_everything_changed();
        state.schema_touched = true;
        state.forget_tables();
    }

    /// Reads the tables of the database, if they are not known. Call it before a statement writes: inside the hook
    /// it would be too late.
    pub(crate) fn know_tables(&self, connection: &Connection) -> Result<()> {
        if self.0.borrow().tables.is_empty() {
            let tables = read_tables(connection)?;
            self.0.borrow_mut().tables = tables;
        }
        Ok(())
    }
}

impl State {
    fn forget_if_touched(&mut self) {
        if self.schema_touched {
            self.forget_tables();
        }
    }

    fn forget_tables(&mut self) {
        self.tables.clear();
        self.latest = None;
    }

    fn record(&mut self, event: &PreUpdate<'_>) {
        if event.table.is_empty() {
            // A name that is no UTF-8 cannot be told from others.
            return self.changes.record_everything_changed();
        }
        let known = self
            .latest
            .as_ref()
            .is_some_and(|latest| latest.table == event.table && latest.schema == event.schema);
        if !known {
            self.latest = Some(self.look_up(event.schema, event.table));
        }
        let Some(Latest { facts, detail, .. }) = &self.latest else {
            return;
        };
        let change = decode(event, &facts.keys, *detail);
        self.changes.record(&facts.name, change);
    }

    fn look_up(&self, schema: &str, table: &str) -> Latest {
        let known = self.tables.get(schema).and_then(|tables| tables.get(table));
        let facts = known.cloned().unwrap_or_else(|| {
            Rc::new(Facts {
                name: TableName::new(schema, table),
                keys: KeyForm::Unknown,
            })
        });
        let detail = self.interest.detail(&facts.name);
        Latest {
            schema: schema.into(),
            table: table.into(),
            facts,
            detail,
        }
    }
}

fn decode(event: &PreUpdate<'_>, keys: &KeyForm, detail: Detail) -> RowChange {
    // An update tells its keys from `Columns` on: a row that moves counts as changed in every column.
    let needed = if event.operation == RowOperation::Update {
        Detail::Columns
    } else {
        Detail::Rows
    };
    let key = |rowid: i64, value: &dyn Fn(usize) -> Option<Value>| match keys {
        _ if detail < needed => None,
        KeyForm::Rowid => Some(Key::Rowid(rowid)),
        KeyForm::Columns(columns) => columns
            .iter()
            .map(|&column| value(column))
            .collect::<Option<Arc<[Value]>>>()
            .map(Key::Columns),
        KeyForm::Unknown => None,
    };
    let old = || key(event.old_rowid, &|column| event.old_value(column).map(owned));
    let new = || key(event.new_rowid, &|column| event.new_value(column).map(owned));
    match event.operation {
        RowOperation::Insert => RowChange::Insert { key: new() },
        // Writing into an open BLOB fires as a delete; the row stays.
        RowOperation::Delete if event.blob_column().is_some() => RowChange::Update {
            columns: Columns::Any,
            old: old(),
            new: old(),
        },
        RowOperation::Delete => RowChange::Delete { key: old() },
        RowOperation::Update => RowChange::Update {
            columns: changed_columns(event, keys, detail),
            old: old(),
            new: new(),
        },
    }
}

fn changed_columns(event: &PreUpdate<'_>, keys: &KeyForm, detail: Detail) -> Columns {
    if detail < Detail::Columns || matches!(keys, KeyForm::Unknown) {
        return Columns::Any;
    }
    let (mut changed, mut computed) = (ColumnSet::new(), ColumnSet::new());
    for column in 0..event.column_count() {
        match (event.old_value(column), event.new_value(column)) {
            (Some(old), Some(new)) if is_same(old, new) => {}
            (Some(_), Some(_)) => changed.insert(column as u16),
            // A VIRTUAL generated column: not stored, but computed from columns of the same row.
            (None, None) => computed.insert(column as u16),
            _ => return Columns::Any,
        }
    }
    if !changed.is_empty() {
        changed.union_with(&computed);
    }
    Columns::Only(changed)
}

/// Whether a query gives the same for both: `1` is not `1.0`, and `0.0` is not `-0.0`.
fn is_same(old: ValueRef<'_>, new: ValueRef<'_>) -> bool {
    match (old, new) {
        (ValueRef::Real(old), ValueRef::Real(new)) => old.to_bits() == new.to_bits(),
        _ => old == new,
    }
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(bytes) => Value::Text(bytes.into()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.into()),
    }
}

/// One line of `PRAGMA table_list`.
struct Listed {
    schema: String,
    table: String,
    kind: String,
    without_rowid: bool,
}

fn read_tables(connection: &Connection) -> Result<HashMap<String, HashMap<String, Rc<Facts>>>> {
    let listed = list_tables(connection)?;
    let mut tables: HashMap<String, HashMap<String, Rc<Facts>>> = HashMap::new();
    for entry in &listed {
        let facts = match entry.kind.as_str() {
            "shadow" => Facts {
                name: owner(entry, &listed),
                keys: KeyForm::Unknown,
            },
            _ if entry.without_rowid => Facts {
                name: entry.name(),
                keys: primary_key(connection, entry)?,
            },
            _ => Facts {
                name: entry.name(),
                keys: KeyForm::Rowid,
            },
        };
        tables
            .entry(entry.schema.clone())
            .or_default()
            .insert(entry.table.clone(), Rc::new(facts));
    }
    Ok(tables)
}

impl Listed {
    fn name(&self) -> TableName {
        TableName::new(self.schema.as_str(), self.table.as_str())
    }
}

fn list_tables(connection: &Connection) -> Result<Vec<Listed>> {
    let mut listed = Vec::new();
    let Some(mut list) = connection.prepare("PRAGMA table_list", false)?.statement else {
        return Ok(listed);
    };
    while list.step()? {
        let text = |column| list.column_text(column).unwrap_or_default();
        listed.push(Listed {
            schema: text(0),
            table: text(1),
            kind: text(2),
            without_rowid: list.column(4) == ValueRef::Integer(1),
        });
    }
    Ok(listed)
}

/// The virtual table that a shadow table belongs to: the longest name that it extends with an underscore.
fn owner(shadow: &Listed, listed: &[Listed]) -> TableName {
    let extends = |owner: &&Listed| {
        owner.kind == "virtual"
            && owner.schema == shadow.schema
            && shadow
                .table
                .strip_prefix(&owner.table)
                .is_some_and(|rest| rest.starts_with('_'))
    };
    listed
        .iter()
        .filter(extends)
        .max_by_key(|owner| owner.table.len())
        .unwrap_or(shadow)
        .name()
}

fn primary_key(connection: &Connection, table: &Listed) -> Result<KeyForm> {
    let sql = "SELECT cid, pk FROM pragma_table_xinfo(?1, ?2) WHERE pk > 0 ORDER BY pk";
    let Some(mut columns) = connection.prepare(sql, false)?.statement else {
        return Ok(KeyForm::Unknown);
    };
    columns.bind(1, ValueRef::Text(table.table.as_bytes()))?;
    columns.bind(2, ValueRef::Text(table.schema.as_bytes()))?;
    let mut key = Vec::new();
    while columns.step()? {
        if let ValueRef::Integer(column) = columns.column(0) {
            key.push(column as usize);
        }
    }
    Ok(if key.is_empty() {
        KeyForm::Unknown
    } else {
        KeyForm::Columns(key)
    })
}
