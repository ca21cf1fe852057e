//! A Rust file as the rules see it: code with its comments and literals blanked out.
//!
//! The rules search for words, braces and attributes. Blanking everything that is not code, line for line, lets them
//! use plain searches without a parser. Blanking knows comments (nested ones too), strings, raw strings and
//! characters, and nothing else of the grammar.

/// One Rust file.
#[derive(Debug)]
pub(super) struct Source<'a> {
    path: &'a str,
    code: String,
    doc_comments: Vec<DocComment>,
}

/// The opening line of a doc comment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DocComment {
    /// The line, counted from one.
    pub(super) line: usize,
    /// The text of that line behind its marker, trimmed.
    pub(super) text: String,
}

impl<'a> Source<'a> {
    /// Creates the source of the file at `path`, which determines whether it is a test file.
    pub(super) fn new(path: &'a str, text: &str) -> Self {
        let (code, comments) = Blanking::new(text).finish();
        Self { path, code, doc_comments: doc_comments(text, &comments) }
    }

    pub(super) fn path(&self) -> &'a str {
        self.path
    }

    /// Returns the code, with comments and literals blanked.
    pub(super) fn code(&self) -> &str {
        &self.code
    }

    /// Returns the opening line of each doc comment, in order. Comments inside literals are none.
    pub(super) fn doc_comments(&self) -> &[DocComment] {
        &self.doc_comments
    }

    /// Returns the number of lines.
    pub(super) fn line_count(&self) -> usize {
        self.code.lines().count()
    }

    /// Returns the line of a byte of the code, counted from one.
    pub(super) fn line_at(&self, byte: usize) -> usize {
        self.code[..byte].matches('\n').count() + 1
    }

    /// Returns whether the file contains nothing but tests or benchmarks.
    pub(super) fn is_test(&self) -> bool {
        let folder_of_tests = self.path.split('/').any(|folder| folder == "tests" || folder == "benches");
        folder_of_tests || self.path.ends_with("/tests.rs") || self.path.ends_with("_tests.rs")
    }

    /// Returns the line where the file's own tests begin: the first `#[cfg(test)]` before a module with a body.
    pub(super) fn test_line(&self) -> Option<usize> {
        let mut attribute = None;
        for (index, line) in self.code.lines().enumerate() {
            let line = line.trim();
            if line.starts_with("#[cfg(test)]") {
                attribute = Some(index + 1);
            }
            let item = line.trim_start_matches("#[cfg(test)]").trim_start();
            if item.is_empty() || item.starts_with("#[") {
                continue;
            }
            if attribute.is_some() && item.split_whitespace().any(|word| word == "mod") && item.contains('{') {
                return attribute;
            }
            attribute = None;
        }
        None
    }

    /// Returns whether the item that begins with the word at this position has the attribute `#[cfg(test)]`.
    pub(super) fn is_behind_cfg_test(&self, at: usize) -> bool {
        let start = self.code[..at].rfind([';', '{', '}']).map_or(0, |start| start + 1);
        self.code[start..at].contains("#[cfg(test)]")
    }

    /// Returns the name of the crate whose sources include the file; none for tests, benchmarks and examples.
    pub(super) fn krate(&self) -> Option<&'a str> {
        let (folder, _) = self.path.split_once("/src/")?;
        folder.rsplit('/').next()
    }

    /// Returns whether a line belongs to a test.
    pub(super) fn is_test_line(&self, line: usize) -> bool {
        self.is_test() || self.test_line().is_some_and(|start| line >= start)
    }

    /// Returns the positions of a word in the code, not as part of a longer one.
    pub(super) fn words<'s>(&'s self, word: &'s str) -> impl Iterator<Item = usize> + 's {
        let code = self.code.as_bytes();
        let part_of_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        self.code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
            let before = at.checked_sub(1).and_then(|before| code.get(before));
            !part_of_word(before) && !part_of_word(code.get(at + word.len()))
        })
    }
}

/// The state of blanking, as a walk over the bytes. Only ASCII matters, so bytes are sufficient.
struct Blanking<'a> {
    text: &'a [u8],
    at: usize,
    code: Vec<u8>,
    /// The positions of the line comments.
    comments: Vec<usize>,
}

/// Returns the opening lines of the doc comments among a text's line comments, which are given by their positions.
fn doc_comments(text: &str, comments: &[usize]) -> Vec<DocComment> {
    let mut openings = Vec::new();
    let mut previous = None;
    // Positions ascend, so lines are counted once and not from the start for every comment.
    let (mut counted, mut line) = (0, 1);
    for &at in comments {
        line += text[counted..at].matches('\n').count();
        counted = at;
        let comment = text[at..].lines().next().unwrap_or_default();
        let Some(marker) = ["///", "//!"].into_iter().find(|marker| comment.starts_with(marker)) else { continue };
        let content = &comment[marker.len()..];
        // Four slashes are an ordinary comment.
        if content.starts_with('/') {
            continue;
        }
        if previous != Some((line - 1, marker)) {
            openings.push(DocComment { line, text: content.trim().to_owned() });
        }
        previous = Some((line, marker));
    }
    openings
}

