//! The model table.
//!
//! It has one row per model family, matched by a name pattern. Later rows win over earlier ones, and your rows win over
//! all built-in ones. A row states only how its models differ from one that can do everything.

use std::borrow::Cow;
use std::fmt;

use super::{Capabilities, EncryptedReasoning, ForcedChoice};

/// Model capabilities by name.
///
/// ```
/// use haft_wire::{Capabilities, ModelTable};
///
/// let mut local = Capabilities::default();
/// local.strict_tools = false;
/// let models = ModelTable::built_in().with("llama*", local);
///
/// assert!(!models.find("llama3.3:70b").strict_tools);
/// assert_eq!(models.find("claude-opus-4-5").max_output_tokens, Some(64_000));
/// assert_eq!(models.find("a-new-model"), Capabilities::default());
/// ```
#[derive(Clone)]
pub struct ModelTable {
    rows: Vec<ModelRow>,
}

#[derive(Clone)]
struct ModelRow {
    pattern: Cow<'static, str>,
    /// The length of the pattern up to its first `*`, or its whole length. Most names differ within it.
    prefix: usize,
    /// The byte that names begin with, unless the pattern begins with `*`. Every request searches the table, and most
    /// rows are skipped for it.
    first: Option<u8>,
    capabilities: Capabilities,
}

impl ModelTable {
    /// Returns an empty table: every model can do everything.
    #[must_use]
    pub fn empty() -> Self {
        Self { rows: Vec::new() }
    }

    /// Returns the built-in table.
    #[must_use]
    pub fn built_in() -> Self {
        let rows = ROWS.iter().map(|(pattern, change)| {
            let mut capabilities = Capabilities::default();
            change(&mut capabilities);
            ModelRow::new(Cow::Borrowed(*pattern), capabilities)
        });
        Self { rows: rows.collect() }
    }

    /// Adds a row, which wins over earlier ones. `*` in the pattern stands for any text.
    #[must_use]
    pub fn with(mut self, pattern: impl Into<Cow<'static, str>>, capabilities: Capabilities) -> Self {
        self.rows.push(ModelRow::new(pattern.into(), capabilities));
        self
    }

    /// Returns a model's capabilities.
    ///
    /// Prefixes and suffixes that gateways and platforms add are ignored: `openai/gpt-5`, `models/gemini-2.5-pro`,
    /// `anthropic/claude-opus-4.7`, `us.anthropic.claude-opus-4-7-v1:0` and `ft:gpt-4.1-mini:org::id` match the model's
    /// own name.
    #[must_use]
    pub fn find(&self, model: &str) -> Capabilities {
        let own = own_name(model);
        let other = (*own != *model).then_some(&*own);
        let is_for = |row: &&ModelRow| row.is_for(model) || other.is_some_and(|own| row.is_for(own));
        self.rows.iter().rev().find(is_for).map(|row| row.capabilities).unwrap_or_default()
    }
}

/// Returns the maker's name for a model, without the parts that gateways and platforms add.
fn own_name(model: &str) -> Cow<'_, str> {
    let name = model.rsplit_once('/').map_or(model, |(_, name)| name);
    let name = name.strip_prefix("ft:").unwrap_or(name);
    if !name.contains('.') {
        return name.into();
    }
    // Amazon Bedrock: an optional region, the vendor, the model.
    let of_vendor = |vendor: &str| {
        let (before, model) = name.split_once(vendor)?;
        (before.is_empty() || before.ends_with('.')).then_some(model)
    };
    let name = ["anthropic.", "openai.", "google."].into_iter().find_map(of_vendor).unwrap_or(name);
    // Gateways write Claude's version with a dot.
    if name.starts_with("claude-") { name.replace('.', "-").into() } else { name.into() }
}

impl Default for ModelTable {
    fn default() -> Self {
        Self::built_in()
    }
}

/// Prints the number of rows: the rows themselves would fill pages in the output of everything that holds a table.
impl fmt::Debug for ModelTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelTable").field("rows", &self.rows.len()).finish()
    }
}

impl ModelRow {
    fn new(pattern: Cow<'static, str>, capabilities: Capabilities) -> Self {
        let first = pattern.bytes().next().filter(|byte| *byte != b'*');
        let prefix = pattern.find('*').unwrap_or(pattern.len());
        Self { pattern, prefix, first, capabilities }
    }

    #[inline]
    fn is_for(&self, name: &str) -> bool {
        self.first.is_none_or(|first| name.as_bytes().first() == Some(&first))
            && name.as_bytes().starts_with(&self.pattern.as_bytes()[..self.prefix])
            && matches(&self.pattern, name)
    }
}

