//! What stands in the log.

use std::io::{self, Write};

use futures_util::StreamExt;
use resqlite_cluster::{Log, LogError};
use serde_json::json;

use crate::Outcome;

pub(crate) async fn print(log: &dyn Log) -> Outcome<()> {
    let last = log.last().await?;
    let first = match log.read(1).await {
        Err(LogError::Purged { first }) => first,
        _ => 1,
    };
    let mut entries = log.tail(first).take((last + 1 - first).try_into()?);
    let mut out = io::BufWriter::new(io::stdout());
    while let Some(entry) = entries.next().await {
        let (position, bytes) = entry?;
        writeln!(out, "{}", json!([position, marks(&bytes)]))?;
    }
    Ok(())
}

/// What stands between `<<` and `>>`.
fn marks(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let marks = text.split("<<").skip(1).filter_map(|rest| rest.split_once(">>"));
    marks.map(|(mark, _)| mark.to_owned()).collect()
}
