//! Detection of statements that may fail half-way, so that a savepoint must undo the changes that they had made by then.
//!
//! SQLite undoes a statement that fails only if it opened a statement journal, and it opens a journal only if it foresees the failure. It
//! foresees constraints and functions, but not a value of the wrong type in a STRICT table, an overflow in `sum()`, malformed JSON in
//! `json_each()`, or a row that is too large. No counter shows what such a statement leaves behind. So the program of the statement is
//! analysed: after the first change, it may have no instruction that can fail.
//!
//! ```text
//! INSERT INTO t VALUES (?)            INSERT INTO t VALUES (?), (?)
//!
//!   Variable, TypeCheck   may fail      Yield                 next row
//!   MakeRecord            may fail      TypeCheck, MakeRecord may fail ◄─┐
//!   Insert                change        Insert                change     │
//!   Halt                  end           Goto                  ───────────┘
//!
//!   needs no savepoint                  needs one
//! ```

use resqlite_sqlite::{Connection, Error, codes};

use super::program::{Instruction, program};

/// Returns whether the statement of `sql` may fail after its first change, apart from errors for which
/// [`changed_nothing`] is false.
pub(crate) fn may_fail_halfway(connection: &Connection, sql: &str) -> bool {
    // A statement that cannot be analysed may do anything.
    program(connection, sql).is_none_or(|program| may_fail_after_a_change(&program))
}

/// Returns whether a statement for which [`may_fail_halfway`] is false had changed nothing when it failed with this error. Failing disks,
/// damaged files and lack of memory can occur at any point.
pub(crate) fn changed_nothing(error: &Error) -> bool {
    matches!(
        error.primary(),
        codes::CONSTRAINT | codes::ERROR | codes::MISMATCH | codes::TOOBIG | codes::AUTH
    )
}

/// The possible effect of an instruction, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Changes a table or an index, and fails only if the file does.
    Change,
    /// Cannot fail.
    Safe,
    /// Cannot fail and may go on at `p2`.
    SafeBranch,
    /// Goes on at `p2`.
    Goto,
    /// Ends the program, with an error unless `p1` is 0.
    Halt,
    /// Changes something in another way than [`Change`](Self::Change).
    Unforeseen,
    /// May fail.
    Fallible,
}

impl Kind {
    fn of(opcode: &str) -> Self {
        match opcode {
            "Insert" | "Delete" | "IdxInsert" | "IdxDelete" => Self::Change,
            "Close" | "Copy" | "FinishSeek" | "IdxRowid" | "IntCopy" | "Integer" | "Noop" | "Null"
            | "ResetCount" | "Rowid" | "SCopy" => Self::Safe,
            "IsNull" | "NotNull" => Self::SafeBranch,
            "Goto" => Self::Goto,
            "Halt" => Self::Halt,
            "Clear" | "FkCounter" | "Program" | "VUpdate" => Self::Unforeseen,
            _ => Self::Fallible,
        }
    }
}

fn may_fail_after_a_change(program: &[Instruction]) -> bool {
    let kinds: Vec<_> = program
        .iter()
        .map(|instruction| Kind::of(&instruction.opcode))
        .collect();
    let changes = |at: &usize| kinds[*at] == Kind::Change;
    let mut ahead: Vec<usize> = (0..kinds.len()).filter(changes).map(|at| at + 1).collect();
    let mut seen = vec![false; kinds.len()];
    while let Some(at) = ahead.pop() {
        let Some(instruction) = program.get(at) else {
            return true;
        };
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let target = usize::try_from(instruction.p2).unwrap_or(usize::MAX);
        match kinds[at] {
            Kind::Change | Kind::Safe => ahead.push(at + 1),
            Kind::SafeBranch => ahead.extend([at + 1, target]),
            Kind::Goto => ahead.push(target),
            Kind::Halt if instruction.p1 == 0 => {}
            Kind::Halt | Kind::Unforeseen | Kind::Fallible => return true,
        }
    }
    kinds.contains(&Kind::Unforeseen)
}

#[cfg(all(test, not(loom)))]
mod cases;
#[cfg(all(test, not(loom)))]
mod tests;
