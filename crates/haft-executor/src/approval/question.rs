//! Questions of running calls: which may be asked, what an answer must be, and the digest that binds the two.
//!
//! The digest covers the call, the question, its place among those that are asked together, and the state that the handler
//! goes on with. So an answer belongs to one question of one round, and a state that was changed while it was stored does
//! not reach the handler. A signature covers the digest.

use haft_core::internal::sha256;
use haft_core::{ApprovalDecision, ApprovalRequest, Question};
use haft_schema::internal::nests_within;
use haft_schema::{Issue, Issues, JsonText, Limits, Schema, canonical_text};
use serde_json::{Value, json};

use super::verdict::VerdictFault;

/// The most questions that a call asks at once.
const MOST_QUESTIONS: usize = 1_024;
/// The most requests that are nested in a question: each is one agent inside of another.
const MOST_NESTED: usize = 16;
/// The deepest nesting of a question. It leaves room for the requests and the runs that contain it.
const DEEPEST: usize = 64;

/// Checks that a call may ask these questions together.
pub(crate) fn check_questions(questions: &[Question]) -> Result<(), Issues> {
    if questions.is_empty() {
        return Err(issue("minItems", "a call that waits must ask a question"));
    }
    if questions.len() > MOST_QUESTIONS {
        return Err(issue("maxItems", &format!("a call may ask at most {MOST_QUESTIONS} questions at once")));
    }
    questions.iter().try_for_each(check_question)
}

/// Checks that a call may ask a question.
pub(crate) fn check_question(question: &Question) -> Result<(), Issues> {
    if serde_json::to_value(question).is_ok_and(|written| !nests_within(&written, DEEPEST)) {
        return Err(issue("maxDepth", &format!("a question must nest at most {DEEPEST} levels")));
    }
    match question {
        Question::Input { schema, .. } => Schema::json(schema.clone())
            .map(drop)
            .map_err(|error| issue("schema", &format!("the schema of the answer is invalid: {error}"))),
        Question::Visit { url, .. } if is_page(url) => Ok(()),
        Question::Visit { .. } => Err(issue("format", "the address of a page must begin with `https://` or `http://`")),
        Question::Approval { request, .. } => match subject(request) {
            Some(_) => Ok(()),
            None => Err(issue("maxDepth", &format!("requests must nest at most {MOST_NESTED} levels"))),
        },
        _ => Err(issue("type", "a question of an unknown type can't be asked")),
    }
}

/// Checks that a decision answers a question.
pub(crate) fn check_reply(question: &Question, decision: &ApprovalDecision) -> Result<(), VerdictFault> {
    match (question, decision) {
        (_, ApprovalDecision::Other(word)) => Err(VerdictFault::UnusableDecision { word: word.clone() }),
        (_, ApprovalDecision::Denied) | (Question::Visit { .. }, ApprovalDecision::Approved) => Ok(()),
        (Question::Input { schema, .. }, ApprovalDecision::Answered(value)) => check_value(schema, value),
        (Question::Input { .. }, other) => Err(unfit(other, "`answered` with an `answer`")),
        (Question::Visit { .. }, other) => Err(unfit(other, "`approved` or `denied`")),
        // What the call inside accepts is checked there. A question that it asks is known here.
        (Question::Approval { request, .. }, decision) => {
            match subject(request).map(|subject| subject.question.as_deref()) {
                Some(Some(question)) => check_reply(question, decision),
                Some(None) => Ok(()),
                None => Err(unfit(decision, "`denied`")),
            }
        }
        (_, other) => Err(unfit(other, "`denied`")),
    }
}

/// The call that asks, and its state.
pub(crate) struct AskingCall<'a> {
    /// The digest that binds an approval of the call.
    pub(crate) call: &'a str,
    /// The round in which it asks; zero while its handler runs.
    pub(crate) round: u32,
    /// True if the handler had begun.
    pub(crate) started: bool,
    /// The state that it goes on with.
    pub(crate) state: &'a JsonText,
    /// The number of questions that are asked together.
    pub(crate) questions: usize,
}

impl AskingCall<'_> {
    /// Returns the digest that binds an answer to a question.
    pub(crate) fn digest(&self, place: usize, question: &Question) -> String {
        let written = serde_json::to_value(question).unwrap_or(Value::Null);
        let written =
            if nests_within(&written, Limits::DEEPEST) { written } else { JsonText::from(&written).as_str().into() };
        sha256(&canonical_text(&json!({
            "v": 1,
            "call": self.call,
            "round": self.round,
            "started": self.started,
            "state": self.state.as_str(),
            "place": [place, self.questions],
            "question": written,
        })))
    }
}

/// Returns the innermost request, unless there are too many around it.
fn subject(request: &ApprovalRequest) -> Option<&ApprovalRequest> {
    let mut subject = request;
    for _ in 0..MOST_NESTED {
        match subject.question.as_deref() {
            Some(Question::Approval { request, .. }) => subject = request,
            Some(_) | None => return Some(subject),
        }
    }
    None
}

