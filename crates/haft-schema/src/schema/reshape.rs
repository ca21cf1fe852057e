//! The changes of shape that dialects make, with their inverses.
//!
//! A [`Reshape`] is a graph that follows the schema: one node for each subschema whose values change, or contain values
//! that change. Nodes refer to each other by id, so that recursive schemas need no copies. The text is read once, as a
//! document, and written in the other shape; strings and numbers are copied as they are written.
//!
//! A value that does not have the shape that its node expects is copied unchanged, because the tool's schema rejects it
//! with a better message. Work and memory are linear in the text and the output, and the output has a limit.

mod case;
mod conversion;

use std::collections::HashMap;

pub use self::case::{ReshapeCase, ReshapeKind};
use self::conversion::Reshaper;
use super::codec::Codec;
use super::limit::Limits;

/// A change of shape under construction: how the values of a schema are sent to a provider.
///
/// ```
/// use haft_schema::{Reshape, ReshapeMember};
///
/// // {"city": string, "days"?: integer, "tags"?: map of strings}
/// let mut reshape = Reshape::new();
/// let (root, tags) = (reshape.add(), reshape.add());
/// reshape.send_as_pairs(tags);
/// reshape.member(root, ReshapeMember::new("days").absent_as_null());
/// reshape.member(root, ReshapeMember::new("tags").sent_as("tag_list").absent_as_null().reshaped(tags));
/// let codec = reshape.finish(root);
///
/// let sent = r#"{"city":"Oslo","days":null,"tag_list":[{"key":"a","value":"b"}]}"#;
/// assert_eq!(codec.decode(sent)?, r#"{"city":"Oslo","tags":{"a":"b"}}"#);
/// assert_eq!(codec.encode(r#"{"city":"Oslo"}"#)?, r#"{"city":"Oslo","days":null,"tag_list":null}"#);
/// # Ok::<_, haft_schema::CodecError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reshape {
    nodes: Vec<ReshapeNode>,
    limits: Limits,
}

/// A node of a [`Reshape`]: the change of the values of one subschema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReshapeId(usize);

/// A member of an object that is changed.
#[derive(Clone, Debug)]
#[must_use = "a member changes nothing until it is added to a node"]
pub struct ReshapeMember {
    name: String,
    sent_name: String,
    absence: Absence,
    value: Option<ReshapeId>,
}

/// The form of a member that an object does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absence {
    Absent,
    /// `null` stands for it.
    Null,
    /// It is sent as `null`, which is read as a value.
    ReadAsNull,
}

/// The form in which a value is sent.
#[derive(Clone, Debug, Default)]
enum SentForm {
    #[default]
    Unchanged,
    /// An object as an array of pairs.
    Pairs,
    /// An array as an object, with one member for each item.
    Members(Vec<ReshapeMember>),
    /// Any value as a string that contains its JSON text.
    Text,
}

#[derive(Clone, Debug, Default)]
struct ReshapeNode {
    /// The key of the object that a value is sent in.
    wrapper: Option<String>,
    form: SentForm,
    /// The changes that replace this one for some values.
    cases: Vec<ReshapeCase>,
    /// The strings that are recognised whatever their case.
    spellings: Vec<String>,
    members: Vec<ReshapeMember>,
    by_name: HashMap<String, usize>,
    by_sent_name: HashMap<String, usize>,
    /// The change of all other members.
    others: Option<ReshapeId>,
    items: Option<ReshapeId>,
}

/// The direction of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReshapeDirection {
    Encode,
    Decode,
}

impl Default for Reshape {
    fn default() -> Self {
        Self { nodes: Vec::new(), limits: Limits::default().max_depth(Limits::DEEPEST) }
    }
}

impl Reshape {
    /// Creates a change of shape without nodes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits of the text that is converted; duplicate keys are rejected whatever they say. Default:
    /// [`Limits::default`], and 256 levels.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Adds a node that changes nothing yet.
    pub fn add(&mut self) -> ReshapeId {
        self.nodes.push(ReshapeNode::default());
        ReshapeId(self.nodes.len() - 1)
    }

    /// Changes a member of an object. A later change of the same member replaces an earlier one.
    pub fn member(&mut self, node: ReshapeId, member: ReshapeMember) {
        let Some(node) = self.nodes.get_mut(node.0) else { return };
        if let Some(at) = node.by_name.get(&member.name) {
            node.by_sent_name.remove(&node.members[*at].sent_name);
            node.by_sent_name.insert(member.sent_name.clone(), *at);
            node.members[*at] = member;
            return;
        }
        node.by_name.insert(member.name.clone(), node.members.len());
        node.by_sent_name.insert(member.sent_name.clone(), node.members.len());
        node.members.push(member);
    }

    /// Changes the values of all members of an object that are not listed.
    pub fn other_members(&mut self, node: ReshapeId, change: ReshapeId) {
        self.edit(node, |node| node.others = Some(change));
    }

    /// Changes the items of an array.
    pub fn items(&mut self, node: ReshapeId, change: ReshapeId) {
        self.edit(node, |node| node.items = Some(change));
    }

    /// Sends an object as an array of its members, each as `{"key": …, "value": …}`. Their values are changed as
    /// [`other_members`](Self::other_members) states.
    pub fn send_as_pairs(&mut self, node: ReshapeId) {
        self.edit(node, |node| node.form = SentForm::Pairs);
    }

