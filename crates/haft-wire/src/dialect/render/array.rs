//! Arrays: lists, and tuples whose items have schemas by index.

use haft_core::{LossKind, RenderFault};
use haft_schema::{AppliesTo, ReshapeKind, ReshapeMember};
use serde_json::{Map, Value};

use super::Rendering;
use crate::dialect::form::{Change, Form, add_sentence};
use crate::dialect::group::Group;
use crate::dialect::kind::{Kind, Kinds};
use crate::dialect::rules::{OptionalMembers, Tuples};

impl Rendering {
    pub(super) fn array(&mut self, group: &Group<'_>, depth: usize) -> Result<Form, RenderFault> {
        if depth >= self.rules.max_depth {
            return Ok(self.too_deep(group, Kind::Array));
        }
        let prefix = group.prefix_items();
        if prefix.is_empty() { self.list(group, depth) } else { self.tuple(group, &prefix, depth) }
    }

    fn list(&mut self, group: &Group<'_>, depth: usize) -> Result<Form, RenderFault> {
        let items = Group::of(group.parts_about(AppliesTo::Items));
        let mut json = Map::from_iter([("type".to_owned(), "array".into())]);
        let node = self.reshape.add();
        let form = if items.kinds().is_empty() {
            add_sentence(&mut json, "Must be empty.");
            self.lose(items.pointer(), LossKind::Keyword, "that the array is empty is stated in the description");
            self.untyped(&Group::of([]))
        } else {
            self.value(&items, depth + 1)?
        };
        self.reshape.items(node, form.node);
        let change = Change::within(ReshapeKind::Array, form.is_changed());
        json.insert("items".to_owned(), Value::Object(form.json));
        self.constants(group, Kind::Array, &mut json);
        self.restrict(group, Kind::Array, &mut json, self.rules.keywords);
        let kinds = Kinds::one(Kind::Array);
        Ok(Form { json, node, kinds, sent: kinds, change, record: None })
    }

    fn tuple(&mut self, group: &Group<'_>, prefix: &[Group<'_>], depth: usize) -> Result<Form, RenderFault> {
        let bound =
            |keyword| group.values(keyword).filter_map(Value::as_u64).filter_map(|size| usize::try_from(size).ok());
        let required = bound("minItems").max().unwrap_or(0);
        let is_closed = bound("maxItems").any(|most| most <= prefix.len())
            || group.parts_about(AppliesTo::Items).iter().any(|items| *items.as_json() == false);
        if required > prefix.len() || prefix.iter().any(|item| item.kinds().is_empty()) {
            let message = "the items differ by index, so the value is sent as JSON text";
            self.lose(group.pointer(), LossKind::Combination, message);
            return Ok(self.text(group, Kinds::one(Kind::Array)));
        }
        let mut forms = Vec::new();
        for item in prefix {
            forms.push(self.value(item, depth + 1)?);
        }
        let is_changed = forms.iter().any(Form::is_changed);
        if self.rules.tuples == Tuples::PrefixItems && !is_changed {
            return self.prefix_items(group, forms, depth);
        }
        if !is_closed {
            self.lose(group.pointer(), LossKind::Combination, "further items can't be sent");
        }
        let (mut properties, mut sent_required, mut members) = (Map::new(), Vec::new(), Vec::new());
        for (at, (mut form, item)) in forms.into_iter().zip(prefix).enumerate() {
            let name = format!("item_{}", at + 1);
            let mut member = ReshapeMember::new(&name).reshaped(form.node);
            if at >= required && self.rules.optional == OptionalMembers::Nullable {
                member = self.nullable(member, &mut form, item.pointer());
            }
            if at < required || self.rules.optional == OptionalMembers::Nullable {
                sent_required.push(name.clone());
            }
            properties.insert(name, Value::Object(form.json));
            members.push(member);
        }
        let node = self.reshape.add();
        self.reshape.send_as_members(node, members);
        let mut json = self.closed_object(properties, &sent_required);
        if prefix.len() > required + 1 {
            add_sentence(&mut json, "Only the last members may be absent.");
            self.lose(group.pointer(), LossKind::Combination, "that only the last items are optional can't be stated");
        }
        let others = ["uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems"];
        self.constants(group, Kind::Array, &mut json);
        self.restrict_by(group, Kind::Array, &mut json, &[], |keyword| others.contains(&keyword));
        Ok(Form {
            json,
            node,
            kinds: Kinds::one(Kind::Array),
            sent: Kinds::one(Kind::Object),
            change: Change::Types(vec![(ReshapeKind::Array, ReshapeKind::Object)]),
            record: None,
        })
    }

    fn prefix_items(&mut self, group: &Group<'_>, forms: Vec<Form>, depth: usize) -> Result<Form, RenderFault> {
        let mut json = Map::from_iter([("type".to_owned(), "array".into())]);
        let prefix: Vec<Value> = forms.into_iter().map(|form| Value::Object(form.json)).collect();
        json.insert("prefixItems".to_owned(), prefix.into());
        let rest = group.parts_about(AppliesTo::Items);
        let is_closed = rest.iter().any(|items| *items.as_json() == false);
        if is_closed && group.values("maxItems").next().is_none() {
            let most = json.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
            json.insert("maxItems".to_owned(), most.into());
        } else if !is_closed && !rest.is_empty() {
            let form = self.value(&Group::of(rest), depth + 1)?;
            if form.is_changed() {
                self.lose(group.pointer(), LossKind::Combination, "the further items can't be described");
            } else {
                json.insert("items".to_owned(), Value::Object(form.json));
            }
        }
        self.constants(group, Kind::Array, &mut json);
        self.restrict(group, Kind::Array, &mut json, self.rules.keywords);
        let node = self.reshape.add();
        Ok(Form::unchanged(json, node, Kinds::one(Kind::Array)))
    }
}
