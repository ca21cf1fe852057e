//! Writing results: values that a schema forbids, or that JSON can't represent, are not written.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::error::Error as _;

use haft_schema::{Issue, Issues, JsonText, Schema, Validation, Validator};
use proptest::prelude::*;
use schemars::{JsonSchema, json_schema};
use serde::ser::{Error, SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

#[derive(Debug, Default, Serialize, JsonSchema)]
struct Report {
    ratio: f64,
    maybe: Option<f32>,
    list: Vec<Option<f64>>,
    map: BTreeMap<String, f64>,
    nested: Option<Box<Report>>,
    shape: Option<Shape>,
    pair: (u8, f64),
}

#[derive(Debug, Serialize, JsonSchema)]
enum Shape {
    Point,
    Circle(f64),
    Line(f64, f64),
    Box { width: f64 },
}

fn write<T: Serialize + JsonSchema>(value: &T) -> Result<String, Issues> {
    Schema::of_output::<T>().unwrap().encode(value).map(|text| text.as_str().to_owned())
}

fn marks(issues: &Issues) -> Vec<(&str, &str)> {
    issues.as_slice().iter().map(|issue| (issue.pointer.as_str(), issue.keyword.as_str())).collect()
}

#[test]
fn a_value_without_a_json_form_is_an_issue_with_a_pointer() {
    let nested = |shape| Report {
        nested: Some(Box::new(Report { shape: Some(shape), ..Report::default() })),
        ..Report::default()
    };
    let table = [
        (Report { ratio: f64::NAN, ..Report::default() }, "/ratio"),
        (Report { ratio: f64::NEG_INFINITY, ..Report::default() }, "/ratio"),
        (Report { maybe: Some(f32::INFINITY), ..Report::default() }, "/maybe"),
        (Report { list: vec![None, Some(1.0), Some(f64::NAN)], ..Report::default() }, "/list/2"),
        (Report { map: [("a/b~".to_owned(), f64::INFINITY)].into(), ..Report::default() }, "/map/*"),
        (Report { pair: (1, f64::NAN), ..Report::default() }, "/pair/1"),
        (nested(Shape::Circle(f64::NAN)), "/nested/shape/Circle"),
        (nested(Shape::Line(0.0, f64::NAN)), "/nested/shape/Line/1"),
        (nested(Shape::Box { width: f64::NAN }), "/nested/shape/Box/width"),
    ];
    for (report, pointer) in table {
        let issues = write(&report).unwrap_err();
        assert_eq!(marks(&issues), [(pointer, "finite")], "{report:?}");
        assert!(issues.to_string().contains("return a finite number or null"), "{issues}");
    }
    assert_eq!(marks(&write(&f64::NAN).unwrap_err()), [("", "finite")]);
}

#[test]
fn it_is_an_issue_whatever_the_schema_is() {
    let schemas = [json!({}), json!({"type": "number"}), json!({"anyOf": [{"type": "number"}, {"type": "null"}]})];
    for json in schemas {
        let schema = Schema::json(json.clone()).unwrap();
        assert_eq!(marks(&schema.encode(&f64::NAN).unwrap_err()), [("", "finite")], "{json}");
        assert_eq!(marks(&schema.encode(&Some(f64::INFINITY)).unwrap_err()), [("", "finite")], "{json}");
    }
    assert_eq!(marks(&Schema::unknown().encode(&[[f64::NAN]]).unwrap_err()), [("/0/0", "finite")]);
}

#[test]
fn a_valid_result_is_written_as_serde_writes_it() {
    let report = Report {
        ratio: -0.5,
        maybe: Some(0.1),
        list: vec![None, Some(1e300)],
        map: [("k".to_owned(), 2.0)].into(),
        nested: Some(Box::default()),
        shape: Some(Shape::Point),
        pair: (7, 1.0),
    };
    assert_eq!(write(&report).unwrap(), serde_json::to_string(&report).unwrap());
    for shape in [Shape::Point, Shape::Circle(1.0), Shape::Line(0.0, 1.0), Shape::Box { width: 2.0 }] {
        assert_eq!(write(&shape).unwrap(), serde_json::to_string(&shape).unwrap());
    }
    assert_eq!(write(&"a\"\u{7}🦀").unwrap(), r#""a\"\u0007🦀""#);
    assert_eq!(write(&()).unwrap(), "null");
    assert_eq!(write(&'ß').unwrap(), "\"ß\"");
    assert_eq!(write(&(i128::MIN, u128::MAX)).unwrap(), format!("[{},{}]", i128::MIN, u128::MAX));
    assert_eq!(write(&BTreeMap::from([(-1_i8, true)])).unwrap(), r#"{"-1":true}"#);
}

#[test]
fn a_rule_that_the_result_breaks_is_an_issue() {
    #[derive(Debug, Serialize, JsonSchema)]
    struct Bounded {
        #[schemars(range(max = 10))]
        number: u8,
        #[schemars(length(min = 2))]
        text: String,
        #[schemars(length(max = 1))]
        list: Vec<u8>,
        #[schemars(regex(pattern = "^a"))]
        word: Option<String>,
        #[schemars(extend("maxProperties" = 1))]
        map: BTreeMap<u8, u8>,
    }
    let good = Bounded { number: 10, text: "ab".into(), list: vec![1], word: None, map: BTreeMap::new() };
    assert_eq!(write(&good).unwrap(), serde_json::to_string(&good).unwrap());
    let bad = Bounded {
        number: 11,
        text: "ß".into(),
        list: vec![1, 2],
        word: Some("b".into()),
        map: [(1, 1), (2, 2)].into(),
    };
    let issues = write(&bad).unwrap_err();
    let expected = [
        ("/number", "maximum"),
        ("/text", "minLength"),
        ("/list", "maxItems"),
        ("/word", "pattern"),
        ("/map", "maxProperties"),
    ];
    assert_eq!(marks(&issues), expected);
}

/// A type that claims to be an integer and serializes as any value.
#[derive(Debug)]
struct Liar(Value);

impl JsonSchema for Liar {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Liar".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({"type": "integer"})
    }
}

impl Serialize for Liar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[test]
fn a_custom_serializer_must_follow_its_schema() {
    assert_eq!(write(&Liar(json!(3))).unwrap(), "3");
    for lie in [json!("3"), json!(3.5), json!(null), json!([3]), json!({"a": 3}), json!(true)] {
        assert_eq!(marks(&write(&Liar(lie.clone())).unwrap_err()), [("", "type")], "{lie}");
        assert_eq!(marks(&write(&vec![Liar(json!(1)), Liar(lie)]).unwrap_err()), [("/1", "type")]);
    }
}

#[test]
fn a_serializer_that_fails_is_an_issue_and_its_message_is_for_the_operator() {
    struct Broken;
    impl Serialize for Broken {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(S::Error::custom("the disk is gone"))
        }
    }
    let issues = Schema::unknown().encode(&Broken).unwrap_err();
    assert_eq!(marks(&issues), [("", "encode")]);
    assert!(!issues.to_string().contains("the disk is gone"), "{issues}");
    assert_eq!(issues.source().unwrap().to_string(), "the disk is gone");
    let issues = Schema::unknown().encode(&BTreeMap::from([((1, 2), 3)])).unwrap_err();
    assert_eq!(marks(&issues), [("", "encode")]);
}

#[test]
fn a_tree_must_match_a_raw_schema() {
    let schema = Schema::json(json!({
        "type": "object",
        "properties": {"id": {"type": "integer"}, "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}},
        "required": ["id"],
        "additionalProperties": false,
        "if": {"properties": {"id": {"const": 1}}},
        "then": {"required": ["tags"]}
    }))
    .unwrap();
    let good = json!({"tags": ["a", "b"], "id": 1});
    assert_eq!(schema.encode(&good).unwrap().as_str(), r#"{"tags":["a","b"],"id":1}"#);
    assert!(schema.encode(&json!({"id": 2})).is_ok());
    let issues = schema.encode(&json!({"tags": ["a", 1, "a"], "id": "x", "more": 0})).unwrap_err();
    let pointers: Vec<&str> = issues.as_slice().iter().map(|issue| issue.pointer.as_str()).collect();
    for pointer in ["/tags", "/tags/1", "/id"] {
        assert!(pointers.contains(&pointer), "{pointer} is not in {pointers:?}");
    }
    assert_eq!(marks(&schema.encode(&json!({"id": 1})).unwrap_err()), [("", "required")]);
}

#[test]
fn json_that_is_text_already_is_checked_like_any() {
    let text = |json: &str| JsonText::parse(json).unwrap();
    let object = Schema::json(json!({"type": "object"})).unwrap();
    assert_eq!(object.encode(&text(r#"{"a":1}"#)).unwrap().as_str(), r#"{"a":1}"#);
    assert_eq!(marks(&object.encode(&text("[1]")).unwrap_err()), [("", "type")]);
    let small = Schema::json(json!({"properties": {"n": {"maximum": 3}}})).unwrap();
    assert!(small.encode(&BTreeMap::from([("n", text("3"))])).is_ok());
    assert_eq!(marks(&small.encode(&BTreeMap::from([("n", text("4"))])).unwrap_err()), [("/n", "maximum")]);
}

#[test]
fn the_constant_schemas_accept_all_or_nothing() {
    for (schema, takes) in [
        (Schema::unit(), [true, false, false]),
        (Schema::unknown(), [true, true, true]),
        (Schema::empty(), [false, true, false]),
        (Schema::never(), [false, false, false]),
    ] {
        let written = [json!(null), json!({}), json!({"a": 1})].map(|value| schema.encode(&value).is_ok());
        assert_eq!(written, takes, "{schema:?}");
    }
    assert_eq!(Schema::unit().encode(&()).unwrap().as_str(), "null");
}

#[test]
fn a_result_has_the_shape_it_is_written_in_not_the_one_it_is_read_from() {
    #[derive(Debug, Serialize, serde::Deserialize, JsonSchema)]
    struct Both {
        #[serde(rename(serialize = "out", deserialize = "in"))]
        field: u8,
        #[serde(default)]
        always: u8,
        #[serde(skip_serializing)]
        input_only: u8,
    }
    let value: Both = serde_json::from_value(json!({"in": 1, "input_only": 2})).unwrap();
    assert_eq!(value.input_only, 2);
    assert_eq!(write(&value).unwrap(), r#"{"out":1,"always":0}"#);
    let output = Schema::of_output::<Both>().unwrap();
    assert_eq!(output.as_json()["required"], json!(["out", "always"]));
    assert!(output.check(&json!({"in": 1, "input_only": 2})).is_err());
}

/// Asserts that a value is written as `serde_json` writes it, or rejected as there.
fn as_serde<T: Serialize>(value: &T) {
    let ours = Schema::unknown().encode(value);
    match serde_json::to_string(value) {
        Ok(text) => assert_eq!(ours.unwrap().as_str(), text),
        Err(error) => {
            let issues = ours.unwrap_err();
            assert_eq!(marks(&issues), [("", "encode")]);
            assert_eq!(issues.source().unwrap().to_string(), error.to_string());
        }
    }
}

#[test]
fn every_value_with_a_json_form_is_written_as_serde_writes_it() {
    #[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
    enum Key {
        #[serde(rename = "a \"quoted\"\n key")]
        Odd,
        Content(u8),
    }
    #[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
    struct Wrapped<T>(T);
    #[derive(Serialize)]
    struct Nothing;
    #[derive(Serialize)]
    enum Every {
        Unit,
        New(Vec<Every>),
        Tuple((), Nothing),
        Struct {
            #[serde(rename = "\t\"")]
            odd: Option<Box<Every>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            skipped: Option<u8>,
        },
        Empty(),
        Hollow {},
    }
    struct Bytes(&'static [u8]);
    impl Serialize for Bytes {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(self.0)
        }
    }
    struct Shown;
    impl Serialize for Shown {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_str(&format_args!("{}\n{}", 1, '"'))
        }
    }

    as_serde(&BTreeMap::from([(1_u8, 1), (255, 2)]));
    as_serde(&BTreeMap::from([(i128::MIN, "low"), (i128::MAX, "high")]));
    as_serde(&BTreeMap::from([(true, None::<u8>), (false, None)]));
    as_serde(&BTreeMap::from([('"', 1.5_f32), ('ß', -0.0), ('\u{1}', 1e30)]));
    as_serde(&BTreeMap::from([(Wrapped(7_i8), Some(1)), (Wrapped(8), None)]));
    as_serde(&BTreeMap::from([(Some("some"), 1)]));
    as_serde(&BTreeMap::from([(Key::Odd, 1)]));
    as_serde(&BTreeMap::from([("\u{7f}\u{1f}/\\", "\u{8}\u{c}\r")]));
    as_serde(&BTreeMap::from([(1, BTreeMap::from([("x", [BTreeMap::<u8, u8>::new()])]))]));
    // Keys that JSON has no form for.
    as_serde(&BTreeMap::from([(Key::Content(1), 1)]));
    as_serde(&BTreeMap::from([((1, 2), 1)]));
    as_serde(&BTreeMap::from([(None::<u8>, 1)]));
    as_serde(&BTreeMap::from([(1, BTreeMap::from([((), 1)]))]));

    let nested = Every::Struct { odd: Some(Box::new(Every::Tuple((), Nothing))), skipped: None };
    let full = Every::Struct { odd: None, skipped: Some(1) };
    as_serde(&[Every::New(vec![Every::Unit, nested, full, Every::Empty(), Every::Hollow {}]), Every::New(vec![])]);
    as_serde(&(Bytes(b"\0\xff"), Shown, Wrapped("in"), Nothing, (), None::<u8>, Some(Some(1))));
    as_serde(&(u64::MAX, i64::MIN, f64::MAX, f64::MIN_POSITIVE, -0.0_f64, 1e21, 0.1_f32, f32::MAX, u128::MAX));

    let raw = |json: &str| serde_json::value::RawValue::from_string(json.to_owned()).unwrap();
    as_serde(&BTreeMap::from([("raw", raw(r#"{ "kept" :  [1,2] }"#)), ("text", raw("\"\""))]));
    as_serde(&[Some(raw("1.50")), None]);
    as_serde(&Every::New(vec![]));
    as_serde(&serde_json::Number::from_f64(1e300));
}

#[test]
fn a_name_that_must_be_escaped_is_written_so_under_every_rule() {
    #[derive(Serialize, JsonSchema)]
    struct Odd {
        #[serde(rename = "a \"b\"\n\u{1}ß")]
        odd: u8,
        plain: u8,
    }
    let odd = Odd { odd: 1, plain: 2 };
    assert_eq!(write(&odd).unwrap(), serde_json::to_string(&odd).unwrap());
    let tree = json!({"plain": 1, "a \"b\"\n\u{1}ß": 2, "\"more\"": 3});
    let schema = Schema::json(json!({"properties": {"a \"b\"\n\u{1}ß": {}, "plain": {"type": "integer"}}})).unwrap();
    assert_eq!(schema.encode(&tree).unwrap().as_str(), tree.to_string());
}

/// A type with an arbitrary `Serialize`.
struct Unruly<F>(F);

macro_rules! unruly {
    (|$serializer:ident| $body:expr) => {{
        struct Odd;
        impl Serialize for Odd {
            fn serialize<S: Serializer>(&self, $serializer: S) -> Result<S::Ok, S::Error> {
                $body
            }
        }
        Unruly(Odd)
    }};
}

impl<T: Serialize> Unruly<T> {
    /// Returns whether it is rejected under every schema, alone and within others.
    fn is_refused(&self) -> bool {
        let closed = json!({"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": false});
        [json!({}), closed, json!({"anyOf": [{"type": "object"}, {"type": "null"}, {"type": "array"}]})]
            .into_iter()
            .all(|json| {
                let inside = Schema::json(json!({"items": json, "additionalProperties": json})).unwrap();
                let alone = Schema::json(json).unwrap();
                let refused = [
                    alone.encode(&self.0).is_err(),
                    inside.encode(&[&self.0]).is_err(),
                    inside.encode(&BTreeMap::from([("k", &self.0)])).is_err(),
                ];
                refused == [true; 3]
            })
    }
}

#[test]
fn a_serializer_that_breaks_the_rules_of_serde_is_rejected_and_never_half_written() {
    struct Fails;
    impl Serialize for Fails {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(S::Error::custom("of its own"))
        }
    }
    assert!(
        unruly!(|s| {
            let mut map = s.serialize_map(None)?;
            map.serialize_key("a")?;
            map.end()
        })
        .is_refused()
    );
    assert!(
        unruly!(|s| {
            let mut map = s.serialize_map(None)?;
            map.serialize_value(&1)?;
            map.end()
        })
        .is_refused()
    );
    assert!(
        unruly!(|s| {
            let mut map = s.serialize_map(None)?;
            map.serialize_key("a")?;
            map.serialize_key("b")?;
            map.serialize_value(&1)?;
            map.end()
        })
        .is_refused()
    );
    assert!(
        unruly!(|s| {
            let mut list = s.serialize_seq(None)?;
            let _ = list.serialize_element(&f64::NAN);
            list.serialize_element(&2)?;
            list.end()
        })
        .is_refused()
    );
    assert!(
        unruly!(|s| {
            let mut object = s.serialize_struct("Odd", 2)?;
            let _ = object.serialize_field("a", &f64::INFINITY);
            object.end()
        })
        .is_refused()
    );
    assert!(
        unruly!(|s| {
            let mut object = s.serialize_map(None)?;
            let _ = object.serialize_key(&[1]);
            object.end()
        })
        .is_refused()
    );
    assert!(
        unruly!(|s| {
            let mut list = s.serialize_seq(None)?;
            let _ = list.serialize_element(&Fails);
            list.serialize_element(&2)?;
            list.end()
        })
        .is_refused()
    );
    assert!(
        unruly!(|s| {
            let mut object = s.serialize_struct("Odd", 2)?;
            let _ = object.serialize_field("a", &Fails);
            object.end()
        })
        .is_refused()
    );
}

#[test]
fn a_rejected_key_is_not_written() {
    let closed = Schema::json(json!({"properties": {"a": {}}, "additionalProperties": false})).unwrap();
    let more = unruly!(|s| {
        let mut object = s.serialize_struct("Odd", 2)?;
        object.serialize_field("a", &1)?;
        let _ = object.serialize_field("extra", &2);
        object.end()
    });
    assert_eq!(marks(&closed.encode(&more.0).unwrap_err()), [("/*", "additionalProperties")]);
    let twice = unruly!(|s| {
        let mut object = s.serialize_struct("Odd", 2)?;
        object.serialize_field("a", &1)?;
        let _ = object.serialize_field("a", &2);
        object.end()
    });
    assert_eq!(marks(&closed.encode(&twice.0).unwrap_err()), [("/a", "duplicateKey")]);
}

#[test]
fn only_private_types_of_serde_json_are_treated_as_such() {
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::Other")]
    struct Other {
        a: u8,
        b: u8,
    }
    #[derive(Serialize)]
    #[serde(rename = "$serde_json::private::Other")]
    struct Empty {}
    as_serde(&[Other { a: 1, b: 2 }]);
    as_serde(&[Empty {}, Empty {}]);
    assert!(unruly!(|s| s.serialize_struct("$serde_json::private::RawValue", 1)?.end()).is_refused());
}

#[test]
fn raw_json_is_one_string_under_its_own_name() {
    const RAW: &str = "$serde_json::private::RawValue";
    macro_rules! raw {
        ($($name:expr => $value:expr),*) => {
            unruly!(|s| {
                let mut raw = s.serialize_struct(RAW, 1)?;
                $(raw.serialize_field($name, $value)?;)*
                raw.end()
            })
        };
    }
    assert_eq!(Schema::unknown().encode(&raw!(RAW => "[1, 2]").0).unwrap().as_str(), "[1, 2]");
    assert!(raw!("json" => "1").is_refused());
    assert!(raw!(RAW => &1).is_refused());
    assert!(raw!(RAW => &["1"]).is_refused());
    assert!(raw!(RAW => &None::<&str>).is_refused());
    assert!(raw!(RAW => "1", RAW => "2").is_refused());
}

proptest! {
    #[test]
    fn any_tree_is_written_as_serde_writes_it(tree in tree()) {
        prop_assert_eq!(Schema::unknown().encode(&tree).unwrap().to_string(), tree.to_string());
        let object = Schema::json(json!({"properties": {"a": {}, "\"": {}}, "items": {"properties": {"b": {}}}})).unwrap();
        prop_assert_eq!(object.encode(&tree).unwrap().to_string(), tree.to_string());
    }
}

fn tree() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[ab\"\\\\\\n]{0,3}", any::<String>()];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("JSON has no such number", |n| n.is_finite().then(|| Value::from(n))),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A result that is written before it is checked is checked completely, however deep it is.
#[test]
fn a_deep_result_is_checked_to_the_bottom() {
    let schema = Schema::json(json!({"anyOf": [{"type": "array", "maxItems": 0}, {"type": "array", "minItems": 5}]}));
    let schema = schema.unwrap();
    for levels in [2, 150, 300] {
        let nested = (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert!(schema.encode(&nested).is_err(), "{levels} levels of one item each");
    }
    let custom = Validation::With(Validator::new(|value| match value {
        Value::Array(_) => Err(Issue::new("", "x", "no arrays").into()),
        _ => Ok(()),
    }));
    let schema = Schema::json_with(json!({}), custom).unwrap();
    assert!(schema.encode(&(0..300).fold(json!(1), |inner, _| json!([inner]))).is_err());
}

/// `serde_json` would read such an object as the JSON it contains; the check must see the text that is sent.
#[test]
fn a_result_is_checked_as_it_is_sent() {
    let schema = Schema::json(json!({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "null"}]})).unwrap();
    let mut disguised = serde_json::Map::new();
    disguised.insert("$serde_json::private::RawValue".to_owned(), json!("{\"a\":1}"));
    assert!(schema.encode(&Value::Object(disguised.clone())).is_err());
    let text = JsonText::parse(&json!(disguised).to_string()).unwrap();
    assert_eq!(text.to_value(), Value::Object(disguised));
    let stored: JsonText = serde_json::from_str(text.as_str()).unwrap();
    assert_eq!(stored.as_str(), text.as_str());
}
