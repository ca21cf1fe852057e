//! The one walk that rewrites a schema by a dialect's rules.
//!
//! A [`Group`] of subschemas describes each value. It becomes one schema in the dialect, together with the codec node
//! that converts values between the two. A value that the dialect can't describe is sent as a string that contains its
//! JSON: that always has an inverse.
//!
//! A rendering is a hint to the model. It may accept more than the tool's schema, which checks all arguments. It never
//! accepts a value that the codec would change in an unintended way.

mod array;
mod object;
mod reference;
mod scalar;
mod union;

use std::collections::HashSet;

use haft_core::{Loss, LossKind, RenderFault, Rendered};
use haft_schema::{Reshape, ReshapeCase, ReshapeId, ReshapeKind, Schema, Subschema};
use serde_json::{Map, Value, json};

use self::reference::Definitions;
use crate::dialect::form::{self, Change, Form};
use crate::dialect::group::Group;
use crate::dialect::keyword::{self, Treatment};
use crate::dialect::kind::{Kind, Kinds};
use crate::dialect::limit;
use crate::dialect::rules::{Rules, Untyped};
use crate::dialect::sentence;

/// The member that holds a value that is not an object.
pub(crate) const VALUE: &str = "value";

/// The most schemas in a rendering. Inlined references may multiply them.
const MAX_SCHEMAS: usize = 20_000;

/// Renders a schema by rules.
pub(crate) fn render(rules: &'static Rules, schema: &Schema) -> Result<Rendered, RenderFault> {
    let all = schema.subschemas();
    let mut rendering = Rendering {
        rules,
        reshape: Reshape::new(),
        losses: Vec::new(),
        reported: HashSet::new(),
        open: Vec::new(),
        definitions: Definitions::default(),
        work: 0,
    };
    let (mut json, node) = rendering.root(all.root())?;
    let Rendering { reshape, losses, definitions, .. } = rendering;
    definitions.append_to(&mut json);
    limit::check(rules, &json)?;
    let mut rendered = Rendered::exact(Value::Object(json)).with_codec(reshape.finish(node));
    rendered.losses = losses;
    Ok(rendered)
}

/// A rendering in progress.
struct Rendering {
    rules: &'static Rules,
    reshape: Reshape,
    losses: Vec<Loss>,
    reported: HashSet<(String, LossKind)>,
    /// The groups being rendered, to find recursive ones.
    open: Vec<String>,
    definitions: Definitions,
    work: usize,
}

impl Rendering {
    /// Renders the root, which must be an object with listed members.
    fn root(&mut self, root: Subschema<'_>) -> Result<(Map<String, Value>, ReshapeId), RenderFault> {
        let group = Group::of([root]);
        if group.kinds().is_empty() {
            return Err(RenderFault::new("", "no value is valid", "state a schema that accepts some values"));
        }
        let depth = usize::from(!is_record(&group));
        let form = self.unreferenced(&group, depth)?;
        let object = Kinds::one(Kind::Object);
        let is_object = form.json.get("type") == Some(&"object".into()) && form.kinds == object && form.sent == object;
        // The member names were chosen for the expected depth.
        if is_object && (depth == 0 || form.record.as_deref().is_some_and(<[_]>::is_empty)) {
            return Ok((form.json, form.node));
        }
        let node = self.reshape.add();
        self.reshape.send_wrapped(node, VALUE);
        self.reshape.case(node, ReshapeCase::new(ReshapeKind::Any, form.node));
        let properties = Map::from_iter([(VALUE.to_owned(), Value::Object(form.json))]);
        Ok((self.closed_object(properties, &[VALUE.to_owned()]), node))
    }

    /// Renders a value's schema.
    fn value(&mut self, group: &Group<'_>, depth: usize) -> Result<Form, RenderFault> {
        match self.kept_reference(group)? {
            Some(form) => Ok(form),
            None => self.unreferenced(group, depth),
        }
    }

    /// Renders a value's schema in place.
    fn unreferenced(&mut self, group: &Group<'_>, depth: usize) -> Result<Form, RenderFault> {
        self.work += 1;
        if self.work > MAX_SCHEMAS {
            let message = format!("the schema has more than {MAX_SCHEMAS} parts once its references are replaced");
            return Err(RenderFault::new(group.pointer(), message, "split the tool, or describe a part as a string"));
        }
        let id = group.id();
        if self.open.contains(&id) {
            self.lose(
                group.pointer(),
                LossKind::Reference,
                "the reference is recursive, so the value is sent as JSON text",
            );
            return Ok(self.text(group, group.kinds()));
        }
        self.open.push(id);
        let form = self.in_place(group, depth);
        self.open.pop();
        let mut form = form?;
        self.annotate(group, &mut form);
        Ok(form)
    }

