//! Random queries of many parts: joins of every kind, subqueries that know the outer row, views, common table
//! expressions, compounds. Some are refused by SQLite, since a name in them means two things.

use dice::Rng;

use super::sound::{OF_A, OF_P, OF_T, OF_U, literal};

/// A random query.
pub(crate) fn rich(dice: &mut Rng) -> String {
    let mut grammar = Grammar {
        dice,
        sources: 0,
        common: Vec::new(),
        keys: Vec::new(),
    };
    let with = if grammar.dice.one_in(4) {
        grammar.with()
    } else {
        String::new()
    };
    let depth = grammar.dice.one_of(&[0, 1, 1, 1, 2]);
    let (text, _) = grammar.select(depth, &[]);
    format!("{with}{text}")
}

struct Grammar<'a> {
    dice: &'a mut Rng,
    /// Sources so far; each has an alias of its own.
    sources: usize,
    /// Common table expressions.
    common: Vec<(String, Vec<String>)>,
    /// Columns that stand in a comparison already: those that meet again show more.
    keys: Vec<String>,
}

/// Columns, qualified.
type Columns = Vec<String>;

const VIEWS: [(&str, &[&str]); 15] = [
    ("v", &["i", "s", "m"]),
    ("w", &["x", "i"]),
    ("renamed", &["q", "f", "e"]),
    ("nested", &["q", "e"]),
    ("grouped", &["i", "s", "c", "b"]),
    ("whole", &["i", "s"]),
    ("latest", &["id", "i", "s", "m"]),
    ("numbered", &["i", "m", "o"]),
    ("both", &["i", "s"]),
    ("alike", &["i", "s"]),
    ("less", &["i", "s"]),
    ("outside", &["i", "s", "m", "j"]),
    ("counted", &["i", "n"]),
    ("main.u", &["id", "i", "s", "m"]),
    ("main.p", &["s", "i", "m"]),
];

