//! Groups that are kept ([`resqlite_live::Groups`]) are what SQLite finds, in whatever order it reads the rows.

use proptest::{collection::vec, prelude::*, sample};
use resqlite_live::{
    Aggregate, AggregateValue, Contribution, Doubt, Group, GroupTerm, Groups, GroupsChange, Value,
};
use resqlite_sqlite::{Access, Connection, Rows, ValueRef};

const AGGREGATES: [Aggregate; 7] = [
    Aggregate::Rows,
    Aggregate::Count,
    Aggregate::Sum,
    Aggregate::Total,
    Aggregate::Average,
    Aggregate::Min,
    Aggregate::Max,
];
/// The aggregates behind the values of the group.
const QUERY: &str = "SELECT g, h, count(*), count(x), sum(x), total(x), avg(x), min(x), max(x) FROM sqlite_rows GROUP BY g, h";

/// Rows of two values of groups and one to aggregate.
type Row = [Value; 3];

struct Table(Vec<Row>);

impl Rows for Table {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn rowid(&self, row: usize) -> Option<i64> {
        Some(row as i64)
    }

    fn value(&self, row: usize, column: usize) -> Option<ValueRef<'_>> {
        Some(match &self.0[row][column] {
            Value::Null => ValueRef::Null,
            Value::Integer(integer) => ValueRef::Integer(*integer),
            Value::Real(real) => ValueRef::Real(*real),
            Value::Text(bytes) => ValueRef::Text(bytes),
            Value::Blob(bytes) => ValueRef::Blob(bytes),
        })
    }
}

/// All groups in a text that tells types and signs apart, sorted; or the error's message.
fn of_sqlite(rows: &[Row]) -> Result<Vec<String>, String> {
    let connection = Connection::open(":memory:", Access::ReadWriteCreate, None).unwrap();
    let table = connection.register_given_rows("sqlite_rows", "g, h, x").unwrap();
    let mut statement = connection.prepare(QUERY, false).unwrap().statement.unwrap();
    let mut groups = Vec::new();
    let ended = table.show(&Table(rows.to_vec()), || {
        while statement.step()? {
            let values = (0..statement.column_count()).map(|column| match statement.column(column) {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(integer) => Value::Integer(integer),
                ValueRef::Real(real) => Value::Real(real),
                ValueRef::Text(bytes) => Value::Text(bytes.into()),
                ValueRef::Blob(bytes) => Value::Blob(bytes.into()),
            });
            groups.push(format!("{:?}", values.collect::<Vec<_>>()));
        }
        Ok(())
    });
    groups.sort();
    ended
        .map(|()| groups)
        .map_err(|error: resqlite_sqlite::Error| error.message().to_owned())
}

fn of_groups(groups: &Groups) -> Vec<String> {
    let value = |group: &Group, at| match group.value(at) {
        AggregateValue::Null => Value::Null,
        AggregateValue::Integer(integer) => Value::Integer(integer),
        AggregateValue::Real(real) => Value::Real(real),
        AggregateValue::Extreme(value) => value.clone(),
    };
    let text = |(values, group): (&[Value], &Group)| {
        let aggregates = (0..AGGREGATES.len()).map(|at| value(group, at));
        format!(
            "{:?}",
            values.iter().cloned().chain(aggregates).collect::<Vec<_>>()
        )
    };
    let mut texts: Vec<String> = groups.iter().map(text).collect();
    texts.sort();
    texts
}

fn contribution([g, h, x]: &Row) -> Contribution {
    Contribution {
        group: [g.clone(), h.clone()].into(),
        arguments: vec![x.clone(); AGGREGATES.len()].into(),
    }
}

fn run(rows: &[Row]) -> Result<Groups, Doubt> {
    let mut groups = Groups::new([GroupTerm::default(); 2].into(), AGGREGATES.into());
    for row in rows.iter().map(contribution) {
        groups.add(&row.group, &row.arguments)?;
    }
    Ok(groups)
}

/// The change, with unknown groups made of their rows.
fn known(mut change: GroupsChange, rows: &[Row]) -> Result<GroupsChange, Doubt> {
    if !change.unknown().is_empty() {
        let is_unknown = |row: &&Row| change.unknown().iter().any(|group| group[..] == row[..2]);
        let rows: Vec<Row> = rows.iter().filter(is_unknown).cloned().collect();
        let made = run(&rows)?;
        change.know(|values| made.get(values))?;
    }
    Ok(change)
}

fn value(numbers: &'static [i64], odd: u32) -> impl Strategy<Value = Value> {
    let text = |text: &str| Value::Text(text.as_bytes().into());
    let others = vec![
        Value::Real(1.0),
        Value::Real(0.5),
        Value::Real(-0.0),
        Value::Real(1e300),
        text("1"),
        text("a"),
        text("A"),
        Value::Blob(b"a".as_slice().into()),
    ];
    prop_oneof![
        20 => sample::select(numbers).prop_map(Value::Integer),
        5 => Just(Value::Null),
        odd => sample::select(others),
    ]
}

fn row() -> impl Strategy<Value = Row> {
    let small = value(&[0, 1, -1, 2, 3, 1 << 53], 1);
    let large = value(&[i64::MAX, i64::MAX - 1, i64::MIN, 1, -1], 1);
    let x = prop_oneof![8 => small, 1 => large];
    (value(&[0, 1], 3), value(&[1], 1), x).prop_map(|(g, h, x)| [g, h, x])
}

fn assert_is_what_sqlite_finds(groups: &Groups, rows: &[Row]) {
    let mut orders = [rows.to_vec(), rows.to_vec(), rows.to_vec()];
    orders[1].reverse();
    // The negative numbers first.
    orders[2].sort_by(|left, right| left[2].cmp(&right[2]));
    for rows in orders {
        assert_eq!(Ok(of_groups(groups)), of_sqlite(&rows), "{rows:?}");
    }
}

proptest! {
    #![proptest_config(dice::cases(1_000))]

    // G143
    #[test]
    fn kept_groups_are_what_sqlite_finds_in_any_order(
        mut rows in vec(row(), 0..20),
        commits in vec((vec(any::<sample::Index>(), 0..4), vec(row(), 0..4)), 0..5),
    ) {
        let Ok(mut groups) = run(&rows) else { return Ok(()) };
        assert_is_what_sqlite_finds(&groups, &rows);
        for (leave, come) in commits {
            let leave: Vec<_> = leave.into_iter().take(rows.len()).collect();
            let left = leave.into_iter().map(|at| rows.swap_remove(at.index(rows.len())));
            let left: Vec<Contribution> = left.map(|row| contribution(&row)).collect();
            let came: Vec<Contribution> = come.iter().map(contribution).collect();
            rows.extend(come);
            match groups.plan(&came, &left).and_then(|change| known(change, &rows)) {
                Ok(change) => groups.apply(change),
                Err(_) => match run(&rows) {
                    Ok(again) => groups = again,
                    Err(_) => return Ok(()),
                },
            }
            assert_is_what_sqlite_finds(&groups, &rows);
        }
    }
}
