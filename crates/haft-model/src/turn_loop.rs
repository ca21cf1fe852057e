//! The turn loop: ask the model, run what it asks for, decide, ask again.
//!
//! The way of the data: a [`LoopState`] is started (`resume`: what is open is settled), the model is asked (`asking`), its
//! calls are sorted (`triage`), run and written down (`settle`), and the caller's function decides (`conclude`). Every
//! step is in [`machine`](self::machine), which is polled through [`LoopRun`].
//!
//! What must never happen here: a call without an answer in the history that the model is sent, a tool that runs although
//! the turn that asked for it was cut off, a history that is mended in silence, or a state that is lost.

mod after_turn;
mod asking;
mod budget;
mod call_outcome;
mod conclude;
mod end;
mod error;
mod event;
mod event_slot;
mod fault;
mod guard;
mod interaction;
mod interruption;
mod isolation;
mod json_string;
mod machine;
mod open_turn;
mod origin;
mod record;
mod resume;
mod run;
mod signal;
mod state;
mod state_cell;
mod state_error;
mod triage;
mod turn_calls;
mod utterance;
mod verdict;
mod waiting;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use haft_core::{ApprovalResponse, Backoff, Cancellation, RunOptions, Toolkit};

pub use self::after_turn::{AfterTurn, Flow};
pub use self::budget::{Budget, Spent};
pub use self::end::{LoopEnd, LoopOutcome};
pub use self::error::LoopError;
pub use self::event::LoopEvent;
pub use self::interaction::Interaction;
use self::isolation::Isolated;
pub use self::run::LoopRun;
pub use self::signal::Signal;
pub use self::state::LoopState;
pub use self::state_error::StateError;
use crate::model::LanguageModel;

/// Turns that a loop takes when nothing else is said.
const MAX_TURNS: u32 = 16;
/// How often one call is made when nothing else is said.
const REPEATED_CALLS: u32 = 5;
/// How often a model that fails is asked again when nothing else is said.
const RETRIES: u32 = 2;

/// A model, its tools, and the rules by which they take turns.
///
/// A loop is a value that can be started any number of times, also at the same time; cloning is cheap. What belongs to
/// one conversation is in its [`LoopState`].
///
/// What the request says holds for every turn, its choice of tools included, until [`decide`](TurnLoop::decide) changes it:
/// one that requires a call never lets the model have the last word. A call that the choice does not permit is answered
/// with `tool_choice_violation`, and a turn without a call that was required ends the loop.
///
/// ```
/// use haft_core::{Item, Tool, ToolCall, Toolkit, TurnRequest};
/// use haft_model::{LoopEnd, LoopEvent, ScriptedModel, TurnLoop};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let kit: Toolkit = Toolkit::new().with(Tool::new("add").run(|(a, b): (i64, i64), _cx| async move { a + b })?)?;
/// let model = ScriptedModel::default().then([ToolCall::new("c1", "add", "[19, 23]")]).then("It is 42.");
/// let agent = TurnLoop::new(model, kit).max_turns(4);
///
/// let mut run = agent.start(TurnRequest::new("any", vec![Item::user("What is 19 + 23?")]));
/// let mut outputs = Vec::new();
/// while let Some(event) = run.next().await {
///     if let LoopEvent::Tool(event) = event {
///         outputs.extend(event.result().map(|result| result.to_model_text()));
///     }
/// }
/// assert_eq!(outputs, ["42"]);
///
/// let outcome = run.finish().await;
/// assert!(matches!(outcome.end, LoopEnd::Stopped));
/// assert_eq!(outcome.state.text(), "It is 42.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a loop does nothing until it is started"]
pub struct TurnLoop(Arc<Settings>);

/// The function that decides between turns.
type DecideFn = dyn Fn(AfterTurn) -> Pin<Box<dyn Future<Output = Flow> + Send>> + Send + Sync;

