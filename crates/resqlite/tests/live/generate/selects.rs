//! The parts of a SELECT that most queries have in common.

use super::{draw::Draw, expressions::Named, model::Kind, sources::Source};

impl Draw<'_> {
    /// The list of results over a scope: columns, sometimes expressions, sometimes `*`.
    pub fn results(&mut self, scope: &[Named], star: bool) -> String {
        if star && self.rng.chance(25) {
            return "*".into();
        }
        let count = self.rng.between(1, 3);
        let results: Vec<String> = (0..count).map(|at| self.result(scope, at)).collect();
        results.join(", ")
    }

    fn result(&mut self, scope: &[Named], at: usize) -> String {
        let depth = usize::from(self.rng.chance(30));
        let text = self.scalar(scope, depth);
        if self.rng.chance(20) {
            format!("{text} AS r{at}")
        } else {
            text
        }
    }

    /// ORDER BY and LIMIT, each or neither. Ties and limits without an order are wanted: whatever SQLite gives.
    pub fn tail(&mut self, scope: &[Named]) -> String {
        let mut out = String::new();
        if self.rng.chance(55) {
            let terms = self.rng.between(1, 2);
            let terms: Vec<String> = (0..terms).map(|_| self.order_term(scope)).collect();
            out = format!(" ORDER BY {}", terms.join(", "));
        }
        if self.rng.chance(30) {
            out += " LIMIT ";
            let limit = self.rng.between(1, 8) as i64;
            out += &self.value(limit.into());
            if self.rng.chance(40) {
                let offset = self.rng.below(4) as i64;
                out += &format!(" OFFSET {}", self.value(offset.into()));
            }
        }
        out
    }

    fn order_term(&mut self, scope: &[Named]) -> String {
        let depth = usize::from(self.rng.chance(15));
        let what = self.scalar(scope, depth);
        let direction = self.rng.pick(&["", " ASC", " DESC", " DESC NULLS LAST"]);
        format!("{what}{direction}")
    }

    /// FROM with one to three sources, and WHERE to be put behind it.
    pub fn join(&mut self) -> Option<(String, Vec<Named>)> {
        let first = self.source("a")?;
        let mut scope = first.scope(true);
        let mut text = first.text;
        for alias in ["b", "c"].iter().take(self.rng.between(1, 2)) {
            let next = self.source(alias)?;
            text += &self.joined(&scope, &next);
            scope.extend(next.scope(true));
        }
        Some((text, scope))
    }

    fn joined(&mut self, before: &[Named], next: &Source) -> String {
        let left = self.rng.pick(before).clone();
        let columns = next.scope(true);
        // Columns of one kind meet more often.
        let fitting: Vec<&Named> = columns.iter().filter(|column| column.kind == left.kind).collect();
        let right = if fitting.is_empty() {
            self.rng.pick(&columns)
        } else {
            *self.rng.pick(&fitting)
        };
        let mut condition = format!("{} = {}", left.text, right.text);
        if self.rng.chance(35) {
            let side = if self.rng.chance(60) { &columns } else { before };
            condition += &format!(" AND {}", self.predicate(side, 0));
        }
        let table = &next.text;
        match self.rng.below(8) {
            0..=3 => format!(" JOIN {table} ON {condition}"),
            4 | 5 => format!(" LEFT JOIN {table} ON {condition}"),
            6 => format!(" CROSS JOIN {table} ON {condition}"),
            _ => format!(" INNER JOIN {table} ON {condition}"),
        }
    }

    pub fn aggregate(&mut self, scope: &[Named]) -> String {
        let name = self.rng.pick(scope).text.clone();
        match self.rng.below(12) {
            0 | 1 => "count(*)".into(),
            2 => format!("count({name})"),
            3 => format!("count(DISTINCT {name})"),
            4 => format!("min({name})"),
            5 => format!("max({name})"),
            6 => format!("total({name})"),
            7 => format!("avg({name})"),
            8 => format!("group_concat({name}, '|')"),
            9 => format!("group_concat({name} ORDER BY {name} DESC)"),
            10 => format!("count(*) FILTER (WHERE {})", self.predicate(scope, 0)),
            _ => {
                let numbers: Vec<&Named> = scope
                    .iter()
                    .filter(|column| column.kind == Kind::Integer)
                    .collect();
                match numbers.as_slice() {
                    [] => format!("total({name})"),
                    // May overflow, which is an error that comes and goes.
                    numbers => format!("sum({})", self.rng.pick(numbers).text),
                }
            }
        }
    }
}
