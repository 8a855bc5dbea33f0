//! Nodes of one process.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use pollster::block_on;
use resqlite::{Rows, Value};
use resqlite_cluster::{Cluster, Error, MemoryConnection, MemoryLog, NodeName, Options, Result, Written};
use tempfile::TempDir;

/// A log, and a folder for the files of nodes.
pub struct World {
    pub log: MemoryLog,
    pub folder: TempDir,
}

/// A node, and its connection to the log.
pub struct Node {
    pub cluster: Cluster,
    pub connection: MemoryConnection,
}

impl World {
    pub fn new() -> Self {
        Self {
            log: MemoryLog::new(),
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Three nodes, and a table that all of them have.
    pub fn of_three(schema: &str) -> (Self, [Node; 3]) {
        let world = Self::new();
        let nodes = ["a", "b", "c"].map(|name| world.open(name));
        block_on(nodes[0].cluster.exec(schema)).unwrap();
        nodes.iter().for_each(Node::catch_up);
        (world, nodes)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.db"))
    }

    pub fn open(&self, name: &str) -> Node {
        self.open_with(name, |_| ()).unwrap()
    }

    pub fn open_with(&self, name: &str, change: impl FnOnce(&mut Options)) -> Result<Node> {
        self.open_on(self.log.connect(), name, change)
    }

    pub fn open_on(
        &self,
        connection: MemoryConnection,
        name: &str,
        change: impl FnOnce(&mut Options),
    ) -> Result<Node> {
        let mut options = Options::new(NodeName::new(name).unwrap());
        options.write_timeout = Duration::from_secs(20);
        change(&mut options);
        let path = self.path(name);
        let opened = Cluster::open(path.to_str().unwrap(), options, Arc::new(connection.clone()));
        Ok(Node {
            cluster: block_on(opened)?,
            connection,
        })
    }
}

impl Node {
    pub fn run(&self, sql: &str) -> Written {
        block_on(self.cluster.execute(sql, ())).unwrap()
    }

    /// Waits until no live query runs. One that still runs may show a later commit than the number that it tells.
    pub fn wait_until_quiet(&self) {
        let (tell, hear) = std::sync::mpsc::channel();
        let engine = self.cluster.database().engine();
        engine.when_quiet(Box::new(move || tell.send(()).unwrap()));
        hear.recv().unwrap();
    }

    pub fn fails(&self, sql: &str) -> Error {
        block_on(self.cluster.execute(sql, ())).unwrap_err()
    }

    pub fn select(&self, sql: &str) -> Rows {
        block_on(self.cluster.database().select(sql, ())).unwrap()
    }

    pub fn integers(&self, sql: &str) -> Vec<i64> {
        let integer = |value: &Value| match value {
            Value::Integer(value) => *value,
            other => panic!("{other:?} is no integer"),
        };
        self.select(sql)
            .iter()
            .map(|row| integer(&row.values()[0]))
            .collect()
    }

    /// Waits until it shows what has been acknowledged anywhere.
    pub fn catch_up(&self) {
        block_on(self.cluster.fresh()).unwrap();
    }

    pub fn close(self) {
        self.cluster.close();
    }
}

/// Waits for what comes by itself.
pub fn wait_until(is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "it did not come");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What the three have in common with each other.
pub fn assert_equal(nodes: &[Node], sql: &str) -> Vec<i64> {
    nodes.iter().for_each(Node::catch_up);
    let first = nodes[0].integers(sql);
    for node in &nodes[1..] {
        assert_eq!(node.integers(sql), first);
    }
    first
}

pub fn insert(nodes: &[Node], values: impl IntoIterator<Item = i64>) {
    std::thread::scope(|scope| {
        for (at, value) in values.into_iter().enumerate() {
            let node = &nodes[at % nodes.len()];
            scope.spawn(move || {
                let insert = node.cluster.execute("INSERT INTO t VALUES (?)", [value.into()]);
                let written = block_on(insert).unwrap();
                // Who has written reads it.
                let there = node.integers(&format!("SELECT count(*) FROM t WHERE a = {value}"));
                assert_eq!((written.changes, there), (1, vec![1]));
            });
        }
    });
}
