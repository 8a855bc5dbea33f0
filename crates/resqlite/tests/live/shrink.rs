//! Makes a script that fails shorter, as long as it still fails.

use resqlite::Value;

use crate::script::{Script, Statement, Step};

/// How often a script may be run while shrinking.
const RUNS_MAX: usize = 2000;

struct Shrinker<'a> {
    script: Script,
    fails: &'a mut dyn FnMut(&Script) -> bool,
    runs: usize,
}

/// The smallest script that was found for which `fails` still holds.
pub fn shrink(script: &Script, fails: &mut dyn FnMut(&Script) -> bool) -> Script {
    let mut shrinker = Shrinker {
        script: script.clone(),
        fails,
        runs: 0,
    };
    loop {
        let before = shrinker.script.clone();
        shrinker.drop_steps();
        shrinker.simplify_steps();
        shrinker.simplify_setup();
        if shrinker.script == before || shrinker.runs >= RUNS_MAX {
            return shrinker.script;
        }
    }
}

impl Shrinker<'_> {
    /// Takes the candidate if it fails, too.
    fn try_script(&mut self, candidate: Script) -> bool {
        if self.runs >= RUNS_MAX {
            return false;
        }
        self.runs += 1;
        let fails = (self.fails)(&candidate);
        if fails {
            self.script = candidate;
        }
        fails
    }

    /// Drops runs of steps, long ones first; then single ones. Later steps go first: earlier ones make tables.
    fn drop_steps(&mut self) {
        let mut length = self.script.steps.len().next_power_of_two() / 2;
        while length > 0 {
            let mut end = self.script.steps.len();
            while end > 0 {
                let start = end.saturating_sub(length);
                let mut candidate = self.script.clone();
                candidate.steps.drain(start..end);
                self.try_script(candidate);
                end = start.min(self.script.steps.len());
            }
            length /= 2;
        }
    }

    fn simplify_steps(&mut self) {
        let mut at = 0;
        while at < self.script.steps.len() {
            let simpler = simpler(&self.script.steps[at]);
            let taken = simpler.into_iter().any(|step| {
                let mut candidate = self.script.clone();
                candidate.steps[at] = step;
                self.try_script(candidate)
            });
            if !taken {
                at += 1;
            }
        }
    }

    fn simplify_setup(&mut self) {
        for part in 0..6 {
            let mut candidate = self.script.clone();
            let setup = &mut candidate.setup;
            match part {
                0 => setup.readers = 1,
                1 => setup.statement_cache = 128,
                2 => setup.recursive_triggers = false,
                3 => setup.utf16 = false,
                4 => setup.handles = 1,
                _ => setup.file = false,
            }
            if candidate != self.script {
                self.try_script(candidate);
            }
        }
    }
}

/// Steps that do less than this one; each is strictly smaller, so that shrinking ends.
fn simpler(step: &Step) -> Vec<Step> {
    match step {
        Step::Write(statement) => statements(statement).into_iter().map(Step::Write).collect(),
        Step::Queue(statement) => {
            let mut out = vec![Step::Write(statement.clone())];
            out.extend(statements(statement).into_iter().map(Step::Queue));
            out
        }
        Step::Batch { sql, sets } => without_one(sets)
            .into_iter()
            .map(|sets| Step::Batch {
                sql: sql.clone(),
                sets,
            })
            .collect(),
        Step::Script(sql) => scripts(sql).into_iter().map(Step::Script).collect(),
        Step::Foreign(sql) => scripts(sql).into_iter().map(Step::Foreign).collect(),
        Step::Subscribe { stream, queries } => subscriptions(queries)
            .into_iter()
            .map(|queries| Step::Subscribe {
                stream: *stream,
                queries,
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn without_one<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    if list.len() < 2 {
        return Vec::new();
    }
    let without = |gone: usize| {
        let mut rest = list.to_vec();
        rest.remove(gone);
        rest
    };
    (0..list.len()).map(without).collect()
}

fn subscriptions(queries: &[Statement]) -> Vec<Vec<Statement>> {
    let mut out = without_one(queries);
    for (at, query) in queries.iter().enumerate() {
        for simpler in statements(query) {
            let mut queries = queries.to_vec();
            queries[at] = simpler;
            out.push(queries);
        }
    }
    out
}

/// Without a part that may be cut off, and with plainer parameters. A statement that loses a parameter with its part
/// would only be refused.
fn statements(statement: &Statement) -> Vec<Statement> {
    let mut out = Vec::new();
    for sql in cut(&statement.sql) {
        let params = statement.params.clone();
        out.push(Statement { sql, params });
    }
    for (at, value) in statement.params.iter().enumerate() {
        let plain = Value::Integer(0);
        if !matches!(value, Value::Integer(0) | Value::Null) {
            let mut params = statement.params.clone();
            params[at] = plain;
            out.push(Statement {
                sql: statement.sql.clone(),
                params,
            });
        }
    }
    out
}

/// Scripts are cut between statements, where no trigger's body can be hit.
fn scripts(sql: &str) -> Vec<String> {
    if sql.contains("BEGIN") {
        return Vec::new();
    }
    let statements: Vec<&str> = sql.split("; ").collect();
    without_one(&statements)
        .into_iter()
        .map(|rest| rest.join("; "))
        .collect()
}

/// The statement up to each of the places where one of its last clauses begins.
fn cut(sql: &str) -> Vec<String> {
    const CLAUSES: [&str; 7] = [
        " OFFSET ",
        " LIMIT ",
        " ORDER BY ",
        " RETURNING ",
        " HAVING ",
        " WHERE ",
        " AND ",
    ];
    let places = CLAUSES.iter().filter_map(|clause| sql.rfind(clause));
    places.map(|at| sql[..at].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::shrink;
    use crate::{
        generate::{Size, script},
        script::Step,
    };

    #[test]
    fn what_does_not_matter_goes() {
        let size = Size {
            steps: 60,
            streams: 4,
        };
        let long = script(1, size);
        let queries = |steps: &[Step]| {
            let subscribes = |step: &&Step| matches!(step, Step::Subscribe { .. });
            steps.iter().filter(subscribes).count()
        };
        assert!(queries(&long.steps) > 2);
        let short = shrink(&long, &mut |script| {
            let writes = script.steps.iter().any(Step::writes);
            queries(&script.steps) >= 2 && writes
        });
        assert_eq!(short.steps.len(), 3, "{short}");
    }
}
