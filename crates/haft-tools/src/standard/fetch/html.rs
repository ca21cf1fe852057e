//! An HTML page's text.
//!
//! This is one pass over the page, not a parser. It removes tags and comments, and scripts and styles with their
//! content. Character references are decoded after that, so that text about markup stays text. White space is joined,
//! and elements that start a line in a browser start one here. Malformed markup is removed up to the end, as browsers
//! do. The work is linear in the page's size.

/// Elements whose content is no text.
const HIDDEN: &str = "script style template noscript";
/// Elements that start and end a line.
const BLOCKS: &str = "address article aside blockquote body br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 \
    h5 h6 header hr li main nav ol p pre section table tr ul";
/// Elements that a space separates from their neighbours.
const CELLS: &str = "td th option title";
const REFERENCES: [(&str, char); 16] = [
    ("amp", '&'),
    ("apos", '\''),
    ("bull", '•'),
    ("copy", '©'),
    ("euro", '€'),
    ("gt", '>'),
    ("hellip", '…'),
    ("ldquo", '“'),
    ("lsquo", '‘'),
    ("lt", '<'),
    ("mdash", '—'),
    ("nbsp", ' '),
    ("ndash", '–'),
    ("quot", '"'),
    ("rdquo", '”'),
    ("rsquo", '’'),
];

/// Returns an HTML page's text.
pub(super) fn to_text(page: &str) -> String {
    let mut text = Text::default();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        text.push(&rest[..at]);
        rest = &rest[at..];
        let Some(markup) = Markup::of(rest) else {
            text.push("<");
            rest = &rest[1..];
            continue;
        };
        rest = &rest[markup.length..];
        if markup.is_one_of(BLOCKS) {
            text.gap = Gap::Line;
        } else if markup.is_one_of(CELLS) {
            text.gap = text.gap.max(Gap::Space);
        }
        if markup.opens && markup.is_one_of(HIDDEN) {
            rest = after_content(rest, &markup.name);
        }
    }
    text.push(rest);
    text.text
}

/// A tag, comment or declaration at a text's start.
struct Markup {
    length: usize,
    /// The name in lower case; empty if this is not a tag.
    name: String,
    opens: bool,
}

impl Markup {
    /// Returns `None` if the text, which starts with `<`, is not markup.
    fn of(text: &str) -> Option<Self> {
        let nameless = |length| Some(Self { length, name: String::new(), opens: false });
        if let Some(comment) = text.strip_prefix("<!--") {
            let end = ["<!-->", "<!--->"].into_iter().find(|empty| text.starts_with(empty)).map(str::len);
            return nameless(end.or_else(|| Some(comment.find("-->")? + 7)).unwrap_or(text.len()));
        }
        let inner = text[1..].strip_prefix('/').unwrap_or(&text[1..]);
        match inner.bytes().next()? {
            b'!' | b'?' => nameless(text.find('>').map_or(text.len(), |end| end + 1)),
            byte if byte.is_ascii_alphabetic() => {
                let name = inner[..inner.find(ends_name).unwrap_or(inner.len())].to_ascii_lowercase();
                Some(Self { length: tag_end(text), name, opens: !text.starts_with("</") })
            }
            _ => None,
        }
    }

    fn is_one_of(&self, names: &str) -> bool {
        names.split(' ').any(|name| name == self.name)
    }
}

fn ends_name(c: char) -> bool {
    c.is_ascii_whitespace() || matches!(c, '/' | '>')
}

/// Returns a tag's length. Inside quoted values, `>` does not end it.
fn tag_end(text: &str) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            // A quote elsewhere than after `=` is part of a name.
            (None, b'"' | b'\'') if text[..at].trim_ascii_end().ends_with('=') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    text.len()
}

/// Returns what follows a hidden element's end tag.
fn after_content<'a>(text: &'a str, name: &str) -> &'a str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        rest = &rest[at..];
        let (end, after) = rest[2..].split_at_checked(name.len()).unwrap_or_default();
        if end.eq_ignore_ascii_case(name) && after.starts_with(ends_name) {
            return &rest[tag_end(rest)..];
        }
        rest = &rest[2..];
    }
    ""
}

/// The white space that is due before the next character.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
}

#[derive(Default)]
struct Text {
    text: String,
    gap: Gap,
}

impl Text {
    fn push(&mut self, piece: &str) {
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            let (c, length) = if first == '&' { decoded(rest) } else { (first, first.len_utf8()) };
            rest = &rest[length..];
            if c.is_whitespace() {
                self.gap = self.gap.max(Gap::Space);
                continue;
            }
            match std::mem::take(&mut self.gap) {
                Gap::Space if !self.text.is_empty() => self.text.push(' '),
                Gap::Line if !self.text.is_empty() => self.text.push('\n'),
                Gap::None | Gap::Space | Gap::Line => {}
            }
            self.text.push(c);
        }
    }
}

