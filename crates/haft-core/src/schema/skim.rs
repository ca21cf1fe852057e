//! Naming everything that is wrong with a text without building its tree.
//!
//! Most arguments that are refused have all their keys where they belong and a few values that don't fit. Those are
//! told while the text is read once more: every value is looked at as it comes by and let go. Text that is wrong as JSON
//! (malformed, too deep, with a key twice) is not told of here: then the tree is built after all. What is said must be
//! what the tree would say, to the letter.

use std::cell::RefCell;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::explain::{Problem, Report, missing, types};
use super::limit::Limits;
use super::message::Found;
use super::node::{Arena, NEVER, NodeId, ObjectRule, Typed};
use super::path::Path;
use super::seen::Seen;
use super::text::{Inside, Notes, TreeSeed, number_token};
use super::types::JsonType;
use super::variant::Variants;
use crate::issue::Issue;

/// Everything that keeps `text` from fitting; none where that is not told on the way.
pub(super) fn issues(arena: &Arena, text: &str, limits: Limits) -> Option<Vec<Issue>> {
    if number_token().is_some() {
        return None;
    }
    let notes = Notes::new(limits);
    let report = RefCell::default();
    let tree = TreeSeed { notes: &notes, depth: 0, inside: Inside::Other, path: &Path::Root };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    Spot { arena, report: &report, node: arena.root(), tree }.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    let issues = report.into_inner().all()?;
    (notes.faults.into_inner().is_empty() && !issues.is_empty()).then_some(issues)
}

/// One value: what it must fit, and how its tree would be built.
#[derive(Clone, Copy)]
struct Spot<'a> {
    arena: &'a Arena,
    report: &'a RefCell<Report>,
    node: NodeId,
    tree: TreeSeed<'a>,
}

impl<'a> Spot<'a> {
    /// The rules by which the parts of an array or object are looked at one by one; none where it takes all of them.
    fn rules(&self, json_type: JsonType) -> Option<&'a Typed> {
        if Arena::is_buffered(self.node) || Variants::of(self.arena, self.node).is_some() {
            return None;
        }
        self.arena.rules(self.node, json_type).ok().flatten()
    }

    fn look_at(&self, value: &Value) {
        self.report.borrow_mut().look_at(self.arena, self.node, value, self.tree.path);
    }

    /// The same for a part of this value.
    fn part<'b>(&self, node: NodeId, depth: usize, inside: Inside, path: &'b Path<'b>) -> Spot<'b>
    where
        'a: 'b,
    {
        Spot { node, tree: TreeSeed { depth, inside, path, ..self.tree }, ..*self }
    }
}

impl<'de> DeserializeSeed<'de> for Spot<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Spot<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tree.expecting(f)
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.look_at(&Value::from(value));
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.look_at(&Value::from(value));
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.look_at(&Value::from(value));
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.look_at(&self.tree.visit_f64(value)?);
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        if !Arena::is_free(self.node, JsonType::String) {
            self.look_at(&Value::from(value));
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.look_at(&Value::Null);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Some(rule) = self.rules(JsonType::Array).map(|typed| &typed.array) else {
            self.look_at(&self.tree.visit_seq(access)?);
            return Ok(());
        };
        let depth = self.tree.deeper()?;
        let first = self.report.borrow().len();
        let mut count = 0;
        loop {
            let path = Path::Index(self.tree.path, count);
            let node = rule.element(count);
            match access.next_element_seed(self.part(node, depth, Inside::Other, &path))? {
                // Elements beyond the longest allowed array are reported with it.
                Some(()) if count >= rule.max && node == NEVER => return Err(ended()),
                Some(()) => count += 1,
                None => break,
            }
        }
        let problem = match count {
            _ if count < rule.min => Problem::TooFewItems(rule.min),
            _ if count > rule.max => Problem::TooManyItems(rule.max),
            _ => return Ok(()),
        };
        self.report.borrow_mut().insert(first, &problem, Found::array(count), self.tree.path);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Some(rule) = self.rules(JsonType::Object).map(|typed| &typed.object) else {
            self.look_at(&self.tree.visit_map(access)?);
            return Ok(());
        };
        let depth = self.tree.deeper()?;
        let mut members = Members::new(rule, self.report.borrow().len());
        while let Some(key) = access.next_key_seed(KeySeed { rule, hint: members.count })? {
            members.count += 1;
            match key {
                Key::Declared(at) => {
                    let property = &rule.properties[at];
                    if !property.plain || !members.seen.insert(at) {
                        return Err(ended());
                    }
                    let path = Path::Key(self.tree.path, &property.name);
                    access.next_value_seed(self.part(property.node, depth, Inside::Other, &path))?;
                }
                Key::Other(name) => {
                    if self.tree.inside.forbids(&name) || members.has_too_many_for(&name) {
                        return Err(ended());
                    }
                    let path = Path::Key(self.tree.path, &name);
                    let part = self.part(rule.additional, depth, Inside::key(&name), &path);
                    let unwanted = if rule.additional == NEVER {
                        Some((self.report.borrow().len(), access.next_value_seed(part.tree)?))
                    } else {
                        access.next_value_seed(part)?;
                        None
                    };
                    members.others.push(Other { name, unwanted });
                }
            }
        }
        members.close(&self);
        Ok(())
    }
}

