//! A hook that clears old tool results.

use haft_core::{CallOutputBody, Item};

use super::prepare::{BeforeRequest, Prepare, PrepareFuture};

/// The output in place of one that was cleared.
const CLEARED: &str = "[this output was removed to save space; call the tool again if you need it]";

/// A hook of [`TurnLoop::prepare`](crate::TurnLoop::prepare) that clears the outputs of old calls: each is replaced by a
/// note that it was removed. Calls, messages and the outputs of the last calls stay. Outputs that are shorter than the note
/// stay as well.
///
/// Cleared results are no longer part of the state.
///
/// ```
/// use haft_core::{Item, ToolCall, TurnRequest};
/// use haft_executor::{Tool, Toolkit};
/// use haft_model::{ClearToolResults, ScriptedModel, TurnLoop};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let page = Tool::new("page").handler(|number: u8, _cx| async move { format!("page {number}: {}", "word ".repeat(100)) })?;
/// let calls = (1..=4).map(|n| ToolCall::new(format!("c{n}"), "page", n.to_string()));
/// let model = calls.fold(ScriptedModel::default(), |model, call| model.then([call])).then("Read.");
/// let agent = TurnLoop::new(model.clone(), Toolkit::from_iter([page])).prepare(ClearToolResults::keep_last(2));
///
/// agent.start(TurnRequest::new("any", vec![Item::user("Read it.")])).finish().await;
/// let sent = model.requests()[4].history.clone();
/// let cleared = sent.iter().filter(|item| matches!(item, Item::ToolOutput(output) if output.output.to_string().contains("removed")));
/// assert_eq!(cleared.count(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "a hook does nothing until it is given to a loop"]
pub struct ClearToolResults {
    keep: usize,
    above: u64,
}

impl ClearToolResults {
    /// Creates a hook that keeps the outputs of this many last calls, and clears the others before every request.
    pub fn keep_last(calls: usize) -> Self {
        Self { keep: calls, above: 0 }
    }

    /// Clears outputs only if the model read at least this many tokens in the turn before, or if the provider rejected the
    /// conversation as too long. Fewer changes leave more of the provider's prompt cache valid.
    pub fn above(mut self, input_tokens: u64) -> Self {
        self.above = input_tokens;
        self
    }
}

impl Prepare for ClearToolResults {
    fn prepare(&self, mut request: BeforeRequest) -> PrepareFuture<'_> {
        Box::pin(async move {
            if self.above == 0 || request.exceeds(self.above) {
                let is_old = |item: &Item| matches!(item, Item::ToolOutput(_));
                let outputs = request.history().iter().filter(|item| is_old(item)).count();
                let old = outputs.saturating_sub(self.keep);
                // A history is copied when it is changed.
                if request.history().iter().filter(|item| is_old(item)).take(old).any(is_clearable) {
                    let items = request.history_mut().iter_mut().filter(|item| is_old(item)).take(old);
                    items.for_each(clear);
                }
            }
            Ok(request)
        })
    }
}

fn is_clearable(item: &Item) -> bool {
    match item {
        Item::ToolOutput(output) => match &output.output {
            CallOutputBody::Text(text) => text.len() > CLEARED.len(),
            CallOutputBody::Parts(_) => true,
        },
        _ => false,
    }
}

fn clear(item: &mut Item) {
    if is_clearable(item)
        && let Item::ToolOutput(output) = item
    {
        output.output = CLEARED.into();
        // The data of a provider is about the output that was there.
        output.provider_data.clear();
    }
}
