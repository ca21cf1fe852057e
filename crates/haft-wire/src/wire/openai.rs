//! The modules that OpenAI's two APIs share.

pub(crate) mod failure_text;
pub(crate) mod kept_item;
pub(crate) mod metadata_pair;
pub(crate) mod prompt_key;