/// What is known of the members of an object.
struct Members<'a> {
    rule: &'a ObjectRule,
    /// Where problems of the object itself stand in the report: before those of its members.
    first: usize,
    count: usize,
    seen: Seen,
    others: Vec<Other>,
}

/// A member that is not declared.
struct Other {
    name: String,
    /// If it must not be there: its value, and where the problem stands in the report.
    unwanted: Option<(usize, Value)>,
}

impl<'a> Members<'a> {
    /// More undeclared keys than this are not compared one by one.
    const FEW: usize = 16;

    fn new(rule: &'a ObjectRule, first: usize) -> Self {
        Self { rule, first, count: 0, seen: Seen::default(), others: Vec::new() }
    }

    /// Whether this undeclared key was there before, or there are too many to tell.
    fn has_too_many_for(&self, name: &str) -> bool {
        self.others.len() >= Self::FEW || self.others.iter().any(|other| other.name == name)
    }

    /// Reports what can only be said of an object whose keys are all known.
    fn close(self, spot: &Spot<'_>) {
        let Self { rule, first, count, seen, others } = self;
        let path = spot.tree.path;
        let mut report = spot.report.borrow_mut();
        // The last one first: each moves those behind it.
        for Other { name, unwanted } in others.iter().rev() {
            if let Some((at, value)) = unwanted {
                let problem = Problem::Unknown(name, &rule.properties, &seen);
                report.insert(*at, &problem, Found::of(value), &Path::Key(path, name));
            }
        }
        let missing =
            missing(rule, &seen).map(|property| Problem::Missing(&property.name, types(spot.arena, property.node)));
        let few = (count < rule.min).then_some(Problem::TooFewKeys(rule.min));
        let many = (count > rule.max).then_some(Problem::TooManyKeys(rule.max));
        for (at, problem) in (first..).zip(missing.chain(few).chain(many)) {
            report.insert(at, &problem, Found::object(count), path);
        }
    }
}

/// A key as the schema knows it.
enum Key {
    Declared(usize),
    Other(String),
}

struct KeySeed<'a> {
    rule: &'a ObjectRule,
    /// Where the key is declared if they come in order.
    hint: usize,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Key, E> {
        Ok(self.rule.find(key, self.hint).map_or_else(|| Key::Other(key.to_owned()), Key::Declared))
    }
}

/// The rest can't be told on the way.
#[cold]
fn ended<E: Error>() -> E {
    E::custom("takes a tree")
}

