//! Loop ends without an answer, as a person reads them: what happened, and what to do.

use haft::model::{LoopEnd, LoopError, ModelError};
use haft::wire::KnownWire;

use super::model::{ChatProvider, ModelName};
use crate::error::Fault;
use crate::exit::ExitStatus;

/// A conversation's model and server, for advice.
#[derive(Clone, Debug)]
pub(crate) struct ModelPlace {
    pub(crate) model: ModelName,
    pub(crate) base_url: Option<String>,
}

/// Returns the fault and exit status for an end, or `None` after an answer.
pub(crate) fn of_end(end: &LoopEnd, place: &ModelPlace) -> Option<(Fault, ExitStatus)> {
    let failed = |fault: Fault| Some((fault, ExitStatus::Failed));
    match end {
        LoopEnd::Stopped => None,
        LoopEnd::Cancelled => Some((Fault::new("the answer was cancelled"), ExitStatus::Interrupted)),
        LoopEnd::Truncated { finish } => failed(
            Fault::new(format!("the answer was cut off; its finish reason is `{finish}`"))
                .advice("ask the model to go on, or for a shorter answer"),
        ),
        LoopEnd::MaxTurns { turns } => failed(
            Fault::new(format!("the model made calls in {turns} turns and did not finish"))
                .advice("raise `--max-turns`, or ask for less at a time"),
        ),
        LoopEnd::RepeatedCalls => failed(
            Fault::new("the model repeated the same calls and did not finish")
                .advice("ask in other words, or use another model"),
        ),
        LoopEnd::Waiting { .. } => Some((
            Fault::new("calls wait for a verdict or an answer").advice("resume it with `--approve ask`"),
            ExitStatus::Denied,
        )),
        LoopEnd::Failed(error) => Some(of_error(error, place)),
        _ => failed(Fault::new("the model did not finish")),
    }
}

fn of_error(error: &LoopError, place: &ModelPlace) -> (Fault, ExitStatus) {
    match error {
        LoopError::Model { source, .. } => (of_model(source, place), ExitStatus::Failed),
        LoopError::NotRunnable(fault) => {
            let fault = Fault::new("the tools of the workspace can't run").cause(fault);
            (fault.advice("`haft check` lists what is missing"), ExitStatus::Invalid)
        }
        LoopError::State(fault) => {
            (Fault::new("the conversation can't be continued").cause(fault), ExitStatus::Invalid)
        }
        error => (Fault::new("the model did not finish").cause(error), ExitStatus::Failed),
    }
}

/// Returns the fault for a failed request to a model.
fn of_model(error: &ModelError, place: &ModelPlace) -> Fault {
    let ModelPlace { model, base_url } = place;
    let server = base_url.as_deref().map_or_else(|| "the provider".to_owned(), |url| format!("`{url}`"));
    let fault = Fault::new(format!("the model `{model}` did not answer")).cause(error);
    match error {
        // The script says what it has to say itself.
        _ if model.provider == ChatProvider::Scripted => fault,
        ModelError::Authentication { .. } => {
            fault.advice(format!("check the key in {}", model.provider.key_variables()))
        }
        ModelError::RateLimited { retry_after: Some(wait), .. } => {
            fault.advice(format!("try again in {} s", wait.as_secs().max(1)))
        }
        ModelError::RateLimited { .. } => fault.advice("wait a little, then try again"),
        ModelError::QuotaExceeded { .. } => fault.advice("check the plan and the billing at the provider"),
        ModelError::Unavailable { .. } => {
            fault.advice(format!("check that {server} can be reached: `--base-url`, the network, a proxy"))
        }
        ModelError::TimedOut { .. } | ModelError::IncompleteTurn => fault.advice("try again"),
        ModelError::UnknownModel { .. } => {
            fault.advice(format!("correct the name after `{}:` in `--model`", model.provider.as_str()))
        }
        ModelError::ContextTooLong { .. } => {
            fault.advice("start a new conversation, or use a model with a larger context")
        }
        ModelError::ContentFiltered { .. } => fault.advice("ask in other words"),
        ModelError::Unreadable { .. } if base_url.is_some() => {
            let api = match model.provider {
                ChatProvider::Wire(KnownWire::OpenAi | KnownWire::OpenAiChat) => "the URL usually ends in `/v1`",
                ChatProvider::Wire(KnownWire::Anthropic | KnownWire::Gemini) | ChatProvider::Scripted => {
                    "the URL does not include the version"
                }
            };
            fault.advice(format!("check that {server} speaks the API of `{}`; {api}", model.provider.as_str()))
        }
        ModelError::Unsupported { .. } => fault.advice("use another model"),
        _ => fault,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use haft::conversation::Finish;
    use haft::model::ModelInfo;

    use super::*;

    fn place(model: &str) -> ModelPlace {
        ModelPlace { model: model.parse().unwrap(), base_url: None }
    }

    fn fault(model: &str, error: ModelError) -> (String, String, ExitStatus) {
        let end = LoopEnd::Failed(LoopError::Model { model: ModelInfo::new("any"), source: Arc::new(error) });
        let (fault, status) = of_end(&end, &place(model)).unwrap();
        (fault.causes.join(": "), fault.advice.join("; "), status)
    }

    #[test]
    fn the_errors_of_models_have_advice() {
        let (cause, advice, status) =
            fault("anthropic:x", ModelError::Authentication { message: "no such key".into() });
        assert!(cause.contains("no such key"));
        assert_eq!((advice.as_str(), status), ("check the key in ANTHROPIC_API_KEY", ExitStatus::Failed));
        let limited = ModelError::RateLimited { message: "slow".into(), retry_after: Some(Duration::from_secs(7)) };
        assert_eq!(fault("openai:x", limited).1, "try again in 7 s");
        let unknown = ModelError::UnknownModel { message: "no x".into() };
        assert_eq!(fault("gemini:x", unknown).1, "correct the name after `gemini:` in `--model`");
        let refused = ModelError::Unavailable { message: "refused".into(), retry_after: None, source: None };
        assert!(fault("openai:x", refused).1.contains("--base-url"));
    }

    #[test]
    fn an_answer_is_no_fault_and_other_ends_have_their_status() {
        assert!(of_end(&LoopEnd::Stopped, &place("openai:x")).is_none());
        let status = |end| of_end(&end, &place("openai:x")).unwrap().1;
        assert_eq!(status(LoopEnd::Cancelled), ExitStatus::Interrupted);
        assert_eq!(status(LoopEnd::MaxTurns { turns: 3 }), ExitStatus::Failed);
        assert_eq!(status(LoopEnd::Truncated { finish: Finish::Length }), ExitStatus::Failed);
    }
}
