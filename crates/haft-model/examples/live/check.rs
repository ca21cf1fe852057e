//! One conversation that uses what providers differ in: reasoning, two calls at once, an image and a typed answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use haft_core::{ContentPart, Item, MediaData, Message, Role, TurnRequest};
use haft_executor::{BoxError, Tool, Toolkit};
use haft_model::{LanguageModel, LoopEvent, TurnLoop};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// A red square of 64 by 64 pixels.
const RED: &str = "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAS0lEQVR42u3PQQkAAAgAsetfWiP4FgYrsKZeS0BAQEBAQEBAQEBAQEBA\
                   QEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEDgsqnc8OJg6Ln3AAAAAElFTkSuQmCC";
pub(crate) const QUESTION: &str = "Get the temperature of Oslo and of Lisbon, with both calls in one turn. Then answer with the \
                                   warmer city and with the colour of the image, as one English word in lower case.";

/// The answer of the model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Answer {
    /// The warmer city.
    warmer: String,
    /// The colour of the image.
    colour: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Place {
    city: String,
}

/// The features that a conversation showed.
#[derive(Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is the outcome of a check of its own")]
pub(crate) struct SeenFeatures {
    /// The model reported reasoning, or tokens for it.
    pub(crate) reasoning: bool,
    /// Two calls were made in one turn.
    pub(crate) parallel_calls: bool,
    /// The colour of the image is right.
    pub(crate) image: bool,
    /// The answer had the type, and is right.
    pub(crate) structured_output: bool,
}

impl SeenFeatures {
    /// Returns the features with their names.
    pub(crate) fn named(&self) -> [(&'static str, bool); 4] {
        let Self { reasoning, parallel_calls, image, structured_output } = *self;
        [
            ("reasoning", reasoning),
            ("parallel calls", parallel_calls),
            ("an image", image),
            ("structured output", structured_output),
        ]
    }
}

/// Has the conversation with a model, with these options of its provider.
pub(crate) async fn check(
    model: impl LanguageModel + 'static,
    provider: &str,
    options: Value,
) -> Result<SeenFeatures, BoxError> {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let temperature = Tool::new("get_temperature")
        .describe("Returns the temperature of a city in degrees Celsius.")
        .handler(move |Place { city }: Place, _cx| {
            count.fetch_add(1, Ordering::SeqCst);
            async move { if city.to_lowercase().contains("lisbon") { 24 } else { 7 } }
        })?;
    let agent = TurnLoop::new(model, Toolkit::from_iter([temperature])).max_turns(6).finish_as::<Answer>()?;
    let image = ContentPart::image("image/png", MediaData::Base64(RED.to_owned()));
    let question = Message::new(Role::User, vec![ContentPart::text(QUESTION), image]);
    let request = TurnRequest::new("", vec![question.into()])
        .instructions("You answer briefly.")
        .max_output_tokens(4_000)
        .provider_options(provider, options);

    let mut run = agent.start(request);
    let mut parallel_calls = false;
    while let Some(event) = run.next().await {
        if let LoopEvent::TurnEnded { turn, .. } = event {
            parallel_calls |= turn.tool_calls().len() >= 2;
        }
    }
    let outcome = run.finish().await;
    let Some(Answer { warmer, colour }) = outcome.value else {
        return Err(format!("the loop ended without an answer: {:?}", outcome.end).into());
    };
    let reasoned = outcome.state.history().iter().any(|item| matches!(item, Item::Reasoning(_)));
    Ok(SeenFeatures {
        reasoning: reasoned || outcome.state.usage().reasoning_tokens > 0,
        parallel_calls,
        image: colour == "red",
        structured_output: warmer.to_lowercase().contains("lisbon") && asked.load(Ordering::SeqCst) >= 2,
    })
}