/// Everything that was said about a loop.
#[derive(Clone)]
struct Settings {
    model: Arc<dyn LanguageModel>,
    kit: Toolkit,
    options: RunOptions,
    max_turns: u32,
    budget: Budget,
    repeated_calls: u32,
    retries: u32,
    backoff: Backoff,
    repair: Option<String>,
    decide: Option<Arc<DecideFn>>,
    cancellation: Option<Cancellation>,
}

impl TurnLoop {
    /// A loop of this model and these tools: at most 16 turns, at most five equal calls, two retries, and on until the
    /// model makes no more calls.
    pub fn new(model: impl LanguageModel + 'static, kit: Toolkit) -> Self {
        Self(Arc::new(Settings {
            model: Arc::new(Isolated::new(model)),
            kit,
            options: RunOptions::new(),
            max_turns: MAX_TURNS,
            budget: Budget::new(),
            repeated_calls: REPEATED_CALLS,
            retries: RETRIES,
            backoff: Backoff::default(),
            repair: None,
            decide: None,
            cancellation: None,
        }))
    }

    /// At most this many turns over the life of a state; then the loop ends with [`LoopEnd::MaxTurns`].
    pub fn max_turns(self, most: u32) -> Self {
        self.changed(|settings| settings.max_turns = most)
    }

    /// What may be spent over the life of a state; then the loop ends with [`LoopEnd::Budget`].
    pub fn budget(self, budget: Budget) -> Self {
        self.changed(|settings| settings.budget = budget)
    }

    /// How often the same tool is called with the same arguments over the life of a state; zero for as often as the model
    /// likes. A call beyond is not made: the model is told so with `repeated_call`, and a turn of nothing but such calls
    /// ends the loop with [`LoopEnd::RepeatedCalls`]. Raise it for tools that are polled.
    pub fn repeated_calls(self, most: u32) -> Self {
        self.changed(|settings| settings.repeated_calls = most)
    }

    /// How calls are run: who asks, what is permitted, who approves. The conversation up to the calls is added to them.
    /// Tools that the caller may not see are not offered to the model.
    ///
    /// With [`Suspend`](haft_core::Suspend) as the approver, or any that answers later, the loop ends with
    /// [`LoopEnd::Waiting`] and goes on when its state has the verdicts. Signals and interactions must be permitted and
    /// approved like other calls, or they do not surface; as nothing is run, an observer of the options sees those that
    /// do as `non_local_tool`. Of a call that the provider runs nothing can be prevented: a permit is asked about it, an
    /// approval policy is not.
    pub fn options(self, options: RunOptions) -> Self {
        self.changed(|settings| settings.options = options)
    }

    /// How often a model is asked again for a turn that failed in a way that may pass
    /// ([`ModelError::retryable`](crate::ModelError::retryable)).
    pub fn retries(self, most: u32) -> Self {
        self.changed(|settings| settings.retries = most)
    }

    /// How long to wait before asking again; what the provider asks for is the least.
    pub fn backoff(self, backoff: Backoff) -> Self {
        self.changed(|settings| settings.backoff = backoff)
    }

    /// Repairs a history that is not whole before anything of it runs and before the model is asked, closing open calls
    /// with this reason, and says so with [`LoopEvent::Repaired`]. Without it such a history ends the loop with
    /// [`LoopError::Unreconciled`].
    ///
    /// Calls that wait for a verdict or an answer stay open. One that must be given another id, because an earlier call has
    /// its own, is closed instead: a verdict on it could mean the other.
    pub fn repair(self, reason: impl Into<String>) -> Self {
        self.changed(|settings| settings.repair = Some(reason.into()))
    }

