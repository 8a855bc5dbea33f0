//! The engine's connections: how they are opened, what runs on them, and what names mean on each.

pub(crate) mod attachments;
pub(crate) mod engine_connection;
pub(crate) mod halfway;
pub(crate) mod open;
pub(crate) mod schemas;
pub(crate) mod unfit;
