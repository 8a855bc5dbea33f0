//! Encrypted databases. `scripts/ciphers.mjs` also runs the other tests with a key, to show that everything works on them.

mod contents;
mod copies;
mod keys;
mod rekey;
mod support;
