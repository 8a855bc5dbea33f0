//! Planted faults, to see that the tests find them.

/// Whether the mistake of this name is planted: in builds with `--cfg resqlite_fault`, the one that the environment
/// variable `RESQLITE_FAULT` names; in all others none, at no cost. See `scripts/faults.sh`.
#[cfg(not(resqlite_fault))]
#[inline(always)]
pub const fn planted(_: &str) -> bool {
    false
}

/// Whether the mistake of this name is planted.
#[cfg(resqlite_fault)]
pub fn planted(name: &str) -> bool {
    static PLANTED: std::sync::LazyLock<Option<String>> =
        std::sync::LazyLock::new(|| std::env::var("RESQLITE_FAULT").ok());
    PLANTED.as_deref() == Some(name)
}
