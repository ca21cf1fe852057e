//! Small inputs that expand to large ones, so that a few mutations reach code that only large inputs reach.
//!
//! An object with one of these keys is expanded; `@of` is the repeated part, and `%` in a string is the index of the
//! innermost copy around it (`%+` the next one):
//!
//! | object | written as |
//! |---|---|
//! | `{"@list":3,"@of":X}` | an array of 3 copies of `X`; with `"@last":Y`, `Y` in the place of the last one |
//! | `{"@map":3,"@of":X}` | an object of 3 members, `k0` to `k2`; `@last` as above |
//! | `{"@nest":3,"@open":"[","@close":"]","@of":X}` | `X` with the other texts 3 times around it |
//! | `{"@digits":3}` | the number `777` |
//! | `{"@number":"1e999"}` | the text, without its quotes |
//! | `{"@text":"ab","@times":3}` | the string `"ababab"` |

use serde_json::{Map, Value};

/// The longest text that is written.
const LONGEST: usize = 200_000;

/// Writes a JSON text with everything in it expanded. Invalid JSON is unchanged.
pub(crate) fn expand(text: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    let mut writer = Writer { text: String::new() };
    writer.value(&value, 0);
    writer.text
}

struct Writer {
    text: String,
}

impl Writer {
    fn value(&mut self, value: &Value, at: usize) {
        match value {
            Value::Array(items) => self.sequence("[", items.iter(), |writer, item| writer.value(item, at), "]"),
            Value::Object(map) => self.object(map, at),
            Value::String(text) => self.string(text, at),
            scalar => self.text.push_str(&scalar.to_string()),
        }
    }

    fn object(&mut self, map: &Map<String, Value>, at: usize) {
        let count = |key: &str| map.get(key).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
        let text = |key: &str| map.get(key).and_then(Value::as_str);
        let of = map.get("@of").unwrap_or(&Value::Null);
        if let Some(count) = count("@list") {
            self.sequence("[", 0..count, |writer, at| writer.value(copy(map, of, at, count), at), "]");
        } else if let Some(count) = count("@map") {
            let member = |writer: &mut Self, at: usize| {
                writer.text.push_str(&format!("\"k{at}\":"));
                writer.value(copy(map, of, at, count), at);
            };
            self.sequence("{", 0..count, member, "}");
        } else if let Some(count) = count("@nest") {
            let (open, close) = (text("@open").unwrap_or("["), text("@close").unwrap_or("]"));
            let count = count.min(LONGEST / (open.len() + close.len()).max(1));
            self.text.push_str(&open.repeat(count));
            self.value(of, at);
            self.text.push_str(&close.repeat(count));
        } else if let Some(count) = count("@digits") {
            self.text.push_str(&"7".repeat(count.clamp(1, LONGEST)));
        } else if let Some(number) = text("@number") {
            self.text.push_str(number);
        } else if let (Some(text), Some(count)) = (text("@text"), count("@times")) {
            self.string(&text.repeat(count.min(LONGEST / text.len().max(1))), at);
        } else {
            let member = |writer: &mut Self, (name, value): (&String, &Value)| {
                writer.string(name, at);
                writer.text.push(':');
                writer.value(value, at);
            };
            self.sequence("{", map.iter(), member, "}");
        }
    }

    fn sequence<T>(
        &mut self,
        open: &str,
        parts: impl Iterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
        close: &str,
    ) {
        self.text.push_str(open);
        for (at, part) in parts.enumerate() {
            if self.text.len() > LONGEST {
                break;
            }
            if at > 0 {
                self.text.push(',');
            }
            write(self, part);
        }
        self.text.push_str(close);
    }

    fn string(&mut self, text: &str, at: usize) {
        let numbered = text.replace("%+", &(at + 1).to_string()).replace('%', &at.to_string());
        self.text.push_str(&Value::from(numbered).to_string());
    }
}

/// Returns the part of a list or map at an index.
fn copy<'a>(map: &'a Map<String, Value>, of: &'a Value, at: usize, count: usize) -> &'a Value {
    map.get("@last").filter(|_| at + 1 == count).unwrap_or(of)
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, expand};

    #[test]
    fn each_form_is_expanded_as_in_the_table() {
        for (small, large) in [
            (r#"{"a":[1,"b"]}"#, r#"{"a":[1,"b"]}"#),
            (r#"{"@list":3,"@of":"x%","@last":null}"#, r#"["x0","x1",null]"#),
            (r#"{"@map":2,"@of":{"r":"%+"}}"#, r#"{"k0":{"r":"1"},"k1":{"r":"2"}}"#),
            (r#"{"@nest":2,"@open":"{\"a\":[","@close":"]}","@of":1}"#, r#"{"a":[{"a":[1]}]}"#),
            (r#"[{"@digits":3},{"@number":"1e999"},{"@text":"ab","@times":2}]"#, r#"[777,1e999,"abab"]"#),
            ("{nope", "{nope"),
        ] {
            assert_eq!(expand(small), large, "{small}");
        }
    }

    #[test]
    fn lists_of_lists_stay_within_the_longest_text() {
        let inner = r#"{"@list":4000000,"@of":{"@list":4000000,"@of":{"@text":"aaaa","@times":1000000}}}"#;
        assert!(expand(inner).len() < 3 * LONGEST);
    }
}
