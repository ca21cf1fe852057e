//! The common parts of OpenAI's two APIs.

pub(crate) mod failure_text;
pub(crate) mod kept_item;
pub(crate) mod metadata_pair;
pub(crate) mod prompt_key;
