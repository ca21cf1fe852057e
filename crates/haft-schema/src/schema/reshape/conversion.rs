//! The conversion of one text along a [`Reshape`](super::Reshape), in either direction.

use std::borrow::Cow;
use std::collections::HashSet;

use super::super::DuplicateKeys;
use super::super::codec::{CodecError, Transcode};
use super::super::document::{Document, Instance, Pointers};
use super::super::limit::Limits;
use super::super::message::excerpt_of_text;
use super::super::types::JsonType;
use super::super::verify;
use super::{Absence, ReshapeDirection, ReshapeId, ReshapeMember, ReshapeNode, SentForm};

/// The member of a pair that holds the key.
const PAIR_KEY: &str = "key";

/// The member of a pair that holds the value.
const PAIR_VALUE: &str = "value";

/// The converted text may be this many times as long as the longest text that is read.
const GROWTH: usize = 4;

/// A finished change of shape.
#[derive(Debug)]
pub(super) struct Reshaper {
    pub(super) nodes: Vec<ReshapeNode>,
    pub(super) root: ReshapeId,
    pub(super) limits: Limits,
}

impl Reshaper {
    /// Reports whether a node that the root leads to changes anything.
    pub(super) fn changes_anything(&self) -> bool {
        let mut found = HashSet::from([self.root]);
        let mut queue = vec![self.root];
        while let Some(node) = queue.pop().and_then(|id| self.nodes.get(id.0)) {
            if node.has_own_change() {
                return true;
            }
            let parts = node.members.iter().filter_map(|member| member.value).chain(node.others).chain(node.items);
            let parts = parts.chain(node.cases.iter().map(|case| case.change));
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
        let limits = Limits { duplicate_keys: DuplicateKeys::Reject, ..self.limits };
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
        let node = self.case_of(node, value);
        match (&node.form, value.kind(), self.direction) {
            (SentForm::Text, _, ReshapeDirection::Encode) => {
                self.push(&serde_json::Value::from(value.raw()).to_string())
            }
            (SentForm::Text, JsonType::String, ReshapeDirection::Decode) => self.text(value),
            (SentForm::Pairs, JsonType::Object, ReshapeDirection::Encode) => self.pairs(node, value),
            (SentForm::Pairs, JsonType::Array, ReshapeDirection::Decode) => self.members_of_pairs(node, value),
            (SentForm::Members(members), JsonType::Array, ReshapeDirection::Encode) => {
                self.members_of_items(members, value)
            }
            (SentForm::Members(members), JsonType::Object, ReshapeDirection::Decode) => {
                self.items_of_members(members, value)
            }
            (_, JsonType::Object, _) => self.object(node, value),
            (_, JsonType::Array, _) => self.array(node, value),
            (_, JsonType::String, ReshapeDirection::Decode) if !node.spellings.is_empty() => {
                self.spelling(&node.spellings, value)
            }
            (_, JsonType::Null | JsonType::Boolean | JsonType::Number | JsonType::String, _) => self.push(value.raw()),
        }
    }

    /// Returns the node that changes a value: the one given, or that of its case. Cases may lead to nodes with cases, but
    /// not forever.
    fn case_of(&self, node: &'r ReshapeNode, value: Instance<'_>) -> &'r ReshapeNode {
        let mut node = node;
        for _ in 0..self.reshaper.nodes.len() {
            let case = node.cases.iter().find(|case| case.applies(self.direction, value));
            let Some(next) = case.and_then(|case| self.reshaper.nodes.get(case.change.0)) else { break };
            node = next;
        }
        node
    }

    /// Reads the JSON text in a string.
    fn text(&mut self, value: Instance<'_>) -> Result<(), CodecError> {
        let text = value.string().unwrap_or_default();
        let limits = Limits { duplicate_keys: DuplicateKeys::Reject, ..self.reshaper.limits };
        match verify::read_unchecked(text.trim(), &limits) {
            Ok(_) => self.push(text.trim()),
            Err(_) => self.push(value.raw()),
        }
    }

    fn spelling(&mut self, spellings: &[String], value: Instance<'_>) -> Result<(), CodecError> {
        let text = value.string().unwrap_or_default();
        let mut similar = spellings.iter().filter(|spelling| spelling.eq_ignore_ascii_case(&text));
        match (similar.next(), similar.next()) {
            (Some(known), None) if *known != *text => self.push(&serde_json::Value::from(known.as_str()).to_string()),
            _ => self.push(value.raw()),
        }
    }

    fn members_of_items(&mut self, members: &'r [ReshapeMember], value: Instance<'_>) -> Result<(), CodecError> {
        if value.len() > members.len() {
            return self.push(value.raw());
        }
        let mut items = value.items();
        self.push("{")?;
        for (written, member) in members.iter().enumerate() {
            let item = items.next();
            if item.is_none() && member.absence == Absence::Absent {
                break;
            }
            self.separate(written)?;
            self.key(&member.sent_name)?;
            match item {
                Some(item) => self.value(member.value, item)?,
                None => self.push("null")?,
            }
        }
        self.push("}")
    }

    fn items_of_members(&mut self, members: &'r [ReshapeMember], value: Instance<'_>) -> Result<(), CodecError> {
        let is_known = |name: &str| members.iter().any(|member| member.sent_name == name);
        if value.members().any(|(key, _)| !is_known(&key.name())) {
            return self.push(value.raw());
        }
        let mut gap = None;
        let mut written = 0;
        self.push("[")?;
        for member in members {
            // After an absent item, a `null` can only stand for another one.
            let is_absent = |item: Instance<'_>| {
                let is_null = item.kind() == JsonType::Null;
                self.is_absent(member, item) || gap.is_some() && member.absence == Absence::ReadAsNull && is_null
            };
            let Some(item) = value.get(&member.sent_name).filter(|item| !is_absent(*item)) else {
                gap = gap.or(Some(&member.sent_name));
                continue;
            };
            if let Some(missing) = gap {
                let message = format!("requires a value for {} as well", excerpt_of_text(missing));
                return Err(self.shape(item.id(), message));
            }
            self.separate(written)?;
            self.value(member.value, item)?;
            written += 1;
        }
        self.push("]")
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
            for member in node.members.iter().filter(|member| member.absence != Absence::Absent) {
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

    /// Returns the listed member that a key stands for. Rejects a key that would be written as the name of another member:
    /// it would become that member, or occur twice.
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
