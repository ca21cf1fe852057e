//! Several writers of one conversation.

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::seeded::for_all;

/// A step of one of several writers, each with the last claim that it got.
#[derive(Clone, Copy, Debug)]
enum Step {
    Claim,
    Renew,
    /// Saves what it saw last.
    Save,
    Release,
    /// Loads the version that the next save names.
    Load,
    Wait(u64),
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let step = prop_oneof![
        3 => Just(Step::Claim),
        2 => Just(Step::Renew),
        4 => Just(Step::Save),
        1 => Just(Step::Release),
        2 => Just(Step::Load),
        2 => (1_u64..15).prop_map(Step::Wait),
    ];
    prop::collection::vec((0_usize..3, step), 1..60)
}

/// The laws by themselves: one valid claim, and saves by that one with the right version only.
#[derive(Default)]
struct Model {
    now: u64,
    /// The writer with the current claim, and its expiry.
    current: Option<(usize, u64)>,
    version: u64,
    text: String,
}

impl Model {
    fn is_valid(&self) -> bool {
        self.current.is_some_and(|(_, until)| self.now < until)
    }

    fn is_current(&self, writer: usize) -> bool {
        self.current.is_some_and(|(current, _)| current == writer)
    }
}

async fn follow<S: ConversationStore>(store: &S, clock: &ManualClock, steps: &[(usize, Step)]) {
    let (mut model, mut claims, mut seen) = (Model::default(), [const { None::<Claim> }; 3], [0_u64; 3]);
    let lease = LEASE.as_secs();
    for (number, &(writer, step)) in steps.iter().enumerate() {
        let done = match (step, &claims[writer]) {
            (Step::Wait(seconds), _) => {
                clock.advance(Duration::from_secs(seconds));
                model.now += seconds;
                continue;
            }
            (Step::Load, _) => {
                let stored = store.load("chat").await.unwrap();
                assert_eq!(stored.as_ref().map_or(0, |stored| stored.version), model.version, "step {number}");
                assert_eq!(stored.map(|stored| stored.state), (model.version > 0).then(|| state(&model.text)));
                seen[writer] = model.version;
                continue;
            }
            (Step::Claim, _) => {
                let claimed = store.claim("chat", LEASE).await;
                assert_eq!(claimed.is_ok(), !model.is_valid(), "step {number}: {claimed:?}");
                if let Ok(claim) = claimed {
                    model.current = Some((writer, model.now + lease));
                    claims[writer] = Some(claim);
                }
                continue;
            }
            (_, None) => continue,
            (Step::Renew, Some(claim)) => {
                let renewed = store.renew(claim, LEASE).await;
                if model.is_current(writer) {
                    model.current = Some((writer, model.now + lease));
                    assert!(renewed.is_ok(), "step {number}: {renewed:?}");
                    continue;
                }
                renewed.map(drop)
            }
            (Step::Save, Some(claim)) => {
                let text = format!("{writer} at {number}");
                let saved = store.save(claim, seen[writer], &state(&text)).await;
                if model.is_current(writer) && model.is_valid() {
                    match saved {
                        Ok(version) => {
                            assert_eq!(seen[writer], model.version, "step {number}");
                            (model.version, model.text, seen[writer]) = (version, text, version);
                        }
                        Err(StoreError::Changed { expected, found }) => {
                            assert_eq!((expected, found), (seen[writer], model.version), "step {number}");
                            assert_ne!(expected, found);
                        }
                        Err(error) => panic!("step {number}: {error}"),
                    }
                    continue;
                }
                saved.map(drop)
            }
            (Step::Release, Some(claim)) => {
                let released = store.release(claim).await;
                if model.is_current(writer) {
                    model.current = None;
                    assert!(released.is_ok(), "step {number}: {released:?}");
                    continue;
                }
                released
            }
        };
        assert!(matches!(done, Err(StoreError::ClaimLost)), "step {number}: {step:?} of {writer}: {done:?}");
    }
}

#[test]
fn whatever_writers_do_only_the_current_claim_saves() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for_all(300, steps(), |steps| {
        let clock = ManualClock::default();
        runtime.block_on(follow(&MemoryStore::new().clock(clock.reader()), &clock, &steps));
        Ok(())
    });
    for_all(20, steps(), |steps| {
        let (clock, folder) = (ManualClock::default(), tempfile::tempdir().unwrap());
        runtime.block_on(follow(&open(&folder).clock(clock.reader()), &clock, &steps));
        Ok(())
    });
}

/// Real threads, each with a store of its own on the same folder, as processes have.
#[test]
fn concurrent_writers_lose_no_save() {
    let folder = tempfile::tempdir().unwrap();
    let order = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (folder, order) = (&folder, &order);
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                let store = open(folder);
                let mut saves = 0;
                while saves < 5 {
                    let Ok(claim) = runtime.block_on(store.claim("chat", LEASE * 1_000)) else {
                        std::thread::yield_now();
                        continue;
                    };
                    let version = runtime.block_on(store.load("chat")).unwrap().map_or(0, |stored| stored.version);
                    let text = format!("{writer} {saves}");
                    let saved = runtime.block_on(store.save(&claim, version, &state(&text))).unwrap();
                    order.lock().unwrap().push((saved, text));
                    saves += 1;
                    runtime.block_on(store.release(&claim)).unwrap();
                }
            });
        }
    });
    let mut order = order.into_inner().unwrap();
    order.sort();
    assert_eq!(order.iter().map(|(version, _)| *version).collect::<Vec<_>>(), (1..=20).collect::<Vec<u64>>());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let last = runtime.block_on(open(&folder).load("chat")).unwrap().unwrap();
    assert_eq!(last, StoredConversation::new(state(&order[19].1), 20));
}
