//! Gemini's token counts.

use haft_core::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The counts so far. A streamed response repeats them, each time with those that are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct GeminiUsage {
    #[serde(rename = "promptTokenCount")]
    prompt: Option<u64>,
    #[serde(rename = "cachedContentTokenCount")]
    cached_content: Option<u64>,
    #[serde(rename = "candidatesTokenCount")]
    candidates: Option<u64>,
    #[serde(rename = "thoughtsTokenCount")]
    thoughts: Option<u64>,
    #[serde(rename = "toolUsePromptTokenCount")]
    tool_use_prompt: Option<u64>,
    #[serde(rename = "totalTokenCount")]
    total: Option<u64>,
}

impl GeminiUsage {
    /// Takes over a chunk's counts. Unreadable counts are ignored.
    pub(super) fn update(&mut self, json: &RawValue) {
        let newer: Self = serde_json::from_str(json.get()).unwrap_or_default();
        let later = |one: &mut Option<u64>, other: Option<u64>| *one = other.or(*one);
        later(&mut self.prompt, newer.prompt);
        later(&mut self.cached_content, newer.cached_content);
        later(&mut self.candidates, newer.candidates);
        later(&mut self.thoughts, newer.thoughts);
        later(&mut self.tool_use_prompt, newer.tool_use_prompt);
        later(&mut self.total, newer.total);
    }

    /// Converts the counts. Input adds built-in tool results to the prompt, and output adds thoughts to the candidates.
    pub(super) fn usage(&self) -> Usage {
        let count = Option::unwrap_or_default;
        let thoughts = count(self.thoughts);
        let input = count(self.prompt).saturating_add(count(self.tool_use_prompt));
        let output = count(self.candidates).saturating_add(thoughts);
        let usage = Usage::new(input, output);
        usage.total(self.total.unwrap_or(usage.total_tokens)).cache_read(count(self.cached_content)).reasoning(thoughts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&str]) -> Usage {
        let mut usage = GeminiUsage::default();
        for chunk in chunks {
            usage.update(serde_json::from_str(chunk).unwrap());
        }
        usage.usage()
    }

    #[test]
    fn counts_are_converted_to_their_one_meaning() {
        let whole = r#"{"promptTokenCount":100,"cachedContentTokenCount":40,"candidatesTokenCount":20,
            "thoughtsTokenCount":30,"toolUsePromptTokenCount":5,"totalTokenCount":155,"trafficType":"ON_DEMAND"}"#;
        assert_eq!(read(&[whole]), Usage::new(105, 50).total(155).cache_read(40).reasoning(30));
        assert_eq!(read(&[r#"{"promptTokenCount":1,"candidatesTokenCount":2}"#]), Usage::new(1, 2));
    }

    #[test]
    fn later_counts_replace_earlier_ones() {
        let chunks = [
            r#"{"promptTokenCount":7,"totalTokenCount":7}"#,
            r#"{"promptTokenCount":7,"candidatesTokenCount":2,"totalTokenCount":9}"#,
            r#"{"candidatesTokenCount":4,"totalTokenCount":11}"#,
        ];
        assert_eq!(read(&chunks), Usage::new(7, 4));
    }

    #[test]
    fn counts_that_are_no_counts_are_left_out() {
        for json in ["null", "[]", "7", r#"{"promptTokenCount":-1}"#, r#"{"promptTokenCount":"many"}"#] {
            assert_eq!(read(&[json]), Usage::default(), "{json}");
        }
        let huge = format!(r#"{{"promptTokenCount":{0},"toolUsePromptTokenCount":{0}}}"#, u64::MAX);
        assert_eq!(read(&[&huge]).input_tokens, u64::MAX);
    }
}
