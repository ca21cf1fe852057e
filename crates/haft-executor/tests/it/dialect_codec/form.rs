//! The forms that values are sent in: arrays as objects, values as text, and changes chosen by the value.

use haft_schema::{Codec, ReshapeCase, ReshapeKind, ReshapeMember};

use super::{codec, shape_error};

fn assert_round_trips(codec: &Codec, cases: &[(&str, &str)]) {
    for (value, sent) in cases {
        assert_eq!(codec.encode(value).unwrap(), *sent);
        assert_eq!(codec.decode(sent).unwrap(), *value);
    }
}

#[test]
fn an_array_is_sent_as_an_object() {
    let codec = codec(|reshape, pair| {
        let inner = reshape.add();
        reshape.send_wrapped(inner, "v");
        let members = [ReshapeMember::new("first"), ReshapeMember::new("second").absent_as_null().reshaped(inner)];
        reshape.send_as_members(pair, members);
    });
    assert_round_trips(
        &codec,
        &[
            ("[1,2]", "{\"first\":1,\"second\":{\"v\":2}}"),
            ("[1]", "{\"first\":1,\"second\":null}"),
            ("[]", "{}"),
            // More items than members, and other types, are sent unchanged.
            ("[1,2,3]", "[1,2,3]"),
            ("7", "7"),
            ("{\"x\":1}", "{\"x\":1}"),
        ],
    );
    assert_eq!(codec.decode(r#"{"second":{"v":2},"first":1}"#).unwrap(), "[1,2]");
}

#[test]
fn an_item_after_an_absent_one_is_an_error() {
    let codec = codec(|reshape, pair| {
        let members = ["a", "b", "c"].map(|name| ReshapeMember::new(name).absent_as_null());
        reshape.send_as_members(pair, members);
    });
    let (pointer, message) = shape_error(codec.decode(r#"{"a":1,"b":null,"c":2}"#));
    assert_eq!((pointer.as_str(), message.as_str()), ("/c", "requires a value for \"b\" as well"));
}

#[test]
fn a_null_after_an_absent_item_is_absent_too() {
    let codec = codec(|reshape, pair| {
        let members = [ReshapeMember::new("a").absent_as_null(), ReshapeMember::new("b").absent_read_as_null()];
        reshape.send_as_members(pair, members);
    });
    assert_round_trips(&codec, &[("[]", r#"{"a":null,"b":null}"#), ("[1,null]", r#"{"a":1,"b":null}"#)]);
}

#[test]
fn a_value_is_sent_as_text() {
    let codec = codec(|reshape, root| {
        let any = reshape.add();
        reshape.send_as_text(any);
        reshape.items(root, any);
    });
    assert_round_trips(
        &codec,
        &[
            (r#"[{"a":18446744073709551617}]"#, r#"["{\"a\":18446744073709551617}"]"#),
            (r#"["x","\n"]"#, r#"["\"x\"","\"\\n\""]"#),
            ("[null,1.50]", r#"["null","1.50"]"#),
        ],
    );
    // What is not JSON, or not a string, is read as it is.
    for sent in [r#"["{"]"#, r#"["plain words"]"#, r#"["{\"a\":1,\"a\":2}"]"#, r#"[{"a":1}]"#, "[3]"] {
        assert_eq!(codec.decode(sent).unwrap(), sent);
    }
}

#[test]
fn a_null_that_the_schema_accepts_stays_a_null() {
    let codec = codec(|reshape, root| reshape.member(root, ReshapeMember::new("a").absent_read_as_null()));
    assert_eq!(codec.encode("{}").unwrap(), r#"{"a":null}"#);
    assert_eq!(codec.decode(r#"{"a":null}"#).unwrap(), r#"{"a":null}"#);
}

#[test]
fn a_string_is_recognised_whatever_its_case() {
    let names = ["Red", "GREEN", "blue", "BLUE"];
    let codec = codec(|reshape, root| reshape.spellings(root, names.map(String::from)));
    for (sent, read) in [
        (r#""red""#, r#""Red""#),
        (r#""Green""#, r#""GREEN""#),
        (r#""blue""#, r#""blue""#),
        // Two spellings differ in case only, and one is not known.
        (r#""Blue""#, r#""Blue""#),
        (r#""reds""#, r#""reds""#),
        ("1", "1"),
    ] {
        assert_eq!(codec.decode(sent).unwrap(), read);
        assert_eq!(codec.encode(read).unwrap(), read);
    }
}

#[test]
fn the_first_case_that_a_value_meets_applies() {
    let codec = codec(|reshape, root| {
        let (map, tuple, tagged, other) = (reshape.add(), reshape.add(), reshape.add(), reshape.add());
        reshape.send_as_pairs(map);
        reshape.send_as_members(tuple, [ReshapeMember::new("item")]);
        reshape.member(tagged, ReshapeMember::new("x").absent_as_null());
        reshape.member(other, ReshapeMember::new("y").absent_as_null());
        let object = |change| ReshapeCase::new(ReshapeKind::Object, change);
        reshape.case(root, object(tagged).with_member("tag").named("sent_tag").equal_to(["a"]));
        reshape.case(root, object(other).with_member("b"));
        reshape.case(root, object(map).sent_as(ReshapeKind::Array));
        reshape.case(root, ReshapeCase::new(ReshapeKind::Array, tuple).sent_as(ReshapeKind::Object));
        reshape.member(tagged, ReshapeMember::new("tag").sent_as("sent_tag"));
    });
    assert_round_trips(
        &codec,
        &[
            (r#"{"tag":"a"}"#, r#"{"sent_tag":"a","x":null}"#),
            (r#"{"b":1}"#, r#"{"b":1,"y":null}"#),
            (r#"{"tag":"c"}"#, r#"[{"key":"tag","value":"c"}]"#),
            ("[1]", r#"{"item":1}"#),
            ("null", "null"),
        ],
    );
}

#[test]
fn cases_that_lead_to_each_other_end() {
    let codec = codec(|reshape, root| {
        let other = reshape.add();
        reshape.send_wrapped(root, "value");
        reshape.case(root, ReshapeCase::new(ReshapeKind::Object, other));
        reshape.case(other, ReshapeCase::new(ReshapeKind::Object, root));
    });
    assert_round_trips(&codec, &[("{}", r#"{"value":{}}"#)]);
}
