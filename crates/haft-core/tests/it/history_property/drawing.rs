//! Histories and turns, generated from few ids.

use haft_core::{ApprovalRequest, Item, Message, ProviderCall, Reasoning, Role, ToolCall, ToolCallOutput};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;

/// Ids that collide, also with the fresh ones that are derived from them.
const IDS: [&str; 4] = ["a", "b", "a_2", "a_2_2"];
const TOOLS: [&str; 2] = ["look", "pay"];

/// A turn, its results, and when they arrive.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    kinds: Vec<Kind>,
    /// The calls that are answered at once, in the order of the results.
    pub(crate) order: Vec<usize>,
    pub(crate) has_fresh_ids: bool,
    pub(crate) ends_with_a_word: bool,
}

/// One item, without the mark that distinguishes it from others of its kind.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Words(Role),
    Reasoning,
    Unknown,
    Call {
        id: &'static str,
        tool: &'static str,
    },
    RemoteCall {
        id: &'static str,
    },
    ProviderCall {
        id: &'static str,
    },
    Output {
        id: &'static str,
        tool: Option<&'static str>,
    },
    Request {
        id: &'static str,
    },
    /// A request of a provider, which may share its id with one of [`Kind::Request`].
    RemoteRequest {
        id: &'static str,
    },
    Response {
        id: &'static str,
    },
}

/// A mistake in keeping a history.
#[derive(Clone, Debug)]
enum Slip {
    Lost(Index),
    Moved(Index, Index),
    Doubled(Index, Index),
    Slipped(Kind, Index),
}

impl Slip {
    fn happen(self, items: &mut Vec<Item>) {
        let (from, to) = match self {
            Self::Slipped(kind, to) => return items.insert(to.index(items.len() + 1), kind.item("slipped in")),
            Self::Lost(_) | Self::Moved(..) | Self::Doubled(..) if items.is_empty() => return,
            Self::Lost(from) => return drop(items.remove(from.index(items.len()))),
            Self::Moved(from, to) => (items.remove(from.index(items.len())), to),
            Self::Doubled(from, to) => (items[from.index(items.len())].clone(), to),
        };
        items.insert(to.index(items.len() + 1), from);
    }
}

impl Kind {
    /// Returns the item, marked so that no two are equal.
    fn item(self, mark: &str) -> Item {
        let request = |id| ApprovalRequest::new(format!("q_{id}"), &ToolCall::new(id, "look", "{}"));
        match self {
            Self::Words(role) => Message::text(role, mark).into(),
            Self::Reasoning => Reasoning::text(mark).into(),
            Self::Unknown => Item::Unknown(json!({"type": "later", "mark": mark})),
            Self::Call { id, tool } => ToolCall::new(id, tool, mark).into(),
            Self::RemoteCall { id } => ToolCall::new(id, "search", mark).executed_by_provider().into(),
            Self::ProviderCall { id } => ProviderCall::new("openai", "search", json!(mark)).call_id(id).into(),
            Self::Output { id, tool: Some(tool) } => ToolCallOutput::new(id, mark).tool(tool).into(),
            Self::Output { id, tool: None } => ToolCallOutput::new(id, mark).into(),
            Self::Request { id } => request(id).into(),
            Self::RemoteRequest { id } => {
                let mut request = request(id);
                request.provider_data.insert("openai".to_owned(), json!(mark));
                request.into()
            }
            Self::Response { id } => request(id).approve().reason(mark).into(),
        }
    }
}

impl Asked {
    pub(crate) fn items(&self, turn: usize) -> Vec<Item> {
        marked(&self.kinds, &format!("{turn}."))
    }
}

/// Generates any items in any order, or complete histories with a few slips.
pub(crate) fn histories() -> impl Strategy<Value = Vec<Item>> {
    let random = vec(any_kind(), 0..24).prop_map(|kinds| marked(&kinds, ""));
    let nearly_whole = (whole(), vec(slip(), 0..3)).prop_map(|(mut items, slips)| {
        for slip in slips {
            slip.happen(&mut items);
        }
        items
    });
    prop_oneof![random, nearly_whole]
}

