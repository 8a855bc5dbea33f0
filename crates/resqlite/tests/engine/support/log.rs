//! The commit log, as tests look at it.

use resqlite::{
    Database,
    live::{ChangeSummary, Detail, Key, Keys, TableChange, TableName, Value},
};

/// The table `name` of `main`, or `schema.name`.
pub fn table(name: &str) -> TableName {
    match name.split_once('.') {
        Some((schema, name)) => TableName::new(schema, name),
        None => TableName::new("main", name),
    }
}

/// What was committed while something ran.
pub struct Recorded(Vec<ChangeSummary>);

/// Runs `work` with this detail asked for, and gives what the log got meanwhile.
pub fn record(db: &Database, detail: Detail, tables: &[&str], work: impl FnOnce()) -> Recorded {
    tables
        .iter()
        .for_each(|name| db.engine().watch(&table(name), detail));
    let before = db.engine().last_commit();
    work();
    tables
        .iter()
        .for_each(|name| db.engine().unwatch(&table(name), detail));
    let commits = db.engine().commits_since(before).unwrap();
    Recorded(commits.iter().map(|commit| (*commit.summary).clone()).collect())
}

impl Recorded {
    /// The only commit.
    pub fn commit(&self) -> &ChangeSummary {
        assert_eq!(self.0.len(), 1, "{:?}", self.0);
        &self.0[0]
    }

    /// What the only commit did to a table.
    pub fn change(&self, name: &str) -> &TableChange {
        let commit = self.commit();
        assert!(
            !commit.schema_changed() && !commit.everything_changed(),
            "{commit:?}"
        );
        commit
            .table(&table(name))
            .unwrap_or_else(|| panic!("{name} is not in {commit:?}"))
    }

    /// The keys of the only commit's change to a table, as rowids.
    pub fn rowids(&self, name: &str) -> Vec<i64> {
        rowids(self.change(name))
    }

    /// (inserts, updates, deletes) of the only commit in a table.
    pub fn operations(&self, name: &str) -> (u64, u64, u64) {
        let operations = self.change(name).operations;
        (operations.inserts, operations.updates, operations.deletes)
    }

    /// The columns that the only commit changed in a table.
    pub fn columns(&self, name: &str) -> Vec<u16> {
        match &self.change(name).columns {
            resqlite::live::Columns::Only(columns) => columns.iter().collect(),
            any => panic!("{any:?}"),
        }
    }

    /// The keys of the only commit's change to a table.
    pub fn keys(&self, name: &str) -> &[Key] {
        match &self.change(name).keys {
            Keys::Only(keys) => keys,
            Keys::Any => panic!("any key of {name}"),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn commits(&self) -> &[ChangeSummary] {
        &self.0
    }
}

/// The keys of a change, which all are rowids.
pub fn rowids(change: &TableChange) -> Vec<i64> {
    let Keys::Only(keys) = &change.keys else {
        panic!("any key: {change:?}")
    };
    let rowid = |key: &Key| match key {
        Key::Rowid(rowid) => *rowid,
        key => panic!("{key:?} is no rowid"),
    };
    keys.iter().map(rowid).collect()
}

/// The key of a row in a WITHOUT ROWID table.
pub fn key(values: impl IntoIterator<Item = Value>) -> Key {
    Key::Columns(values.into_iter().collect())
}
