//! Encrypted databases. That everything else works on them, too, the other tests show when `scripts/ciphers.mjs` runs them
//! with a key.

mod contents;
mod copies;
mod keys;
mod rekey;
mod support;
