//! Calls in the notation of Python, as in `grep(file_name='log.txt', pattern='Error')`.

use serde_json::{Map, Number, Value};

/// A call as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LiteralCall {
    pub(super) name: String,
    /// The arguments without a name, in their order.
    pub(super) positional: Vec<Value>,
    pub(super) named: Map<String, Value>,
}

/// The unread rest of a text.
struct Literals<'t> {
    rest: &'t str,
}

/// Reads a call; `None` if it is written in any other way.
pub(super) fn call(text: &str) -> Option<LiteralCall> {
    let (name, rest) = text.trim().split_once('(')?;
    let mut literals = Literals { rest };
    let (mut positional, mut named) = (Vec::new(), Map::new());
    while !literals.take(')') {
        match literals.argument_name() {
            Some(name) => {
                named.insert(name, literals.value()?);
            }
            None => positional.push(literals.value()?),
        }
        literals.take(',');
    }
    literals.rest.trim().is_empty().then(|| LiteralCall { name: name.to_owned(), positional, named })
}

impl Literals<'_> {
    /// Skips a character, and the space before it, if it is next.
    fn take(&mut self, char: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(char);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn argument_name(&mut self) -> Option<String> {
        let (name, rest) = self.rest.trim_start().split_once('=')?;
        let name = name.trim_end();
        let is_name = name.chars().all(|char| char.is_alphanumeric() || char == '_') && !name.is_empty();
        is_name.then(|| {
            self.rest = rest;
            name.to_owned()
        })
    }

    fn value(&mut self) -> Option<Value> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            '\'' | '"' => self.text().map(Value::from),
            '[' => self.items('[', ']'),
            '(' => self.items('(', ')'),
            '{' => self.members(),
            _ => self.word(),
        }
    }

    fn text(&mut self) -> Option<String> {
        let quote = self.rest.chars().next()?;
        let (mut text, mut chars) = (String::new(), self.rest.char_indices().skip(1));
        while let Some((at, char)) = chars.next() {
            match char {
                '\\' => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    escaped @ ('\\' | '\'' | '"') => text.push(escaped),
                    other => text.extend(['\\', other]),
                },
                char if char == quote => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                char => text.push(char),
            }
        }
        None
    }

    fn items(&mut self, open: char, close: char) -> Option<Value> {
        let mut items = Vec::new();
        self.take(open);
        while !self.take(close) {
            items.push(self.value()?);
            self.take(',');
        }
        Some(items.into())
    }

    fn members(&mut self) -> Option<Value> {
        let mut members = Map::new();
        self.take('{');
        while !self.take('}') {
            let Value::String(name) = self.value()? else { return None };
            if !self.take(':') {
                return None;
            }
            members.insert(name, self.value()?);
            self.take(',');
        }
        Some(members.into())
    }

    fn word(&mut self) -> Option<Value> {
        let end = self.rest.find([',', ')', ']', '}', ':', ' ']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "True" | "true" => Some(true.into()),
            "False" | "false" => Some(false.into()),
            "None" => Some(Value::Null),
            word => word
                .parse::<i64>()
                .map(Value::from)
                .ok()
                .or_else(|| word.parse().ok().and_then(Number::from_f64).map(Value::Number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_have_positional_and_named_arguments() {
        let read = call("cp('a (1).txt', destination=\"it's\", n = -1.5, all=True, none=None)").unwrap();
        let Value::Object(named) = json!({"destination": "it's", "n": -1.5, "all": true, "none": null}) else {
            unreachable!()
        };
        assert_eq!(read, LiteralCall { name: "cp".to_owned(), positional: vec![json!("a (1).txt")], named });
    }

    #[test]
    fn values_nest_and_text_is_unescaped() {
        let read = call(r"f(a=[1, [2], (3, 4)], b={'k': {'x': []}}, c='it\'s\n')").unwrap();
        assert_eq!(Value::Object(read.named), json!({"a": [1, [2], [3, 4]], "b": {"k": {"x": []}}, "c": "it's\n"}));
    }

    #[test]
    fn other_texts_are_no_calls() {
        for text in ["", "f", "f(", "f(a=", "f(a='x)", "f(a=b)", "f(1) + 2", "f({1: 2})", "f(a=[1)"] {
            assert_eq!(call(text), None, "{text}");
        }
    }
}
