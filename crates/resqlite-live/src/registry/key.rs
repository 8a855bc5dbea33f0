//! Values by which streams are found.

use std::{
    borrow::Borrow,
    hash::{Hash, Hasher},
    slice,
};

use crate::value::Value;

/// One value for each of some columns, in the order of these. One alone, as most are, takes no memory elsewhere. It is
/// equal to, and hashed as, the slice of its values.
#[derive(Debug, Clone)]
pub(super) enum Key {
    One(Value),
    Several(Box<[Value]>),
}

impl Key {
    pub(super) fn values(&self) -> &[Value] {
        match self {
            Self::One(value) => slice::from_ref(value),
            Self::Several(values) => values,
        }
    }
}

impl From<Vec<Value>> for Key {
    fn from(mut values: Vec<Value>) -> Self {
        match values.pop() {
            Some(value) if values.is_empty() => Self::One(value),
            last => {
                values.extend(last);
                Self::Several(values.into())
            }
        }
    }
}

impl Borrow<[Value]> for Key {
    fn borrow(&self) -> &[Value] {
        self.values()
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.values() == other.values()
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.values().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Key, Value};

    #[test]
    fn a_key_is_found_by_the_slice_of_its_values() {
        for count in 0..4 {
            let values: Vec<_> = (0..count).map(Value::Integer).collect();
            let keys = HashSet::from([Key::from(values.clone())]);
            assert!(keys.contains(&values[..]));
            assert!(!keys.contains(&[Value::Integer(9)][..]));
        }
    }
}