impl<'a> Blanking<'a> {
    fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), at: 0, code: Vec::with_capacity(text.len()), comments: Vec::new() }
    }

    /// Returns the code, and the positions of the line comments that were blanked.
    fn finish(mut self) -> (String, Vec<usize>) {
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            if rest.starts_with(b"//") {
                self.comments.push(self.at);
                self.blank(rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()));
            } else if rest.starts_with(b"/*") {
                self.blank(block_comment(rest));
            } else if let Some(length) = self.raw_string(rest) {
                self.blank(length);
            } else if rest[0] == b'"' {
                self.blank(string(rest));
            } else if let Some(length) = character(rest) {
                self.blank(length);
            } else {
                self.code.push(rest[0]);
                self.at += 1;
            }
        }
        (String::from_utf8_lossy(&self.code).into_owned(), self.comments)
    }

    fn blank(&mut self, length: usize) {
        let blanked = &self.text[self.at..self.at + length];
        self.code.extend(blanked.iter().map(|&byte| if byte == b'\n' { b'\n' } else { b' ' }));
        self.at += length;
    }

    /// Returns the length of a raw string that starts here: `r"…"`, `r#"…"#` and so on. A `b` or `c` before it is
    /// already part of the code.
    fn raw_string(&self, rest: &[u8]) -> Option<usize> {
        let after_word = |byte: &u8| byte.is_ascii_alphanumeric() && !matches!(byte, b'b' | b'c') || *byte == b'_';
        if rest[0] != b'r' || self.code.last().is_some_and(after_word) {
            return None;
        }
        let hashes = rest[1..].iter().take_while(|&&byte| byte == b'#').count();
        if rest.get(1 + hashes) != Some(&b'"') {
            return None;
        }
        let mut end = vec![b'"'];
        end.resize(1 + hashes, b'#');
        let body = 2 + hashes;
        let close = rest[body..].windows(end.len()).position(|window| window == end);
        Some(close.map_or(rest.len(), |close| body + close + end.len()))
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if rest[at..].starts_with(b"*/") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// Returns the length of a character literal; a lifetime begins alike and is none.
fn character(rest: &[u8]) -> Option<usize> {
    if rest[0] != b'\'' {
        return None;
    }
    if rest.get(1) == Some(&b'\\') {
        let close = rest.get(3..)?.iter().position(|&byte| byte == b'\'')?;
        return Some(3 + close + 1);
    }
    // One character of up to four bytes, then the quote.
    let close = rest.iter().take(6).skip(2).position(|&byte| byte == b'\'')? + 2;
    std::str::from_utf8(&rest[1..close]).is_ok_and(|inner| inner.chars().count() == 1).then_some(close + 1)
}

#[cfg(test)]
mod tests {
    use super::Source;

    fn code(text: &str) -> String {
        Source::new("src/a.rs", text).code().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_literals_are_blanked_and_lines_are_kept() {
        assert_eq!(code("a // fn\nb /* fn /* { */ } */ c"), "a b c");
        assert_eq!(code(r##"x("fn \" {", r#"}" { "#, b"{", br"{")"##), "x( , , b , b )");
        assert_eq!(code(r"f('{', '\'', '\u{7B}', b'}', 'é')"), "f( , , , b , )");
        assert_eq!(code("fn f<'a>(x: &'a str) -> &'static str {}"), "fn f<'a>(x: &'a str) -> &'static str {}");
        assert_eq!(Source::new("a.rs", "\"one\ntwo\"\nx").line_count(), 3);
    }

    #[test]
    fn unterminated_literals_and_comments_end_with_the_file() {
        for text in ["\"open", "/* open", "r#\"open", "'\\", "'", "\"\\"] {
            assert_eq!(Source::new("a.rs", text).line_count(), 1, "{text}");
        }
    }

    #[test]
    fn tests_begin_at_a_module_with_a_body_and_not_at_a_declaration() {
        let declared = "#[cfg(test)]\nmod tests;\nfn f() {}\n";
        assert_eq!(Source::new("a.rs", declared).test_line(), None);
        let inline = "fn f() {}\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n}\n";
        assert_eq!(Source::new("a.rs", inline).test_line(), Some(2));
        assert!(Source::new("a.rs", inline).is_test_line(4));
        assert!(!Source::new("a.rs", inline).is_test_line(1));
        assert!(Source::new("crates/a/tests/it/b.rs", "").is_test());
    }

    #[test]
    fn a_doc_comment_is_known_by_its_opening_line() {
        let text = "//! A.\n//! B.\n\n/// C\n///\n/// D\nfn f() {} // E\n    ///F \n//// G\nlet x = \"\n/// H\n\";\n";
        let source = Source::new("a.rs", text);
        let openings: Vec<_> =
            source.doc_comments().iter().map(|comment| (comment.line, comment.text.as_str())).collect();
        assert_eq!(openings, [(1, "A."), (4, "C"), (8, "F")]);
    }

    #[test]
    fn words_are_whole() {
        let source = Source::new("a.rs", "fn fnord() { my_fn(); fn x() {} }");
        assert_eq!(source.words("fn").collect::<Vec<_>>(), [0, 22]);
    }
}
