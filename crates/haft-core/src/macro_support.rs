//! What generated code stands on.
//!
//! Macros expand to public items only, and the few that nobody would write by hand are here. They may change with any
//! release: nothing but a macro of the same release may use them.

#[doc(no_inline)]
pub use {schemars, serde, serde_json};

pub use crate::handler::{DECLARED, MIXED, OPAQUE, PLAIN, Probe, ProbeDefault, Returned, ReturnedNow, STREAM, kind};
pub use crate::kind_of;

/// The number of a return type's kind, for [`Returned`]: found by type, so aliases of `Result` are results.
#[doc(hidden)]
#[macro_export]
macro_rules! kind_of {
    ($returned:ty) => {{
        #[allow(unused_imports, reason = "an inherent answer hides the trait's")]
        use $crate::macro_support::ProbeDefault as _;
        type Probed = $crate::macro_support::Probe<$returned>;
        $crate::macro_support::kind(Probed::IS_RESULT, Probed::IS_DECLARED, Probed::IS_MIXED, Probed::IS_STREAM)
    }};
}

/// Whether two names are equal, at compile time.
#[must_use]
pub const fn same_name(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// A type with a schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema, so no model can be told about it",
    label = "this type has no schema",
    note = "derive `JsonSchema` for `{Self}`, next to its serde traits"
)]
pub trait Described {}

#[diagnostic::do_not_recommend]
impl<T: schemars::JsonSchema + ?Sized> Described for T {}

/// Compiles for types with a schema.
pub const fn described<T: Described + ?Sized>() {}

/// A type that a parameter of a tool can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter's type: it needs `Deserialize`, `Serialize` and `JsonSchema`",
    label = "this type lacks at least one of them",
    note = "write `#[derive(Deserialize, Serialize, JsonSchema)]` on it, and on each type of yours inside it: a model is \
            told the schema, a call is read into the type, and a call of your own is written from it"
)]
pub trait Parameter {}

#[diagnostic::do_not_recommend]
impl<T: serde::de::DeserializeOwned + serde::Serialize + schemars::JsonSchema> Parameter for T {}

/// Compiles for types that a parameter can have.
pub const fn parameter<T: Parameter>() {}

/// Refuses the name of the tool at `index` if one before it has the same, at compile time. Each tool is its type, as
/// written, and its name.
#[track_caller]
pub const fn check_name(tools: &[(&str, &str)], index: usize) {
    let (later, name) = tools[index];
    let mut before = 0;
    while before < index {
        let (earlier, other) = tools[before];
        if same_name(name, other) {
            let text = ConstText::new()
                .with("`")
                .with(earlier)
                .with("` and `")
                .with(later)
                .with("` are both called `")
                .with(name)
                .with("`: rename one with `#[tool(name = \"…\")]`, or leave it out");
            panic!("{}", text.as_str());
        }
        before += 1;
    }
}

/// Takes the description off a schema: generated parameters are described by their tool.
pub fn drop_description(schema: &mut schemars::Schema) {
    schema.remove("description");
}

/// A short text made at compile time; what doesn't fit is left out.
struct ConstText {
    bytes: [u8; 1024],
    len: usize,
}

impl ConstText {
    const fn new() -> Self {
        Self { bytes: [0; 1024], len: 0 }
    }

    const fn with(mut self, part: &str) -> Self {
        let part = part.as_bytes();
        if part.len() > self.bytes.len() - self.len {
            return self;
        }
        let mut index = 0;
        while index < part.len() {
            self.bytes[self.len] = part[index];
            self.len += 1;
            index += 1;
        }
        self
    }

    const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "two tools have the same name",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_names_pass() {
        check_name(&[("A", "a"), ("B", "ab"), ("C", "b")], 2);
    }

    #[test]
    #[should_panic(expected = "`A` and `tools::C` are both called `a`: rename one")]
    fn a_name_that_is_taken_names_both_tools() {
        check_name(&[("A", "a"), ("B", "b"), ("tools::C", "a")], 2);
    }

    #[test]
    fn a_text_leaves_out_what_does_not_fit() {
        let long = "x".repeat(2000);
        assert_eq!(ConstText::new().with("a").with(&long).with("ä").as_str(), "aä");
    }
}
