//! The program that SQLite has made of a statement.

use resqlite_sqlite::Connection;

/// An instruction of SQLite's virtual machine.
pub(super) struct Instruction {
    pub(super) opcode: String,
    pub(super) p1: i64,
    pub(super) p2: i64,
    /// The operand as text, such as the name of a function.
    pub(super) p4: String,
}

impl Instruction {
    pub(super) fn calls_function(&self) -> bool {
        let opcodes = [
            "Function",
            "PureFunc",
            "AggStep",
            "AggStep1",
            "AggInverse",
            "AggValue",
            "AggFinal",
        ];
        opcodes.contains(&self.opcode.as_str())
    }

    /// Returns whether all keys, `k(2,B,-B)`, have the collation BINARY.
    pub(super) fn sorts_bytes(&self) -> bool {
        let keys = self.p4.strip_prefix("k(").and_then(|keys| keys.strip_suffix(')'));
        keys.is_some_and(|keys| {
            keys.split(',')
                .skip(1)
                .all(|key| matches!(key, "" | "B" | "-B" | "N.B" | "-N.B"))
        })
    }
}

/// Returns the program of a statement; `None` if SQLite does not show it.
pub(super) fn program(connection: &Connection, sql: &str) -> Option<Vec<Instruction>> {
    let mut explain = connection
        .prepare(&format!("EXPLAIN {sql}"), false)
        .ok()?
        .statement?;
    let mut instructions = Vec::new();
    while explain.step().ok()? {
        let operand = |column| explain.integer(column).unwrap_or(-1);
        instructions.push(Instruction {
            opcode: explain.column_text(1)?,
            p1: operand(2),
            p2: operand(3),
            p4: explain.column_text(5).unwrap_or_default(),
        });
    }
    Some(instructions)
}