/// Reports whether a name matches a pattern, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// A row's change to a model that can do everything.
type CapabilityChange = fn(&mut Capabilities);

const ROWS: &[(&str, CapabilityChange)] = &[
    // OpenAI
    ("gpt-3.5*", |model| {
        limits(model, 16_385, 4_096);
        model.structured_output = false;
        without_reasoning(model);
        without_images(model);
    }),
    ("gpt-4*", |model| {
        limits(model, 8_192, 4_096);
        model.structured_output = false;
        without_reasoning(model);
        without_images(model);
    }),
    ("gpt-4-turbo*", |model| {
        limits(model, 128_000, 4_096);
        model.structured_output = false;
        without_reasoning(model);
    }),
    ("gpt-4o*", |model| {
        limits(model, 128_000, 16_384);
        without_reasoning(model);
    }),
    ("chatgpt-4o*", |model| {
        limits(model, 128_000, 16_384);
        without_reasoning(model);
    }),
    ("gpt-4.1*", |model| {
        limits(model, 1_047_576, 32_768);
        without_reasoning(model);
    }),
    ("o1*", reasoning_200k),
    ("o1-mini*", |model| {
        reasoning_200k(model);
        model.tools = false;
        model.structured_output = false;
        without_images(model);
    }),
    ("o3*", without_stop),
    ("o3-mini*", |model| {
        reasoning_200k(model);
        without_images(model);
    }),
    ("o4*", without_stop),
    ("codex-mini*", reasoning_200k),
    ("gpt-5*", |model| gpt_5(model, 400_000)),
    ("gpt-5*-chat*", |model| {
        limits(model, 128_000, 16_384);
        without_reasoning(model);
    }),
    ("gpt-5.4*", |model| gpt_5(model, 1_050_000)),
    ("gpt-5.5*", |model| gpt_5(model, 1_050_000)),
    ("gpt-6*", |model| model.encrypted_reasoning = EncryptedReasoning::Available),
    // Anthropic
    ("claude-*", |model| limits(model, 200_000, 64_000)),
    ("claude-*-5*", |model| {
        limits(model, 1_000_000, 128_000);
        model.sampling = false;
        model.prefill = false;
        thinks(model);
    }),
    // A gateway puts the version before the name.
    ("claude-4-*", one_sampling_200k),
    ("claude-4-7-*", adaptive_1m),
    ("claude-4-8-*", adaptive_1m),
    ("claude-3-*", |model| {
        limits(model, 200_000, 4_096);
        without_grammars(model);
        without_reasoning(model);
    }),
    ("claude-3-5-*", |model| {
        limits(model, 200_000, 8_192);
        without_grammars(model);
        without_reasoning(model);
    }),
    ("claude-3-7-*", |model| {
        limits(model, 200_000, 64_000);
        without_grammars(model);
        thinks(model);
    }),
    // The generation's first models are named by date.
    ("claude-*-4-*", one_sampling_200k),
    ("claude-*-4-0*", before_grammars),
    ("claude-*-4-2*", before_grammars),
    ("claude-opus-4-1*", |model| {
        one_sampling_200k(model);
        limits(model, 200_000, 32_000);
    }),
    ("claude-sonnet-4-6*", |model| {
        thinking_1m(model);
        limits(model, 1_000_000, 64_000);
    }),
    ("claude-opus-4-6*", thinking_1m),
    ("claude-opus-4-7*", adaptive_1m),
    ("claude-opus-4-8*", adaptive_1m),
    ("claude-opus-5-5*", never_forced),
    ("claude-sonnet-5-5*", never_forced),
    ("claude-haiku-5-5*", |model| {
        adaptive_1m(model);
        model.bound_reasoning = true;
    }),
    ("claude-fable-5-*", never_forced),
    ("claude-mythos-5-*", |model| {
        never_forced(model);
        model.bound_reasoning = false;
    }),
    // Google
    ("gemini-1.5-pro*", |model| before_thinking(model, 2_097_152)),
    ("gemini-1.5-flash*", |model| before_thinking(model, 1_048_576)),
    ("gemini-2.0*", |model| before_thinking(model, 1_048_576)),
    ("gemini-2.5*", |model| {
        limits(model, 1_048_576, 65_536);
        model.image_results = false;
    }),
    // Its screenshots are results.
    ("gemini-2.5-computer-use*", |model| limits(model, 131_072, 65_536)),
    ("gemini-3*", |model| limits(model, 1_048_576, 65_536)),
    // Input and output share one limit, and settings for sampling are ignored.
    ("gemini-4*", |model| {
        limits(model, 1_048_576, 1_048_576);
        model.sampling = false;
    }),
];

