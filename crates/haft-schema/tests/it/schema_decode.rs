//! Reading arguments: what is rejected, with which words, and what is accepted.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::error::Error as _;

use haft_schema::{DecodeOptions, DuplicateKeys, Issue, Issues, Limits, Schema, Validation, Validator};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Forecast {
    city: String,
    #[schemars(range(min = 1, max = 14))]
    days: u8,
    #[serde(default)]
    unit: Unit,
}

#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    #[default]
    Celsius,
    Kelvin,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
enum Shape {
    Point,
    Circle(f64),
    Line { from: (i32, i32), to: (i32, i32) },
}

/// One field per rule, none of them required.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
struct Rules {
    #[schemars(length(min = 2, max = 4))]
    text: String,
    #[schemars(regex(pattern = "^[a-z]+$"))]
    word: String,
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    share: f64,
    #[schemars(range(min = -5, max = 5))]
    small: i32,
    #[schemars(extend("multipleOf" = 5))]
    fives: u32,
    #[schemars(length(min = 1, max = 2))]
    list: Vec<u8>,
    set: std::collections::BTreeSet<u8>,
    pair: (u8, bool),
    #[schemars(extend("minProperties" = 1, "maxProperties" = 2))]
    map: BTreeMap<String, u8>,
    #[schemars(extend("enum" = [1, 2]))]
    listed: u8,
    #[schemars(extend("const" = 7))]
    fixed: u8,
    wide: i64,
    flag: bool,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Free {
    value: Value,
}

fn read<T: JsonSchema + DeserializeOwned>(text: &str) -> Result<T, Issues> {
    read_with(text, &DecodeOptions::default())
}

fn read_with<T: JsonSchema + DeserializeOwned>(text: &str, options: &DecodeOptions) -> Result<T, Issues> {
    Schema::of_params::<T>().unwrap().decode(text, options).map(|decoded| decoded.value)
}

/// Returns the issues of a rejection: pointer, keyword, sentence.
fn refusal<T: JsonSchema + DeserializeOwned + std::fmt::Debug>(text: &str) -> Vec<(String, String, String)> {
    let issues = read::<T>(text).expect_err(text);
    issues.into_vec().into_iter().map(|issue| (issue.pointer, issue.keyword, issue.message)).collect()
}

fn marks(issues: &Issues) -> Vec<(&str, &str)> {
    issues.as_slice().iter().map(|issue| (issue.pointer.as_str(), issue.keyword.as_str())).collect()
}

#[test]
fn every_rule_has_its_own_message() {
    let table = [
        (r#"{"text": "a"}"#, "/text", "minLength", "must have at least 2 characters, and has 1"),
        (r#"{"text": "äöüßé"}"#, "/text", "maxLength", "must have at most 4 characters, and has 5"),
        (r#"{"word": "No"}"#, "/word", "pattern", r#"must match the pattern ^[a-z]+$, and "No" does not"#),
        (r#"{"share": 0}"#, "/share", "exclusiveMinimum", "must be more than 0, and is 0"),
        (r#"{"share": 1.0}"#, "/share", "exclusiveMaximum", "must be less than 1, and is 1.0"),
        (r#"{"small": -6}"#, "/small", "minimum", "must be at least -5, and is -6"),
        (r#"{"small": 6}"#, "/small", "maximum", "must be at most 5, and is 6"),
        (r#"{"small": 1.5}"#, "/small", "type", "must be an integer, and is 1.5"),
        (r#"{"fives": 6}"#, "/fives", "multipleOf", "must be a multiple of 5, and is 6"),
        (r#"{"list": []}"#, "/list", "minItems", "must have at least 1 item, and is an array of 0"),
        (r#"{"list": [1, 2, 3]}"#, "/list", "maxItems", "must have at most 2 items, and is an array of 3"),
        (r#"{"set": [1, 2, 1]}"#, "/set", "uniqueItems", "must not contain the same item twice"),
        (r#"{"pair": [1]}"#, "/pair", "minItems", "must have at least 2 items, and is an array of 1"),
        (r#"{"pair": [1, 2]}"#, "/pair/1", "type", "must be a boolean, not a number"),
        (r#"{"map": {}}"#, "/map", "minProperties", "must have at least 1 key, and is an object with 0 keys"),
        (
            r#"{"map": {"a": 1, "b": 2, "c": 3}}"#,
            "/map",
            "maxProperties",
            "must have at most 2 keys, and is an object with 3 keys",
        ),
        (r#"{"map": {"a/b": "1"}}"#, "/map/a~1b", "type", "must be an integer, not a string"),
        (r#"{"listed": 3}"#, "/listed", "enum", "must be one of 1, 2, not 3"),
        (r#"{"fixed": 8}"#, "/fixed", "const", "must be 7, not 8"),
        (
            r#"{"wide": 9223372036854775808}"#,
            "/wide",
            "format",
            "must be an integer from -9223372036854775808 to 9223372036854775807, and is 9223372036854775808",
        ),
        (r#"{"flag": "true"}"#, "/flag", "type", "must be a boolean, not a string"),
        (r#"{"flag": null}"#, "/flag", "type", "must be a boolean, not null"),
    ];
    for (text, pointer, keyword, message) in table {
        let expected = vec![(pointer.to_owned(), keyword.to_owned(), message.to_owned())];
        assert_eq!(refusal::<Rules>(text), expected, "{text}");
    }
}

#[test]
fn an_issue_contains_the_expected_and_the_actual() {
    let issues = read::<Forecast>(r#"{"city": "Paris", "days": 30}"#).unwrap_err();
    let expected = Issue::new("/days", "maximum", "must be at most 14, and is 30").expected("at most 14").found("30");
    assert_eq!(issues.as_slice(), [expected]);
}

#[test]
fn all_problems_come_at_once_and_in_the_order_of_the_document() {
    let text = r#"{"word": "A", "list": [300, 1, "x"], "map": {"k": -1}, "text": 7, "flag": []}"#;
    let issues = read::<Rules>(text).unwrap_err();
    assert_eq!(
        marks(&issues),
        [
            ("/word", "pattern"),
            ("/list", "maxItems"),
            ("/list/0", "maximum"),
            ("/list/2", "type"),
            ("/map/k", "minimum"),
            ("/text", "type"),
            ("/flag", "type"),
        ]
    );
}

#[test]
fn problems_of_the_text_and_of_the_values_are_reported_together() {
    let issues = read::<Forecast>(r#"{"days": 3, "days": 30, "extra": {"__proto__": 1}}"#).unwrap_err();
    assert_eq!(
        marks(&issues),
        [
            ("/days", "duplicateKey"),
            ("/extra/__proto__", "forbiddenKey"),
            ("", "required"),
            ("/days", "maximum"),
            ("/extra", "additionalProperties"),
        ]
    );
}

#[test]
fn missing_and_extra_keys_are_named() {
    let refused = |text| refusal::<Forecast>(text).into_iter().map(|(.., message)| message).collect::<Vec<_>>();
    assert_eq!(refused(r#"{"city": "Paris"}"#), [r#"the key "days" (an integer) is missing and must be given"#]);
    assert_eq!(refused(r#"{"city": "Paris", "dayz": 1}"#)[1], r#"the key "dayz" is not allowed; did you mean "days"?"#);
    assert_eq!(
        refused(r#"{"city": "Paris", "days": 1, "dayz": 1}"#),
        [r#"the key "dayz" is not allowed; leave it out (allowed: city, days, unit)"#],
        "what is there already was not meant"
    );
    assert_eq!(
        refused(r#"{"city": "Paris", "days": 1, "wholly_else": 1}"#),
        [r#"the key "wholly_else" is not allowed; leave it out (allowed: city, days, unit)"#]
    );
}

#[test]
fn blank_text_is_the_empty_object() {
    for text in ["", " ", "\n\t \r\n"] {
        assert_eq!(read::<Rules>(text).unwrap(), Rules::default(), "{text:?}");
        assert_eq!(marks(&read::<Forecast>(text).unwrap_err()), [("", "required"), ("", "required")]);
    }
    assert_eq!(marks(&read::<Rules>("\u{a0}").unwrap_err()), [("", "json")]);
}

#[test]
fn whole_numbers_may_be_written_as_floats() {
    for days in ["3.0", "3e0", "0.3e1", "30E-1", "3.000"] {
        let forecast: Forecast = read(&format!(r#"{{"city": "Paris", "days": {days}}}"#)).unwrap();
        assert_eq!(forecast.days, 3, "{days}");
    }
    assert_eq!(read::<i64>("-9007199254740991.0").unwrap(), -9_007_199_254_740_991);
    assert_eq!(read::<(u8, Option<i8>)>("[2.0, -1e0]").unwrap(), (2, Some(-1)));
    assert_eq!(read::<i128>("3.0").unwrap(), 3);
    assert_eq!(read::<BTreeMap<u8, u8>>(r#"{"1": 2.0}"#).unwrap(), [(1, 2)].into());
}

#[test]
fn an_integral_float_is_read_digit_by_digit() {
    assert_eq!(read::<i64>("9007199254740993.0").unwrap(), 9_007_199_254_740_993);
    assert_eq!(read::<i64>("9.007199254740993e15").unwrap(), 9_007_199_254_740_993);
    assert_eq!(read::<i64>("9007199254740993").unwrap(), 9_007_199_254_740_993);
}

#[test]
fn every_width_accepts_its_bounds_and_nothing_beyond() {
    macro_rules! ends {
        ($($type:ty)*) => {$(
            for end in [<$type>::MIN, <$type>::MAX] {
                assert_eq!(read::<$type>(&end.to_string()).unwrap(), end, "{}", stringify!($type));
            }
            for beyond in [i128::from(<$type>::MIN) - 1, i128::from(<$type>::MAX) + 1] {
                let issues = read::<$type>(&beyond.to_string()).unwrap_err();
                assert!(["minimum", "maximum", "format"].contains(&marks(&issues)[0].1), "{issues}");
            }
        )*};
    }
    ends! { u8 u16 u32 u64 i8 i16 i32 i64 }
    assert_eq!(read::<i128>(&i128::MIN.to_string()).unwrap(), i128::MIN);
    assert_eq!(read::<u128>(&u128::MAX.to_string()).unwrap(), u128::MAX);
    assert!(read::<u128>("340282366920938463463374607431768211456").is_err());
    assert!(read::<u128>("-1").is_err());
    assert_eq!(marks(&read::<f32>("1e39").unwrap_err()), [("", "format")]);
}

#[test]
fn an_alias_that_the_schema_does_not_contain_is_rejected() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Optional {
        #[serde(default, alias = "color")]
        colour: String,
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Required {
        #[serde(alias = "color")]
        colour: String,
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[schemars(extend("dependentRequired" = {"colour": ["b"]}))]
    struct Dependent {
        #[serde(default, alias = "color")]
        colour: String,
        b: Option<u8>,
    }
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Flattened {
        #[serde(flatten)]
        inner: Optional,
    }
    let text = r#"{"color": "red"}"#;
    assert_eq!(read::<Optional>(text).unwrap().colour, "");
    assert_eq!(read::<Flattened>(text).unwrap().inner.colour, "");
    assert_eq!(read::<Dependent>(text).unwrap().colour, "");
    assert_eq!(read::<Option<Optional>>(text).unwrap().unwrap().colour, "");
    assert_eq!(marks(&read::<Required>(text).unwrap_err()), [("", "required")]);
    // The key and its alias together are no duplicate, because the alias has no meaning.
    assert_eq!(read::<Optional>(r#"{"color": "red", "colour": "blue"}"#).unwrap().colour, "blue");
}

#[test]
fn an_array_is_not_taken_for_a_struct_nor_an_object_for_a_tuple() {
    assert_eq!(marks(&read::<Forecast>(r#"["Paris", 3]"#).unwrap_err()), [("", "type")]);
    assert_eq!(marks(&read::<Vec<Forecast>>(r#"[["Paris", 3]]"#).unwrap_err()), [("/0", "type")]);
    assert_eq!(marks(&read::<(u8, u8)>(r#"{"0": 1, "1": 2}"#).unwrap_err()), [("", "type")]);
    assert_eq!(marks(&read::<Shape>(r#"{"Line": [[0, 0], [1, 1]]}"#).unwrap_err()), [("/Line", "type")]);
}

#[test]
fn a_variant_without_content_is_a_string_and_nothing_else() {
    assert_eq!(read::<Shape>(r#""Point""#).unwrap(), Shape::Point);
    assert_eq!(marks(&read::<Unit>(r#"{"celsius": null}"#).unwrap_err()), [("", "type")]);
    assert!(read::<Shape>(r#"{"Point": null}"#).is_err());
    assert!(read::<Shape>(r#"{"Circle": 1.0, "Point": null}"#).is_err());
    assert!(read::<Shape>(r#""Circle""#).is_err());
    assert_eq!(refusal::<Unit>(r#""fahrenheit""#)[0].2, r#"must be one of "celsius", "kelvin", not "fahrenheit""#);
}

#[test]
fn the_variant_that_was_meant_is_the_one_that_is_explained() {
    let issues = read::<Shape>(r#"{"Line": {"from": [0, 0.5], "to": [1]}}"#).unwrap_err();
    assert_eq!(marks(&issues), [("/Line/from/1", "type"), ("/Line/to", "minItems")]);
    assert_eq!(marks(&read::<Shape>("7").unwrap_err()), [("", "type")]);
    assert_eq!(
        refusal::<Shape>(r#"{"Square": 1}"#)[0].2,
        r#"must be "Point", or an object with exactly one key, one of "Circle", "Line", not an object with 1 key"#
    );
}

#[test]
fn a_duplicate_key_is_rejected_at_every_depth() {
    let table = [
        (r#"{"value": 1, "value": 1}"#, "/value"),
        (r#"{"value": {"a": 1, "b": 2, "\u0061": 3}}"#, "/value/a"),
        (r#"{"value": [[{"x": {"": 0, "": 0}}]]}"#, "/value/0/0/x/"),
        (r#"{"value": 1, "unknown": 1, "unknown": 2}"#, "/unknown"),
    ];
    for (text, pointer) in table {
        assert_eq!(marks(&read::<Free>(text).unwrap_err()), [(pointer, "duplicateKey")], "{text}");
    }
    let many: Vec<String> = (0..40).chain([39]).map(|key| format!(r#""k{key}": 0"#)).collect();
    let text = format!(r#"{{"value": {{{}}}}}"#, many.join(","));
    assert_eq!(marks(&read::<Free>(&text).unwrap_err()), [("/value/k39", "duplicateKey")]);
    assert_eq!(marks(&read::<BTreeMap<String, u8>>(r#"{"a": 1, "a": 1}"#).unwrap_err()), [("/a", "duplicateKey")]);
}

#[test]
fn the_last_of_two_keys_wins_if_enabled() {
    let options = DecodeOptions::default().limits(Limits::default().duplicate_keys(DuplicateKeys::LastWins));
    let text = r#"{"city": "Rome", "days": 99, "city": "Paris", "days": 2}"#;
    let forecast: Forecast = read_with(text, &options).unwrap();
    assert_eq!((forecast.city.as_str(), forecast.days), ("Paris", 2));
    let free: Free = read_with(r#"{"value": {"a": 1, "a": {"b": 1, "b": 2}}}"#, &options).unwrap();
    assert_eq!(free.value, json!({"a": {"b": 2}}));
    let issues = read_with::<Forecast>(r#"{"city": "Rome", "days": 2, "days": 99}"#, &options).unwrap_err();
    assert_eq!(marks(&issues), [("/days", "maximum")]);
}

#[test]
fn the_unit_type_as_parameters_is_the_empty_object() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Nothing;

    read::<()>("{}").unwrap();
    read::<()>("").unwrap();
    assert_eq!(read::<Nothing>("{}").unwrap(), Nothing);
    assert_eq!(marks(&read::<()>("null").unwrap_err()), [("", "type")]);
    assert_eq!(
        refusal::<()>(r#"{"a": 1}"#)[0].2,
        r#"the key "a" is not allowed: this object takes no keys; leave it out"#
    );
    // Only for parameters: as a value it is `null`.
    let schema = Schema::of::<()>().unwrap();
    schema.decode::<()>("null", &DecodeOptions::default()).unwrap();
    schema.decode::<()>("{}", &DecodeOptions::default()).unwrap_err();
}

#[test]
fn a_free_form_value_keeps_everything_it_holds() {
    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Shaped {
        #[schemars(extend("type" = "object"))]
        object: Value,
        #[schemars(extend("minProperties" = 1))]
        some: Option<Value>,
        #[schemars(extend("enum" = [{"a": [1.0]}, 2]))]
        listed: Option<Value>,
    }
    let value = json!({"b": 1, "a": [null, {"x": 1.5}], "big": u64::MAX, "": ""});
    let free: Free = read(&json!({ "value": value }).to_string()).unwrap();
    assert_eq!(free.value.to_string(), value.to_string());
    let shaped: Shaped = read(r#"{"object": {"k": 1}, "some": {"k": 1}, "listed": {"a": [1]}}"#).unwrap();
    assert_eq!(shaped.object, json!({"k": 1}));
    assert_eq!(shaped.some, Some(json!({"k": 1})));
    assert_eq!(shaped.listed, Some(json!({"a": [1]})));
}

#[test]
fn text_may_be_as_long_as_its_limit_and_not_one_byte_longer() {
    let options = |bytes| DecodeOptions::default().limits(Limits::default().max_bytes(bytes));
    let text = r#"{"value": "12345"}"#;
    read_with::<Free>(text, &options(text.len())).unwrap();
    let issues = read_with::<Free>(text, &options(text.len() - 1)).unwrap_err();
    assert_eq!(marks(&issues), [("", "maxBytes")]);
    assert_eq!(issues.to_string(), "the JSON text has 18 bytes and may have at most 17; send less");
}

#[test]
fn values_may_nest_as_deep_as_the_limit_and_not_one_level_deeper() {
    let nested = |levels: usize| format!("{}0{}", "[".repeat(levels), "]".repeat(levels));
    let schema = Schema::unknown();
    let options = |depth| DecodeOptions::default().limits(Limits::default().max_depth(depth));
    for depth in [0, 1, 5, 128, 256] {
        schema.decode::<Value>(&nested(depth), &options(depth)).unwrap();
        let issues = schema.decode::<Value>(&nested(depth + 1), &options(depth)).unwrap_err();
        assert_eq!(issues.as_slice()[0].keyword, "maxDepth");
        assert!(issues.to_string().contains(&format!("nests deeper than {depth} levels")), "{issues}");
    }
    // A key that the type ignores counts too.
    let text = format!(r#"{{"value": 1, "ignored": {}}}"#, nested(127));
    read::<Free>(&text).unwrap();
    let text = format!(r#"{{"value": 1, "ignored": {}}}"#, nested(128));
    assert_eq!(read::<Free>(&text).unwrap_err().as_slice()[0].keyword, "maxDepth");
}

#[test]
fn a_custom_check_replaces_the_schema_or_follows_it() {
    let even = || {
        Validator::new(|value| match value["n"].as_i64() {
            Some(number) if number % 2 == 0 => Ok(()),
            _ => Err(Issue::new("/n", "even", "must be an even number").into()),
        })
    };
    let raw = json!({"properties": {"n": {"type": "integer", "maximum": 10}}});
    let verdicts = |schema: &Schema| {
        ["2", "3", "12", "13", "\"x\""].map(|n| {
            let text = format!(r#"{{"n": {n}}}"#);
            let tree = serde_json::from_str::<Value>(&text).unwrap();
            let read = schema.decode::<Value>(&text, &DecodeOptions::default()).map(|decoded| decoded.value);
            assert_eq!(read.is_ok(), schema.check(&tree).is_ok());
            assert_eq!(read.is_ok(), schema.encode(&tree).is_ok());
            read.map_or_else(|issues| issues.as_slice()[0].keyword.clone(), |_| String::new())
        })
    };
    let full = Schema::json(raw.clone()).unwrap();
    assert_eq!(verdicts(&full), ["", "", "maximum", "maximum", "type"]);
    let with = Schema::json_with(raw.clone(), Validation::With(even())).unwrap();
    assert_eq!(verdicts(&with), ["", "even", "", "even", "even"]);
    let then = Schema::json_with(raw.clone(), Validation::FullThen(even())).unwrap();
    assert_eq!(verdicts(&then), ["", "even", "maximum", "maximum", "type"]);
    let none = Schema::json_with(raw.clone(), Validation::None).unwrap();
    assert_eq!(verdicts(&none), ["", "", "", "", ""]);
    for schema in [full, with, then, none] {
        assert_eq!(schema.as_json(), &raw);
    }
}

#[test]
fn schemas_are_equal_when_their_json_and_their_checks_are() {
    let raw = json!({"type": "string"});
    let check = Validator::new(|_| Ok(()));
    let with = Schema::json_with(raw.clone(), Validation::With(check)).unwrap();
    assert_eq!(Schema::json(raw.clone()).unwrap(), Schema::json(raw.clone()).unwrap());
    assert_eq!(with, with.clone());
    assert_ne!(with, Schema::json(raw.clone()).unwrap());
    assert_ne!(with, Schema::json_with(raw, Validation::With(Validator::new(|_| Ok(())))).unwrap());
}

#[test]
fn a_value_that_the_type_rejects_is_an_issue_too() {
    let issues = read::<std::net::Ipv4Addr>(r#""not an address""#).unwrap_err();
    assert_eq!(marks(&issues), [("", "decode")]);
    assert_eq!(issues.as_slice()[0].expected, "a string in the format ipv4");
    assert!(issues.source().unwrap().to_string().contains("IPv4"), "{issues:?}");
}

#[test]
fn a_reason_is_truncated_at_a_character_and_reports_how_much_is_omitted() {
    let issues: Issues = (0..5).map(|at| Issue::new(format!("/{at}"), "x", "ßßßß")).collect();
    let whole = "/0: ßßßß; /1: ßßßß; /2: ßßßß; /3: ßßßß; /4: ßßßß";
    assert_eq!(issues.reason(whole.len()), whole);
    assert_eq!(issues.reason(whole.len() - 1), "/0: ßßßß; /1: ßßßß; /2: ßßßß; /3: ßßßß (and 1 more)");
    assert_eq!(issues.reason(25), "/0: ßßßß (and 4 more)");
    assert_eq!(issues.reason(20), "/0: ß (and 4 more)");
    for cap in 0..=whole.len() {
        let reason = issues.reason(cap);
        let (kept, _) = reason.split_once(" (and").unwrap_or((&reason, ""));
        assert!(reason.len() <= cap && whole.starts_with(kept), "{cap}: {reason}");
    }
    let alone: Issues = Issue::new("", "x", "🦀🦀").into();
    assert_eq!((alone.reason(7).as_str(), alone.reason(3).as_str()), ("🦀", ""));
    assert_eq!(alone.len(), 1);
}

/// Serde would read a struct from an array as well. A type is compiled to be read from objects alone.
#[test]
fn a_struct_is_never_read_from_an_array_whatever_the_schema_says() {
    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only read")]
    struct Point {
        x: i64,
        y: i64,
    }
    for schema in [json!({}), json!({"type": "array"}), json!({"anyOf": [{"type": "array"}, {"type": "object"}]})] {
        let schema = Schema::json(schema).unwrap();
        let issues = schema.decode::<Point>("[1, 2]", &DecodeOptions::default()).unwrap_err();
        assert_eq!(marks(&issues), [("", "decode")], "{}", schema.as_json());
        let pair = schema.decode::<(i64, i64)>("[1, 2]", &DecodeOptions::default()).unwrap().value;
        assert_eq!(pair, (1, 2));
    }
}

/// A type may ignore an error of one of its parts. A value that its schema forbids is still rejected.
#[test]
fn a_value_that_a_type_ignores_is_still_rejected() {
    #[allow(clippy::unnecessary_wraps, reason = "the form that serde asks for")]
    fn lenient<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        Ok(T::deserialize(deserializer).ok())
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only read")]
    struct Lenient {
        #[serde(deserialize_with = "lenient")]
        #[schemars(with = "u8", range(max = 9))]
        few: Option<u8>,
        #[serde(deserialize_with = "lenient")]
        #[schemars(with = "String", length(max = 2))]
        short: Option<String>,
    }
    let read = |text: &str| read::<Lenient>(text).map(|read| (read.few, read.short));
    assert_eq!(read(r#"{"few": 3, "short": "ab"}"#).unwrap(), (Some(3), Some("ab".to_owned())));
    assert_eq!(marks(&read(r#"{"few": 30, "short": "ab"}"#).unwrap_err()), [("/few", "maximum")]);
    assert_eq!(marks(&read(r#"{"few": 3, "short": "abc"}"#).unwrap_err()), [("/short", "maxLength")]);
    assert_eq!(marks(&read(r#"{"few": "3", "short": "ab"}"#).unwrap_err()), [("/few", "type")]);
}
