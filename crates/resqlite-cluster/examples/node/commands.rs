//! The commands to a node. Each command is an object with `id`, `do`, and:
//!
//! - `execute`: `sql`, `params`. Answers `position` and `rows`.
//! - `script`: `sql`, statements that make the schema.
//! - `batch`: `statements`, each `[sql, params]`. Answers `position`.
//! - `transaction`: `statements`; a parameter `{"of": n}` is the first value of what statement `n` returned, or NULL. Answers
//!   the `rows` of each.
//! - `read`: `sql`, `params`, and `fresh` if it must not be older than the question. Answers `rows`.
//! - `watch`: begins the live queries.
//! - `status`: how the node and its live queries are doing.
//! - `content`: a checksum of each table with its row ids, and of the schema, after everything that was acknowledged.

use std::sync::OnceLock;

use resqlite::{Params, Rows, Transaction, Value};
use resqlite_cluster::{Cluster, Error, Written};
use serde_json::{Value as Json, json};

use crate::{content, live::LiveQueries, plant::Plant, values};

/// A busy cluster overtakes a transaction again and again.
const RETRIES: usize = 1_000;

pub(crate) struct Commands {
    pub(crate) cluster: Cluster,
    live: OnceLock<LiveQueries>,
    plant: Plant,
}

/// A statement of a transaction.
struct Step {
    sql: String,
    params: Vec<Param>,
}

enum Param {
    Value(Value),
    /// The first value that an earlier statement returned.
    Of(usize),
}

impl Commands {
    pub(crate) fn new(cluster: Cluster, plant: Plant) -> Self {
        Self {
            cluster,
            live: OnceLock::new(),
            plant,
        }
    }

    pub(crate) fn close(self) {
        drop(self.live);
        self.cluster.close();
    }

    /// The line that answers a line.
    pub(crate) async fn answer(&self, line: &str) -> Json {
        let command: Json = serde_json::from_str(line).unwrap_or_default();
        match self.run(&command).await {
            Ok(done) => json!({ "id": command["id"], "done": done }),
            Err(Error::AnswerLost { position }) => {
                json!({ "id": command["id"], "done": { "position": position.0 } })
            }
            Err(error) => json!({ "id": command["id"], "code": error.code(), "message": error.to_string() }),
        }
    }

    async fn run(&self, command: &Json) -> Result<Json, Error> {
        match command["do"].as_str().unwrap_or_default() {
            "execute" => self.execute(command).await,
            "script" => self.script(command).await,
            "batch" => self.batch(command).await,
            "transaction" => self.transaction(command).await,
            "read" => self.read(command).await,
            "watch" => self.watch().await,
            "status" => Ok(self.status()),
            "content" => self.content().await,
            other => panic!("no command {other:?}"),
        }
    }

    async fn execute(&self, command: &Json) -> Result<Json, Error> {
        if self.plant.loses_this_write() {
            return Ok(json!({ "position": self.cluster.status().applied.0, "rows": [] }));
        }
        let (sql, params) = statement(&json!([command["sql"], command["params"]]));
        let written = self.cluster.execute(&sql, params).await?;
        Ok(json!({ "position": written.position.0, "rows": values::rows(&written.rows) }))
    }

    async fn script(&self, command: &Json) -> Result<Json, Error> {
        self.cluster
            .exec(command["sql"].as_str().unwrap_or_default())
            .await?;
        Ok(json!({}))
    }

    async fn batch(&self, command: &Json) -> Result<Json, Error> {
        let statements: Vec<_> = values::array(&command["statements"])
            .iter()
            .map(statement)
            .collect();
        let statements = statements
            .iter()
            .map(|(sql, params)| (sql.as_str(), params.clone()));
        let written: Vec<Written> = self.cluster.batch(statements).await?;
        Ok(json!({ "position": written.last().map_or(0, |written| written.position.0) }))
    }

    async fn transaction(&self, command: &Json) -> Result<Json, Error> {
        let steps: Vec<_> = values::array(&command["statements"]).iter().map(step).collect();
        let results = self
            .cluster
            .transaction(RETRIES, async |tx| run_steps(tx, &steps).await)
            .await?;
        Ok(json!({ "rows": results.iter().map(values::rows).collect::<Vec<_>>() }))
    }

    async fn read(&self, command: &Json) -> Result<Json, Error> {
        if command["fresh"] == true && !self.plant.reads_stale() {
            self.cluster.fresh().await?;
        }
        let (sql, params) = statement(&json!([command["sql"], command["params"]]));
        let rows = self.cluster.database().select(&sql, params).await?;
        Ok(json!({ "rows": values::rows(&rows) }))
    }

    async fn watch(&self) -> Result<Json, Error> {
        let live = LiveQueries::begin(self.cluster.database()).await?;
        let _ = self.live.set(live);
        Ok(json!({}))
    }

    fn status(&self) -> Json {
        let status = self.cluster.status();
        json!({
            "role": format!("{:?}", status.role),
            "applied": status.applied.0,
            "newest": status.newest.0,
            "behind": status.behind.as_millis() as u64,
            "writer": status.writer.map(|name| name.to_string()),
            "stopped": status.stopped.map(|stopped| stopped.message),
            "live": self.live.get().map(LiveQueries::stats),
        })
    }

    async fn content(&self) -> Result<Json, Error> {
        let position = self.cluster.fresh().await?;
        Ok(json!({ "position": position.0, "tables": content::checksums(self.cluster.database()).await? }))
    }
}

async fn run_steps(tx: &Transaction, steps: &[Step]) -> resqlite::Result<Vec<Rows>> {
    let mut results: Vec<Rows> = Vec::new();
    for step in steps {
        let value = |param: &Param| match param {
            Param::Value(value) => value.clone(),
            Param::Of(at) => first_of(&results[*at]),
        };
        let params: Vec<Value> = step.params.iter().map(value).collect();
        results.push(tx.query(&step.sql, params).await?.rows);
    }
    Ok(results)
}

fn first_of(rows: &Rows) -> Value {
    rows.first().map_or(Value::Null, |row| row.values()[0].clone())
}

/// Of `[sql, params]`.
fn statement(of: &Json) -> (String, Params) {
    let params: Vec<_> = values::array(&of[1]).iter().map(values::value).collect();
    (of[0].as_str().unwrap_or_default().to_owned(), params.into())
}

fn step(of: &Json) -> Step {
    let param = |param: &Json| match param["of"].as_u64() {
        Some(at) => Param::Of(at as usize),
        None => Param::Value(values::value(param)),
    };
    Step {
        sql: of[0].as_str().unwrap_or_default().to_owned(),
        params: values::array(&of[1]).iter().map(param).collect(),
    }
}
