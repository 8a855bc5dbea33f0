//! Random bytes.

use std::ffi::c_int;

use resqlite_sqlite_sys as ffi;

/// Returns random bytes of SQLite's generator, which the operating system seeds.
#[allow(unsafe_code)]
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // SAFETY: the array has N bytes.
    unsafe { ffi::sqlite3_randomness(N as c_int, bytes.as_mut_ptr().cast()) };
    bytes
}
