//! The changes of shape that dialects make, with their inverses.
//!
//! A [`Reshape`] is a graph that follows the schema: one node for each subschema whose values change, or contain values
//! that change. Nodes refer to each other by id, so that recursive schemas need no copies. The text is read once, as a
//! document, and written in the other shape; strings and numbers are copied as they are written.
//!
//! A value that does not have the shape that its node expects is copied unchanged, because the tool's schema rejects it
//! with a better message. Work and memory are linear in the text and the output, and the output has a limit.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::codec::{Codec, CodecError, Transcode};
use super::document::{Document, Instance, Pointers};
use super::limit::Limits;
use super::message::excerpt_of_text;
use super::types::JsonType;
use super::verify;

/// The member of a pair that holds the key.
const PAIR_KEY: &str = "key";

/// The member of a pair that holds the value.
const PAIR_VALUE: &str = "value";

/// The converted text may be this many times as long as the longest text that is read.
const GROWTH: usize = 4;

/// A change of shape under construction: how the values of a schema are sent to a provider.
///
/// ```
/// use haft_core::{Reshape, ReshapeMember};
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
/// # Ok::<_, haft_core::CodecError>(())
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
    Null,
}

#[derive(Clone, Debug, Default)]
struct ReshapeNode {
    /// The key of the object that a value is sent in.
    wrapper: Option<String>,
    pairs: bool,
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

/// A finished change of shape.
#[derive(Debug)]
struct Reshaper {
    nodes: Vec<ReshapeNode>,
    root: ReshapeId,
    limits: Limits,
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
        self.edit(node, |node| node.pairs = true);
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
        let is_changed = |member: &ReshapeMember| member.name != member.sent_name || member.absence == Absence::Null;
        self.wrapper.is_some() || self.pairs || self.members.iter().any(is_changed)
    }
}

impl Reshaper {
    /// Reports whether a node that the root leads to changes anything.
    fn changes_anything(&self) -> bool {
        let mut found = HashSet::from([self.root]);
        let mut queue = vec![self.root];
        while let Some(node) = queue.pop().and_then(|id| self.nodes.get(id.0)) {
            if node.has_own_change() {
                return true;
            }
            let parts = node.members.iter().filter_map(|member| member.value).chain(node.others).chain(node.items);
            queue.extend(parts.filter(|part| found.insert(*part)));
        }
        false
    }

    fn convert<'t>(&self, direction: ReshapeDirection, text: &'t str) -> Result<Cow<'t, str>, CodecError> {
        let read = match (direction, text.trim()) {
            // The tool's schema reads blank text as the empty object.
            (ReshapeDirection::Decode, "") => return Ok(Cow::Borrowed(text)),
            (ReshapeDirection::Encode, "") => "{}",
            (_, text) => text,
        };
        let limits = Limits { duplicate_keys: super::DuplicateKeys::Reject, ..self.limits };
        let document = verify::read_unchecked(read, &limits).map_err(CodecError::Text)?;
        let mut conversion = Conversion {
            reshaper: self,
            direction,
            document: &document,
            text: String::with_capacity(read.len()),
            max_bytes: self.limits.max_bytes.saturating_mul(GROWTH),
        };
        conversion.value(Some(self.root), document.root())?;
        Ok(Cow::Owned(conversion.text))
    }
}

impl Transcode for Reshaper {
    fn decode<'t>(&self, arguments: &'t str) -> Result<Cow<'t, str>, CodecError> {
        self.convert(ReshapeDirection::Decode, arguments)
    }

    fn encode<'t>(&self, arguments: &'t str) -> Result<Cow<'t, str>, CodecError> {
        self.convert(ReshapeDirection::Encode, arguments)
    }
}

/// A conversion in progress. The depth of recursion is bounded by that of the document.
struct Conversion<'r, 'd> {
    reshaper: &'r Reshaper,
    direction: ReshapeDirection,
    document: &'d Document<'d>,
    text: String,
    max_bytes: usize,
}

