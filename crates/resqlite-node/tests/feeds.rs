//! Commits of change feeds as JSON, with bounds that small commits reach. The sources are compiled into this test, since a module of
//! Node.js cannot be linked into one.

#[path = "../src/feed_json.rs"]
#[expect(dead_code)]
mod feed_json;
#[path = "../src/row_json.rs"]
#[expect(dead_code)]
mod row_json;

mod limits {
    /// The JSON of a commit with one small row fits, and that of one with 400 characters does not.
    pub(crate) const FEED_COMMIT_JSON: usize = 300;
    /// Two small commits fit.
    pub(crate) const FEED_PAGE_JSON: usize = 300;
}

use resqlite::{
    Database, Options,
    binding::Integers,
    feeds::{FeedCommit, FeedOptions},
};
use serde_json::Value;

/// The commits that insert these values into a table, one each.
fn commits(values: &[&str]) -> Vec<FeedCommit> {
    let commits = async {
        let db = Database::open(":memory:", Options::default()).await?;
        db.exec("CREATE TABLE t(a)").await?;
        let mut feed = db.feed(FeedOptions::named("one")).await?;
        let mut commits = Vec::new();
        for value in values {
            db.exec(&format!("INSERT INTO t VALUES ({value})")).await?;
            commits.push(feed.next().await?);
        }
        drop(feed);
        db.close().await.map(|()| commits)
    };
    pollster::block_on(commits).unwrap()
}

/// The reads of a consumer until there is no commit left: of each the positions, the gaps and the numbers of operations.
fn read(commits: &[FeedCommit]) -> Vec<Vec<(u64, Value, usize)>> {
    let mut reads = Vec::new();
    let mut after = 0;
    while after < commits.len() {
        let reading = feed_json::reading(&format!(r#"{{"name":"one","after":{after}}}"#)).unwrap();
        let json = feed_json::to_json(&commits[after..], &reading, Integers::default());
        let page: Value = serde_json::from_slice(&json).unwrap();
        let told = page["commits"].as_array().unwrap().iter().map(|commit| {
            let operations = commit["operations"].as_array().unwrap().len();
            (
                commit["position"].as_u64().unwrap(),
                commit["gap"].clone(),
                operations,
            )
        });
        reads.push(told.collect());
        after = page["to"].as_u64().unwrap() as usize;
    }
    reads
}

// G318
#[test]
fn a_commit_that_is_too_long_for_javascript_is_a_gap_and_those_around_it_are_told() {
    let commits = commits(&["1", "replace(hex(zeroblob(200)), '0', 'x')", "3"]);
    let told = [
        (1, Value::Null, 1),
        (2, "unlisted".into(), 0),
        (3, Value::Null, 1),
    ];
    assert_eq!(read(&commits).concat(), told);
}

// G318
#[test]
fn what_does_not_fit_into_a_read_comes_with_the_next_one() {
    let commits = commits(&["1", "2", "3"]);
    let one = |position| (position, Value::Null, 1);
    assert_eq!(read(&commits), [vec![one(1), one(2)], vec![one(3)]]);
}
