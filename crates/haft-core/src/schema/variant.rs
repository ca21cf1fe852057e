//! The variants of an enum, where some have content and some have none.
//!
//! Serde writes the former as objects with one key and the latter as strings. For a check these are two unrelated forms;
//! for whoever has to mend a value they are one list of names.

use serde_json::Value;

use super::explain::only_key;
use super::node::{Arena, Node, NodeId};
use super::types::Types;

/// How many forms are looked at: forms of forms could be more than there is time for.
const STEPS: usize = 500;

/// The names of an enum's variants.
#[derive(Debug)]
pub(super) struct Variants<'a> {
    /// Those without content: a string each.
    pub(super) plain: Vec<&'a str>,
    /// Those with content: an object with this one key each.
    pub(super) keys: Vec<&'a str>,
}

/// A variant named in the form of another.
#[derive(Debug)]
pub(super) enum Slip<'a> {
    /// It has content and was named without.
    LacksContent(&'a str),
    /// It has no content and was given some.
    HasContent(&'a str),
}

impl<'a> Variants<'a> {
    /// The variants at a node, if that is what its forms are: some with content, and some without.
    pub(super) fn of(arena: &'a Arena, id: NodeId) -> Option<Self> {
        let mut variants = Self { plain: Vec::new(), keys: Vec::new() };
        variants.collect(arena, id, &mut { STEPS })?;
        (!variants.plain.is_empty() && !variants.keys.is_empty()).then_some(variants)
    }

    fn collect(&mut self, arena: &'a Arena, id: NodeId, steps: &mut usize) -> Option<()> {
        *steps = steps.checked_sub(1)?;
        match arena.node(id) {
            Node::Typed(typed) if typed.types == Types::STRING => {
                self.plain.extend(typed.string.literals.as_deref()?.iter().map(|name| &**name));
                Some(())
            }
            Node::Typed(typed) if typed.types == Types::OBJECT => {
                self.keys.push(only_key(typed)?);
                Some(())
            }
            Node::Typed(typed) if typed.types == Types::NULL => Some(()),
            Node::ByType(branches) => {
                branches.iter().flatten().try_for_each(|branch| self.collect(arena, *branch, steps))
            }
            Node::Union(union) => union.branches.iter().try_for_each(|branch| self.collect(arena, *branch, steps)),
            _ => None,
        }
    }

    /// Whether a value names one of them in the way it is to be named. What else is wrong with it is another matter.
    pub(super) fn name(&self, value: &Value) -> bool {
        match value {
            Value::String(name) => self.plain.iter().any(|plain| plain == name),
            Value::Object(map) => self.keys.iter().any(|key| map.contains_key(*key)),
            _ => true,
        }
    }

    /// Which of them a value names in the wrong form, if it is that.
    pub(super) fn slip(&self, value: &Value) -> Option<Slip<'a>> {
        match value {
            Value::String(name) => self.keys.iter().find(|key| *key == name).map(|key| Slip::LacksContent(key)),
            Value::Object(map) if map.len() == 1 => {
                self.plain.iter().find(|plain| map.contains_key(**plain)).map(|plain| Slip::HasContent(plain))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use crate::schema::{DecodeOptions, Schema};

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code, reason = "only read")]
    enum Step {
        Wait,
        /// Told apart by its words.
        Stop,
        Move(u8),
        Turn {
            degrees: i16,
        },
    }

    fn said(text: &str) -> String {
        let of = |schema: Schema, text: &str| {
            let issues = schema.decode::<serde_json::Value>(text, &DecodeOptions::default()).unwrap_err();
            let said: Vec<_> = issues.into_vec().into_iter().map(|i| format!("{}: {}", i.pointer, i.message)).collect();
            said.join("; ")
        };
        let nullable = of(Schema::of::<Option<Step>>().unwrap(), text);
        assert_eq!(nullable.replace(" or null", ""), of(Schema::of::<Step>().unwrap(), text));
        nullable
    }

    #[test]
    fn all_variants_are_named_to_who_names_none() {
        let all = r#"must be one of "wait", "stop", or an object with exactly one key, one of "move", "turn""#;
        assert_eq!(said(r#""wiat""#), format!(r#": {all}, not "wiat""#));
        assert_eq!(said("{}"), format!(": {all}, not an object with 0 keys"));
        assert_eq!(said(r#"{"mvoe":1}"#), format!(": {all}, not an object with 1 key"));
        assert_eq!(said(r#"{"wait":1,"stop":2}"#), format!(": {all}, not an object with 2 keys"));
    }

    #[test]
    fn a_variant_in_the_form_of_another_is_told_so() {
        assert_eq!(said(r#""turn""#), r#": "turn" needs a value: send an object with "turn" as its one key"#);
        assert_eq!(said(r#"{"stop":null}"#), r#": "stop" takes no value: send the string "stop" alone"#);
    }

    #[test]
    fn what_is_wrong_within_a_variant_is_told_there() {
        assert_eq!(said(r#"{"move":300}"#), "/move: must be at most 255, and is 300");
        assert_eq!(said(r#"{"turn":{}}"#), r#"/turn: the key "degrees" (an integer) is missing and must be given"#);
        assert_eq!(said("7"), ": must be a string or an object or null, not a number");
    }
}