    fn in_place(&mut self, group: &Group<'_>, depth: usize) -> Result<Form, RenderFault> {
        for schema in &group.open_references {
            self.lose(schema.pointer(), LossKind::Reference, "the reference can't be resolved to one schema");
        }
        let mut kinds = group.kinds();
        if kinds.is_empty() {
            let remedy = "remove the part, or correct its type";
            return Err(RenderFault::new(group.pointer(), "no value is valid", remedy));
        }
        if let Some(alternatives) = group.alternatives().first() {
            if group.describes_more_than(alternatives) {
                return self.restricted(group, alternatives, depth);
            }
            return self.union(group, alternatives, depth);
        }
        if kinds == Kinds::ALL {
            let Some(kind) = group.implied_kind() else { return Ok(self.untyped(group)) };
            self.lose(
                group.pointer(),
                LossKind::Combination,
                "the schema has no `type`, so other values can't be sent",
            );
            kinds = Kinds::one(kind);
        }
        let mut forms = Vec::new();
        for kind in kinds.without(Kind::Null).rendered() {
            forms.push(self.typed(group, kind, depth)?);
        }
        self.any_of(group, forms, kinds.has(Kind::Null))
    }

    fn typed(&mut self, group: &Group<'_>, kind: Kind, depth: usize) -> Result<Form, RenderFault> {
        match kind {
            Kind::Object => self.object(group, depth),
            Kind::Array => self.array(group, depth),
            Kind::String | Kind::Integer | Kind::Number | Kind::Boolean | Kind::Null => Ok(self.scalar(group, kind)),
        }
    }

    /// Renders a value with any type.
    fn untyped(&mut self, group: &Group<'_>) -> Form {
        let restricting = || group.keywords().filter(|(_, keyword, _)| keyword::implied_kind(keyword).is_some());
        if restricting().next().is_some() {
            let message = "the schema has no `type` and restricts several, so they are stated in the description";
            self.lose(group.pointer(), LossKind::Combination, message);
        }
        match self.rules.untyped {
            Untyped::Text => self.text(group, Kinds::ALL),
            Untyped::Empty => {
                let mut json = Map::new();
                for (_, keyword, value) in restricting() {
                    form::add_sentence(&mut json, &sentence::of_keyword(keyword, value));
                }
                Form::unchanged(json, self.reshape.add(), Kinds::ALL)
            }
        }
    }

    /// Renders a value as a string that contains its JSON text.
    fn text(&mut self, group: &Group<'_>, kinds: Kinds) -> Form {
        let mut json = Map::from_iter([("type".to_owned(), "string".into())]);
        form::describe(&mut json, &sentence::of_text(group));
        let node = self.reshape.add();
        self.reshape.send_as_text(node);
        let change = match kinds {
            kinds if kinds == Kinds::one(Kind::Object) => {
                Change::Types(vec![(ReshapeKind::Object, ReshapeKind::String)])
            }
            kinds if kinds == Kinds::one(Kind::Array) => Change::Types(vec![(ReshapeKind::Array, ReshapeKind::String)]),
            _ => Change::All,
        };
        Form { json, node, kinds, sent: Kinds::one(Kind::String), change, record: None }
    }

    /// Renders a value as text because it is nested deeper than the dialect allows.
    fn too_deep(&mut self, group: &Group<'_>, kind: Kind) -> Form {
        let message =
            format!("{} allows {} levels, so the value is sent as JSON text", self.rules.name, self.rules.max_depth);
        self.lose(group.pointer(), LossKind::Limit, message);
        self.text(group, Kinds::one(kind))
    }

    /// Adds annotations, and sentences for combined schemas.
    fn annotate(&mut self, group: &Group<'_>, form: &mut Form) {
        let (title, description) = (group.annotation("title"), group.annotation("description"));
        let mut sentences = Vec::new();
        for (member, keyword, value) in group.keywords().filter(|(member, ..)| !member.is_quiet()) {
            let pointer = || member.pointer_to(keyword);
            match keyword::treatment(keyword) {
                Treatment::Annotation if self.rules.keywords.contains(&keyword) && !form.is_changed() => {
                    form.json.insert(keyword.to_owned(), value.clone());
                }
                Treatment::Annotation => {
                    sentences.push(sentence::of_keyword(keyword, value));
                    self.lose(&pointer(), LossKind::Annotation, format!("`{keyword}` is stated in the description"));
                }
                Treatment::Combination => {
                    sentences.push(sentence::of_keyword(keyword, value));
                    self.lose(&pointer(), LossKind::Combination, format!("`{keyword}` is stated in the description"));
                }
                Treatment::Unknown => {
                    self.lose(&pointer(), LossKind::Annotation, format!("`{keyword}` is left out"));
                }
                Treatment::Structure | Treatment::Assertion(_) => {}
            }
        }
        for sentence in sentences {
            form::add_sentence(&mut form.json, &sentence);
        }
        match (title, description) {
            (Some(title), _) if self.rules.keywords.contains(&"title") => {
                form.json.insert("title".to_owned(), title.into());
            }
            (Some(title), None) => form.describe(title),
            (Some(_), Some(_)) => self.lose(group.pointer(), LossKind::Annotation, "`title` is left out"),
            (None, _) => {}
        }
        if let Some(description) = description {
            form.describe(description);
        }
        // A reference has nothing beside it.
        if form.json.len() > 1
            && let Some(reference) = form.json.shift_remove("$ref")
        {
            form.json.shift_insert(0, "anyOf".to_owned(), json!([{"$ref": reference}]));
        }
    }

