//! Support for generated code.
//!
//! Macros expand to public items only. The few that are not meant to be written by hand are here. They may change with
//! any release: only macros of the same release may use them.

#[doc(no_inline)]
pub use {schemars, serde, serde_json};

pub use crate::handler::typed::{OffersTool, OffersValue};
pub use crate::handler::{
    DECLARED, KindProbe, KindProbeDefault, MIXED, OPAQUE, PLAIN, Returned, ReturnedNow, STREAM, kind,
};
pub use crate::kind_of;
// the public names that expansions use, wherever a facade has them
#[doc(no_inline)]
pub use haft_core::{Destructive, Idempotent, Meta, OpenWorld, Readonly, Strict, Title, ToolCall};

pub use crate::{
    ApprovalPolicy, BuilderOf, CallVariant, Concurrency, Cx, DefinitionError, EmitBuffer, Emits, ExecutionLimits,
    Failure, FailureMode, IntoTool, KitType, Needs, NoFailure, OnOverflow, OutputCap, PerRun, Provide, ProviderTool,
    Serves, StaticKit, StaticTool, Tool, ToolCalls, ToolType, Toolkit, Typed,
};

/// Returns the number of a return type's kind, for [`Returned`]. It is determined by type, so aliases of `Result` are
/// recognised.
#[doc(hidden)]
#[macro_export]
macro_rules! kind_of {
    ($returned:ty) => {{
        #[allow(unused_imports, reason = "an inherent method takes precedence over that of the trait")]
        use $crate::macro_support::KindProbeDefault as _;
        type Probed = $crate::macro_support::KindProbe<$returned>;
        $crate::macro_support::kind(Probed::IS_RESULT, Probed::IS_DECLARED, Probed::IS_MIXED, Probed::IS_STREAM)
    }};
}

/// Compares two names at compile time.
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

/// A type with a `#[tools] impl` block. The trait does nothing: if there are two blocks, its name is the first thing
/// that the compiler reports.
pub trait OneToolsBlockPerType {}

/// A type with a schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema, so it can't be described to a model",
    label = "this type has no schema",
    note = "derive `JsonSchema` for `{Self}`, next to its serde traits"
)]
pub trait Described {}

#[diagnostic::do_not_recommend]
impl<T: schemars::JsonSchema + ?Sized> Described for T {}

/// Compiles for types with a schema.
pub const fn described<T: Described + ?Sized>() {}

/// A type that a parameter of a tool can have.
///
/// What is generated for a tool requires this of the types of its parameters, `for<'a>`: a bound with a lifetime is
/// checked where it is used and not where it is written. So a type that lacks a derive is one error, at the parameter.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the type of a parameter: it requires `Deserialize` and `JsonSchema`",
    label = "this type lacks at least one of them",
    note = "write `#[derive(Deserialize, JsonSchema)]` on it, and on each type of yours inside it: a model is told the \
            schema, and a call is read into the type"
)]
pub trait Parameter<'a>: serde::de::DeserializeOwned + schemars::JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: serde::de::DeserializeOwned + schemars::JsonSchema> Parameter<'_> for T {}

/// Compiles for types that a parameter can have.
pub const fn parameter<T: for<'a> Parameter<'a>>() {}

/// A type that a parameter of a typed call can have. See [`Parameter`] for the lifetime.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be written, so its tool can't be called by its type: it requires `Serialize`",
    label = "this type lacks it",
    note = "write `#[derive(Serialize)]` on it, and on each type of yours inside it; calls of a model do not need it"
)]
pub trait WrittenParameter<'a>: serde::Serialize {}

#[diagnostic::do_not_recommend]
impl<T: serde::Serialize> WrittenParameter<'_> for T {}

/// Compiles for types that a parameter of a typed call can have.
pub const fn written_parameter<T: for<'a> WrittenParameter<'a>>() {}

