//! Calls to the servers. The same server is asked until it fails.

use std::{
    future::Future,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use prost::Message;
use tokio::time::timeout;
use tonic::{
    Code, Request, Response, Status, Streaming,
    client::Grpc,
    codegen::http::uri::PathAndQuery,
    metadata::MetadataValue,
    transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity},
};
use tonic_prost::ProstCodec;

use super::{
    options::EtcdOptions,
    proto::{Lease, LeaseKeepAlive, Txn, TxnResponse, WatchCreate, WatchRequest, WatchResponse},
};
use crate::core::log::LogError;

const CONNECT: Duration = Duration::from_secs(1);
/// The time between two pings of a server. A server that does not answer for that time is taken for dead.
const PULSE: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub(super) struct Client {
    servers: Vec<Channel>,
    /// The number of the server that is asked. If it fails, another server is asked.
    preferred: AtomicUsize,
    /// The longest time that one server may take.
    patience: Duration,
}

impl Client {
    pub(super) fn new(options: &EtcdOptions) -> Result<Self, LogError> {
        let tls = tls(options)?;
        let servers = options.servers.iter().map(|server| channel(server, &tls));
        Ok(Self {
            servers: servers.collect::<Result<_, _>>()?,
            preferred: AtomicUsize::new(0),
            patience: options.timeout / 3,
        })
    }

    pub(super) async fn txn(&self, txn: Txn) -> Result<TxnResponse, LogError> {
        self.txn_on(self.preferred(), txn).await
    }

    /// Runs a transaction on the given server.
    pub(super) async fn txn_on(&self, server: usize, txn: Txn) -> Result<TxnResponse, LogError> {
        self.call_on(server, "/etcdserverpb.KV/Txn", txn).await
    }

    /// Makes one call to one server. After an error, the call may have taken effect.
    pub(super) async fn call<Q, A>(&self, path: &'static str, request: Q) -> Result<A, LogError>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        self.call_on(self.preferred(), path, request).await
    }

    async fn call_on<Q, A>(&self, preferred: usize, path: &'static str, request: Q) -> Result<A, LogError>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let mut grpc = self.grpc(preferred);
        let call = async {
            ready(&mut grpc).await?;
            let request = Request::new(request);
            grpc.unary(request, PathAndQuery::from_static(path), ProstCodec::default())
                .await
        };
        self.answer(preferred, call).await
    }

    /// Watches keys for changes after a revision.
    pub(super) async fn watch(&self, key: Bytes, range_end: Bytes, after: i64) -> Result<Watch, LogError> {
        let create = WatchCreate {
            key,
            range_end,
            start_revision: after + 1,
            filters: vec![1],
        };
        let request = WatchRequest { create: Some(create) };
        self.converse("/etcdserverpb.Watch/Watch", request).await
    }

    pub(super) async fn keep_alive(&self, id: i64) -> Result<Lease, LogError> {
        let mut answers: Streaming<Lease> = self
            .converse("/etcdserverpb.Lease/LeaseKeepAlive", LeaseKeepAlive { id })
            .await?;
        let answer = timeout(self.patience, answers.message())
            .await
            .unwrap_or_else(|_| Err(late()));
        let lease = answer.map_err(|status| unknown(&status))?;
        lease.ok_or_else(|| LogError::Unknown("the lease was not answered for".to_owned()))
    }

    /// Sends one message, and keeps the stream open for as long as the answers are kept.
    async fn converse<Q, A>(&self, path: &'static str, request: Q) -> Result<Streaming<A>, LogError>
    where
        Q: Message + Sync + 'static,
        A: Message + Default + 'static,
    {
        let preferred = self.preferred();
        let mut grpc = self.grpc(preferred);
        let open = stream::once(async { request });
        let mut request = Request::new(futures_util::StreamExt::chain(open, stream::pending()));
        // A server without a leader then ends the stream instead of being silent.
        request
            .metadata_mut()
            .insert("hasleader", MetadataValue::from_static("true"));
        let call = async {
            ready(&mut grpc).await?;
            grpc.streaming(request, PathAndQuery::from_static(path), ProstCodec::default())
                .await
        };
        self.answer(preferred, call).await
    }

    /// Awaits the answer of a server, for as long as the server may take.
    async fn answer<A>(
        &self,
        server: usize,
        call: impl Future<Output = Result<Response<A>, Status>>,
    ) -> Result<A, LogError> {
        let answer = timeout(self.patience, call).await.unwrap_or_else(|_| Err(late()));
        answer
            .map(Response::into_inner)
            .map_err(|status| self.failed(server, &status))
    }

    /// The number of the server that is asked.
    pub(super) fn preferred(&self) -> usize {
        self.preferred.load(Ordering::Relaxed)
    }

    /// Turns to another server, if no other call has done so yet.
    pub(super) fn turn(&self) {
        self.turn_from(self.preferred());
    }

    fn turn_from(&self, failed: usize) {
        self.turn_to(failed, (failed + 1) % self.servers.len());
    }

    /// Turns from server `from` to server `to`, if no other call has turned from it yet.
    pub(super) fn turn_to(&self, from: usize, to: usize) {
        let _ = self
            .preferred
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }

    fn grpc(&self, preferred: usize) -> Grpc<Channel> {
        let channel = self.servers[preferred].clone();
        Grpc::new(channel).max_decoding_message_size(usize::MAX)
    }

    fn failed(&self, preferred: usize, status: &Status) -> LogError {
        let why = status.message();
        match status.code() {
            Code::InvalidArgument
            | Code::FailedPrecondition
            | Code::Unauthenticated
            | Code::PermissionDenied => LogError::Unfit(format!("etcd refuses: {why}")),
            Code::ResourceExhausted => LogError::Unfit(format!("etcd has no room: {why}")),
            _ => {
                self.turn_from(preferred);
                unknown(status)
            }
        }
    }
}

pub(super) type Watch = Streaming<WatchResponse>;

async fn ready(grpc: &mut Grpc<Channel>) -> Result<(), Status> {
    let ready = grpc.ready().await;
    ready.map_err(|error| Status::unavailable(error.to_string()))
}

fn channel(server: &str, tls: &ClientTlsConfig) -> Result<Channel, LogError> {
    let unusable = |error: tonic::transport::Error| LogError::Unfit(format!("{server}: {error}"));
    let mut endpoint = Endpoint::from_shared(server.to_owned()).map_err(unusable)?;
    if server.starts_with("https:") {
        endpoint = endpoint.tls_config(tls.clone()).map_err(unusable)?;
    }
    let endpoint = endpoint
        .connect_timeout(CONNECT)
        .http2_keep_alive_interval(PULSE)
        .keep_alive_timeout(PULSE)
        .keep_alive_while_idle(true);
    Ok(endpoint.connect_lazy())
}

fn tls(options: &EtcdOptions) -> Result<ClientTlsConfig, LogError> {
    let mut tls = ClientTlsConfig::new().with_native_roots();
    if let Some(authority) = &options.authority {
        tls = tls.ca_certificate(Certificate::from_pem(read(authority)?));
    }
    if let Some((certificate, key)) = &options.identity {
        tls = tls.identity(Identity::from_pem(read(certificate)?, read(key)?));
    }
    Ok(tls)
}

fn read(file: &Path) -> Result<Vec<u8>, LogError> {
    std::fs::read(file).map_err(|error| LogError::Unfit(format!("{}: {error}", file.display())))
}

fn late() -> Status {
    Status::deadline_exceeded("no answer in time")
}

fn unknown(status: &Status) -> LogError {
    LogError::Unknown(status.message().to_owned())
}
