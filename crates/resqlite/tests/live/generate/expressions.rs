//! Expressions over the columns at hand. None of them depends on anything but the row.

use super::{
    draw::Draw,
    model::Kind,
    values::{any_class, fitting},
};

/// A column as a statement may name it.
#[derive(Debug, Clone)]
pub struct Named {
    pub text: String,
    pub kind: Kind,
}

const COMPARISONS: [&str; 8] = ["=", "=", "==", "<", "<=", ">", ">=", "<>"];
const COLLATIONS: [&str; 3] = ["NOCASE", "RTRIM", "BINARY"];

impl Draw<'_> {
    /// A value, mostly of the kind given.
    pub fn constant(&mut self, kind: Kind) -> String {
        let value = any_class(self.rng, kind);
        self.value(value)
    }

    fn column(&mut self, scope: &[Named]) -> Named {
        self.rng.pick(scope).clone()
    }

    /// A condition on a row.
    pub fn predicate(&mut self, scope: &[Named], depth: usize) -> String {
        if depth > 0 && self.rng.chance(40) {
            let (left, right) = (self.predicate(scope, depth - 1), self.predicate(scope, depth - 1));
            return match self.rng.below(7) {
                0..=2 => format!("{left} AND {right}"),
                3..=5 => format!("({left} OR {right})"),
                _ => format!("NOT ({left} AND {right})"),
            };
        }
        self.comparison(scope)
    }

    fn comparison(&mut self, scope: &[Named]) -> String {
        let column = self.column(scope);
        let name = &column.text;
        match self.rng.below(22) {
            0..=4 => self.compared(&column),
            5 | 6 => self.one_of(&column),
            7 | 8 => self.between(&column),
            9 => format!("{name} IS NULL"),
            10 => format!("{name} IS NOT NULL"),
            11 => {
                let value = self.constant(column.kind);
                format!("{name} IS {}{value}", self.rng.pick(&["", "NOT "]))
            }
            12 => {
                let pattern = self.rng.pick(&["a%", "%b%", "A_", "%", "1%", "k1%", "%e%"]);
                format!("{name} {}LIKE '{pattern}'", self.rng.pick(&["", "NOT "]))
            }
            13 => {
                let pattern = self.rng.pick(&["a%", "k%", "%e%"]).to_owned();
                let pattern = self.value(pattern.into());
                format!("{name} LIKE {pattern}")
            }
            14 => format!("{name} GLOB '{}'", self.rng.pick(&["a*", "k[1-3]*", "*b*", "?"])),
            15 => {
                let value = self.constant(column.kind);
                let collation = self.rng.pick(&COLLATIONS);
                format!("{name} = {value} COLLATE {collation}")
            }
            16 => {
                let other = self.column(scope);
                format!("{name} {} {}", self.rng.pick(&COMPARISONS), other.text)
            }
            17 => format!(
                "typeof({name}) = '{}'",
                self.rng.pick(&["integer", "text", "real"])
            ),
            18 => format!("length({name}) > {}", self.rng.below(3)),
            19 => {
                let value = self.constant(column.kind);
                format!("({name}, 1) {} ({value}, 1)", self.rng.pick(&["=", "<", ">="]))
            }
            20 => {
                let value = fitting(self.rng, column.kind);
                let value = self.value(value);
                format!("+{name} {} {value}", self.rng.pick(&COMPARISONS))
            }
            _ => {
                let expression = self.scalar(scope, 1);
                let value = self.constant(Kind::Any);
                format!("{expression} {} {value}", self.rng.pick(&COMPARISONS))
            }
        }
    }

    /// `col = v`, or `v = col`.
    pub fn compared(&mut self, column: &Named) -> String {
        let value = if self.rng.chance(8) {
            // Converted before it is compared, or not.
            let number = (*self.rng.pick(&["0", "1", "2", "1.0"])).to_owned();
            self.value(number.into())
        } else {
            self.constant(column.kind)
        };
        let (name, sign) = (&column.text, self.rng.pick(&COMPARISONS));
        if self.rng.chance(20) {
            format!("{value} {sign} {name}")
        } else {
            format!("{name} {sign} {value}")
        }
    }

    pub fn one_of(&mut self, column: &Named) -> String {
        let count = self.rng.between(1, 4);
        let values: Vec<String> = (0..count).map(|_| self.constant(column.kind)).collect();
        let not = if self.rng.chance(10) { "NOT " } else { "" };
        format!("{} {not}IN ({})", column.text, values.join(", "))
    }

    pub fn between(&mut self, column: &Named) -> String {
        let (low, high) = (self.constant(column.kind), self.constant(column.kind));
        let name = &column.text;
        if self.rng.chance(50) {
            format!("{name} BETWEEN {low} AND {high}")
        } else {
            format!("{name} >= {low} AND {name} < {high}")
        }
    }

    /// A value computed from a row.
    pub fn scalar(&mut self, scope: &[Named], depth: usize) -> String {
        let name = self.column(scope).text;
        if depth == 0 || self.rng.chance(50) {
            return name;
        }
        match self.rng.below(16) {
            0 => format!("{name} || {}", self.scalar(scope, depth - 1)),
            1 => format!("coalesce({name}, {})", self.scalar(scope, depth - 1)),
            2 => format!("typeof({name})"),
            3 => format!("length({name})"),
            4 => format!(
                "CAST({name} AS {})",
                self.rng.pick(&["TEXT", "INTEGER", "REAL", "BLOB"])
            ),
            5 => format!("hex({name})"),
            6 => format!("quote({name})"),
            7 => {
                let (condition, other) = (self.predicate(scope, 0), self.scalar(scope, depth - 1));
                format!("CASE WHEN {condition} THEN {name} ELSE {other} END")
            }
            8 => format!("nullif({name}, {})", self.constant(Kind::Any)),
            9 => format!("max({name}, {})", self.scalar(scope, depth - 1)),
            10 => format!("upper({name})"),
            11 => format!("substr({name}, 1, 2)"),
            12 => format!("{name} + {}", self.rng.below(3)),
            13 => format!("-{name}"),
            14 => format!("{name} COLLATE {}", self.rng.pick(&COLLATIONS)),
            _ => format!("iif({}, 'yes', {name})", self.predicate(scope, 0)),
        }
    }
}
