//! What a generator of one statement holds: the random numbers, the schema, and the parameters so far.

use dice::Rng;
use resqlite::Value;

use super::model::Schema;
use crate::{script::Statement, text::literal};

/// Stands around the number of a parameter until the statement is finished: its text is put together in any order,
/// but `?` counts from left to right.
const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';

pub struct Draw<'a> {
    pub rng: &'a mut Rng,
    pub schema: &'a Schema,
    values: Vec<Value>,
    /// Share of values that stand in the text instead, in percent.
    literals: usize,
}

/// How the parameters of a statement are written.
#[derive(Clone, Copy)]
enum Style {
    Anonymous,
    /// `?3`, in any order.
    Numbered,
    Named,
    /// `?` and, right of it, `?2`.
    Mixed,
}

impl<'a> Draw<'a> {
    pub fn new(rng: &'a mut Rng, schema: &'a Schema) -> Self {
        let literals = rng.weighted(&[(2, 0), (3, 30), (2, 100)]);
        Self {
            rng,
            schema,
            values: Vec::new(),
            literals,
        }
    }

    /// Without parameters, as in a script.
    pub fn literal(rng: &'a mut Rng, schema: &'a Schema) -> Self {
        Self {
            rng,
            schema,
            values: Vec::new(),
            literals: 100,
        }
    }

    /// With parameters only, as in a batch.
    pub fn parameters(rng: &'a mut Rng, schema: &'a Schema) -> Self {
        Self {
            rng,
            schema,
            values: Vec::new(),
            literals: 0,
        }
    }

    /// The text that stands for a value.
    pub fn value(&mut self, value: Value) -> String {
        if self.rng.chance(self.literals) {
            return literal(&value);
        }
        self.values.push(value);
        format!("{OPEN}{}{CLOSE}", self.values.len() - 1)
    }

    /// Whether there is a parameter in a text.
    pub fn has_parameter(text: &str) -> bool {
        text.contains(OPEN)
    }

    pub fn finish(self, text: &str) -> Statement {
        let style = *self.rng.pick(&[
            Style::Anonymous,
            Style::Anonymous,
            Style::Numbered,
            Style::Named,
            Style::Mixed,
        ]);
        let mut pieces = text.split(OPEN);
        let mut sql = pieces.next().unwrap_or_default().to_owned();
        let mut params = Vec::new();
        let used: Vec<(usize, &str)> = pieces
            .map(|piece| {
                let (number, rest) = piece.split_once(CLOSE).expect("every parameter is closed");
                (number.parse().expect("a number"), rest)
            })
            .collect();
        let turn = if used.is_empty() {
            0
        } else {
            self.rng.below(used.len())
        };
        let mut names: Vec<(usize, String)> = Vec::new();
        for (at, (number, rest)) in used.iter().enumerate() {
            let value = self.values[*number].clone();
            if let Some((_, name)) = names.iter().find(|(named, _)| named == number) {
                // One parameter at several places.
                sql.push_str(name);
                sql.push_str(rest);
                continue;
            }
            match style {
                Style::Anonymous => sql.push('?'),
                Style::Numbered => {
                    let place = (at + turn) % used.len() + 1;
                    sql.push_str(&format!("?{place}"));
                }
                Style::Named => {
                    let name = format!("{}p{at}", self.rng.pick(&[':', '@', '$']));
                    sql.push_str(&name);
                    names.push((*number, name));
                }
                Style::Mixed if at % 2 == 1 => sql.push_str(&format!("?{}", at + 1)),
                Style::Mixed => sql.push('?'),
            }
            params.push(value);
            sql.push_str(rest);
        }
        if matches!(style, Style::Numbered) {
            // Number `place` belongs to what stands at `place - 1 - turn` in the text.
            params.rotate_right(turn);
        }
        Statement { sql, params }
    }
}
