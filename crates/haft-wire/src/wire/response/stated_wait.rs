//! The wait that a message states in words.
//!
//! When an error arrives inside a stream, there is no header for it. OpenAI and the servers that copy it then state the
//! wait only in the message. Only the texts below are read; anything else states no wait.

use std::time::Duration;

/// The texts before a wait, in lower case: from OpenAI and Groq, from Gemini, and from Azure.
const MARKS: [&str; 3] = ["try again in ", "retry in ", "retry after "];
/// Unit names, with their length in milliseconds.
const UNITS: [(&[&str], f64); 5] = [
    (&["ms", "millisecond", "milliseconds"], 1.0),
    (&["s", "sec", "secs", "second", "seconds"], 1_000.0),
    (&["m", "min", "mins", "minute", "minutes"], 60_000.0),
    (&["h", "hr", "hrs", "hour", "hours"], 3_600_000.0),
    (&["d", "day", "days"], 86_400_000.0),
];
/// The longest wait to return, as for the headers. Longer ones are quotas that no request should wait for.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the wait that a message states, such as `1.2s`, `350ms`, `6m0s` or `20 seconds`; at most one day.
pub(crate) fn stated_wait(message: &str) -> Option<Duration> {
    let message = message.to_ascii_lowercase();
    MARKS.iter().filter_map(|mark| message.split_once(mark)).find_map(|(_, after)| leading_wait(after))
}

/// Reads the wait at a text's start: one or more numbers, each with its unit.
fn leading_wait(text: &str) -> Option<Duration> {
    let (mut rest, mut sum) = (text, None);
    while let Some((milliseconds, after)) = leading_part(rest) {
        let wait = Duration::try_from_secs_f64(milliseconds / 1_000.0).unwrap_or(LONGEST);
        sum = Some(sum.unwrap_or(Duration::ZERO).saturating_add(wait).min(LONGEST));
        rest = after.trim_start();
    }
    sum
}

/// Reads a number with its unit. Returns it in milliseconds, with the text after it.
fn leading_part(text: &str) -> Option<(f64, &str)> {
    let end_of = |text: &str, belongs: fn(char) -> bool| text.find(|c| !belongs(c)).unwrap_or(text.len());
    let (number, rest) = text.split_at(end_of(text, |c| c.is_ascii_digit() || c == '.'));
    let number: f64 = number.starts_with(|c: char| c.is_ascii_digit()).then_some(number)?.parse().ok()?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let (unit, rest) = rest.split_at(end_of(rest, |c| c.is_ascii_alphabetic()));
    let (_, size) = UNITS.iter().find(|(names, _)| names.contains(&unit))?;
    Some((number * size, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_in_the_words_of_providers_are_read() {
        let openai = "Rate limit reached for gpt-4.1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2500. \
                      Please try again in";
        for (message, milliseconds) in [
            (format!("{openai} 1.2s. Visit https://platform.openai.com to learn more."), 1_200),
            (format!("{openai} 350ms."), 350),
            (format!("{openai} 6m0s."), 360_000),
            (format!("{openai} 1h2m3.5s."), 3_723_500),
            (format!("{openai} 7m14.5s. Need more tokens?"), 434_500),
            ("Please retry after 20 seconds. Contact support".to_owned(), 20_000),
            ("You exceeded your quota.\nPlease retry in 34.074824224s.".to_owned(), 34_074),
            ("Try again in 2 minutes 5 seconds".to_owned(), 125_000),
            ("try again in 1 minute".to_owned(), 60_000),
            ("retry after a while; please try again in 3s".to_owned(), 3_000),
            ("try again in 0s".to_owned(), 0),
            ("try again in 3 days".to_owned(), 86_400_000),
            ("try again in 99999999999999999999999999999999h".to_owned(), 86_400_000),
        ] {
            assert_eq!(stated_wait(&message).map(|wait| wait.as_millis()), Some(milliseconds), "{message}");
        }
    }

    #[test]
    fn other_texts_state_no_wait() {
        for message in [
            "",
            "try again",
            "try again in ",
            "try again in a moment",
            "try again in 5",
            "try again in -5s",
            "try again in .5s",
            "try again in 1.2.3s",
            "try again in 5 parsecs",
            "try again in NaNs",
            "try again in 1e9s",
            "wait 5s",
        ] {
            assert_eq!(stated_wait(message), None, "{message}");
        }
    }
}