#[cfg(test)]
#[cfg(feature = "validate")]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::Schema;
    use super::super::explain;
    use super::super::number::Exactness;
    use super::super::text::read_str;
    use super::*;

    fn forecast() -> Schema {
        let schema = json!({
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer", "minimum": 1, "maximum": 14},
                "units": {"enum": ["celsius", "fahrenheit"]},
                "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}, "minItems": 1, "maxItems": 2},
                "pair": {"type": "array", "prefixItems": [{"type": "null"}], "items": false, "maxItems": 1},
                "place": {
                    "type": ["object", "null"],
                    "properties": {"constructor": {}, "city": {"type": "string"}, "a": {"$ref": "#"}},
                    "additionalProperties": {"type": "boolean"},
                    "required": ["city"],
                    "maxProperties": 3
                },
                "any": {},
                "mode": {"oneOf": [
                    {"enum": ["fast", "x"]},
                    {"type": "object", "properties": {"city": {"type": "integer"}}, "required": ["city"], "additionalProperties": false}
                ]},
                "form": {"anyOf": [{"type": "string", "minLength": 2}, {"type": "object", "required": ["city"]}]},
                "set": {"type": "array", "uniqueItems": true}
            },
            "required": ["city", "days"],
            "minProperties": 3,
            "additionalProperties": false
        });
        Schema::json(schema).unwrap()
    }

    fn by_tree(schema: &Schema, text: &str) -> Option<Vec<Issue>> {
        let arena = &schema.compiled.arena;
        let (tree, faults) = read_str(text, &Limits::default());
        let issues = explain::issues(arena, arena.root(), &tree?, Exactness::Required);
        (faults.is_empty() && !issues.is_empty()).then_some(issues)
    }

    fn skimmed(schema: &Schema, text: &str) -> Option<Vec<Issue>> {
        issues(&schema.compiled.arena, text, Limits::default())
    }

    #[test]
    fn what_is_wrong_with_values_and_keys_is_told_on_the_way() {
        let schema = forecast();
        for text in [
            "7",
            "[]",
            "{}",
            r#"{"city":7,"days":99,"units":"kelvin"}"#,
            r#"{"units":"kelvin","tags":["far too long",7,"x"],"days":1.5}"#,
            r#"{"tags":[],"pair":[null]}"#,
            r#"{"days":0,"mode":"fats"}"#,
            r#"{"days":0,"mode":{"city":"x"}}"#,
            r#"{"days":0,"mode":{"x":null}}"#,
            r#"{"days":0,"mode":{"cty":1}}"#,
            r#"{"city":"Rio","days":1,"tagz":{"a":[1,2]},"any":{"x":[{}]},"d\u0061yz":1}"#,
            r#"{"city":"Rio","days":1,"place":{"city":null,"x":true,"y":0,"a":{"days":"1"}}}"#,
            r#"{"days":0,"place":{"z":1},"form":"x","set":[1,1.0],"more":null,"pair":7}"#,
        ] {
            let told = skimmed(&schema, text);
            assert!(told.is_some(), "{text}");
            assert_eq!(told, by_tree(&schema, text), "{text}");
        }
    }

    #[test]
    fn what_takes_the_tree_is_left_to_it() {
        let schema = forecast();
        let many = (0..17).map(|at| format!(r#""x{at}":1"#)).collect::<Vec<_>>().join(",");
        let wrong = vec!["7"; 2_000].join(",");
        for text in [
            r#"{"city":"Rio","days":1,"units":"celsius"}"#,
            r#"{"city":7,"city":8}"#,
            r#"{"city":7,"x":1,"x":2}"#,
            r#"{"city":7,"any":{"x":1,"x":2}}"#,
            r#"{"city":7,"any":{"__proto__":1}}"#,
            r#"{"city":7,"__proto__":1}"#,
            r#"{"city":7,"place":{"constructor":{"prototype":1}}}"#,
            r#"{"city":7,"pair":[null,1]}"#,
            r#"{"city":7"#,
            r#"{"city":7} 8"#,
            &format!(r#"{{"city":7,"any":{}{}}}"#, "[".repeat(200), "]".repeat(200)),
            &format!(r#"{{"city":7,{many}}}"#),
            &format!(r#"{{"city":7,"tags":[{wrong}]}}"#),
        ] {
            assert_eq!(skimmed(&schema, text), None, "{text}");
        }
    }

    /// Text with keys that are declared or not, in any order, some of them twice.
    fn texts() -> impl Strategy<Value = String> {
        let scalar = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            (-2..20i32).prop_map(|number| number.to_string()),
            Just("1.5".to_owned()),
            prop::sample::select(vec!["celsius", "x", "long", "d\\u00e9j\\u00e0"])
                .prop_map(|text| format!("\"{text}\"")),
        ];
        let keys = vec![
            "city",
            "days",
            "units",
            "tags",
            "pair",
            "place",
            "any",
            "form",
            "mode",
            "set",
            "a",
            "tag",
            "constructor",
            "__proto__",
        ];
        scalar.prop_recursive(4, 48, 5, move |inner| {
            let member = (prop::sample::select(keys.clone()), inner.clone())
                .prop_map(|(key, value)| format!("\"{key}\":{value}"));
            prop_oneof![
                1 => prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
                3 => prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(","))),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_told_is_what_the_tree_tells(text in texts()) {
            let schema = forecast();
            if let Some(told) = skimmed(&schema, &text) {
                prop_assert_eq!(Some(told), by_tree(&schema, &text), "{}", text);
            }
        }
    }
}