fn limits(model: &mut Capabilities, context: u64, output: u64) {
    model.context_tokens = Some(context);
    model.max_output_tokens = Some(output);
}

fn without_images(model: &mut Capabilities) {
    model.images = false;
    model.image_results = false;
}

/// Neither tools nor answers are held to a schema.
fn without_grammars(model: &mut Capabilities) {
    model.strict_tools = false;
    model.structured_output = false;
}

/// A call can't be required together with thinking.
fn thinks(model: &mut Capabilities) {
    model.forced_choice = ForcedChoice::WithoutThinking;
}

/// Anthropic models from Opus 4.1 on, which take one setting of sampling at a time.
fn one_sampling_200k(model: &mut Capabilities) {
    limits(model, 200_000, 64_000);
    thinks(model);
    model.joint_sampling = false;
}

/// Anthropic models from before strict tools.
fn before_grammars(model: &mut Capabilities) {
    limits(model, 200_000, 32_000);
    without_grammars(model);
    thinks(model);
}

/// Anthropic models with a large context whose thinking can be turned off, and which never continue a message.
fn thinking_1m(model: &mut Capabilities) {
    one_sampling_200k(model);
    limits(model, 1_000_000, 128_000);
    model.prefill = false;
}

/// Anthropic models from Opus 4.7 on, which choose their own sampling and reject sampling settings.
fn adaptive_1m(model: &mut Capabilities) {
    thinking_1m(model);
    model.sampling = false;
}

/// Anthropic models that think before every call, so no call can be forced, and whose thinking belongs to one
/// conversation.
fn never_forced(model: &mut Capabilities) {
    adaptive_1m(model);
    model.forced_choice = ForcedChoice::Never;
    model.bound_reasoning = true;
}

/// Google models before 2.5.
fn before_thinking(model: &mut Capabilities, context: u64) {
    limits(model, context, 8_192);
    model.strict_tools = false;
    model.image_results = false;
    without_reasoning(model);
}

/// Models without reasoning.
fn without_reasoning(model: &mut Capabilities) {
    model.encrypted_reasoning = EncryptedReasoning::Unavailable;
}

/// OpenAI's reasoning models.
fn reasoning(model: &mut Capabilities) {
    model.sampling = false;
    model.encrypted_reasoning = EncryptedReasoning::Available;
}

/// OpenAI's GPT-5 models, as far as they reason.
fn gpt_5(model: &mut Capabilities, context: u64) {
    limits(model, context, 128_000);
    reasoning(model);
    model.stop = false;
}

/// OpenAI's reasoning models that reject sequences which end the answer.
fn without_stop(model: &mut Capabilities) {
    reasoning_200k(model);
    model.stop = false;
}

