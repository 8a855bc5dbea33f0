//! The statements that are maintained as groups, with the statements that maintain them.

use crate::{
    maintain::{GroupsPlan, MaintenancePlan, OverImages},
    sql::tests::{Db, db},
};

const SHOP: &str = "
    CREATE TABLE t(id INTEGER PRIMARY KEY, list INTEGER, n INTEGER, done INTEGER, price REAL,
        name TEXT COLLATE NOCASE, note TEXT, twice AS (n * 2), hash AS (n * 3) STORED);
    CREATE TABLE w(x TEXT, y INTEGER, z, PRIMARY KEY (y, x)) WITHOUT ROWID;
    CREATE TABLE strict(a ANY) STRICT;
    CREATE TABLE odd(\"#a0\", b);
    CREATE VIEW v AS SELECT n FROM t;
    CREATE VIEW half AS SELECT y % 2 AS half, y * 10 AS total FROM w;
";

impl Db {
    fn groups(&self, sql: &str) -> GroupsPlan {
        let analysed = self.analyse(sql);
        match analysed.maintenance() {
            Ok(MaintenancePlan::Groups(plan)) => GroupsPlan::clone(plan),
            other => panic!("{sql}: {other:?}"),
        }
    }
}

/// The statement over the images of the first table.
fn images(plan: &GroupsPlan) -> &OverImages {
    plan.sources[0].images.as_ref().expect("its rows are found")
}

/// A statement without the names of its given tables.
fn plain(sql: &str, plan: &GroupsPlan) -> String {
    sql.replace(&*images(plan).given.name, "images")
        .replace(&*plan.groups_table.name, "groups")
}

#[test]
fn a_row_contributes_the_values_of_its_group_and_the_arguments_of_the_aggregates() {
    let plan = db(SHOP).groups(
        "SELECT list, sum(n) AS total, count(*) FROM t WHERE done = ? OR n > :n GROUP BY list HAVING count(*) > :n ORDER BY total DESC",
    );
    assert_eq!(
        *plan.contributions,
        *"SELECT 1, list, n FROM t WHERE (done = ?1 OR n > ?2)"
    );
    assert_eq!(
        plain(&images(&plan).sql, &plan),
        "SELECT \"t\".\"#sign\", list, n FROM images AS \"t\" WHERE (done = ?1 OR n > ?2)"
    );
    assert_eq!(
        plain(&plan.output, &plan),
        "SELECT list, (+\"#a0\") AS total, (+\"#a1\"), \"t\".\"list\" FROM groups AS \"t\" WHERE ((+\"#a1\") > ?2) \
         ORDER BY total DESC, \"t\".\"list\" DESC"
    );
    assert!(
        plan.all.ends_with("ORDER BY total DESC, \"t\".\"list\" DESC"),
        "{}",
        plan.all
    );
    assert_eq!(
        (&images(&plan).needed[..], plan.columns, plan.key.clone()),
        (&[1, 2, 3][..], 3, 3..4)
    );
    assert_eq!(
        (&plan.sort[..], &plan.arguments[..]),
        (&[1][..], &[Some(2), None][..])
    );
}

#[test]
fn without_groups_there_is_nothing_to_order_by() {
    let plan = db(SHOP).groups("SELECT count(*), max(n) - min(n) FROM t");
    assert_eq!(
        *plan.all,
        *"SELECT count (*) AS \"count(*)\", max (n) - min (n) AS \"max(n) - min(n)\" FROM t"
    );
    assert!(!plan.is_grouped && plan.terms.is_empty());
    assert_eq!(
        plain(&plan.output, &plan),
        "SELECT (+\"#a0\"), (+\"#a1\") - (+\"#a2\") FROM groups AS \"t\""
    );
}

#[test]
fn a_filter_makes_nothing_of_the_other_rows() {
    let plan = db(SHOP).groups("SELECT count(*) FILTER (WHERE done), sum(n + 1) FILTER (WHERE n > 0) FROM t");
    assert_eq!(
        *plan.contributions,
        *"SELECT 1, CASE WHEN (done) THEN (1) END, CASE WHEN (n > 0) THEN (n + 1) END FROM t"
    );
}

#[test]
fn a_group_by_an_expression_has_a_column_for_it() {
    let db = db(SHOP);
    for sql in [
        "SELECT n % 10 AS digit, count(*) FROM t GROUP BY digit",
        "SELECT n % 10 AS digit, count(*) FROM t GROUP BY 1",
        "SELECT n % 10 AS digit, count(*) FROM t GROUP BY n%10",
    ] {
        let plan = db.groups(sql);
        assert!(
            plan.contributions.starts_with("SELECT 1, n % 10 FROM t"),
            "{}",
            plan.contributions
        );
        assert!(
            plan.output
                .starts_with("SELECT (+\"#g0\") AS digit, (+\"#a0\"), \"#g0\" FROM"),
            "{}",
            plan.output
        );
    }
}

#[test]
fn a_column_keeps_its_affinity_with_the_name_of_its_schema() {
    let db = db(SHOP);
    let plan = db.groups("SELECT (main.t.list) = '5' FROM t GROUP BY main.t.list");
    assert_eq!(
        plain(&plan.output, &plan),
        "SELECT (main.t.list) = '5', \"t\".\"list\" FROM groups AS \"t\" ORDER BY \"t\".\"list\""
    );
}

#[test]
fn distinct_rows_are_groups_of_all_their_columns() {
    let plan = db(SHOP).groups("SELECT DISTINCT list, n > 5 AS high FROM t ORDER BY list DESC");
    assert!(plan.is_grouped);
    assert!(
        plan.all.ends_with("ORDER BY list DESC, 1 DESC, 2 DESC"),
        "{}",
        plan.all
    );
    assert!(
        plan.output
            .starts_with("SELECT list, (+\"#g1\") AS high, list, \"t\".\"list\", \"#g1\" FROM"),
        "{}",
        plan.output
    );
}

#[test]
fn a_name_means_a_column_of_the_table_before_one_of_the_result() {
    let plan = db(SHOP).groups("SELECT lower(note) AS list, count(*) FROM t GROUP BY list, lower(note)");
    assert!(
        plan.contributions.starts_with("SELECT 1, list, lower (note)"),
        "{}",
        plan.contributions
    );
    assert!(
        plan.all.ends_with("ORDER BY \"t\".\"list\", lower (note)"),
        "{}",
        plan.all
    );
}

#[test]
fn without_a_column_the_images_hold_the_key() {
    let db = db(SHOP);
    assert_eq!(*images(&db.groups("SELECT count(*) FROM t")).needed, [0]);
    assert_eq!(*images(&db.groups("SELECT count(*) FROM w")).needed, [1]);
    assert_eq!(
        *images(&db.groups("SELECT count(*) FROM t WHERE rowid > 5")).needed,
        [resqlite_live::ROWID]
    );
}

#[test]
fn min_and_max_of_several_arguments_make_no_groups() {
    let db = db(SHOP);
    for sql in [
        "SELECT max(n, 3) FROM t",
        "SELECT max(1, 3) FROM t",
        "SELECT id FROM t ORDER BY min(list, n)",
    ] {
        let analysed = db.analyse(sql);
        let makes_groups = matches!(analysed.maintenance(), Ok(MaintenancePlan::Groups(_)));
        assert!(!makes_groups, "{sql}");
    }
}

#[test]
fn what_sqlite_may_show_in_several_ways_is_not_maintained() {
    let db = db(SHOP);
    for (sql, why) in [
        (
            "SELECT list, n FROM t GROUP BY list",
            "neither grouped by nor aggregated",
        ),
        (
            "SELECT list, max(n), note FROM t GROUP BY list",
            "neither grouped by nor aggregated",
        ),
        (
            "SELECT count(*), rowid FROM t",
            "neither grouped by nor aggregated",
        ),
        (
            "SELECT DISTINCT list FROM t ORDER BY n",
            "neither grouped by nor aggregated",
        ),
        (
            "SELECT n + 1 + n FROM t GROUP BY n + 1",
            "neither grouped by nor aggregated",
        ),
        (
            "SELECT n * n + 1 FROM t GROUP BY n + 1",
            "neither grouped by nor aggregated",
        ),
        (
            "SELECT n % :A, count(*) FROM t GROUP BY n % :a",
            "neither grouped by nor aggregated",
        ),
        (
            "SELECT list FROM t GROUP BY list ORDER BY max(note) = 'x' COLLATE NOCASE",
            "an expression with a collation",
        ),
        ("SELECT name, count(*) FROM t GROUP BY name", "not BINARY"),
        ("SELECT count(*) FROM t GROUP BY upper(name)", "not BINARY"),
        (
            "SELECT count(*) FROM t GROUP BY note COLLATE NOCASE",
            "not BINARY",
        ),
        ("SELECT min(name) FROM t", "not BINARY"),
        ("SELECT max(note COLLATE RTRIM) FROM t", "has a collation"),
        (
            "SELECT list FROM t GROUP BY list HAVING max(note COLLATE RTRIM) > 'a'",
            "not BINARY",
        ),
        ("SELECT count(DISTINCT n) FROM t", "distinct values"),
        (
            "SELECT group_concat(note) FROM t",
            "an aggregate that is not maintained",
        ),
        (
            "SELECT json_group_array(n) FROM t",
            "an aggregate that is not maintained",
        ),
        ("SELECT count(*) FROM t GROUP BY 1 + 1", "constant"),
        (
            "SELECT list AS oid, count(*) FROM t GROUP BY oid",
            "grouped by the rowid",
        ),
        (
            "SELECT half, count(*) AS total FROM half GROUP BY half HAVING total > 5",
            "a computed column",
        ),
        (
            "SELECT half, count(*) total FROM half GROUP BY half ORDER BY total + 0",
            "a computed column",
        ),
        ("SELECT count(*) FROM t GROUP BY CAST(n AS TEXT)", "CAST"),
        ("SELECT sum(twice) FROM t", "computed from others"),
        ("SELECT sum(hash) FROM t", "computed from others"),
        ("SELECT sum(a) FROM strict", "ANY"),
        ("SELECT count(b) FROM odd", "begins with #"),
        (
            "SELECT n % 2 AS \"#a0\", sum(n) FROM t GROUP BY n % 2 HAVING \"#a0\" = 1",
            "begins with #",
        ),
        (
            "SELECT list, count(*) FROM t GROUP BY list LIMIT abs(3)",
            "numbers and parameters",
        ),
        ("SELECT sum(n) OVER () FROM t", "window"),
        ("SELECT count(*) FROM t, w", "no index finds"),
        (
            "SELECT count(*) FROM t LEFT JOIN w ON w.y = t.id",
            "not by inner joins",
        ),
        (
            "SELECT count(*) FROM t JOIN t AS o ON o.id = t.list",
            "joined with itself",
        ),
        ("SELECT count(*) FROM t WHERE n IN (SELECT y FROM w)", "subquery"),
        (
            "SELECT count(*) FROM t WHERE note < datetime('now')",
            "although no row does",
        ),
        ("SELECT DISTINCT * FROM t", "all columns"),
        ("SELECT json_array(max(json(note))) FROM t", "knows JSON"),
        (
            "SELECT json_array(json(note)) FROM t GROUP BY json(note)",
            "knows JSON",
        ),
        ("SELECT DISTINCT count(*) FROM t", "DISTINCT besides groups"),
        (
            "SELECT count(*) AS c FROM t WHERE note = 'x' GROUP BY list ORDER BY ?",
            "a parameter",
        ),
        (
            "SELECT lower(note) AS low, count(*) FROM t WHERE low > 'a' GROUP BY note",
            "a name of its result",
        ),
    ] {
        let told = db.why_not(sql);
        assert!(told.contains(why), "{sql}: {told}");
    }
}

#[test]
fn a_window_of_groups_keeps_all_of_them() {
    let plan =
        db(SHOP).groups("SELECT list, sum(n) AS s FROM t GROUP BY list ORDER BY s DESC LIMIT :n OFFSET ?");
    assert!(
        plan.all
            .ends_with("ORDER BY s DESC, \"t\".\"list\" DESC LIMIT :n OFFSET ?2"),
        "{}",
        plan.all
    );
    assert_eq!(plan.bounds.as_deref(), Some("SELECT (?1), (?2)"));
    assert!(!plan.output.contains("LIMIT") && !plan.contributions.contains("LIMIT"));
}

#[test]
fn the_least_and_the_greatest_of_several_values_are_no_aggregates() {
    let plan = db(SHOP).groups("SELECT list, max(count(*), 10), min(list, 5) FROM t GROUP BY list");
    assert_eq!(plan.aggregates.len(), 1);
    assert!(plan.output.contains("max((+\"#a0\"), 10)"), "{}", plan.output);
}

#[test]
fn a_table_with_as_many_columns_as_there_can_be_leaves_none_for_groups() {
    let columns: Vec<String> = (0..2_000).map(|number| format!("c{number}")).collect();
    let db = db(&format!("CREATE TABLE wide({})", columns.join(", ")));
    let why = db.why_not("SELECT count(*) FROM wide");
    assert!(why.contains("too many columns"), "{why}");
}

// G149
#[test]
fn under_a_view_the_table_gives_way_to_the_images_and_the_view_to_the_groups() {
    let db = db(&SHOP.replace("COLLATE NOCASE", ""));
    db.run("CREATE VIEW open(bin, amount, half) AS SELECT x.list, n, n / 2 AS h FROM t AS x WHERE NOT done");
    let plan =
        db.groups("SELECT bin, sum(half) FROM main.open WHERE amount > :least GROUP BY bin HAVING bin > 1");
    assert_eq!(
        plain(&images(&plan).sql, &plan),
        "SELECT \"open\".\"#k0\", bin, half FROM (SELECT x.list AS \"bin\", n AS \"amount\", n / 2 AS \"half\", \
         \"x\".\"#sign\" AS \"#k0\" FROM images AS x WHERE NOT done) AS \"open\" WHERE (amount > ?1)"
    );
    assert_eq!(
        plain(&plan.output, &plan),
        "SELECT bin, (+\"#a0\"), \"open\".\"bin\" FROM (SELECT \"list\" AS \"bin\", \"n\" AS \"amount\", \"#g0\", \"#a0\" FROM groups) \
         AS \"open\" WHERE (bin > 1) ORDER BY \"open\".\"bin\""
    );
    assert_eq!(
        *plan.contributions,
        *"SELECT 1, bin, half FROM main.open WHERE (amount > ?1)"
    );
    assert_eq!(
        (&images(&plan).needed[..], &plan.term_columns[..]),
        (&[1, 2, 3][..], &[Some(1)][..])
    );
}

// G149
#[test]
fn what_a_view_computes_can_make_groups() {
    let db = db(&SHOP.replace("COLLATE NOCASE", ""));
    db.run("CREATE VIEW priced AS SELECT round(price) AS whole, n FROM t");
    let plan = db.groups("SELECT whole, count(*) FROM priced GROUP BY whole ORDER BY whole DESC");
    assert_eq!(
        plain(&plan.output, &plan),
        "SELECT (+\"#g0\"), (+\"#a0\"), (+\"#g0\"), \"#g0\" FROM (SELECT \"n\" AS \"n\", \"#g0\", \"#a0\" FROM groups) \
         AS \"priced\" ORDER BY (+\"#g0\") DESC, \"#g0\" DESC"
    );
    assert_eq!(*plan.term_columns, [None]);
}

// G149
#[test]
fn groups_of_what_a_view_makes_of_several_rows_or_tables_are_not_maintained() {
    let db = db(SHOP);
    db.run("CREATE VIEW x AS SELECT list, name || note AS both FROM t");
    for (sql, why) in [
        ("SELECT count(*) FROM (SELECT DISTINCT n FROM t) AS s", "DISTINCT"),
        ("SELECT count(*) FROM (SELECT n FROM t LIMIT 5) AS s", "LIMIT"),
        (
            "SELECT count(*) FROM (SELECT n FROM t, w) AS s",
            "something else than the rows of a table",
        ),
        ("SELECT count(*) FROM (SELECT n FROM t)", "no name"),
        ("SELECT max(both) FROM x", "whose collation is not known"),
        (
            "SELECT c FROM (SELECT CAST(y AS TEXT) AS c FROM w) AS s GROUP BY c",
            "CAST",
        ),
        (
            "SELECT count(z) FROM (SELECT z COLLATE NOCASE AS z FROM w) AS s",
            "whose collation",
        ),
    ] {
        let told = db.why_not(sql);
        assert!(told.contains(why), "{sql}: {told}");
    }
}

const ORDERS: &str = "
    CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, city TEXT COLLATE NOCASE);
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, day TEXT);
    CREATE TABLE items(id INTEGER PRIMARY KEY, \"order\" INTEGER, price INTEGER);
    CREATE INDEX orders_of ON orders(customer);
    CREATE INDEX items_of ON items(\"order\");
    CREATE TABLE text_key(k TEXT PRIMARY KEY, v);
";

const SALES: &str =
    "FROM items AS i JOIN orders AS o ON o.id = i.\"order\" JOIN customers AS c ON c.id = o.customer";

#[test]
fn a_changed_row_contributes_what_it_is_joined_with() {
    let plan = db(ORDERS).groups(&format!(
        "SELECT c.id, sum(i.price) AS total, count(*) {SALES} WHERE o.day > :day GROUP BY c.id ORDER BY total"
    ));
    assert_eq!(
        *plan.contributions,
        *format!("SELECT 1, c.id, i.price {SALES} WHERE (o.day > ?1)")
    );
    let over: Vec<String> = plan
        .sources
        .iter()
        .map(|source| source.images.as_ref().expect("an index finds its partners"))
        .map(|over| over.sql.replace(&*over.given.name, "images"))
        .collect();
    assert_eq!(
        over[1],
        "SELECT \"o\".\"#sign\", c.id, i.price FROM items AS i JOIN images AS o ON o.id = i.\"order\" \
         JOIN customers AS c ON c.id = o.customer WHERE (o.day > ?1)"
    );
    assert_eq!(
        plain(&plan.output, &plan),
        "SELECT \"#g0\", (+\"#a0\") AS total, (+\"#a1\"), \"#g0\" FROM groups ORDER BY total, \"#g0\""
    );
}

// G151
#[test]
fn what_the_key_of_a_table_determines_belongs_to_the_group() {
    let db = db(ORDERS);
    let plan = db.groups(&format!("SELECT c.name, count(*) {SALES} GROUP BY c.id"));
    assert_eq!((plan.terms.len(), plan.key.clone()), (2, 2..4));
    assert!(
        plain(&plan.output, &plan).starts_with("SELECT \"#g1\", (+\"#a0\"), \"#g0\", \"#g1\" FROM groups"),
        "{}",
        plan.output
    );
    for (sql, why) in [
        (
            format!("SELECT o.day, count(*) {SALES} GROUP BY c.id"),
            "neither grouped by nor",
        ),
        (
            format!("SELECT c.city, count(*) {SALES} GROUP BY c.id"),
            "not BINARY",
        ),
        (
            "SELECT v, count(*) FROM text_key JOIN items ON items.price = text_key.v GROUP BY k".into(),
            "neither grouped by nor",
        ),
    ] {
        let told = db.why_not(&sql);
        assert!(told.contains(why), "{sql}: {told}");
    }
}

// G151
#[test]
fn a_table_whose_partners_no_index_finds_makes_the_statement_run_as_a_whole() {
    let db = db(ORDERS);
    db.run("DROP INDEX items_of");
    let plan = db.groups(&format!("SELECT count(*) {SALES}"));
    let is_found: Vec<bool> = plan
        .sources
        .iter()
        .map(|source| source.images.is_some())
        .collect();
    assert_eq!(is_found, [true, false, false]);
}

#[test]
fn a_name_that_several_tables_have_is_not_taken_for_one_of_them() {
    let db = db(ORDERS);
    for sql in [
        "SELECT customers.id, count(*) FROM orders JOIN customers USING (id) GROUP BY id",
        "SELECT count(*) FROM orders NATURAL JOIN customers",
    ] {
        assert!(db.why_not(sql).contains("not by inner joins"), "{sql}");
    }
}
