//! The link that a person pastes: which mailbox, and the one-use word that binds this computer to it.

use std::fmt;

/// The only place where mailboxes are.
pub const ORIGIN: &str = "https://openadapt.ai";
const LONGEST: usize = 2048;

/// A mailbox, and the word that claims it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub pack: Pack,
    pub bind: Bind,
}

/// The mailbox's name in its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack(String);

/// Good for one claim. It is said to nobody else.
#[derive(Clone, PartialEq, Eq)]
pub struct Bind(String);

/// Why a link isn't one. What was pasted isn't repeated: it may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoTarget {
    #[error("the link is too long to be one")]
    TooLong,
    #[error("this is neither an openadapt://runner link nor a https://openadapt.ai/j/ address")]
    Neither,
    #[error("the link's fields aren't the ones that such a link has, once each")]
    Fields,
    #[error("the link names another origin than https://openadapt.ai")]
    OtherOrigin,
    #[error("the link's pack isn't one")]
    Pack,
    #[error("the link has no word that binds this computer, or one that isn't one")]
    Bind,
}

impl Target {
    pub fn parse(text: &str) -> Result<Self, NoTarget> {
        if text.len() > LONGEST {
            return Err(NoTarget::TooLong);
        }
        if let Some(query) = text.strip_prefix("openadapt://runner?") {
            let fields = Fields::read(query)?;
            let (Some(pack), Some(bind), Some(_)) = (&fields.pack, &fields.bind, &fields.origin) else {
                return Err(NoTarget::Fields);
            };
            return Ok(Self { pack: Pack::parse(pack)?, bind: Bind::parse(bind)? });
        }
        let rest = text.strip_prefix(ORIGIN).and_then(|rest| rest.strip_prefix("/j/")).ok_or(NoTarget::Neither)?;
        let (pack, query) = rest.split_once('?').map_or((rest, ""), |(pack, query)| (pack, query));
        let pack = Pack::parse(pack)?;
        let fields = if query.is_empty() { Fields::default() } else { Fields::read(query)? };
        match fields {
            Fields { pack: Some(_), .. } => Err(NoTarget::Fields),
            Fields { bind, .. } => Ok(Self { pack, bind: Bind::parse(&bind.ok_or(NoTarget::Bind)?)? }),
        }
    }
}

