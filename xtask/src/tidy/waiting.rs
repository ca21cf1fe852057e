//! Tests that sleep, and tests that are ignored.

use super::breach::Breach;
use super::source::Source;

/// Checks both. A thread may sleep outside of tests.
pub(super) fn check(source: &Source<'_>) -> Vec<Breach> {
    let line = |at: usize| source.line_at(at);
    let sleeping = source.words("thread::sleep").map(line).filter(|&line| source.is_test_line(line));
    let sleeping = sleeping
        .map(|line| Breach::new(source.path(), line, "a test must not sleep; wait for an event or use paused time"));
    let ignored = source.words("ignore").filter(|&at| is_attribute(&source.code()[..at])).map(line);
    let ignored =
        ignored.map(|line| Breach::new(source.path(), line, "an ignored test checks nothing; fix it or remove it"));
    sleeping.chain(ignored).collect()
}

/// Returns whether the name of an attribute follows this code: right after `#[`, or inside `#[cfg_attr(…, `.
fn is_attribute(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before);
    before.trim_end().ends_with("#[") || (line.contains("#[cfg_attr(") && line.trim_end().ends_with(','))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::source::Source;

    fn lines_of(path: &str, text: &str) -> Vec<usize> {
        check(&Source::new(path, text)).iter().map(super::Breach::line).collect()
    }

    #[test]
    fn a_thread_may_sleep_outside_of_tests_only() {
        let text = "fn f() { std::thread::sleep(d) }\n#[cfg(test)]\nmod tests {\n thread::sleep(d);\n}\n";
        assert_eq!(lines_of("src/a.rs", text), [4]);
        assert_eq!(lines_of("crates/a/tests/it/b.rs", text), [1, 4]);
    }

    #[test]
    fn paused_time_and_mentions_are_allowed() {
        let text = "// thread::sleep\ntokio::time::sleep(d).await;\nlet s = \"thread::sleep\";\n";
        assert!(lines_of("tests/it/b.rs", text).is_empty());
    }

    #[test]
    fn an_ignored_test_is_found_in_each_of_its_spellings() {
        let text = "#[ignore]\n#[ignore = \"slow\"]\n#[cfg_attr(miri, ignore)]\nlet ignore = 1;\n#[should_panic]\n";
        assert_eq!(lines_of("src/a.rs", text), [1, 2, 3]);
    }
}
