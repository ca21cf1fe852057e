//! Parts for the other crates of this workspace. They may change with any release.

pub use crate::digest::{push_hex, sha256};
pub use crate::failure::{OPAQUE_MESSAGE, SHOWN_ISSUES};
pub use crate::nearest_tool::ranked_tools;
pub use crate::output::Shown;
pub use crate::random::Serial;
pub use crate::result::{decode_output, model_text, quoted};
pub use crate::run_id::idempotency_key;
