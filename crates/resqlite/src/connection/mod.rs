//! The engine's connections: where and how they are opened, what runs on them, and what names mean on each.

mod attachments;
pub(crate) mod compare;
pub(crate) mod cursors;
mod dependencies;
mod describe;
pub(crate) mod encryption;
pub(crate) mod engine_connection;
mod fetch;
pub(crate) mod file_health;
pub(crate) mod given;
pub(crate) mod groups;
pub(crate) mod halfway;
mod held_read;
mod integrity;
pub(crate) mod keep;
pub(crate) mod location;
pub(crate) mod open;
pub(crate) mod own_statements;
pub(crate) mod prepared;
mod query;
mod returning;
mod run;
pub(crate) mod schema_epoch;
pub(crate) mod schemas;
mod select;
mod unfit;
pub(crate) mod versions;
