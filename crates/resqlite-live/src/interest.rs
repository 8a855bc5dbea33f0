//! How far changes are worth decoding.

use std::collections::HashMap;

use crate::table_name::TableName;

/// How far changes to a table are decoded. Each level includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// That the table changed, and by which operations.
    Table,
    /// Which columns an UPDATE changed.
    Columns,
    /// Which rows changed.
    Rows,
}

/// What is asked for each table. Every [`add`](Interest::add) counts until its [`remove`](Interest::remove).
///
/// ```
/// use resqlite_live::{Detail, Interest, TableName};
/// let users = TableName::new("main", "users");
/// let mut interest = Interest::new();
/// interest.add(&users, Detail::Rows);
/// assert_eq!(interest.detail(&users), Detail::Rows);
/// interest.remove(&users, Detail::Rows);
/// assert_eq!(interest.detail(&users), Detail::Table);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Interest {
    /// Per table, how many ask for each detail. A table for which nobody asks is not here.
    asked: HashMap<TableName, [usize; 3]>,
}

impl Interest {
    /// Nobody asks for anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Somebody asks for this detail.
    pub fn add(&mut self, table: &TableName, detail: Detail) {
        self.asked.entry(table.clone()).or_default()[detail as usize] += 1;
    }

    /// Takes one [`add`](Interest::add) of the same table and detail back.
    ///
    /// # Panics
    /// If there is none: somebody else's interest would be taken back.
    pub fn remove(&mut self, table: &TableName, detail: Detail) {
        let asked = self
            .asked
            .get_mut(table)
            .filter(|asked| asked[detail as usize] > 0);
        let asked = asked.unwrap_or_else(|| panic!("nobody asked for {detail:?} of {table}"));
        asked[detail as usize] -= 1;
        if *asked == [0; 3] {
            self.asked.remove(table);
        }
    }

    /// The deepest detail that anybody asks for. [`Detail::Table`] where nobody does: a query that starts
    /// later may have to be told of a commit that happens now.
    pub fn detail(&self, table: &TableName) -> Detail {
        match self.asked.get(table) {
            Some(&[_, _, rows]) if rows > 0 => Detail::Rows,
            Some(&[_, columns, _]) if columns > 0 => Detail::Columns,
            _ => Detail::Table,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Detail, Interest};
    use crate::table_name::TableName;

    fn table() -> TableName {
        TableName::new("main", "t")
    }

    #[test]
    fn a_table_for_which_nobody_asks_is_still_decoded_as_a_table() {
        assert_eq!(Interest::new().detail(&table()), Detail::Table);
    }

    #[test]
    fn the_deepest_detail_wins_whatever_the_order() {
        let mut interest = Interest::new();
        for (detail, deepest) in [
            (Detail::Table, Detail::Table),
            (Detail::Columns, Detail::Columns),
            (Detail::Rows, Detail::Rows),
            (Detail::Columns, Detail::Rows),
        ] {
            interest.add(&table(), detail);
            assert_eq!(interest.detail(&table()), deepest);
        }
    }

    #[test]
    fn interest_lasts_until_the_last_one_who_asked_has_gone() {
        let mut interest = Interest::new();
        interest.add(&table(), Detail::Columns);
        interest.add(&table(), Detail::Rows);
        interest.add(&table(), Detail::Rows);
        interest.remove(&table(), Detail::Rows);
        assert_eq!(interest.detail(&table()), Detail::Rows);
        interest.remove(&table(), Detail::Rows);
        assert_eq!(interest.detail(&table()), Detail::Columns);
        interest.remove(&table(), Detail::Columns);
        assert_eq!(interest.detail(&table()), Detail::Table);
    }

    #[test]
    fn interest_in_one_table_says_nothing_of_another() {
        let mut interest = Interest::new();
        interest.add(&table(), Detail::Rows);
        assert_eq!(interest.detail(&TableName::new("temp", "t")), Detail::Table);
    }

    #[test]
    fn tables_for_which_nobody_asks_take_no_memory() {
        let mut interest = Interest::new();
        interest.add(&table(), Detail::Table);
        interest.remove(&table(), Detail::Table);
        assert!(interest.asked.is_empty());
    }

    #[test]
    #[should_panic(expected = "nobody asked for Rows of main.t")]
    fn taking_back_what_nobody_asked_for_is_refused() {
        let mut interest = Interest::new();
        interest.add(&table(), Detail::Columns);
        interest.remove(&table(), Detail::Rows);
    }
}
