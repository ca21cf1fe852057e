//! The scan for secrets: texts that left a run, and all forms that a secret may take in them.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use regex::Regex;
use serde_json::Value;

/// A part of every planted secret, which no escape for URLs, JSON, HTML or shells changes. Nothing else contains it.
const MARK: &str = "5ecret";

/// Texts that left, each with the place where it did.
#[derive(Default)]
pub(super) struct Outputs(Vec<(String, String)>);

impl Outputs {
    pub(super) fn add(&mut self, place: impl Into<String>, text: impl Into<String>) {
        self.0.push((place.into(), text.into()));
    }

    /// Adds both forms of `Debug`.
    pub(super) fn add_debug(&mut self, place: &str, value: &dyn std::fmt::Debug) {
        self.add(format!("{place} (debug)"), format!("{value:?}"));
        self.add(format!("{place} (pretty debug)"), format!("{value:#?}"));
    }

    /// Adds an error and all of its sources.
    pub(super) fn add_error(&mut self, place: &str, error: &dyn std::error::Error) {
        let mut next = Some(error);
        while let Some(error) = next {
            self.add(format!("{place} (error)"), error.to_string());
            self.add_debug(place, &error);
            next = error.source();
        }
    }

    /// Reports whether a text of a place contains this one.
    pub(super) fn contains(&self, place: &str, part: &str) -> bool {
        self.0.iter().any(|(at, text)| at.contains(place) && text.contains(part))
    }

    /// Returns the secrets that were found, with the place and the text around each.
    pub(super) fn leaks(&self, secrets: &[&str]) -> Vec<String> {
        let forms = forms_of(secrets);
        let found = |(place, text): &(String, String)| {
            let decoded = percent_decode_str(text).decode_utf8_lossy();
            let (text, found) = [text, &*decoded].into_iter().find_map(|text| Some((text, forms.find(text)?)))?;
            let near: String = text[found.start()..].chars().take(80).collect();
            Some(format!("{place}: `{}` in `{near}`", found.as_str()))
        };
        self.0.iter().filter_map(found).collect()
    }
}

/// Returns an expression that finds every form of some secrets.
fn forms_of(secrets: &[&str]) -> Regex {
    let mut forms: Vec<String> = Vec::new();
    for secret in secrets {
        forms.extend(in_all_forms(secret));
        forms.extend(base64_parts(secret));
        forms.extend(base64_parts(&utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string()));
    }
    let forms: Vec<String> = forms.iter().map(|form| regex::escape(form)).collect();
    Regex::new(&format!("{}|(?i:{MARK})", forms.join("|"))).unwrap()
}

/// Returns a text as it is, and as URLs, JSON, HTML and base64 contain it.
pub(super) fn in_all_forms(text: &str) -> Vec<String> {
    let percent = utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let json = Value::from(text).to_string();
    let json = &json[1..json.len() - 1];
    let ascii: String = json
        .chars()
        .map(|char| if char.is_ascii() { char.to_string() } else { format!("\\u{:04x}", u32::from(char)) })
        .collect();
    vec![
        text.to_owned(),
        percent.to_ascii_lowercase(),
        percent.replace("%2F", "/"),
        percent.replace('%', "%25"),
        percent,
        json.replace('/', "\\/"),
        json.to_owned(),
        Value::from(json).to_string(),
        ascii,
        text.replace('"', "&quot;"),
        BASE64_STANDARD.encode(text),
        BASE64_URL_SAFE_NO_PAD.encode(text),
        BASE64_STANDARD.encode(format!("ada:{text}")),
        BASE64_STANDARD.encode(format!("client:{text}")),
    ]
}

/// Returns the base64 parts that a text determines, wherever it begins in the encoded data.
fn base64_parts(text: &str) -> Vec<String> {
    let part = |before: usize| {
        let encoded = BASE64_STANDARD.encode([&vec![0; before], text.as_bytes()].concat());
        let whole = (before + text.len()) / 3 * 4;
        let start = (before * 8).div_ceil(6);
        encoded[start..whole].to_owned()
    };
    let parts = (0..3).map(part).collect::<Vec<_>>();
    let url_safe = parts.iter().map(|part| part.replace('+', "-").replace('/', "_")).collect::<Vec<_>>();
    [parts, url_safe].concat()
}

#[test]
fn every_form_of_a_planted_text_is_found() {
    let secret = r#"pl"anted/5ecret+ö"#;
    let basic = BASE64_STANDARD.encode(format!("someone:{secret}:more"));
    for form in in_all_forms(secret).into_iter().chain([basic, format!("{secret:?}"), "X-5ECRET".to_owned()]) {
        let mut outputs = Outputs::default();
        outputs.add("clean", "nothing at all, and nobody's business");
        outputs.add("here", format!("before {form} after"));
        let leaks = outputs.leaks(&[secret]);
        assert!(matches!(&leaks[..], [leak] if leak.starts_with("here: ")), "{form}: {leaks:?}");
    }
    let mut outputs = Outputs::default();
    outputs.add("clean", "the text [removed] is no secret, nor is c2VjcmV0");
    assert_eq!(outputs.leaks(&[secret]), Vec::<String>::new());
}
