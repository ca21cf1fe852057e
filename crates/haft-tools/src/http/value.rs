//! JSON values as request text.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::parameter::ParameterStyle;
use super::template::{Escape, escaped};

/// The deepest objects that [`ParameterStyle::DeepObject`] writes as such. Deeper ones are JSON.
const MAX_DEPTH: usize = 16;

/// Returns a value's text: none for `null`, JSON for arrays and objects.
pub(super) fn scalar(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.into()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => Some(value.to_string().into()),
    }
}

/// Writes a value as one text, for a path or a header. Returns `None` if nothing is left.
pub(super) fn single(value: &Value, style: ParameterStyle, escape: Escape) -> Option<String> {
    let (separator, binder) = match style {
        ParameterStyle::Json => return Some(escape(&value.to_string())),
        ParameterStyle::Repeat | ParameterStyle::Spread | ParameterStyle::Comma | ParameterStyle::DeepObject => {
            (",", ",")
        }
        ParameterStyle::CommaPairs => (",", "="),
        ParameterStyle::Space => (" ", " "),
        ParameterStyle::Pipe => ("|", "|"),
    };
    // Space and bar must be escaped like everything else; comma and equals sign have no other meaning there.
    let written = |mark: &str| if matches!(mark, "," | "=") { mark.to_owned() } else { escape(mark) };
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => scalar(value).map(|text| escape(&text)),
        Value::Array(list) => {
            let texts: Vec<String> = list.iter().filter_map(|value| Some(escape(&scalar(value)?))).collect();
            (!texts.is_empty()).then(|| texts.join(&written(separator)))
        }
        Value::Object(members) => {
            let bound = |(name, value): (&String, &Value)| {
                Some(format!("{}{}{}", escape(name), written(binder), escape(&scalar(value)?)))
            };
            let texts: Vec<String> = members.iter().filter_map(bound).collect();
            (!texts.is_empty()).then(|| texts.join(&written(separator)))
        }
    }
}

/// Writes a value as escaped pairs of name and value, for a query, a form or cookies.
pub(super) fn pairs(name: &str, value: &Value, style: ParameterStyle) -> Vec<(String, String)> {
    match style {
        ParameterStyle::Repeat => repeated(name, value),
        ParameterStyle::Spread => match value {
            Value::Object(members) => members.iter().flat_map(|(name, value)| repeated(name, value)).collect(),
            value => repeated(name, value),
        },
        ParameterStyle::DeepObject => match value {
            Value::Object(members) => {
                let mut pairs = Vec::new();
                deep(name, members, 1, &mut pairs);
                pairs
            }
            value => repeated(name, value),
        },
        ParameterStyle::Comma
        | ParameterStyle::CommaPairs
        | ParameterStyle::Space
        | ParameterStyle::Pipe
        | ParameterStyle::Json => single(value, style, escaped).into_iter().map(|text| (escaped(name), text)).collect(),
    }
}

fn repeated(name: &str, value: &Value) -> Vec<(String, String)> {
    let pair = |value: &Value| Some((escaped(name), escaped(&scalar(value)?)));
    match value {
        Value::Array(list) => list.iter().filter_map(pair).collect(),
        value => pair(value).into_iter().collect(),
    }
}

fn deep(name: &str, members: &Map<String, Value>, depth: usize, pairs: &mut Vec<(String, String)>) {
    for (member, value) in members {
        let name = format!("{name}[{member}]");
        match value {
            Value::Object(members) if depth < MAX_DEPTH => deep(&name, members, depth + 1, pairs),
            value => pairs.extend(repeated(&name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{pairs, single};
    use crate::http::ParameterStyle;
    use crate::http::template::escaped;

    fn query(value: &Value, style: ParameterStyle) -> String {
        let pairs = pairs("a", value, style);
        pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
    }

    #[test]
    fn every_style_writes_every_shape() {
        use ParameterStyle::{Comma, CommaPairs, DeepObject, Json, Pipe, Repeat, Space, Spread};
        let list = json!(["x y", 2, null, true]);
        let object = json!({"r": 100, "g&": "a,b", "n": null, "l": [1, 2]});
        let table = [
            (
                Repeat,
                "a=x%20y&a=2&a=true",
                "a=%7B%22r%22%3A100%2C%22g%26%22%3A%22a%2Cb%22%2C%22n%22%3Anull%2C%22l%22%3A%5B1%2C2%5D%7D",
            ),
            (Spread, "a=x%20y&a=2&a=true", "r=100&g%26=a%2Cb&l=1&l=2"),
            (Comma, "a=x%20y,2,true", "a=r,100,g%26,a%2Cb,l,%5B1%2C2%5D"),
            (CommaPairs, "a=x%20y,2,true", "a=r=100,g%26=a%2Cb,l=%5B1%2C2%5D"),
            (Space, "a=x%20y%202%20true", "a=r%20100%20g%26%20a%2Cb%20l%20%5B1%2C2%5D"),
            (Pipe, "a=x%20y%7C2%7Ctrue", "a=r%7C100%7Cg%26%7Ca%2Cb%7Cl%7C%5B1%2C2%5D"),
            (DeepObject, "a=x%20y&a=2&a=true", "a%5Br%5D=100&a%5Bg%26%5D=a%2Cb&a%5Bl%5D=1&a%5Bl%5D=2"),
            (
                Json,
                "a=%5B%22x%20y%22%2C2%2Cnull%2Ctrue%5D",
                "a=%7B%22r%22%3A100%2C%22g%26%22%3A%22a%2Cb%22%2C%22n%22%3Anull%2C%22l%22%3A%5B1%2C2%5D%7D",
            ),
        ];
        for (style, of_list, of_object) in table {
            assert_eq!(query(&list, style), of_list, "{style:?}");
            assert_eq!(query(&object, style), of_object, "{style:?}");
            if style != Json {
                assert_eq!(query(&json!("é/?"), style), "a=%C3%A9%2F%3F", "{style:?}");
                assert_eq!(query(&json!(1.5), style), "a=1.5", "{style:?}");
                for empty in [json!(null), json!([]), json!([null])] {
                    assert_eq!(query(&empty, style), "", "{style:?}");
                }
            }
        }
    }

    #[test]
    fn deep_objects_nest_up_to_a_depth() {
        assert_eq!(
            query(&json!({"b": {"c": [1, 2]}}), ParameterStyle::DeepObject),
            "a%5Bb%5D%5Bc%5D=1&a%5Bb%5D%5Bc%5D=2"
        );
        let nested = (0..40).fold(json!(1), |inner, _| json!({"k": inner}));
        let text = query(&nested, ParameterStyle::DeepObject);
        assert_eq!(text.matches("%5Bk%5D").count(), 16);
        assert_eq!(text.matches('=').count(), 1);
    }

    #[test]
    fn headers_are_not_escaped() {
        let plain: fn(&str) -> String = str::to_owned;
        let list = json!(["x y", 2]);
        assert_eq!(single(&list, ParameterStyle::Comma, plain).unwrap(), "x y,2");
        assert_eq!(single(&list, ParameterStyle::Pipe, plain).unwrap(), "x y|2");
        assert_eq!(single(&list, ParameterStyle::Pipe, escaped).unwrap(), "x%20y%7C2");
        assert_eq!(single(&json!({"a": 1}), ParameterStyle::CommaPairs, plain).unwrap(), "a=1");
        assert_eq!(single(&json!([]), ParameterStyle::Comma, plain), None);
    }
}
