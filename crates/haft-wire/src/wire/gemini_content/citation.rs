//! A response's sources, as citations in its texts.

use haft_core::Citation;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The most texts to search for a quotation.
pub(super) const MAX_TEXTS: usize = 64;

/// The sources for an answer that is grounded in searches.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GroundingMetadata {
    grounding_chunks: Option<Vec<ReadChunk>>,
    grounding_supports: Option<Vec<ReadSupport>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ReadChunk {
    web: Option<ReadSource>,
    retrieved_context: Option<ReadSource>,
    maps: Option<ReadSource>,
    image: Option<ReadSource>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ReadSource {
    uri: Option<String>,
    source_uri: Option<String>,
    document_name: Option<String>,
    title: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ReadSupport {
    segment: Option<ReadSegment>,
    grounding_chunk_indices: Option<Vec<usize>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ReadSegment {
    start_index: Option<u64>,
    end_index: Option<u64>,
    text: Option<String>,
}

/// Returns one citation per supported passage and page from the search sources.
pub(super) fn grounded(metadata: &Value) -> Vec<Citation> {
    GroundingMetadata::deserialize(metadata).map(GroundingMetadata::into_citations).unwrap_or_default()
}

impl GroundingMetadata {
    fn into_citations(self) -> Vec<Citation> {
        let chunks = self.grounding_chunks.unwrap_or_default();
        let mut citations = Vec::new();
        for support in self.grounding_supports.unwrap_or_default() {
            let segment = support.segment.unwrap_or_default();
            for at in support.grounding_chunk_indices.unwrap_or_default() {
                let Some(source) = chunks.get(at).and_then(ReadChunk::source) else { continue };
                let mut citation = Citation::default();
                citation.url = source.uri.clone().or_else(|| source.source_uri.clone());
                citation.title.clone_from(&source.title);
                citation.file_id.clone_from(&source.document_name);
                citation.quote.clone_from(&segment.text);
                // An index of zero is not written.
                citation.start = segment.end_index.map(|_| segment.start_index.unwrap_or_default());
                citation.end = segment.end_index;
                citations.push(citation);
            }
        }
        citations
    }
}

impl ReadChunk {
    fn source(&self) -> Option<&ReadSource> {
        let Self { web, retrieved_context, maps, image } = self;
        web.as_ref().or(retrieved_context.as_ref()).or(maps.as_ref()).or(image.as_ref())
    }
}

/// Reports whether a text has the cited passage at its position, in bytes.
pub(super) fn is_in(citation: &Citation, text: &str) -> bool {
    let Citation { quote, start, end, .. } = citation;
    let (Some(start), Some(end)) = (start, end) else { return false };
    let range = usize::try_from(*start).ok().zip(usize::try_from(*end).ok());
    let passage = range.and_then(|(start, end)| text.as_bytes().get(start..end));
    passage.is_some_and(|passage| quote.as_ref().is_none_or(|quote| quote.as_bytes() == passage))
}

/// Reads the sources that the answer repeats at length.
pub(super) fn recited(metadata: &RawValue) -> Vec<Citation> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Metadata {
        // The member's older name.
        #[serde(alias = "citationSources")]
        citations: Option<Vec<Source>>,
    }

    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Source {
        start_index: Option<u64>,
        end_index: Option<u64>,
        uri: Option<String>,
        title: Option<String>,
    }

    let Metadata { citations } = serde_json::from_str(metadata.get()).unwrap_or_default();
    let cited = |source: Source| {
        let mut citation = Citation::default();
        citation.url = source.uri;
        citation.title = source.title;
        citation.start = source.end_index.map(|_| source.start_index.unwrap_or_default());
        citation.end = source.end_index;
        citation
    };
    citations.unwrap_or_default().into_iter().map(cited).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_passage_cites_each_of_its_pages() {
        let metadata = json!({
            "groundingChunks": [
                {"web": {"uri": "https://a.example", "title": "A"}},
                {"retrievedContext": {"uri": "gs://b", "documentName": "docs/b"}},
                {},
            ],
            "groundingSupports": [
                {"segment": {"endIndex": 5, "text": "Hello"}, "groundingChunkIndices": [0, 1, 2, 9]},
                {"groundingChunkIndices": [0]},
            ],
        });
        let cited = grounded(&metadata);
        let urls: Vec<_> = cited.iter().map(|citation| citation.url.as_deref().unwrap()).collect();
        assert_eq!(urls, ["https://a.example", "gs://b", "https://a.example"]);
        assert_eq!(cited[1].file_id.as_deref(), Some("docs/b"));
        assert_eq!((cited[0].start, cited[0].end), (Some(0), Some(5)));
        assert!(is_in(&cited[0], "Hello there"));
        assert!(!is_in(&cited[0], "Hullo there") && !is_in(&cited[0], "Hell") && !is_in(&cited[2], "Hello"));
    }

    #[test]
    fn recited_sources_have_positions_only() {
        let metadata = json!({"citations": [{"startIndex": 1, "endIndex": 3, "uri": "https://a.example"}]});
        let text = metadata.to_string();
        let read = recited(serde_json::from_str(&text).unwrap());
        assert!(is_in(&read[0], "é...") && !is_in(&read[0], "é"));
        for invalid in ["[]", "{}", r#"{"citations":7}"#, r#"{"citations":[7]}"#] {
            assert!(recited(serde_json::from_str(invalid).unwrap()).is_empty(), "{invalid}");
        }
    }
}
