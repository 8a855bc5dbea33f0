//! What the generator believes the schema to be. Statements that fail make it wrong for a while, which costs some
//! later statements their success and nothing else.

/// The values that a column is meant to hold; SQLite lets most columns hold others, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Real,
    Text,
    Blob,
    Any,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    Plain,
    /// Part of the primary key.
    Key,
    Generated,
    /// Refers to a column of another table in the same database.
    Child {
        table: String,
        column: String,
    },
}

#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    pub role: Role,
    /// The whole definition, for CREATE TABLE and ADD COLUMN.
    pub definition: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    /// Only the hidden rowid.
    Rowid,
    /// INTEGER PRIMARY KEY: this column is the rowid.
    Alias(usize),
    /// A primary key of its own; with or without rowids beside it.
    Columns { columns: Vec<usize>, rowid: bool },
}

#[derive(Debug, Clone)]
pub struct Table {
    /// `main`, `aux` or `temp`.
    pub schema: &'static str,
    pub name: String,
    pub columns: Vec<Column>,
    pub key: Key,
    pub strict: bool,
    pub autoincrement: bool,
    /// Columns that are unique together, besides the key.
    pub unique: Vec<Vec<usize>>,
    pub module: Module,
}

/// What stores the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Module {
    Btree,
    Fts4,
    Fts5,
    /// FTS5 over the rows of another table, which is the one to be written to.
    External,
    Rtree,
}

/// Something that belongs to a table and goes with it.
#[derive(Debug, Clone)]
pub struct Attached {
    /// `INDEX`, `TRIGGER` or `VIEW`.
    pub what: &'static str,
    pub schema: &'static str,
    pub name: String,
    /// The tables, as [`Table::full_name`], that its definition mentions.
    pub tables: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct View {
    pub schema: &'static str,
    pub name: String,
    pub columns: Vec<(String, Kind)>,
    /// Statements that its INSTEAD OF triggers take.
    pub inserts: bool,
    pub updates: bool,
    pub deletes: bool,
}

#[derive(Debug, Clone, Default)]
pub struct Schema {
    pub tables: Vec<Table>,
    pub views: Vec<View>,
    pub attached: Vec<Attached>,
    pub has_aux: bool,
}

impl Table {
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }

    pub fn has_rowid(&self) -> bool {
        !matches!(self.key, Key::Columns { rowid: false, .. })
    }

    /// Columns that statements may write.
    pub fn writable(&self) -> Vec<usize> {
        let stored = |at: &usize| self.columns[*at].role != Role::Generated;
        (0..self.columns.len()).filter(stored).collect()
    }

    /// Column lists of which no two rows have the same values: targets of an upsert.
    pub fn unique_lists(&self) -> Vec<Vec<usize>> {
        let mut lists = self.unique.clone();
        match &self.key {
            Key::Rowid => {}
            Key::Alias(column) => lists.push(vec![*column]),
            Key::Columns { columns, .. } => lists.push(columns.clone()),
        }
        lists
    }

    pub fn is_unique(&self, column: usize) -> bool {
        self.unique_lists().iter().any(|list| list.contains(&column))
    }

    /// Whether this column may be the rowid: INTEGER PRIMARY KEY, also where the key is declared behind the columns.
    pub fn may_be_rowid(&self, column: usize) -> bool {
        match &self.key {
            Key::Alias(alias) => *alias == column,
            Key::Columns { columns, rowid } => *rowid && *columns == [column],
            Key::Rowid => false,
        }
    }

    pub fn refers_to(&self, other: &Self) -> bool {
        let refers =
            |column: &Column| matches!(&column.role, Role::Child { table, .. } if *table == other.name);
        self.schema == other.schema && self.columns.iter().any(refers)
    }
}

impl Schema {
    /// Tables that queries can see: the temporary ones belong to the writer alone.
    pub fn readable(&self) -> Vec<&Table> {
        self.tables
            .iter()
            .filter(|table| table.schema != "temp")
            .collect()
    }

    pub fn table(&self, schema: &str, name: &str) -> Option<&Table> {
        self.tables
            .iter()
            .find(|table| table.schema == schema && table.name == name)
    }

    /// Whether `name` alone, in a statement of the writer (or of a reader), means this table.
    pub fn is_visible(&self, table: &Table, writing: bool) -> bool {
        match table.schema {
            "main" => !writing || self.table("temp", &table.name).is_none(),
            "aux" => self.table("main", &table.name).is_none() && self.table("temp", &table.name).is_none(),
            _ => true,
        }
    }

    /// Whether nothing but its indexes depends on the table.
    pub fn stands_alone(&self, table: &Table) -> bool {
        let name = table.full_name();
        let used = |thing: &Attached| thing.what != "INDEX" && thing.tables.contains(&name);
        !self.attached.iter().any(used) && !self.tables.iter().any(|other| other.refers_to(table))
    }

    /// Takes the table out, with all that mentions it; gives what must be dropped before it.
    pub fn remove(&mut self, at: usize) -> Vec<Attached> {
        let table = self.tables.remove(at).full_name();
        let (gone, stays): (Vec<_>, Vec<_>) = std::mem::take(&mut self.attached)
            .into_iter()
            .partition(|thing| thing.tables.contains(&table));
        self.attached = stays;
        let dropped = |schema: &str, name: &str| {
            gone.iter()
                .any(|thing| thing.what == "VIEW" && thing.schema == schema && thing.name == name)
        };
        self.views.retain(|view| !dropped(view.schema, &view.name));
        gone
    }

    /// What somebody else sees who has neither attached databases nor the writer's temporary tables: that part comes
    /// first.
    pub fn split_main(self) -> (Self, Self) {
        let (mut main, mut rest) = (Self::default(), Self::default());
        rest.has_aux = self.has_aux;
        (main.tables, rest.tables) = self.tables.into_iter().partition(|table| table.schema == "main");
        (main.views, rest.views) = self.views.into_iter().partition(|view| view.schema == "main");
        (main.attached, rest.attached) = self
            .attached
            .into_iter()
            .partition(|thing| thing.schema == "main");
        (main, rest)
    }

    /// Undoes [`split_main`](Self::split_main).
    pub fn join(&mut self, rest: Self) {
        self.tables.extend(rest.tables);
        self.views.extend(rest.views);
        self.attached.extend(rest.attached);
        self.has_aux = rest.has_aux;
    }

    pub fn detach(&mut self) {
        self.tables.retain(|table| table.schema != "aux");
        self.views.retain(|view| view.schema != "aux");
        self.attached
            .retain(|thing| !thing.tables.iter().any(|table| table.starts_with("aux.")));
        self.has_aux = false;
    }
}
