//! The notation of arguments: exact requests for every style and type, and a decoder that reads back what was written.

use haft_core::ToolCall;
use haft_executor::Toolkit;
use haft_http::Method;
use haft_registry::{CallEffect, CallPreview};
use haft_schema::{Issues, JsonText};
use haft_tools::http::{
    BodyFormat, BodyMapping, FormField, HttpTool, ParameterPlace, ParameterStyle, RequestParameter,
};
use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::server::Server;
use super::{open_entry, options};
use crate::seeded::for_all;

/// The parts of a request.
#[derive(Debug)]
struct Written {
    url: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// Returns the request for arguments, without sending it.
fn written(tool: &HttpTool, arguments: &str) -> Result<Written, Issues> {
    let tool = tool.build(&open_entry()).unwrap();
    let preview = tool.annotations().get::<CallPreview>().unwrap();
    match preview.effect(&JsonText::parse(arguments).unwrap())? {
        CallEffect::Sends { url, headers, body, .. } => {
            let url = url.strip_prefix("https://x.test/").unwrap().to_owned();
            Ok(Written { url, headers, body: body.unwrap_or_default() })
        }
        other => panic!("{other:?}"),
    }
}

fn with_parameter(parameter: RequestParameter) -> HttpTool {
    let url = if parameter.place == ParameterPlace::Path { "https://x.test/{p}" } else { "https://x.test/" };
    HttpTool::get(url).unwrap().parameter(parameter)
}

/// Returns a parameter's text in its place.
fn parameter(place: ParameterPlace, style: ParameterStyle, value: &str) -> Result<String, Issues> {
    let parameter = RequestParameter::new("p", place).style(style);
    let Written { url, headers, .. } = written(&with_parameter(parameter), &format!(r#"{{"p":{value}}}"#))?;
    Ok(match place {
        ParameterPlace::Header | ParameterPlace::Cookie => headers.into_iter().map(|(_, text)| text).collect(),
        _ => url.trim_start_matches('?').to_owned(),
    })
}

/// Returns the body of a form with one field `p`.
fn form(format: BodyFormat, field: FormField, value: &str) -> Result<String, Issues> {
    let tool = HttpTool::post("https://x.test/").unwrap();
    let tool = tool.body(BodyMapping::argument("body", format).field("p", field));
    Ok(written(&tool, &format!(r#"{{"body":{{"p":{value}}}}}"#))?.body)
}

const TEXT: &str = r#""é/?""#;
const NUMBER: &str = "18446744073709551617";
const LIST: &str = r#"["x y",2,null,true]"#;
const OBJECT: &str = r#"{"r":100,"g&":"a,b","n":null}"#;
const NESTED: &str = r#"{"l":[1,2],"o":[{"k":1},{"k":[]}]}"#;

#[test]
fn every_style_writes_every_type() {
    use ParameterPlace::{Header, Path, Query};
    use ParameterStyle as Style;
    let table = [
        (
            Query,
            Style::Repeat,
            "p=%C3%A9%2F%3F",
            "p=x%20y&p=2&p=true",
            "p=%7B%22r%22%3A100%2C%22g%26%22%3A%22a%2Cb%22%2C%22n%22%3Anull%7D",
        ),
        (Query, Style::Spread, "p=%C3%A9%2F%3F", "p=x%20y&p=2&p=true", "r=100&g%26=a%2Cb"),
        (Query, Style::Comma, "p=%C3%A9%2F%3F", "p=x%20y,2,true", "p=r,100,g%26,a%2Cb"),
        (Query, Style::CommaPairs, "p=%C3%A9%2F%3F", "p=x%20y,2,true", "p=r=100,g%26=a%2Cb"),
        (Query, Style::Pipe, "p=%C3%A9%2F%3F", "p=x%20y%7C2%7Ctrue", "p=r%7C100%7Cg%26%7Ca%2Cb"),
        (
            Query,
            Style::DeepObject,
            "p=%C3%A9%2F%3F",
            "p%5B%5D=x%20y&p%5B%5D=2&p%5B%5D=true",
            "p%5Br%5D=100&p%5Bg%26%5D=a%2Cb",
        ),
        (
            Query,
            Style::Json,
            "p=%22%C3%A9%2F%3F%22",
            "p=%5B%22x%20y%22%2C2%2Cnull%2Ctrue%5D",
            "p=%7B%22r%22%3A100%2C%22g%26%22%3A%22a%2Cb%22%2C%22n%22%3Anull%7D",
        ),
        (Path, Style::Comma, "%C3%A9%2F%3F", "x%20y,2,true", "r,100,g%26,a%2Cb"),
        (Path, Style::CommaPairs, "%C3%A9%2F%3F", "x%20y,2,true", "r=100,g%26=a%2Cb"),
        (Path, Style::Label, ".%C3%A9%2F%3F", ".x%20y,2,true", ".r,100,g%26,a%2Cb"),
        (Path, Style::LabelPairs, ".%C3%A9%2F%3F", ".x%20y.2.true", ".r=100.g%26=a%2Cb"),
        (Path, Style::Matrix, ";p=%C3%A9%2F%3F", ";p=x%20y,2,true", ";p=r,100,g%26,a%2Cb"),
        (Path, Style::MatrixPairs, ";p=%C3%A9%2F%3F", ";p=x%20y;p=2;p=true", ";r=100;g%26=a%2Cb"),
    ];
    for (place, style, text, list, object) in table {
        let of = |value| parameter(place, style, value).unwrap();
        assert_eq!([of(TEXT), of(LIST), of(OBJECT)], [text, list, object], "{place:?} {style:?}");
        let number = of(NUMBER);
        assert!(number.ends_with(NUMBER), "{place:?} {style:?}: {number}");
        if style != Style::Json && place == Query {
            assert_eq!([of("null"), of("[]"), of("[null]")], [""; 3], "{style:?}");
        }
    }
    let space = |value| parameter(Query, Style::Space, value).unwrap();
    assert_eq!([space(r#"["a",2]"#), space(r#"{"r":1}"#)], ["p=a%202", "p=r%201"]);
    let header = |style, value| parameter(Header, style, value).unwrap();
    let plain = [header(Style::Comma, r#""a, b""#), header(Style::Comma, r#"["x y",2]"#)];
    assert_eq!(plain, ["a, b", "x y,2"]);
    assert_eq!(
        [Style::Comma, Style::CommaPairs].map(|style| header(style, r#"{"a":1,"b":"c=d"}"#)),
        ["a,1,b,c=d", "a=1,b=c=d"]
    );
    let cookie = |style, value| parameter(ParameterPlace::Cookie, style, value).unwrap();
    assert_eq!([cookie(Style::Comma, LIST), cookie(Style::Spread, OBJECT)], ["p=x%20y,2,true", "r=100; g%26=a%2Cb"]);
    // An empty text is a value.
    assert_eq!(parameter(Query, Style::Comma, r#""""#).unwrap(), "p=");
    assert_eq!(parameter(Path, Style::Matrix, r#""""#).unwrap(), ";p");
}

#[test]
fn forms_write_every_type_as_their_fields_say() {
    use ParameterStyle as Style;
    let deep = || FormField::styled(Style::DeepObject);
    for (field, value, expected) in [
        (FormField::default(), LIST, "p=x%20y&p=2&p=true"),
        (FormField::default(), r#"{"a":[1]}"#, "p=%7B%22a%22%3A%5B1%5D%7D"),
        (FormField::styled(Style::Spread), r#"{"a":1,"b":"c"}"#, "a=1&b=c"),
        (FormField::styled(Style::Comma), "[1,2]", "p=1,2"),
        (FormField::styled(Style::Json), "[1,2]", "p=%5B1%2C2%5D"),
        (FormField::default().allow_reserved(), r#""a/b&c=#+%:""#, "p=a/b%26c=%23%2B%25:"),
        (deep(), LIST, "p%5B%5D=x%20y&p%5B%5D=2&p%5B%5D=true"),
        (deep(), NUMBER, "p=18446744073709551617"),
        (deep(), NESTED, "p%5Bl%5D%5B%5D=1&p%5Bl%5D%5B%5D=2&p%5Bo%5D%5B0%5D%5Bk%5D=1"),
        (deep(), r#"[{"price":"x"},null,{"price":1}]"#, "p%5B0%5D%5Bprice%5D=x&p%5B1%5D%5Bprice%5D=1"),
        (deep(), "[[1,2],[3]]", "p%5B0%5D%5B%5D=1&p%5B0%5D%5B%5D=2&p%5B1%5D%5B%5D=3"),
    ] {
        assert_eq!(form(BodyFormat::Form, field.clone(), value).unwrap(), expected, "{field:?} {value}");
    }
    let part = |text: &str| format!("content-disposition: form-data; name=\"{text}");
    for (field, value, expected) in [
        (FormField::default(), r#"["a",2]"#, vec![part("p\"\r\n\r\na"), part("p\"\r\n\r\n2")]),
        (FormField::default(), r#"{"a":1}"#, vec![part("p\"\r\ncontent-type: application/json\r\n\r\n{\"a\":1}")]),
        (FormField::default().content_type("text/csv"), r#""a""#, vec![part("p\"\r\ncontent-type: text/csv\r\n\r\na")]),
        (
            FormField::styled(Style::Json),
            r#"["a"]"#,
            vec![part("p\"\r\ncontent-type: application/json\r\n\r\n[\"a\"]")],
        ),
        (deep(), r#"{"a":[1]}"#, vec![part("p[a][]\"\r\n\r\n1")]),
    ] {
        let body = form(BodyFormat::Multipart, field, value).unwrap();
        let parts: Vec<&str> = body.split("--haft-form-boundary-0000000000000000").map(str::trim).collect();
        assert_eq!(parts[1..parts.len() - 1], expected, "{value}");
    }
}

#[test]
fn flags_change_what_they_say_and_no_argument_adds_a_parameter() {
    let reserved = RequestParameter::query("p").allow_reserved();
    let url = |parameter: RequestParameter, value: &str| {
        written(&with_parameter(parameter), &format!(r#"{{"p":{value}}}"#)).unwrap().url
    };
    assert_eq!(url(reserved.clone(), r#""a/b:c?d&e=f#g+h%20[i]""#), "?p=a/b:c?d%26e=f%23g%2Bh%2520[i]");
    assert_eq!(url(reserved.style(ParameterStyle::Comma), r#"["a,b","c"]"#), "?p=a%2Cb,c");
    let empty = RequestParameter::query("p").allow_empty();
    assert_eq!([url(empty.clone(), "[]"), url(empty, "null")], ["?p=", ""]);
}

#[test]
fn values_that_would_be_read_as_others_are_rejected() {
    use ParameterPlace::{Header, Path, Query};
    use ParameterStyle as Style;
    for (place, style, value) in [
        (Header, Style::Comma, r#"["a,b"]"#),
        (Header, Style::CommaPairs, r#"{"a=b":1}"#),
        (Query, Style::Space, r#"["a b"]"#),
        (Query, Style::Pipe, r#"{"a|b":1}"#),
        (Query, Style::DeepObject, r#"{"a]b":1}"#),
        (Path, Style::LabelPairs, r#"["a.b"]"#),
    ] {
        let issues = parameter(place, style, value).unwrap_err();
        let issue = issues.iter().next().unwrap();
        assert_eq!(issue.pointer, "/p");
        assert!(issue.message.starts_with("must not contain"), "{}", issue.message);
    }
    let deep = format!("{}1{}", r#"{"k":"#.repeat(40), "}".repeat(40));
    let issues = parameter(Query, Style::DeepObject, &deep).unwrap_err();
    assert!(issues.iter().next().unwrap().message.contains("deeper than 16 levels"));
    // A name is repeated for every leaf, so a short value could have an endless text.
    let leaves = vec!["{}"; 100_000].join(",");
    let long = format!(r#"{{"{}":[{leaves}]}}"#, "k".repeat(100_000));
    let issues = parameter(Query, Style::DeepObject, &long).unwrap_err();
    assert!(issues.iter().next().unwrap().message.contains("must be shorter"));
    let tool = HttpTool::post("https://x.test/").unwrap();
    let body = BodyMapping::argument("body", BodyFormat::Form).field("p", FormField::styled(Style::Spread));
    let issues = written(&tool.body(body), r#"{"body":{"p":{"admin":1},"admin":0}}"#).unwrap_err();
    assert_eq!(issues.iter().next().unwrap().pointer, "/body/p");
}

#[tokio::test]
async fn integers_beyond_64_bits_are_sent_as_they_are_written() {
    let server = Server::echo().await;
    let tool = HttpTool::new(Method::POST, server.url("/{id}").parse().unwrap());
    let tool = tool.parameter(RequestParameter::query("n")).build(&open_entry()).unwrap();
    let text = r#"{"id":123456789012345678901,"n":[-123456789012345678901],"x":{"big":123456789012345678901234567890,"f":0.1}}"#;
    let kit = Toolkit::new().with(tool).unwrap();
    let results = kit.run_with([ToolCall::new("c", "t", text)], options()).collect_results().await;
    assert!(results[0].is_ok(), "{results:?}");
    let received = server.one();
    assert_eq!(received.path, "/123456789012345678901");
    assert_eq!(received.query, "n=-123456789012345678901");
    assert_eq!(received.body, r#"{"x":{"big":123456789012345678901234567890,"f":0.1}}"#);
}

/// A value without numbers, so that its texts are what a server reads.
fn tree(depth: u32) -> impl Strategy<Value = Value> {
    any_text().prop_map(Value::from).prop_recursive(depth, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Value::from),
            prop::collection::vec((any_text(), inner), 1..4).prop_map(object),
        ]
    })
}

fn object(members: Vec<(String, Value)>) -> Value {
    Value::Object(members.into_iter().collect::<Map<_, _>>())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z0-9]{1,6}", "[ -~]{0,8}", "\\PC{0,6}"]
}

/// Texts in one list or object.
fn flat() -> impl Strategy<Value = Value> {
    let members = prop::collection::vec((any_text(), any_text().prop_map(Value::from)), 1..4);
    prop_oneof![
        any_text().prop_map(Value::from),
        prop::collection::vec(any_text(), 1..4).prop_map(Value::from),
        members.prop_map(object),
    ]
}

fn unescaped(text: &str) -> String {
    percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

/// Reads a text with separators, as the value that it should be.
fn read(text: &str, between: &str, binder: &str, like: &Value, decode: fn(&str) -> String) -> Value {
    match like {
        Value::Array(_) => text.split(between).map(decode).collect(),
        Value::Object(_) if between == binder => {
            let parts: Vec<String> = text.split(between).map(decode).collect();
            object(parts.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone().into())).collect())
        }
        Value::Object(_) => {
            let pair = |pair: &str| {
                let (name, value) = pair.split_once(binder).unwrap();
                (decode(name), decode(value).into())
            };
            object(text.split(between).map(pair).collect())
        }
        _ => decode(text).into(),
    }
}

#[test]
fn a_decoder_reads_back_what_every_style_writes() {
    use ParameterPlace::{Header, Path, Query};
    use ParameterStyle as Style;
    let styles = [
        (Query, Style::Comma, "p=", ",", ","),
        (Query, Style::CommaPairs, "p=", ",", "="),
        (Query, Style::Space, "p=", "%20", "%20"),
        (Query, Style::Pipe, "p=", "%7C", "%7C"),
        (Path, Style::Comma, "", ",", ","),
        (Path, Style::CommaPairs, "", ",", "="),
        (Path, Style::Label, ".", ",", ","),
        (Path, Style::LabelPairs, ".", ".", "="),
        (Path, Style::Matrix, ";p=", ",", ","),
        (Header, Style::Comma, "", ",", ","),
        (Header, Style::CommaPairs, "", ",", "="),
    ];
    for_all(400, (0..styles.len(), flat()), |(at, value)| {
        let (place, style, prefix, between, binder) = styles[at];
        let decode = if place == Header { str::to_owned } else { unescaped };
        match parameter(place, style, &value.to_string()) {
            Ok(text) => {
                // An empty text in a matrix has no equals sign.
                let text = text.strip_prefix(prefix).unwrap_or_default();
                prop_assert_eq!(read(text, between, binder, &value, decode), value, "{:?} {:?} {}", place, style, text);
            }
            Err(issues) => {
                let mark = unescaped(between);
                let text = value.to_string();
                let is_expected = place != Query || text.contains(&mark) || text.contains(binder);
                prop_assert!(is_expected, "{:?} {:?} {}: {:?}", place, style, value, issues);
            }
        }
        Ok(())
    });
}

/// Reads pairs with brackets, as PHP does.
fn read_brackets(text: &str) -> Value {
    let mut root = Value::Null;
    for pair in text.split('&') {
        let (name, value) = pair.split_once('=').unwrap();
        let name = unescaped(name);
        let mut at = &mut root;
        for key in name.strip_prefix('p').unwrap().split(']').filter(|key| !key.is_empty()) {
            let key = key.strip_prefix('[').unwrap();
            at = at_key(at, key);
        }
        *at = unescaped(value).into();
    }
    root
}

/// Returns the place of a key. Whether digits are an index or a name is not in the text, so the test uses no such names.
fn at_key<'v>(value: &'v mut Value, key: &str) -> &'v mut Value {
    let index = key.parse::<usize>().ok();
    if value.is_null() {
        *value = if key.is_empty() || index.is_some() { json!([]) } else { json!({}) };
    }
    match value {
        Value::Array(list) => {
            let at = index.unwrap_or(list.len());
            list.resize(list.len().max(at + 1), Value::Null);
            &mut list[at]
        }
        Value::Object(map) => map.entry(key).or_insert(Value::Null),
        other => panic!("{other} has no {key}"),
    }
}

/// Reports whether an object has a key that brackets can't express, or that is read as an index.
fn has_odd_key(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(has_odd_key),
        Value::Object(map) => map.iter().any(|(key, value)| {
            key.is_empty() || key.contains(['[', ']']) || key.parse::<usize>().is_ok() || has_odd_key(value)
        }),
        _ => false,
    }
}

#[test]
fn a_decoder_reads_back_nested_forms_and_json() {
    for_all(300, tree(4), |value| {
        let text = value.to_string();
        let json = form(BodyFormat::Form, FormField::styled(ParameterStyle::Json), &text).unwrap();
        prop_assert_eq!(
            serde_json::from_str::<Value>(&unescaped(json.strip_prefix("p=").unwrap())).unwrap(),
            value.clone()
        );
        match form(BodyFormat::Form, FormField::styled(ParameterStyle::DeepObject), &text) {
            Ok(_) if has_odd_key(&value) => {}
            Ok(written) => prop_assert_eq!(read_brackets(&written), value),
            Err(issues) => prop_assert!(has_odd_key(&value), "{:?}", issues),
        }
        Ok(())
    });
}