impl<'r> Conversion<'r, '_> {
    fn value(&mut self, change: Option<ReshapeId>, value: Instance<'_>) -> Result<(), CodecError> {
        let Some(node) = change.and_then(|id| self.reshaper.nodes.get(id.0)) else {
            return self.push(value.raw());
        };
        match (&node.wrapper, self.direction) {
            (Some(key), ReshapeDirection::Encode) => {
                self.push("{")?;
                self.key(key)?;
                self.unwrapped(node, value)?;
                self.push("}")
            }
            (Some(key), ReshapeDirection::Decode) => match value.get(key).filter(|_| value.len() == 1) {
                Some(inner) => self.unwrapped(node, inner),
                None => self.push(value.raw()),
            },
            (None, _) => self.unwrapped(node, value),
        }
    }

    fn unwrapped(&mut self, node: &'r ReshapeNode, value: Instance<'_>) -> Result<(), CodecError> {
        match (value.kind(), self.direction) {
            (JsonType::Object, ReshapeDirection::Encode) if node.pairs => self.pairs(node, value),
            (JsonType::Array, ReshapeDirection::Decode) if node.pairs => self.members_of_pairs(node, value),
            (JsonType::Object, _) => self.object(node, value),
            (JsonType::Array, _) => self.array(node, value),
            (JsonType::Null | JsonType::Boolean | JsonType::Number | JsonType::String, _) => self.push(value.raw()),
        }
    }

    fn array(&mut self, node: &'r ReshapeNode, value: Instance<'_>) -> Result<(), CodecError> {
        if node.items.is_none() {
            return self.push(value.raw());
        }
        self.push("[")?;
        for (at, item) in value.items().enumerate() {
            self.separate(at)?;
            self.value(node.items, item)?;
        }
        self.push("]")
    }

    fn object(&mut self, node: &'r ReshapeNode, value: Instance<'_>) -> Result<(), CodecError> {
        let mut written = 0;
        self.push("{")?;
        for (key, member) in value.members() {
            match self.member_of(node, &key.name(), value, key.id())? {
                Some(known) if self.is_absent(known, member) => continue,
                Some(known) => {
                    self.separate(written)?;
                    self.key(known.written_name(self.direction))?;
                    self.value(known.value, member)?;
                }
                None => {
                    self.separate(written)?;
                    self.push(key.as_instance().raw())?;
                    self.push(":")?;
                    self.value(node.others, member)?;
                }
            }
            written += 1;
        }
        if self.direction == ReshapeDirection::Encode {
            for member in node.members.iter().filter(|member| member.absence == Absence::Null) {
                if value.get(&member.name).is_none() {
                    self.separate(written)?;
                    self.key(&member.sent_name)?;
                    self.push("null")?;
                    written += 1;
                }
            }
        }
        self.push("}")
    }

    fn is_absent(&self, member: &ReshapeMember, value: Instance<'_>) -> bool {
        self.direction == ReshapeDirection::Decode && member.absence == Absence::Null && value.kind() == JsonType::Null
    }

    /// Returns the listed member that a key stands for. Rejects a key that would be written as the name of another
    /// member: it would become that member, or occur twice.
    fn member_of(
        &self,
        node: &'r ReshapeNode,
        name: &str,
        object: Instance<'_>,
        key: u32,
    ) -> Result<Option<&'r ReshapeMember>, CodecError> {
        if let Some(known) = node.by_read_name(self.direction, name) {
            return Ok(Some(known));
        }
        let Some(taken) = node.by_written_name(self.direction, name) else { return Ok(None) };
        let read_name = taken.read_name(self.direction);
        // The model may write a key by the name in the tool's own schema, but not beside its other name.
        if self.direction == ReshapeDirection::Decode && object.get(read_name).is_none() {
            return Ok(Some(taken));
        }
        let message = format!(
            "the key {} stands for the key {}; send only that one",
            excerpt_of_text(read_name),
            excerpt_of_text(name)
        );
        Err(self.shape(key, message))
    }

    fn pairs(&mut self, node: &'r ReshapeNode, value: Instance<'_>) -> Result<(), CodecError> {
        self.push("[")?;
        for (at, (key, member)) in value.members().enumerate() {
            self.separate(at)?;
            self.push("{")?;
            self.key(PAIR_KEY)?;
            self.push(key.as_instance().raw())?;
            self.push(",")?;
            self.key(PAIR_VALUE)?;
            self.value(node.others, member)?;
            self.push("}")?;
        }
        self.push("]")
    }

    fn members_of_pairs(&mut self, node: &'r ReshapeNode, value: Instance<'_>) -> Result<(), CodecError> {
        let mut names = HashSet::new();
        self.push("{")?;
        for (at, pair) in value.items().enumerate() {
            let key = pair.get(PAIR_KEY).filter(|key| key.kind() == JsonType::String && pair.len() == 2);
            let (Some(key), Some(member)) = (key, pair.get(PAIR_VALUE)) else {
                let message = r#"must be a pair {"key": <string>, "value": <any value>}"#.to_owned();
                return Err(self.shape(pair.id(), message));
            };
            let name = key.string().unwrap_or_default();
            if !names.insert(name.clone().into_owned()) {
                let message = format!("the key {} occurs twice; send it once", excerpt_of_text(&name));
                return Err(self.shape(key.id(), message));
            }
            self.separate(at)?;
            self.push(key.raw())?;
            self.push(":")?;
            self.value(node.others, member)?;
        }
        self.push("}")
    }

    fn key(&mut self, name: &str) -> Result<(), CodecError> {
        let written = serde_json::Value::from(name).to_string();
        self.push(&written)?;
        self.push(":")
    }

    fn separate(&mut self, written: usize) -> Result<(), CodecError> {
        if written > 0 { self.push(",") } else { Ok(()) }
    }

    fn push(&mut self, text: &str) -> Result<(), CodecError> {
        if self.text.len().saturating_add(text.len()) > self.max_bytes {
            return Err(CodecError::TooLong(self.max_bytes));
        }
        self.text.push_str(text);
        Ok(())
    }

    fn shape(&self, id: u32, message: String) -> CodecError {
        CodecError::Shape { pointer: Pointers::new(self.document).to(id), message }
    }
}
