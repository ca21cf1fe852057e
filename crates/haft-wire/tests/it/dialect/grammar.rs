//! An outside judge for strict renderings: `llguidance`, which providers and servers use to hold models to a schema.
//!
//! It compiles a rendering into a grammar and draws an instance from it, byte by byte. A model that is held to the
//! rendering may write any such instance, so each must decode and match the tool's own schema, or a loss must explain
//! why not.

use std::fmt;

use haft_core::{Dialect, LossKind, Rendered};
use haft_schema::Schema;
use haft_wire::{AnthropicDialect, GeminiDialect, OpenAiDialect};
use llguidance::ParserFactory;
use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, InferenceCapabilities};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestCaseResult, TestRng};
use serde_json::{Value, json};

use crate::dialect::generated::GeneratedType;
use crate::dialect::round_trip::{Rendering, as_json_schema};
use crate::dialect::typical;
use crate::seeded::{for_all_from, runner};

/// The length from which an instance is ended as soon as the grammar permits.
const LONG: usize = 300;

/// The length at which drawing an instance fails.
const TOO_LONG: usize = 20_000;

/// The grammars of schemas.
pub(crate) struct GrammarJudge {
    factory: ParserFactory,
}

/// The dialects whose renderings a provider enforces.
pub(crate) fn enforced() -> [Box<dyn Dialect>; 4] {
    [
        Box::new(OpenAiDialect::Strict),
        Box::new(AnthropicDialect::Strict),
        Box::new(GeminiDialect::Parameters),
        Box::new(GeminiDialect::JsonSchema),
    ]
}

impl GrammarJudge {
    pub(crate) fn new() -> Self {
        let env = ApproximateTokEnv::single_byte_env();
        let mut factory = ParserFactory::new(&env, InferenceCapabilities::default(), &[]).unwrap();
        factory.quiet();
        Self { factory }
    }

    /// Draws instances from a schema's rendering, and asserts that each is read as a value that the schema accepts, or
    /// that a loss explains why not.
    pub(crate) fn judge(
        &self,
        dialect: &dyn Dialect,
        schema: &Schema,
        instances: usize,
        rng: &mut TestRng,
    ) -> TestCaseResult {
        let Ok(rendered) = dialect.render(schema) else { return Ok(()) };
        if rendered.json.is_null() {
            return Ok(());
        }
        let rendering = Rendering { dialect: dialect.name(), schema, rendered };
        let checked = as_json_schema(rendering.dialect, &rendering.rendered.json);
        for _ in 0..instances {
            let sent = self.instance(&checked, rng);
            let sent = sent.map_err(|error| TestCaseError::fail(format!("{}: {error}\n{checked}", dialect.name())))?;
            rendering.assert_read(&sent)?;
        }
        Ok(())
    }

    /// Draws an instance of a schema.
    fn instance(&self, schema: &Value, rng: &mut TestRng) -> Result<String, String> {
        let mut schema = schema.clone();
        // Space between the tokens of JSON says nothing about a schema.
        schema["x-guidance"] = json!({"whitespace_flexible": false});
        let text = |error: &dyn fmt::Display| format!("{error:#}");
        let grammar = TopLevelGrammar::from_json_schema(schema);
        let mut parser = self.factory.create_parser(grammar).map_err(|error| text(&error))?;
        parser.start_without_prompt();
        let mut drawn = Drawn::default();
        loop {
            if parser.is_accepting() {
                break;
            }
            let allowed = parser.compute_mask().map_err(|error| text(&error))?;
            let bytes: Vec<u8> = (0..=u8::MAX).filter(|byte| allowed.is_allowed((*byte).into())).collect();
            let byte = drawn.choose(&bytes, rng).ok_or_else(|| format!("nothing follows {:?}", drawn.bytes))?;
            parser.consume_token(byte.into()).map_err(|error| text(&error))?;
        }
        String::from_utf8(drawn.bytes).map_err(|error| text(&error))
    }
}

/// An instance that is being drawn.
#[derive(Debug, Default)]
struct Drawn {
    bytes: Vec<u8>,
    in_string: bool,
    is_escaped: bool,
}

