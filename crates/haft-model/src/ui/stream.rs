//! A running loop as the body of a response.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use tokio::time::{Sleep, sleep};

use super::ai_sdk::ChunkWriter;
use super::event::UiEvent;
use super::view::View;
use crate::turn_loop::{LoopError, LoopEvent};

/// The headers of a response with [`UiStream::events`].
pub const EVENT_HEADERS: [(&str, &str); 3] =
    [("content-type", "text/event-stream"), ("cache-control", "no-cache"), ("x-accel-buffering", "no")];

/// The wait after which a comment is sent, so that nothing between server and browser takes the connection for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The comment.
const COMMENT: &str = ": keep-alive\n\n";

/// A running loop as the body of a response: server-sent events, as text.
///
/// It is a stream of `Result<String, Infallible>`, as web frameworks take it, and reads one event of the loop at a time:
/// a browser that reads slowly slows the loop down. While nothing happens it sends a comment every 15 seconds. Dropping it
/// drops the run; what that means is the run's decision.
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_executor::Toolkit;
/// use haft_model::ui::{AI_SDK_HEADERS, UiStream};
/// use haft_model::{ScriptedModel, TurnLoop};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let agent = TurnLoop::new(ScriptedModel::new(["Hello!"]), Toolkit::new());
/// let run = agent.start(TurnRequest::new("any", vec![Item::user("Hi.")]));
/// let mut stream = UiStream::ai_sdk(run);
/// assert!(AI_SDK_HEADERS.contains(&("x-vercel-ai-ui-message-stream", "v1")));
/// assert_eq!(stream.next().await.as_deref(), Some("data: {\"type\":\"start\"}\n\n"));
/// # }
/// ```
#[must_use = "a loop does nothing unless it is polled"]
pub struct UiStream<S> {
    run: S,
    view: View,
    format: Format,
    filter: Option<Arc<Filter>>,
    /// Text that is not read yet.
    text: VecDeque<String>,
    heartbeat: Duration,
    /// The time without an event, while there is none.
    silence: Option<Pin<Box<Sleep>>>,
    end: EndMark,
}

/// The filter of an application.
type Filter = dyn Fn(UiEvent) -> Option<UiEvent> + Send + Sync;

/// The form of the text.
enum Format {
    Events,
    AiSdk(Box<ChunkWriter>),
}

/// The progress towards the end of the stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndMark {
    /// The loop runs.
    Open,
    /// The last event was written.
    Written,
}

impl<S: Stream<Item = LoopEvent> + Unpin> UiStream<S> {
    /// Creates a stream of our own events: each a server-sent event whose name is that of the [`UiEvent`] with its version
    /// (`v1.text_delta`), and whose data is its JSON. Send it with [`EVENT_HEADERS`].
    ///
    /// The run is a [`LoopRun`](crate::LoopRun), or any other stream of its events.
    pub fn events(run: S) -> Self {
        Self::new(run, Format::Events)
    }

    /// Creates a stream in the AI SDK's UI message stream protocol, version 1, which `useChat` reads. Send it with
    /// [`AI_SDK_HEADERS`](super::AI_SDK_HEADERS), and read what `useChat` posts by [`ChatPost`](super::ChatPost).
    ///
    /// It is written for version 7 of npm's `ai`; version 6 reads it too, unless a request to the model has to be retried
    /// after a part of its answer was sent.
    pub fn ai_sdk(run: S) -> Self {
        Self::new(run, Format::AiSdk(Box::default()))
    }

    fn new(run: S, format: Format) -> Self {
        let mut stream = Self {
            run,
            view: View::new(),
            format,
            filter: None,
            text: VecDeque::new(),
            heartbeat: HEARTBEAT,
            silence: None,
            end: EndMark::Open,
        };
        stream.write(UiEvent::Started);
        stream
    }

    /// Sets the time without an event after which a comment is sent; 15 seconds by default.
    pub fn heartbeat(mut self, wait: Duration) -> Self {
        self.heartbeat = wait;
        self
    }