    /// Sends an array as an object: the item at each index as the member at that index of `members`, whose names in the
    /// tool's schema do not matter. An array with more items is sent unchanged.
    ///
    /// ```
    /// use haft_schema::{Reshape, ReshapeMember};
    ///
    /// let mut reshape = Reshape::new();
    /// let point = reshape.add();
    /// reshape.send_as_members(point, [ReshapeMember::new("x"), ReshapeMember::new("y").absent_as_null()]);
    /// let codec = reshape.finish(point);
    /// assert_eq!(codec.encode("[1,2]")?, r#"{"x":1,"y":2}"#);
    /// assert_eq!(codec.decode(r#"{"x":1,"y":null}"#)?, "[1]");
    /// # Ok::<_, haft_schema::CodecError>(())
    /// ```
    pub fn send_as_members(&mut self, node: ReshapeId, members: impl IntoIterator<Item = ReshapeMember>) {
        let members = members.into_iter().collect();
        self.edit(node, |node| node.form = SentForm::Members(members));
    }

    /// Sends a value as a string that contains its JSON text. A string that is not JSON is read as it is.
    ///
    /// ```
    /// let mut reshape = haft_schema::Reshape::new();
    /// let any = reshape.add();
    /// reshape.send_as_text(any);
    /// let codec = reshape.finish(any);
    /// assert_eq!(codec.encode(r#"{"a":[1]}"#)?, r#""{\"a\":[1]}""#);
    /// assert_eq!(codec.decode(r#""{\"a\":[1]}""#)?, r#"{"a":[1]}"#);
    /// # Ok::<_, haft_schema::CodecError>(())
    /// ```
    pub fn send_as_text(&mut self, node: ReshapeId) {
        self.edit(node, |node| node.form = SentForm::Text);
    }

    /// Recognises these strings whatever the case of their ASCII letters: a string that the provider sends and that
    /// differs from exactly one of them in case only is read as that one.
    pub fn spellings(&mut self, node: ReshapeId, spellings: impl IntoIterator<Item = String>) {
        let spellings = spellings.into_iter().collect();
        self.edit(node, |node| node.spellings = spellings);
    }

    /// Changes some values as another node states. The first case that a value meets applies; its wrapper does not.
    pub fn case(&mut self, node: ReshapeId, case: ReshapeCase) {
        self.edit(node, |node| node.cases.push(case));
    }

    /// Sends a value as the only member of an object, after all other changes.
    pub fn send_wrapped(&mut self, node: ReshapeId, key: impl Into<String>) {
        self.edit(node, |node| node.wrapper = Some(key.into()));
    }

    /// Returns the codec of values that change as `root` states. It is the identity if nothing changes.
    #[must_use]
    pub fn finish(self, root: ReshapeId) -> Codec {
        let Self { nodes, limits } = self;
        let reshaper = Reshaper { nodes, root, limits };
        if reshaper.changes_anything() { Codec::new(reshaper) } else { Codec::identity() }
    }

    fn edit(&mut self, node: ReshapeId, edit: impl FnOnce(&mut ReshapeNode)) {
        if let Some(node) = self.nodes.get_mut(node.0) {
            edit(node);
        }
    }
}

impl ReshapeMember {
    /// Creates a member of this name that does not change.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self { sent_name: name.clone(), name, absence: Absence::Absent, value: None }
    }

    /// Sends the member under another name.
    pub fn sent_as(mut self, name: impl Into<String>) -> Self {
        self.sent_name = name.into();
        self
    }

    /// Sends `null` if the object does not have the member, and reads `null` as absent. Unsuitable for a member whose
    /// schema accepts `null`: the two would be the same.
    pub fn absent_as_null(mut self) -> Self {
        self.absence = Absence::Null;
        self
    }

    /// Sends `null` if the object does not have the member, and reads `null` as a value: for a member whose schema
    /// accepts `null`.
    pub fn absent_read_as_null(mut self) -> Self {
        self.absence = Absence::ReadAsNull;
        self
    }

    /// Changes the value of the member.
    pub fn reshaped(mut self, change: ReshapeId) -> Self {
        self.value = Some(change);
        self
    }

    /// Returns the name in the text that is read.
    fn read_name(&self, direction: ReshapeDirection) -> &str {
        match direction {
            ReshapeDirection::Encode => &self.name,
            ReshapeDirection::Decode => &self.sent_name,
        }
    }

    /// Returns the name in the text that is written.
    fn written_name(&self, direction: ReshapeDirection) -> &str {
        match direction {
            ReshapeDirection::Encode => &self.sent_name,
            ReshapeDirection::Decode => &self.name,
        }
    }
}

impl ReshapeNode {
    fn by_read_name(&self, direction: ReshapeDirection, name: &str) -> Option<&ReshapeMember> {
        let names = match direction {
            ReshapeDirection::Encode => &self.by_name,
            ReshapeDirection::Decode => &self.by_sent_name,
        };
        names.get(name).and_then(|at| self.members.get(*at))
    }

    fn by_written_name(&self, direction: ReshapeDirection, name: &str) -> Option<&ReshapeMember> {
        let opposite = match direction {
            ReshapeDirection::Encode => ReshapeDirection::Decode,
            ReshapeDirection::Decode => ReshapeDirection::Encode,
        };
        self.by_read_name(opposite, name)
    }

    fn has_own_change(&self) -> bool {
        let is_changed = |member: &ReshapeMember| member.name != member.sent_name || member.absence != Absence::Absent;
        self.wrapper.is_some()
            || !matches!(self.form, SentForm::Unchanged)
            || !self.spellings.is_empty()
            || self.members.iter().any(is_changed)
    }
}
