//! The engine in a simulator: threads take turns as a seed says, and time goes on when nobody can. Whatever the order, callers see
//! what they have been promised, and all that was begun comes to an end.

#[path = "../support/age.rs"]
mod age;
mod attached;
mod bank;
mod failing;
#[path = "../support/folder.rs"]
mod folder;
mod leases;
mod machine;
mod maintained;
mod parts;
mod requests;
mod slow;
#[path = "../support/key.rs"]
mod support;
mod watched;

use std::sync::Arc;

use dice::Rng;
use resqlite::Options;
use shuttle::thread::JoinHandle;

use crate::{
    age::age,
    bank::{Bank, CLERKS, SCHEMA},
    machine::{simulate, simulate_with_files},
    support::connect,
};

// G30, G61
#[test]
fn clerks_of_a_bank_see_what_can_be() {
    simulate(machine::seeds(6_000), work_at_the_bank);
}

fn work_at_the_bank(rng: &mut Rng) {
    let options = Options {
        readers: Some(rng.between(1, 3)),
        ..Options::default()
    };
    let bank = Bank::found(":memory:", options);
    work(bank, Vec::new(), rng);
}

/// Clerks and followers work at a bank until the end, beside others who each have the number of a clerk.
fn work(bank: Arc<Bank>, mut clerks: Vec<JoinHandle<()>>, rng: &mut Rng) {
    for clerk in 0..rng.between(1, CLERKS - clerks.len()) {
        clerks.push(bank.employ(clerk, rng.any(), rng.below(10)));
    }
    let followers = (0..rng.between(1, 4)).map(|_| bank.follow(rng.any())).collect();
    bank.end(clerks, followers, rng);
}

#[test]
fn another_program_may_write_meanwhile() {
    simulate_with_files(machine::seeds(8_000), |folder, rng| {
        let path = format!("{folder}/bank.db");
        let bank = if rng.one_in(2) {
            make_old(&path, SCHEMA);
            Bank::open(&path, Options::default())
        } else {
            Bank::found(&path, Options::default())
        };
        let stranger = bank.intrude(&path, CLERKS - 1, rng.between(1, 4));
        work(bank, vec![stranger], rng);
    });
}

/// Makes a database long before it is opened.
fn make_old(path: &str, schema: &str) {
    let script = format!("PRAGMA journal_mode = WAL; {schema}");
    connect(path).unwrap().execute_script(&script).unwrap();
    age(path);
}

// G37
#[test]
fn two_files_that_change_together_are_seen_in_one_state() {
    simulate_with_files(machine::seeds(10_000), attached::write_and_look);
}

#[test]
fn maintained_results_show_states_that_there_were_whoever_writes() {
    simulate_with_files(machine::seeds(10_000), maintained::write_and_watch);
}

#[test]
fn live_queries_recover_from_a_disk_that_fails_now_and_then() {
    simulate_with_files(machine::seeds(6_000), failing::recover);
}

#[test]
fn what_was_written_to_two_files_is_in_both_of_them() {
    simulate_with_files(machine::seeds(4_000), parts::write_to_both);
}

#[test]
fn a_snapshot_that_is_cancelled_while_it_waits_is_told_and_too_many_leave_nothing_behind() {
    simulate(machine::seeds(400), leases::crowd);
}

#[test]
fn quick_queries_do_not_wait_for_slow_ones() {
    simulate(machine::seeds(4_000), slow::answer_quick_ones);
}

// G28
#[test]
fn each_request_is_answered_once_whenever_the_database_closes() {
    simulate_with_files(machine::seeds(10_000), |folder, rng| {
        let path = format!("{folder}/requests.db");
        make_old(&path, "CREATE TABLE t(a)");
        requests::send_and_close(&path, rng).hold(&path);
    });
}

#[test]
fn the_order_follows_from_the_seed() {
    let first = dice::first_seed();
    let [once, again] = [(); 2].map(|()| simulate(first..first + 50, work_at_the_bank));
    assert_eq!(once.len(), 50);
    assert_eq!(once, again);
}
