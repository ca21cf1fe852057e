//! Names are checked: what is no name is never looked up.

use haft_registry::{
    FullName, LookupError, MAX_SEGMENT_LEN, Namespace, OrgName, RegistryNameFault, SimpleName, ToolOrigin,
};
use proptest::prelude::*;

use crate::registry;

#[test]
fn names_are_read_by_the_number_of_their_segments() {
    for (text, org, namespace, tool) in [
        ("add", None, None, "add"),
        ("math/add", None, Some("math"), "add"),
        ("acme/math/add", Some("acme"), Some("math"), "add"),
        ("a.b/c-d/E_2", Some("a.b"), Some("c-d"), "E_2"),
    ] {
        let name: FullName = text.parse().unwrap();
        assert_eq!(name.org().map(OrgName::as_str), org, "{text}");
        assert_eq!(name.namespace().map(Namespace::as_str), namespace, "{text}");
        assert_eq!(name.tool().as_str(), tool, "{text}");
        assert_eq!(name.to_string(), text);
    }
}

#[test]
fn hostile_names_are_rejected_with_the_reason() {
    let long = "a".repeat(MAX_SEGMENT_LEN + 1);
    for (text, fault) in [
        ("", RegistryNameFault::EmptySegment),
        ("/", RegistryNameFault::EmptySegment),
        ("a/", RegistryNameFault::EmptySegment),
        ("/a", RegistryNameFault::EmptySegment),
        ("a//b", RegistryNameFault::EmptySegment),
        ("a/b/c/d", RegistryNameFault::TooManySegments(4)),
        ("..", RegistryNameFault::Start("..".to_owned())),
        ("../add", RegistryNameFault::Start("..".to_owned())),
        ("math/..", RegistryNameFault::Start("..".to_owned())),
        (".", RegistryNameFault::Start(".".to_owned())),
        ("-rf", RegistryNameFault::Start("-rf".to_owned())),
        ("_add", RegistryNameFault::Start("_add".to_owned())),
        (&long, RegistryNameFault::TooLong("a".repeat(16))),
    ] {
        assert_eq!(text.parse::<FullName>().unwrap_err().fault, fault, "{text}");
    }
    for text in
        ["add ", " add", "a\u{0}d", "a\nd", "аdd", "add\u{200b}", "ａdd", "a\\b", "a*", "a:b", "math\u{2215}add"]
    {
        let fault = text.parse::<FullName>().unwrap_err().fault;
        assert!(matches!(fault, RegistryNameFault::Character { .. }), "{text:?}: {fault:?}");
    }
}

#[test]
fn a_name_of_one_segment_has_no_slash() {
    assert_eq!(SimpleName::new("math/add").unwrap_err().fault, RegistryNameFault::Slash);
    assert!(Namespace::new("math").is_ok());
}

#[test]
fn an_invalid_name_is_reported_as_such_by_a_lookup() {
    let registry = registry(&["add"], &[], &[]);
    for name in ["", "../add", "аdd", "a/b/c/d", "//add"] {
        let error = registry.find(name).unwrap_err();
        assert!(matches!(error, LookupError::Invalid(_)), "{name:?}: {error}");
    }
}

#[test]
fn a_very_long_name_is_shortened_in_the_error() {
    let error = "a/".repeat(10_000).parse::<FullName>().unwrap_err();
    assert!(error.to_string().len() < 400, "{error}");
}

proptest! {
    #[test]
    fn a_name_is_the_text_that_it_was_read_from(text in "[A-Za-z0-9_./é-]{0,12}") {
        if let Ok(name) = text.parse::<FullName>() {
            prop_assert_eq!(name.to_string(), text);
            let again = FullName::new(name.origin().clone(), name.tool().clone());
            prop_assert_eq!(&again, &name);
            prop_assert_eq!(name.namespace().is_none(), *name.origin() == ToolOrigin::Internal);
        }
    }
}
