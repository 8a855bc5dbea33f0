//! A script: how a database is opened, and what happens to it, step by step. It has a text form, one step per line,
//! so that a script that failed can be kept, read and replayed.

use std::{fmt, str::FromStr};

use resqlite::Value;

use crate::text::{read_params, write_params};

/// SQL and its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    pub sql: String,
    pub params: Vec<Value>,
}

impl Statement {
    /// Another one with the same parameters.
    pub fn with_text(&self, sql: &str) -> Self {
        Self {
            sql: sql.into(),
            params: self.params.clone(),
        }
    }
}

/// One thing that happens. A step that makes no sense where it stands (`commit` outside of a transaction, say) does
/// nothing, so that any selection of steps is a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A second database file comes as `aux`, or goes.
    Attach,
    Detach,
    Subscribe {
        stream: usize,
        queries: Vec<Statement>,
    },
    Unsubscribe(usize),
    /// A write whose answer is waited for; in a transaction, if one is open.
    Write(Statement),
    /// A write whose answer is waited for only by the next step that waits.
    Queue(Statement),
    Batch {
        sql: String,
        sets: Vec<Vec<Value>>,
    },
    Script(String),
    /// A script that somebody else runs on the main file, between two transactions.
    Foreign(String),
    /// One of several handles is closed and opened again.
    Reopen,
    Begin,
    Commit,
    Rollback,
    Savepoint,
    Release,
    RollbackTo,
    /// Emissions are taken, but not acknowledged, until the next `check`.
    Lag,
    /// Waits until nothing is under way and looks whether every promise is kept.
    Check,
}

/// How the database is opened.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// In a file, not in memory.
    pub file: bool,
    pub readers: usize,
    pub statement_cache: usize,
    pub recursive_triggers: bool,
    /// Texts are stored as UTF-16; of files only.
    pub utf16: bool,
    /// `Database`s that are open on the file; writes take turns.
    pub handles: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub setup: Setup,
    pub steps: Vec<Step>,
}

impl Step {
    /// Whether the step writes, as far as its kind tells.
    pub fn writes(&self) -> bool {
        matches!(
            self,
            Self::Write(_) | Self::Queue(_) | Self::Batch { .. } | Self::Script(_) | Self::Foreign(_)
        )
    }

    /// Whether it is a statement that inserts where it changes anything.
    pub fn inserts(&self) -> bool {
        match self {
            Self::Write(Statement { sql, .. })
            | Self::Queue(Statement { sql, .. })
            | Self::Batch { sql, .. } => sql.starts_with("INSERT") && !sql.contains("DO UPDATE"),
            _ => false,
        }
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut params = String::new();
        write_params(&mut params, &self.params);
        write!(f, "{params} {}", self.sql)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attach => f.write_str("attach"),
            Self::Detach => f.write_str("detach"),
            Self::Subscribe { stream, queries } => {
                let queries: Vec<String> = queries.iter().map(ToString::to_string).collect();
                write!(f, "subscribe {stream} {}", queries.join(" ;; "))
            }
            Self::Unsubscribe(stream) => write!(f, "unsubscribe {stream}"),
            Self::Write(statement) => write!(f, "write {statement}"),
            Self::Queue(statement) => write!(f, "queue {statement}"),
            Self::Batch { sql, sets } => {
                let mut packed = String::new();
                sets.iter().for_each(|set| write_params(&mut packed, set));
                write!(f, "batch {packed} {sql}")
            }
            Self::Script(sql) => write!(f, "script {sql}"),
            Self::Foreign(sql) => write!(f, "foreign {sql}"),
            Self::Reopen => f.write_str("reopen"),
            Self::Begin => f.write_str("begin"),
            Self::Commit => f.write_str("commit"),
            Self::Rollback => f.write_str("rollback"),
            Self::Savepoint => f.write_str("savepoint"),
            Self::Release => f.write_str("release"),
            Self::RollbackTo => f.write_str("rollback-to"),
            Self::Lag => f.write_str("lag"),
            Self::Check => f.write_str("check"),
        }
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.file { "file" } else { "memory" };
        write!(
            f,
            "open {place} readers={} statement_cache={}",
            self.readers, self.statement_cache
        )?;
        if self.recursive_triggers {
            f.write_str(" recursive_triggers")?;
        }
        if self.utf16 {
            f.write_str(" utf16")?;
        }
        if self.handles > 1 {
            write!(f, " handles={}", self.handles)?;
        }
        Ok(())
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.setup)?;
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

fn read_statement(text: &str) -> Result<Statement, String> {
    let (params, sql) = read_params(text)?;
    Ok(Statement {
        sql: sql.into(),
        params,
    })
}

fn read_batch(text: &str) -> Result<Step, String> {
    let (mut sets, mut rest) = (Vec::new(), text);
    while rest.starts_with('[') {
        let (set, after) = read_params(rest)?;
        sets.push(set);
        rest = after;
    }
    Ok(Step::Batch {
        sql: rest.into(),
        sets,
    })
}

fn read_stream(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is no number of a stream"))
}

fn read_subscription(text: &str) -> Result<Step, String> {
    let (stream, queries) = text
        .split_once(' ')
        .ok_or("a stream without a query cannot be subscribed to")?;
    Ok(Step::Subscribe {
        stream: read_stream(stream)?,
        queries: queries
            .split(" ;; ")
            .map(read_statement)
            .collect::<Result<_, _>>()?,
    })
}

impl FromStr for Step {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Ok(match word {
            "attach" => Self::Attach,
            "detach" => Self::Detach,
            "subscribe" => return read_subscription(rest),
            "unsubscribe" => Self::Unsubscribe(read_stream(rest)?),
            "write" => Self::Write(read_statement(rest)?),
            "queue" => Self::Queue(read_statement(rest)?),
            "batch" => return read_batch(rest),
            "script" => Self::Script(rest.into()),
            "foreign" => Self::Foreign(rest.into()),
            "reopen" => Self::Reopen,
            "begin" => Self::Begin,
            "commit" => Self::Commit,
            "rollback" => Self::Rollback,
            "savepoint" => Self::Savepoint,
            "release" => Self::Release,
            "rollback-to" => Self::RollbackTo,
            "lag" => Self::Lag,
            "check" => Self::Check,
            _ => return Err(format!("{line:?} is no step")),
        })
    }
}

impl FromStr for Setup {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        if words.next() != Some("open") {
            return Err(format!("a script begins with open, not with {line:?}"));
        }
        let mut setup = Self {
            file: false,
            readers: 2,
            statement_cache: 128,
            recursive_triggers: false,
            utf16: false,
            handles: 1,
        };
        let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is no number"));
        for word in words {
            match word.split_once('=') {
                Some(("readers", count)) => setup.readers = number(count)?,
                Some(("statement_cache", count)) => setup.statement_cache = number(count)?,
                Some(("handles", count)) => setup.handles = number(count)?,
                None if word == "file" => setup.file = true,
                None if word == "memory" => setup.file = false,
                None if word == "recursive_triggers" => setup.recursive_triggers = true,
                None if word == "utf16" => setup.utf16 = true,
                _ => return Err(format!("{word:?} is no option of a script")),
            }
        }
        Ok(setup)
    }
}

impl FromStr for Script {
    type Err = String;

    /// Empty lines and lines that begin with `#` are left out.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut lines = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let setup = lines.next().ok_or("the script is empty")?.parse()?;
        let steps = lines.map(str::parse).collect::<Result<_, _>>()?;
        Ok(Self { setup, steps })
    }
}