impl Drawn {
    /// Chooses one of the bytes that may follow, and appends it.
    fn choose(&mut self, allowed: &[u8], rng: &mut TestRng) -> Option<u8> {
        let pick = |bytes: Vec<u8>, rng: &mut TestRng| -> Option<u8> {
            let at = rng.random_range(0..bytes.len().max(1));
            bytes.get(at).copied()
        };
        let of =
            |accept: &dyn Fn(u8) -> bool| -> Vec<u8> { allowed.iter().copied().filter(|byte| accept(*byte)).collect() };
        if self.bytes.len() > TOO_LONG {
            return None;
        }
        // Ends come soon: a page-long value is no better test than a line.
        let ends = if self.in_string { of(&|byte| byte == b'"') } else { of(&|byte| matches!(byte, b']' | b'}')) };
        let ends = if ends.is_empty() && !self.in_string { of(&|byte| byte == b',') } else { ends };
        let is_end = self.bytes.len() > LONG || rng.random_range(0..10) < 4;
        // Exponents make numbers that no program holds, and most characters beyond ASCII are cut off at their first byte.
        let plain = if self.in_string {
            of(&|byte| byte.is_ascii() && (byte != b'\\' || allowed.len() < 10))
        } else {
            of(&|byte| byte.is_ascii() && !matches!(byte, b'e' | b'E'))
        };
        let byte = if is_end && !ends.is_empty() {
            pick(ends, rng)
        } else if plain.is_empty() {
            pick(allowed.to_vec(), rng)
        } else {
            pick(plain, rng)
        }?;
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.in_string => self.is_escaped = true,
            b'"' => self.in_string = !self.in_string,
            _ => {}
        }
        self.bytes.push(byte);
        Some(byte)
    }
}

#[test]
fn instances_of_generated_schemas_are_read() {
    let judge = GrammarJudge::new();
    for_all_from(14, 60, (GeneratedType::any(), any::<[u8; 32]>()), |(ty, seed)| {
        let schema = Schema::json(ty.schema()).unwrap();
        let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        enforced().iter().try_for_each(|dialect| judge.judge(&**dialect, &schema, 3, &mut rng))
    });
}

#[test]
fn instances_of_typical_schemas_are_read() {
    let (judge, (mut runner, seed)) = (GrammarJudge::new(), runner(1));
    for (name, schema) in typical::schemas() {
        let schema = Schema::json(schema).unwrap();
        for dialect in enforced() {
            let judged = judge.judge(&*dialect, &schema, 20, runner.rng());
            assert!(judged.is_ok(), "{name}: {judged:?}\n{seed}");
        }
    }
}

#[test]
fn the_judge_rejects_what_no_loss_explains() {
    let with_text = |keyword: &str, length: usize| {
        let text = json!({"type": "string", keyword: length});
        json!({"type": "object", "properties": {"a": text}, "required": ["a"], "additionalProperties": false})
    };
    let (judge, (mut runner, seed)) = (GrammarJudge::new(), runner(1));
    let schema = Schema::json(with_text("maxLength", 0)).unwrap();
    let sent = judge.instance(&with_text("minLength", 1), runner.rng()).unwrap();
    let is_read =
        |rendered: Rendered| Rendering { dialect: "test", schema: &schema, rendered }.assert_read(&sent).is_ok();
    let silent = Rendered::exact(with_text("minLength", 1));
    let loss = |pointer: &str, kind| silent.clone().with_loss(pointer, kind, "stated in the description");
    assert!(!is_read(silent.clone()), "{sent}\n{seed}");
    assert!(is_read(loss("/properties/a/maxLength", LossKind::Keyword)), "{sent}\n{seed}");
    assert!(!is_read(loss("/properties/a/pattern", LossKind::Keyword)), "{sent}\n{seed}");
    assert!(!is_read(loss("/properties/b/maxLength", LossKind::Keyword)), "{sent}\n{seed}");
    assert!(!is_read(loss("/properties/a/maxLength", LossKind::Annotation)), "{sent}\n{seed}");
}
