//! The options of a log on NATS JetStream.

use std::{path::PathBuf, time::Duration};

use crate::core::log::{LogError, NodeName};

/// The servers of a log on NATS JetStream, and the limits of its calls.
///
/// ```
/// use resqlite_cluster::{NodeName, nats::NatsOptions};
///
/// let name = NodeName::new("shop").unwrap();
/// let mut options = NatsOptions::new(name, ["nats://10.0.0.1", "nats://10.0.0.2", "nats://10.0.0.3"]);
/// options.credentials = Some("/etc/shop/nats.creds".into());
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NatsOptions {
    /// The name of the cluster: streams and subjects begin with it.
    pub name: NodeName,
    /// The addresses of the servers; `nats://user:password@host:port` if they ask for a user.
    pub servers: Vec<String>,
    /// A file with the credentials of a user.
    pub credentials: Option<PathBuf>,
    /// The number of servers that keep each entry: 3, unless said otherwise. 1 is for trials: an entry is lost with its server.
    pub replicas: usize,
    /// The longest time that a call may take before it fails: 5 seconds, unless said otherwise.
    pub timeout: Duration,
    /// Addresses of servers with a user of the system account. With them, opening fails if a server does not sync each entry to
    /// its disk (`sync_interval: always`). Other users cannot see this setting.
    pub system: Vec<String>,
}

impl NatsOptions {
    /// Options for a cluster of this name on these servers.
    pub fn new<S: Into<String>>(name: NodeName, servers: impl IntoIterator<Item = S>) -> Self {
        Self {
            name,
            servers: servers.into_iter().map(Into::into).collect(),
            credentials: None,
            replicas: 3,
            timeout: Duration::from_secs(5),
            system: Vec::new(),
        }
    }

    /// Returns the longest time that one try may take. It is short because a message to a server that has just died is never
    /// answered.
    pub(super) fn patience(&self) -> Duration {
        self.timeout / 3
    }

    pub(super) fn check(&self) -> Result<(), LogError> {
        if self.servers.is_empty() {
            return Err(LogError::Unfit("the options name no server of NATS".to_owned()));
        }
        if !matches!(self.replicas, 1 | 3 | 5) {
            let replicas = self.replicas;
            return Err(LogError::Unfit(format!(
                "replicas is {replicas}; it can be 1, 3 or 5"
            )));
        }
        Ok(())
    }
}
