//! The engine under random schemas, queries and writes: every promise is checked against plain SQLite.
//!
//! A [script](script::Script) is made from a seed, run on a fresh engine with its streams, and checked whenever
//! nothing is under way. A plain connection does the same beside it, one statement after the other, each alone
//! ([`oracle`]): every outcome and all that is stored must be alike. A script that fails is shrunk and printed; `RESQLITE_LIVE_KEEP=1` writes it to
//! `regressions/`, whose scripts run first.

mod bank;
mod contents;
#[cfg(feature = "log")]
mod entries;
mod failing;
mod generate;
#[path = "../support/key.rs"]
mod key;
mod listening;
mod meanwhile;
mod oracle;
mod random;
mod rows;
mod runner;
mod script;
mod self_check;
mod shrink;
mod strangers;
mod streams;
mod text;
mod transfers;
mod world;
