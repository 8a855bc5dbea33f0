//! Fingerprints: rows compared by 64 bits.

use std::hash::Hasher;

use rapidhash::quality::RapidHasher;
use resqlite_sqlite::{Statement, ValueRef};

/// Returns a hash of the current row of a statement. Storage classes count: `1`, `1.0` and `'1'` differ. Two different rows have
/// the same hash with a probability of 2^-64, and nobody outside the process knows the seed.
#[inline]
pub(crate) fn fingerprint(statement: &Statement, columns: usize, seed: u64) -> u64 {
    let mut hasher = RapidHasher::new(seed);
    for column in 0..columns {
        match statement.column(column) {
            ValueRef::Null => hasher.write_u64(0),
            ValueRef::Integer(value) => {
                hasher.write_u64(1);
                hasher.write_i64(value);
            }
            ValueRef::Real(value) => {
                hasher.write_u64(2);
                hasher.write_u64(value.to_bits());
            }
            ValueRef::Text(bytes) => write(&mut hasher, 3, bytes),
            ValueRef::Blob(bytes) => write(&mut hasher, 4, bytes),
        }
    }
    hasher.finish()
}

/// Hashes one cell. The length is hashed first, so that no cell can look like the beginning of another.
#[inline]
fn write(hasher: &mut RapidHasher<'_>, class: u64, bytes: &[u8]) {
    hasher.write_u64(class | (bytes.len() as u64) << 8);
    hasher.write(bytes);
}
