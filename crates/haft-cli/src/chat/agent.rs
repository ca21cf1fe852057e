//! An open conversation: its loop, its state, and its file.

use std::path::Path;

use haft::conversation::{Author, Item, TurnRequest};
use haft::model::{LoopState, TurnLoop};
use haft::run::RunOptions;

use super::fault::ModelPlace;
use super::model::{self, ModelName};
use super::record::{ChatDetails, StoredChat};
use super::report::RequestNotes;
use super::store::{ChatFile, ChatFolder};
use crate::approval::ApproveMode;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::screen::Screen;
use crate::workspace::OpenWorkspace;

/// The reason that the model reads for calls that were cut off when a process ended.
const CUT_OFF: &str = "the program ended before the call had a result";

/// The command line's choices about a conversation.
#[derive(Debug)]
pub(crate) struct ChatChoice {
    pub(crate) model: Option<ModelName>,
    pub(crate) base_url: Option<String>,
    pub(crate) origin: ChatOrigin,
    pub(crate) save: Option<std::path::PathBuf>,
    pub(crate) approve: ApproveMode,
    pub(crate) max_turns: Option<u32>,
    pub(crate) retries: u32,
    pub(crate) instructions: Option<String>,
}

/// A conversation's beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChatOrigin {
    New,
    Latest,
    /// An id or a file.
    Named(String),
}

/// An open conversation.
#[derive(Debug)]
pub(crate) struct Chat {
    pub(crate) agent: TurnLoop,
    pub(crate) stored: StoredChat,
    pub(crate) file: ChatFile,
    pub(crate) place: ModelPlace,
    pub(crate) notes: RequestNotes,
    /// True if the conversation was stored before.
    pub(crate) is_resumed: bool,
}

impl Chat {
    /// Opens a conversation with a workspace's tools.
    pub(crate) async fn open(
        choice: ChatChoice,
        workspace: &OpenWorkspace,
        cx: &Context,
        screen: &Screen,
    ) -> Result<Self, CommandError> {
        let folder = ChatFolder::of(cx)?;
        let resumed = match &choice.origin {
            ChatOrigin::New => None,
            ChatOrigin::Latest => Some(folder.resume_latest()?),
            ChatOrigin::Named(name) => Some(folder.resume(name)?),
        };
        let details = resumed.as_ref().map(|(_, stored)| &stored.details);
        let has_other_model = choice.model.is_some();
        let model = model::choose(choice.model, details.and_then(|details| details.model.as_deref()))?;
        let base_url = match (choice.base_url, resumed.as_ref()) {
            (Some(url), _) => Some(url),
            (None, Some((file, stored))) if !has_other_model => stored_server(file, stored)?,
            (None, _) => None,
        };
        let notes = RequestNotes::default();
        let client = model.open(base_url.as_deref(), &notes)?;
        let options = RunOptions::new().started_events();
        let options = workspace.executor.options().merge(choice.approve.apply(options, cx, screen).await?);
        let mut agent = TurnLoop::new(client, workspace.executor.clone()).options(options).repair(CUT_OFF).name("haft");
        agent = agent.retries(choice.retries);
        if let Some(most) = choice.max_turns {
            agent = agent.max_turns(most);
        }
        let is_resumed = resumed.is_some();
        let (file, mut stored) = match resumed {
            Some(resumed) => resumed,
            None => (folder.create(), new_chat()),
        };
        let file = match &choice.save {
            Some(path) if !is_same_file(path, &file.path) => ChatFile::create(path)?,
            _ => file,
        };
        set_request(&mut stored, &model, choice.instructions);
        stored.details.model = Some(model::lasting_name(&model));
        stored.details.base_url.clone_from(&base_url);
        Ok(Self { agent, stored, file, place: ModelPlace { model, base_url }, notes, is_resumed })
    }

    /// Writes the conversation, once there is something in it.
    pub(crate) fn save(&mut self) -> Result<(), CommandError> {
        if self.stored.state.history().is_empty() {
            return Ok(());
        }
        Ok(self.file.save(&self.stored)?)
    }

    /// Reports whether calls in the last turn wait for a verdict or an answer.
    pub(crate) fn has_open_calls(&self) -> bool {
        !self.stored.state.approvals().is_empty() || !self.stored.state.interactions().is_empty()
    }

    /// Reports whether the model still has to answer something.
    pub(crate) fn is_unanswered(&self) -> bool {
        match self.stored.state.history().last() {
            Some(Item::ToolOutput(_)) => true,
            Some(item) => item.author() == Author::User,
            None => false,
        }
    }
}

fn new_chat() -> StoredChat {
    StoredChat { state: LoopState::new(TurnRequest::new("", Vec::new())), details: ChatDetails::default() }
}

/// Sets the next request's model and instructions.
fn set_request(stored: &mut StoredChat, model: &ModelName, instructions: Option<String>) {
    let request = stored.state.request_mut();
    request.model.clone_from(&model.name);
    if instructions.is_some() {
        request.instructions = instructions;
    }
}

/// Returns a stored conversation's server. Somebody else's file must not decide where a key is sent.
fn stored_server(file: &ChatFile, stored: &StoredChat) -> Result<Option<String>, Fault> {
    match &stored.details.base_url {
        Some(url) if file.id.is_none() => Err(Fault::new(format!("the conversation was held with the server `{url}`"))
            .advice(format!("add `--base-url {url}` to send it there again, or `--model` to choose another one"))),
        url => Ok(url.clone()),
    }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    match (std::fs::canonicalize(a), std::fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}