impl Pack {
    fn parse(text: &str) -> Result<Self, NoTarget> {
        let short = text.strip_prefix("p.").is_some_and(|body| body.len() == 12 && is_body(body));
        let long = text.strip_prefix("v1.").is_some_and(|body| (32..=2000).contains(&body.len()) && is_body(body));
        if short || long { Ok(Self(text.to_owned())) } else { Err(NoTarget::Pack) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Bind {
    fn parse(text: &str) -> Result<Self, NoTarget> {
        let body = text.strip_prefix("oab_").filter(|body| body.len() == 43 && is_body(body));
        body.map(|_| Self(text.to_owned())).ok_or(NoTarget::Bind)
    }

    /// For the claim alone.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bind(…)")
    }
}

fn is_body(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The fields of a link's query, each once at most.
#[derive(Default)]
struct Fields {
    pack: Option<String>,
    bind: Option<String>,
    origin: Option<String>,
}

impl Fields {
    fn read(query: &str) -> Result<Self, NoTarget> {
        let mut fields = Self::default();
        for field in query.split('&') {
            let (name, value) = field.split_once('=').ok_or(NoTarget::Fields)?;
            let place = match name {
                "pack" => &mut fields.pack,
                "bind" => &mut fields.bind,
                "origin" => &mut fields.origin,
                _ => return Err(NoTarget::Fields),
            };
            if place.replace(value.to_owned()).is_some() {
                return Err(NoTarget::Fields);
            }
        }
        // As a browser writes it in a query, or as a person does.
        let spellings =
            [ORIGIN, "https%3A%2F%2Fopenadapt.ai", "https%3a%2f%2fopenadapt.ai", "https:%2F%2Fopenadapt.ai"];
        match &fields.origin {
            Some(origin) if !spellings.contains(&origin.as_str()) => Err(NoTarget::OtherOrigin),
            _ => Ok(fields),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACK: &str = "p.Abc_def-1234";
    const BIND: &str = "oab_0123456789012345678901234567890123456789abc";

    fn of(text: &str) -> Result<Target, NoTarget> {
        Target::parse(&text.replace("PACK", PACK).replace("BIND", BIND))
    }

    #[test]
    fn both_kinds_of_link_are_read() {
        let long = format!("v1.{}", "a".repeat(32));
        for text in [
            "openadapt://runner?pack=PACK&bind=BIND&origin=https://openadapt.ai",
            "openadapt://runner?origin=https%3A%2F%2Fopenadapt.ai&bind=BIND&pack=PACK",
            "https://openadapt.ai/j/PACK?bind=BIND",
            "https://openadapt.ai/j/PACK?origin=https://openadapt.ai&bind=BIND",
        ] {
            let target = of(text).unwrap();
            assert_eq!((target.pack.as_str(), target.bind.secret()), (PACK, BIND), "{text}");
        }
        assert_eq!(of(&format!("https://openadapt.ai/j/{long}?bind=BIND")).unwrap().pack.as_str(), long);
    }

    #[test]
    fn everything_else_is_refused_and_never_repeated() {
        let hex = "a".repeat(64);
        for (text, why) in [
            ("", NoTarget::Neither),
            ("http://openadapt.ai/j/PACK?bind=BIND", NoTarget::Neither),
            ("https://openadapt.ai.evil.example/j/PACK?bind=BIND", NoTarget::Neither),
            ("https://openadapt.ai@evil.example/j/PACK?bind=BIND", NoTarget::Neither),
            ("https://openadapt.ai:443/j/PACK?bind=BIND", NoTarget::Neither),
            ("https://openadapt.ai/J/PACK?bind=BIND", NoTarget::Neither),
            ("openadapt://runner/pack=PACK&bind=BIND", NoTarget::Neither),
            ("openadapt://runner?pack=PACK&bind=BIND", NoTarget::Fields),
            ("openadapt://runner?pack=PACK&bind=BIND&origin=https://openadapt.ai&x=1", NoTarget::Fields),
            ("openadapt://runner?pack=PACK&pack=PACK&bind=BIND&origin=https://openadapt.ai", NoTarget::Fields),
            ("openadapt://runner?pack=PACK&bind=BIND&origin=https://evil.example", NoTarget::OtherOrigin),
            ("https://openadapt.ai/j/PACK?bind=BIND&origin=https://openadapt.ai/", NoTarget::OtherOrigin),
            ("https://openadapt.ai/j/PACK?bind=BIND&pack=PACK", NoTarget::Fields),
            ("https://openadapt.ai/j/PACK", NoTarget::Bind),
            ("https://openadapt.ai/j/PACK?bind=oab_short", NoTarget::Bind),
            ("https://openadapt.ai/j/PACK?bind=BIND#x", NoTarget::Bind),
            ("https://openadapt.ai/j/PACK/?bind=BIND", NoTarget::Pack),
            ("https://openadapt.ai/j/../PACK?bind=BIND", NoTarget::Pack),
            ("https://openadapt.ai/j/v1.short?bind=BIND", NoTarget::Pack),
        ] {
            assert_eq!(of(text), Err(why), "{text}");
        }
        assert_eq!(of(&format!("https://openadapt.ai/j/PACK?bind=oab_{hex}")), Err(NoTarget::Bind));
        assert_eq!(of(&format!("https://openadapt.ai/j/v1.{}?bind=BIND", "a".repeat(3000))), Err(NoTarget::TooLong));
        assert_eq!(format!("{:?}", of("https://openadapt.ai/j/PACK?bind=BIND").unwrap().bind), "Bind(…)");
    }
}
