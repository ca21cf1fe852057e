//! The person who asks: a real service reads it from its sign-on.
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, header::AUTHORIZATION};

#[derive(Clone, Copy)]
pub(crate) struct Person {
    pub(crate) tenant: &'static str,
    pub(crate) name: &'static str,
    pub(crate) is_lead: bool,
}

const PEOPLE: [(&str, Person); 3] = [
    ("Bearer ana-secret", Person { tenant: "acme", name: "ana", is_lead: true }),
    ("Bearer bo-secret", Person { tenant: "acme", name: "bo", is_lead: false }),
    ("Bearer cy-secret", Person { tenant: "globex", name: "cy", is_lead: true }),
];

impl<S: Sync> FromRequestParts<S> for Person {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, StatusCode> {
        let sent = parts.headers.get(AUTHORIZATION).ok_or(StatusCode::UNAUTHORIZED)?;
        PEOPLE.iter().find(|(secret, _)| sent == secret).map(|(_, person)| *person).ok_or(StatusCode::UNAUTHORIZED)
    }
}
