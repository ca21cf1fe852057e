//! Conversation files: `chats/<id>.json` in the state folder, or a named file.
//!
//! One process uses a file at a time, and writes it whole. It never replaces a file that it did not read.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use haft::run::RunId;

use super::record::StoredChat;
use crate::context::Context;
use crate::error::Fault;
use crate::state::{ExclusiveUse, write_whole};

const EXTENSION: &str = "json";
/// An id's length in characters.
const ID_LENGTH: usize = 8;

/// The folder with stored conversations.
#[derive(Clone, Debug)]
pub(crate) struct ChatFolder(PathBuf);

/// One conversation's file.
#[derive(Debug)]
pub(crate) struct ChatFile {
    pub(crate) path: PathBuf,
    /// A conversation's id in the folder; unset for a named file.
    pub(crate) id: Option<String>,
    /// Unset until a new conversation is first written.
    claim: Option<ExclusiveUse>,
}

/// A conversation in the folder.
#[derive(Clone, Debug)]
pub(crate) struct ChatEntry {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    pub(crate) modified: SystemTime,
}

impl ChatFolder {
    /// Returns the command's state folder for conversations.
    pub(crate) fn of(cx: &Context) -> Result<Self, Fault> {
        Ok(Self(cx.state_folder()?.join("chats")))
    }

    /// Creates a new conversation's name. Nothing is written yet.
    pub(crate) fn create(&self) -> ChatFile {
        let id = RunId::random().as_str()[..ID_LENGTH].to_owned();
        ChatFile { path: self.path_of(&id), id: Some(id), claim: None }
    }

    /// Lists the conversations, the latest first.
    pub(crate) fn list(&self) -> Result<Vec<ChatEntry>, Fault> {
        let unreadable = |error: &std::io::Error| Fault::file(&self.0, "read the folder", error);
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| unreadable(&error))?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| unreadable(&error))?.path();
            let is_chat = path.extension().is_some_and(|extension| extension == EXTENSION);
            let id = path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| !stem.starts_with('.'));
            // A file may be gone by now.
            let Ok(modified) = fs::metadata(&path).and_then(|metadata| metadata.modified()) else { continue };
            if let Some(id) = id.filter(|_| is_chat).map(str::to_owned) {
                found.push(ChatEntry { id, path, modified });
            }
        }
        found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.id.cmp(&b.id)));
        Ok(found)
    }

    /// Claims and reads the latest conversation.
    pub(crate) fn resume_latest(&self) -> Result<(ChatFile, StoredChat), Fault> {
        match self.list()?.into_iter().next() {
            Some(entry) => open(entry.path, Some(entry.id)),
            None => Err(Fault::new("there is no conversation to resume").advice("start one with `haft chat`")),
        }
    }

    /// Claims and reads a conversation by its id, its id's beginning, or its file.
    pub(crate) fn resume(&self, name: &str) -> Result<(ChatFile, StoredChat), Fault> {
        let entries = self.list()?;
        let exact = entries.iter().find(|entry| entry.id == name);
        let begins: Vec<&ChatEntry> = entries.iter().filter(|entry| entry.id.starts_with(name)).collect();
        if let Some(entry) = exact.or(if let [one] = begins[..] { Some(one) } else { None }) {
            return open(entry.path.clone(), Some(entry.id.clone()));
        }
        let path = Path::new(name);
        if path.exists() {
            return open(path.to_owned(), None);
        }
        let fault = Fault::new(format!("there is no conversation and no file `{name}`"));
        let nearest = entries.iter().map(|entry| (strsim::jaro_winkler(name, &entry.id), &entry.id));
        Err(match nearest.max_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((similarity, id)) if similarity > 0.8 => fault.advice(format!("did you mean `{id}`?")),
            Some(_) => fault.advice("`haft chat --list` lists the conversations"),
            None => fault.advice("no conversation is stored; start one with `haft chat`"),
        })
    }

    fn path_of(&self, id: &str) -> PathBuf {
        self.0.join(id).with_extension(EXTENSION)
    }
}

impl ChatFile {
    /// Claims a file for a new conversation. An existing one is not replaced.
    pub(crate) fn create(path: &Path) -> Result<Self, Fault> {
        let claim = ExclusiveUse::claim(path)?;
        if path.exists() {
            return Err(Fault::new(format!("`{}` exists and is not replaced", path.display()))
                .advice(format!("continue it with `haft chat --resume {}`, or name another file", path.display())));
        }
        Ok(Self { path: path.to_owned(), id: None, claim: Some(claim) })
    }

    /// Writes the conversation.
    pub(crate) fn save(&mut self, chat: &StoredChat) -> Result<(), Fault> {
        if self.claim.is_none() {
            self.claim = Some(ExclusiveUse::claim(&self.path)?);
        }
        write_whole(&self.path, &chat.to_json()?)
    }

    /// Returns the `--resume` argument that continues this conversation.
    pub(crate) fn name(&self) -> String {
        self.id.clone().unwrap_or_else(|| self.path.display().to_string())
    }
}

/// Claims a file, and then reads it: nobody else changes it from then on.
fn open(path: PathBuf, id: Option<String>) -> Result<(ChatFile, StoredChat), Fault> {
    let claim = ExclusiveUse::claim(&path)?;
    let chat = StoredChat::read(&path)?;
    Ok((ChatFile { path, id, claim: Some(claim) }, chat))
}

#[cfg(test)]
mod tests {
    use haft::conversation::TurnRequest;
    use haft::model::LoopState;

    use super::*;
    use crate::chat::record::ChatDetails;

    fn chat(question: &str) -> StoredChat {
        let state = LoopState::new(TurnRequest::new("any", Vec::new()));
        let mut chat = StoredChat { state, details: ChatDetails::default() };
        chat.ask(question);
        chat
    }

    #[test]
    fn a_conversation_is_found_by_its_id_by_its_beginning_and_as_the_latest() {
        let state = tempfile::tempdir().unwrap();
        let folder = ChatFolder(state.path().join("chats"));
        assert!(folder.list().unwrap().is_empty());
        assert!(folder.resume_latest().unwrap_err().message.contains("no conversation"));
        let mut file = folder.create();
        assert!(folder.list().unwrap().is_empty(), "nothing is written before there is a question");
        file.save(&chat("first")).unwrap();
        let id = file.id.clone().unwrap();
        assert!(folder.resume(&id).unwrap_err().message.contains("in use"));
        drop(file);
        for name in [id.as_str(), &id[..5]] {
            assert_eq!(folder.resume(name).unwrap().1.title(), "first");
        }
        assert_eq!(folder.resume_latest().unwrap().0.id.as_deref(), Some(id.as_str()));
        assert!(folder.resume("missing.json").unwrap_err().message.contains("`missing.json`"));
    }

    #[test]
    fn a_file_that_exists_is_not_replaced_and_a_broken_one_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("talk.json");
        fs::write(&path, "{").unwrap();
        assert!(ChatFile::create(&path).unwrap_err().message.contains("exists"));
        assert!(ChatFolder(folder.path().join("chats")).resume(path.to_str().unwrap()).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_a_conversation() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mut file = ChatFile::create(&folder.path().join("talk.json")).unwrap();
        file.save(&chat("secret")).unwrap();
        assert_eq!(fs::metadata(&file.path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