/// Generates complete histories: groups with their outputs in any order, approvals anywhere, and all the rest between
/// groups.
pub(crate) fn whole() -> impl Strategy<Value = Vec<Item>> {
    let group = (vec(any::<bool>(), 0..4), any::<Index>(), vec(breaking_kind(), 0..2));
    let approval = prop_oneof![
        id().prop_map(|id| Kind::Request { id }),
        id().prop_map(|id| Kind::RemoteRequest { id }),
        id().prop_map(|id| Kind::Response { id }),
    ];
    (vec(group, 0..5), vec((any::<Index>(), approval), 0..4)).prop_map(|(groups, approvals)| {
        let mut items = Vec::new();
        for (number, (calls, first, between)) in groups.iter().enumerate() {
            let ids: Vec<_> = (0..calls.len()).map(|call| format!("{number}_{call}")).collect();
            for (id, &is_after_words) in ids.iter().zip(calls) {
                items.extend(is_after_words.then(|| Item::assistant("well")));
                items.push(ToolCall::new(id.as_str(), "look", "{}").into());
            }
            let mut outputs: Vec<Item> =
                ids.iter().map(|id| ToolCallOutput::new(id.as_str(), id.as_str()).into()).collect();
            if !outputs.is_empty() {
                outputs.rotate_left(first.index(ids.len()));
            }
            items.extend(outputs);
            items.extend(between.iter().map(|kind| kind.item("between")));
        }
        for (place, approval) in approvals {
            items.insert(place.index(items.len() + 1), approval.item("anywhere"));
        }
        items
    })
}

/// Generates turns of a conversation, each as a model could produce it.
pub(crate) fn conversation() -> impl Strategy<Value = Vec<Asked>> {
    let turn = (vec(turn_kind(), 0..6), Just((0..6).collect::<Vec<usize>>()).prop_shuffle(), 0..7_usize, any::<bool>());
    let turn = (turn, any::<bool>()).prop_map(|((kinds, mut order, answered, has_fresh_ids), ends_with_a_word)| {
        order.truncate(answered);
        Asked { kinds, order, has_fresh_ids, ends_with_a_word }
    });
    vec(turn, 0..6)
}

fn marked(kinds: &[Kind], prefix: &str) -> Vec<Item> {
    kinds.iter().enumerate().map(|(place, kind)| kind.item(&format!("{prefix}{place}"))).collect()
}

fn id() -> impl Strategy<Value = &'static str> {
    select(&IDS[..])
}

fn tool() -> impl Strategy<Value = &'static str> {
    select(&TOOLS[..])
}

fn slip() -> impl Strategy<Value = Slip> {
    let place = any::<Index>;
    prop_oneof![
        place().prop_map(Slip::Lost),
        (place(), place()).prop_map(|(from, to)| Slip::Moved(from, to)),
        (place(), place()).prop_map(|(from, to)| Slip::Doubled(from, to)),
        (any_kind(), place()).prop_map(|(kind, to)| Slip::Slipped(kind, to)),
    ]
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        8 => (id(), tool()).prop_map(|(id, tool)| Kind::Call { id, tool }),
        9 => (id(), prop::option::of(tool())).prop_map(|(id, tool)| Kind::Output { id, tool }),
        2 => assistant_kind(),
        2 => breaking_kind(),
        1 => id().prop_map(|id| Kind::ProviderCall { id }),
        1 => id().prop_map(|id| Kind::Request { id }),
        1 => id().prop_map(|id| Kind::RemoteRequest { id }),
        2 => id().prop_map(|id| Kind::Response { id }),
    ]
}

/// Generates the kind of an item in a turn of a model.
fn turn_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        4 => (id(), tool()).prop_map(|(id, tool)| Kind::Call { id, tool }),
        1 => assistant_kind(),
    ]
}

fn assistant_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Words(Role::Assistant)), Just(Kind::Reasoning), id().prop_map(|id| Kind::RemoteCall { id }),]
}

/// Generates the kind of an item that separates groups.
fn breaking_kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Words(Role::User)),
        Just(Kind::Words(Role::System)),
        Just(Kind::Words(Role::Developer)),
        Just(Kind::Unknown),
    ]
}
