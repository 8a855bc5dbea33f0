//! Turns the file of a node whose log is lost into a file that founds a cluster.

use std::path::Path;

use resqlite::{Database, Value, log::Position};

use super::claims::Claim;
use crate::core::error::{Error, Result};

/// Turns the file of a node into a file that founds a cluster. Where the log is lost, a new log begins from the content of this
/// file. Returns the position that the file had in the lost log.
///
/// Nobody may have the file open. Choose the node with the highest position: what only other nodes had is lost. Open this file on
/// the new log first; all other nodes begin with new files.
///
/// ```
/// use std::sync::Arc;
/// use resqlite_cluster::{Cluster, NodeName, Options, MemoryLog, reseed};
///
/// # pollster::block_on(async {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("app.db");
/// # let path = path.to_str().unwrap();
/// # let options = || Options::new(NodeName::new("one").unwrap());
/// # let node = Cluster::open(path, options(), Arc::new(MemoryLog::new().connect())).await?;
/// # node.exec("CREATE TABLE t(a)").await?;
/// # node.close();
/// let position = reseed(path, resqlite::Options::default()).await?;
/// let node = Cluster::open(path, options(), Arc::new(MemoryLog::new().connect())).await?;
/// # assert_eq!(position, resqlite::log::Position(1));
/// # assert_eq!(node.database().select("SELECT a FROM t", ()).await?.len(), 0);
/// # node.close();
/// # Ok::<(), resqlite_cluster::Error>(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// [`Error::File`] if there is no file, or the file has no position, is open as a node in this process, or has change feeds.
/// Their consumers count by positions, so the feeds must be dropped first. The errors of the database; nothing has changed then.
pub async fn reseed(path: &str, options: resqlite::Options) -> Result<Position> {
    if !Path::new(path).is_file() {
        return Err(Error::File(format!("there is no file \"{path}\"")));
    }
    let _claim = Claim::of(path)?;
    let database = Database::open(path, options).await?;
    let forgotten = forget(&database, path).await;
    database.close().await?;
    forgotten
}

async fn forget(database: &Database, path: &str) -> Result<Position> {
    if !has_table(database, "_resqlite_position").await? {
        let message = format!("\"{path}\" is no file of a node: it founds a cluster as it is");
        return Err(Error::File(message));
    }
    if has_table(database, "_resqlite_feeds").await? {
        let message =
            format!("\"{path}\" has change feeds, and their positions end with the log: drop them first");
        return Err(Error::File(message));
    }
    Ok(database.forget_position().await?)
}

async fn has_table(database: &Database, name: &str) -> Result<bool> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE name = ?";
    Ok(!database.select(sql, [Value::from(name)]).await?.is_empty())
}
