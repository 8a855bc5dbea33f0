//! Connecting to the servers.

use async_nats::{Client, ConnectErrorKind, ConnectOptions, ServerAddr};
use futures_util::FutureExt;

use super::options::NatsOptions;
use crate::core::{
    deadline::{Deadline, RETRY},
    log::LogError,
};

pub(super) async fn open(options: &NatsOptions, deadline: &Deadline) -> Result<Client, LogError> {
    let mut settings = ConnectOptions::new()
        .name(format!("resqlite {}", options.name))
        .connection_timeout(options.timeout / 5)
        .request_timeout(Some(options.patience()))
        .ping_interval(options.timeout / 5)
        .reconnect_delay_callback(|_| RETRY);
    if let Some(file) = &options.credentials {
        let read = settings.credentials_file(file).await;
        settings = read.map_err(|error| LogError::Unfit(format!("{}: {error}", file.display())))?;
    }
    let servers = addresses(&options.servers)?;
    let settings = with_user(settings, &servers);
    deadline
        .retry(|| connect(settings.clone(), servers.clone()).boxed())
        .await
}

/// Connects as a user of the system account.
pub(super) async fn open_system(options: &NatsOptions) -> Result<Client, LogError> {
    let servers = addresses(&options.system)?;
    let settings = ConnectOptions::new().connection_timeout(options.timeout);
    connect(with_user(settings, &servers), servers).await
}

async fn connect(settings: ConnectOptions, servers: Vec<ServerAddr>) -> Result<Client, LogError> {
    settings
        .connect(servers)
        .await
        .map_err(|error| match error.kind() {
            ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                LogError::Unfit(format!("NATS does not let us in: {error}"))
            }
            _ => LogError::Unreachable(error.to_string()),
        })
}

fn addresses(servers: &[String]) -> Result<Vec<ServerAddr>, LogError> {
    // The message leaves out the address, which may hold a password.
    let address = |(n, server): (usize, &String)| {
        server
            .parse()
            .map_err(|error| LogError::Unfit(format!("the address of server {} of NATS: {error}", n + 1)))
    };
    servers.iter().enumerate().map(address).collect()
}

/// Sets one user for all servers. The client takes no user from an address, and the servers tell it addresses without a user.
fn with_user(settings: ConnectOptions, servers: &[ServerAddr]) -> ConnectOptions {
    let user = servers
        .iter()
        .find_map(|server| server.username().zip(server.password()));
    match user {
        Some((user, password)) => settings.user_and_password(user.to_owned(), password.to_owned()),
        None => settings,
    }
}
