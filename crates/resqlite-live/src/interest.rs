//! The part of each changed row to decode: the columns that live queries need of their tables, and the columns that commit events
//! need of all tables.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::{
    column_set::Columns,
    image::Watched,
    row_names::{RowDetail, RowNames},
    table_name::TableName,
};

/// The columns that are needed of each table. Every [`add`](Interest::add) counts until its [`remove`](Interest::remove).
///
/// ```
/// use resqlite_live::{Columns, Interest, TableName};
/// let users = TableName::new("main", "users");
/// let read = Columns::Only([0, 3].into_iter().collect());
/// let mut interest = Interest::new();
/// interest.add(&users, &read, &[0]);
/// assert!(interest.watched(&users).compared.contains(3));
/// assert_eq!(*interest.watched(&users).images, [0]);
/// interest.remove(&users, &read, &[0]);
/// assert!(interest.watched(&users).compared.is_empty());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Interest {
    /// The needs by table, for the tables of which something is needed.
    needs: HashMap<TableName, Needs>,
    /// The number of commit listeners that want rows, by [`RowDetail`].
    row_listeners: [usize; 2],
}

/// The columns that are needed of one table.
#[derive(Debug, Clone, Default)]
struct Needs {
    /// The number of readers: calls of [`Interest::add`].
    readers: usize,
    /// The number of readers of any column.
    any: usize,
    compared: Counts,
    images: Counts,
    /// The columns of `compared` and `images`.
    watched: Arc<Watched>,
}

/// The number of readers of each column that has a reader.
#[derive(Debug, Clone, Default)]
struct Counts(BTreeMap<u16, usize>);

impl Interest {
    /// Returns an interest in nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a reader of these columns of the table (for [`Columns::Any`] nothing needs to be compared) that needs the
    /// values of `images`.
    pub fn add(&mut self, table: &TableName, columns: &Columns, images: &[u16]) {
        let needs = self.needs.entry(table.clone()).or_default();
        needs.readers += 1;
        let mut grown = needs.images.add(images.iter().copied());
        match columns {
            Columns::Any => needs.any += 1,
            Columns::Only(columns) => grown |= needs.compared.add(columns.iter()),
        }
        if grown {
            needs.update();
        }
    }

    /// Takes back one [`add`](Interest::add) of the same table, columns and images.
    ///
    /// # Panics
    /// If there is no such `add`. Going on would take back the interest of another reader.
    pub fn remove(&mut self, table: &TableName, columns: &Columns, images: &[u16]) {
        let needs = self.needs.get_mut(table);
        let needs = needs
            .filter(|needs| needs.includes(columns, images))
            .unwrap_or_else(|| panic!("no reader of {columns:?} and images of {images:?} of {table}"));
        needs.readers -= 1;
        if needs.readers == 0 {
            self.needs.remove(table);
            return;
        }
        let mut shrunk = needs.images.remove(images.iter().copied());
        match columns {
            Columns::Any => needs.any -= 1,
            Columns::Only(columns) => shrunk |= needs.compared.remove(columns.iter()),
        }
        if shrunk {
            needs.update();
        }
    }

    /// Returns the columns of the table that all its readers together need. A table without readers has no such columns. The
    /// operations on it are recorded all the same, because a live query that starts later may have to know that the table
    /// changed.
    pub fn watched(&self, table: &TableName) -> Arc<Watched> {
        let watched = self.needs.get(table).map(|needs| &needs.watched);
        Arc::clone(watched.unwrap_or(Watched::nothing()))
    }

    /// Adds a commit listener that wants the rows of all tables.
    pub fn add_row_listener(&mut self, detail: RowDetail) {
        self.row_listeners[detail as usize] += 1;
    }

