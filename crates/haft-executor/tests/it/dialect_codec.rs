//! Dialects that change the shape of values, and the codecs that change them back.
//!
//! `strict.rs` is a whole dialect, as an application would write it with the public API. Over generated schemas and
//! values, whatever it encodes is valid for the schema it rendered, and decodes to the original.

mod form;
mod generated;
mod strict;

use std::borrow::Cow;

use generated::{GeneratedType, typed_value};
use haft_core::{Dialect, Loss, LossKind, RenderFault, Rendered, ToolCall};
use haft_executor::{Tool, Toolkit};
use haft_schema::{Codec, CodecError, DuplicateKeys, Limits, Reshape, ReshapeId, ReshapeMember, Schema, Transcode};
use proptest::prelude::*;
use serde_json::{Value, json};
use strict::StrictDialect;

fn rendered(schema: Value) -> Rendered {
    StrictDialect.render(&Schema::json(schema).unwrap()).unwrap()
}

/// Returns a codec with one node that was set up by `edit`.
fn codec(edit: impl FnOnce(&mut Reshape, ReshapeId)) -> Codec {
    let mut reshape = Reshape::new();
    let root = reshape.add();
    edit(&mut reshape, root);
    reshape.finish(root)
}

fn shape_error(result: Result<Cow<'_, str>, CodecError>) -> (String, String) {
    match result.unwrap_err() {
        CodecError::Shape { pointer, message } => (pointer, message),
        other => panic!("{other}"),
    }
}

// The worked dialect.

