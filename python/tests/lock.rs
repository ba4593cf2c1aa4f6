//! Tests of the lock of simulations, which knows nothing of Python.

#[path = "../src/lock.rs"]
mod lock;

use lock::{Broken, FairLock};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

#[test]
fn who_waits_comes_before_who_asks_again() {
    let lock = FairLock::new(Vec::new());
    // The second one leaves the call that waits alone.
    let ways: [fn(&(dyn Fn() + Sync)); 2] = [|wait| wait(), |_| ()];
    for way in ways.into_iter().cycle().take(50) {
        let mut first = lock.lock(|_| panic!("nobody has it")).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| lock.lock(way).unwrap().push("other"));
            while !first.is_awaited() {
                thread::yield_now();
            }
            first.push("first");
            drop(first);
            let mut again = lock.lock(|wait| wait()).unwrap();
            again.push("again");
            assert!(!again.is_awaited());
            assert_eq!(std::mem::take(&mut *again), ["first", "other", "again"]);
        });
    }
}

#[test]
fn one_has_the_value_at_a_time() {
    let lock = FairLock::new((0_u32, false));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let mut value = lock.lock(|wait| wait()).unwrap();
                    assert!(!std::mem::replace(&mut value.1, true));
                    value.0 += 1;
                    value.1 = false;
                }
            });
        }
    });
    assert_eq!(*lock.lock(|_| ()).unwrap(), (2000, false));
}

#[test]
fn a_panic_breaks_it_until_the_value_is_replaced() {
    let lock = FairLock::new(1);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let mut value = lock.lock(|_| ()).unwrap();
        *value = 2;
        panic!("half way");
    }));
    assert!(ended.is_err());
    for _ in 0..2 {
        assert!(matches!(lock.lock(|_| ()), Err(Broken)));
    }
    assert_eq!(lock.replace(3, |_| ()), 2);
    assert_eq!(*lock.lock(|_| ()).unwrap(), 3);
}