/// Decodes the reference at the start of a text, which starts with `&`. An unknown reference is an ampersand.
fn decoded(text: &str) -> (char, usize) {
    let end = text.bytes().take(12).position(|byte| byte == b';');
    let reference = end.and_then(|end| Some((text.get(1..end)?, end + 1)));
    let found = reference.and_then(|(name, length)| {
        let c = match name.strip_prefix('#') {
            Some(number) => numbered(number)?,
            None => REFERENCES.iter().find(|(known, _)| *known == name)?.1,
        };
        Some((c, length))
    });
    found.unwrap_or(('&', 1))
}

/// Returns a number's character. Control characters, which no page has a use for, are replaced.
fn numbered(number: &str) -> Option<char> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => u32::from_str_radix(digits, 16),
        None if number.bytes().all(|byte| byte.is_ascii_digit()) => number.parse(),
        _ => return None,
    };
    let c = char::from_u32(code.ok()?).unwrap_or(char::REPLACEMENT_CHARACTER);
    Some(if c.is_control() && !c.is_whitespace() { char::REPLACEMENT_CHARACTER } else { c })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::to_text;

    #[test]
    fn the_text_of_a_page_is_what_a_browser_shows() {
        for (page, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("<p>One</p><p>Two</p>", "One\nTwo"),
            ("  a \n\t b<b>c</b> d ", "a bc d"),
            ("<h1>T</h1>\n\n<ul>\n<li>a</li>\n<li>b</li></ul>", "T\na\nb"),
            ("a<br>b<BR/>c<hr>d", "a\nb\nc\nd"),
            ("<tr><td>1</td><td>2</td></tr><tr><td>3</td></tr>", "1 2\n3"),
            ("<!DOCTYPE html><html><head><title>T</title></head><body>x</body></html>", "T\nx"),
            // Hidden content, in any case, with markup inside, and without an end.
            ("a<script>if (a < b) { '<p>' }</script>b", "ab"),
            ("a<SCRIPT type=\"x\">x</Script >b<style>p > a {}</style>c", "abc"),
            ("a<script>'</scrip' + '</style>' + '</scripts>'</script>b", "ab"),
            ("a<script>never ends", "a"),
            ("a<style/>b</style>c", "ac"),
            ("a<scripted>b</scripted>c", "abc"),
            ("a<noscript>x</noscript><template><p>y</p></template>b", "ab"),
            // Comments, declarations, and what only resembles markup.
            ("a<!-- > <p> -- x -->b<!-->c<!--->d", "abcd"),
            ("a<!-- no end", "a"),
            ("a<?xml version='1'?>b<![CDATA[c]]>d", "abd"),
            ("1 < 2 and 3 <4 <> x", "1 < 2 and 3 <4 <> x"),
            ("a<b", "a"),
            ("a <", "a <"),
            // Quoted values.
            ("<a title=\"x > y\" href='>'>b</a>", "b"),
            ("<a title = \"x > y\">b</a>c", "bc"),
            ("<p it's>b</p>", "b"),
            // References.
            ("&lt;p&gt; &amp;amp; &quot;&apos;&#39;&#x41;&#X42;", "<p> &amp; \"''AB"),
            ("a&nbsp;&nbsp;b&mdash;c&hellip;&euro;", "a b—c…€"),
            ("&unknown; &amp &; &#; &#x; &#xZZ; &#+1; & a", "&unknown; &amp &; &#; &#x; &#xZZ; &#+1; & a"),
            ("&#0;&#xD800;&#x110000;&#27;", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
            ("&#99999999999;&ä;", "&#99999999999;&ä;"),
            ("<é>", "<é>"),
        ] {
            assert_eq!(to_text(page), expected, "{page}");
        }
    }

    #[test]
    fn hostile_pages_end_soon() {
        for piece in [
            "<",
            "<a",
            "<!--",
            "</",
            "<script>",
            "<script></",
            "</script",
            "<a b=\"",
            "&",
            "<a b=' ",
            "<p>",
            "= \"",
            "<a    ",
        ] {
            for start in ["", "<script>", "<a b='"] {
                let page = format!("{start}{}", piece.repeat(256 * 1024 / piece.len()));
                assert!(to_text(&page).len() <= page.len(), "{piece}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_text_is_accepted(page in "([<>&;/!\"'=#x -]|script|style|--|p|ä|[a-z0-9]){0,60}") {
            let text = to_text(&page);
            prop_assert!(text.len() <= page.len());
            prop_assert_eq!(text.trim(), text.as_str());
        }
    }
}