    /// Decides after every turn whether there is another one, and what is asked in it. Without it the loop goes on while
    /// the model makes calls.
    ///
    /// ```
    /// use haft_core::{Item, Toolkit, TurnRequest};
    /// use haft_model::{ScriptedModel, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let model = ScriptedModel::new(["It is.", "Quite."]);
    /// let agent = TurnLoop::new(model.clone(), Toolkit::new()).decide(|mut after| async move {
    ///     if after.number() == 2 {
    ///         return after.stop();
    ///     }
    ///     after.request_mut().model = "a larger model".to_owned();
    ///     after.push(Item::user("Are you sure?"));
    ///     after.next()
    /// });
    /// let outcome = agent.start(TurnRequest::new("a small model", vec![Item::user("Is it so?")])).finish().await;
    /// assert_eq!(outcome.state.text(), "Quite.");
    /// assert_eq!(model.requests()[1].model, "a larger model");
    /// # }
    /// ```
    pub fn decide<F, Fut>(self, decide: F) -> Self
    where
        F: Fn(AfterTurn) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Flow> + Send + 'static,
    {
        let decide = Isolated::new(decide);
        self.changed(|settings| settings.decide = Some(Arc::new(move |after| Box::pin(decide(after)))))
    }

    /// Calls off every run of this loop when the flag is raised. A single one is called off with [`LoopRun::cancel`].
    pub fn cancellation(self, flag: Cancellation) -> Self {
        self.changed(|settings| settings.cancellation = Some(flag))
    }

    /// Starts a state, or goes on with one. Nothing happens until the run is polled.
    ///
    /// What is open in the state is settled first: answers are placed, and calls with a verdict run. Two loops that are
    /// started from one state both do so, here or in two processes: claim a stored state before it is started. See
    /// [`LoopState`].
    pub fn start(&self, state: impl Into<LoopState>) -> LoopRun {
        LoopRun::new(Arc::clone(&self.0), state.into())
    }

    /// Answers an open question of a state. The verdict is checked here as it will be when the state is started, so one with
    /// arguments or an answer that the tool does not take is rejected with its issues, and the question stays open.
    ///
    /// The first verdict counts, and it counts once: when its call is settled, the question and the verdict are gone from
    /// the history. When the definition of the tool has changed since the question was asked, no verdict on it counts:
    /// start the state, and it waits with a new question.
    ///
    /// ```
    /// use haft_core::{ApprovalPolicy, Item, RunOptions, Suspend, Tool, ToolCall, Toolkit, TurnRequest, VerdictFault};
    /// use haft_model::{ScriptedModel, StateError, TurnLoop};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).run(|cents: u64, _cx| async move { cents })?;
    /// let model = ScriptedModel::default().then([ToolCall::new("c1", "pay", "500")]).then("Paid.");
    /// let agent = TurnLoop::new(model, Toolkit::from_iter([pay])).options(RunOptions::new().approvals(Suspend));
    /// let mut state = agent.start(TurnRequest::new("any", vec![Item::user("Pay!")])).finish().await.state;
    ///
    /// let question = state.approvals().remove(0);
    /// let typo = agent.verdict(&mut state, question.edit(json!("4OO"))).unwrap_err();
    /// assert!(matches!(typo, StateError::Verdict { fault: VerdictFault::Invalid { .. }, .. }));
    /// agent.verdict(&mut state, question.edit(json!(400)))?;
    /// assert_eq!(agent.start(state).finish().await.state.text(), "Paid.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn verdict(&self, state: &mut LoopState, response: ApprovalResponse) -> Result<(), StateError> {
        let Settings { kit, options, .. } = &*self.0;
        state.verdict(response, |request, response| kit.check_verdict(options, request, response))
    }

    fn changed(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

impl fmt::Debug for TurnLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnLoop")
            .field("kit", &self.0.kit)
            .field("options", &self.0.options)
            .field("max_turns", &self.0.max_turns)
            .field("budget", &self.0.budget)
            .field("repeated_calls", &self.0.repeated_calls)
            .field("retries", &self.0.retries)
            .field("decides", &self.0.decide.is_some())
            .finish_non_exhaustive()
    }
}
