//! The turn loop: asks the model, runs its calls, decides, and asks again.
//!
//! ```text
//! start ─> resume ─> request ─> check ─> triage ─> run ─> conclude ─┐
//!            │          ↑     (utterance)         (turn_calls)      │
//!            │          └───────────── next turn ───────────────────┤
//!            └─> waits for an answer or a verdict                   └─> LoopEnd
//! ```
//!
//! A [`LoopState`] is started (`resume`: open calls are resumed first), the model is asked (`asking`), its turn is
//! checked (`utterance`), its calls are filtered (`triage`), run and recorded (`turn_calls`), and the application
//! decides what follows (`conclude`). [`machine`](self::machine) contains the steps in order and is polled through
//! [`LoopRun`].
//!
//! The loop must never send a history with an unanswered call, run a call of a turn that was cut off, repair a history
//! without an event, or lose a state.

mod after_turn;
mod agent_tool;
mod answer;
mod around;
mod asking;
mod budget;
mod call_outcome;
mod clear_results;
mod conclude;
mod conversation;
mod end;
mod error;
mod event;
mod event_slot;
mod failed_call;
mod fault;
mod final_answer;
mod guard;
mod interaction;
mod interruption;
mod isolation;
mod json_string;
mod left_out;
mod machine;
mod open_interactions;
mod open_turn;
mod origin;
mod prepare;
mod record;
mod remote_approval;
mod resume;
mod run;
mod settings;
mod signal;
mod span;
mod state;
mod state_cell;
mod state_check;
mod state_error;
mod summarize;
mod triage;
mod turn_calls;
mod typed_loop;
mod utterance;
mod verdict;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use haft_core::{FailureClass, Verdict};
use haft_executor::{Backoff, Cancellation, RunOptions, ToolSource};

pub use self::after_turn::{AfterTurn, Flow};
pub use self::agent_tool::AgentTool;
pub use self::budget::{Budget, Spent};
pub use self::clear_results::ClearToolResults;
pub use self::end::{LoopEnd, LoopOutcome};
pub use self::error::LoopError;
pub use self::event::LoopEvent;
pub use self::interaction::Interaction;
use self::isolation::Isolated;
pub use self::prepare::{BeforeRequest, Prepare, PrepareFuture};
use self::remote_approval::CallSide;
pub use self::run::LoopRun;
use self::settings::Settings;
pub use self::signal::Signal;
pub use self::state::LoopState;
pub use self::state_error::StateError;
pub use self::summarize::Summarize;
pub use self::typed_loop::{TypedLoop, TypedOutcome, TypedRun};
use crate::model::LanguageModel;
use crate::trace::ModelTrace;

/// A model, its tools, and the rules of their turns.
///
/// A loop is a value that can be started any number of times, also concurrently; cloning is cheap. The data of
/// one conversation is in its [`LoopState`].
///
/// The settings of the request, including its tool choice, hold for every turn until [`decide`](TurnLoop::decide)
/// changes them: a tool choice that requires a call never lets the loop stop by itself. A call that the tool choice
/// does not permit fails with `tool_choice_violation`, and a turn without a required call ends the loop.
///
/// ```
/// use haft_core::{Item, ToolCall, TurnRequest};
/// use haft_executor::{Tool, Toolkit};
/// use haft_model::{LoopEnd, LoopEvent, ScriptedModel, TurnLoop};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let kit: Toolkit = Toolkit::new().with(Tool::new("add").handler(|(a, b): (i64, i64), _cx| async move { a + b })?)?;
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

