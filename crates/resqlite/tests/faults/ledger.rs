//! What was asked of the database, and what became of it.

use std::collections::BTreeMap;

/// The database that a write goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Main,
    /// A second file that the engine has attached.
    Other,
}

/// What its caller was told of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// It is there.
    Done,
    /// It is not there, and why.
    Refused(String),
    /// It is there as a whole or not at all.
    Unknown(String),
}

/// All writes of a run. Each is a number of its own and so many rows.
#[derive(Debug, Default)]
pub struct Ledger {
    writes: BTreeMap<(Place, i64), Told>,
    last: i64,
}

/// Rows of one write.
pub const PARTS: i64 = 3;

impl Ledger {
    /// The number for a new write.
    pub fn number(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    pub fn note(&mut self, place: Place, number: i64, told: Told) {
        self.writes.insert((place, number), told);
    }

    /// A log of writes may have been read back: what was refused may be there.
    pub fn doubt_refusals(&mut self) {
        for told in self.writes.values_mut() {
            if let Told::Refused(why) = told {
                *told = Told::Unknown(std::mem::take(why));
            }
        }
    }

    /// Compares the rows that are there, by the number of the write, with what was told.
    ///
    /// # Errors
    /// What is missing, or too much.
    pub fn compare(&self, place: Place, rows: &BTreeMap<i64, i64>) -> Result<(), String> {
        let mine = self.writes.iter().filter(|((other, _), _)| *other == place);
        for ((_, number), told) in mine {
            let parts = rows.get(number).copied().unwrap_or(0);
            let right = match told {
                Told::Done => parts == PARTS,
                Told::Refused(_) => parts == 0,
                Told::Unknown(_) => parts == 0 || parts == PARTS,
            };
            if !right {
                return Err(format!(
                    "write {number} to {place:?}: {parts} of {PARTS} rows, told {told:?}"
                ));
            }
        }
        let stranger = rows
            .keys()
            .find(|number| !self.writes.contains_key(&(place, **number)));
        stranger.map_or(Ok(()), |number| {
            Err(format!("nobody has written {number} to {place:?}"))
        })
    }
}
