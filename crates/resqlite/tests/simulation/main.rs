//! The engine in a simulator: threads take turns as a seed says, and time goes on when nobody can. Whatever the order, callers see
//! what they have been promised, and all that was begun comes to an end.

mod attached;
mod bank;
mod machine;
mod requests;
#[path = "../support/key.rs"]
mod support;

use dice::Rng;
use resqlite::Options;

use crate::{bank::Bank, machine::simulate};

#[test]
fn clerks_of_a_bank_see_what_can_be() {
    simulate(machine::seeds(10_000), work_at_the_bank);
}

fn work_at_the_bank(rng: &mut Rng) {
    let bank = Bank::open(":memory:", Options::default());
    let clerks = (0..rng.between(1, 4))
        .map(|clerk| bank.employ(clerk, rng.any(), rng.below(10)))
        .collect();
    let followers = (0..rng.between(1, 4)).map(|_| bank.follow(rng.any())).collect();
    bank.end(clerks, followers, rng);
}

#[test]
fn another_program_may_write_meanwhile() {
    simulate(machine::seeds(10_000), |rng| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank.db");
        let path = path.to_str().unwrap();
        let bank = Bank::open(path, Options::default());
        let mut clerks: Vec<_> = (0..rng.between(1, 3))
            .map(|clerk| bank.employ(clerk, rng.any(), rng.below(8)))
            .collect();
        clerks.push(bank.intrude(path, 3, rng.between(1, 4)));
        let followers = (0..rng.between(1, 4)).map(|_| bank.follow(rng.any())).collect();
        bank.end(clerks, followers, rng);
    });
}

#[test]
fn two_files_that_change_together_are_seen_in_one_state() {
    // One order in some thousands ends with a COMMIT that found one of the files locked, which the error says.
    simulate(0..250, |rng| {
        let folder = tempfile::tempdir().unwrap();
        attached::write_and_look(folder.path().to_str().unwrap(), rng);
    });
}

#[test]
fn each_request_is_answered_once_whenever_the_database_closes() {
    simulate(machine::seeds(10_000), |rng| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("requests.db");
        let path = path.to_str().unwrap();
        crate::support::connect(path)
            .unwrap()
            .execute_script("PRAGMA journal_mode = WAL; CREATE TABLE t(a)")
            .unwrap();
        requests::send_and_close(path, rng).hold(path);
    });
}

#[test]
fn the_order_follows_from_the_seed() {
    let first = dice::first_seed();
    let [once, again] = [(); 2].map(|()| simulate(first..first + 50, work_at_the_bank));
    assert_eq!(once.len(), 50);
    assert_eq!(once, again);
}
