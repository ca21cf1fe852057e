//! A stored conversation as events, for a page that was loaded again.

use std::collections::HashMap;

use haft_core::{CallId, Finish, Item, Message, Role, Turn};

use super::event::{UiEvent, UiFile};
use super::shown;
use super::view::View;
use crate::turn_loop::LoopState;

/// Returns what a user may see of a conversation, as the events of its messages and steps, in order. Requests that wait for
/// a verdict or an answer are at the end.
///
/// ```
/// use haft_core::{Item, TurnRequest};
/// use haft_model::LoopState;
/// use haft_model::ui::{self, UiEvent};
///
/// let history = vec![Item::system("Be brief."), Item::user("Hi."), Item::assistant("Hello!")];
/// let events = ui::history(&LoopState::new(TurnRequest::new("any", history)));
/// assert!(matches!(&events[0], UiEvent::UserMessage { text, .. } if text == "Hi."));
/// assert!(matches!(&events[2], UiEvent::TextDelta { text, .. } if text == "Hello!"));
/// ```
#[must_use]
pub fn history(state: &LoopState) -> Vec<UiEvent> {
    let mut reader = HistoryReader { view: View::new(), tools: HashMap::new(), step: 0, events: Vec::new() };
    let items = state.history();
    let mut at = 0;
    while at < items.len() {
        let length = items[at..].iter().take_while(|item| is_of_turn(item)).count();
        if length > 0 {
            reader.add_turn(items[at..at + length].to_vec());
        } else {
            reader.add(&items[at]);
        }
        at += length.max(1);
    }
    for request in state.approvals() {
        reader.events.extend(reader.view.show_request(&request));
    }
    let open = state.interactions().iter().filter(|interaction| interaction.is_open());
    reader.events.extend(open.map(|interaction| UiEvent::AnswerRequested {
        call_id: interaction.call_id().clone(),
        tool: interaction.name().to_owned(),
        arguments: interaction.arguments.clone(),
    }));
    reader.events
}

struct HistoryReader {
    view: View,
    /// The names of the tools of the calls so far.
    tools: HashMap<CallId, String>,
    step: u32,
    events: Vec<UiEvent>,
}

impl HistoryReader {
    fn add_turn(&mut self, items: Vec<Item>) {
        for item in &items {
            if let Item::ToolCall(call) = item {
                self.tools.insert(call.call_id.clone(), call.name.clone());
            }
        }
        self.step += 1;
        self.events.extend(self.view.show_turn(self.step, &Turn::new(items, Finish::Stop)));
    }

    fn add(&mut self, item: &Item) {
        match item {
            Item::Message(message) if message.role == Role::User => self.events.push(user_message(message)),
            Item::ToolOutput(output) => {
                let tool = self.tools.get(&output.call_id).map_or("", String::as_str);
                self.events.push(shown::output(output, tool));
            }
            // Instructions of the application, and verdicts that were not acted on yet.
            _ => {}
        }
    }
}

/// Reports whether a model or its provider wrote the item.
fn is_of_turn(item: &Item) -> bool {
    match item {
        Item::Message(message) => message.role == Role::Assistant,
        Item::Reasoning(_) | Item::ToolCall(_) | Item::ProviderCall(_) => true,
        _ => false,
    }
}

fn user_message(message: &Message) -> UiEvent {
    let texts: Vec<&str> = message.content.iter().filter_map(haft_core::ContentPart::as_text).collect();
    let files: Vec<UiFile> = message.content.iter().filter_map(shown::file).collect();
    UiEvent::UserMessage { text: texts.join("\n"), files }
}
