//! Requesting one turn from the model.
//!
//! The model is offered the tools that can run and that the caller may see. Deltas are emitted as they arrive; only the
//! turn at the end counts. A request that fails is retried within the limits and the budget, and the deltas of the
//! failed attempt are void.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_core::Stream;
use haft_core::{CallId, Delta, ToolDescriptor, Turn, Usage};
use haft_executor::Dispatch;

use super::end::LoopEnd;
use super::error::LoopError;
use super::event::LoopEvent;
use super::isolation::{Isolated, isolated};
use super::machine::Machine;
use super::prepare::PrepareCause;
use crate::error::ModelError;
use crate::model::TurnStream;

impl Machine {
    /// Requests one complete turn of the model.
    pub(super) async fn ask(&mut self) -> Result<Turn, LoopEnd> {
        let number = self.state.read(|state| state.turns).saturating_add(1);
        let info = isolated(|| self.model.info()).map_err(LoopError::model_panicked)?;
        self.asked = self.state.read(|state| info.or_model(&state.request.model));
        let offered = Dispatch::list(&self.tools, &self.options);
        let started = LoopEvent::TurnStarted {
            number,
            model: Some(self.asked.clone()),
            tools: offered.iter().map(|tool| tool.name.clone()).collect(),
            generation: Some(self.tools.generation()),
        };
        self.event_slot.emit(started).await;
        let (mut attempts, mut waited) = (0_u32, Duration::ZERO);
        let mut may_shorten = true;
        loop {
            attempts = attempts.saturating_add(1);
            let error = match self.attempt(&offered).await? {
                Ok(turn) => return Ok(turn),
                // Dropped in isolation: it may hold an error of user code.
                Err(error) => Isolated::new(error),
            };
            let is_shortened = std::mem::replace(&mut may_shorten, false) && self.shorten(&error).await?;
            let wait = if is_shortened {
                Some(Duration::ZERO)
            } else {
                self.wait_before_retry(number, attempts, waited, &error)
            };
            let Some(wait) = wait else { return Err(self.model_failed(error.into_inner())) };
            self.may_ask()?;
            let (kind, message) = (error.kind().to_owned(), error.to_string());
            self.event_slot.emit(LoopEvent::Retrying { attempts, kind, message, wait }).await;
            self.interruption.or(tokio::time::sleep(wait)).await?;
            waited = waited.saturating_add(wait);
        }
    }

    /// Shortens a conversation that the provider rejected as too long. Reports whether it is shorter now, so that it can be
    /// sent again.
    async fn shorten(&mut self, error: &ModelError) -> Result<bool, LoopEnd> {
        match error {
            ModelError::ContextTooLong { message } => self.prepare(PrepareCause::TooLong(message.text())).await,
            _ => Ok(false),
        }
    }

    /// Returns the wait before a retry; `None` if there is none.
    fn wait_before_retry(&self, number: u32, attempts: u32, waited: Duration, error: &ModelError) -> Option<Duration> {
        if !error.retryable() || attempts > self.settings.retries {
            return None;
        }
        // The jitter depends on the run, the turn and the attempt: runs that failed together must not return together.
        let jitter_key = CallId::from(format!("run_{}_turn_{number}", self.start));
        let wait = self.settings.backoff.wait(attempts, &jitter_key, error.retry_after());
        (waited.saturating_add(wait) <= self.settings.max_retry_wait).then_some(wait)
    }

    /// Makes one attempt, and counts the usage of a failed one.
    async fn attempt(&mut self, offered: &[Arc<ToolDescriptor>]) -> Result<Result<Turn, ModelError>, LoopEnd> {
        let mut usage = Usage::default();
        let turn = self.read_stream(offered, &mut usage).await;
        // A complete turn has its usage. For a failed attempt the last update is all that is known.
        if !matches!(turn, Ok(Ok(_))) {
            self.state.change(|state| state.usage += usage);
        }
        turn
    }

    /// Reads the stream of one attempt.
    async fn read_stream(
        &mut self,
        offered: &[Arc<ToolDescriptor>],
        usage: &mut Usage,
    ) -> Result<Result<Turn, ModelError>, LoopEnd> {
        let mut stream = Isolated::new(self.open_stream(offered)?);
        loop {
            let next = poll_fn(|task| match isolated(|| Pin::new(&mut *stream).poll_next(task)) {
                Ok(polled) => polled.map(Ok),
                Err(panicked) => Poll::Ready(Err(panicked)),
            });
            match self.interruption.or(next).await?.map_err(LoopError::model_panicked)? {
                None => return Ok(Err(ModelError::IncompleteTurn)),
                Some(Err(error)) => return Ok(Err(error)),
                Some(Ok(Delta::TurnComplete(turn))) => return Ok(Ok(*turn)),
                Some(Ok(delta)) => {
                    if let Delta::UsageUpdate(update) = &delta {
                        *usage = *update;
                    }
                    self.event_slot.emit(LoopEvent::Delta(delta)).await;
                }
            }
        }
    }

    fn open_stream(&self, offered: &[Arc<ToolDescriptor>]) -> Result<TurnStream, LoopEnd> {
        let stream = self.state.lend_request(|request| {
            request.tools = offered.to_vec();
            let stream = isolated(|| self.settings.trace.stream_named(&*self.model, &self.asked, request));
            request.tools.clear();
            stream
        });
        stream.map_err(|panicked| LoopError::model_panicked(panicked).into())
    }

    /// Returns the end of a loop whose model failed.
    pub(super) fn model_failed(&self, error: ModelError) -> LoopEnd {
        LoopError::Model { model: self.asked.clone(), source: Arc::new(error) }.into()
    }
}
