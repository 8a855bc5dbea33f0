//! The check that the servers sync what they acknowledge. Only the system account can see the setting of the servers.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::Value;
use tokio::time::timeout;

use super::{connection, error::unknown, options::NatsOptions};
use crate::core::log::LogError;

/// The silence after the answer of another server after which a server is taken for down.
const SILENCE: Duration = Duration::from_millis(300);

/// Asks all servers that are up whether they sync.
pub(super) async fn check(options: &NatsOptions) -> Result<(), LogError> {
    let client = connection::open_system(options).await?;
    let inbox = client.new_inbox();
    let mut answers = client
        .subscribe(inbox.clone())
        .await
        .map_err(|error| unknown(&error))?;
    let ask = client.publish_with_reply("$SYS.REQ.SERVER.PING.VARZ", inbox, Bytes::new());
    ask.await.map_err(|error| unknown(&error))?;
    let mut patience = options.timeout;
    let mut heard = false;
    while let Ok(Some(answer)) = timeout(patience, answers.next()).await {
        if answer.payload.is_empty() {
            // NATS reports that no server listens there.
            break;
        }
        (heard, patience) = (true, SILENCE);
        check_one(&answer.payload)?;
    }
    if !heard {
        let why = "the user of the option `system` is not one of the system account: no server answers it";
        return Err(LogError::Unfit(why.to_owned()));
    }
    Ok(())
}

fn check_one(answer: &Bytes) -> Result<(), LogError> {
    let answer: Value = serde_json::from_slice(answer).map_err(|error| unknown(&error))?;
    let settings = &answer["data"]["jetstream"]["config"];
    if settings.is_object() && settings["sync_always"] != true {
        let name = answer["server"]["name"].as_str().unwrap_or("a server");
        let why = "can lose acknowledged entries with its power: set `jetstream { sync_interval: always }`";
        return Err(LogError::Unfit(format!("{name} {why}")));
    }
    Ok(())
}
