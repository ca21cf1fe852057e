//! Responses, streams and errors of Gemini's `generateContent`.

use std::sync::OnceLock;

use haft_wire::{GeminiContent, ReadContext};

use super::{Target, wire};

static CONTEXT: OnceLock<ReadContext> = OnceLock::new();

pub(super) const TARGET: Target = Target {
    name: "gemini",
    seeds: &[
        r#"{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[{"text":"a","thought":true},{"text":"Hi","thoughtSignature":"c2ln"},{"functionCall":{"id":"c1","name":"get_weather","args":{"city":"a","labels":[{"key":"a","value":"b"}]}},"thoughtSignature":"c2ln"},{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},{"inlineData":{"mimeType":"image/png","data":"AA=="}},{"fileData":{"fileUri":"u"}},{"telepathy":{"a":1}}]},"citationMetadata":{"citationSources":[{"startIndex":0,"endIndex":1,"uri":"u"}]},"groundingMetadata":{"groundingChunks":[{"web":{"uri":"u","title":"t"}}],"groundingSupports":[{"segment":{"startIndex":0,"endIndex":2,"text":"Hi"},"groundingChunkIndices":[0]}]}}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"thoughtsTokenCount":3,"totalTokenCount":6},"modelVersion":"m","responseId":"r"}"#,
        r#"{"candidates":[{"finishReason":"STOP","content":{"parts":[{"toolCall":{"id":"t1","toolType":"GOOGLE_SEARCH_WEB","args":{"queries":["a"]}},"thoughtSignature":"c2ln"},{"toolResponse":{"id":"t1","toolType":"GOOGLE_SEARCH_WEB","response":{"a":1}}},{"text":"x","videoMetadata":{"fps":1}}]}}]}"#,
        r#"[{"candidates":[{"content":{"parts":[{"text":"H"}]}}]},{"candidates":[{"content":{"parts":[{"functionCall":{"name":"get_weather","partialArgs":[{"jsonPath":"$.city","stringValue":"a","willContinue":true}],"willContinue":true}}]}}]},{"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.labels[0].key","numberValue":1}]}}]}}]},{"candidates":[{"content":{"parts":[{"functionCall":{}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1}}]"#,
        r#"[{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":1}},{"error":{"code":503,"message":"a","status":"UNAVAILABLE"}}]"#,
        r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"a"}]}"#,
        r#"{"error":{"code":429,"message":"a","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3.5s"},{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"PerDay"}]}]}}"#,
    ],
    run: |input| wire::run(&GeminiContent::new(), &CONTEXT, input),
};
