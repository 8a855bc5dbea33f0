//! All groups of one query.

use hashbrown::HashMap;

use crate::{
    groups::{
        aggregate::Aggregate,
        change::{Contribution, GroupsChange},
        doubt::Doubt,
        group::Group,
    },
    value::Value,
};

/// The groups of a query with GROUP BY or DISTINCT, or the single group of a query that has only aggregates. Values of groups
/// compare under BINARY.
///
/// ```
/// use resqlite_live::{Aggregate, AggregateValue, Contribution, GroupTerm, Groups, Value};
/// // SELECT city, sum(age) FROM users GROUP BY city
/// let mut groups = Groups::new([GroupTerm::default()].into(), [Aggregate::Sum].into());
/// let city = |city: &str| Value::Text(city.as_bytes().into());
/// for (name, age) in [("Bern", 30), ("Bern", 20), ("Genf", 50)] {
///     groups.add(&[city(name)], &[Value::Integer(age)])?;
/// }
/// // The user of 20 years moves.
/// let user = |name| Contribution { group: [city(name)].into(), arguments: [Value::Integer(20)].into() };
/// let change = groups.plan(&[user("Genf")], &[user("Bern")])?;
/// assert_eq!(change.len(), 2);
/// groups.apply(change);
/// let genf = groups.get(&[city("Genf")]).expect("a group");
/// assert_eq!(genf.value(0), AggregateValue::Integer(70));
/// # Ok::<(), resqlite_live::Doubt>(())
/// ```
#[derive(Debug)]
pub struct Groups {
    terms: Box<[GroupTerm]>,
    aggregates: Box<[Aggregate]>,
    groups: HashMap<Box<[Value]>, Group>,
    /// The number of changes so far.
    version: u64,
    /// The number of bytes that values and groups hold outside the map.
    pub(super) heap: usize,
}

/// A term of GROUP BY.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupTerm {
    /// The term is a column of REAL affinity, so that no group has an INTEGER.
    pub is_real: bool,
}

impl Groups {
    /// Returns the groups of no rows. Without terms there is one group, which has no values and always stays.
    pub fn new(terms: Box<[GroupTerm]>, aggregates: Box<[Aggregate]>) -> Self {
        let mut groups = Self {
            terms,
            aggregates,
            groups: HashMap::new(),
            version: 0,
            heap: 0,
        };
        if groups.terms.is_empty() {
            groups.set([].into(), Group::new(&groups.aggregates));
        }
        groups
    }

    /// Adds a row of a full run.
    ///
    /// # Errors
    /// The groups would not be the groups that SQLite finds. They must not be used any more.
    ///
    /// # Panics
    /// A term has no value or an aggregate has no argument, or there are too many of them.
    pub fn add(&mut self, values: &[Value], arguments: &[Value]) -> Result<(), Doubt> {
        self.check(values)?;
        self.version += 1;
        let Some(group) = self.groups.get_mut(values) else {
            let mut group = Group::new(&self.aggregates);
            group.add(arguments)?;
            self.set(values.into(), group);
            return Ok(());
        };
        let before = group.heap_bytes();
        group.add(arguments)?;
        self.heap = self.heap - before + group.heap_bytes();
        group.check()
    }

    /// Returns the change of the groups when the rows `came` enter and the rows `left` leave. A row that changes both leaves and
    /// enters. Some groups can then be known only from their rows ([`GroupsChange::unknown`]).
    ///
    /// # Errors
    /// The new groups are not known. The present groups stay as they are.
    ///
    /// # Panics
    /// As [`add`](Self::add).
    pub fn plan(&self, came: &[Contribution], left: &[Contribution]) -> Result<GroupsChange, Doubt> {
        let mut groups = HashMap::new();
        // The rows that enter are first. So if an extreme leaves and the same row brings its successor, the successor is there
        // already.
        for row in came {
            self.changing(&mut groups, &row.group)?.add(&row.arguments)?;
        }
        for row in left {
            self.changing(&mut groups, &row.group)?.subtract(&row.arguments)?;
        }
        let mut unknown = Vec::new();
        for (values, group) in &groups {
            match group.check() {
                Err(Doubt::ExtremeLeft) => unknown.push(values.clone()),
                checked => checked?,
            }
        }
        let stays = |group: &Group| group.rows() > 0 || self.terms.is_empty();
        let groups = groups.into_iter();
        let groups = groups.map(|(values, group)| (values, Some(group).filter(stays)));
        Ok(GroupsChange {
            version: self.version,
            groups: groups
                .filter(|(values, group)| self.groups.get(values) != group.as_ref())
                .collect(),
            unknown,
        })
    }

    /// Makes the change.
    ///
    /// # Panics
    /// The groups have changed since the change was planned, or some are unknown.
    pub fn apply(&mut self, change: GroupsChange) {
        assert_eq!(change.version, self.version, "the change is for these groups");
        assert!(change.unknown.is_empty(), "all groups are known");
        self.version += 1;
        for (values, group) in change.groups {
            self.remove(&values);
            if let Some(group) = group {
                self.set(values, group);
            }
        }
    }

    /// Returns the group that has these values.
    pub fn get(&self, values: &[Value]) -> Option<&Group> {
        self.groups.get(values)
    }

    /// Returns the group that has these values, together with the values that the group itself stores.
    pub fn get_key_value(&self, values: &[Value]) -> Option<(&[Value], &Group)> {
        let found = self.groups.get_key_value(values);
        found.map(|(values, group)| (&**values, group))
    }

    /// Returns all groups with their values, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&[Value], &Group)> {
        self.groups.iter().map(|(values, group)| (&**values, group))
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the approximate number of bytes on the heap, in constant time.
    pub fn weight(&self) -> usize {
        self.heap + self.groups.allocation_size()
    }

    /// Checks that a group of these values shows the values as SQLite does.
    fn check(&self, values: &[Value]) -> Result<(), Doubt> {
        assert_eq!(values.len(), self.terms.len(), "one value for each term");
        let is_doubtful = |(value, term): (&Value, &GroupTerm)| {
            let Value::Real(real) = value else {
                return false;
            };
            let is_negative_zero = *real == 0.0 && real.is_sign_negative();
            is_negative_zero || !term.is_real && value.is_whole()
        };
        if values.iter().zip(&self.terms).any(is_doubtful) {
            return Err(Doubt::EqualGroups);
        }
        Ok(())
    }

    /// Returns a copy of the group for a change to alter.
    fn changing<'a>(
        &self,
        groups: &'a mut HashMap<Box<[Value]>, Group>,
        values: &[Value],
    ) -> Result<&'a mut Group, Doubt> {
        self.check(values)?;
        let now = || self.groups.get(values).cloned();
        let group = groups.entry(values.into());
        Ok(group.or_insert_with(|| now().unwrap_or_else(|| Group::new(&self.aggregates))))
    }

    fn set(&mut self, values: Box<[Value]>, group: Group) {
        self.heap += heap_bytes(&values) + group.heap_bytes();
        self.groups.insert(values, group);
    }

    fn remove(&mut self, values: &[Value]) {
        if let Some((values, group)) = self.groups.remove_entry(values) {
            self.heap -= heap_bytes(&values) + group.heap_bytes();
        }
    }
}

fn heap_bytes(values: &[Value]) -> usize {
    size_of_val(values) + values.iter().map(Value::heap_bytes).sum::<usize>()
}
