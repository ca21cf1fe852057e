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
