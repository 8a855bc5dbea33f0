//! The logs under test. Each test has a log of its own, and as many clients of it as it wants.

use resqlite_cluster::{Log, MemoryConnection, MemoryLog};

/// A log without entries, of which one can have clients.
pub(crate) trait Logs: Sized {
    type Client: Log;

    fn start() -> Self;
    async fn client(&self) -> Self::Client;
    /// The bytes of the largest entry.
    fn limit(client: &Self::Client) -> usize;
}

pub(crate) struct Memory(MemoryLog);

impl Logs for Memory {
    type Client = MemoryConnection;

    fn start() -> Self {
        Self(MemoryLog::new())
    }

    async fn client(&self) -> MemoryConnection {
        self.0.connect()
    }

    fn limit(_client: &MemoryConnection) -> usize {
        1 << 20
    }
}

#[cfg(feature = "nats")]
pub(crate) use self::nats::Nats;

#[cfg(feature = "nats")]
mod nats {
    use resqlite_cluster::{
        NodeName,
        nats::{NatsLog, NatsOptions},
    };

    use super::Logs;
    use crate::servers::{servers, unused_name};

    pub(crate) struct Nats(NodeName);

    impl Nats {
        /// Of a log that is not there yet.
        pub(crate) fn options() -> NatsOptions {
            Self::start().client_options()
        }

        fn client_options(&self) -> NatsOptions {
            let mut options = NatsOptions::new(self.0.clone(), servers("RESQLITE_NATS"));
            options.system = servers("RESQLITE_NATS_SYSTEM");
            options
        }
    }

    impl Logs for Nats {
        type Client = NatsLog;

        fn start() -> Self {
            Self(unused_name())
        }

        async fn client(&self) -> NatsLog {
            NatsLog::open(self.client_options()).await.unwrap()
        }

        fn limit(client: &NatsLog) -> usize {
            client.limit()
        }
    }
}

#[cfg(feature = "etcd")]
pub(crate) use self::etcd::Etcd;

#[cfg(feature = "etcd")]
mod etcd {
    use resqlite_cluster::{
        NodeName,
        etcd::{EtcdLog, EtcdOptions},
    };

    use super::Logs;
    use crate::servers::{servers, unused_name};

    pub(crate) struct Etcd(NodeName);

    impl Logs for Etcd {
        type Client = EtcdLog;

        fn start() -> Self {
            Self(unused_name())
        }

        async fn client(&self) -> EtcdLog {
            let options = EtcdOptions::new(self.0.clone(), servers("RESQLITE_ETCD"));
            EtcdLog::open(options).await.unwrap()
        }

        fn limit(client: &EtcdLog) -> usize {
            client.limit()
        }
    }
}