    /// Adds the restrictions on values of a type, as keywords or as sentences.
    fn restrict(&mut self, group: &Group<'_>, kind: Kind, json: &mut Map<String, Value>, kept: &[&str]) {
        self.restrict_by(group, kind, json, kept, |_| true);
    }

    /// Adds some of the restrictions on values of a type.
    fn restrict_by(
        &mut self,
        group: &Group<'_>,
        kind: Kind,
        json: &mut Map<String, Value>,
        kept: &[&str],
        is_stated: impl Fn(&str) -> bool,
    ) {
        for (member, keyword, value) in group.keywords().filter(|(_, keyword, _)| is_stated(keyword)) {
            let is_about = matches!(keyword::treatment(keyword), Treatment::Assertion(kinds) if kinds.has(kind));
            if !is_about || is_trivial(keyword, value) || json.get(keyword) == Some(value) {
                continue;
            }
            if self.accepts(kind, keyword, value, kept) && !json.contains_key(keyword) {
                json.insert(keyword.to_owned(), value.clone());
                continue;
            }
            if keyword == "format" && kind != Kind::String && is_redundant_format(value, group) {
                continue;
            }
            form::add_sentence(json, &sentence::of_keyword(keyword, value));
            let kind = if keyword == "format" { LossKind::Format } else { LossKind::Keyword };
            self.lose(&member.pointer_to(keyword), kind, format!("`{keyword}` is stated in the description"));
        }
    }

    fn accepts(&self, kind: Kind, keyword: &str, value: &Value, kept: &[&str]) -> bool {
        use crate::dialect::rules::MinItems;

        match (keyword, value) {
            ("format", Value::String(format)) if kind == Kind::String => {
                self.rules.string_formats.contains(&format.as_str())
            }
            ("format", Value::String(format)) => self.rules.number_formats.contains(&format.as_str()),
            ("pattern", Value::String(pattern)) => self.rules.patterns.accept(pattern),
            ("minItems", value) if self.rules.min_items == MinItems::AtMostOne && value.as_f64() != Some(1.0) => false,
            (_, Value::Number(_)) => kept.contains(&keyword),
            _ => false,
        }
    }

    /// Returns an object with these members only.
    fn closed_object(&self, properties: Map<String, Value>, required: &[String]) -> Map<String, Value> {
        use crate::dialect::rules::{Objects, OptionalMembers, PropertyOrdering};

        let names: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
        let mut json = Map::new();
        json.insert("type".to_owned(), "object".into());
        json.insert("properties".to_owned(), properties.into());
        if !required.is_empty() || self.rules.optional == OptionalMembers::Nullable {
            json.insert("required".to_owned(), json!(required));
        }
        if self.rules.objects != Objects::Listed {
            json.insert("additionalProperties".to_owned(), false.into());
        }
        if self.rules.property_ordering == PropertyOrdering::Keyword && names.len() > 1 {
            json.insert("propertyOrdering".to_owned(), names.into());
        }
        json
    }

    /// Reports a loss once.
    fn lose(&mut self, pointer: &str, kind: LossKind, message: impl Into<String>) {
        if self.reported.insert((pointer.to_owned(), kind)) {
            self.losses.push(Loss::new(pointer, kind, message));
        }
    }
}

/// Reports whether the values are objects with listed members.
fn is_record(group: &Group<'_>) -> bool {
    let kinds = group.kinds();
    let is_object =
        kinds == Kinds::one(Kind::Object) || kinds == Kinds::ALL && group.implied_kind() == Some(Kind::Object);
    let alternatives = group.alternatives();
    is_object
        && alternatives.first().is_none_or(|first| group.describes_more_than(first))
        && !group.properties().is_empty()
}

/// Reports whether a keyword restricts nothing.
fn is_trivial(keyword: &str, value: &Value) -> bool {
    match keyword {
        "uniqueItems" => *value == false,
        "minLength" | "minItems" | "minProperties" => value.as_f64() == Some(0.0),
        "unevaluatedProperties" | "unevaluatedItems" => *value == true,
        _ => false,
    }
}

/// Reports whether a number format tells the model nothing: every number has it, or the range is stated.
fn is_redundant_format(format: &Value, group: &Group<'_>) -> bool {
    let states = |keyword: &str| group.values(keyword).next().is_some();
    matches!(format.as_str(), Some("double" | "float")) || (states("minimum") && states("maximum"))
}
