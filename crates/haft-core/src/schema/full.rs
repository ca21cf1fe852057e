//! The full JSON Schema validator, for what nodes can't say.
//!
//! Everything the `jsonschema` crate is asked goes through here, and it is never given a way to reach a network or a
//! file: a reference that the schema itself doesn't hold is a fault of the schema.

#[cfg(feature = "validate")]
pub(super) use self::enabled::{FullCheck, build_at, build_root, meta_faults};

/// Without the `validate` feature there is no such check, and no value of this type.
#[cfg(not(feature = "validate"))]
#[derive(Debug)]
pub(super) enum FullCheck {}

#[cfg(not(feature = "validate"))]
impl FullCheck {
    pub(super) fn fits(&self, _value: &serde_json::Value) -> bool {
        match *self {}
    }

    pub(super) fn issues(&self, _value: &serde_json::Value, _most: usize) -> Vec<crate::issue::Issue> {
        match *self {}
    }
}

#[cfg(feature = "validate")]
mod enabled {
    use std::fmt;

    use jsonschema::error::{TypeKind, ValidationErrorKind};
    use jsonschema::{Draft, PatternOptions, ValidationError, ValidationOptions, Validator};
    use serde_json::{Value, json};

    use crate::issue::Issue;
    use crate::schema::draft::Dialect;
    use crate::schema::explain::excerpt;
    use crate::schema::resolver::Resolver;

    /// The name under which a schema is embedded when only a part of it is compiled.
    const EMBEDDED: &str = "haft:/schema";

    /// How often a pattern with look-around or back-references may try again.
    const BACKTRACK_LIMIT: usize = 50_000;

    /// A compiled full validator.
    pub(in crate::schema) struct FullCheck(Validator);

    impl fmt::Debug for FullCheck {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("FullCheck")
        }
    }

    impl FullCheck {
        pub(in crate::schema) fn fits(&self, value: &Value) -> bool {
            self.0.is_valid(value)
        }

        /// The problems of `value`, with pointers relative to it, up to a number.
        pub(in crate::schema) fn issues(&self, value: &Value, most: usize) -> Vec<Issue> {
            self.0.iter_errors(value).take(most).map(|error| issue(&error)).collect()
        }
    }

    /// Compiles the whole schema.
    pub(in crate::schema) fn build_root(
        schema: &Value,
        dialect: Dialect,
        resolver: &Resolver,
    ) -> Result<FullCheck, Issue> {
        options(dialect, resolver).build(schema).map(FullCheck).map_err(|error| fault(&error))
    }

    /// Compiles the part of `schema` at `pointer`, with its references into the rest intact.
    pub(in crate::schema) fn build_at(schema: &Value, pointer: &str, dialect: Dialect) -> Result<FullCheck, Issue> {
        let mut embedded = schema.clone();
        if let Value::Object(root) = &mut embedded {
            root.insert("$id".to_owned(), Value::from(EMBEDDED));
        }
        let (definitions, reference) = (dialect.definitions(), format!("{EMBEDDED}#{}", fragment(pointer)));
        let whole = json!({ "$ref": reference, definitions: { "schema": embedded } });
        options(dialect, &Resolver::none()).build(&whole).map(FullCheck).map_err(|error| fault(&error))
    }

    /// What the schema's own meta-schema says against it: all of it.
    pub(in crate::schema) fn meta_faults(schema: &Value, dialect: Dialect) -> Vec<Issue> {
        // Without `$schema` the meta-schema is ours to name; the caller has refused unknown ones.
        let validator = match dialect.draft() {
            Draft::Draft4 => jsonschema::draft4::meta::validator(),
            Draft::Draft6 => jsonschema::draft6::meta::validator(),
            Draft::Draft7 => jsonschema::draft7::meta::validator(),
            Draft::Draft201909 => jsonschema::draft201909::meta::validator(),
            _ => jsonschema::draft202012::meta::validator(),
        };
        let mut faults: Vec<Issue> = Vec::new();
        for error in validator.iter_errors(schema) {
            let mut fault = issue(&error);
            if fault.pointer.ends_with("/type") && fault.keyword == "anyOf" {
                fault.message = format!(
                    "must be one of array, boolean, integer, null, number, object, string, or a list of them, not {}",
                    fault.found
                );
            }
            // The meta-schema is made of parts, and each says the same.
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
        faults
    }

    fn options(dialect: Dialect, resolver: &Resolver) -> ValidationOptions<'static> {
        // A hostile pattern could otherwise go back and forth over a short string for seconds.
        let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT);
        let options = jsonschema::options()
            .with_draft(dialect.draft())
            .should_validate_formats(false)
            .with_pattern_options(patterns);
        match resolver.retriever() {
            Some(retriever) => options.with_retriever(retriever),
            None => options.offline(),
        }
    }

    /// A pointer as a URI fragment.
    fn fragment(pointer: &str) -> String {
        let mut fragment = String::with_capacity(pointer.len());
        for byte in pointer.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'~' | b'-' | b'_' | b'.' | b'$' => {
                    fragment.push(char::from(byte));
                }
                _ => fragment.push_str(&format!("%{byte:02X}")),
            }
        }
        fragment
    }

    /// A schema that can't be compiled.
    fn fault(error: &ValidationError<'_>) -> Issue {
        match error.kind() {
            ValidationErrorKind::Referencing(cause) => Issue::new(
                error.schema_path().to_string(),
                "$ref",
                format!("{cause}; a schema must hold everything it refers to (nothing is fetched)"),
            ),
            _ => issue(error),
        }
    }

    /// One problem in our words; values are quoted short.
    fn issue(error: &ValidationError<'_>) -> Issue {
        let found = excerpt(error.instance());
        let (expected, message) = match error.kind() {
            ValidationErrorKind::Type { kind } => {
                let types = match kind {
                    TypeKind::Single(single) => single.to_string(),
                    TypeKind::Multiple(several) => {
                        several.iter().map(|one| one.to_string()).collect::<Vec<_>>().join(" or ")
                    }
                };
                (types.clone(), format!("must be of type {types}, not {found}"))
            }
            ValidationErrorKind::Required { property } => {
                (property.to_string(), format!("the key {property} is missing and must be given"))
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => (
                "only declared keys".to_owned(),
                format!("has keys that are not allowed here: {}; leave them out", unexpected.join(", ")),
            ),
            ValidationErrorKind::Pattern { pattern } => {
                (pattern.clone(), format!("must match the pattern {pattern}, and {found} does not"))
            }
            ValidationErrorKind::PropertyNames { error } => {
                ("an allowed key".to_owned(), format!("has a key that is not allowed: {}", error.masked()))
            }
            _ => (String::new(), error.masked_with(found.clone()).to_string()),
        };
        Issue::new(error.instance_path().to_string(), error.kind().keyword(), message).expected(expected).found(found)
    }
}
