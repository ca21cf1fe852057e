//! Objects: records with listed members, and maps.

use haft_core::{LossKind, RenderFault};
use haft_schema::{ReshapeKind, ReshapeMember, Subschema};
use serde_json::{Map, Value, json};

use super::{Rendering, VALUE};
use crate::dialect::form::{Change, Field, Form, add_sentence};
use crate::dialect::group::Group;
use crate::dialect::kind::{Kind, Kinds};
use crate::dialect::object_rule::OtherMembers;
use crate::dialect::rules::{Objects, OptionalMembers};
use crate::dialect::sentence;

/// The member of a pair that holds the key.
const KEY: &str = "key";

/// The keywords that say which keys an object accepts beside the listed ones.
const STATING_OTHERS: [&str; 3] = ["additionalProperties", "unevaluatedProperties", "patternProperties"];

impl Rendering {
    pub(super) fn object(&mut self, group: &Group<'_>, depth: usize) -> Result<Form, RenderFault> {
        if depth >= self.rules.max_depth {
            return Ok(self.too_deep(group, Kind::Object));
        }
        let others = group.other_members();
        if !group.properties().is_empty() || matches!(others, OtherMembers::None) {
            return self.record(group, &others, depth);
        }
        match (others, self.rules.objects) {
            (others, Objects::Open) => self.record(group, &others, depth),
            (OtherMembers::Described(schemas), _) if depth + 2 < self.rules.max_depth => {
                self.map_of_pairs(group, schemas, depth)
            }
            (OtherMembers::Described(_), _) => Ok(self.too_deep(group, Kind::Object)),
            (OtherMembers::Any | OtherMembers::None, _) => {
                self.lose(group.pointer(), LossKind::Other, "an object with any keys is sent as JSON text");
                Ok(self.text(group, Kinds::one(Kind::Object)))
            }
        }
    }

