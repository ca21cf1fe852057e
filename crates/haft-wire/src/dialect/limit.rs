//! Size limits for rendered schemas.

use haft_core::RenderFault;
use serde_json::Value;

use crate::dialect::rules::{Rules, Sizes};

/// A rendered schema's sizes.
#[derive(Debug, Default)]
struct Measured {
    properties: usize,
    name_chars: usize,
    enum_values: usize,
    /// The most characters in one long string enumeration.
    long_enum_chars: usize,
}

/// Rejects a rendered schema that is larger than the dialect allows.
pub(crate) fn check(rules: &Rules, json: &serde_json::Map<String, Value>) -> Result<(), RenderFault> {
    let Some(sizes) = &rules.sizes else { return Ok(()) };
    let mut measured = Measured::default();
    measured.keywords(sizes, json);
    let found = [
        (measured.properties, sizes.max_properties, "members"),
        (measured.name_chars, sizes.max_name_chars, "characters of names and constants"),
        (measured.enum_values, sizes.max_enum_values, "enumerated values"),
        (measured.long_enum_chars, sizes.max_long_enum_chars, "characters in one long enumeration"),
    ];
    for (found, most, unit) in found {
        if found > most {
            let message = format!("the schema has {found} {unit}, and {} allows {most}", rules.name);
            return Err(RenderFault::new("", message, "split the tool, or render it in a dialect that is not strict"));
        }
    }
    Ok(())
}

impl Measured {
    fn schema(&mut self, sizes: &Sizes, schema: &Value) {
        if let Value::Object(keywords) = schema {
            self.keywords(sizes, keywords);
        }
    }

    fn keywords(&mut self, sizes: &Sizes, keywords: &serde_json::Map<String, Value>) {
        for (keyword, value) in keywords {
            match (keyword.as_str(), value) {
                ("properties" | "$defs", Value::Object(schemas)) => {
                    self.properties += if keyword == "properties" { schemas.len() } else { 0 };
                    for (name, schema) in schemas {
                        self.name_chars += name.chars().count();
                        self.schema(sizes, schema);
                    }
                }
                ("anyOf" | "prefixItems", Value::Array(schemas)) => {
                    for schema in schemas {
                        self.schema(sizes, schema);
                    }
                }
                ("items" | "additionalProperties", schema) => self.schema(sizes, schema),
                ("enum", Value::Array(values)) => {
                    let chars: usize = values.iter().filter_map(Value::as_str).map(|text| text.chars().count()).sum();
                    self.enum_values += values.len();
                    self.name_chars += chars;
                    if values.len() > sizes.long_enum {
                        self.long_enum_chars = self.long_enum_chars.max(chars);
                    }
                }
                _ => {}
            }
        }
    }
}