    /// Takes back one [`add_row_listener`](Interest::add_row_listener) of the same detail.
    ///
    /// # Panics
    /// If there is no such listener.
    pub fn remove_row_listener(&mut self, detail: RowDetail) {
        let listeners = &mut self.row_listeners[detail as usize];
        *listeners = listeners.checked_sub(1).expect("a listener that wants rows");
    }

    /// Returns the detail of each row that the commit listeners together want.
    pub fn row_detail(&self) -> Option<RowDetail> {
        let wanted = |detail: &RowDetail| self.row_listeners[*detail as usize] > 0;
        [RowDetail::Images, RowDetail::Keys].into_iter().find(wanted)
    }

    /// Returns the columns of the table that all readers and commit listeners together need. `names` are the names of the columns
    /// of the table.
    pub fn watched_with(&self, table: &TableName, names: &Arc<RowNames>) -> Arc<Watched> {
        let watched = self.watched(table);
        let Some(detail) = self.row_detail() else {
            return watched;
        };
        let mut images: Vec<u16> = watched
            .images
            .iter()
            .copied()
            .chain(names.needed(detail))
            .collect();
        images.sort_unstable();
        images.dedup();
        Arc::new(Watched {
            compared: watched.compared.clone(),
            images: images.into(),
            names: Some(Arc::clone(names)),
        })
    }
}

impl Needs {
    fn update(&mut self) {
        self.watched = Arc::new(Watched {
            compared: self.compared.columns().collect(),
            images: self.images.columns().collect(),
            names: None,
        });
    }

    /// Returns whether there may be a reader with these needs.
    fn includes(&self, columns: &Columns, images: &[u16]) -> bool {
        let compared = match columns {
            Columns::Any => self.any > 0,
            Columns::Only(columns) => {
                self.readers > self.any && columns.iter().all(|column| self.compared.contains(column))
            }
        };
        compared && images.iter().all(|&column| self.images.contains(column))
    }
}

impl Counts {
    /// Adds a reader to each column. Returns whether a column is new.
    fn add(&mut self, columns: impl Iterator<Item = u16>) -> bool {
        let before = self.0.len();
        columns.for_each(|column| *self.0.entry(column).or_default() += 1);
        self.0.len() > before
    }

    /// Removes a reader from each column, all of which have a reader. Returns whether a column has no reader left.
    fn remove(&mut self, columns: impl Iterator<Item = u16>) -> bool {
        let before = self.0.len();
        for column in columns {
            if let Some(count) = self.0.get_mut(&column) {
                *count -= 1;
                if *count == 0 {
                    self.0.remove(&column);
                }
            }
        }
        self.0.len() < before
    }

    fn contains(&self, column: u16) -> bool {
        self.0.contains_key(&column)
    }

