//! The public face of haft-core, one file per subject.

mod macro_expansion;
mod conversation_values;
