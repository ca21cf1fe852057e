//! A verdict: checked against the tool as it is now, and stored with the run.

use std::path::Path;
use std::time::SystemTime;

use haft::approval::{ApprovalRequest, Verdict};
use haft::conversation::Timestamp;
use haft::schema::JsonText;

use super::{SERVED, list};
use crate::calls::name;
use crate::command::resume;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::input::TextInput;
use crate::suspended_run::{Ledger, SuspendedRun, WaitingRun};
use crate::terminal::escaped_json;

/// The variables that name the person at the computer.
const USER: [&str; 2] = ["USER", "USERNAME"];

/// A decision with its content.
#[derive(Debug)]
pub(super) enum GivenVerdict {
    Approve,
    Deny(String),
    Edit(JsonText),
    Answer(JsonText),
}

impl GivenVerdict {
    /// Returns the verdict on a request.
    fn verdict(self, request: &ApprovalRequest) -> Verdict {
        match self {
            Self::Approve => request.approve(),
            Self::Deny(reason) => request.deny(reason),
            Self::Edit(arguments) => request.edit(arguments),
            Self::Answer(value) => request.answer(value),
        }
    }
}

/// Reads a verdict's content.
pub(super) async fn content(text: &str, cx: &Context) -> Result<JsonText, CommandError> {
    let input = match text.strip_prefix('@') {
        Some(path) => TextInput::read(Path::new(path))?,
        None if text == "-" => TextInput::read_or_wait(Path::new("-"), cx).await?,
        None => TextInput { origin: "the argument".to_owned(), text: text.to_owned() },
    };
    let json = JsonText::parse(input.text.trim());
    Ok(json.map_err(|error| {
        Fault::new(format!("{} is not valid JSON", input.origin)).cause(&error).advice("put texts in double quotes")
    })?)
}

/// Stores a verdict on a request.
pub(super) async fn store(
    cx: &Context,
    run: &WaitingRun,
    request: &ApprovalRequest,
    answer: GivenVerdict,
    is_json: bool,
) -> Result<(), CommandError> {
    let id = &request.request_id;
    let ledger = Ledger::of(cx)?;
    let stored = SuspendedRun::open(&run.path, ledger.clone())?;
    if let Some(known) = stored.verdicts().iter().find(|verdict| verdict.request_id == *id) {
        let who = known.who.as_deref().map(|who| format!(" by {who}")).unwrap_or_default();
        let fault = Fault::new(format!("`{id}` is {}{who} already", known.decision.as_str()));
        return Err(fault.advice("a request has one verdict").into());
    }
    let workspace = resume::open_workspace(&stored, cx).await?;
    let tools = name::tools_for(&stored.calls(), &workspace.executor)?;
    if let Some(suspended) = stored.suspended()? {
        resume::ensure_trusted(&suspended, &tools, &workspace)?;
    }
    let mut verdict = answer.verdict(request);
    if let Some(who) = USER.iter().find_map(|name| std::env::var(name).ok()).filter(|who| !who.is_empty()) {
        verdict = verdict.decided(who, Timestamp::from(SystemTime::now()));
    }
    tools.check_verdict(&workspace.executor.options(), request, &verdict).map_err(|fault| {
        let rejected = Fault::new(format!("the verdict on `{id}` can't be accepted")).cause(&fault);
        rejected.advice("correct it; if the tool has changed since, `haft resume` asks about what would run now")
    })?;
    let word = verdict.decision.as_str().to_owned();
    stored.decide(verdict)?;
    let now = WaitingRun::read(&run.path, &ledger)?;
    if is_json {
        return cx.terminal.print(escaped_json(&list::to_json(&now, request, Timestamp::from(SystemTime::now()))));
    }
    let next = match now.undecided() {
        _ if run.path.starts_with(cx.state_folder()?.join(SERVED)) => {
            "it counts when the client makes the call again".to_owned()
        }
        0 => format!("go on with `haft resume {}`", run.path.display()),
        1 => "1 more call of the run waits".to_owned(),
        rest => format!("{rest} more calls of the run wait"),
    };
    cx.terminal.note(format!("`{}` is {word}; {next}", request.subject().tool));
    Ok(())
}