    fn record(&mut self, group: &Group<'_>, others: &OtherMembers<'_>, depth: usize) -> Result<Form, RenderFault> {
        let (mut listed, required) = (group.properties(), group.required());
        let is_possible = |schemas: &[Subschema<'_>]| !Group::of(schemas.iter().copied()).kinds().is_empty();
        let rejected: Vec<_> =
            listed.extract_if(.., |(name, schemas)| !required.contains(name) && !is_possible(schemas)).collect();
        let names: Vec<&str> = listed.iter().map(|(name, _)| *name).collect();
        let sent_names = self.rules.keys.rename(&names, depth);
        let node = self.reshape.add();
        let (mut properties, mut fields, mut is_changed) = (Map::new(), Vec::new(), false);
        for ((name, schemas), sent_name) in listed.into_iter().zip(sent_names) {
            let member_group = Group::of(schemas);
            let is_required = required.contains(&name);
            let mut form = self.value(&member_group, depth + 1)?;
            let mut member = ReshapeMember::new(name).sent_as(&sent_name).reshaped(form.node);
            is_changed |= form.is_changed() || name != sent_name;
            if !is_required && self.rules.optional == OptionalMembers::Nullable {
                member = self.nullable(member, &mut form, member_group.pointer());
                is_changed = true;
            }
            self.reshape.member(node, member);
            let constants = member_group.constants();
            properties.insert(sent_name.clone(), Value::Object(form.json));
            fields.push(Field { name: name.to_owned(), sent_name, is_required, constants });
        }
        let sent_required: Vec<String> = fields
            .iter()
            .filter(|field| field.is_required || self.rules.optional == OptionalMembers::Nullable)
            .map(|field| field.sent_name.clone())
            .collect();
        let mut json = self.closed_object(properties, &sent_required);
        self.constants(group, Kind::Object, &mut json);
        is_changed |= self.open(group, others, node, &mut json, depth)?;
        let is_open = self.rules.objects == Objects::Open && !matches!(others, OtherMembers::None);
        for (name, schemas) in rejected.into_iter().filter(|_| is_open) {
            self.state_rejected(name, schemas, &mut json);
        }
        let is_renamed = fields.iter().any(|field| field.name != field.sent_name);
        if is_renamed && is_open {
            let message = "keys that are listed under another name can't be sent under their own as well";
            self.lose(group.pointer(), LossKind::Keyword, message);
        }
        let sizes = if self.rules.objects == Objects::Closed { &[] } else { self.rules.keywords };
        self.restrict(group, Kind::Object, &mut json, sizes);
        let change = Change::within(ReshapeKind::Object, is_changed);
        let kinds = Kinds::one(Kind::Object);
        Ok(Form { json, node, kinds, sent: kinds, change, record: Some(fields.into()) })
    }

    /// Lets `null` stand for an absent member.
    pub(super) fn nullable(&mut self, member: ReshapeMember, form: &mut Form, pointer: &str) -> ReshapeMember {
        if form.sent.has(Kind::Null) {
            self.lose(pointer, LossKind::Ambiguity, "an absent value is sent as `null`, which is read as `null`");
            return member.absent_read_as_null();
        }
        form.accept_null(self.rules.null);
        member.absent_as_null()
    }

    /// Describes the unlisted members. Reports whether their values change.
    fn open(
        &mut self,
        group: &Group<'_>,
        others: &OtherMembers<'_>,
        node: haft_schema::ReshapeId,
        json: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<bool, RenderFault> {
        match (others, self.rules.objects) {
            (OtherMembers::None, _) => {}
            (OtherMembers::Any, Objects::Open) => {
                json.remove("additionalProperties");
                self.state_patterns(group, json);
            }
            (OtherMembers::Described(schemas), Objects::Open) => {
                let form = self.value(&Group::of(schemas.iter().copied()), depth + 1)?;
                let is_changed = form.is_changed();
                json.insert("additionalProperties".to_owned(), Value::Object(form.json));
                self.reshape.other_members(node, form.node);
                self.state_patterns(group, json);
                return Ok(is_changed);
            }
            (OtherMembers::Any | OtherMembers::Described(_), Objects::Closed | Objects::Listed) => {
                let is_stated = STATING_OTHERS.iter().any(|keyword| group.values(keyword).next().is_some());
                let kind = if is_stated { LossKind::OpenObject } else { LossKind::UnlistedKeys };
                self.lose(group.pointer(), kind, "keys that are not listed can't be sent");
            }
        }
        Ok(false)
    }

    /// States a key that must not be sent, in an object that accepts further keys.
    fn state_rejected(&mut self, name: &str, schemas: Vec<Subschema<'_>>, json: &mut Map<String, Value>) {
        add_sentence(json, &format!("Must not have the key {}.", json!(name)));
        let message = "that the key must not be sent is stated in the description";
        self.lose(Group::of(schemas).pointer(), LossKind::Combination, message);
    }

    /// States the key patterns in the description.
    fn state_patterns(&mut self, group: &Group<'_>, json: &mut Map<String, Value>) {
        let lists_members = json.get("properties").and_then(Value::as_object).is_some_and(|listed| !listed.is_empty());
        for (member, keyword, value) in group.keywords().filter(|(_, keyword, _)| *keyword == "patternProperties") {
            let patterns: Vec<&String> = value.as_object().into_iter().flat_map(Map::keys).collect();
            let is_closed = member.schema.as_json().get("additionalProperties") == Some(&false.into());
            let keys = if lists_members { "Further keys" } else { "Keys" };
            match patterns.as_slice() {
                [] => continue,
                [only] if is_closed => {
                    add_sentence(json, &format!("{keys} must match the regular expression {}.", json!(only)));
                }
                _ => add_sentence(json, &sentence::of_keyword(keyword, value)),
            }
            if is_closed && patterns.len() > 1 {
                add_sentence(json, &format!("{keys} must match one of the patterns."));
            }
            let message = "`patternProperties` is stated in the description";
            self.lose(&member.pointer_to(keyword), LossKind::Keyword, message);
        }
    }

    fn map_of_pairs(
        &mut self,
        group: &Group<'_>,
        schemas: Vec<Subschema<'_>>,
        depth: usize,
    ) -> Result<Form, RenderFault> {
        let form = self.value(&Group::of(schemas), depth + 2)?;
        let node = self.reshape.add();
        self.reshape.send_as_pairs(node);
        self.reshape.other_members(node, form.node);
        let properties =
            Map::from_iter([(KEY.to_owned(), json!({"type": "string"})), (VALUE.to_owned(), form.json.into())]);
        let pair = self.closed_object(properties, &[KEY.to_owned(), VALUE.to_owned()]);
        let mut json = Map::from_iter([("type".to_owned(), "array".into()), ("items".to_owned(), pair.into())]);
        add_sentence(&mut json, "Pairs of a key and its value; each key once.");
        let message = "the object is sent as pairs, and that each key occurs once is stated in the description";
        self.lose(group.pointer(), LossKind::Keyword, message);
        self.state_patterns(group, &mut json);
        self.constants(group, Kind::Object, &mut json);
        self.restrict(group, Kind::Object, &mut json, &[]);
        Ok(Form {
            json,
            node,
            kinds: Kinds::one(Kind::Object),
            sent: Kinds::one(Kind::Array),
            change: Change::Types(vec![(ReshapeKind::Object, ReshapeKind::Array)]),
            record: None,
        })
    }
}