#[test]
fn a_dialect_lists_its_losses_with_pointers_and_causes() {
    let rendered = rendered(json!({
        "type": "object",
        "properties": {
            "zip": {"type": "string", "pattern": "^[0-9]+$"},
            "note": {"type": ["string", "null"]},
            "more": {"type": "object", "properties": {"a": {"type": "boolean"}}},
        },
        "required": ["zip", "more"],
        "additionalProperties": false,
    }));
    assert_eq!(
        rendered.losses,
        [
            Loss::new("/properties/zip/pattern", LossKind::Keyword, "patterns are not supported"),
            Loss::new("/properties/note", LossKind::Ambiguity, "an absent value and `null` are sent alike"),
            Loss::new("/properties/more", LossKind::OpenObject, "further keys can't be sent"),
        ]
    );
    assert_eq!(
        rendered.json,
        json!({
            "type": "object",
            "properties": {
                "zip": {"type": "string"},
                "note": {"type": ["string", "null"]},
                "more": {
                    "type": "object",
                    "properties": {"a": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}},
                    "required": ["a"],
                    "additionalProperties": false,
                },
            },
            "required": ["zip", "note", "more"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn a_schema_that_a_dialect_cannot_render_is_a_fault_with_a_remedy() {
    let schema = Schema::json(json!({"type": "array", "items": {"not": {"type": "string"}}})).unwrap();
    let fault = StrictDialect.render(&schema).unwrap_err();
    assert_eq!(fault, RenderFault::new("/items", "the schema has no `type`", "state the type of the value"));
    assert_eq!(
        fault.to_string(),
        "the schema can't be rendered: /items: the schema has no `type`; state the type of the value"
    );
    assert_eq!(RenderFault::new("", "a", "b").to_string(), "the schema can't be rendered: a; b");
}

#[tokio::test]
async fn decoded_arguments_are_checked_by_the_tools_own_schema() {
    #[derive(serde::Deserialize)]
    struct Forecast {
        city: String,
        days: Option<u128>,
    }
    let tool = Tool::new("forecast")
        .params_json(json!({
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
            "additionalProperties": false
        }))
        .handler(|forecast: Forecast, _| async move { format!("{} {:?}", forecast.city, forecast.days) })
        .unwrap();
    let codec = tool.json_schema_for(&StrictDialect).unwrap().codec;
    let kit: Toolkit = Toolkit::from_iter([tool]);
    let run = async |sent: &str| {
        let arguments = codec.decode(sent).unwrap().into_owned();
        let result = kit.run_call(&ToolCall::new("c", "forecast", arguments)).await;
        result.to_call_output().output.to_string()
    };
    assert_eq!(run(r#"{"city":"Oslo","days":null}"#).await, "Oslo None");
    let exact = r#"{"city":"Oslo","days":18446744073709551617}"#;
    assert_eq!(run(exact).await, "Oslo Some(18446744073709551617)");
    assert!(run(r#"{"city":7,"days":null,"x":1}"#).await.contains("/city"));
}

// Changes of shape.

#[test]
fn a_codec_that_changes_nothing_is_the_identity_and_borrows() {
    let unchanged = codec(|reshape, root| {
        let items = reshape.add();
        reshape.items(root, items);
        reshape.other_members(items, root);
        reshape.member(root, ReshapeMember::new("a").reshaped(items));
    });
    assert!(unchanged.is_identity() && Codec::default().is_identity());
    assert!(matches!(unchanged.decode("not JSON").unwrap(), Cow::Borrowed("not JSON")));
    assert!(matches!(unchanged.encode("[[[").unwrap(), Cow::Borrowed("[[[")));
    assert_eq!(format!("{unchanged:?}"), "Codec::identity");
    assert_eq!(size_of::<Codec>(), 2 * size_of::<usize>());
}

#[test]
fn strings_and_numbers_keep_their_notation() {
    let wrapped = codec(|reshape, root| reshape.send_wrapped(root, "v"));
    for text in ["340282366920938463463374607431768211457", "1.50e+3", r#""\u00e9\/\ud83d\ude00""#, "-0", "[1, 2]"] {
        assert_eq!(wrapped.decode(&wrapped.encode(text).unwrap()).unwrap(), text);
    }
    assert_eq!(wrapped.encode(" 1.0 ").unwrap(), r#"{"v":1.0}"#);
}

#[test]
fn blank_arguments_are_the_empty_object() {
    let nullable = codec(|reshape, root| reshape.member(root, ReshapeMember::new("a").absent_as_null()));
    assert_eq!(nullable.encode(" ").unwrap(), r#"{"a":null}"#);
    assert!(matches!(nullable.decode(" ").unwrap(), Cow::Borrowed(" ")));
}

#[test]
fn a_value_of_another_shape_is_left_to_the_schema() {
    let wrapped = codec(|reshape, root| reshape.send_wrapped(root, "v"));
    for text in ["5", "[]", "{}", r#"{"w":1}"#, r#"{"v":1,"w":2}"#, "null"] {
        assert_eq!(wrapped.decode(text).unwrap(), text, "{text}");
    }
    let pairs = codec(Reshape::send_as_pairs);
    for text in ["5", r#"{"a":1}"#, "null"] {
        assert_eq!(pairs.decode(text).unwrap(), text, "{text}");
    }
    for text in ["5", "[1]", "null"] {
        assert_eq!(pairs.encode(text).unwrap(), text, "{text}");
    }
}

#[test]
fn malformed_pairs_are_errors_with_a_pointer() {
    let pairs = codec(Reshape::send_as_pairs);
    for (sent, pointer) in [
        ("[1]", "/0"),
        (r#"[{"key":"a","value":1},{"key":"b"}]"#, "/1"),
        (r#"[{"key":1,"value":1}]"#, "/0"),
        (r#"[{"key":"a","value":1,"x":2}]"#, "/0"),
    ] {
        let (at, message) = shape_error(pairs.decode(sent));
        assert_eq!(
            (at.as_str(), message.as_str()),
            (pointer, r#"must be a pair {"key": <string>, "value": <any value>}"#)
        );
    }
    let (at, message) = shape_error(pairs.decode(r#"[{"key":"a","value":1},{"key":"\u0061","value":2}]"#));
    assert_eq!((at.as_str(), message.as_str()), ("/1/key", r#"the key "a" occurs twice; send it once"#));
}

#[test]
fn renamed_members_never_collide() {
    let renamed = codec(|reshape, root| {
        reshape.member(root, ReshapeMember::new("a/b").sent_as("a_b"));
        reshape.member(root, ReshapeMember::new("c"));
    });
    assert_eq!(renamed.encode(r#"{"c":1,"a/b":2,"d":3}"#).unwrap(), r#"{"c":1,"a_b":2,"d":3}"#);
    assert_eq!(renamed.decode(r#"{"c":1,"\u0061_b":2,"d":3}"#).unwrap(), r#"{"c":1,"a/b":2,"d":3}"#);
    assert_eq!(renamed.decode(r#"{"a/b":2}"#).unwrap(), r#"{"a/b":2}"#, "the model may use the tool's own name");
    let (pointer, message) = shape_error(renamed.decode(r#"{"a/b":1,"a_b":2}"#));
    assert_eq!(
        (pointer.as_str(), message.as_str()),
        ("/a~1b", r#"the key "a_b" stands for the key "a/b"; send only that one"#)
    );
    assert_eq!(shape_error(renamed.encode(r#"{"a_b":1}"#)).0, "/a_b");
}

/// The model may write a member by the tool's own name, but then it is still that member.
#[test]
fn a_member_under_its_own_name_is_changed_as_that_member() {
    let codec = codec(|reshape, root| {
        let (pairs, wrapped) = (reshape.add(), reshape.add());
        reshape.send_as_pairs(pairs);
        reshape.send_wrapped(wrapped, "v");
        reshape.member(root, ReshapeMember::new("tags").sent_as("tag_list").absent_as_null().reshaped(pairs));
        reshape.other_members(root, wrapped);
    });
    let decoded = codec.decode(r#"{"tags":[{"key":"a","value":1}],"other":{"v":2}}"#).unwrap();
    assert_eq!(decoded, r#"{"tags":{"a":1},"other":2}"#);
    assert_eq!(codec.decode(r#"{"tags":{"v":{}}}"#).unwrap(), r#"{"tags":{"v":{}}}"#);
    assert_eq!(codec.decode(r#"{"tags":null}"#).unwrap(), "{}");
}

#[test]
fn two_members_may_swap_their_names() {
    let swapped = codec(|reshape, root| {
        reshape.member(root, ReshapeMember::new("a").sent_as("b"));
        reshape.member(root, ReshapeMember::new("b").sent_as("a"));
    });
    assert_eq!(swapped.encode(r#"{"a":1,"b":2}"#).unwrap(), r#"{"b":1,"a":2}"#);
    assert_eq!(swapped.decode(r#"{"b":1,"a":2}"#).unwrap(), r#"{"a":1,"b":2}"#);
}

#[test]
fn a_later_change_of_a_member_replaces_the_earlier_one() {
    let codec = codec(|reshape, root| {
        reshape.member(root, ReshapeMember::new("a").sent_as("x").absent_as_null());
        reshape.member(root, ReshapeMember::new("a").sent_as("y"));
    });
    assert_eq!(codec.decode(r#"{"x":1,"y":null}"#).unwrap(), r#"{"x":1,"a":null}"#);
}

#[test]
fn nodes_of_recursive_values_refer_to_themselves() {
    let tree = codec(|reshape, root| {
        let children = reshape.add();
        reshape.items(children, root);
        reshape.member(root, ReshapeMember::new("children").absent_as_null().reshaped(children));
    });
    let sent = r#"{"n":1,"children":[{"n":2,"children":null},{"n":3,"children":[]}]}"#;
    let original = r#"{"n":1,"children":[{"n":2},{"n":3,"children":[]}]}"#;
    assert_eq!((tree.decode(sent).unwrap().as_ref(), tree.encode(original).unwrap().as_ref()), (original, sent));
}

// Hostile text.

#[test]
fn text_that_is_not_unambiguous_json_is_an_error() {
    let nullable = codec(|reshape, root| reshape.member(root, ReshapeMember::new("a").absent_as_null()));
    let deep = "[".repeat(100_000);
    for (text, problem) in [
        ("{\"a\":", "not valid JSON"),
        ("{} {}", "not valid JSON"),
        ("nul", "not valid JSON"),
        (r#"{"a":null,"a":1}"#, "occurs twice"),
        (r#"{"b":{"x":1,"x":1}}"#, "occurs twice"),
        (r#"{"__proto__":{}}"#, "not allowed in any object"),
        (deep.as_str(), "nests deeper than 256 levels"),
        ("1e999", "beyond the range"),
    ] {
        for converted in [nullable.decode(text), nullable.encode(text)] {
            let error = converted.unwrap_err();
            assert!(matches!(error, CodecError::Text(_)), "{error}");
            assert!(error.to_string().contains(problem), "{problem}: {error}");
        }
    }
}

/// Escapes that no string can hold, integers of any size, and the deepest text that is read.
#[test]
fn hostile_text_is_converted_exactly_or_rejected() {
    let tree = codec(|reshape, root| {
        reshape.send_as_pairs(root);
        reshape.other_members(root, root);
    });
    for lone in [r"\ud800", r"\udc00", r"\ud800\u0041", r"\udbff\udbff"] {
        for text in [format!(r#"{{"{lone}":1,"":2}}"#), format!(r#"{{"a":"{lone}"}}"#), format!(r#"["{lone}"]"#)] {
            let error = tree.encode(&text).unwrap_err();
            assert!(matches!(error, CodecError::Text(_)), "{text}: {error}");
        }
    }
    for exact in ["9".repeat(300), format!("-0.{}1", "0".repeat(10_000)), r#""\ud83d\ude00\u0000\/""#.to_owned()] {
        let text = format!(r#"{{"\u0061":{exact}}}"#);
        let sent = tree.encode(&text).unwrap();
        assert_eq!(sent, format!(r#"[{{"key":"\u0061","value":{exact}}}]"#));
        assert_eq!(tree.decode(&sent).unwrap(), text);
    }
    let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
    let sent = tree.encode(&deep).unwrap().into_owned();
    assert!(matches!(tree.decode(&sent).unwrap_err(), CodecError::Text(_)), "400 levels");
    let wide = format!("{{{}}}", (0..20_000).map(|at| format!(r#""k{at}":{{}}"#)).collect::<Vec<_>>().join(","));
    let sent = tree.encode(&wide).unwrap().into_owned();
    let decoded = tree.decode(&sent).unwrap();
    assert_eq!(decoded, wide);
}

#[test]
fn the_length_of_text_is_limited_on_both_sides() {
    let mut reshape = Reshape::new().limits(Limits::default().max_bytes(100).duplicate_keys(DuplicateKeys::LastWins));
    let (root, item) = (reshape.add(), reshape.add());
    reshape.items(root, item);
    reshape.member(item, ReshapeMember::new("a".repeat(50)).absent_as_null());
    let codec = reshape.finish(root);
    assert!(codec.encode("[{}]").unwrap().len() < 100);
    assert_eq!(codec.encode("[{},{},{},{},{},{},{},{},{},{}]").unwrap_err(), CodecError::TooLong(400));
    assert!(codec.encode(&" ".repeat(200)).is_ok(), "blank text is the empty object");
    assert!(codec.decode(&format!("[\"{}\"]", "x".repeat(100))).unwrap_err().to_string().contains("at most 100"));
    assert!(codec.decode(r#"{"a":1,"a":2}"#).is_err(), "duplicate keys are never accepted");
}

#[test]
fn a_conversion_of_the_applications_own_is_used_by_clones() {
    #[derive(Debug)]
    struct Upper;
    impl Transcode for Upper {
        fn decode<'t>(&self, arguments: &'t str) -> Result<Cow<'t, str>, CodecError> {
            Ok(arguments.to_lowercase().into())
        }
        fn encode<'t>(&self, arguments: &'t str) -> Result<Cow<'t, str>, CodecError> {
            if arguments.is_empty() {
                return Err(CodecError::Shape { pointer: "/x".into(), message: "is empty".into() });
            }
            Ok(arguments.to_uppercase().into())
        }
    }
    fn shared<T: Clone + Send + Sync + std::fmt::Debug>(value: &T) -> T {
        value.clone()
    }
    let codec = shared(&Codec::new(Upper));
    assert_eq!(codec.decode(&codec.encode("abc").unwrap()).unwrap(), "abc");
    assert_eq!(codec.encode("").unwrap_err().to_string(), "the arguments can't be converted: /x: is empty");
    assert_eq!(format!("{codec:?}"), "Codec(Upper)");
}

// Properties.

proptest! {
    #[test]
    fn what_is_encoded_is_valid_for_the_rendered_schema_and_decodes_to_the_original((ty, value) in typed_value()) {
        let schema = Schema::json(ty.schema()).unwrap();
        schema.check(&value).unwrap();
        let Rendered { json, losses, codec, .. } = StrictDialect.render(&schema).unwrap();
        let sent = codec.encode(&value.to_string()).unwrap().into_owned();
        let sent_value: Value = serde_json::from_str(&sent).unwrap();
        let rendered_schema = Schema::json(json.clone()).unwrap();
        prop_assert!(rendered_schema.check(&sent_value).is_ok(), "{} for {}", sent, json);
        let decoded: Value = serde_json::from_str(&codec.decode(&sent).unwrap()).unwrap();
        let is_ambiguous = losses.iter().any(|loss| loss.kind == LossKind::Ambiguity);
        prop_assert_eq!(is_ambiguous, ty.is_ambiguous());
        prop_assert_eq!(decoded, ty.without_ambiguous_nulls(&value));
        for loss in &losses {
            prop_assert!(schema.as_json().pointer(&loss.pointer).is_some(), "{}", loss.pointer);
        }
    }

    #[test]
    fn any_text_is_converted_or_rejected(ty in GeneratedType::any(), text in ".{0,40}") {
        let codec = rendered(ty.schema()).codec;
        for converted in [codec.decode(&text), codec.encode(&text)].into_iter().flatten() {
            let is_json = serde_json::from_str::<Value>(&converted).is_ok();
            prop_assert!(is_json || converted == text, "{} became {}", text, converted);
        }
    }

    /// A value of one type, sent to a tool of another.
    #[test]
    fn any_json_is_converted_or_rejected(ty in GeneratedType::any(), (other, value) in typed_value()) {
        let codec = rendered(ty.schema()).codec;
        let sent = rendered(other.schema()).codec.encode(&value.to_string()).unwrap().into_owned();
        for converted in [codec.decode(&sent), codec.encode(&sent)].into_iter().flatten() {
            prop_assert!(serde_json::from_str::<Value>(&converted).is_ok(), "{} became {}", sent, converted);
        }
    }
}