    fn columns(&self) -> impl Iterator<Item = u16> {
        self.0.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Interest;
    use crate::{
        column_set::Columns,
        image::Watched,
        row_names::{ROWID, RowDetail, RowNames},
        table_name::TableName,
    };

    fn table() -> TableName {
        TableName::new("main", "t")
    }

    fn only(columns: &[u16]) -> Columns {
        Columns::Only(columns.iter().copied().collect())
    }

    fn watched(compared: &[u16], images: &[u16]) -> Watched {
        Watched {
            compared: compared.iter().copied().collect(),
            images: images.into(),
            names: None,
        }
    }

    #[test]
    fn nothing_is_decoded_of_a_table_without_readers() {
        let nothing = Interest::new().watched(&table());
        assert!(Arc::ptr_eq(&nothing, Watched::nothing()));
        assert_eq!(*nothing, watched(&[], &[]));
    }

    #[test]
    fn the_needs_of_several_readers_are_united_and_images_are_in_order() {
        let mut interest = Interest::new();
        interest.add(&table(), &only(&[5, 1]), &[5]);
        interest.add(&table(), &only(&[2]), &[2, 5]);
        assert_eq!(*interest.watched(&table()), watched(&[1, 2, 5], &[2, 5]));
    }

    #[test]
    fn a_reader_of_any_column_needs_no_comparing() {
        let mut interest = Interest::new();
        interest.add(&table(), &Columns::Any, &[3]);
        assert_eq!(*interest.watched(&table()), watched(&[], &[3]));
    }

    #[test]
    fn a_column_is_decoded_until_its_last_reader_is_removed() {
        let mut interest = Interest::new();
        interest.add(&table(), &only(&[1, 2]), &[1]);
        interest.add(&table(), &only(&[2, 3]), &[1]);
        interest.add(&table(), &Columns::Any, &[]);
        interest.remove(&table(), &only(&[1, 2]), &[1]);
        assert_eq!(*interest.watched(&table()), watched(&[2, 3], &[1]));
        interest.remove(&table(), &only(&[2, 3]), &[1]);
        assert_eq!(*interest.watched(&table()), watched(&[], &[]));
    }

    #[test]
    fn a_listener_that_wants_rows_needs_their_keys_or_all_columns() {
        let name = |column: u16, name: &str| (column, Arc::from(name));
        let names = Arc::new(RowNames {
            key: [].into(),
            rowid: Some("rowid".into()),
            columns: [name(0, "a"), name(1, "b")].into(),
        });
        let mut interest = Interest::new();
        interest.add(&table(), &only(&[1]), &[1]);
        let images = |interest: &Interest| interest.watched_with(&table(), &names).images.to_vec();
        assert_eq!(images(&interest), [1]);
        interest.add_row_listener(RowDetail::Keys);
        assert_eq!(images(&interest), [1, ROWID]);
        interest.add_row_listener(RowDetail::Images);
        assert_eq!(images(&interest), [0, 1, ROWID]);
        interest.remove_row_listener(RowDetail::Images);
        assert_eq!(images(&interest), [1, ROWID]);
        interest.remove_row_listener(RowDetail::Keys);
        assert_eq!(
            interest.watched_with(&table(), &names),
            interest.watched(&table())
        );
    }

    #[test]
    fn the_needs_stay_the_same_object_while_nothing_new_is_needed() {
        let mut interest = Interest::new();
        interest.add(&table(), &only(&[1, 2]), &[1]);
        let before = interest.watched(&table());
        interest.add(&table(), &only(&[2]), &[1]);
        interest.remove(&table(), &only(&[2]), &[1]);
        assert!(Arc::ptr_eq(&before, &interest.watched(&table())));
    }

    #[test]
    fn interest_in_one_table_is_none_in_another() {
        let mut interest = Interest::new();
        interest.add(&table(), &only(&[1]), &[1]);
        let other = interest.watched(&TableName::new("temp", "t"));
        assert!(Arc::ptr_eq(&other, Watched::nothing()));
    }

    #[test]
    fn tables_without_readers_take_no_memory() {
        let mut interest = Interest::new();
        interest.add(&table(), &Columns::Any, &[]);
        interest.remove(&table(), &Columns::Any, &[]);
        assert!(interest.needs.is_empty());
    }

    #[test]
    fn removing_a_reader_that_was_not_added_panics() {
        let wrong: [(&str, Columns, &[u16]); 5] = [
            ("u", only(&[1]), &[1]),
            ("t", only(&[2]), &[1]),
            ("t", only(&[1]), &[2]),
            ("t", Columns::Any, &[1]),
            ("t", Columns::Any, &[]),
        ];
        for (name, columns, images) in wrong {
            let panicked = std::panic::catch_unwind(|| {
                let mut interest = Interest::new();
                interest.add(&table(), &only(&[1]), &[1]);
                interest.remove(&TableName::new("main", name), &columns, images);
            });
            assert!(panicked.is_err(), "{name} {columns:?} {images:?}");
        }
    }

    #[test]
    #[should_panic(expected = "of main.t")]
    fn the_panic_names_the_table() {
        Interest::new().remove(&table(), &Columns::Any, &[]);
    }
}
