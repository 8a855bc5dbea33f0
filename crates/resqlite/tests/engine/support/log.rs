//! The commit log, as tests look at it.

use std::sync::Arc;

use resqlite::{
    CommitId, Database,
    live::{ChangeSummary, Columns, Image, RowChange, Rows, TableChange, TableName, Value},
};

/// The table `name` of `main`, or `schema.name`.
pub fn table(name: &str) -> TableName {
    match name.split_once('.') {
        Some((schema, name)) => TableName::new(schema, name),
        None => TableName::new("main", name),
    }
}

/// What is asked of a table.
pub struct Ask<'a> {
    name: &'a str,
    columns: Columns,
    images: &'a [u16],
}

/// Asks for the images of these columns, and which of the first ten columns changed.
pub fn images<'a>(name: &'a str, images: &'a [u16]) -> Ask<'a> {
    Ask {
        name,
        columns: only(0..10),
        images,
    }
}

/// Asks which of these columns changed.
pub fn columns(name: &str, compared: impl IntoIterator<Item = u16>) -> Ask<'_> {
    Ask {
        name,
        columns: only(compared),
        images: &[],
    }
}

pub fn only(columns: impl IntoIterator<Item = u16>) -> Columns {
    Columns::Only(columns.into_iter().collect())
}

/// What was committed while something ran.
pub struct Recorded(Vec<ChangeSummary>);

/// Runs `work` with this asked for, and gives the changes that the log got meanwhile. (A write that stores what was
/// there has a commit, too, without any.)
pub fn record(db: &Database, asks: &[Ask<'_>], work: impl FnOnce()) -> Recorded {
    // Until anything is watched, a commit says "everything". (A listener would have external commits looked for, too.)
    db.engine().watch(&table("nothing"), &only([]), &[]);
    asks.iter()
        .for_each(|ask| db.engine().watch(&table(ask.name), &ask.columns, ask.images));
    let before = db.engine().last_commit();
    work();
    asks.iter()
        .for_each(|ask| db.engine().unwatch(&table(ask.name), &ask.columns, ask.images));
    let commits = db.engine().commits_since(before).unwrap();
    let summaries = commits.iter().map(|(_, summary)| (**summary).clone());
    Recorded(summaries.filter(|summary| !summary.is_empty()).collect())
}

/// The commit that is so many after another.
pub fn later(CommitId(id): CommitId, commits: u64) -> CommitId {
    CommitId(id + commits)
}

/// The summary of a commit in the log.
pub fn summary_of(db: &Database, id: CommitId) -> Arc<ChangeSummary> {
    let commits = db.engine().commits_since(CommitId(id.0 - 1)).unwrap();
    let (found, summary) = &commits[0];
    assert_eq!(*found, id);
    Arc::clone(summary)
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

    /// The only commit's changes of rows in a table, in words: `insert 1`, `delete 1`, `update 1 to 2`.
    pub fn rows(&self, name: &str) -> Vec<String> {
        match &self.change(name).rows {
            Rows::Only(rows) => rows.iter().map(told).collect(),
            Rows::Any => panic!("any row of {name}"),
        }
    }

    /// Whether the only commit may have changed any row of a table.
    pub fn any_row(&self, name: &str) -> bool {
        self.change(name).rows == Rows::Any
    }

    /// (inserts, updates, deletes) of the only commit in a table.
    pub fn operations(&self, name: &str) -> (u64, u64, u64) {
        let operations = self.change(name).operations;
        (operations.inserts, operations.updates, operations.deletes)
    }

    /// The columns that the only commit changed in a table.
    pub fn columns(&self, name: &str) -> Vec<u16> {
        match &self.change(name).columns {
            Columns::Only(columns) => columns.iter().collect(),
            any => panic!("{any:?}"),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn commits(&self) -> &[ChangeSummary] {
        &self.0
    }
}

fn told(row: &RowChange) -> String {
    match (row.columns(), row.before(), row.after()) {
        (None, None, Some(new)) => format!("insert {}", shown(new)),
        (None, Some(old), None) => format!("delete {}", shown(old)),
        (Some(_), Some(old), Some(new)) => format!("update {} to {}", shown(old), shown(new)),
        _ => panic!("{row:?} is no change"),
    }
}

fn shown(image: &Image) -> String {
    let values: Vec<_> = image.iter().map(shown_value).collect();
    values.join(" ")
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Integer(integer) => integer.to_string(),
        Value::Real(real) => format!("{real:?}"),
        Value::Text(bytes) => format!("'{}'", bytes.escape_ascii()),
        Value::Blob(bytes) => format!("x'{}'", bytes.escape_ascii()),
    }
}
