//! `x-even`: the worked example of a keyword. It requires numbers to be even, and exists only in tests.
//!
//! The file contains everything about the keyword: the row of the table, its compilation, its check and its messages.

use serde_json::Value;

use super::{ALL, Compile, Keyword};
use crate::schema::compile::SubschemaCompiler;
use crate::schema::decimal::{Divisor, Number};
use crate::schema::document::Instance;
use crate::schema::node::TypeRules;
use crate::schema::problem::{CustomProblem, Problem};
use crate::schema::rule::KeywordRule;
use crate::schema::shape::Shape;
use crate::schema::walk::Walk;

pub(super) const KEYWORDS: &[Keyword] = &[Keyword::new("x-even", ALL, Shape::Boolean, Compile::Rules(compile))];

fn compile(subschema: &mut SubschemaCompiler<'_, '_>, keyword: &Value) {
    match Divisor::new(Number::parse("2")) {
        Ok(two) if keyword == &Value::Bool(true) => subschema.rule(Even { two }),
        _ => {}
    }
}

/// A rule that numbers must be even.
#[derive(Debug)]
struct Even {
    two: Divisor,
}

impl KeywordRule for Even {
    fn check(&self, _: &TypeRules, value: Instance<'_>, walk: &mut Walk<'_, '_>) {
        if walk.work(value.raw().len() / 16) && value.number().is_some_and(|number| !number.is_multiple_of(&self.two)) {
            let words = || CustomProblem { expected: "an even number".to_owned(), message: "must be even".to_owned() };
            walk.report(value, &Problem::Custom { keyword: "x-even", words: &words });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::schema::{DecodeOptions, Schema};

    #[test]
    fn one_file_and_one_line_add_a_keyword() {
        let fault = Schema::json(json!({"items": {"x-even": 1}})).unwrap_err();
        assert_eq!(fault.to_string(), "invalid schema: /items/x-even: must be a boolean");
        let meta = json!({"$ref": "https://json-schema.org/draft/2020-12/schema"});
        assert!(Schema::json(meta).unwrap().check(&json!({"x-even": "yes"})).is_err());

        let schema = Schema::json(json!({"items": {"x-even": true, "minimum": 0}})).unwrap();
        let read = |text: &str| schema.decode::<Vec<f64>>(text, &DecodeOptions::default()).map(|decoded| decoded.value);
        assert_eq!(read("[2, 4.0]").unwrap(), [2.0, 4.0]);
        let issues = read("[2, -3]").unwrap_err();
        assert_eq!(issues.to_string(), "/1: must be even; /1: must be at least 0, and is -3");
        assert!(schema.encode(&[2, 4]).is_ok());
        assert!(schema.encode(&[2, 5]).is_err());
    }
}
