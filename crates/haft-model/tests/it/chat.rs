//! Stored conversations: claims, save points, readers that go away, and stores that fail.

mod crash;
mod disconnect;
mod fault;
mod flow;
mod lease;
mod post;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use haft_core::{Delta, Item, ToolCall, ToolEvent, TurnRequest, history};
use haft_executor::{ApprovalPolicy, Cx, RunOptions, Suspend, Tool, Toolkit};
use haft_model::{
    Chat, ChatError, ChatRun, Claim, ConversationStore, Disconnect, LoopEnd, LoopError, LoopEvent, LoopState,
    MemoryStore, ScriptedModel, ScriptedTurn, StoreError, StoreFuture, StoredConversation, TurnLoop,
};
use serde_json::json;
use tokio::sync::Notify;

const ID: &str = "acme/42";

/// The effects of tools, and the saves, in order.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn count(&self, line: &str) -> usize {
        self.lines().iter().filter(|it| *it == line).count()
    }
}

/// Tools whose effects are in a diary: `deploy` has one at once, `slow` begins one and ends it when it is told to, `pay`
/// requires approval, `ask` is an interaction.
fn kit(diary: &Diary, go: &Arc<Notify>) -> Toolkit {
    let (d, s, p) = (diary.clone(), diary.clone(), diary.clone());
    let go = Arc::clone(go);
    let deploy = Tool::new("deploy").handler(move |what: String, _cx| {
        d.note(format!("deploy {what}"));
        async move { format!("{what} is live") }
    });
    let slow = Tool::new("slow").handler(move |(), _cx| {
        s.note("slow begins");
        let (go, s) = (Arc::clone(&go), s.clone());
        async move {
            go.notified().await;
            s.note("slow ends");
        }
    });
    let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(move |cents: u64, cx: Cx| {
        p.note(format!("pay {cents}"));
        async move { format!("{cents} by {}", cx.caller().map(ToString::to_string).unwrap_or_default()) }
    });
    let ask = Tool::interaction("ask").params::<String>().success::<String>().define();
    [deploy, slow, pay, ask].into_iter().map(Result::unwrap).collect()
}

/// An agent, its diary and the signal that ends `slow`.
struct Desk {
    diary: Diary,
    go: Arc<Notify>,
    agent: TurnLoop,
}

fn desk(model: ScriptedModel) -> Desk {
    let (diary, go) = (Diary::default(), Arc::new(Notify::new()));
    let options = RunOptions::new().approvals(Suspend);
    let agent = TurnLoop::new(model, kit(&diary, &go)).options(options).retries(0);
    Desk { diary, go, agent }
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

/// Sends a message and returns the outcome.
async fn say(chat: &Chat, text: &str) -> (LoopEnd, LoopState) {
    let outcome = chat.message(ID, text).await.unwrap().finish().await.unwrap();
    (outcome.end, outcome.state)
}

async fn stored(chat: &Chat) -> LoopState {
    let state = chat.load(ID).await.unwrap().unwrap().state;
    assert_eq!(serde_json::from_str::<LoopState>(&serde_json::to_string(&state).unwrap()).unwrap(), state);
    state
}

/// Describes each item of a history in a few words.
fn told(state: &LoopState) -> Vec<String> {
    let each = state.history().iter().map(|item| match item {
        Item::Message(message) => {
            let text: String = message.content.iter().filter_map(haft_core::ContentPart::as_text).collect();
            format!("{:?}: {text}", message.role).to_lowercase()
        }
        Item::ToolCall(call) => format!("call {}", call.call_id),
        Item::ToolOutput(output) => {
            let text = output.output.to_string();
            let failure: Option<serde_json::Value> = serde_json::from_str(&text).ok();
            let kind = failure.as_ref().and_then(|failure| failure["error"]["kind"].as_str());
            format!("output {}: {}", output.call_id, kind.unwrap_or(&text))
        }
        Item::ApprovalRequest(request) => format!("asked {}", request.call_id),
        Item::Verdict(response) => format!("said {}", response.decision.as_str()),
        other => format!("{other:?}"),
    });
    each.collect()
}

/// Reads a run up to an event.
async fn read_to(run: &mut ChatRun, is_wanted: impl Fn(&LoopEvent) -> bool) -> LoopEvent {
    loop {
        let event = run.next().await.unwrap();
        if is_wanted(&event) {
            return event;
        }
    }
}

fn is_turn(event: &LoopEvent) -> bool {
    matches!(event, LoopEvent::Delta(Delta::TurnComplete(_)))
}

fn is_output(event: &LoopEvent) -> bool {
    matches!(event, LoopEvent::Tool(ToolEvent::Output { .. }))
}

/// An operation of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Load,
    Claim,
    Renew,
    Save,
    Release,
}

type Fault = dyn Fn(Operation, usize) -> Option<StoreError> + Send + Sync;

/// A store that notes what is saved, keeps every version, and fails when it is told to.
#[derive(Clone)]
struct SpyStore {
    inner: MemoryStore,
    diary: Diary,
    versions: Arc<Mutex<Vec<LoopState>>>,
    operations: Arc<Mutex<Vec<Operation>>>,
    fault: Arc<Fault>,
}

impl SpyStore {
    fn new(diary: &Diary) -> Self {
        Self {
            inner: MemoryStore::new(),
            diary: diary.clone(),
            versions: Arc::default(),
            operations: Arc::default(),
            fault: Arc::new(|_, _| None),
        }
    }

    /// Fails an operation by its number among those of its kind, from one.
    fn failing(mut self, fault: impl Fn(Operation, usize) -> Option<StoreError> + Send + Sync + 'static) -> Self {
        self.fault = Arc::new(fault);
        self
    }

    fn versions(&self) -> Vec<LoopState> {
        self.versions.lock().unwrap().clone()
    }

    fn count(&self, operation: Operation) -> usize {
        self.operations.lock().unwrap().iter().filter(|it| **it == operation).count()
    }

    fn check(&self, operation: Operation) -> Result<(), StoreError> {
        self.operations.lock().unwrap().push(operation);
        (self.fault)(operation, self.count(operation)).map_or(Ok(()), Err)
    }
}

impl ConversationStore for SpyStore {
    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<StoredConversation>> {
        Box::pin(async move {
            self.check(Operation::Load)?;
            self.inner.load(id).await
        })
    }

    fn claim<'a>(&'a self, id: &'a str, lease: Duration) -> StoreFuture<'a, Claim> {
        Box::pin(async move {
            self.check(Operation::Claim)?;
            self.inner.claim(id, lease).await
        })
    }

    fn renew<'a>(&'a self, claim: &'a Claim, lease: Duration) -> StoreFuture<'a, Claim> {
        Box::pin(async move {
            self.check(Operation::Renew)?;
            self.inner.renew(claim, lease).await
        })
    }

    fn save<'a>(&'a self, claim: &'a Claim, expected: u64, state: &'a LoopState) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            self.check(Operation::Save)?;
            // A store takes time, and nothing may happen meanwhile.
            tokio::task::yield_now().await;
            let version = self.inner.save(claim, expected, state).await?;
            self.versions.lock().unwrap().push(state.clone());
            self.diary.note(format!("saved {}", told(state).last().cloned().unwrap_or_default()));
            Ok(version)
        })
    }

    fn release<'a>(&'a self, claim: &'a Claim) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.check(Operation::Release)?;
            self.inner.release(claim).await
        })
    }
}
