//! Concluding a turn: the decision, and the phase that follows.
//!
//! The decide function gets a copy of the turn and the request. Its changes are taken over only when it has returned,
//! so a panic or an interruption must leave the state unchanged.

use std::collections::HashMap;
use std::sync::OnceLock;

use haft_core::{Author, CallId, Finish, History, Item, ToolEvent, ToolResult, Turn};

use super::after_turn::{AfterTurn, Flow, NextModel, NextStep, Totals};
use super::end::LoopEnd;
use super::error::LoopError;
use super::event::LoopEvent;
use super::final_answer::CheckedAnswer;
use super::isolation::{caught, isolated};
use super::machine::Machine;
use super::open_turn::OpenTurn;
use super::remote_approval::{DecidedRequests, pending_requests};
use super::signal::Signal;
use super::state::{LoopPhase, LoopState};

/// Reports whether a loop without a decide function continues after this turn.
pub(super) fn goes_on(turn: &Turn) -> bool {
    // The provider continues when it has the responses to its approval requests.
    let is_unfinished = |item: &Item| item.local_call().is_some() || matches!(item, Item::ApprovalRequest(_));
    turn.finish == Finish::Pause || turn.items.iter().any(is_unfinished)
}

impl Machine {
    /// Decides what follows the open turn, and closes it.
    pub(super) async fn conclude(&mut self) -> Result<(), LoopEnd> {
        self.ensure_no_call_failed().await?;
        let step = match self.decision().await? {
            None if self.state.read(LoopState::is_last_turn) => NextStep::End,
            None => NextStep::Next,
            Some(Flow { step: NextStep::Fail(error), .. }) => return Err(LoopError::Decide(error).into()),
            Some(Flow { after, step }) => {
                self.take_over(*after);
                step
            }
        };
        let stops = !matches!(step, NextStep::Next);
        let is_done = stops && self.state.read(|state| state.is_last_turn() && has_last_word(&state.request.history));
        match if is_done { self.check_answer() } else { CheckedAnswer::Accepted } {
            CheckedAnswer::Accepted => {
                let cut_off = match step {
                    NextStep::End => self.state.read(LoopState::truncation),
                    NextStep::Next | NextStep::Stop | NextStep::Fail(_) => None,
                };
                // An answer that was cut off is none: the model can be asked for the rest.
                let phase = if is_done && cut_off.is_none() { LoopPhase::Done } else { LoopPhase::Ready };
                self.close_turn(phase).await;
                match cut_off {
                    Some(finish) => Err(LoopEnd::Truncated { finish }),
                    None if stops => Err(LoopEnd::Stopped),
                    None => Ok(()),
                }
            }
            CheckedAnswer::ReAsked(issues) => {
                self.re_ask(issues).await;
                Ok(())
            }
            CheckedAnswer::Missing(next, error) => {
                self.close_turn(next).await;
                Err(error.into())
            }
        }
    }

    /// Closes the open turn: emits the results of its signals and its end.
    pub(super) async fn close_turn(&mut self, next: LoopPhase) {
        self.close_turn_with(next, |_| ()).await;
    }

    /// Closes the open turn, and changes the state in the same step.
    pub(super) async fn close_turn_with<T>(&mut self, next: LoopPhase, change: impl FnOnce(&mut LoopState) -> T) -> T {
        let (number, open, changed) = self.state.change(|state| (state.turns, state.phase.close(next), change(state)));
        if let Some(open) = open {
            self.emit_turn_ended(number, *open).await;
        }
        changed
    }

    async fn emit_turn_ended(&mut self, number: u32, mut open: OpenTurn) {
        let results: Vec<ToolResult> = std::mem::take(&mut open.signals).iter().map(Signal::result).collect();
        let indexes = if results.is_empty() { HashMap::new() } else { open.indexes() };
        for result in &results {
            let index = indexes.get(&result.call_id).copied().unwrap_or_default();
            self.event_slot.emit(LoopEvent::Tool(ToolEvent::Output { index, result: result.clone() })).await;
        }
        open.add(results);
        let (turn, results) = (Box::new(open.turn), open.results);
        self.event_slot.emit(LoopEvent::TurnEnded { number, turn, results }).await;
    }

