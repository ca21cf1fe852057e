//! Whatever happens between the rounds of calls, each has one result, and it is the same.

use haft_core::ToolEvent;
use proptest::prelude::*;
use tokio::runtime::Builder;

use super::*;
use crate::seeded::for_all;

/// The fate of a run at a point where its calls wait.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// It is stored, and goes on with the answers to these questions, by their place.
    Answered(u8),
    /// It is stored and goes on, and is dropped after this many events. The stored value is used again.
    Killed(u8),
    /// It is resumed with nothing.
    Touched,
}

fn fates() -> impl Strategy<Value = Fate> {
    prop_oneof![
        4 => any::<u8>().prop_map(Fate::Answered),
        2 => (0_u8..6).prop_map(Fate::Killed),
        1 => Just(Fate::Touched),
    ]
}

async fn resumed(kit: &Toolkit, suspended: Suspended, mask: u8) -> Result<Vec<String>, Suspended> {
    let answers = suspended.pending().enumerate().filter(|(n, _)| mask & (1 << (n % 8)) != 0);
    let answers: Vec<Verdict> = answers.map(|(_, request)| request.answer(json!(3))).collect();
    let run = kit.resume_with(suspended, answers, RunOptions::new().approvals(Suspend));
    match run.collect_or_suspend().await {
        Ok(results) => Ok(results.iter().map(haft_core::ToolResult::to_model_text).collect()),
        Err(suspended) => Err(stored(&suspended)),
    }
}

#[test]
fn calls_end_the_same_whatever_happens_while_they_wait() {
    let cases = (prop::collection::vec(0_u32..4, 1..4), prop::collection::vec(fates(), 0..12));
    for_all(64, cases, |(rounds, fates)| {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let kit = sum_kit(&Log::default());
            let calls = rounds.iter().enumerate();
            let calls: Vec<_> =
                calls.map(|(n, rounds)| ToolCall::new(format!("c{n}"), "sum", rounds.to_string())).collect();
            let expected: Vec<String> = rounds.iter().map(|rounds| (rounds * 3).to_string()).collect();
            let run = kit.run_with(&calls, RunOptions::new().approvals(Suspend));
            let mut state = match run.collect_or_suspend().await {
                Ok(results) => {
                    assert!(rounds.iter().all(|rounds| *rounds == 0));
                    assert_eq!(results.len(), rounds.len());
                    return;
                }
                Err(suspended) => stored(&suspended),
            };
            for fate in fates {
                let next = match fate {
                    Fate::Answered(mask) => resumed(&kit, state, mask).await,
                    Fate::Touched => resumed(&kit, state, 0).await,
                    Fate::Killed(events) => {
                        let answers = answer_all(&state, &json!(3));
                        let mut run = kit.resume_with(state.clone(), answers, RunOptions::new().approvals(Suspend));
                        for _ in 0..events {
                            let Some(event) = run.next().await else { break };
                            assert!(!matches!(event, ToolEvent::Unknown(_)));
                        }
                        Err(stored(&state))
                    }
                };
                match next {
                    Ok(results) => return assert_eq!(results, expected),
                    Err(suspended) => state = suspended,
                }
            }
            for _ in 0..4 {
                match resumed(&kit, state, u8::MAX).await {
                    Ok(results) => return assert_eq!(results, expected),
                    Err(suspended) => state = suspended,
                }
            }
            panic!("the calls never end");
        });
        Ok(())
    });
}