impl TurnLoop {
    /// Creates a loop of this model and these tools: at most 16 turns, at most ten equal calls in a row,
    /// ten [retries](Self::retries) of a request, until the model makes no more calls.
    ///
    /// The tools are a [`Toolkit`](haft_executor::Toolkit) or any other [`ToolSource`]. Each turn takes one snapshot of the
    /// source: the model is offered the tools of the snapshot, and its calls run on them, whatever changes meanwhile. A
    /// change counts from the next turn on. Calls that waited for a verdict are resumed with a new snapshot: if the
    /// definition of the tool is the one that approval was requested for, an approved call runs; if it has changed,
    /// approval is requested again; and if the tool is gone, the call fails with `unknown_tool`.
    ///
    /// All tools must be able to run with the options when a state is started, or the loop ends with
    /// [`LoopError::NotRunnable`] and changes nothing. A tool that arrives later and can't run is not offered to the
    /// model; [`LoopEvent::ToolLeftOut`] reports it, and the loop goes on.
    ///
    /// ```
    /// use haft_core::{Item, ToolCall, TurnRequest};
    /// use haft_executor::{SharedToolkit, Tool};
    /// use haft_model::{Expect, ScriptedModel, ScriptedTurn, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = SharedToolkit::default();
    /// let plugins = tools.clone();
    /// tools.add(Tool::new("install").handler(move |name: String, _cx| {
    ///     let greet = Tool::new(name).handler(|(), _cx| async { "hello" });
    ///     let is_added = greet.is_ok_and(|greet| plugins.add(greet).is_ok());
    ///     async move { is_added }
    /// })?)?;
    ///
    /// let model = ScriptedModel::default()
    ///     .then(ScriptedTurn::calls([ToolCall::new("c1", "install", "\"greet\"")]).expect(Expect::new().tools(["install"])))
    ///     .then(ScriptedTurn::calls([ToolCall::new("c2", "greet", "")]).expect(Expect::new().tools(["install", "greet"])))
    ///     .then("It says hello.");
    /// let outcome = TurnLoop::new(model.clone(), tools).start(TurnRequest::new("any", vec![Item::user("Greet me!")])).finish().await;
    /// assert_eq!(outcome.state.text(), "It says hello.");
    /// model.finish()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(model: impl LanguageModel + 'static, source: impl ToolSource + 'static) -> Self {
        Self(Arc::new(Settings::new(Arc::new(Isolated::new(model)), Arc::new(Isolated::new(source)))))
    }

    /// Limits the number of turns over the life of a state. Beyond it the loop ends with [`LoopEnd::MaxTurns`].
    pub fn max_turns(self, most: u32) -> Self {
        self.changed(|settings| settings.max_turns = most)
    }

    /// Sets the budget of one task: from the start of a state, or its last [follow-up](LoopState::follow_up), on. When it
    /// is spent the loop ends with [`LoopEnd::Budget`].
    pub fn budget(self, budget: Budget) -> Self {
        self.changed(|settings| settings.budget = budget)
    }

    /// Sets the budget of a whole conversation, over all its [follow-ups](LoopState::follow_up), beside that of each
    /// task. When it is spent the loop ends with [`LoopEnd::Budget`], also after another message.
    pub fn conversation_budget(self, budget: Budget) -> Self {
        self.changed(|settings| settings.conversation_budget = budget)
    }

    /// Limits the calls of one tool with equal arguments that follow each other without another call in between; ten by
    /// default, and zero means no limit. Raise it for tools that are polled.
    ///
    /// A call beyond the limit is not run and fails with `repeated_call`: the model reads how often it made the call, and
    /// that repeating it once more ends the run. If a later turn then consists of nothing but that call, the loop ends with
    /// [`LoopEnd::RepeatedCalls`]. Any other call that runs begins a new row.
    pub fn repeated_calls(self, most: u32) -> Self {
        self.changed(|settings| settings.repeated_calls = most)
    }

    /// Sets the options of the runs of calls: caller, permit, approver and so on. The conversation up to the calls is
    /// added. Tools that the caller may not see are not offered to the model.
    ///
    /// With [`Suspend`](haft_executor::Suspend), or another approver that decides later, the loop ends with
    /// [`LoopEnd::Waiting`] and continues when its state has the verdicts. Signals and interactions must be permitted
    /// and approved like other calls, or they do not surface; as they are not run here, an observer of the options
    /// sees those that do as `non_local_tool`. A call that the provider runs can't be prevented: the permit is
    /// consulted about it, an approval policy is not.
    ///
    /// They apply to the calls of each turn, not to the loop: a timeout counts from the first call of a turn, and a
    /// [cancellation](RunOptions::cancellation) ends the calls, and the model reads that. The loop itself is limited by
    /// its [budget](Self::budget) and cancelled by [`LoopRun::cancel`] or [`cancellation`](Self::cancellation).
    ///
    /// Each turn is a run with an id of its own. An [id](RunOptions::run_id) that is set here is that of every run, so
    /// it must be set for one conversation only: elsewhere the same call id may occur again, and both calls would have
    /// one [idempotency key](haft_executor::Cx::idempotency_key).
    pub fn options(self, options: RunOptions) -> Self {
        self.changed(|settings| settings.options = options)
    }

    /// Sets the number of retries of a request that failed with a transient error
    /// ([`ModelError::retryable`](crate::ModelError::retryable)); ten by default. Each turn has its own.
    ///
    /// The defaults outlast a provider's bad minute: ten retries, the first after a second, each wait twice the one before
    /// up to [30 seconds](Self::backoff), with up to half of each taken off at random, so 90 to 181 seconds; or as long as
    /// the provider asks, up to [five minutes](Self::max_retry_wait) in total. Runs of one loop draw their waits
    /// independently of each other: those that a provider rejected together do not come back together.
    ///
    /// Set a smaller number where a person waits for the answer.
    ///
    /// A request may fail after some of its deltas were read. They are void then, which [`LoopEvent::Retrying`]
    /// reports: a reader that shows deltas removes those of the turn.
    pub fn retries(self, most: u32) -> Self {
        self.changed(|settings| settings.retries = most)
    }

    /// Sets the wait before a retry; by default one second, doubling up to 30 seconds. A wait that the provider requests
    /// is the minimum.
    ///
    /// The jitter of a run depends on the [seed](Backoff::seed) and on the number of runs that this loop and its clones
    /// have started. Each loop draws its own seed at random, in each process and also if you pass clones of one backoff.
    /// Set a seed in tests only: with it, loops in two processes wait alike.
    pub fn backoff(self, backoff: Backoff) -> Self {
        self.changed(|settings| settings.backoff = backoff.reseeded())
    }

    /// Limits the sum of the waits before the retries of one request; five minutes by default. A retry that would exceed
    /// it is not made: the loop ends with the error at once, and its
    /// [`retry_after`](crate::ModelError::retry_after) is the time after which the state may be started again.
    pub fn max_retry_wait(self, most: Duration) -> Self {
        self.changed(|settings| settings.max_retry_wait = most)
    }

    /// Repairs an inconsistent history before any of its calls runs and before the model is asked: open calls are
    /// cancelled with this reason, and [`LoopEvent::Repaired`] is emitted. Without it such a history ends the loop
    /// with [`LoopError::Unreconciled`].
    ///
    /// Calls that wait for a verdict or an answer stay open. A call that must be renamed, because an earlier call has
    /// its id, is cancelled instead: a verdict on it could mean the other one.
    pub fn repair(self, reason: impl Into<String>) -> Self {
        self.changed(|settings| settings.repair = Some(reason.into()))
    }

    /// Sets the function that decides after every turn whether there is another one, and with which request. By
    /// default the loop continues while the model makes calls.
    ///
    /// ```
    /// use haft_core::{Item, TurnRequest};
    /// use haft_executor::Toolkit;
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

    /// Adds a hook that is called before each request, and may shorten or rewrite the history. Several hooks are called in
    /// the order in which they were added, each with the result of the one before.
    ///
    /// The result replaces the history of the state: there is one history, and it is what the model reads. What a hook
    /// removes is gone from the [`LoopState`]; an application that keeps transcripts collects the
    /// [`TurnEnded`](LoopEvent::TurnEnded) events. [`LoopEvent::HistoryRewritten`] reports each change. A history in which a
    /// call has no output, or an output no call, ends the loop with [`LoopError::PreparedHistory`], also if the loop
    /// [repairs](Self::repair) histories, and the state stays as it was.
    ///
    /// The hooks are called again when the provider rejects the conversation as too long
    /// ([`BeforeRequest::too_long`]), once per turn. If the history is shorter then, it is sent at once; otherwise the loop
    /// ends with the provider's error.
    ///
    /// [`ClearToolResults`] and [`Summarize`] are ready to use.
    ///
    /// ```
    /// use haft_core::{Item, TurnRequest};
    /// use haft_executor::Toolkit;
    /// use haft_model::{ScriptedModel, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let model = ScriptedModel::new(["Fine."]);
    /// let agent = TurnLoop::new(model.clone(), Toolkit::new()).prepare(|mut request: haft_model::BeforeRequest| async move {
    ///     let old = request.history().len().saturating_sub(2);
    ///     request.history_mut().drain(..old);
    ///     Ok(request)
    /// });
    /// let history = ["one", "two", "three"].map(Item::user).to_vec();
    /// let outcome = agent.start(TurnRequest::new("any", history)).finish().await;
    /// assert_eq!(model.requests()[0].history.len(), 2);
    /// assert_eq!(outcome.state.history().len(), 3, "two messages and the answer");
    /// # }
    /// ```
    pub fn prepare(self, hook: impl Prepare + 'static) -> Self {
        let hook: Arc<dyn Prepare> = Arc::new(Isolated::new(hook));
        self.changed(|settings| settings.prepare.push(hook))
    }

    /// Ends the loop with [`LoopEnd::CallsFailed`] when a call failed in one of these classes, as
    /// [`Run::fail_on`](haft_executor::Run::fail_on) does for a run. Without it the model reads every failure and
    /// continues.
    ///
    /// The other calls of the turn run to their end first, including those that wait for a verdict or an answer. Every
    /// call has its output in the history, so the state can be started again: the model then reads the failure. The
    /// decide function is not called for such a turn. A call that this loop rejects because of the tool choice or
    /// because it was repeated counts as [`FailureClass::Call`].
    ///
    /// ```
    /// use haft_core::{FailureClass, Item, ToolCall, TurnRequest};
    /// use haft_executor::{Tool, Toolkit};
    /// use haft_model::{LoopEnd, ScriptedModel, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let broken = Tool::new("broken").try_handler_opaque(|(), _cx| async { Err::<(), _>("a wire is loose") })?;
    /// let model = ScriptedModel::default().then([ToolCall::new("c1", "broken", "")]).then("It is broken.");
    /// let agent = TurnLoop::new(model, Toolkit::from_iter([broken])).fail_on([FailureClass::Internal]);
    ///
    /// let outcome = agent.start(TurnRequest::new("any", vec![Item::user("Try it.")])).finish().await;
    /// assert!(matches!(&outcome.end, LoopEnd::CallsFailed { results } if results[0].call_id == "c1"));
    /// assert_eq!(agent.start(outcome.state).finish().await.state.text(), "It is broken.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn fail_on(self, classes: impl IntoIterator<Item = FailureClass>) -> Self {
        let classes = classes.into_iter().collect();
        self.changed(|settings| settings.fail_on = classes)
    }

    /// Sets the name of the agent, for the spans of its runs.
    pub fn name(self, name: impl Into<Arc<str>>) -> Self {
        self.changed(|settings| settings.name = Some(name.into()))
    }

    /// Sets how requests to the model are traced: without messages by default. See [`ModelTrace`] for the spans and
    /// metrics of a loop.
    pub fn trace(self, trace: ModelTrace) -> Self {
        self.changed(|settings| settings.trace = trace)
    }

    /// Cancels every run of this loop when the flag is raised. To cancel a single run, use [`LoopRun::cancel`].
    pub fn cancellation(self, flag: Cancellation) -> Self {
        self.changed(|settings| settings.cancellation = Some(flag))
    }

    /// Starts or continues a state. Nothing happens until the run is polled.
    ///
    /// Open calls of the state are resumed first: answers are recorded, and calls with a verdict run. Two loops that
    /// are started from one state both do so, also in two processes: claim a stored state before it is started. See
    /// [`LoopState`].
    pub fn start(&self, state: impl Into<LoopState>) -> LoopRun {
        LoopRun::new(Arc::clone(&self.0), self.0.options.clone(), state.into())
    }

    /// Starts or continues a state as [`start`](Self::start) does, with options of this conversation: its caller, its
    /// services, its limits. They are combined with the [options](Self::options) of the loop as [`RunOptions::merge`]
    /// does: permits, policies and observers add up, the stricter limit applies, and other values of the conversation
    /// replace those of the loop.
    ///
    /// The options are no part of the state: pass them again whenever the state is started, and to
    /// [`verdict_with`](Self::verdict_with).
    ///
    /// ```
    /// use haft_executor::{Cx, RunOptions, Tool, Toolkit};
    /// use haft_core::{Item, ToolCall, TurnRequest};
    /// use haft_model::{ScriptedModel, TurnLoop};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let who = Tool::new("who").handler(|(), cx: Cx| async move { cx.caller().map(ToString::to_string) })?;
    /// let model = ScriptedModel::default().then([ToolCall::new("c1", "who", "")]).then("You are Ana.");
    /// let agent = TurnLoop::new(model.clone(), Toolkit::from_iter([who]));
    ///
    /// let request = TurnRequest::new("any", vec![Item::user("Who am I?")]);
    /// agent.start_with(request, RunOptions::new().caller("user:ana")).finish().await;
    /// let output = model.requests()[1].history.last().cloned();
    /// assert!(format!("{output:?}").contains("user:ana"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn start_with(&self, state: impl Into<LoopState>, options: impl Into<RunOptions>) -> LoopRun {
        LoopRun::new(Arc::clone(&self.0), self.options_with(options.into()), state.into())
    }

    /// Adds a verdict on a pending approval request of a state. It is checked as it will be when the state is started,
    /// so a verdict with invalid arguments or an invalid answer is rejected with its issues, and the request stays
    /// pending.
    ///
    /// The first verdict counts, and it counts once: when its call finishes, the request and the verdict are removed
    /// from the history. If the definition of the tool has changed since the request, no verdict on it counts: start
    /// the state, and it waits with a new request.
    ///
    /// A request of the provider, for a call that it executes, can only be approved or denied. Its verdict stays in the
    /// history: the next request to the model contains it. No approver of the options decides about it.
    ///
    /// ```
    /// use haft_executor::{ApprovalPolicy, RunOptions, Suspend, Tool, Toolkit, VerdictFault};
    /// use haft_core::{Item, ToolCall, TurnRequest};
    /// use haft_model::{ScriptedModel, StateError, TurnLoop};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let pay = Tool::new("pay").needs_approval(ApprovalPolicy::always()).handler(|cents: u64, _cx| async move { cents })?;
    /// let model = ScriptedModel::default().then([ToolCall::new("c1", "pay", "500")]).then("Paid.");
    /// let agent = TurnLoop::new(model, Toolkit::from_iter([pay])).options(RunOptions::new().approvals(Suspend));
    /// let mut state = agent.start(TurnRequest::new("any", vec![Item::user("Pay!")])).finish().await.state;
    ///
    /// let pending = state.approvals().remove(0);
    /// let typo = agent.verdict(&mut state, pending.edit(json!("4OO"))).unwrap_err();
    /// assert!(matches!(typo, StateError::Verdict { fault: VerdictFault::Invalid { .. }, .. }));
    /// agent.verdict(&mut state, pending.edit(json!(400)))?;
    /// assert_eq!(agent.start(state).finish().await.state.text(), "Paid.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn verdict(&self, state: &mut LoopState, response: Verdict) -> Result<(), StateError> {
        self.add_verdict(state, response, &self.0.options)
    }

    /// Adds a verdict as [`verdict`](Self::verdict) does, to a state that is started with
    /// [these options](Self::start_with): it is checked by the approval keys, clock and decode options of the
    /// conversation.
    pub fn verdict_with(
        &self,
        state: &mut LoopState,
        response: Verdict,
        options: impl Into<RunOptions>,
    ) -> Result<(), StateError> {
        self.add_verdict(state, response, &self.options_with(options.into()))
    }

    fn add_verdict(&self, state: &mut LoopState, response: Verdict, options: &RunOptions) -> Result<(), StateError> {
        state.verdict(response, |side, request, response| match side {
            CallSide::Application => self.0.source.snapshot().toolkit().check_verdict(options, request, response),
            CallSide::Provider => options.check_remote_verdict(request, response),
        })
    }

    /// Returns the options of the loop, combined with those of a conversation.
    fn options_with(&self, conversation: RunOptions) -> RunOptions {
        self.0.options.clone().merge(conversation)
    }

    fn changed(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}