    /// Sets a function that changes events before they are written, or removes them: arguments of internal tools, for
    /// example, or all reasoning. The events that begin and end the stream and its steps are always written.
    ///
    /// ```
    /// # use haft_core::{Item, TurnRequest};
    /// # use haft_executor::Toolkit;
    /// # use haft_model::{ScriptedModel, TurnLoop};
    /// use haft_model::ui::{UiEvent, UiStream};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let agent = TurnLoop::new(ScriptedModel::new(["Hello!"]), Toolkit::new());
    /// # let run = agent.start(TurnRequest::new("any", vec![Item::user("Hi.")]));
    /// let stream = UiStream::events(run).filter(|event| match event {
    ///     UiEvent::ReasoningDelta { .. } => None,
    ///     event => Some(event),
    /// });
    /// # drop(stream);
    /// # }
    /// ```
    pub fn filter(mut self, filter: impl Fn(UiEvent) -> Option<UiEvent> + Send + Sync + 'static) -> Self {
        self.filter = Some(Arc::new(filter));
        self
    }

    /// Sets the function that words an error for the user. By default the text contains nothing of the error.
    pub fn error_text(mut self, text: impl Fn(&LoopError) -> String + Send + Sync + 'static) -> Self {
        self.view.word_errors(Arc::new(text));
        self
    }

    /// Sets the id of the message that the AI SDK shows. By default the browser chooses it. Our own events have none.
    ///
    /// Where the answer continues a message (see [`ChatPost::continues`](super::ChatPost::continues)) it must be the id of
    /// that message, or unset.
    pub fn message_id(mut self, id: impl Into<String>) -> Self {
        if let Format::AiSdk(writer) = &mut self.format {
            self.text.clear();
            writer.name(id.into());
            self.write(UiEvent::Started);
        }
        self
    }

    /// Returns the next text; `None` at the end.
    pub async fn next(&mut self) -> Option<String> {
        let Ok(text) = poll_fn(|task| Pin::new(&mut *self).poll_next(task)).await.transpose();
        text
    }

    fn write(&mut self, event: UiEvent) {
        let filtered = match &self.filter {
            Some(filter) if !is_frame(&event) => filter(event),
            _ => Some(event),
        };
        let Some(event) = filtered else { return };
        if matches!(event, UiEvent::Ended { .. } | UiEvent::Failed { .. }) {
            self.end = EndMark::Written;
        }
        match &mut self.format {
            Format::Events => self.text.push_back(event.to_sse()),
            Format::AiSdk(writer) => self.text.extend(writer.write(&event)),
        }
    }

    fn read(&mut self, event: LoopEvent) {
        for event in self.view.read(event) {
            self.write(event);
        }
    }

    /// Ends a stream whose run ended without saying so: its task is gone.
    fn break_off(&mut self) {
        if self.end == EndMark::Open {
            self.end = EndMark::Written;
            let message = "The answer was interrupted. Try again.".to_owned();
            self.write(UiEvent::Failed { kind: "interrupted".to_owned(), message });
        }
    }
}

impl<S: Stream<Item = LoopEvent> + Unpin> Stream for UiStream<S> {
    type Item = Result<String, Infallible>;

    fn poll_next(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = self.get_mut();
        loop {
            if let Some(text) = stream.text.pop_front() {
                stream.silence = None;
                return Poll::Ready(Some(Ok(text)));
            }
            match Pin::new(&mut stream.run).poll_next(task) {
                Poll::Ready(Some(event)) => stream.read(event),
                Poll::Ready(None) if stream.end == EndMark::Open => stream.break_off(),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => break,
            }
        }
        let heartbeat = stream.heartbeat;
        let silence = stream.silence.get_or_insert_with(|| Box::pin(sleep(heartbeat)));
        if silence.as_mut().poll(task).is_pending() {
            return Poll::Pending;
        }
        stream.silence = None;
        Poll::Ready(Some(Ok(COMMENT.to_owned())))
    }
}

/// Reports whether an event belongs to the frame of a stream.
fn is_frame(event: &UiEvent) -> bool {
    matches!(
        event,
        UiEvent::Started
            | UiEvent::StepStarted { .. }
            | UiEvent::StepReset { .. }
            | UiEvent::StepEnded { .. }
            | UiEvent::Ended { .. }
            | UiEvent::Failed { .. }
    )
}

impl<S> fmt::Debug for UiStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UiStream").field("heartbeat", &self.heartbeat).finish_non_exhaustive()
    }
}
