//! Mistakes that tests plant, to see that the simulation finds them.

#[cfg(test)]
thread_local! {
    pub(crate) static PLANTED: std::cell::Cell<&'static str> = const { std::cell::Cell::new("") };
}

/// Whether the mistake of this name is planted.
#[cfg(test)]
pub(crate) fn planted(name: &str) -> bool {
    PLANTED.get() == name
}

#[cfg(not(test))]
pub(crate) const fn planted(_: &str) -> bool {
    false
}
