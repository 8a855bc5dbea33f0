//! The options of a log on etcd.

use std::{path::PathBuf, time::Duration};

use crate::core::{
    limits::PIECE_BYTES,
    log::{LogError, NodeName},
};

/// The servers of a log on etcd, and the limits of its calls.
///
/// ```
/// use resqlite_cluster::{NodeName, etcd::EtcdOptions};
///
/// let name = NodeName::new("shop").unwrap();
/// let options = EtcdOptions::new(name, ["http://10.0.0.1:2379", "http://10.0.0.2:2379", "http://10.0.0.3:2379"]);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EtcdOptions {
    /// The name of the cluster: keys begin with it.
    pub name: NodeName,
    /// The addresses of the servers: `http://host:2379`, or `https://host:2379`.
    pub servers: Vec<String>,
    /// A file with the certificate of the authority that the servers are certified by, if the system does not know that
    /// authority.
    pub authority: Option<PathBuf>,
    /// The files with our certificate and its key, if the servers ask for a certificate.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The longest time that a call may take before it fails: 5 seconds, unless said otherwise.
    pub timeout: Duration,
    /// The most bytes that one request can carry; a larger entry is sent in parts. At least 524,288; 1,500,000, unless said
    /// otherwise. The servers take 1,572,864 bytes for a request (`--max-request-bytes`), and keys need some of these.
    pub limit: usize,
}

impl EtcdOptions {
    /// Options for a cluster of this name on these servers.
    pub fn new<S: Into<String>>(name: NodeName, servers: impl IntoIterator<Item = S>) -> Self {
        Self {
            name,
            servers: servers.into_iter().map(Into::into).collect(),
            authority: None,
            identity: None,
            timeout: Duration::from_secs(5),
            limit: 1_500_000,
        }
    }

    pub(super) fn check(&self) -> Result<(), LogError> {
        if self.servers.is_empty() {
            return Err(LogError::Unfit("the options name no server of etcd".to_owned()));
        }
        if self.limit < PIECE_BYTES {
            let limit = self.limit;
            return Err(LogError::Unfit(format!(
                "limit is {limit}; it must be at least {PIECE_BYTES}"
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // G330
    #[test]
    fn a_limit_that_is_too_small_for_snapshots_is_refused() {
        let name = NodeName::new("shop").unwrap();
        let mut options = EtcdOptions::new(name, ["http://10.0.0.1:2379"]);
        options.limit = PIECE_BYTES;
        assert_eq!(options.check(), Ok(()));
        options.limit = PIECE_BYTES - 1;
        assert!(matches!(options.check(), Err(LogError::Unfit(why)) if why.contains("limit")));
    }
}