    /// Calls the decide function; `None` if there is none.
    async fn decision(&mut self) -> Result<Option<Flow>, LoopEnd> {
        let (Some(decide), Some(after)) = (&self.settings.decide, self.after_turn()) else { return Ok(None) };
        let deciding = isolated(|| decide(after)).map_err(LoopError::decide_panicked)?;
        let flow = self.interruption.or(caught(deciding)).await?;
        Ok(Some(flow.map_err(LoopError::decide_panicked)?))
    }

    /// Creates the argument of the decide function; `None` if no turn is open.
    fn after_turn(&self) -> Option<AfterTurn> {
        let time_used = self.state.time_used();
        self.state.read(|state| {
            let open = state.phase.open()?;
            Some(AfterTurn {
                turn: open.turn.clone(),
                results: open.results.clone(),
                signals: open.signals.clone(),
                request: state.request.clone(),
                added: Vec::new(),
                seen: OnceLock::new(),
                totals: Totals { turns: state.turns, usage: state.usage, calls: state.calls, time_used },
                app: state.conversation.app.clone(),
                tools: None,
                model: None,
            })
        })
    }

    /// Takes over the changes of the decide function.
    fn take_over(&mut self, after: AfterTurn) {
        let AfterTurn { signals, mut request, added, app, tools, model, .. } = after;
        request.tools.clear();
        self.state.change(|state| {
            state.request = request;
            state.conversation.app = app;
            // The history is owned by the state again, so nothing is copied.
            state.request.history.extend(added);
            fill_answers(&mut state.request.history, &signals);
            // The function got a copy of the signals. Only the answers are taken from it.
            let answered: HashMap<&CallId, &Signal> = signals.iter().map(|signal| (signal.call_id(), signal)).collect();
            for signal in state.phase.open_mut().into_iter().flat_map(|open| &mut open.signals) {
                if let Some(answered) = answered.get(signal.call_id()) {
                    signal.answer_as(answered);
                }
            }
        });
        if let Some(source) = tools {
            self.source = source;
        }
        if let Some(NextModel(model)) = model {
            self.model = model;
        }
    }

    /// Ends the loop if a call waits for an answer or a verdict.
    pub(super) fn ensure_nothing_waits(&self) -> Result<(), LoopEnd> {
        let (interactions, approvals) = self.state.read(|state| {
            let open = state.interactions().iter().filter(|interaction| interaction.is_open()).cloned();
            // An approval request is pending only while its call has no output, or is one of the provider.
            let history = &state.request.history;
            let may_wait = history.has_unanswered() || history.has_open_remote_request();
            let approvals = if may_wait { pending_requests(history, DecidedRequests::Included) } else { Vec::new() };
            (open.collect::<Vec<_>>(), approvals)
        });
        let waits = !interactions.is_empty() || !approvals.is_empty();
        if waits { Err(LoopEnd::Waiting { interactions, approvals }) } else { Ok(()) }
    }
}

impl LoopState {
    /// Reports whether the open turn is one after which a loop stops.
    fn is_last_turn(&self) -> bool {
        self.phase.open().is_some_and(|open| !goes_on(&open.turn))
    }

    /// Returns the reason why the open turn ended early, if it did. A filter or a refusal ends an answer too, but there is
    /// no more of it to come.
    fn truncation(&self) -> Option<Finish> {
        let finish = &self.phase.open()?.turn.finish;
        match finish {
            Finish::Length | Finish::Error | Finish::Other(_) => Some(finish.clone()),
            _ => None,
        }
    }
}

/// Reports whether no message follows the last one of the model.
fn has_last_word(items: &[Item]) -> bool {
    let Some(last) = items.last() else { return true };
    match last.author() {
        Author::User | Author::Application => false,
        Author::Model | Author::Provider | Author::Executor | Author::Gate | Author::Approver | Author::Unknown => true,
    }
}

/// Replaces the `null` outputs of signals with their answers. A history that was rewritten may no longer have them.
fn fill_answers(items: &mut History, signals: &[Signal]) {
    let mut answers: HashMap<&CallId, &Signal> = signals.iter().map(|signal| (signal.call_id(), signal)).collect();
    for position in (0..items.len()).rev() {
        if answers.is_empty() {
            return;
        }
        if let Item::ToolOutput(output) = &items[position]
            && let Some(signal) = answers.remove(&output.call_id)
        {
            items.set_output(position, signal.result().to_call_output());
        }
    }
}
