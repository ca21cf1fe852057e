//! Approval over requests, as a web server does it: the questions go out with one response, the verdicts come in with the
//! next request, and nothing is kept in between. A signature proves that a question was asked here, and a digest binds
//! its verdict to these very arguments. (What a browser holds it can also send twice: a real server keeps the history,
//! or at least the ids of the questions it has acted on.)

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::time::{Duration, SystemTime};

use haft::prelude::*;
use haft::{SigningKeys, Timestamp, history};
use serde::Deserialize;
use serde_json::{Value, json};

/// Pays a customer back.
#[tool(destructive, approval = |refund: Refund, _cx| async move { refund.cents > 1_000 })]
fn refund(order: String, #[schemars(range(min = 1))] cents: u64) -> String {
    format!("{cents} cents went back for {order}")
}

/// What one process of the server holds. Another one with the same keys can take the second request.
struct Server {
    model: ScriptedModel,
    kit: Toolkit,
    options: RunOptions,
}

/// The second request: the conversation as it was sent out, and what was decided.
#[derive(Deserialize)]
struct Decided {
    history: Vec<Item>,
    verdicts: Vec<ApprovalResponse>,
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

    /// `POST /messages`: what somebody says goes in; the conversation so far and the questions go out.
    async fn message(&self, body: &str) -> anyhow::Result<String> {
        let said: Value = serde_json::from_str(body)?;
        let mut history = vec![Item::user(said["say"].as_str().unwrap_or_default())];
        let request = TurnRequest::new("some-model", history.clone()).tools(&self.kit);
        let turn = self.model.stream_turn(&request).into_turn().await?;

        // Nothing runs yet. Calls that need no question, or that are refused anyway, are not asked about.
        let plan = self.kit.plan_from_map(&self.options, [], turn.tool_calls()).await;
        turn.append_to_history(&mut history, [])?;
        Ok(json!({"history": history, "questions": plan.requests}).to_string())
    }

    /// `POST /verdicts`: the calls that may run do, each gets its one result, and the model goes on.
    async fn verdicts(&self, body: &str, user: &str) -> anyhow::Result<String> {
        let Decided { mut history, verdicts } = serde_json::from_str(body)?;
        // Who decided is what the server knows of its user, never what the body says.
        let verdicts = verdicts.into_iter().map(|verdict| verdict.decided(user, Timestamp::from(SystemTime::now())));
        let plan = self.kit.plan_from_map(&self.options, verdicts, history::unanswered(&history)).await;
        let refused: Vec<_> = plan.refused.iter().map(ToString::to_string).collect();
        let results = self.kit.run(plan).collect_results().await;
        for result in &results {
            println!("  {} -> {}", result.call_id, result.to_model_text());
        }
        let kinds: Vec<_> = results.iter().map(|result| result.failure().map_or("ok", |it| it.kind.as_str())).collect();
        let reply = json!({"results": kinds, "refused": refused.len()}).to_string();
        for refused in refused {
            println!("  {refused}");
        }

        history::answer(&mut history, results)?;
        let turn = self.model.stream_turn(&TurnRequest::new("some-model", history)).into_turn().await?;
        println!("  the model says: {}", turn.text());
        Ok(reply)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    println!("The first request; nobody has decided anything.");
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
        // Nothing about the lamp.
    ];
    let body = json!({"history": page["history"], "verdicts": verdicts}).to_string();
    let reply = Server::new("Two were paid in full and one in half.")?.verdicts(&body, "ana").await?;
    assert_eq!(reply, r#"{"results":["ok","ok","denied","ok","cancelled","input_validation_error"],"refused":0}"#);

    println!("\nSomebody changes what was agreed to.");
    // The book's verdict with the digest of another question, and a phone that became dearer after it was asked about.
    let mut moved = verdict(&questions[0], json!({"decision": "approved"}));
    moved["digest"] = questions[1]["digest"].clone();
    let mut changed = page["history"].clone();
    changed[3]["arguments"] = json!(r#"{"order": "A3", "cents": 900000}"#);
    let verdicts = [moved, verdict(&questions[1], json!({"decision": "approved"}))];
    let body = json!({"history": changed, "verdicts": verdicts}).to_string();
    let reply = Server::new("Hardly anything was paid.")?.verdicts(&body, "mallory").await?;
    // Neither counts, so it is as if nobody had decided; and whoever sent them is told.
    let nothing =
        r#"{"results":["ok","cancelled","cancelled","cancelled","cancelled","input_validation_error"],"refused":2}"#;
    assert_eq!(reply, nothing);
    Ok(())
}

/// What the page in the browser does: a decision, with everything that binds it to its question given back as it was.
fn verdict(question: &Value, decision: Value) -> Value {
    let mut verdict = decision;
    for key in ["request_id", "call_id", "digest", "expires_at", "signature"] {
        verdict[key] = question[key].clone();
    }
    verdict
}