/// OpenAI's reasoning models before GPT-5.
fn reasoning_200k(model: &mut Capabilities) {
    limits(model, 200_000, 100_000);
    reasoning(model);
    model.parallel_calls = false;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_their_family() {
        let models = ModelTable::built_in();
        for (model, context, output) in [
            ("gpt-3.5-turbo-0125", 16_385, 4_096),
            ("gpt-4", 8_192, 4_096),
            ("gpt-4-turbo-2024-04-09", 128_000, 4_096),
            ("gpt-4o-mini", 128_000, 16_384),
            ("gpt-4.1-nano", 1_047_576, 32_768),
            ("o3-mini", 200_000, 100_000),
            ("openai/gpt-5", 400_000, 128_000),
            ("gpt-5.2-chat-latest", 128_000, 16_384),
            ("gpt-5.4-2026-03-17", 1_050_000, 128_000),
            ("claude-3-haiku-20240307", 200_000, 4_096),
            ("claude-3-5-haiku-latest", 200_000, 8_192),
            ("claude-3-7-sonnet-20250219", 200_000, 64_000),
            ("claude-opus-4-20250514", 200_000, 32_000),
            ("claude-opus-4-1-20250805", 200_000, 32_000),
            ("claude-opus-4-5-20251101", 200_000, 64_000),
            ("claude-sonnet-4-5-20250929", 200_000, 64_000),
            ("claude-sonnet-4-6", 1_000_000, 64_000),
            ("claude-opus-4-8", 1_000_000, 128_000),
            ("claude-haiku-4-5", 200_000, 64_000),
            ("claude-sonnet-5", 1_000_000, 128_000),
            ("claude-opus-5-5", 1_000_000, 128_000),
            ("models/gemini-2.5-flash", 1_048_576, 65_536),
            ("gemini-2.5-computer-use-preview-10-2025", 131_072, 65_536),
            ("gemini-1.5-pro-002", 2_097_152, 8_192),
            ("gemini-3-pro-preview", 1_048_576, 65_536),
            ("gemini-4-argon", 1_048_576, 1_048_576),
        ] {
            let found = models.find(model);
            assert_eq!((found.context_tokens, found.max_output_tokens), (Some(context), Some(output)), "{model}");
        }
    }

    #[test]
    fn what_gateways_and_platforms_add_to_a_name_does_not_count() {
        let models = ModelTable::built_in();
        for (model, own) in [
            ("openai/gpt-4o", "gpt-4o"),
            ("openrouter/openai/gpt-5.2", "gpt-5.2"),
            ("openai.o3-v1:0", "o3"),
            ("google/gemini-2.5-pro", "gemini-2.5-pro"),
            ("models/gemini-2.5-pro", "gemini-2.5-pro"),
            ("publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro"),
            ("anthropic/claude-opus-4.7", "claude-opus-4-7"),
            ("anthropic/claude-sonnet-4.5:beta", "claude-sonnet-4-5"),
            ("anthropic/claude-3.5-haiku", "claude-3-5-haiku"),
            ("anthropic.claude-opus-4-1-20250805-v1:0", "claude-opus-4-1"),
            ("us.anthropic.claude-opus-4-7-v1:0", "claude-opus-4-7"),
            ("arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-6", "claude-sonnet-4-6"),
            ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ] {
            assert_eq!(models.find(model), models.find(own), "{model}");
            assert_ne!(models.find(model), Capabilities::default(), "{model}");
        }
        for unknown in ["acme/my.anthropic", "anthropic.", "ft:", "/", "not-anthropic.claude"] {
            assert_eq!(models.find(unknown), Capabilities::default(), "{unknown}");
        }
    }

    #[test]
    fn calls_are_forced_only_where_the_model_allows_it() {
        let models = ModelTable::built_in();
        for (model, forced) in [
            ("gpt-6-sol", ForcedChoice::Always),
            ("claude-3-5-sonnet-latest", ForcedChoice::Always),
            ("claude-sonnet-4-5", ForcedChoice::WithoutThinking),
            ("claude-opus-5", ForcedChoice::WithoutThinking),
            ("claude-opus-5-5", ForcedChoice::Never),
            ("claude-sonnet-5", ForcedChoice::WithoutThinking),
            ("anthropic/claude-sonnet-5.5", ForcedChoice::Never),
            ("claude-haiku-5-5", ForcedChoice::WithoutThinking),
            ("claude-fable-5", ForcedChoice::WithoutThinking),
            ("claude-fable-5-1", ForcedChoice::Never),
            ("claude-mythos-5-1", ForcedChoice::Never),
            ("gemini-3-flash", ForcedChoice::Always),
        ] {
            assert_eq!(models.find(model).forced_choice, forced, "{model}");
        }
    }

    #[test]
    fn reasoning_is_bound_to_the_conversation_by_the_newest_models() {
        let models = ModelTable::built_in();
        for (model, bound) in [
            ("claude-opus-5", false),
            ("claude-opus-5-5", true),
            ("us.anthropic.claude-sonnet-5-5", true),
            ("claude-haiku-5-5", true),
            ("claude-fable-5", false),
            ("claude-fable-5-1", true),
            ("claude-mythos-5-1", false),
            ("claude-haiku-4-5", false),
        ] {
            assert_eq!(models.find(model).bound_reasoning, bound, "{model}");
        }
    }

    #[test]
    fn sampling_is_left_to_models_that_reject_settings_of_it() {
        let models = ModelTable::built_in();
        for (model, accepted) in [
            ("claude-opus-4-6", true),
            ("claude-opus-4-7", false),
            ("anthropic/claude-opus-4.7", false),
            ("anthropic/claude-4.7-opus-20260416", false),
            ("us.anthropic.claude-opus-4-8-v1:0", false),
            ("claude-sonnet-4-5", true),
            ("anthropic/claude-4.5-sonnet", true),
            ("claude-sonnet-5", false),
            ("claude-haiku-5-5", false),
            ("gpt-4.1", true),
            ("openai/o3", false),
            ("gemini-2.5-pro", true),
            ("gemini-4-argon", false),
        ] {
            assert_eq!(models.find(model).sampling, accepted, "{model}");
        }
    }

    #[test]
    fn settings_that_exclude_each_other_or_have_no_effect_are_known() {
        let models = ModelTable::built_in();
        for (model, joint, stop) in [
            ("claude-3-7-sonnet-latest", true, true),
            ("claude-opus-4-20250514", true, true),
            ("claude-opus-4-1-20250805", false, true),
            ("claude-sonnet-4-5", false, true),
            ("anthropic/claude-4.5-sonnet", false, true),
            ("us.anthropic.claude-haiku-4-5-v1:0", false, true),
            ("claude-sonnet-4-6", false, true),
            ("claude-opus-4-6", false, true),
            ("gpt-4.1", true, true),
            ("o1", true, true),
            ("o3", true, false),
            ("o3-mini", true, true),
            ("ft:o4-mini-2025-04-16:acme::7p4l", true, false),
            ("openai/gpt-5", true, false),
            ("gpt-5.4-mini", true, false),
            ("gpt-5-chat-latest", true, true),
        ] {
            let found = models.find(model);
            assert_eq!((found.joint_sampling, found.stop), (joint, stop), "{model}");
        }
    }

    #[test]
    fn newer_models_of_anthropic_continue_no_message() {
        let models = ModelTable::built_in();
        for (model, continues) in [
            ("claude-3-5-haiku-latest", true),
            ("claude-opus-4-5", true),
            ("claude-haiku-4-5", true),
            ("claude-sonnet-4-6", false),
            ("anthropic/claude-opus-4.6", false),
            ("claude-opus-4-8", false),
            ("claude-sonnet-5", false),
            ("claude-haiku-5-5", false),
            ("claude-fable-5", false),
            ("claude-mythos-5-1", false),
            ("gpt-5", true),
        ] {
            assert_eq!(models.find(model).prefill, continues, "{model}");
        }
    }

    #[test]
    fn strict_tools_are_kept_from_models_without_them() {
        let models = ModelTable::built_in();
        for (model, strict) in [
            ("gpt-4o", true),
            ("claude-sonnet-4-20250514", false),
            ("claude-sonnet-4-0", false),
            ("claude-sonnet-4-5", true),
            ("claude-opus-4-1", true),
            ("claude-3-7-sonnet-latest", false),
            ("gemini-2.0-flash", false),
            ("gemini-2.5-flash", true),
        ] {
            assert_eq!(models.find(model).strict_tools, strict, "{model}");
        }
    }

    #[test]
    fn reasoning_is_requested_from_models_that_reason() {
        let models = ModelTable::built_in();
        for (model, reasons) in [
            ("gpt-3.5-turbo", false),
            ("gpt-4", false),
            ("gpt-4-turbo", false),
            ("gpt-4o-mini", false),
            ("openai/gpt-4.1", false),
            ("ft:gpt-4.1-mini:acme::7p4l", false),
            ("openai/ft:gpt-4o-2024-08-06:acme::7p4l", false),
            ("chatgpt-4o-latest", false),
            ("gpt-5-chat-latest", false),
            ("gpt-5.2", true),
            ("o4-mini", true),
            ("ft:o4-mini-2025-04-16:acme::7p4l", true),
            ("openai/o3", true),
            ("codex-mini-latest", true),
            ("gpt-6.1-sol", true),
        ] {
            let expected = if reasons { EncryptedReasoning::Available } else { EncryptedReasoning::Unavailable };
            assert_eq!(models.find(model).encrypted_reasoning, expected, "{model}");
        }
        for unknown in ["a-new-model", "prod-assistant", "llama3.3", "gpt-oss-120b", "claude-opus-4-8", ""] {
            assert_eq!(models.find(unknown).encrypted_reasoning, EncryptedReasoning::Unknown, "{unknown}");
        }
    }

    #[test]
    fn a_pattern_matches_the_whole_name() {
        for (pattern, name, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn debug_output_has_the_number_of_rows() {
        assert_eq!(format!("{:?}", ModelTable::empty().with("a*", Capabilities::default())), "ModelTable { rows: 1 }");
    }

    #[test]
    fn a_row_of_the_application_wins() {
        let row = Capabilities { tools: false, ..Capabilities::default() };
        assert!(!ModelTable::built_in().with("gpt-4o", row).find("gpt-4o").tools);
        assert!(ModelTable::empty().find("gpt-3.5-turbo").structured_output);
    }
}