/// A type that can be a declared failure. See [`Parameter`] for the lifetime.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a failure: it requires `Serialize` and `JsonSchema`",
    label = "this type lacks at least one of them",
    note = "write `#[derive(Debug, Serialize, JsonSchema, Failure)]` on it: a model reads the failure, by its schema"
)]
pub trait DeclaredFailure<'a>: serde::Serialize + schemars::JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: serde::Serialize + schemars::JsonSchema + Send + 'static> DeclaredFailure<'_> for T {}

/// Compiles for types that can be declared failures.
pub const fn declared_failure<T: for<'a> DeclaredFailure<'a>>() {}

/// A type that a tool can emit.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be emitted: it requires `Serialize` and `JsonSchema`",
    label = "this type lacks at least one of them",
    note = "write `#[derive(Serialize, JsonSchema)]` on it, and `Deserialize` to read it from events"
)]
pub trait Emitable {}

#[diagnostic::do_not_recommend]
impl<T: serde::Serialize + schemars::JsonSchema + Send + 'static> Emitable for T {}

/// Compiles for types that a tool can emit.
pub const fn emitted<T: Emitable>() {}

/// Rejects the name of the tool at `index` at compile time, if an earlier tool has the same. Each entry consists of the
/// type of a tool, as written, and its name.
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

/// Rejects the kit at `index` at compile time, if an earlier kit has a tool of the same name. Each entry consists of
/// the type of a kit, as written, and the names of its tools.
#[track_caller]
pub const fn check_kit(kits: &[(&str, &[&str])], index: usize) {
    let (later, names) = kits[index];
    let mut before = 0;
    while before < index {
        let (earlier, others) = kits[before];
        let mut place = 0;
        while place < names.len() {
            if has_name(others, names[place]) {
                let text = ConstText::new()
                    .with("`")
                    .with(earlier)
                    .with("` and `")
                    .with(later)
                    .with("` both have a tool called `")
                    .with(names[place])
                    .with("`: rename one with `#[tool(name = \"…\")]`, or put one kit in a namespace: `Toolkit::compose([")
                    .with(earlier)
                    .with("::toolkit(), ")
                    .with(later)
                    .with("::toolkit().namespace(\"…\")?])`");
                panic!("{}", text.as_str());
            }
            place += 1;
        }
        before += 1;
    }
}

const fn has_name(names: &[&str], name: &str) -> bool {
    let mut index = 0;
    while index < names.len() {
        if same_name(names[index], name) {
            return true;
        }
        index += 1;
    }
    false
}

/// Starts a typed tool that is built into a provider, with settings of any type.
pub fn with_settings<T, A>(factory: ProviderTool, settings: A) -> BuilderOf<T>
where
    T: ToolType,
    A: serde::Serialize + schemars::JsonSchema,
{
    factory.args::<A>().of_type::<T>(settings)
}

/// Removes the description from a schema: generated parameters are described by their tool.
pub fn drop_description(schema: &mut schemars::Schema) {
    schema.remove("description");
}

/// A short text built at compile time. Parts that exceed its capacity are omitted.
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
    fn a_duplicate_name_is_reported_with_both_tools() {
        check_name(&[("A", "a"), ("B", "b"), ("tools::C", "a")], 2);
    }

    #[test]
    fn kits_with_different_tools_pass() {
        check_kit(&[("A", &["a", "b"]), ("B", &[]), ("C", &["c"])], 2);
    }

    #[test]
    #[should_panic(expected = "`A` and `kits::C` both have a tool called `b`: rename one")]
    fn a_shared_tool_is_reported_with_both_kits() {
        check_kit(&[("A", &["a", "b"]), ("B", &["c"]), ("kits::C", &["d", "b"])], 2);
    }

    #[test]
    fn a_text_omits_parts_beyond_its_capacity() {
        let long = "x".repeat(2000);
        assert_eq!(ConstText::new().with("a").with(&long).with("ä").as_str(), "aä");
    }
}
