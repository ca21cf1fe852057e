//! The requests of `useChat`: a message, verdicts on approvals, answers to calls.
//!
//! The browser posts its whole list of messages. It is input from outside and could say anything, so the conversation is
//! never taken from it: only the new message, the verdicts and the answers are, and each of those is checked against the
//! stored conversation before it counts.

use haft_core::{ApprovalDecision, ApprovalId, CallId, ContentPart, MediaData, MediaPart, Message, Role, Verdict};
use serde::Deserialize;
use serde_json::Value;

/// The request of `useChat`: the default body of its transport, or one with a single `message`.
///
/// ```
/// use haft_model::ui::ChatPost;
///
/// let post = ChatPost::read(br#"{
///     "id": "42", "trigger": "submit-message",
///     "messages": [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hi."}]}]
/// }"#)?;
/// assert_eq!(post.chat_id, "42");
/// assert!(post.message.is_some());
/// # Ok::<_, haft_model::ui::PostError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChatPost {
    /// The id of the chat, which the browser chose. It does not authorise anything.
    pub chat_id: String,
    /// The new message of the user, if the last one of the post is that.
    pub message: Option<Message>,
    /// The verdicts that are in the messages. Who decided is not among what a browser may say.
    pub verdicts: Vec<Verdict>,
    /// The outputs of calls that are in the messages: those that the browser added, and those that it was sent.
    pub answers: Vec<(CallId, Value)>,
    /// The id of the message that the answer continues, if it continues one.
    pub continues: Option<String>,
    /// The action of the user.
    pub trigger: PostTrigger,
}

/// The action that made the browser post.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PostTrigger {
    /// A message, a verdict or an answer.
    #[default]
    Submit,
    /// The wish for another answer.
    Regenerate,
}

/// The reason why a post can't be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PostError {
    /// The body is not the JSON of a chat.
    #[error("the body is not a request of `useChat`: {0}")]
    Malformed(#[source] serde_json::Error),
    /// The new message has a part that is not supported.
    #[error("the message has a part that is not supported: {reason}")]
    UnsupportedPart {
        /// The reason.
        reason: String,
    },
    /// The post contains nothing for the server.
    #[error("the post contains neither a message of the user nor a verdict or an answer")]
    Empty,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WrittenPost {
    id: String,
    #[serde(default)]
    messages: Vec<PostedMessage>,
    message: Option<PostedMessage>,
    trigger: Option<String>,
}

#[derive(Deserialize)]
struct PostedMessage {
    #[serde(default)]
    id: String,
    role: String,
    #[serde(default)]
    parts: Vec<Value>,
}

/// The part of a call, as far as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostedCall {
    tool_call_id: CallId,
    state: String,
    #[serde(default)]
    output: Option<Value>,
    #[serde(default)]
    approval: Option<PostedApproval>,
}

#[derive(Deserialize)]
struct PostedApproval {
    id: ApprovalId,
    #[serde(default)]
    approved: Option<bool>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    descriptor: Option<PostedDescriptor>,
}

#[derive(Deserialize)]
struct PostedDescriptor {
    #[serde(default)]
    digest: String,
}

impl ChatPost {
    /// Reads the body of a request. Limit its size before, as for any body.
    pub fn read(body: &[u8]) -> Result<Self, PostError> {
        let WrittenPost { id, mut messages, message, trigger } =
            serde_json::from_slice(body).map_err(PostError::Malformed)?;
        messages.extend(message);
        let trigger = match trigger.as_deref() {
            Some("regenerate-message") => PostTrigger::Regenerate,
            _ => PostTrigger::Submit,
        };
        let mut post =
            Self { chat_id: id, message: None, verdicts: Vec::new(), answers: Vec::new(), continues: None, trigger };
        for message in messages.iter().filter(|message| message.role == "assistant") {
            post.read_calls(&message.parts);
        }
        match messages.last() {
            Some(last) if last.role == "user" && trigger == PostTrigger::Submit => {
                post.message = Some(user_message(&last.parts)?);
            }
            Some(last) if last.role == "assistant" => post.continues = Some(last.id.clone()),
            _ => {}
        }
        let is_empty = post.message.is_none() && post.verdicts.is_empty() && post.answers.is_empty();
        if is_empty && trigger == PostTrigger::Submit { Err(PostError::Empty) } else { Ok(post) }
    }

    /// Reads the verdicts and answers in the parts of an answer. Other parts, and those of later versions, mean nothing.
    fn read_calls(&mut self, parts: &[Value]) {
        for part in parts {
            let is_call = |name: &str| name == "dynamic-tool" || name.starts_with("tool-");
            if !part["type"].as_str().is_some_and(is_call) {
                continue;
            }
            let Ok(PostedCall { tool_call_id, state, output, approval }) = PostedCall::deserialize(part) else {
                continue;
            };
            match (state.as_str(), approval, output) {
                (
                    "approval-responded",
                    Some(PostedApproval { id, approved: Some(approved), reason, descriptor }),
                    _,
                ) => {
                    let decision = if approved { ApprovalDecision::Approved } else { ApprovalDecision::Denied };
                    let mut verdict = Verdict::new(id, decision);
                    verdict.call_id = Some(tool_call_id);
                    verdict.reason = reason;
                    verdict.digest = descriptor.map(|descriptor| descriptor.digest).unwrap_or_default();
                    self.verdicts.push(verdict);
                }
                ("output-available", _, Some(output)) => self.answers.push((tool_call_id, output)),
                _ => {}
            }
        }
    }
}

/// Reads the message of a user: its text and its files.
fn user_message(parts: &[Value]) -> Result<Message, PostError> {
    let mut content = Vec::new();
    for part in parts {
        let text = |name: &str| part[name].as_str();
        match (text("type"), text("text"), text("mediaType"), text("url")) {
            (Some("text"), Some(text), ..) => content.push(ContentPart::text(text)),
            (Some("file"), _, Some(media_type), Some(url)) => content.push(file(media_type, url, text("filename"))?),
            // What an application adds for itself.
            (Some(name), ..) if name.starts_with("data-") => {}
            (name, ..) => {
                let reason = format!("`{:.40}`; a message may contain text and files", name.unwrap_or_default());
                return Err(PostError::UnsupportedPart { reason });
            }
        }
    }
    if content.is_empty() { Err(PostError::Empty) } else { Ok(Message::new(Role::User, content)) }
}

/// Reads a file, which a browser sends as a `data:` URL. Another URL would be fetched by the provider for whoever wrote it,
/// so it is left to the application.
fn file(media_type: &str, url: &str, name: Option<&str>) -> Result<ContentPart, PostError> {
    let unsupported = |reason: &str| PostError::UnsupportedPart { reason: reason.to_owned() };
    let data = url.strip_prefix("data:").ok_or_else(|| unsupported("a file must be a `data:` URL"))?;
    let (_, base64) = data.split_once(";base64,").ok_or_else(|| unsupported("a `data:` URL must be in base64"))?;
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if !base64.bytes().all(is_base64) {
        return Err(unsupported("a `data:` URL is not valid base64"));
    }
    let mut part = MediaPart::new(MediaData::Base64(base64.to_owned())).media_type(media_type);
    part.name = name.map(str::to_owned);
    Ok(match media_type.split('/').next() {
        Some("image") => ContentPart::Image(part),
        Some("audio") => ContentPart::Audio(part),
        _ => ContentPart::File(part),
    })
}
