//! Approval over requests, as in a web server: the approval requests leave with one response, the verdicts arrive with
//! the next request, and nothing is kept in between. A signature proves that a request was made here, and a digest
//! binds its verdict to these arguments. (A browser can send the same verdict twice: a real server keeps the history,
//! or at least the ids of the requests it has acted on.)

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::{Duration, SystemTime};

use haft::approval::SigningKeys;
use haft::approval::Verdict;
use haft::conversation::{Timestamp, history};
use haft::model::ScriptedTurn;
use haft::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

/// Pays a customer back.
#[tool(destructive, approval = |refund: Refund, _cx| async move { refund.cents > 1_000 })]
fn refund(order: String, #[schemars(range(min = 1))] cents: u64) -> String {
    format!("{cents} cents went back for {order}")
}

/// The state of one server process. Another one with the same keys can serve the second request.
struct Server {
    model: ScriptedModel,
    kit: Toolkit,
    options: RunOptions,
}

/// The second request: the conversation as it was sent out, and the verdicts.
#[derive(Deserialize)]
struct Decided {
    history: Vec<Item>,
    verdicts: Vec<Verdict>,
}

impl Server {
    fn new(answers: impl Into<ScriptedTurn>) -> anyhow::Result<Self> {
        let keys = SigningKeys::new("2026-11", "a secret that only the servers know")?;
        let lifetime = Duration::from_secs(3_600);
        let options = RunOptions::new().approval_keys(keys).approval_lifetime(lifetime).audit(|record| {
            let who = record.who.as_deref().unwrap_or("nobody");
            let reason = record.reason.as_deref().unwrap_or("no reason given");
            println!("  audit: {} {} by {who} ({reason})", record.call_id, record.outcome.as_str());
        });
        Ok(Self { model: ScriptedModel::default().then(answers), kit: toolkit![Refund], options })
    }

    /// Handles `POST /messages`: receives a message; returns the conversation so far and the approval requests.
    async fn message(&self, body: &str) -> anyhow::Result<String> {
        let said: Value = serde_json::from_str(body)?;
        let mut history = vec![Item::user(said["say"].as_str().unwrap_or_default())];
        let request = TurnRequest::new("some-model", history.clone()).tools(&self.kit);
        let turn = self.model.stream_turn(&request).into_turn().await?;

        // Nothing runs yet. No approval is requested for calls that need none, or that are rejected anyway.
        let plan = self.kit.plan_from_map(&self.options, [], turn.tool_calls()).await;
        turn.append_to_history(&mut history, [])?;
        Ok(json!({"history": history, "questions": plan.requests}).to_string())
    }

    /// Handles `POST /verdicts`: the approved calls run, each gets its one result, and the model continues.
    async fn verdicts(&self, body: &str, user: &str) -> anyhow::Result<String> {
        let Decided { mut history, verdicts } = serde_json::from_str(body)?;
        // The approver is the user that the server has authenticated, never a name in the body.
        let verdicts = verdicts.into_iter().map(|verdict| verdict.decided(user, Timestamp::from(SystemTime::now())));
        let plan = self.kit.plan_from_map(&self.options, verdicts, history::unanswered(&history)).await;
        let rejected: Vec<_> = plan.rejected_verdicts.iter().map(ToString::to_string).collect();
        let results = self.kit.run(plan).collect_results().await;
        for result in &results {
            println!("  {} -> {}", result.call_id, result.to_model_text());
        }
        let kinds: Vec<_> = results.iter().map(|result| result.failure().map_or("ok", |it| it.kind.as_str())).collect();
        let reply = json!({"results": kinds, "rejected": rejected.len()}).to_string();
        for rejected in rejected {
            println!("  {rejected}");
        }

        history::answer(&mut history, results)?;
        let turn = self.model.stream_turn(&TurnRequest::new("some-model", history)).into_turn().await?;
        println!("  the model says: {}", turn.text());
        Ok(reply)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!("The first request; no call has a verdict yet.");
    let calls = [("small", "A1", 500), ("book", "A2", 2_000), ("phone", "A3", 90_000), ("desk", "A4", 30_000)];
    let calls = calls.into_iter().chain([("lamp", "A5", 4_000), ("void", "A6", 0)]);
    let server =
        Server::new(ScriptedTurn::calls(calls.map(|(id, order, cents)| {
            ToolCall::new(id, "refund", json!({"order": order, "cents": cents}).to_string())
        })))?;
    let page: Value = serde_json::from_str(&server.message(r#"{"say": "Pay all of these back."}"#).await?)?;

    let questions = page["questions"].as_array().map(Vec::as_slice).unwrap_or_default();
    for question in questions {
        println!("  may this run: {} {}?", question["call_id"], question["arguments"].as_str().unwrap_or_default());
    }
    let asked: Vec<_> = questions.iter().filter_map(|question| question["call_id"].as_str()).collect();
    assert_eq!(asked, ["book", "phone", "desk", "lamp"], "not about the small one, nor about one that can't run");

    println!("\nThe second request, to another process.");
    let verdicts = [
        verdict(&questions[0], json!({"decision": "approved"})),
        verdict(&questions[1], json!({"decision": "denied", "reason": "the phone was not sent back"})),
        verdict(&questions[2], json!({"decision": "edited", "arguments": {"order": "A4", "cents": 15_000}})),
        // No verdict on the lamp.
    ];
    let body = json!({"history": page["history"], "verdicts": verdicts}).to_string();
    let reply = Server::new("Two were paid in full and one in half.")?.verdicts(&body, "ana").await?;
    assert_eq!(reply, r#"{"results":["ok","ok","denied","ok","cancelled","input_validation_error"],"rejected":0}"#);

    println!("\nThe approved arguments are changed.");
    // The book's verdict with the digest of another request, and a phone whose price was raised after the request.
    let mut moved = verdict(&questions[0], json!({"decision": "approved"}));
    moved["digest"] = questions[1]["digest"].clone();
    let mut changed = page["history"].clone();
    changed[3]["arguments"] = json!(r#"{"order": "A3", "cents": 900000}"#);
    let verdicts = [moved, verdict(&questions[1], json!({"decision": "approved"}))];
    let body = json!({"history": changed, "verdicts": verdicts}).to_string();
    let reply = Server::new("Hardly anything was paid.")?.verdicts(&body, "mallory").await?;
    // Neither counts, so the calls are still undecided; and the response reports both.
    let nothing =
        r#"{"results":["ok","cancelled","cancelled","cancelled","cancelled","input_validation_error"],"rejected":2}"#;
    assert_eq!(reply, nothing);
    Ok(())
}

/// Stands for the page in the browser: a decision, with every field that binds it to its request returned unchanged.
fn verdict(question: &Value, decision: Value) -> Value {
    let mut verdict = decision;
    for key in ["request_id", "call_id", "digest", "expires_at", "run_id", "index", "signature"] {
        verdict[key] = question[key].clone();
    }
    verdict
}
