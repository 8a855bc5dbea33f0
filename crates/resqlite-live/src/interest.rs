//! How far changes are worth decoding: what all streams together ask of each table.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::{column_set::Columns, image::Watched, table_name::TableName};

/// What is asked for each table. Every [`add`](Interest::add) counts until its [`remove`](Interest::remove).
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
    /// A table for which nobody asks is not here.
    asked: HashMap<TableName, Asked>,
}

/// What is asked of one table.
#[derive(Debug, Clone, Default)]
struct Asked {
    /// How many ask.
    askers: usize,
    /// How many of them read any column.
    any: usize,
    compared: Counts,
    images: Counts,
    /// The columns of `compared` and `images`.
    watched: Arc<Watched>,
}

/// How many ask for a column. A column for which nobody asks is not here.
#[derive(Debug, Clone, Default)]
struct Counts(BTreeMap<u16, usize>);

impl Interest {
    /// Nobody asks for anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Somebody reads these columns of the table (for [`Columns::Any`] nothing needs to be compared) and wants
    /// to know the values of `images`.
    pub fn add(&mut self, table: &TableName, columns: &Columns, images: &[u16]) {
        let asked = self.asked.entry(table.clone()).or_default();
        asked.askers += 1;
        let mut grown = asked.images.add(images.iter().copied());
        match columns {
            Columns::Any => asked.any += 1,
            Columns::Only(columns) => grown |= asked.compared.add(columns.iter()),
        }
        if grown {
            asked.update();
        }
    }

    /// Takes one [`add`](Interest::add) of the same table, columns and images back.
    ///
    /// # Panics
    /// If there is none: somebody else's interest would be taken back.
    pub fn remove(&mut self, table: &TableName, columns: &Columns, images: &[u16]) {
        let asked = self.asked.get_mut(table);
        let asked = asked
            .filter(|asked| asked.includes(columns, images))
            .unwrap_or_else(|| panic!("nobody asked for {columns:?} and images of {images:?} of {table}"));
        asked.askers -= 1;
        if asked.askers == 0 {
            self.asked.remove(table);
            return;
        }
        let mut shrunk = asked.images.remove(images.iter().copied());
        match columns {
            Columns::Any => asked.any -= 1,
            Columns::Only(columns) => shrunk |= asked.compared.remove(columns.iter()),
        }
        if shrunk {
            asked.update();
        }
    }

    /// What all together ask of the table. Nothing where nobody asks: that the table changed, and by which
    /// operations, is told of every table, for a query that starts later may have to know it.
    pub fn watched(&self, table: &TableName) -> Arc<Watched> {
        let asked = self.asked.get(table).map(|asked| &asked.watched);
        Arc::clone(asked.unwrap_or(Watched::nothing()))
    }
}

impl Asked {
    fn update(&mut self) {
        self.watched = Arc::new(Watched {
            compared: self.compared.columns().collect(),
            images: self.images.columns().collect(),
        });
    }

    /// Whether somebody may have asked for all this.
    fn includes(&self, columns: &Columns, images: &[u16]) -> bool {
        let compared = match columns {
            Columns::Any => self.any > 0,
            Columns::Only(columns) => {
                self.askers > self.any && columns.iter().all(|column| self.compared.contains(column))
            }
        };
        compared && images.iter().all(|&column| self.images.contains(column))
    }
}

impl Counts {
    /// Whether a column is new.
    fn add(&mut self, columns: impl Iterator<Item = u16>) -> bool {
        let before = self.0.len();
        columns.for_each(|column| *self.0.entry(column).or_default() += 1);
        self.0.len() > before
    }

    /// Whether a column is gone. All of them are there.
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
    use crate::{column_set::Columns, image::Watched, table_name::TableName};

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
        }
    }

    #[test]
    fn nothing_is_decoded_of_a_table_for_which_nobody_asks() {
        let nothing = Interest::new().watched(&table());
        assert!(Arc::ptr_eq(&nothing, Watched::nothing()));
        assert_eq!(*nothing, watched(&[], &[]));
    }

    #[test]
    fn what_several_ask_is_decoded_together_and_images_stand_in_order() {
        let mut interest = Interest::new();
        interest.add(&table(), &only(&[5, 1]), &[5]);
        interest.add(&table(), &only(&[2]), &[2, 5]);
        assert_eq!(*interest.watched(&table()), watched(&[1, 2, 5], &[2, 5]));
    }

    #[test]
    fn for_any_column_nothing_needs_comparing() {
        let mut interest = Interest::new();
        interest.add(&table(), &Columns::Any, &[3]);
        assert_eq!(*interest.watched(&table()), watched(&[], &[3]));
    }

    #[test]
    fn a_column_is_decoded_until_the_last_one_who_asked_has_gone() {
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
    fn what_is_asked_stays_the_same_object_while_nothing_new_is_asked() {
        let mut interest = Interest::new();
        interest.add(&table(), &only(&[1, 2]), &[1]);
        let before = interest.watched(&table());
        interest.add(&table(), &only(&[2]), &[1]);
        interest.remove(&table(), &only(&[2]), &[1]);
        assert!(Arc::ptr_eq(&before, &interest.watched(&table())));
    }

    #[test]
    fn interest_in_one_table_says_nothing_of_another() {
        let mut interest = Interest::new();
        interest.add(&table(), &only(&[1]), &[1]);
        let other = interest.watched(&TableName::new("temp", "t"));
        assert!(Arc::ptr_eq(&other, Watched::nothing()));
    }

    #[test]
    fn tables_for_which_nobody_asks_take_no_memory() {
        let mut interest = Interest::new();
        interest.add(&table(), &Columns::Any, &[]);
        interest.remove(&table(), &Columns::Any, &[]);
        assert!(interest.asked.is_empty());
    }

    #[test]
    fn taking_back_what_nobody_asked_for_is_refused() {
        let wrong: [(&str, Columns, &[u16]); 5] = [
            ("u", only(&[1]), &[1]),
            ("t", only(&[2]), &[1]),
            ("t", only(&[1]), &[2]),
            ("t", Columns::Any, &[1]),
            ("t", Columns::Any, &[]),
        ];
        for (name, columns, images) in wrong {
            let refused = std::panic::catch_unwind(|| {
                let mut interest = Interest::new();
                interest.add(&table(), &only(&[1]), &[1]);
                interest.remove(&TableName::new("main", name), &columns, images);
            });
            assert!(refused.is_err(), "{name} {columns:?} {images:?}");
        }
    }

    #[test]
    #[should_panic(expected = "of main.t")]
    fn a_refusal_names_the_table() {
        Interest::new().remove(&table(), &Columns::Any, &[]);
    }
}