fn check_value(schema: &Value, value: &JsonText) -> Result<(), VerdictFault> {
    let schema = Schema::json(schema.clone())
        .map_err(|_| VerdictFault::Invalid { issues: issue("schema", "the schema of the answer is invalid") })?;
    schema.check_output(value).map_err(|issues| VerdictFault::Invalid { issues })
}

fn is_page(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, rest)| (scheme.to_ascii_lowercase(), rest));
    scheme.is_some_and(|(scheme, rest)| {
        matches!(scheme.as_str(), "https" | "http")
            && !rest.is_empty()
            && !url.chars().any(|c| c.is_control() || c == ' ')
    })
}

fn unfit(decision: &ApprovalDecision, expected: &str) -> VerdictFault {
    let message = format!("the question is answered by {expected}, not by `{}`", decision.as_str());
    VerdictFault::Invalid { issues: issue("decision", &message) }
}

fn issue(keyword: &'static str, message: &str) -> Issues {
    Issue::new("", keyword, message.to_owned()).into()
}

#[cfg(test)]
mod tests {
    use haft_core::ToolCall;

    use super::*;

    fn decisions() -> [ApprovalDecision; 6] {
        [
            ApprovalDecision::Approved,
            ApprovalDecision::Denied,
            ApprovalDecision::Edited(json!({}).into()),
            ApprovalDecision::Answered(json!(3).into()),
            ApprovalDecision::Answered(json!("three").into()),
            ApprovalDecision::Other("perhaps".to_owned()),
        ]
    }

    fn accepted(question: &Question) -> [bool; 6] {
        decisions().map(|decision| check_reply(question, &decision).is_ok())
    }

    fn request() -> ApprovalRequest {
        ApprovalRequest::new("q1", &ToolCall::new("i1", "pay", "5"))
    }

    #[test]
    fn a_question_accepts_the_decisions_that_answer_it() {
        let (input, visit) = (Question::input::<u8>("How many?"), Question::visit("Sign in", "https://example.com"));
        let unknown: Question = serde_json::from_value(json!({"type": "poll"})).unwrap();
        assert_eq!(accepted(&input), [false, true, false, true, false, false]);
        assert_eq!(accepted(&visit), [true, true, false, false, false, false]);
        assert_eq!(accepted(&unknown), [false, true, false, false, false, false]);
        assert_eq!(accepted(&Question::approval(request())), [true, true, true, true, true, false]);
        for inside in [input, visit, unknown] {
            assert_eq!(accepted(&Question::approval(request().asking(inside.clone()))), accepted(&inside));
        }
    }

    #[test]
    fn questions_that_nobody_could_answer_are_not_asked() {
        let unknown: Question = serde_json::from_value(json!({"type": "poll"})).unwrap();
        let mut deep = json!(true);
        let mut nested = request();
        for _ in 0..80 {
            deep = json!({"not": deep});
            nested = request().asking(Question::approval(nested));
        }
        for wrong in [
            Question::input_json("?", json!({"type": "nothing"})),
            Question::input_json("?", deep),
            Question::visit("?", "javascript:alert(1)"),
            Question::visit("?", "https://"),
            Question::visit("?", "https://a b"),
            Question::approval(nested),
            unknown,
        ] {
            assert!(check_question(&wrong).is_err(), "{wrong:?}");
        }
        let fine = Question::input::<String>("?");
        assert!(check_questions(&[]).is_err());
        assert!(check_questions(&vec![fine.clone(); MOST_QUESTIONS + 1]).is_err());
        assert_eq!(check_questions(&[fine, Question::visit("?", "HTTP://localhost:8080")]), Ok(()));
    }

    #[test]
    fn the_digest_depends_on_everything_that_the_handler_goes_on_with() {
        let state = JsonText::from(json!({"page": 1}));
        let asking = || AskingCall { call: "sha256:00", round: 1, started: true, state: &state, questions: 2 };
        let question = Question::input::<u8>("How many?");
        let digest = asking().digest(0, &question);
        assert_eq!(digest, asking().digest(0, &question));
        let other = JsonText::from(json!({"page": 2}));
        for changed in [
            asking().digest(1, &question),
            asking().digest(0, &Question::input::<u8>("How much?")),
            AskingCall { call: "sha256:01", ..asking() }.digest(0, &question),
            AskingCall { round: 2, ..asking() }.digest(0, &question),
            AskingCall { started: false, ..asking() }.digest(0, &question),
            AskingCall { state: &other, ..asking() }.digest(0, &question),
            AskingCall { questions: 1, ..asking() }.digest(0, &question),
        ] {
            assert_ne!(changed, digest);
        }
    }
}