impl Grammar<'_> {
    fn with(&mut self) -> String {
        let mut parts = Vec::new();
        for number in 0..=self.dice.below(2) {
            let depth = self.dice.below(2);
            let (text, columns) = self.select(depth, &[]);
            let name = self.dice.one_of(&["c0", "c0", "c1", "c1", "u"]).to_owned();
            if self.common.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let (list, columns) = if self.dice.one_in(2) {
                let names: Vec<_> = (0..columns.len()).map(|at| format!("n{number}{at}")).collect();
                (format!("({})", names.join(", ")), names)
            } else {
                (String::new(), columns)
            };
            let hint = self.dice.one_of(&["", "", " MATERIALIZED", " NOT MATERIALIZED"]);
            parts.push(format!("{name}{list} AS{hint} ({text})"));
            self.common.push((name, columns));
        }
        if parts.is_empty() {
            return String::new();
        }
        format!("WITH {} ", parts.join(", "))
    }

    /// A whole query and the names of its columns. `outer`: columns of queries around it.
    fn select(&mut self, depth: usize, outer: &[String]) -> (String, Columns) {
        let (mut text, columns) = self.arm(depth, outer);
        if depth > 0 && self.dice.one_in(6) {
            for _ in 0..=self.dice.below(2) {
                let operator = self.dice.one_of(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]);
                let other = self.arm_of(depth - 1, outer, Some(columns.len())).0;
                text = format!("{text} {operator} {other}");
            }
        }
        if self.dice.one_in(4) {
            text += &format!(" ORDER BY {}", 1 + self.dice.below(columns.len()));
        }
        if self.dice.one_in(7) {
            text += &format!(" LIMIT {}", 1 + self.dice.below(4));
        }
        (text, columns)
    }

    fn arm(&mut self, depth: usize, outer: &[String]) -> (String, Columns) {
        self.arm_of(depth, outer, None)
    }

    /// One SELECT, with so many columns.
    fn arm_of(&mut self, depth: usize, outer: &[String], width: Option<usize>) -> (String, Columns) {
        let (from, scope, first) = self.from(depth, outer);
        let condition = self.wheres(depth, &scope, outer);
        let mut inner = scope.clone();
        inner.extend(outer.iter().cloned());
        if width.is_none() && self.dice.one_in(6) {
            let star = self.dice.one_of(&["*", "z.*"]).replace('z', &first.0);
            if star != "*" || scope.len() == first.1.len() {
                return (format!("SELECT {star} FROM {from}{condition}"), first.1);
            }
        }
        let width = width.unwrap_or(1 + self.dice.below(3));
        if self.dice.one_in(6) {
            return self.grouped(&from, &condition, &scope, width);
        }
        let mut outputs = Vec::new();
        let mut names = Vec::new();
        for at in 0..width {
            let output = self.output(depth, &scope, outer);
            match output.rsplit_once('.') {
                // A column keeps its name now and then.
                Some((_, name))
                    if !output.contains(['(', ' '])
                        && self.dice.one_in(3)
                        && !names.contains(&name.to_owned()) =>
                {
                    names.push(name.to_owned());
                    outputs.push(output);
                }
                _ => {
                    let name = self.dice.one_of(&["i", "s", "m", "k1", "k2"]);
                    let name = if names.contains(&name.to_owned()) {
                        format!("o{at}")
                    } else {
                        name.into()
                    };
                    outputs.push(format!("{output} AS {name}"));
                    names.push(name);
                }
            }
        }
        let distinct = self.dice.one_of(&["", "", "", "", "DISTINCT "]);
        (
            format!("SELECT {distinct}{} FROM {from}{condition}", outputs.join(", ")),
            names,
        )
    }

    fn grouped(&mut self, from: &str, condition: &str, scope: &[String], width: usize) -> (String, Columns) {
        let by = self.column(scope);
        let mut outputs = vec![format!("{by} AS k1")];
        for at in 1..width {
            let column = self.column(scope);
            let function = self
                .dice
                .one_of(&["count(#)", "max(#)", "min(#)", "group_concat(quote(#))", "#"]);
            outputs.push(format!("{} AS o{at}", function.replace('#', &column)));
        }
        let names = (0..width).map(|at| if at == 0 { "k1".into() } else { format!("o{at}") });
        let group = match self.dice.below(4) {
            0 => String::new(),
            1 => format!(" GROUP BY {}, {by}", self.column(scope)),
            _ => format!(" GROUP BY {by}"),
        };
        let outputs = outputs.join(", ");
        let having = if group.is_empty() {
            ""
        } else {
            self.dice.one_of(&["", "", " HAVING count(*) > 1"])
        };
        (
            format!("SELECT {outputs} FROM {from}{condition}{group}{having}"),
            names.collect(),
        )
    }

    fn output(&mut self, depth: usize, scope: &[String], outer: &[String]) -> String {
        let column = self.column(scope);
        match self.dice.below(12) {
            0 => format!("upper({column})"),
            1 => format!("{column} COLLATE NOCASE"),
            2 => format!("({column})"),
            3 => literal(self.dice).to_owned(),
            4 | 5 if depth > 0 => self.subquery(depth - 1, scope, outer),
            6 if depth > 0 => self.json(depth - 1, scope, outer),
            7 if self.dice.one_in(3) => format!("row_number() OVER (ORDER BY {column})"),
            _ => column,
        }
    }

    /// A subquery that gives a value.
    fn subquery(&mut self, depth: usize, scope: &[String], outer: &[String]) -> String {
        let around: Vec<_> = scope.iter().chain(outer).cloned().collect();
        let (from, inner, _) = self.from(depth, &around);
        let condition = self.wheres(depth, &inner, &around);
        let column = self.column(&inner);
        let what = match self.dice.below(5) {
            0 => "count(*)".into(),
            1 => format!("max({column})"),
            2 => format!("group_concat(quote({column}))"),
            3 => self.column(&around),
            _ => column,
        };
        format!("(SELECT {what} FROM {from}{condition})")
    }

    /// The form that builders give a relation: the rows of a subquery as JSON.
    fn json(&mut self, depth: usize, scope: &[String], outer: &[String]) -> String {
        let around: Vec<_> = scope.iter().chain(outer).cloned().collect();
        let (text, columns) = self.select(depth, &around);
        let column = &columns[0];
        format!(
            "(SELECT coalesce(json_group_array(json_array(quote(\"{column}\"))), json_array()) FROM ({text}) AS \"t1\")"
        )
    }

    /// FROM, the columns in it, and those of its first source without qualifier.
    fn from(&mut self, depth: usize, outer: &[String]) -> (String, Columns, (String, Columns)) {
        let (mut text, alias, columns) = self.source(depth, outer);
        let qualified = |alias: &str, columns: &[String]| {
            let columns = columns.iter();
            columns
                .map(|column| format!("{alias}.{column}"))
                .collect::<Vec<_>>()
        };
        let mut scope = qualified(&alias, &columns);
        let first = (alias, columns);
        for _ in 0..self.dice.one_of(&[0, 0, 0, 1, 1, 2]) {
            let (next, alias, columns) = self.source(depth, outer);
            let mine = qualified(&alias, &columns);
            let on = self.on(depth, &scope, &mine, outer);
            let shared = columns
                .iter()
                .filter(|column| text.contains("u") && ["i", "s"].contains(&column.as_str()));
            let shared: Vec<_> = shared.collect();
            text += &match self.dice.below(14) {
                0..4 => format!(" JOIN {next} ON {on}"),
                4..8 => format!(" LEFT JOIN {next} ON {on}"),
                8 => format!(" RIGHT JOIN {next} ON {on}"),
                9 => format!(" FULL JOIN {next} ON {on}"),
                10 => format!(" NATURAL JOIN {next}"),
                11 if !shared.is_empty() => {
                    let join = self.dice.one_of(&["JOIN", "LEFT JOIN", "FULL JOIN"]);
                    format!(" {join} {next} USING ({})", shared[0])
                }
                12 => format!(", {next}"),
                _ => format!(" CROSS JOIN {next} ON {on}"),
            };
            scope.extend(mine);
        }
        if self.dice.one_in(12) {
            text += ", json_each('[1, 2]') AS j";
        }
        (text, scope, first)
    }

    /// A source, its alias, and its columns.
    fn source(&mut self, depth: usize, outer: &[String]) -> (String, String, Columns) {
        self.sources += 1;
        let alias = format!("z{}", self.sources);
        let owned = |columns: &[&str]| columns.iter().map(|&column| column.to_owned()).collect();
        let (name, columns): (String, Columns) = match self.dice.below(14) {
            0 | 1 if depth > 0 => {
                let (mut text, columns) = self.select(depth - 1, outer);
                if self.dice.one_in(4) && !text.contains(" LIMIT ") {
                    text += " LIMIT 3";
                }
                (format!("({text})"), columns)
            }
            2..5 if !self.common.is_empty() => {
                let at = self.dice.below(self.common.len());
                self.common[at].clone()
            }
            5..8 => {
                let (name, columns) = self.dice.one_of(&VIEWS);
                (name.into(), owned(columns))
            }
            8 | 9 => ("t".into(), owned(&OF_T[..8])),
            10 => ("a".into(), owned(&OF_A)),
            11 => ("p".into(), owned(&OF_P)),
            _ => ("main.u".into(), owned(&OF_U)),
        };
        let word = self.dice.one_of(&[" ", " AS "]);
        (format!("{name}{word}{alias}"), alias, columns)
    }

    fn on(&mut self, depth: usize, before: &[String], mine: &[String], outer: &[String]) -> String {
        let mut parts = Vec::new();
        if !self.dice.one_in(6) {
            let (one, other) = (self.key(before), self.key(mine));
            parts.push(format!("{one} = {other}"));
        }
        if parts.is_empty() || self.dice.one_in(2) {
            let side = if self.dice.one_in(3) { before } else { mine };
            parts.push(self.term(depth, side, outer));
        }
        parts.join(" AND ")
    }

    fn wheres(&mut self, depth: usize, scope: &[String], outer: &[String]) -> String {
        let count = if outer.is_empty() {
            self.dice.one_of(&[0, 1, 1, 1, 1, 2])
        } else {
            1 + self.dice.below(2)
        };
        let mut parts: Vec<String> = (0..count).map(|_| self.term(depth, scope, outer)).collect();
        if !outer.is_empty() && !self.dice.one_in(5) {
            let (one, other) = (self.key(scope), self.key(outer));
            parts.push(match self.dice.below(6) {
                0 => format!("{one} IS {other}"),
                1 => format!("{one} < {other}"),
                2 => format!("{other} = {one}"),
                _ => format!("{one} = {other}"),
            });
        }
        if parts.is_empty() {
            return String::new();
        }
        format!(" WHERE {}", parts.join(" AND "))
    }

    /// A condition; half of them of the forms that say something.
    fn term(&mut self, depth: usize, scope: &[String], outer: &[String]) -> String {
        let column = self.key(scope);
        match self.dice.below(20) {
            0..7 => format!("{column} = {}", self.value_for(&column)),
            7 | 8 => format!(
                "{column} {} {}",
                self.dice.one_of(&["<", ">=", "IS", ">"]),
                self.value_for(&column)
            ),
            9 => format!(
                "{column} IN ({}, {})",
                self.value_for(&column),
                self.value_for(&column)
            ),
            10 | 11 => format!("{column} IN (SELECT value FROM json_each(:json))"),
            12 | 13 => format!("{column} = {}", self.column(scope)),
            14 => format!("({column} = {} OR {} = 1)", self.value(), self.column(scope)),
            15 => format!("{column} IS NULL"),
            16 if depth > 0 => {
                let around: Vec<_> = scope.iter().chain(outer).cloned().collect();
                let not = self.dice.one_of(&["", "", "NOT "]);
                format!("{not}EXISTS ({})", self.select(depth - 1, &around).0)
            }
            17 if depth > 0 => {
                let inner = self.subquery(depth - 1, scope, outer);
                let operator = self.dice.one_of(&["IN", "NOT IN", "=", "IS"]);
                format!("{column} {operator} {inner}")
            }
            18 => format!("{column} = {} COLLATE NOCASE", self.value()),
            _ => format!("{column} = {}", self.value()),
        }
    }

    /// A value that the column may well have.
    fn value_for(&mut self, column: &str) -> String {
        if self.dice.one_in(4) {
            return self.value();
        }
        let values = match column.rsplit('.').next() {
            Some("s" | "q" | "k" | "z") => ["'a'", "'a'", "'A'", "'1'"],
            Some("m" | "x" | "v") => ["1", "'a'", "2", "'1'"],
            _ => ["0", "1", "1", "2"],
        };
        self.dice.one_of(&values).into()
    }

    fn value(&mut self) -> String {
        if self.dice.one_in(3) {
            return self.dice.one_of(&["?", "?", "?2", ":a"]).into();
        }
        literal(self.dice).into()
    }

    /// A column that is compared already, if there is one here.
    fn key(&mut self, scope: &[String]) -> String {
        let keys: Vec<&String> = scope.iter().filter(|column| self.keys.contains(column)).collect();
        let column = match keys[..] {
            [] => self.column(scope),
            _ if self.dice.one_in(4) => self.column(scope),
            _ => self.dice.one_of(&keys).clone(),
        };
        self.keys.push(column.clone());
        column
    }

    /// A column, mostly one that others have, too.
    fn column(&mut self, scope: &[String]) -> String {
        if !self.dice.one_in(3) {
            let is_common = |column: &&String| {
                ["i", "s", "m", "x", "k"].contains(&column.rsplit('.').next().unwrap_or(""))
            };
            let common: Vec<&String> = scope.iter().filter(is_common).collect();
            if !common.is_empty() {
                return common[self.dice.below(common.len())].clone();
            }
        }
        scope[self.dice.below(scope.len())].clone()
    }
}
